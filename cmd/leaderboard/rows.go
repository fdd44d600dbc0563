package main

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// A row is a line of the file, as far as a board wants to know it. What the file has no column for is "".
type row struct {
	line                                   int
	player, name, points, achievedAt, slot string
}

// lineError says why a line of the file is no row.
type lineError struct {
	line   int
	reason string
}

func (e *lineError) Error() string { return fmt.Sprintf("line %d: %s", e.line, e.reason) }

// parts are what a row is made of, and the headers under which each is looked for.
var parts = [...]struct {
	name    string
	headers []string
	needed  bool
}{
	{"player", []string{"player", "player_id"}, true},
	{"name", []string{"name"}, false},
	{"points", []string{"points", "score"}, true},
	{"achieved_at", []string{"achieved_at"}, false},
	{"slot", []string{"slot"}, false},
}

// columns say where each of the parts stands in a record, -1 where the file has none.
type columns struct {
	at    [len(parts)]int
	where map[int]string // rows that have another value there are left out
	count int
}

// findColumns finds the parts of a score in a header. Named maps a part to a header, or to "" for a part that is not
// to be read; where maps a header to the value that a row must have.
func findColumns(header []string, named, where map[string]string) (columns, error) {
	c := columns{where: map[int]string{}, count: len(header)}
	known := map[string]bool{}
	for i, part := range parts {
		known[part.name] = true
		headers := part.headers
		column, isNamed := named[part.name]
		if isNamed {
			headers = []string{column}
		}
		at, err := findColumn(header, part.name, headers)
		if err != nil {
			return c, err
		}
		if at < 0 && (part.needed || column != "") {
			return c, fmt.Errorf("there is no column for %s: the header is %q; --column %s=HEADER names another",
				part.name, strings.Join(header, ","), part.name)
		}
		c.at[i] = at
	}
	for _, part := range slices.Sorted(maps.Keys(named)) {
		if !known[part] {
			return c, fmt.Errorf("--column %s: a score has player, name, points, achieved_at and slot", part)
		}
	}
	for _, column := range slices.Sorted(maps.Keys(where)) {
		at := slices.Index(header, column)
		if at < 0 {
			return c, fmt.Errorf("--where %s: the header is %q", column, strings.Join(header, ","))
		}
		c.where[at] = where[column]
	}
	return c, nil
}

// findColumn returns where one of the headers stands, or -1.
func findColumn(header []string, part string, headers []string) (int, error) {
	found := -1
	for at, column := range header {
		if column == "" || !slices.Contains(headers, column) {
			continue
		}
		if found >= 0 {
			return -1, fmt.Errorf("the columns %q and %q could both be the %s: --column %s=HEADER says which",
				header[found], column, part, part)
		}
		found = at
	}
	return found, nil
}

// A table reads the rows of a CSV file: RFC 4180 with LF or CRLF, with or without a byte order mark.
type table struct {
	csv     *csv.Reader
	columns columns
}

// openTable reads the header.
func openTable(file io.Reader, named, where map[string]string) (*table, error) {
	buffered := bufio.NewReaderSize(file, 64<<10)
	if err := skipMark(buffered); err != nil {
		return nil, err
	}
	reader := csv.NewReader(buffered)
	reader.FieldsPerRecord = -1 // counted here: one short line is no reason to stop
	header, err := reader.Read()
	if err == io.EOF {
		return nil, errors.New("the file is empty")
	}
	if err != nil {
		return nil, fmt.Errorf("the header cannot be read: %w", err)
	}
	for at := range header {
		header[at] = strings.TrimSpace(header[at])
	}
	reader.ReuseRecord = true
	found, err := findColumns(header, named, where)
	return &table{csv: reader, columns: found}, err
}

// skipMark skips a byte order mark, and says so when it is one of another encoding.
func skipMark(file *bufio.Reader) error {
	mark, err := file.Peek(3)
	if err != nil && err != io.EOF {
		return err
	}
	switch text := string(mark); {
	case text == "\xef\xbb\xbf":
		_, err = file.Discard(3)
		return err
	case strings.HasPrefix(text, "\xff\xfe"), strings.HasPrefix(text, "\xfe\xff"):
		return errors.New("the file is UTF-16: save it as UTF-8")
	}
	return nil
}

// next returns the next row, a [lineError] for a line that is none (the rows behind it can be read), or io.EOF.
func (t *table) next() (row, error) {
	for {
		record, err := t.csv.Read()
		if broken, ok := errors.AsType[*csv.ParseError](err); ok {
			return row{}, &lineError{line: broken.StartLine, reason: brokenReason(broken)}
		}
		if err != nil {
			return row{}, err
		}
		line, _ := t.csv.FieldPos(0)
		if len(record) != t.columns.count {
			return row{}, &lineError{line, fmt.Sprintf("has %d fields, the header has %d", len(record), t.columns.count)}
		}
		if t.wanted(record) {
			return t.columns.row(line, record)
		}
	}
}

func brokenReason(broken *csv.ParseError) string {
	if broken.Line > broken.StartLine {
		return fmt.Sprintf("a quoted field that begins here is broken in line %d: what lies between is lost", broken.Line)
	}
	return broken.Err.Error()
}

func (t *table) wanted(record []string) bool {
	for at, value := range t.columns.where {
		if record[at] != value {
			return false
		}
	}
	return true
}

// row picks the parts of a score out of a record.
func (c *columns) row(line int, record []string) (row, error) {
	var text [len(parts)]string
	for i, at := range c.at {
		if at < 0 {
			continue
		}
		text[i] = record[at]
		if !utf8.ValidString(text[i]) { // JSON cannot carry it, so the server would never get to say so
			return row{}, &lineError{line, parts[i].name + " is not valid UTF-8"}
		}
	}
	return row{
		line: line, player: text[0], name: text[1],
		points: strings.TrimSpace(text[2]), achievedAt: strings.TrimSpace(text[3]), slot: strings.TrimSpace(text[4]),
	}, nil
}

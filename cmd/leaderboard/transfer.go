package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"

	"leaderboard/store"
)

type importCmd struct {
	File     string            `arg:"" help:"CSV file with a header; - is standard input."`
	Board    string            `required:"" help:"Board that takes the scores."`
	Column   map[string]string `mapsep:"none" placeholder:"PART=HEADER" help:"Column of a part of the score: player, name, points, achieved_at or slot. Nothing behind the = leaves the part out. May be given several times."`
	Where    map[string]string `mapsep:"none" placeholder:"HEADER=VALUE" help:"Take only rows that have this value in that column. May be given several times."`
	Again    bool              `help:"Count a file that was imported within the last hour once more. Without it a repeated import goes on where the first one ended."`
	Patience time.Duration     `default:"2m" help:"How long to go on trying while the server is away or asks to wait."`
	remote
}

// Run sends the rows of the file in their order.
//
// A repeated run is safe: each batch carries an Idempotency-Key made of the file's content, the columns read, the
// board, its season and the batch's place, so a server that has taken it answers as it did then and counts nothing
// twice, for as long as it keeps replies (an hour unless its operator says otherwise). --again makes the keys new.
func (c *importCmd) Run(ctx context.Context, std streams) error {
	server, err := c.open(c.Board)
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	file, discard, err := openFile(c.File, std.in)
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	defer discard()
	board, err := server.board(ctx, c.Board)
	if err != nil {
		return fmt.Errorf("import: %w", explain(err, c.Board))
	}
	season := board.seasonClock()
	found, err := c.survey(file, &season)
	if err != nil {
		return fmt.Errorf("import: %s: %w", c.File, err)
	}
	if found.misfit != "" {
		fmt.Fprintf(std.err, "The column slot is not used, since %s: equal points come in the order of achieved_at.\n", found.misfit)
	}
	rows, err := openTable(file, c.Column, c.Where)
	if err != nil {
		return fmt.Errorf("import: %s: %w", c.File, err)
	}
	i := &importing{
		server: server, board: c.Board, run: c.runKey(found, season.Number), slots: found.slots && found.misfit == "",
		patience: c.Patience, total: found.rows, said: newTeller(std.err),
	}
	err = i.all(ctx, rows)
	i.said.clear()
	fmt.Fprintln(std.out, i.summary())
	switch {
	case errors.Is(err, context.Canceled):
		return errors.New("import: stopped; the same command goes on from here")
	case err != nil:
		return fmt.Errorf("import: %w", err)
	case i.refused > 0:
		return errSaid
	}
	return nil
}

// seasonClock returns the running season, as far as slots need it.
func (b *boardReply) seasonClock() store.Season {
	settings := store.Settings{MaxPoints: b.MaxPoints, Decimals: b.Decimals}
	return store.Season{
		Number: b.Season.Number, Start: b.Season.StartedAt,
		Resolution: time.Duration(b.TieResolution) * time.Millisecond,
		TimeBits:   store.TimeBits(int64(settings.Limit())),
	}
}

// openFile returns a file that can be read twice: input from a pipe is put aside first. Discard ends its use.
func openFile(path string, stdin io.Reader) (file *os.File, discard func(), err error) {
	in := stdin
	if path != "-" {
		file, err = os.Open(path)
		if err != nil {
			return nil, nil, err
		}
		if about, err := file.Stat(); err == nil && about.Mode().IsRegular() {
			return file, func() { _ = file.Close() }, nil
		}
		defer file.Close()
		in = file
	}
	aside, err := os.CreateTemp("", "leaderboard-import-*.csv")
	if err != nil {
		return nil, nil, err
	}
	discard = func() {
		_ = aside.Close()
		_ = os.Remove(aside.Name())
	}
	if _, err := io.Copy(aside, in); err != nil {
		discard()
		return nil, nil, err
	}
	return aside, discard, nil
}

// open checks the board's id and the server's address.
func (r remote) open(board string) (*server, error) {
	if _, err := store.ParseBoardID(board); err != nil {
		return nil, fmt.Errorf("--%w", err)
	}
	return r.server()
}

type exportCmd struct {
	Board  string `required:"" help:"Board to write out."`
	Season int64  `help:"Closed season to write; 0 is the running one."`
	remote
}

// stall is how long an export waits for the next piece of a reply.
const stall = time.Minute

// Run copies the server's CSV to standard output. A reply that breaks off is an error: what was written then is not
// the whole board.
func (c *exportCmd) Run(ctx context.Context, std streams) error {
	server, err := c.open(c.Board)
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	if c.Season < 0 {
		return errors.New("export: --season must be 1 or more")
	}
	query := url.Values{}
	if c.Season > 0 {
		query.Set("season", strconv.FormatInt(c.Season, 10))
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	reply, err := server.send(ctx, request{
		method: http.MethodGet, path: []string{"boards", c.Board, "export"}, query: query,
	})
	if err != nil {
		return fmt.Errorf("export: %w", explain(err, c.Board))
	}
	defer reply.Body.Close()
	watch := time.AfterFunc(stall, cancel)
	defer watch.Stop()
	if _, err := io.Copy(std.out, progressing{reply.Body, watch}); err != nil {
		return fmt.Errorf("export: broken off, the output is not whole: %w", err)
	}
	return nil
}

// progressing puts the watch back with each piece that is read.
type progressing struct {
	io.Reader
	watch *time.Timer
}

func (p progressing) Read(to []byte) (int, error) {
	n, err := p.Reader.Read(to)
	p.watch.Reset(stall)
	return n, err
}

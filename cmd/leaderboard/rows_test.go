package main

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// readAll returns the rows of a text and what was said of its other lines.
func readAll(text string, named, where map[string]string) (rows []row, refused []string, err error) {
	table, err := openTable(strings.NewReader(text), named, where)
	if err != nil {
		return nil, nil, err
	}
	for {
		r, err := table.next()
		if err == io.EOF {
			return rows, refused, nil
		}
		if broken, ok := errors.AsType[*lineError](err); ok {
			refused = append(refused, broken.Error())
			continue
		}
		if err != nil {
			return rows, refused, err
		}
		rows = append(rows, r)
	}
}

func TestRowsAreReadFromCSV(t *testing.T) {
	t.Parallel()
	ada := row{line: 2, player: "p1", name: "Ada", points: "5"}
	tests := map[string]struct {
		text         string
		named, where map[string]string
		want         []row
		refused      []string
	}{
		"with the usual columns, in any order": {
			text: "points,name,slot,player,achieved_at\n5,Ada,7,p1,2026-01-02T03:04:05Z\n",
			want: []row{{2, "p1", "Ada", "5", "2026-01-02T03:04:05Z", "7"}},
		},
		"with the columns of other tools": {text: "player_id,name,score,rank\np1,Ada,5,1\n", want: []row{ada}},
		"without names":                   {text: "player,points\np1,5\n", want: []row{{line: 2, player: "p1", points: "5"}}},
		"with a byte order mark":          {text: "\ufeffplayer,name,points\np1,Ada,5\n", want: []row{ada}},
		"with CRLF and no last line end":  {text: "player,name,points\r\np1,Ada,5", want: []row{ada}},
		"with spaces around what is a number and in the header": {
			text: "player, name ,points\np1,Ada, 5\n", want: []row{ada},
		},
		"with quotes, commas and line ends in fields": {
			text: "player,name,points\np1,\"a \"\"b\"\", c\",1\np2,\"x\ny\",2\np3,z,3\n",
			want: []row{
				{line: 2, player: "p1", name: `a "b", c`, points: "1"},
				{line: 3, player: "p2", name: "x\ny", points: "2"},
				{line: 5, player: "p3", name: "z", points: "3"},
			},
		},
		"with other headers that are named": {
			text: "who,called,best\np1,Ada,5\n", want: []row{ada},
			named: map[string]string{"player": "who", "name": "called", "points": "best"},
		},
		"without a part that is not wanted": {
			text: "player,name,points,achieved_at\np1,Ada,5,yesterday\n", want: []row{ada},
			named: map[string]string{"achieved_at": ""},
		},
		"one board out of several": {
			text:  "board,player,name,points\nb,p0,No,1\na,p1,Ada,5\n",
			where: map[string]string{"board": "a"}, want: []row{{3, "p1", "Ada", "5", "", ""}},
		},
		"beyond lines that are none": {
			text: "player,name,points\np1,Ada\np1,Ada,5\np2,\"B\"ob,6\np3,\xff,7\np4,a,b,c\np5,Eve,8\n",
			want: []row{{line: 3, player: "p1", name: "Ada", points: "5"}, {line: 7, player: "p5", name: "Eve", points: "8"}},
			refused: []string{
				"line 2: has 2 fields, the header has 3",
				`line 4: extraneous or missing " in quoted-field`,
				"line 5: name is not valid UTF-8",
				"line 6: has 4 fields, the header has 3",
			},
		},
		"and a quote that never ends is told with its beginning": {
			text:    "player,name,points\np1,\"Ada,5\np2,Bob,6\n",
			refused: []string{"line 2: a quoted field that begins here is broken in line 3: what lies between is lost"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, refused, err := readAll(test.text, test.named, test.where)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(got, test.want, cmp.AllowUnexported(row{})); diff != "" {
				t.Errorf("rows (-got +want):\n%s", diff)
			}
			if diff := cmp.Diff(refused, test.refused); diff != "" {
				t.Errorf("refused (-got +want):\n%s", diff)
			}
		})
	}
}

func TestAFileWithoutTheColumnsIsRefusedInWords(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text         string
		named, where map[string]string
		want         string
	}{
		"empty":               {text: "", want: "the file is empty"},
		"UTF-16":              {text: "\xff\xfep\x00", want: "the file is UTF-16"},
		"other separator":     {text: "player;points\n", want: `no column for player: the header is "player;points"`},
		"no points":           {text: "player,name\n", want: "no column for points"},
		"two that fit":        {text: "player_id,player,points\n", want: "could both be the player"},
		"named and not there": {text: "player,points\n", named: map[string]string{"name": "nick"}, want: "no column for name"},
		"needed and left out": {text: "player,points\n", named: map[string]string{"points": ""}, want: "no column for points"},
		"unknown part":        {text: "player,points\n", named: map[string]string{"score": "points"}, want: "--column score"},
		"unknown filter":      {text: "player,points\n", where: map[string]string{"board": "a"}, want: "--where board"},
		"broken header":       {text: "pl\"ayer,points\n", want: "the header cannot be read"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := readAll(test.text, test.named, test.where)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q in it", err, test.want)
			}
		})
	}
}

func FuzzRowsNeverPanicAndKeepTheirPlace(f *testing.F) {
	f.Add("player,points\np1,5\n")
	f.Add("\ufeffplayer_id,name,score\r\n\"a\nb\",\"\"\"\",1\r\n")
	f.Add("player,points\n\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		rows, _, err := readAll(text, nil, nil)
		if err != nil {
			return
		}
		last := 1
		for _, r := range rows {
			if r.line <= last {
				t.Fatalf("line %d follows line %d", r.line, last)
			}
			last = r.line
		}
	})
}

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"leaderboard/store"
)

func TestSlotsAreUsedOnlyByTheClockThatGaveThem(t *testing.T) {
	t.Parallel()
	season := store.Season{
		Number: 1, Start: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Resolution: 10 * time.Millisecond, TimeBits: 29,
	}
	tests := map[string]struct {
		rows string
		want string // in the reason; "" means that the slots fit
	}{
		"every slot stands for its time": {rows: "2026-01-01T00:00:01Z,100\n2026-01-01T00:00:00.05Z,5\n"},
		"also in another zone":           {rows: "2026-01-01T01:00:01+01:00,100\n"},
		"the latest run ahead of the clock": {
			rows: "2026-01-01T00:00:01Z,100\n2026-01-01T00:00:02Z,200\n2026-01-01T00:00:02Z,201\n2026-01-01T00:00:02Z,999\n",
		},
		"rows without a slot say nothing": {rows: "2026-01-01T00:00:01Z,\n2026-01-01T00:00:02Z,200\n"},
		"all but the first run ahead of the clock": {
			rows: "2026-01-01T00:00:01Z,100\n2026-01-01T00:00:02Z,201\n2026-01-01T00:00:02Z,202\n",
		},
		"two stand for their times, so the others run ahead of the clock": {
			rows: "2026-01-01T00:00:01Z,100\n2026-01-01T00:00:02Z,201\n2026-01-01T00:00:03Z,300\n",
		},
		"a later slot that is not at the latest time": {
			rows: "2026-01-01T00:00:01Z,100\n2026-01-01T00:00:02Z,201\n2026-01-01T00:00:03Z,301\n2026-01-01T00:00:01Z,100\n",
			want: "line 3: the slot is later than the time",
		},
		"nothing but later slots":       {rows: "2026-01-01T00:00:01Z,101\n", want: "line 2: the slot is later"},
		"an earlier slot":               {rows: "2026-01-01T00:00:01Z,99\n", want: "line 2: the slot is earlier"},
		"a slot that the board has not": {rows: "2026-01-01T00:00:01Z,536870912\n", want: `line 2: slot "536870912" is none`},
		"no number":                     {rows: "2026-01-01T00:00:01Z,-1\n", want: `line 2: slot "-1" is none`},
		"no time to hold it against":    {rows: ",100\n", want: "line 2: a slot without a time"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "board.csv")
			rows := "achieved_at,slot,player,points\n" + strings.ReplaceAll(test.rows, "\n", ",p,1\n")
			if err := os.WriteFile(path, []byte(rows), 0o600); err != nil {
				t.Fatal(err)
			}
			file, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			found, err := (&importCmd{}).survey(file, &season)
			if err != nil {
				t.Fatal(err)
			}
			if !found.slots || found.rows != strings.Count(test.rows, "\n") {
				t.Errorf("got %d rows, slots %t", found.rows, found.slots)
			}
			if (found.misfit == "") != (test.want == "") || !strings.Contains(found.misfit, test.want) {
				t.Errorf("got %q, want %q in it", found.misfit, test.want)
			}
		})
	}
}

func TestTheKeyOfAnImportChangesWithWhatItMeans(t *testing.T) {
	t.Parallel()
	same := survey{content: []byte("content")}
	key := (&importCmd{Board: "a"}).runKey(same, 1)
	if again := (&importCmd{Board: "a"}).runKey(same, 1); again != key {
		t.Errorf("got %s, want %s for the same import", again, key)
	}
	others := map[string]string{
		"board":  (&importCmd{Board: "b"}).runKey(same, 1),
		"season": (&importCmd{Board: "a"}).runKey(same, 2),
		"file":   (&importCmd{Board: "a"}).runKey(survey{content: []byte("other")}, 1),
		"slots":  (&importCmd{Board: "a"}).runKey(survey{content: same.content, misfit: "why"}, 1),
		"column": (&importCmd{Board: "a", Column: map[string]string{"points": "x"}}).runKey(same, 1),
		"where":  (&importCmd{Board: "a", Where: map[string]string{"points": "x"}}).runKey(same, 1),
		"again":  (&importCmd{Board: "a", Again: true}).runKey(same, 1),
		"twice":  (&importCmd{Board: "a", Again: true}).runKey(same, 1),
	}
	seen := map[string]string{key: "the first"}
	for what, other := range others {
		if before, ok := seen[other]; ok {
			t.Errorf("another %s has the key of %s", what, before)
		}
		seen[other] = what
	}
}

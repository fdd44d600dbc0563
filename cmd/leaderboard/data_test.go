package main

import (
	"encoding/csv"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"leaderboard/store/storetest"
)

// realData returns the path of a real board, which is not part of the project. The test is skipped where it is absent.
func realData(t *testing.T, name string) string {
	t.Helper()
	folder, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			break
		}
		if folder == filepath.Dir(folder) {
			t.Fatal("there is no go.mod above")
		}
		folder = filepath.Dir(folder)
	}
	path := filepath.Join(folder, "..", "shared", "data", name)
	if _, err := os.Stat(path); err != nil {
		storetest.Require(t, "data")
	}
	return path
}

// realRows returns the records of a real board, the header first.
func realRows(t *testing.T, path string) [][]string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// asCSV writes records as a file.
func asCSV(t *testing.T, rows [][]string) string {
	t.Helper()
	var text strings.Builder
	if err := csv.NewWriter(&text).WriteAll(rows); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

func TestARealContestComesOutAsItWas(t *testing.T) {
	t.Parallel()
	path := realData(t, "leetcode_weekly96.csv")
	rows := realRows(t, path)
	server := serving(t, storeFlags(t)...)

	shuffled := slices.Clone(rows)
	rand.New(rand.NewPCG(96, 1)).Shuffle(len(rows)-1, func(i, j int) {
		shuffled[i+1], shuffled[j+1] = shuffled[j+1], shuffled[i+1]
	})
	for board, file := range map[string]struct{ path, in string }{
		"in-file-order": {path: path},
		"shuffled":      {path: "-", in: asCSV(t, shuffled)},
	} {
		t.Run(board, func(t *testing.T) {
			t.Parallel()
			server.call(t, http.StatusCreated, "PUT", "/boards/"+board, `{"starts_at":"2018-08-05T00:00:00+08:00"}`, nil)
			status, out, said := command(t, file.in, server.at("import", file.path, "--board="+board)...)
			if status != 0 || out != "4704 rows taken, 0 refused\n" || said != "" {
				t.Fatalf("import: status %d\n%s%s", status, out, said)
			}
			got := server.walk(t, board)
			if len(got) != len(rows)-1 {
				t.Fatalf("got %d entries, want %d", len(got), len(rows)-1)
			}
			ids := map[string]bool{}
			for i, entry := range got {
				want := rows[i+1]
				at, err := time.Parse(time.RFC3339, want[3])
				if err != nil {
					t.Fatal(err)
				}
				if entry.Rank != int64(i+1) || string(entry.Points) != want[2] || !entry.AchievedAt.Equal(at) {
					t.Fatalf("place %d: got %d, %s at %s, want %s at %s", i+1, entry.Rank, entry.Points, entry.AchievedAt, want[2], want[3])
				}
				ids[entry.Player+"\n"+entry.Name] = true
			}
			for _, row := range rows[1:] {
				if !ids[row[0]+"\n"+row[1]] {
					t.Errorf("player %s, %q, is missing", row[0], row[1])
				}
			}
		})
	}
}

// lapsOf returns the rows of each race, in official order.
func lapsOf(rows [][]string) map[string][][]string {
	races := map[string][][]string{}
	for _, row := range rows[1:] {
		races[row[5]] = append(races[row[5]], row)
	}
	return races
}

func TestRealRacesAreRankedAsTheyWere(t *testing.T) {
	t.Parallel()
	races := lapsOf(realRows(t, realData(t, "f1_fastest_laps_2004_2026.csv")))
	if len(races) != 446 {
		t.Fatalf("got %d races, want 446", len(races))
	}
	server := serving(t, storeFlags(t)...)
	for race, official := range races {
		if race == "2025-02" { // in the source the pair of ranks 17 and 18 is the wrong way round
			if official[16][2] != "99.256" || official[17][2] != "95.069" {
				t.Errorf("2025-02: got %s and %s on ranks 17 and 18", official[16][2], official[17][2])
			}
			slices.SortStableFunc(official, func(a, b []string) int { return strings.Compare(a[2], b[2]) })
		}
		byLap := slices.Clone(official)
		slices.SortStableFunc(byLap, func(a, b []string) int { return number(t, a[6]) - number(t, b[6]) })
		server.postRace(t, race, byLap)

		got := server.walk(t, race)
		if len(got) != len(official) {
			t.Fatalf("%s: got %d entries, want %d", race, len(got), len(official))
		}
		for i, entry := range got {
			if want := official[i]; entry.Player != want[0] || string(entry.Points) != want[2] {
				t.Errorf("%s, place %d: got %s with %s, want %s with %s", race, i+1, entry.Player, entry.Points, want[0], want[2])
			}
		}
	}
}

// postRace makes a board and posts the rows in their order, every tenth race one by one.
func (p *process) postRace(t *testing.T, race string, rows [][]string) {
	t.Helper()
	p.call(t, http.StatusCreated, "PUT", "/boards/"+race, `{"order":"asc","decimals":3,"max_points":10000}`, nil)
	var batch struct {
		Scores []score `json:"scores"`
	}
	for _, row := range rows {
		batch.Scores = append(batch.Scores, score{Player: row[0], Name: row[1], Points: row[2]})
	}
	if !strings.HasSuffix(race, "0") {
		body, err := json.Marshal(batch)
		if err != nil {
			t.Fatal(err)
		}
		p.call(t, http.StatusOK, "POST", "/boards/"+race+"/scores/batch", string(body), nil)
		return
	}
	for _, s := range batch.Scores {
		body, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		p.call(t, http.StatusOK, "POST", "/boards/"+race+"/scores", string(body), nil)
	}
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

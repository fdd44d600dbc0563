package api_test

import (
	"fmt"
	"strings"
	"testing"
)

// order reads who stands where, as names alone.
func order(entries []entry) string {
	var players []string
	for _, e := range entries {
		players = append(players, e.Player)
	}
	return strings.Join(players, " ")
}

func TestAmongEqualsWhoeverCameFirstStandsFirst(t *testing.T) { // F15
	t.Parallel()
	for _, c := range []struct{ order, points, worse string }{{"desc", "100", "90"}, {"asc", "12.50", "13.00"}} {
		t.Run(c.order, func(t *testing.T) {
			t.Parallel()
			s := newBoard(t, fmt.Sprintf(`{"order":%q,"decimals":2}`, c.order))
			for _, player := range []string{"zoe", "adam", "Émile"} {
				post(t, s, player, c.points).want(t, 200)
			}
			first := top(t, s, "")
			post(t, s, "zoe", c.points).want(t, 200)
			post(t, s, "zoe", c.worse).want(t, 200)
			again := top(t, s, "")
			if got, want := order(again.Entries), "zoe adam Émile"; got != want {
				t.Errorf("order %s, want %s", got, want)
			}
			if !first.Entries[0].AchievedAt.Equal(again.Entries[0].AchievedAt) || first.Version != again.Version {
				t.Errorf("a same and a worse score changed %+v to %+v", first, again)
			}
			var around struct{ Entries []entry }
			do(t, s, "GET", "/api/v1/boards/demo/players/adam/around", "").want(t, 200).into(t, &around)
			if got, want := order(around.Entries), "zoe adam Émile"; got != want {
				t.Errorf("around adam %s, want %s", got, want)
			}
			var activity struct{ Items []struct{ Kind string } }
			do(t, s, "GET", "/api/v1/boards/demo/players/zoe/activity", "").want(t, 200).into(t, &activity)
			if len(activity.Items) != 1 {
				t.Errorf("zoe has %d activities, want 1: only one score changed something", len(activity.Items))
			}
		})
	}
}

func TestTheOrderOfABatchBreaksItsTies(t *testing.T) { // F15
	t.Parallel()
	s := newBoard(t, `{}`)
	body := `{"scores":[{"player":"zoe","points":100},{"player":"adam","points":100},{"player":"Émile","points":100},
		{"player":"bea","points":100},{"player":"ada","points":100}]}`
	do(t, s, "POST", "/api/v1/boards/demo/scores/batch", body).want(t, 200)
	for range 2 { // listed twice: the same order each time
		if got, want := order(top(t, s, "").Entries), "zoe adam Émile bea ada"; got != want {
			t.Errorf("order %s, want %s", got, want)
		}
	}
}

func TestAWayThereAndBackLosesThePlaceAmongEquals(t *testing.T) { // F15: a correction where the latest counts
	t.Parallel()
	s := newBoard(t, `{"policy":"last"}`)
	for _, player := range []string{"zoe", "adam", "bea"} {
		post(t, s, player, "100").want(t, 200)
	}
	post(t, s, "zoe", "110").want(t, 200)
	post(t, s, "zoe", "100").want(t, 200)
	if got, want := order(top(t, s, "").Entries), "adam bea zoe"; got != want {
		t.Errorf("order %s, want %s", got, want)
	}
}

func TestASumThatTiesStandsBehindWhoWasThere(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{"policy":"sum"}`)
	post(t, s, "late", "1000").want(t, 200)
	post(t, s, "early", "1010").want(t, 200)
	post(t, s, "late", "10").want(t, 200)
	if got, want := lines(top(t, s, "").Entries), "1 early 1010, 2 late 1010"; got != want {
		t.Errorf("board %s, want %s", got, want)
	}
}

func TestTiesShareRanksByChoice(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{"live_top":3}`)
	for _, score := range []string{"a 101", "b 100", "c 100", "d 99", "e 0", "f 0"} {
		player, points, _ := strings.Cut(score, " ")
		post(t, s, player, points).want(t, 200)
	}
	for query, want := range map[string]string{
		"":                              "1 a 101, 2 b 100, 3 c 100, 4 d 99, 5 e 0, 6 f 0",
		"?ties=shared":                  "1 a 101, 2 b 100, 2 c 100, 4 d 99, 5 e 0, 5 f 0",
		"?ties=shared&limit=3":          "1 a 101, 2 b 100, 2 c 100", // from the kept top
		"?ties=shared&limit=1&offset=2": "2 c 100",
		"?ties=shared&limit=1&offset=5": "5 f 0", // from the store
		"?limit=1&offset=2":             "3 c 100",
	} {
		if got := lines(top(t, s, query).Entries); got != want {
			t.Errorf("top%s is %s, want %s", query, got, want)
		}
	}
	for path, want := range map[string]int64{"/players/c": 3, "/players/c?ties=shared": 2, "/players/f?ties=shared": 5} {
		var got entry
		do(t, s, "GET", "/api/v1/boards/demo"+path, "").want(t, 200).into(t, &got)
		if got.Rank != want {
			t.Errorf("%s has rank %d, want %d", path, got.Rank, want)
		}
	}
	for _, ties := range []string{"Shared", "dense", "", "shared&ties=shared"} {
		do(t, s, "GET", "/api/v1/boards/demo/top?ties="+ties, "").refused(t, 422, "invalid", "ties")
	}
}

func TestTiesAreBrokenByTimeAndNotByID(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{}`)
	for _, player := range []string{"ccc", "aaa", "bbb", "z", "a"} {
		post(t, s, player, "5").want(t, 200)
	}
	if got, want := order(top(t, s, "").Entries), "ccc aaa bbb z a"; got != want {
		t.Errorf("order %s, want %s", got, want)
	}
}

func TestLookupSortsByRankAndNamesWhoIsMissing(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{}`)
	for player, points := range map[string]string{"a": "200", "b": "100", "c": "300", "d": "400"} {
		post(t, s, player, points).want(t, 200)
	}
	var got struct {
		Entries []entry
		Unknown []string
	}
	body := `{"players":["a","ghost","b","c","a","nobody"]}`
	do(t, s, "POST", "/api/v1/boards/demo/lookup", body).want(t, 200).into(t, &got)
	if want := "2 c 300, 3 a 200, 4 b 100"; lines(got.Entries) != want {
		t.Errorf("entries %s, want %s", lines(got.Entries), want)
	}
	for i, e := range got.Entries {
		if e.Place != int64(i+1) {
			t.Errorf("%s has place %d among them, want %d", e.Player, e.Place, i+1)
		}
	}
	if strings.Join(got.Unknown, " ") != "ghost nobody" {
		t.Errorf("unknown %v, want ghost and nobody", got.Unknown)
	}
}

func TestLookupBounds(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{}`)
	players := func(n int) string {
		var ids []string
		for i := range n {
			ids = append(ids, fmt.Sprintf(`"p%d"`, i))
		}
		return `{"players":[` + strings.Join(ids, ",") + `]}`
	}
	for body, field := range map[string]string{
		`{}`: "players", `{"players":[]}`: "players", `{"players":null}`: "players", `{"players":"a"}`: "players",
		`{"players":[1]}`: "players", `{"players":[null]}`: "players", `{"players":["a"],"x":1}`: "x", players(1001): "players",
		`{"players":["a"],"players":["b"]}`: "players",
	} {
		do(t, s, "POST", "/api/v1/boards/demo/lookup", body).refused(t, 422, "invalid", field)
	}
	do(t, s, "POST", "/api/v1/boards/demo/lookup", players(1000)).want(t, 200)
}

package api_test

import (
	"net/url"
	"strings"
	"testing"
)

func TestWholeNumbersNearTheEdgeStayExact(t *testing.T) { // F09
	t.Parallel()
	s := newServer(t)
	// 2^53 is beyond what any board takes, so such a board is refused rather than rounded.
	do(t, s, "PUT", "/api/v1/boards/demo", `{"max_points":9007199254740992}`).refused(t, 422, "invalid", "max_points")
	do(t, s, "PUT", "/api/v1/boards/demo", `{"max_points":9007199254740991}`).refused(t, 422, "invalid", "max_points")
	do(t, s, "PUT", "/api/v1/boards/demo", `{"max_points":9007199254740,"decimals":3}`).refused(t, 422, "invalid", "max_points")
	do(t, s, "PUT", "/api/v1/boards/demo", `{"max_points":9007199254741,"decimals":3}`).refused(t, 422, "invalid", "max_points")
	do(t, s, "PUT", "/api/v1/boards/demo", `{"max_points":34359738367,"season_days":1000}`).want(t, 201)
	for player, points := range map[string]string{
		"A": "34359738364", "B": "34359738365", "C": "34359738366", "D": "34359738367",
		"-A": "-34359738364", "-D": "-34359738367",
	} {
		r := post(t, s, player, points).want(t, 200)
		if !strings.Contains(string(r.body), `"points":`+points+`,`) {
			t.Errorf("sent %s, got %s", points, r.body)
		}
	}
	want := "1 D 34359738367, 2 C 34359738366, 3 B 34359738365, 4 A 34359738364, 5 -A -34359738364, 6 -D -34359738367"
	if got := lines(top(t, s, "").Entries); got != want {
		t.Errorf("board %s, want %s", got, want)
	}
	for _, beyond := range []string{
		"34359738368", "-34359738368", "9007199254740991", "9007199254740993", "-9007199254740993",
		"9223372036854775807", "9223372036854775808", "18446744073709551616",
	} {
		post(t, s, "E", beyond).refused(t, 422, "invalid", "points")
	}
}

func TestOverflowAndNotANumberAreRefused(t *testing.T) { // F11
	t.Parallel()
	s := newBoard(t, `{"policy":"sum"}`)
	post(t, s, "p1", "9999999").want(t, 200)
	for _, points := range []string{`"NaN"`, `"inf"`, `"-inf"`, `"Infinity"`, `1e308`, `1e309`, `-1e309`, `1e-400`, `"1e400"`, `1e999999999999`} {
		post(t, s, "p1", points).refused(t, 422, "invalid", "points")
	}
	for _, points := range []string{`NaN`, `Infinity`, `-Infinity`, `+5`, `.5`, `5.`} {
		post(t, s, "p1", points).refused(t, 422, "malformed_json", "points")
	}
	post(t, s, "p1", "2").refused(t, 422, "invalid", "points") // the sum would leave the range
	post(t, s, "p1", "1").want(t, 200)
	if got := lines(top(t, s, "").Entries); got != "1 p1 10000000" {
		t.Errorf("board %s, want 1 p1 10000000", got)
	}
	do(t, s, "GET", "/api/v1/boards/demo/range?min=nan&max=inf", "").refused(t, 422, "invalid", "min")
	do(t, s, "GET", "/api/v1/boards/demo/range?min=0&max=inf", "").refused(t, 422, "invalid", "max")
	do(t, s, "GET", "/api/v1/boards/demo/rank?points=Infinity", "").refused(t, 422, "invalid", "points")
	do(t, s, "GET", "/api/v1/boards/demo/rank", "").refused(t, 422, "invalid", "points")
}

func TestSpellingsOfOneNumberAreOneNumber(t *testing.T) { // F12
	t.Parallel()
	s := newBoard(t, `{"decimals":2,"policy":"last"}`)
	for points, want := range map[string]string{
		`1e3`: "1000.00", `1000`: "1000.00", `1000.0`: "1000.00", `"1000"`: "1000.00", `"1e3"`: "1000.00", `1E+3`: "1000.00",
		`10000e-1`: "1000.00", `1.0`: "1.00", `1.50`: "1.50", `1.5`: "1.50", `100.000`: "100.00", `-5`: "-5.00", `"5"`: "5.00",
		`-0`: "0.00", `0`: "0.00", `-0.0`: "0.00", `"-0e5"`: "0.00", `0.01`: "0.01", `-0.01`: "-0.01", `1e-2`: "0.01",
		`1.23000000000000000000000`: "1.23",
	} {
		r := post(t, s, "p1", points).want(t, 200)
		if !strings.Contains(string(r.body), `"points":`+want+`,"submitted":`+want+`,`) {
			t.Errorf("%s came back as %s, want %s", points, r.body, want)
		}
	}
}

func TestWhatIsNoNumberIsRefused(t *testing.T) { // F12
	t.Parallel()
	s := newBoard(t, `{"decimals":2}`)
	for _, points := range []string{
		`12.345`, `" 5"`, `"5 "`, `"0x10"`, `"01"`, `"1_000"`, `"٣"`, `"+5"`, `"5."`, `".5"`, `"1e"`, `""`, `"1,5"`,
		`true`, `[]`, `[1]`, `{}`, `null`,
	} {
		post(t, s, "p1", points).refused(t, 422, "invalid", "points")
	}
	for _, points := range []string{`٣`, `-`, ``} {
		post(t, s, "p1", points).refused(t, 422, "malformed_json", "points")
	}
	for _, points := range []string{`0x10`, `01`, `1_000`} { // a number, and then something that belongs to nothing
		post(t, s, "p1", points).refused(t, 422, "malformed_json", "")
	}
	scores := "/api/v1/boards/demo/scores"
	do(t, s, "POST", scores, `{"player":"p1"}`).refused(t, 422, "invalid", "points")
	do(t, s, "POST", scores, `{"points":1}`).refused(t, 422, "invalid", "player")
	do(t, s, "POST", scores, `{"player":null,"points":1}`).refused(t, 422, "invalid", "player")
	do(t, s, "POST", scores, `{"player":5,"points":1}`).refused(t, 422, "invalid", "player")
	do(t, s, "POST", scores, `null`).refused(t, 422, "invalid", "body")
	do(t, s, "POST", scores, `[]`).refused(t, 422, "invalid", "body")
	do(t, s, "POST", scores, `5`).refused(t, 422, "invalid", "body")
	do(t, s, "POST", scores, ``).refused(t, 422, "malformed_json", "")
	do(t, s, "POST", scores, `  `).refused(t, 422, "malformed_json", "")
	if got := top(t, s, ""); got.Total != 0 {
		t.Errorf("refused points left %d players on the board, want 0", got.Total)
	}
}

func TestNumbersThatUsersComplainedOf(t *testing.T) {
	t.Parallel()
	t.Run("fixed point, low is better", func(t *testing.T) {
		t.Parallel()
		s := newBoard(t, `{"order":"asc","decimals":2}`)
		post(t, s, "b", "593.21").want(t, 200)
		post(t, s, "a", "1.1").want(t, 200)
		if got, want := lines(top(t, s, "").Entries), "1 a 1.10, 2 b 593.21"; got != want {
			t.Errorf("board %s, want %s", got, want)
		}
	})
	t.Run("beyond 32 bits", func(t *testing.T) {
		t.Parallel()
		s := newBoard(t, `{"max_points":5000000000}`)
		post(t, s, "a", "3000000000").want(t, 200)
		if got := lines(top(t, s, "").Entries); got != "1 a 3000000000" {
			t.Errorf("board %s", got)
		}
	})
	t.Run("times in seconds with milliseconds", func(t *testing.T) {
		t.Parallel()
		s := newBoard(t, `{"order":"asc","decimals":3,"max_points":86400}`)
		post(t, s, "a", "12.345").want(t, 200)
		if got := lines(top(t, s, "").Entries); got != "1 a 12.345" {
			t.Errorf("board %s", got)
		}
	})
	t.Run("large ones, never in exponent form", func(t *testing.T) {
		t.Parallel()
		s := newBoard(t, `{"max_points":68000000000,"schedule":"daily"}`)
		post(t, s, "a", "67000000000").want(t, 200)
		if got := lines(top(t, s, "").Entries); got != "1 a 67000000000" {
			t.Errorf("board %s", got)
		}
		// Milliseconds since 1970 leave no room for exact time. The board is refused, and says what would fit.
		r := do(t, s, "PUT", "/api/v1/boards/ms", `{"max_points":2000000000000,"schedule":"daily"}`)
		r.refused(t, 422, "invalid", "max_points")
		if !strings.Contains(string(r.body), "68719476735") {
			t.Errorf("%s does not say what would fit", r.body)
		}
	})
	t.Run("below zero, sorted", func(t *testing.T) {
		t.Parallel()
		s := newBoard(t, `{}`)
		for player, points := range map[string]string{"x": "-5", "y": "-50", "z": "3"} {
			post(t, s, player, points).want(t, 200)
		}
		if got, want := lines(top(t, s, "").Entries), "1 z 3, 2 x -5, 3 y -50"; got != want {
			t.Errorf("board %s, want %s", got, want)
		}
	})
	t.Run("zero counts", func(t *testing.T) {
		t.Parallel()
		s := newBoard(t, `{"policy":"last"}`)
		post(t, s, "a", "5").want(t, 200)
		post(t, s, "a", "0").want(t, 200)
		if got := lines(top(t, s, "").Entries); got != "1 a 0" {
			t.Errorf("board %s, want 1 a 0", got)
		}
	})
}

func TestRankOfPointsAndRange(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{"decimals":1}`)
	for player, points := range map[string]string{"a": "10", "b": "20", "c": "30"} {
		post(t, s, player, points).want(t, 200)
	}
	for points, want := range map[string]string{
		"20":      `{"points":20.0,"rank":3,"total":3}`, // behind who reached them first
		"20.1":    `{"points":20.1,"rank":2,"total":3}`,
		"-1e1":    `{"points":-10.0,"rank":4,"total":3}`,
		"30.0000": `{"points":30.0,"rank":2,"total":3}`,
		"31":      `{"points":31.0,"rank":1,"total":3}`,
	} {
		r := do(t, s, "GET", "/api/v1/boards/demo/rank?points="+url.QueryEscape(points), "").want(t, 200)
		if string(r.body) != want {
			t.Errorf("rank of %s is %s, want %s", points, r.body, want)
		}
	}
	var got struct {
		Entries []entry
		Count   int64
	}
	do(t, s, "GET", "/api/v1/boards/demo/range?min=10&max=20&limit=1", "").want(t, 200).into(t, &got)
	if lines(got.Entries) != "2 b 20.0" || got.Count != 2 {
		t.Errorf("range holds %s of %d, want 2 b 20.0 of 2", lines(got.Entries), got.Count)
	}
	do(t, s, "GET", "/api/v1/boards/demo/range", "").want(t, 200).into(t, &got)
	if got.Count != 3 {
		t.Errorf("an open range holds %d, want 3", got.Count)
	}
	r := do(t, s, "GET", "/api/v1/boards/demo/range?min=40", "").want(t, 200)
	if string(r.body) != `{"entries":[],"count":0}` {
		t.Errorf("a range beyond all is %s", r.body)
	}
	do(t, s, "GET", "/api/v1/boards/demo/rank?points=1.25", "").refused(t, 422, "invalid", "points")
	do(t, s, "GET", "/api/v1/boards/demo/range?min=1.25", "").refused(t, 422, "invalid", "min")
	do(t, s, "GET", "/api/v1/boards/demo/range?max=", "").refused(t, 422, "invalid", "max")
}

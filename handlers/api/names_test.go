package api_test

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// named posts a score with a name.
func named(t testing.TB, s *server, player, name, points string) reply {
	t.Helper()
	return do(t, s, "POST", "/api/v1/boards/demo/scores",
		`{"player":`+quote(player)+`,"name":`+quote(name)+`,"points":`+points+`}`)
}

// shownEverywhere fails the test unless each reply that names a player has the name byte for byte.
func shownEverywhere(t testing.TB, s *server, player, name string) {
	t.Helper()
	path := "/api/v1/boards/demo/players/" + url.PathEscape(player)
	var lists [][]entry
	lists = append(lists, top(t, s, "?limit=1000").Entries)
	var around struct{ Entries []entry }
	do(t, s, "GET", path+"/around", "").want(t, 200).into(t, &around)
	var view struct {
		Top, Around []entry
		Entry       entry
	}
	do(t, s, "GET", "/api/v1/boards/demo/view?limit=1000&player="+url.QueryEscape(player), "").want(t, 200).into(t, &view)
	var alone entry
	do(t, s, "GET", path, "").want(t, 200).into(t, &alone)
	lists = append(lists, around.Entries, view.Top, view.Around, []entry{view.Entry}, []entry{alone})
	for i, list := range lists {
		found := false
		for _, e := range list {
			if e.Player == player {
				found = true
				if e.Name == nil || *e.Name != name {
					t.Errorf("list %d shows %s as %+q, want %+q", i, player, *e.Name, name)
				}
			}
		}
		if !found {
			t.Errorf("list %d lacks %s", i, player)
		}
	}
}

func TestNamesComeBackByteForByte(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{}`)
	for what, name := range map[string]string{
		"F01 honest Hebrew":                    "שלום עולם",
		"F01 isolates":                         "\u2066a\u2069",
		"F01 arabic letter mark before digits": "\u061c\u061c19",
		"F02 markup":                           `<img src=x onerror=alert(1)>`,
		"F02 end of a script":                  `</script><script>alert(1)</script>`,
		"F02 a template":                       `{{7*7}}`,
		"F02 an attribute":                     `" onmouseover="alert(1)`,
		"F02 an entity":                        `&lt;b&gt;`,
		"F02 an ampersand":                     `M&M's`,
		"F02 an address":                       `javascript:alert(1)`,
		"F03 four bytes":                       "🩸",
		"F03 joined":                           "🧙🏽‍♂️",
		"F03 families":                         strings.Repeat("👨‍👩‍👧‍👦", 8),
		"F03 mathematical letters":             "𝙍𝙖𝙣𝙠",
		"F03 faces":                            "ᕕ( ཀ ʖ̯ ཀ)ᕗ",
		"F03 combining marks":                  "Z" + strings.Repeat("\u0301", 60),
		"F03 sixty-four letters of one byte":   strings.Repeat("a", 64),
		"F03 sixty-four letters of two bytes":  strings.Repeat("é", 64),
		"F03 sixty-four letters of three":      strings.Repeat("玩", 64),
		"F03 sixty-four letters of four":       strings.Repeat("𝙍", 64),
		"names: emoji around":                  "✨Multi✨",
		"names: Cyrillic with an accent":       "Ива\u0301н",
		"names: Chinese":                       "玩家",
		"names: upside down":                   "dɹǝᗡ",
		"names: outer spaces":                  "  spaced  ",
		"names: not normalised":                "e\u0301",
	} {
		t.Run(what, func(t *testing.T) {
			player := "p-" + url.QueryEscape(what)
			named(t, s, player, name, "7").want(t, 200)
			shownEverywhere(t, s, player, name)
		})
	}
}

func TestNamesThatDeceiveOrShowNothingAreRefused(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{}`)
	for what, name := range map[string]string{
		"F01 right-to-left override": "Rabbit\u202e",
		"F01 left-to-right override": "\u202da",
		"F01 nothing visible":        "\u200b\u2060",
		"F01 marks only":             "\u061c\u061c",
		"F05 NUL":                    "a\x00",
		"F05 a line break":           "a\nb",
		"F05 a terminal code":        "a\x1b[31mred",
		"F05 a C1 control":           "a\u0085b",
		"F03 one letter too many":    strings.Repeat("a", 65),
		"F03 the same in four bytes": strings.Repeat("𝙍", 65),
		"F03 ten thousand letters":   strings.Repeat("a", 10_000),
		"empty":                      "",
		"spaces only":                "   ",
		"Hangul filler":              "\u3164\u3164",
	} {
		t.Run(what, func(t *testing.T) {
			named(t, s, "p1", name, "7").refused(t, 422, "invalid", "name")
		})
	}
	if got := top(t, s, ""); got.Total != 0 {
		t.Errorf("refused names left %d players on the board, want 0", got.Total)
	}
}

func TestANameOfOneMegabyteMeetsTheLimitOfTheBody(t *testing.T) { // F03
	t.Parallel()
	s := newBoard(t, `{}`)
	named(t, s, "p1", strings.Repeat("a", 1<<20), "7").refused(t, 413, "too_large", "")
}

func TestInvalidUTF8IsRefused(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{}`)
	do(t, s, "POST", "/api/v1/boards/demo/scores", "{\"player\":\"p1\",\"name\":\"a\xff\",\"points\":7}").
		refused(t, 422, "malformed_json", "name")
	do(t, s, "POST", "/api/v1/boards/demo/scores", `{"player":"p\ud800","points":7}`).
		refused(t, 422, "malformed_json", "player")
	do(t, s, "GET", "/api/v1/boards/demo/players/a%ff", "").refused(t, 422, "invalid", "player")
	do(t, s, "GET", "/api/v1/boards/demo/players?name=%ff", "").refused(t, 422, "invalid", "name")
}

func TestMarkupInNamesIsServedAsJSONOnly(t *testing.T) { // F02
	t.Parallel()
	s := newBoard(t, `{}`)
	named(t, s, "p1", `<img src=x onerror=alert(1)>`, "7").want(t, 200)
	r := do(t, s, "GET", "/api/v1/boards/demo/top", "").want(t, 200)
	if got := r.header.Get("Content-Type"); got != "application/json" {
		t.Errorf("content type %q, want application/json", got)
	}
	if got := r.header.Get("X-Content-Type-Options"); got != "nosniff" {
		t.Errorf("X-Content-Type-Options %q, want nosniff", got)
	}
	page := do(t, s, "GET", "/b/demo", "").want(t, 200)
	if strings.Contains(string(page.body), "<img src=x") {
		t.Error("the page holds the name as markup")
	}
	if policy := page.header.Get("Content-Security-Policy"); !strings.Contains(policy, "script-src 'self'") {
		t.Errorf("content policy %q lets more than our own scripts run", policy)
	}
}

func TestAPlayerWhoIsRenamedHasTheNewNameEverywhere(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{}`)
	named(t, s, "p1", "Old", "7").want(t, 200)
	named(t, s, "p1", "New", "3").want(t, 200) // a name that comes with a worse score still counts
	shownEverywhere(t, s, "p1", "New")
	var found struct{ Entries []entry }
	do(t, s, "GET", "/api/v1/boards/demo/players?name=old", "").want(t, 200).into(t, &found)
	if len(found.Entries) != 0 {
		t.Errorf("the old name still finds %v", found.Entries)
	}
	do(t, s, "GET", "/api/v1/boards/demo/players?name=NE", "").want(t, 200).into(t, &found)
	if len(found.Entries) != 1 || found.Entries[0].Points != "7" {
		t.Errorf("the new name finds %v, want p1 with 7 points", found.Entries)
	}
}

func TestSearchTakesTheBeginningOfAName(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{}`)
	for name, points := range map[string]string{"Anna": "3", "anton": "9", "Bert": "5"} {
		named(t, s, "p-"+name, name, points).want(t, 200)
	}
	var found struct{ Entries []entry }
	do(t, s, "GET", "/api/v1/boards/demo/players?name=an&limit=5", "").want(t, 200).into(t, &found)
	slices.SortFunc(found.Entries, func(a, b entry) int { return cmp.Compare(a.Rank, b.Rank) })
	if got, want := lines(found.Entries), "1 p-anton 9, 3 p-Anna 3"; got != want {
		t.Errorf("found %s, want %s", got, want)
	}
	do(t, s, "GET", "/api/v1/boards/demo/players", "").refused(t, 422, "invalid", "name")
	do(t, s, "GET", "/api/v1/boards/demo/players?name=", "").refused(t, 422, "invalid", "name")
	do(t, s, "GET", "/api/v1/boards/demo/players?name=%00", "").refused(t, 422, "invalid", "name")
}

func TestLogLinesStayOneLine(t *testing.T) { // F05
	t.Parallel()
	s := newBoard(t, `{}`)
	before := strings.Count(s.log.String(), "\n")
	do(t, s, "GET", "/api/v1/boards/demo/players/a%0Alevel=ERROR%20msg=forged", "").refused(t, 422, "invalid", "player")
	do(t, s, "POST", "/api/v1/boards/demo/scores", `{"a\u000alevel=ERROR\u001b[31m":1}`).
		refused(t, 422, "invalid", "a\nlevel=ERROR\x1b[31m")
	log := s.log.String()
	if lines := strings.Count(log, "\n") - before; lines != 2 {
		t.Errorf("two failures wrote %d lines:\n%s", lines, log)
	}
	if strings.ContainsAny(log, "\x1b") {
		t.Errorf("a terminal code reached the log: %q", log)
	}
}

package pages_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"leaderboard/handlers/pages"
	"leaderboard/store"
)

var (
	now   = time.Date(2026, 5, 3, 14, 3, 22, 0, time.UTC)
	start = now.Add(-48 * time.Hour)
)

// serve returns an app with the routes of the pages. An error shows its own text, so that tests can look for it.
func serve(f *fake) *fiber.App {
	p := pages.New(pages.Deps{Store: f, Live: true})
	app := fiber.New(fiber.Config{CaseSensitive: true, ErrorHandler: func(c *fiber.Ctx, err error) error {
		return c.Status(http.StatusTeapot).SendString(err.Error())
	}})
	app.Get("/", p.Home)
	app.Get("/b/:board", p.Board)
	app.Get("/b/:board/p/:player", p.Player)
	app.Get("/b/:board/seasons/:season", p.Season)
	return app
}

type reply struct {
	status  int
	body    string
	header  http.Header
	cookies []*http.Cookie
}

func get(t *testing.T, app *fiber.App, address string, cookies ...*http.Cookie) reply {
	t.Helper()
	request := httptest.NewRequest(http.MethodGet, "/", nil)
	request.RequestURI = address // goes out as it is, also what net/url refuses
	for _, c := range cookies {
		request.AddCookie(c)
	}
	response, err := app.Test(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{response.StatusCode, string(body), response.Header, response.Cookies()}
}

// has fails the test for each text that the page lacks.
func (r reply) has(t *testing.T, texts ...string) reply {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(r.body, text) {
			t.Errorf("the page (%d) lacks %q", r.status, text)
		}
	}
	return r
}

func (r reply) hasNot(t *testing.T, texts ...string) reply {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(r.body, text) {
			t.Errorf("the page (%d) has %q", r.status, text)
		}
	}
	return r
}

func entry(player, name string, points store.Points, ago time.Duration) store.Entry {
	return store.Entry{Player: store.PlayerID(player), Name: store.Name(name), Points: points, AchievedAt: now.Add(-ago)}
}

// crowd returns n players: p1 with n thousand points, p2 with a thousand less, and so on.
func crowd(n int) []store.Entry {
	entries := make([]store.Entry, n)
	for i := range entries {
		entries[i] = entry(fmt.Sprint("p", i+1), fmt.Sprint("Player ", i+1), store.Points(1000*(n-i)), time.Duration(i)*time.Minute)
	}
	return entries
}

// arcade has 120 players in its third season, and two seasons closed.
func arcade() *fake {
	f := newFake()
	season := store.Season{Number: 3, Start: start, End: now.Add(63*time.Hour + 4*time.Minute), Order: store.Desc}
	f.add("arcade", now, season, crowd(120)...)
	closed := store.Season{Number: 2, Start: start.Add(-time.Hour), End: start, Closed: true, Reason: "schedule", Order: store.Desc}
	f.addSeason("arcade", closed, crowd(4)...)
	closed.Number, closed.Reason = 1, "a trial"
	f.addSeason("arcade", closed)
	return f
}

func TestHomeListsTheBoardsAndWhoLeads(t *testing.T) {
	t.Parallel()
	f := arcade()
	f.add("empty", now, store.Season{Number: 1, Start: start})
	page := get(t, serve(f), "/")
	page.has(t, `href="/b/arcade"`, "Player 1<", "120\u202f000", "2 d 15 h", `href="/b/empty"`, ">open<")
	page.hasNot(t, "Player 4<")
	if got, want := page.header.Get("Content-Type"), "text/html; charset=utf-8"; got != want {
		t.Errorf("content type: got %q, want %q", got, want)
	}
}

func TestHomeWithoutBoardsSaysHowToMakeOne(t *testing.T) {
	t.Parallel()
	get(t, serve(newFake()), "/").has(t, "No boards yet", "curl -X PUT http://example.com/api/v1/boards/arcade")
}

func TestBoardShowsItsTop(t *testing.T) {
	t.Parallel()
	page := get(t, serve(arcade()), "/b/arcade")
	page.has(t, "Top 50", "Player 50<", "120\u202f000", `data-limit="50"`, "2 d 15 h", `datetime="2026-05-03T14:03:22Z"`,
		`title="3 May 2026, 14:03:22 UTC"`, "14:03:22 UTC", `href="/b/arcade/p/p7"`, "6 min ago", `href="/b/arcade?offset=50"`,
		`href="/b/arcade/seasons/2"`, "Find yourself", "reached 120\u202f000 points, 1st", `data-points="120000"`,
		`id="empty" hidden`)
	page.hasNot(t, "Player 51<")
}

func TestBoardShowsFewerPlacesWhenItsLiveTopIsSmall(t *testing.T) {
	t.Parallel()
	f := arcade()
	state := f.states["arcade"]
	state.Settings.LiveTop = 10
	f.states["arcade"] = state
	page := get(t, serve(f), "/b/arcade")
	page.has(t, "Top 10", `data-limit="10"`, `href="/b/arcade?offset=10"`)
	page.hasNot(t, "Player 11<")
}

func TestBoardGoesOnBehindItsTop(t *testing.T) {
	t.Parallel()
	app := serve(arcade())
	page := get(t, app, "/b/arcade?offset=50")
	page.has(t, "Places 51 to 100", "Player 51<", "Player 100<", `href="/b/arcade?offset=100"`, `rel="prev" href="/b/arcade"`, `data-limit=""`)
	page.hasNot(t, "Player 50<", "Player 101<", "LIVE")
	page = get(t, app, "/b/arcade?offset=100&player=p3")
	page.has(t, "Places 101 to 120", `href="/b/arcade?player=p3&amp;offset=50"`, "Your place", "3rd")
	page.hasNot(t, `rel="next"`)
	get(t, app, "/b/arcade?offset=2000").has(t, "Nobody stands this far down", "fewer than 2\u202f001 places")
}

func TestEmptyBoardSaysHowToPostTheFirstScore(t *testing.T) {
	t.Parallel()
	f := newFake()
	f.add("new", now, store.Season{Number: 1, Start: start})
	get(t, serve(f), "/b/new").has(t, "the field is open", "curl http://example.com/api/v1/boards/new/scores", `id="rows" role="list" hidden`)
}

func TestPickedPlayerSeesTheirPlace(t *testing.T) {
	t.Parallel()
	app := serve(arcade())
	page := get(t, app, "/b/arcade?player=p60")
	page.has(t, "60th", "of 120", "50.4\u202f%", "1\u202f000 points behind 59th", "Player 58<", "Player 62<", `data-player="p60"`, `id="bar"`)
	get(t, app, "/b/arcade?player=nobody").has(t, "No score in this season yet")
}

func TestClosedSeasonIsShownAsFinal(t *testing.T) {
	t.Parallel()
	app := serve(arcade())
	page := get(t, app, "/b/arcade/seasons/2")
	page.has(t, "Final", "Won by", `href="/b/arcade/p/p1?season=2"`, "Ended", "1 May 2026", `rel="prev" href="/b/arcade/seasons/1"`,
		"The running season", `aria-current="page"`)
	page.hasNot(t, `rel="next"`, "LIVE", "Final: schedule")
	page = get(t, app, "/b/arcade/seasons/1")
	page.has(t, "Final: a trial", `rel="next" href="/b/arcade/seasons/2"`)
	page.hasNot(t, `rel="prev"`, "Won by", "curl")
	get(t, app, "/b/arcade/p/p2?season=2").has(t, "2nd", `href="/b/arcade/seasons/2"`)
	get(t, app, "/b/arcade/p/p3").has(t, "Seasons played", `href="/b/arcade/p/p3?season=2"`, "3rd <span class=\"muted\">of 4<")
	get(t, app, "/b/arcade/p/p5").hasNot(t, "Seasons played") // came when that season was over
	if got := get(t, app, "/b/arcade/seasons/3"); got.status != http.StatusFound || got.header.Get("Location") != "/b/arcade" {
		t.Errorf("running season by number: got %d to %q, want 302 to the board", got.status, got.header.Get("Location"))
	}
}

func TestPlayerPageTellsWhatHappened(t *testing.T) {
	t.Parallel()
	f := arcade()
	f.activity["p9"] = []store.Activity{
		{At: now.Add(-time.Minute), Kind: store.NewBest, Points: 112000, PreviousPoints: 1240, HadPoints: true, Rank: 9, PreviousRank: 14},
		{At: now.Add(-time.Hour), Kind: store.NewScore, Points: 1240, PreviousPoints: 2000, HadPoints: true, Rank: 14, PreviousRank: 4},
		{At: now.Add(-2 * time.Hour), Kind: store.NewBest, Points: 2000, PreviousPoints: 1, HadPoints: true, Rank: 4, PreviousRank: 4},
		{At: now.Add(-3 * time.Hour), Kind: store.EnteredTop, Points: 1, Rank: 4},
		{At: start.Add(-time.Minute), Kind: store.EnteredTop, Points: 77777, Rank: 1}, // of the season before
	}
	page := get(t, serve(f), "/b/arcade/p/p9")
	page.has(t, "climbed from 14th to 9th with 112\u202f000 points", "fell from 4th to 14th with 1\u202f240 points",
		"improved to 2\u202f000 points, still 4th", "joined in 4th place with 1 point", "1 min ago", "93.2\u202f%",
		"1\u202f000 points behind 8th", "From 1 to 112\u202f000 points in 4 scores.", `aria-label="112`, "<dt>Best place</dt><dd>4th</dd>",
		`href="/b/arcade?player=p9"`, `datetime="2026-05-03T14:02:22Z"`, "\u2068Player 9\u2069 on \u2068arcade\u2069</title>")
	page.hasNot(t, "77\u202f777")
}

func TestPointsAreShownWithAllDecimals(t *testing.T) {
	t.Parallel()
	f := newFake()
	season := store.Season{Number: 1, Start: start, Order: store.Asc, Decimals: 3}
	f.add("laps", now, season, entry("a", "", -1240500, 0), entry("b", "", 0, 0), entry("c", "", store.MaxUnits, 0))
	page := get(t, serve(f), "/b/laps?player=b")
	page.has(t, "\u22121\u202f240.500", ">0.000<", "9\u202f007\u202f199\u202f254\u202f740.991", "1\u202f240.500 points behind 1st")
}

func TestHostileNamesAreInert(t *testing.T) {
	t.Parallel()
	names := []string{
		"<img src=x onerror=alert(1)>", "</script><script>alert(1)</script>", "{{7*7}}", `" onmouseover="alert(1)`,
		"javascript:alert(1)", "'><svg onload=alert(1)>", "\u2066a\u2069", "\u2069b\u202b", "שלום עולם", "🧙🏽‍♂️", "Z" + strings.Repeat("\u0301", 60),
		strings.Repeat("👨‍👩‍👧‍👦", 8), "ᕕ( ཀ ʖ̯ ཀ)ᕗ",
	}
	f := newFake()
	var entries []store.Entry
	for i, name := range names {
		entries = append(entries, entry(fmt.Sprint("p", i), name, store.Points(100-i), 0))
	}
	entries = append(entries, entry("<script>alert(1)</script>", "M&M's", 1, 0), entry(`"><b>/?#%2f\`, "", 0, 0))
	f.add("b", now, store.Season{Number: 1, Start: start}, entries...)
	state := f.states["b"]
	state.Settings.Title = "<script>alert(2)</script>"
	f.states["b"] = state
	app := serve(f)
	addresses := []string{"/", "/b/b", "/b/b?player=p0", "/b/b?player=%3Cscript%3Ealert(1)%3C%2Fscript%3E", "/b/b?q=%3Cscript%3Ealert(1)", "/b/b?player=%3Cb%3E"}
	for i := range names {
		addresses = append(addresses, fmt.Sprint("/b/b/p/p", i))
	}
	for _, address := range append(addresses, "/b/b/p/%22%3E%3Cb%3E%2F%3F%23%252f%5C") {
		page := get(t, app, address)
		if page.status != http.StatusOK {
			t.Errorf("%s: got %d %s, want 200", address, page.status, page.body)
		}
		page.hasNot(t, "<img", "<script>", "alert(1)</script>", "<svg onload", `" onmouseover="`, "<b>", "&amp;amp;", `href="javascript`)
	}
	page := get(t, app, "/b/b")
	page.has(t, "M&amp;M&#39;s", "שלום עולם", "🧙🏽‍♂️", strings.Repeat("👨‍👩‍👧‍👦", 8), "Z"+strings.Repeat("\u0301", 60),
		`href="/b/b/p/%22%3E%3Cb%3E%2F%3F%23%252f%5C"`, `href="/b/b/p/%3Cscript%3Ealert%281%29%3C%2Fscript%3E"`)
	get(t, app, "/b/b/p/p7").has(t, "<title>\u2068b\u2069 on") // no control of direction is left in a title
}

func TestIdsThatLookLikePathsLeadToTheBoard(t *testing.T) {
	t.Parallel()
	f := newFake()
	f.add("b", now, store.Season{Number: 1, Start: start}, entry("..", "", 2, 0), entry(".", "", 1, 0))
	get(t, serve(f), "/b/b").has(t, `href="/b/b?player=.."`, `href="/b/b?player=."`)
}

func TestWhatIsNotThereIsNotFound(t *testing.T) {
	t.Parallel()
	app := serve(arcade())
	for address, want := range map[string]error{
		"/b/nowhere":            store.ErrBoardNotFound,
		"/b/ARCADE":             store.ErrBoardNotFound,
		"/b/a%00b":              store.ErrBoardNotFound,
		"/b/arcade/seasons/0":   store.ErrSeasonNotFound,
		"/b/arcade/seasons/9":   store.ErrSeasonNotFound,
		"/b/arcade/seasons/1e0": store.ErrSeasonNotFound,
		"/b/arcade/seasons/" + "99999999999999999999": store.ErrSeasonNotFound,
		"/b/arcade/p/nobody":                          store.ErrPlayerNotFound,
		"/b/arcade/p/a%00b":                           store.ErrPlayerNotFound,
		"/b/arcade/p/%zz":                             store.ErrPlayerNotFound,
		"/b/arcade/p/%ff":                             store.ErrPlayerNotFound,
		"/b/arcade/p/p99?season=2":                    store.ErrPlayerNotFound,
		"/b/arcade/p/p1?season=9":                     store.ErrSeasonNotFound,
		"/b/arcade?player=p1&offset=":                 store.Invalid("offset", "must be a whole number from 0 to 1\u202f000\u202f000\u202f000"),
	} {
		if got := get(t, app, address); got.status != http.StatusTeapot || got.body != want.Error() {
			t.Errorf("%s: got %d %.80q, want %q", address, got.status, got.body, want)
		}
	}
}

func TestWrongQueriesAreRefused(t *testing.T) {
	t.Parallel()
	app := serve(arcade())
	for address, field := range map[string]string{
		"/b/arcade?offset=-1":                          "offset",
		"/b/arcade?offset=1e3":                         "offset",
		"/b/arcade?offset=%2B5":                        "offset",
		"/b/arcade?offset=9223372036854775808":         "offset",
		"/b/arcade?offset=5&offset=6":                  "offset",
		"/b/arcade?player=":                            "player",
		"/b/arcade?player=a&player=b":                  "player",
		"/b/arcade?player=%00":                         "player",
		"/b/arcade?player=" + strings.Repeat("a", 129): "player",
		"/b/arcade?q=%00":                              "q",
		"/b/arcade?q=%ff":                              "q",
		"/b/arcade?q=" + strings.Repeat("a", 1000):     "q",
		"/b/arcade/p/p1?season=0":                      "season",
	} {
		if got := get(t, app, address); got.status != http.StatusTeapot || !strings.HasPrefix(got.body, field+" must be") {
			t.Errorf("%s: got %d %.80q, want a refusal of %s", address, got.status, got.body, field)
		}
	}
	if got := get(t, app, "/b/arcade?unknown=1&unknown=2&q="); got.status != http.StatusOK {
		t.Errorf("unknown parameter and an empty search: got %d, want 200", got.status)
	}
}

func TestStoreThatIsAwayIsAnError(t *testing.T) {
	t.Parallel()
	f := arcade()
	f.err = errors.Join(store.ErrUnavailable)
	app := serve(f)
	for _, address := range []string{"/", "/b/arcade", "/b/arcade/p/p1", "/b/arcade/seasons/2"} {
		if got := get(t, app, address); got.status != http.StatusTeapot || got.body != store.ErrUnavailable.Error() {
			t.Errorf("%s: got %d %.80q", address, got.status, got.body)
		}
	}
}

func TestPagesStandStillWhereNothingIsPushed(t *testing.T) {
	t.Parallel()
	p := pages.New(pages.Deps{Store: arcade()})
	app := fiber.New()
	app.Get("/b/:board", p.Board)
	app.Get("/b/:board/p/:player", p.Player)
	get(t, app, "/b/arcade").has(t, `data-limit=""`, "As of", "Latest")
	get(t, app, "/b/arcade/p/p1").hasNot(t, "data-live")
	get(t, serve(arcade()), "/b/arcade/p/p1").has(t, "data-live")
}

func TestThemeIsRemembered(t *testing.T) {
	t.Parallel()
	app := serve(arcade())
	for chosen, want := range map[string]string{"light": `data-theme="light"`, "dark": `data-theme="dark"`, `<b>`: `<html lang="en">`} {
		get(t, app, "/b/arcade", &http.Cookie{Name: "theme", Value: chosen}).has(t, want)
	}
}

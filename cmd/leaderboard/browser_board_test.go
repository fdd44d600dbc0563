package main

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// post sends a score that must be taken.
func (p *process) post(t testing.TB, board, player, name, points string) {
	t.Helper()
	body := `{"player":` + js(player) + `,"points":` + points
	if name != "" {
		body += `,"name":` + js(name)
	}
	p.call(t, http.StatusOK, "POST", "/boards/"+board+"/scores", body+"}", nil)
}

// started returns a server with a board on which these players stand, best first, a hundred points apart.
func started(t *testing.T, board string, players ...string) *process {
	t.Helper()
	server := serving(t, storeFlags(t)...)
	server.board(t, board, `{}`)
	for i, player := range players {
		server.post(t, board, player, strings.ToUpper(player), fmt.Sprint(100*(len(players)-i)))
	}
	return server
}

// shownRow is what a reader sees of an entry.
type shownRow struct {
	Player, Rank, Name, Points, Exact string
}

// shownRows is an expression for the rows of the list. Whichever way numbers are grouped, the digits count.
const shownRows = `[...document.querySelectorAll("#rows:not([hidden]) > .row")].map(row => ({
	Player: row.dataset.player, Exact: row.dataset.points, Name: row.querySelector("bdi").textContent,
	Rank: row.querySelector(".rank").textContent, Points: row.querySelector(".points").textContent
		.replace(/[\s\u202f,]/g, "").replace("\u2212", "-"),
}))`

// topRows returns the top as the API tells it.
func (p *process) topRows(t testing.TB, board string, limit int) []shownRow {
	t.Helper()
	var top struct {
		Entries []placed `json:"entries"`
	}
	p.call(t, http.StatusOK, "GET", fmt.Sprintf("/boards/%s/top?limit=%d", board, limit), "", &top)
	var rows []shownRow
	for _, e := range top.Entries {
		points := string(e.Points)
		rows = append(rows, shownRow{
			Player: e.Player, Rank: fmt.Sprint(e.Rank), Name: cmp.Or(e.Name, e.Player), Points: points, Exact: points,
		})
	}
	return rows
}

func TestThePageShowsTheTop(t *testing.T) {
	t.Parallel()
	server := serving(t, storeFlags(t)...)
	server.board(t, "laps", `{"order":"asc","decimals":3,"max_points":100000}`)
	server.board(t, "wide", `{"decimals":2,"max_points":100000000}`)
	for i := range 60 {
		server.post(t, "laps", fmt.Sprintf("driver %d", i), "", fmt.Sprintf("%d.%03d", 80+i%7, i*37%1000))
	}
	names := []string{"שלום עולם", "👨‍👩‍👧‍👦", "玩家", "Ива́н", "M&M's", "", "  spaced  out", "&lt;b&gt;"}
	for i, name := range names {
		server.post(t, "wide", fmt.Sprintf("p/%d ?%%41", i), name, fmt.Sprintf("%d.5", (i%4-1)*12345678))
	}
	for board, players := range map[string]int{"laps": 50, "wide": len(names)} {
		want := server.topRows(t, board, 50)
		if len(want) != players {
			t.Fatalf("%s: got %d entries, want %d", board, len(want), players)
		}
		t.Run("in the first paint of "+board, func(t *testing.T) {
			t.Parallel()
			b := server.open(t, "/b/"+board, scriptless)
			checkRows(t, ask[[]shownRow](b, shownRows), want)
		})
		t.Run("live, on "+board+", and nothing shifts", func(t *testing.T) {
			t.Parallel()
			b := server.open(t, "/b/"+board, before(watchShifts))
			b.live()
			checkRows(t, ask[[]shownRow](b, shownRows), want)
			if shift := ask[float64](b, "shift"); shift > 0.01 {
				t.Errorf("the page shifted by %.3f while it loaded", shift)
			}
		})
	}
}

// watchShifts sums up how far parts of the page were pushed about that nobody had touched.
const watchShifts = `var shift = 0;
new PerformanceObserver(list => { for (const entry of list.getEntries()) shift += entry.value; })
	.observe({type: "layout-shift", buffered: true});`

// showsTheTop waits until numbers have been counted up, then compares.
func (b *tab) showsTheTop(server *process, board string) {
	b.t.Helper()
	b.until("nothing moves", `[...document.querySelectorAll("#rows > .row")].every(row =>
		row.querySelector(".points").textContent.replace(/[\s\u202f,]/g, "") === row.dataset.points)`)
	checkRows(b.t, ask[[]shownRow](b, shownRows), server.topRows(b.t, board, 50))
}

func checkRows(t *testing.T, got, want []shownRow) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("got %d rows, want %d", len(got), len(want))
	}
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Errorf("row %d: got %+v, want %+v", i+1, got[i], want[i])
		}
	}
}

func TestAPostedScoreMovesARowWithinASecond(t *testing.T) {
	t.Parallel()
	server := started(t, "live", "ann", "bob", "cyd", "dee")
	b := server.open(t, "/b/live")
	b.live()
	// Each is posted to the top. A machine that is busy with other tests may stumble, but not most of the time.
	var took []time.Duration
	order := []string{"ann", "bob", "cyd", "dee"}
	for i := range 5 {
		last := order[len(order)-1]
		order = append([]string{last}, order[:len(order)-1]...)
		begun := time.Now()
		server.post(t, "live", last, "", fmt.Sprint(1000+i))
		b.untilRanked(strings.Join(order, ","))
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	if took[len(took)/2] > time.Second {
		t.Errorf("rows moved after %v, want within a second", took)
	}
	b.showsTheTop(server, "live")

	server.post(t, "live", "eve", "Eve", "2000")
	b.untilRanked("eve," + strings.Join(order, ","))
	server.call(t, http.StatusOK, "POST", "/boards/live/players/eve/ban", "", nil)
	b.untilRanked(strings.Join(order, ","))
	b.until("the total follows", `document.querySelector("#total").textContent === "4"`)
}

func TestAPageComesBackAfterARestart(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			flags := storeFlags(t)
			if flags[0] == "--data=" {
				flags = []string{"--data=" + t.TempDir()}
				if signal == syscall.SIGKILL {
					t.Skip("the embedded store may lose the last second")
				}
			}
			first := serving(t, flags...)
			first.board(t, "kept", `{}`)
			first.post(t, "kept", "ann", "", "7")
			first.post(t, "kept", "bob", "", "6")
			b := first.open(t, "/b/kept")
			b.forgive(`(?i)websocket|ERR_CONNECTION_REFUSED`) // browsers log each socket that does not open
			b.live()

			first.stop(t, signal)
			b.until("the page says that it lost the server", `/^(Reconnecting|Connecting)/.test(document.querySelector("#pill").innerText)`)
			second := serving(t, append(flags, "--addr="+strings.TrimPrefix(first.url, "http://"))...)
			b.live()
			b.untilRanked("ann,bob")
			second.post(t, "kept", "bob", "", "8")
			b.untilRanked("bob,ann")
			b.showsTheTop(second, "kept")
		})
	}
}

func TestCalmReadersSeeNoMovement(t *testing.T) {
	t.Parallel()
	server := started(t, "still", "ann", "bob", "cyd")
	// Every animation that scripts start is written down, with what it moves.
	record := before(`var moved = [];
		const animate = Element.prototype.animate;
		Element.prototype.animate = function (frames, options) {
			for (const frame of frames) moved.push(...Object.keys(frame));
			return animate.call(this, frames, options);
		};`)
	lively, quiet := server.open(t, "/b/still", record), server.open(t, "/b/still", record, calm)
	for _, b := range []*tab{lively, quiet} {
		b.live()
	}
	server.post(t, "still", "cyd", "", "1000")
	for _, b := range []*tab{lively, quiet} {
		b.untilRanked("cyd,ann,bob")
		b.until("the climber wears a chip", `document.querySelector("#rows > .row .chip.up")?.textContent === "2"`)
	}
	lively.until("rows glide", `moved.includes("transform")`)
	if got := ask[[]string](quiet, "moved.filter(what => what !== 'opacity')"); len(got) > 0 {
		t.Errorf("moved for a reader who wants no movement: %v", got)
	}
	if got := quiet.text("#rows .points"); got != "1,000" {
		t.Errorf("got %s points in the first row, want 1,000 at once", got)
	}
	running := `document.getAnimations().filter(a => a.animationName !== "fade" && !a.effect.pseudoElement).length`
	if got := ask[int](quiet, running); got > 0 {
		t.Errorf("%d animations run", got)
	}
}

func TestAHiddenTabShowsThePresentStateWhenItComesBack(t *testing.T) {
	t.Parallel()
	server := started(t, "away", "ann", "bob", "cyd")
	b := server.open(t, "/b/away", before(`var glides = 0;
		const animate = Element.prototype.animate;
		Element.prototype.animate = function (frames, options) {
			if (!document.hidden && options.id === "glide") glides++;
			return animate.call(this, frames, options);
		};`))
	b.live()
	b.hide(func() {
		server.post(t, "away", "cyd", "", "1000")
		server.post(t, "away", "bob", "", "2000")
		b.heard(`"points":2000`)
	})
	b.untilRanked("bob,cyd,ann")
	if glides := ask[int](b, "glides"); glides > 0 {
		t.Errorf("%d rows glided when the reader came back", glides)
	}
	server.post(t, "away", "ann", "", "3000")
	b.untilRanked("ann,bob,cyd")
	b.until("rows glide again", "glides > 0")
}

// hide puts another tab in front while something happens.
func (b *tab) hide(happens func()) {
	b.t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithNewWindow(false))
	defer cancel()
	if err := chromedp.Do(ctx); err != nil {
		b.t.Fatal(err)
	}
	b.until("the page is hidden", "document.hidden")
	happens()
	cancel()
	b.until("the page is seen again", "!document.hidden")
}

func TestOnesPlaceMovesLive(t *testing.T) {
	t.Parallel()
	server := started(t, "mine", "ann", "bob", "cyd", "dee", "eve", "fay", "gus")
	desk := server.open(t, "/b/mine?player=fay")
	pocket := server.open(t, "/b/mine?player=fay", phone)
	for _, b := range []*tab{desk, pocket} {
		b.live()
		b.until("the card says where I am", `document.querySelector("#my-rank").textContent === "6th"`)
	}
	server.post(t, "mine", "fay", "", "650")
	for _, b := range []*tab{desk, pocket} {
		b.until("the card follows", `document.querySelector("#my-rank").textContent === "2nd" &&
			document.querySelector("#my-points").textContent === "650" && document.querySelector("#my-of").textContent === "of 7" &&
			document.querySelector("#my-next").textContent === "50 points behind 1st"`)
		b.until("my row is lit", `document.querySelector("#rows > .mine").dataset.player === "fay"`)
		b.until("the rows around are those of my new place",
			`[...document.querySelectorAll("#around .who")].map(a => a.textContent).join() === "ANN,FAY,BOB,CYD,DEE"`)
	}
	pocket.until("the bar at the bottom follows", `document.querySelector("#bar-rank").textContent === "2nd" &&
		document.querySelector("#bar").getBoundingClientRect().bottom === innerHeight`)
	if wide := ask[int](pocket, "document.documentElement.scrollWidth"); wide > 360 {
		t.Errorf("the page is %d pixels wide on a phone of 360", wide)
	}
	server.post(t, "mine", "gus", "", "700")
	server.post(t, "mine", "gus", "", "701")
	desk.until("others move me too", `document.querySelector("#my-rank").textContent === "3rd"`)
}

func TestAPlayersPageMovesLive(t *testing.T) {
	t.Parallel()
	server := started(t, "life", "ann", "bob", "cyd")
	b := server.open(t, "/b/life/p/cyd")
	b.until("the page is whole", `document.querySelector("#my-rank").textContent === "3rd"`)
	server.post(t, "life", "cyd", "", "250")
	b.until("the head follows", `document.querySelector("#my-rank").textContent === "2nd" &&
		document.querySelector("#my-points").textContent === "250"`)
	b.until("the activity follows, in words", `document.querySelector("#activity .event p").textContent.includes("climbed from 3rd to 2nd")`)
	b.until("there is a line to draw", `document.querySelectorAll("#chart .dot").length === 2`)
}

func TestANewSeasonGivesAFreshBoard(t *testing.T) {
	t.Parallel()
	server := started(t, "round", "ann", "bob")
	b := server.open(t, "/b/round?player=bob")
	b.live()
	server.call(t, http.StatusOK, "POST", "/boards/round/seasons/close", `{"season":1}`, nil)
	b.until("the season is a new one", `document.querySelector("#season").textContent === "2"`)
	b.untilRanked("")
	b.until("nobody is left", `document.querySelector("#total").textContent === "0"`)
	b.until("the page says that the field is open", `document.querySelector("#empty")?.checkVisibility()`)
	b.until("the last season can be seen", `[...document.querySelectorAll("#past a")].some(a => a.pathname === "/b/round/seasons/1")`)
	b.until("I have no score yet", `document.querySelector("#place").textContent.includes("No score in this season yet")`)
	server.post(t, "round", "bob", "", "5")
	b.untilRanked("bob")
	b.until("the board is no longer empty", `!document.querySelector("#empty")?.checkVisibility()`)
	b.until("my place is back", `document.querySelector("#my-rank")?.textContent === "1st"`)

	b.visit("/b/round/seasons/1")
	checkRows(t, ask[[]shownRow](b, shownRows), []shownRow{
		{Player: "ann", Rank: "1", Name: "ANN", Points: "200", Exact: "200"},
		{Player: "bob", Rank: "2", Name: "BOB", Points: "100", Exact: "100"},
	})
}

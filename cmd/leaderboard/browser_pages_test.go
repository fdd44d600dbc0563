package main

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"leaderboard/store/storetest"
)

// hostile are names that would do something on a page that took them for more than text.
var hostile = []string{
	`<img src=x onerror=hacked=1>`, `</script><script>hacked=1</script>`, `" onmouseover="hacked=1`, `{{7*7}}`,
	`&lt;b&gt;`, `javascript:hacked=1`, "M&M's",
}

func TestNamesAreText(t *testing.T) {
	t.Parallel()
	server := serving(t, storeFlags(t)...)
	server.board(t, "names", `{"title":"<img src=x onerror=hacked=1>"}`)
	for i, name := range hostile {
		server.post(t, "names", name, name, fmt.Sprint(i+1))
	}
	shows := func(b *tab, where string) {
		t.Helper()
		for _, name := range hostile {
			b.until("all names stand there", where+`.some(e => e.textContent === `+js(name)+`)`)
		}
		if got := ask[int](b, `document.querySelectorAll("main img, main script").length + Number("hacked" in window)`); got > 0 {
			t.Errorf("%s: a name was taken for markup", ask[string](b, "location.href"))
		}
	}
	names := `[...document.querySelectorAll("#rows bdi")]`
	first := server.open(t, "/b/names", scriptless)
	shows(first, names)
	if got := ask[string](first, "document.title"); !strings.Contains(got, "<img src=x onerror=hacked=1>") {
		t.Errorf("got the title %q", got)
	}

	b := server.open(t, "/b/names")
	b.live()
	for i, name := range hostile { // other players of the same names come in
		server.post(t, "names", fmt.Sprint("live ", i), name, fmt.Sprint(100+i))
	}
	b.until("they all came in", names+`.length === `+fmt.Sprint(2*len(hostile)))
	shows(b, names)
	server.post(t, "names", "live 0", "<b>renamed</b>", "1")
	b.until("a new name is shown", names+`.some(e => e.textContent === "<b>renamed</b>")`)
	b.until("the latest are told", `[...document.querySelectorAll("#latest bdi")].some(e => e.textContent.includes("<") || e.textContent.includes("&"))`)
	shows(b, names+`.slice(-7)`)

	for _, name := range hostile {
		b.fill("#q", name)
		b.until("the search finds "+name, `[...document.querySelectorAll("#suggest ul[aria-label] bdi")].some(e => e.textContent === `+js(name)+`)`)
	}
	shows(b, names)
	b.do(chromedp.Click("#rows > .row:last-child .who"))
	b.until("the player's page is there", `document.querySelector("#player h1, h1 bdi").textContent === `+js(hostile[0]))
	b.until("nothing ran", `!("hacked" in window)`)
}

func TestThePageIsWholeWithoutJavaScript(t *testing.T) {
	t.Parallel()
	server := serving(t, storeFlags(t)...)
	server.board(t, "plain", `{}`)
	var scores []string
	for i := range 120 {
		scores = append(scores, fmt.Sprintf(`{"player":"p%d","name":"Player %d","points":%d}`, i, i, 10_000-10*i))
	}
	server.call(t, http.StatusOK, "POST", "/boards/plain/scores/batch", `{"scores":[`+strings.Join(scores, ",")+`]}`, nil)

	b := server.open(t, "/", scriptless)
	b.do(chromedp.Click(`main a`))
	b.until("the board is there", `location.pathname === "/b/plain" && document.readyState === "complete"`)
	checkRows(t, ask[[]shownRow](b, shownRows), server.topRows(t, "plain", 50))
	if said := b.text("#pill"); !strings.HasPrefix(said, "As of") {
		t.Errorf("a page that does not move says %q, want as of when", said)
	}
	if ask[bool](b, `document.querySelector("#theme").checkVisibility({visibilityProperty: true})`) {
		t.Error("there is a switch that does nothing")
	}

	b.do(chromedp.Click(`a[rel="next"]`))
	b.until("the next places are there", `document.querySelector("#rows .rank").textContent === "51"`)
	b.do(chromedp.Click(`a[rel="next"]`))
	b.until("the last places are there", `document.querySelectorAll("#rows > .row").length === 20 && !document.querySelector("a[rel=next]")`)

	b.fill("#q", "player 7"+kb.Enter)
	b.until("players are found", `document.querySelectorAll(".found .row").length === 10`)
	b.do(chromedp.Click(`//section[@class="found"]//a[. = "Player 77"]`))
	b.until("my place is shown", `document.querySelector("#my-rank")?.textContent === "78th" &&
		document.querySelectorAll("#around .row").length === 5`)
	b.do(chromedp.Click("#place .who-line a"))
	b.until("my page is there", `location.pathname === "/b/plain/p/p77" && document.querySelector("h1").textContent === "Player 77"`)
	b.do(chromedp.Click(".crumb a"))
	b.until("the board is there again", `location.pathname === "/b/plain"`)

	server.call(t, http.StatusOK, "POST", "/boards/plain/seasons/close", `{"season":1}`, nil)
	b.visit("/b/plain")
	b.until("an empty board says how to begin", `document.querySelector("#empty pre").textContent.includes("curl ")`)
	b.do(chromedp.Click("#past a"))
	b.until("the closed season is there", `location.pathname === "/b/plain/seasons/1" && document.querySelector(".pill").textContent.includes("Final")`)
	b.visit("/b/nowhere")
	b.until("a page says what is wrong", `document.querySelector(".status").textContent === "404"`)
	b.forgive("404") // the log of the browser tells the status, too
}

func TestSearchSuggestsPlayers(t *testing.T) {
	t.Parallel()
	server := started(t, "find", "anna", "anton", "bea", "ann")
	b := server.open(t, "/b/find")
	b.live()
	suggested := `[...document.querySelectorAll("#suggest ul[aria-label] a")].filter(a => a.checkVisibility()).map(a => a.querySelector("bdi").textContent).join()`
	b.do(chromedp.SendKeys("#q", "an"))
	b.until("players are suggested, by name", suggested+` === "ANN,ANNA,ANTON"`)
	b.until("a screen reader hears of them", `document.querySelector("#news").textContent === "3 players found"`)
	b.do(chromedp.SendKeys("#q", "to"))
	b.until("fewer are", suggested+` === "ANTON"`)
	b.do(chromedp.KeyEvent(kb.Escape))
	b.until("they are put away", suggested+` === ""`)
	b.do(chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.Enter))
	b.until("the player is picked", `document.querySelector("#my-rank")?.textContent === "2nd"`)
	b.live()

	b.fill("#q", kb.Backspace)
	recent := `[...document.querySelectorAll("#recent a")].filter(a => a.checkVisibility()).map(a => a.textContent).join()`
	b.until("the last search is kept", recent+` === "ANTON"`)
	for _, text := range []string{"bea", "anton", "nobody"} {
		b.fill("#q", text+kb.Enter)
		b.until("it is searched", `new URLSearchParams(location.search).get("q") === `+js(text)+` && document.querySelector(".found")`)
	}
	b.fill("#q", kb.Backspace)
	b.until("the last searches are kept, newest first, each once", recent+` === "nobody,anton,bea"`)
	if kept := ask[string](b, "document.cookie"); kept != "" {
		t.Errorf("scripts see what was searched: %s", kept)
	}
}

func TestTheChosenColoursAreRemembered(t *testing.T) {
	t.Parallel()
	server := started(t, "hue", "ann")
	b := server.open(t, "/b/hue", preferring("prefers-color-scheme", "light"))
	ground := `getComputedStyle(document.body).backgroundColor`
	bright := ask[string](b, ground)
	b.do(chromedp.Click("#theme"))
	b.until("it is dark", ground+` !== `+js(bright)+` && document.querySelector("#theme").ariaPressed === "true"`)
	night := ask[string](b, ground)
	b.visit("/docs")
	if got := ask[string](b, ground); got != night {
		t.Errorf("the next page has the ground %s, want %s", got, night)
	}
	b.do(chromedp.Click("#theme"))
	b.until("it is light again", ground+` === `+js(bright))
}

func TestATabHearsWhatAPageShouldNotDo(t *testing.T) {
	t.Parallel()
	server := serving(t, storeFlags(t)...)
	for script, want := range map[string]string{
		`console.error("oh")`:           "the console",
		`setTimeout(() => { throw 1 })`: "an exception",
		`document.body.setAttribute("onclick", "1"); document.body.click()`: "Content Security Policy",
		`fetch("https://elsewhere.example/").catch(() => 0)`:                "Content Security Policy",
		`location = "http://127.0.0.1:1/"`:                                  "a request to http://127.0.0.1:1/",
	} {
		b := server.open(t, "/")
		b.forgive(`elsewhere|127\.0\.0\.1:1/|the console: error "oh"|an exception|Content Security Policy`)
		ask[any](b, script+"; 0")
		within(t, patience, "the tab hears of "+script, func() bool {
			b.mu.Lock()
			defer b.mu.Unlock()
			return strings.Contains(strings.Join(b.complaints, "\n"), want)
		})
	}
}

// axeVariable says where axe-core is, the library that finds what people with disabilities would stumble over.
const axeVariable = "LEADERBOARD_TEST_AXE"

// readings of the pages: by mouse and in daylight, by thumb and at night. What fades or glides is still. The second looks
// for what differs from the first.
var readings = map[string]struct {
	looks  []look
	player string // who reads; empty: a guest
	axe    string // what to look at, and for what
}{
	"on a desk, light": {
		[]look{wide, preferring("prefers-color-scheme", "light", "prefers-reduced-motion", "reduce")},
		"p0", // won a season
		`document, {resultTypes: ["violations"]}`,
	},
	"on a phone, dark": {
		[]look{phone, preferring("prefers-color-scheme", "dark", "prefers-reduced-motion", "reduce")},
		"",
		`{exclude: [[".docs .card:nth-of-type(n + 4)"]]}, {resultTypes: ["violations"], runOnly: ["color-contrast", "target-size"]}`,
	},
}

func TestEveryPageIsAccessible(t *testing.T) {
	t.Parallel()
	file := os.Getenv(axeVariable)
	if file == "" {
		storetest.Require(t, "browser") // axe-core is for the browser's tests: whoever asks for them has it
	}
	axe, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	server := withAdmin(t)
	visited := server.everyPage(t)
	for name, reading := range readings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := server.admin(t, "/admin", reading.looks...)
			if reading.player != "" {
				b.become(server.token(t, reading.player), "/inbox")
			}
			b.forgive("40[0-9]|422|" + ownPictures) // the problem pages
			for _, path := range visited {
				b.visit(path)
				if wide := ask[int](b, "document.documentElement.scrollWidth - innerWidth"); wide > 0 {
					t.Errorf("%s is %d pixels too wide", path, wide)
				}
				ask[any](b, string(axe)+"; 0")
				for _, finding := range ask[[]string](b, "axe.run("+reading.axe+")"+findings) {
					t.Errorf("%s: %s", path, finding)
				}
			}
		})
	}
}

// findings is an expression that puts into words what axe-core found.
const findings = `.then(found => found.violations.map(v => v.impact + ": " + v.help + ": " + v.nodes.slice(0, 3).map(n =>
	n.html.slice(0, 200) + " (" + n.any.map(a => a.message).join("; ") + ")").join("\n  ")))`

// everyPage fills a server with all that pages show and returns the path of a page of each kind.
func (p *process) everyPage(t *testing.T) []string {
	t.Helper()
	p.board(t, "full", `{"title":"Winter Cup","schedule":"weekly","live_top":5,"max_step":5000,"rewards":[{"id":"gold","title":"Gold chest","ranks":[1,1]}]}`)
	p.board(t, "empty", `{}`)
	var scores []string
	for i := range 60 {
		scores = append(scores, fmt.Sprintf(`{"player":"p%d","name":"Player %d","points":%d}`, i, i, 1000-10*i))
	}
	batch := `{"scores":[` + strings.Join(scores, ",") + `]}`
	p.call(t, http.StatusOK, "POST", "/boards/full/scores/batch", batch, nil)
	p.call(t, http.StatusOK, "POST", "/boards/full/seasons/close", `{"season":1}`, nil)
	p.call(t, http.StatusOK, "POST", "/boards/full/scores/batch", batch, nil)
	for i := range 5 {
		p.post(t, "full", "p7", "", fmt.Sprint(2000+100*i))
	}
	p.call(t, http.StatusOK, "POST", "/boards/full/players/p9/ban", `{}`, nil)
	p.post(t, "full", "p8", "", "99999") // held
	return []string{
		"/", "/docs", "/b/full", "/b/full?player=p30", "/b/full?q=player", "/b/full?q=nobody", "/b/full?offset=5",
		"/b/full?offset=5000", "/b/full/p/p7", "/b/full/p/p8", "/b/full/seasons/1", "/b/empty", "/b/nowhere", "/b/full?offset=x", "/nothing", "/inbox",
		"/admin", "/admin/boards", "/admin/boards/full", "/admin/boards/full/close", "/admin/boards/full/delete",
		"/admin/boards/full/seasons", "/admin/boards/full/seasons/reopen?season=1", "/admin/boards/full/players",
		"/admin/boards/full/players?player=p7", "/admin/boards/full/players/ban?player=p7",
		"/admin/boards/full/players/remove?player=p7", "/admin/boards/full/held", "/admin/keys", "/admin/jobs", "/admin/audit",
		"/admin/logout",
	}
}

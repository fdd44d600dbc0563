package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

const adminPassword = "a password for tests"

// ownPictures are what the browser itself draws in a field for a date, and tells as a request.
const ownPictures = "a request to data:image/svg"

// withAdmin returns a server whose admin password is known.
func withAdmin(t *testing.T) *process {
	t.Helper()
	return serving(t, append(storeFlags(t), "--admin-password="+adminPassword)...)
}

// admin opens the admin pages at a path, through the login.
func (p *process) admin(t *testing.T, path string, looks ...look) *tab {
	t.Helper()
	b := p.open(t, path, looks...)
	b.forgive(ownPictures)
	b.until("the login is shown", `document.querySelector("#password")`)
	b.fill("#password", adminPassword)
	b.press("Log in")
	b.until("the page is shown that was asked for", `location.pathname + location.search === `+js(path))
	return b
}

// fill types into a field, in place of what is in it.
func (b *tab) fill(selector, text string) {
	b.t.Helper()
	field := "document.querySelector(" + js(selector) + ")"
	b.until("the page has "+selector, `document.readyState === "complete" && `+field)
	ask[any](b, field+".select()")
	b.do(chromedp.SendKeys(selector, text))
}

// press presses the button, or follows the link, that says so.
func (b *tab) press(words string) {
	b.t.Helper()
	b.do(chromedp.Click(`(//main//button | //main//a | //header//button)[normalize-space() = ` + js(words) + `]`))
}

// says waits until the page says something in what a screen reader reads first, where the focus is.
func (b *tab) says(words string) {
	b.t.Helper()
	b.until("the page says "+words, `document.querySelector("#notice").textContent.includes(`+js(words)+`) &&
		document.activeElement === document.querySelector("#notice")`)
}

func TestAnAdminLogsInAndOut(t *testing.T) {
	t.Parallel()
	server := withAdmin(t)
	b := server.open(t, "/admin/audit", scriptless)
	b.forgive("403") // the answer to a wrong password, which the log of the browser tells
	b.until("the login is shown", `location.pathname === "/admin/login"`)
	b.fill("#password", "not "+adminPassword)
	b.press("Log in")
	b.until("the password is refused", `document.querySelector("#wrong")`)
	b.fill("#password", adminPassword)
	b.press("Log in")
	b.until("the page is shown that was asked for", `location.pathname === "/admin/audit" && document.body.innerText.includes("login")`)
	if cookies := ask[string](b, "document.cookie"); cookies != "" {
		t.Errorf("scripts see the cookies %q", cookies)
	}
	b.press("Log out")
	b.until("the login is shown", `location.pathname === "/admin/login"`)
	b.visit("/admin/keys")
	b.until("the login is shown", `location.pathname === "/admin/login"`)
}

func TestAnAdminMakesABoard(t *testing.T) {
	t.Parallel()
	server := withAdmin(t)
	b := server.admin(t, "/admin", scriptless, phone)
	b.press("Make a board")
	b.until("the form is shown", `location.pathname === "/admin/boards"`)
	b.fill("#f-id", "cup")
	b.fill("#f-title", "<b>Winter</b> Cup")
	b.fill("#f-schedule", "0 18 * * 5")
	b.fill("#f-timezone", "America/Sao_Paulo")
	b.press("Look at it before it is made")
	b.until("five resets are shown, by the board's clock", `[...document.querySelectorAll(".resets li")]
		.filter(li => /^Fri .*, 18:00 America\/Sao_Paulo/.test(li.textContent)).length === 5`)
	server.call(t, http.StatusNotFound, "GET", "/boards/cup", "", nil)
	b.press("Back to the form")
	b.until("the form is as it was", `document.querySelector("#f-schedule").value === "0 18 * * 5"`)
	b.press("Look at it before it is made")
	b.until("the resets are shown again", `document.querySelector(".resets")`)
	b.press("Make the board")
	b.says("The board cup is made")
	if got := b.text("h1 bdi"); got != "<b>Winter</b> Cup" {
		t.Errorf("got the title %q", got)
	}
	if wide := ask[bool](b, "document.documentElement.scrollWidth > innerWidth"); wide {
		t.Error("the page is wider than a phone")
	}
	var board struct {
		Title    string `json:"title"`
		Schedule string `json:"schedule"`
	}
	server.call(t, http.StatusOK, "GET", "/boards/cup", "", &board)
	if board.Title != "<b>Winter</b> Cup" || board.Schedule != "0 18 * * 5" {
		t.Errorf("made is %+v", board)
	}
}

func TestAnAdminClosesASeason(t *testing.T) {
	t.Parallel()
	server := withAdmin(t)
	server.board(t, "cup", `{"rewards":[{"id":"gold","title":"Gold chest","ranks":[1,1]}]}`)
	server.post(t, "cup", "ada", "<img src=x onerror=alert(1)>", "200")
	server.post(t, "cup", "bo", "Bo", "100")
	b := server.admin(t, "/admin/boards/cup", scriptless)
	b.forgive("422|" + ownPictures) // the answer to an id that was mistyped
	b.press("Close the season…")
	b.until("who is on top and what is paid is shown", `["<img src=x onerror=alert(1)>", "Bo", "Gold chest (gold) for the 1st"]
		.every(words => document.querySelector("main").textContent.includes(words))`)
	b.fill("#f-reason", "the end of the cup")
	b.fill("#f-id", "cap")
	b.press("Close season 1")
	b.says("Id must be typed exactly")
	var running struct {
		Season struct {
			Number int64 `json:"number"`
		} `json:"season"`
	}
	if server.call(t, http.StatusOK, "GET", "/boards/cup", "", &running); running.Season.Number != 1 {
		t.Fatalf("season %d runs", running.Season.Number)
	}
	b.fill("#f-id", "cup")
	b.press("Close season 1")
	b.says("Season 1 is closed. Season 2 runs.")
	if got := b.text("tbody"); !strings.Contains(got, "the end of the cup") {
		t.Errorf("the list of seasons says %q", got)
	}
	if server.call(t, http.StatusOK, "GET", "/boards/cup", "", &running); running.Season.Number != 2 {
		t.Errorf("season %d runs", running.Season.Number)
	}
	b.visit("/admin/audit")
	if got := b.text("tbody tr"); !strings.Contains(got, "season.close") || !strings.Contains(got, "the end of the cup") {
		t.Errorf("the audit says %q", got)
	}
}

func TestAKeyIsMadeShownOnceUsedAndRevoked(t *testing.T) {
	t.Parallel()
	server := withAdmin(t)
	server.board(t, "cup", `{}`)
	server.board(t, "other", `{}`)
	b := server.admin(t, "/admin/keys", scriptless)
	b.fill("#f-name", "the game's server")
	b.do(chromedp.Click(`input[value="scores:write"]`), chromedp.Click(`input[value="cup"]`))
	b.press("Make the key")
	b.until("the key is shown", `document.querySelector("#made-key")`)
	server.key = b.text("#made-key")
	score := `{"player":"ada","points":5}`
	server.call(t, http.StatusOK, "POST", "/boards/cup/scores", score, nil)
	server.call(t, http.StatusForbidden, "POST", "/boards/other/scores", score, nil)
	server.call(t, http.StatusForbidden, "DELETE", "/boards/cup", "", nil)

	b.visit("/admin/keys")
	if page := ask[string](b, "document.documentElement.outerHTML"); strings.Contains(page, server.key) || !strings.Contains(page, "scores:write") {
		t.Error("the key is shown again, or not listed")
	}
	b.press("Revoke…")
	b.until("what will happen is said", `document.querySelector("main").textContent.includes("opens nothing any more")`)
	b.fill("#f-id", b.text(".confirm label code"))
	b.press("Revoke the key")
	b.says("is revoked")
	within(t, patience, "the key opens nothing any more", func() bool {
		status, _, err := server.try(t.Context(), "POST", "/boards/cup/scores", score)
		return err == nil && status == http.StatusUnauthorized
	})
}

package pages_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"

	"leaderboard/store"
	"leaderboard/store/redisstore"
	"leaderboard/store/storetest"
	"leaderboard/web"
	"leaderboard/web/live"
)

// house is the whole web side, in front of which a player stands.
type house struct {
	app    *fiber.App
	store  *redisstore.Store
	signer *live.PlayerTokens
}

func newHouse(t *testing.T) *house {
	t.Helper()
	kept := redisstore.New(storetest.Redis(t), redisstore.Options{Prefix: storetest.Prefix(t)})
	signer, err := live.NewPlayerTokens(time.Now, []byte(live.NewTokenKey()))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := kept.PutBoard(t.Context(), "arcade", func(*store.Settings) error { return nil }); err != nil {
		t.Fatal(err)
	}
	return &house{store: kept, signer: signer, app: web.New(web.Deps{
		Store: kept, Signer: signer, Players: signer, Inbox: kept, Searches: kept, Jobs: kept, KeyStore: kept, Audit: kept,
		Keys: web.NewFirstKey("key"), Registry: prometheus.NewRegistry(), Log: slog.New(slog.DiscardHandler),
	})}
}

func (h *house) cookie(t *testing.T, player store.PlayerID) *http.Cookie {
	t.Helper()
	token, _, err := h.signer.Issue(player)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Cookie{Name: "player", Value: token}
}

func (h *house) give(t *testing.T, player store.PlayerID, title string) {
	t.Helper()
	_, err := h.store.Deliver(t.Context(), store.Delivered{
		Player: player, Job: title, Prize: store.Prize{Board: "arcade", Season: 3, Reward: "gold", Title: title},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// send sends a form of our own page, unless headers say otherwise.
func (h *house) send(t *testing.T, address, form string, cookie *http.Cookie, headers ...string) reply {
	t.Helper()
	request := httptest.NewRequest(http.MethodPost, address, strings.NewReader(form))
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Origin", "http://"+request.Host)
	request.Header.Set("Sec-Fetch-Site", "same-origin")
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		request.Header.Del(name)
		if value != "" {
			request.Header.Set(name, value)
		}
	}
	if cookie != nil {
		request.AddCookie(cookie)
	}
	response, err := h.app.Test(request)
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

func TestTheInboxShowsAndClaimsWithoutAScript(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	me := h.cookie(t, "mira")
	get(t, h.app, "/inbox", me).has(t, "No reward has come yet", "Nothing waits to be claimed.")
	h.give(t, "mira", "<b>Gold</b>")
	h.give(t, "zoe", "Silver")
	page := get(t, h.app, "/inbox", me).has(t, "One reward waits to be claimed.", "&lt;b&gt;Gold", `action="/inbox/1/claim"`, "Season 3 of arcade")
	page.hasNot(t, "Silver", `class="prize claimed"`)
	if got := page.header.Get("Cache-Control"); got != "no-store" {
		t.Errorf("Cache-Control: got %q", got)
	}
	for range 2 {
		r := h.send(t, "/inbox/1/claim", "", me)
		if got := r.header.Get("Location"); r.status != http.StatusSeeOther || got != "/inbox#prize-1" {
			t.Errorf("a claim answers %d and leads to %q", r.status, got)
		}
	}
	get(t, h.app, "/inbox", me).has(t, "Nothing waits to be claimed.", `class="prize claimed"`)
	for _, id := range []string{"2", "0", "x", "01", "%2e"} {
		if r := h.send(t, "/inbox/"+id+"/claim", "", me); r.status != http.StatusNotFound {
			t.Errorf("claiming %s answers %d", id, r.status)
		}
	}
	for i := range 25 {
		h.give(t, "mira", fmt.Sprint("Chest ", i))
	}
	get(t, h.app, "/inbox", me).has(t, `href="/inbox?after=7"`, "Chest 24", "Chest 5<").hasNot(t, "Chest 4<")
	get(t, h.app, "/inbox?after=7", me).has(t, "Chest 4<", "Newest").hasNot(t, "Chest 5<", "Older")
}

func TestTheBellRingsForThePlayerOnly(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	me := h.cookie(t, "mira")
	for i := range 3 {
		h.give(t, "mira", fmt.Sprint("Chest ", i))
	}
	for _, address := range []string{"/", "/b/arcade", "/inbox"} {
		get(t, h.app, address, me).has(t, `id="bell"`, "3 rewards wait to be claimed.", `aria-hidden="true">3</span>`)
	}
	forged := *me
	forged.Value += "x"
	for _, address := range []string{"/", "/b/arcade", "/inbox"} {
		get(t, h.app, address).hasNot(t, `id="bell"`, "inbox.", "Chest")
		get(t, h.app, address, &forged).hasNot(t, `id="bell"`, "Chest")
	}
}

func TestAPlayerSeesTheirOwnPlaceWithoutPickingThemselves(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for i, player := range []store.PlayerID{"mira", "zoe"} {
		points, err := store.ParseDecimal("points", fmt.Sprint(200-100*i))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.store.Submit(t.Context(), "arcade", store.Submission{Player: player, Points: points}); err != nil {
			t.Fatal(err)
		}
	}
	zoe := h.cookie(t, "zoe")
	get(t, h.app, "/b/arcade", zoe).has(t, `id="my-rank">2nd<`)
	get(t, h.app, "/b/arcade?player=mira", zoe).has(t, `id="my-rank">1st<`)
	get(t, h.app, "/b/arcade?q=mira", zoe).has(t, "Found for", `id="my-rank">2nd<`)
	get(t, h.app, "/b/arcade").has(t, "Find yourself by name")
	get(t, h.app, "/b/arcade", h.cookie(t, "nobody")).has(t, "No score in this season yet")
}

func TestACodeOpensTheInbox(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	get(t, h.app, "/inbox").has(t, "Code from your game").hasNot(t, `id="bell"`)
	code := h.cookie(t, "mira").Value
	r := h.send(t, "/inbox", "token=+"+url.QueryEscape(code)+"%0A", nil)
	if r.status != http.StatusSeeOther || len(r.cookies) != 1 || !r.cookies[0].HttpOnly || r.cookies[0].Value != code {
		t.Fatalf("a code answers %d with cookies %v", r.status, r.cookies)
	}
	get(t, h.app, "/inbox", r.cookies...).has(t, "<bdi>mira</bdi>")
	for _, wrong := range []string{"token=x", "token=", "", "token=" + code[1:], "token=" + strings.Repeat("x", 5000)} {
		r := h.send(t, "/inbox", wrong, nil)
		r.has(t, "This code opens nothing").hasNot(t, code)
		if r.status != http.StatusUnauthorized || len(r.cookies) != 0 {
			t.Errorf("a wrong code answers %d with cookies %v", r.status, r.cookies)
		}
	}
	left := h.send(t, "/inbox/leave", "", r.cookies[0])
	if len(left.cookies) != 1 || left.cookies[0].Value != "" || left.cookies[0].Expires.After(time.Now()) {
		t.Errorf("who leaves keeps %v", left.cookies)
	}
}

func TestFormsOfOtherSitesDoNothing(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	me := h.cookie(t, "mira")
	h.give(t, "mira", "Chest")
	for _, foreign := range [][]string{
		{"Origin: https://evil.test", "Sec-Fetch-Site: cross-site"},
		{"Origin: https://evil.test", "Sec-Fetch-Site: "},
		{"Origin: null", "Sec-Fetch-Site: "},
		{"Origin: ", "Sec-Fetch-Site: "},
		{"Sec-Fetch-Site: same-site"},
		{"Origin: ", "Sec-Fetch-Site: none"},
	} {
		for _, address := range []string{"/inbox/1/claim", "/inbox/leave", "/inbox"} {
			r := h.send(t, address, "token="+me.Value, me, foreign...)
			if r.status != http.StatusForbidden || len(r.cookies) != 0 {
				t.Errorf("%s from %v answers %d with cookies %v", address, foreign, r.status, r.cookies)
			}
		}
	}
	get(t, h.app, "/inbox", me).has(t, "One reward waits to be claimed.")
}

func TestSearchesOfAPlayerFollowThePlayer(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	me := h.cookie(t, "mira")
	for i := range 12 {
		if r := get(t, h.app, fmt.Sprint("/b/arcade?q=name", i), me); len(r.cookies) != 0 {
			t.Fatalf("a player's search leaves the cookies %v", r.cookies)
		}
	}
	page := get(t, h.app, "/b/arcade?q=NAME5", h.cookie(t, "mira")) // in another browser
	page.has(t, `<bdi>NAME5</bdi></a></li><li><a href="/b/arcade?q=name11">`, "name2<")
	page.hasNot(t, "name5<", "name0<", "name1<")
	get(t, h.app, "/b/arcade", h.cookie(t, "zoe")).hasNot(t, "name11")
	get(t, h.app, "/b/arcade").hasNot(t, "name11")
}

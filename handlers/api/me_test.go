package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/store"
	"leaderboard/store/redisstore"
	"leaderboard/store/storetest"
	"leaderboard/web"
	"leaderboard/web/live"
)

// prize is a reward as a client reads it.
type prize struct {
	ID        int64
	Board     string
	Season    int64
	Reward    string
	Title     string
	Data      json.RawMessage
	At        time.Time
	ClaimedAt *time.Time `json:"claimed_at"`
}

type inbox struct {
	Items     []prize
	Unclaimed int64
	Next      *string
}

// home is a server on which players have inboxes, at an hour of the test's own.
type home struct {
	*server
	signer *live.PlayerTokens
	ahead  atomic.Int64 // nanoseconds that the tokens' clock is ahead
}

func newHome(t *testing.T, change func(*web.Deps)) *home {
	t.Helper()
	h := &home{}
	signer, err := live.NewPlayerTokens(func() time.Time { return time.Now().Add(time.Duration(h.ahead.Load())) },
		[]byte(live.NewTokenKey()))
	if err != nil {
		t.Fatal(err)
	}
	h.signer = signer
	kept := redisstore.New(storetest.Redis(t), redisstore.Options{Prefix: storetest.Prefix(t)})
	h.server = newServerOn(t, kept, func(d *web.Deps) {
		d.Signer, d.Players = signer, signer
		if change != nil {
			change(d)
		}
	})
	return h
}

// token returns a token as a game gets it.
func (h *home) token(t *testing.T, player string) string {
	t.Helper()
	var reply struct{ Token string }
	do(t, h.server, "POST", "/api/v1/players/"+player+"/token", "").want(t, 200).into(t, &reply)
	return reply.Token
}

// give puts a reward into an inbox.
func (h *home) give(t *testing.T, player store.PlayerID, title string) {
	t.Helper()
	delivered := store.Delivered{Player: player, Job: "job of " + title, Prize: store.Prize{
		Board: "demo", Season: 3, Reward: "gold", Title: title, Data: json.RawMessage(`{"coins":100.0,"<":"&"}`),
	}}
	if fresh, err := h.store.Deliver(t.Context(), delivered); err != nil || !fresh {
		t.Fatalf("delivered %v: %v", fresh, err)
	}
}

const (
	inboxCall = "/api/v1/me/inbox"
	noKey     = "Authorization: "
)

func bearerOf(token string) string { return "Authorization: Bearer " + token }

func TestAPlayerReadsAndClaimsRewards(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	token := bearerOf(h.token(t, "mira"))
	var empty inbox
	do(t, h.server, "GET", inboxCall, "", token).want(t, 200).into(t, &empty)
	if empty.Items == nil || len(empty.Items) != 0 || empty.Unclaimed != 0 || empty.Next != nil {
		t.Errorf("who never won has %+v", empty)
	}
	for i := range 5 {
		h.give(t, "mira", fmt.Sprintf("Chest %d", i+1))
	}
	h.give(t, "zoe", "of another")

	var pages []string
	for address := inboxCall + "?limit=2"; address != ""; {
		var page inbox
		r := do(t, h.server, "GET", address, "", token).want(t, 200)
		r.into(t, &page)
		if got := r.header.Get("Cache-Control"); got != "no-store" || page.Unclaimed != 5 {
			t.Errorf("%s: Cache-Control %q, unclaimed %d", address, got, page.Unclaimed)
		}
		for _, p := range page.Items {
			pages = append(pages, p.Title)
		}
		address = ""
		if page.Next != nil {
			address = inboxCall + "?limit=2&after=" + *page.Next
		}
	}
	if got, want := strings.Join(pages, ", "), "Chest 5, Chest 4, Chest 3, Chest 2, Chest 1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}

	first := do(t, h.server, "POST", inboxCall+"/2/claim", "", token).want(t, 200)
	again := do(t, h.server, "POST", inboxCall+"/2/claim", "", token).want(t, 200)
	if string(first.body) != string(again.body) {
		t.Errorf("claimed again: %s, want %s", again.body, first.body)
	}
	var claimed prize
	first.into(t, &claimed)
	if claimed.Title != "Chest 2" || claimed.Board != "demo" || claimed.Season != 3 || claimed.ClaimedAt == nil ||
		string(claimed.Data) != `{"coins":100.0,"<":"&"}` {
		t.Errorf("claimed %+v with data %s", claimed, claimed.Data)
	}
	var left inbox
	do(t, h.server, "GET", inboxCall, "", token).want(t, 200).into(t, &left)
	if left.Unclaimed != 4 || left.Items[3].ClaimedAt == nil || left.Items[2].ClaimedAt != nil {
		t.Errorf("after the claim the inbox is %+v", left)
	}
	do(t, h.server, "POST", inboxCall+"/6/claim", "", token).refused(t, 404, "reward_not_found", "")
	do(t, h.server, "POST", inboxCall+"/9223372036854775807/claim", "", token).refused(t, 422, "invalid", "id")
	for _, id := range []string{"0", "-1", "x", "2x", "%31%", "1e0"} {
		do(t, h.server, "POST", inboxCall+"/"+id+"/claim", "", token).refused(t, 422, "invalid", "id")
	}
	for _, wrong := range []string{"limit=0", "limit=101", "limit=", "limit=1&limit=1", "after=0", "after=x", "after="} {
		name, _, _ := strings.Cut(wrong, "=")
		do(t, h.server, "GET", inboxCall+"?"+wrong, "", token).refused(t, 422, "invalid", name)
	}
}

func TestTwentyClaimsAtOnceAreOne(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	token := bearerOf(h.token(t, "mira"))
	h.give(t, "mira", "Chest")
	var bodies sync.Map
	var runs sync.WaitGroup
	for range 20 {
		runs.Go(func() {
			r := do(t, h.server, "POST", inboxCall+"/1/claim", "", token)
			bodies.Store(fmt.Sprintf("%d %s", r.status, r.body), true)
		})
	}
	runs.Wait()
	count := 0
	bodies.Range(func(body, _ any) bool {
		count++
		if !strings.HasPrefix(body.(string), "200 ") {
			t.Errorf("answered %s", body)
		}
		return true
	})
	if count != 1 {
		t.Errorf("got %d different answers, want 1", count)
	}
}

func TestWithoutAGoodTokenNobodyIsAPlayer(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	h.give(t, "mira", "Chest")
	good := h.token(t, "mira")
	forger, err := live.NewPlayerTokens(time.Now, []byte(live.NewTokenKey()))
	if err != nil {
		t.Fatal(err)
	}
	forged, _, _ := forger.Issue("mira")
	ticket, _, _ := h.signer.Ticket("mira", time.Now().Add(time.Hour))
	for name, headers := range map[string][]string{
		"nothing":           {noKey},
		"a key":             {bearerOf(adminKey)},
		"a forged token":    {bearerOf(forged)},
		"a ticket":          {bearerOf(ticket)},
		"half a token":      {bearerOf(good[:len(good)/2])},
		"an endless token":  {bearerOf(good + strings.Repeat("x", 2000))},
		"another scheme":    {"Authorization: Basic " + good},
		"a forged cookie":   {noKey, "Cookie: player=" + forged},
		"a bad header":      {bearerOf(forged), "Cookie: player=" + good}, // which the cookie does not make good
		"a cookie's ticket": {noKey, "Cookie: player=" + ticket},
	} {
		for _, call := range []string{"GET " + inboxCall, "GET " + inboxCall + "?token=" + good, "POST " + inboxCall + "/1/claim", "POST /api/v1/me/ticket"} {
			method, target, _ := strings.Cut(call, " ")
			t.Run(name+" "+method, func(t *testing.T) {
				do(t, h.server, method, target, "", headers...).refused(t, 401, "unauthorized", "")
			})
		}
	}
	do(t, h.server, "GET", inboxCall, "", bearerOf(good)).want(t, 200)
	h.ahead.Store(int64(25 * time.Hour))
	do(t, h.server, "GET", inboxCall, "", bearerOf(good)).refused(t, 401, "unauthorized", "")
	do(t, h.server, "POST", "/api/v1/me", `{"token":`+quote(good)+`}`, noKey).refused(t, 401, "unauthorized", "")
	log := h.log.String()
	for _, secret := range []string{good, forged, ticket} {
		if parts := strings.Split(secret, "."); strings.Contains(strings.ReplaceAll(log, "?token="+secret, ""), parts[2]) {
			t.Error("a token stands in the log")
		}
	}
}

func TestATokenBecomesACookie(t *testing.T) {
	t.Parallel()
	h := newHome(t, func(d *web.Deps) { d.Origins = []string{"https://scores.example"} })
	token := h.token(t, "mira")
	body := `{"token":` + quote(token) + `}`
	cookieOf := func(r reply) *http.Cookie {
		t.Helper()
		cookies := (&http.Response{Header: r.header}).Cookies()
		if len(cookies) != 1 {
			t.Fatalf("%s sets the cookies %v, want one", r.call, cookies)
		}
		return cookies[0]
	}
	got := cookieOf(do(t, h.server, "POST", "/api/v1/me", body, noKey).want(t, 204))
	if !got.HttpOnly || got.SameSite != http.SameSiteLaxMode || got.Path != "/" || got.Secure || got.Value != token {
		t.Errorf("the cookie is %v", got)
	}
	if left := time.Until(got.Expires); left < 23*time.Hour || left > 24*time.Hour {
		t.Errorf("the cookie is kept for %v, want as long as the token is good", left)
	}
	for _, origin := range []string{"https://example.test", "https://scores.example"} {
		if !cookieOf(do(t, h.server, "POST", "/api/v1/me", body, noKey, "Origin: "+origin).want(t, 204)).Secure {
			t.Errorf("the cookie of a page at %s goes out unencrypted", origin)
		}
	}
	do(t, h.server, "POST", "/api/v1/me", body, noKey, "Origin: http://example.test", "Sec-Fetch-Site: same-origin").want(t, 204)

	for _, foreign := range [][]string{
		{"Origin: https://evil.test"},
		{"Origin: null"},
		{"Origin: http://example.test.evil.test"},
		{"Origin: http://example.test:81"},
		{"Sec-Fetch-Site: cross-site"},
		{"Sec-Fetch-Site: same-site"},
		{"Origin: http://example.test", "Sec-Fetch-Site: cross-site"},
	} {
		r := do(t, h.server, "POST", "/api/v1/me", body, append(foreign, noKey)...)
		r.refused(t, 403, "forbidden", "")
		if r.header.Get("Set-Cookie") != "" {
			t.Errorf("%v sets a cookie", foreign)
		}
	}
	for wrong, field := range map[string]string{
		`{}`: "token", `{"token":""}`: "token", `{"token":null}`: "token", `{"token":1}`: "token", `[]`: "body", `{"Token":"x"}`: "Token",
		`{"token":"a","more":1}`: "more", `{"token":"a","token":"b"}`: "token",
	} {
		do(t, h.server, "POST", "/api/v1/me", wrong, noKey).refused(t, 422, "invalid", field)
	}
	do(t, h.server, "POST", "/api/v1/me", `{"token":"x.y.z"}`, noKey).refused(t, 401, "unauthorized", "")
	do(t, h.server, "POST", "/api/v1/me", `{`, noKey).refused(t, 422, "malformed_json", "")
	do(t, h.server, "POST", "/api/v1/me", body, noKey, "Content-Type: text/plain").refused(t, 415, "unsupported_media_type", "")
}

func TestACookieChangesThingsFromOurPagesOnly(t *testing.T) {
	t.Parallel()
	h := newHome(t, func(d *web.Deps) { d.Origins = []string{"https://scores.example"} })
	cookie := "Cookie: player=" + h.token(t, "mira")
	h.give(t, "mira", "Chest")
	calls := []string{inboxCall + "/1/claim", "/api/v1/me/ticket"}
	for name, c := range map[string]struct {
		headers []string
		fine    bool
	}{
		"nothing said":         {nil, false},
		"typed":                {[]string{"Sec-Fetch-Site: none"}, false},
		"our page":             {[]string{"Origin: http://example.test", "Sec-Fetch-Site: same-origin"}, true},
		"our page, old way":    {[]string{"Origin: http://example.test"}, true},
		"our page, fetched":    {[]string{"Sec-Fetch-Site: same-origin"}, true},
		"behind a proxy":       {[]string{"Origin: https://example.test"}, true},
		"the public address":   {[]string{"Origin: https://scores.example"}, true},
		"another site":         {[]string{"Origin: https://evil.test", "Sec-Fetch-Site: cross-site"}, false},
		"another site, old":    {[]string{"Origin: https://evil.test"}, false},
		"a sandbox":            {[]string{"Origin: null"}, false},
		"a sibling":            {[]string{"Sec-Fetch-Site: same-site"}, false},
		"ours, says a foreign": {[]string{"Origin: http://example.test", "Sec-Fetch-Site: cross-site"}, false},
		"another port":         {[]string{"Origin: http://example.test:8080"}, false},
	} {
		for _, call := range calls {
			t.Run(name+call, func(t *testing.T) {
				r := do(t, h.server, "POST", call, "", append(c.headers, noKey, cookie)...)
				if c.fine {
					r.want(t, 200)
				} else {
					r.refused(t, 403, "forbidden", "")
				}
			})
		}
	}
	do(t, h.server, "GET", inboxCall, "", noKey, cookie).want(t, 200)
	do(t, h.server, "GET", inboxCall, "", noKey, cookie, "Sec-Fetch-Site: none").want(t, 200)
	do(t, h.server, "GET", inboxCall, "", noKey, cookie, "Sec-Fetch-Site: cross-site").refused(t, 403, "forbidden", "")
	// Whoever has the token itself needs no page.
	do(t, h.server, "POST", inboxCall+"/1/claim", "", "Authorization: Bearer "+strings.TrimPrefix(cookie, "Cookie: player="), "Origin: https://evil.test").want(t, 200)
}

func TestATicketOpensASocketAndNothingElse(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	token := h.token(t, "玩家")
	var ticket struct {
		Token     string
		ExpiresAt time.Time `json:"expires_at"`
	}
	r := do(t, h.server, "POST", "/api/v1/me/ticket", "", bearerOf(token)).want(t, 200)
	r.into(t, &ticket)
	if left := time.Until(ticket.ExpiresAt); left > live.TicketLife || left < live.TicketLife-10*time.Second || r.header.Get("Cache-Control") != "no-store" {
		t.Errorf("the ticket is good for %v (%v)", left, r.header)
	}
	player, until, err := h.signer.ForSockets().Player(ticket.Token)
	if err != nil || player != "玩家" || time.Until(until) < 23*time.Hour {
		t.Errorf("the ticket is of %q until %v: %v", player, until, err)
	}
	if player, _, err := h.signer.ForSockets().Player(token); err != nil || player != "玩家" {
		t.Errorf("on a socket the token is of %q: %v", player, err)
	}
	if _, _, err := h.signer.Player(ticket.Token); err == nil {
		t.Error("a ticket passes for a token")
	}
	h.ahead.Store(int64(live.TicketLife + time.Second))
	if _, _, err := h.signer.ForSockets().Player(ticket.Token); err == nil {
		t.Error("a ticket opens sockets after its minute")
	}
}

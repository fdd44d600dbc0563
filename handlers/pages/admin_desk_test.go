package pages_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"

	"leaderboard/handlers/api"
	"leaderboard/store"
	"leaderboard/store/redisstore"
	"leaderboard/store/storetest"
	"leaderboard/web"
)

const password = "open sesame"

// desk is the whole server on a real store, and a browser before it.
type desk struct {
	t       *testing.T
	store   *redisstore.Store
	app     *fiber.App
	jar     map[string]string
	headers []string // of every request, "Name: value"
	token   string   // that the last page's forms carried
}

type noTops struct{}

func (noTops) Read(context.Context, store.BoardID, bool) (api.Kept, error) {
	return nil, store.ErrBoardNotFound
}

// newDesk returns a server whose parts a test may change.
func newDesk(t *testing.T, change ...func(*web.Deps)) *desk {
	t.Helper()
	d := &desk{t: t, jar: map[string]string{}}
	d.store = redisstore.New(storetest.Redis(t), redisstore.Options{Prefix: storetest.Prefix(t)})
	d.serve(change...)
	return d
}

// serve starts the server anew, on the same store.
func (d *desk) serve(change ...func(*web.Deps)) {
	fine := func(context.Context) error { return nil }
	deps := web.Deps{
		Store: d.store, Tops: noTops{}, Keys: web.NewFirstKey("k"), Ping: fine, Subscribed: fine,
		Registry: prometheus.NewRegistry(), Log: slog.New(slog.DiscardHandler),
		Admin: web.Admin{
			Store: d.store, Password: password, Sessions: redisstore.NewSessions(d.store, web.AdminIdle),
			Limits: redisstore.NewLimiter(d.store), Readers: func(store.BoardID) int { return 7 },
		},
	}
	for _, c := range change {
		c(&deps)
	}
	d.app = web.New(deps)
}

// trusting has a server believe the proxies of these networks. Requests of a test come from 0.0.0.0.
func trusting(networks ...string) func(*web.Deps) {
	return func(d *web.Deps) {
		for _, n := range networks {
			d.TrustedProxies = append(d.TrustedProxies, netip.MustParsePrefix(n))
		}
	}
}

// visitor returns another browser before the same server.
func (d *desk) visitor() *desk {
	return &desk{t: d.t, store: d.store, app: d.app, jar: map[string]string{}}
}

var tokenField = regexp.MustCompile(`name="csrf" value="([^"]*)"`)

// send makes a request and keeps the cookies and the token that come back.
func (d *desk) send(method, address, body string, headers ...string) reply {
	d.t.Helper()
	request := httptest.NewRequest(method, "/", strings.NewReader(body))
	request.RequestURI = address // goes out as it is
	request.Host = "scores.example"
	if body != "" {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for _, h := range append(d.headers, headers...) {
		name, value, _ := strings.Cut(h, ": ")
		request.Header.Set(name, value)
	}
	for name, value := range d.jar {
		request.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	response, err := d.app.Test(request, 20_000)
	if err != nil {
		d.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	for _, c := range response.Cookies() {
		if c.MaxAge < 0 || !c.Expires.IsZero() && c.Expires.Before(time.Now()) {
			delete(d.jar, c.Name)
		} else {
			d.jar[c.Name] = c.Value
		}
	}
	if found := tokenField.FindSubmatch(text); found != nil {
		d.token = string(found[1])
	}
	return reply{response.StatusCode, string(text), response.Header, response.Cookies()}
}

func (d *desk) get(address string) reply {
	d.t.Helper()
	return d.send(http.MethodGet, address, "")
}

// post sends a form with the token of the last page.
func (d *desk) post(address string, fields ...string) reply {
	d.t.Helper()
	return d.send(http.MethodPost, address, encode(append(fields, "csrf", d.token)...))
}

// encode writes names and values as a form.
func encode(fields ...string) string {
	values := url.Values{}
	for i := 0; i+1 < len(fields); i += 2 {
		values.Add(fields[i], fields[i+1])
	}
	return values.Encode()
}

// follow makes the request that a redirect asks for.
func (d *desk) follow(r reply) reply {
	d.t.Helper()
	if r.status != http.StatusSeeOther {
		d.t.Fatalf("got %d, want a redirect\n%.2000s", r.status, r.body)
	}
	return d.get(r.header.Get("Location"))
}

// login opens the admin pages.
func (d *desk) login() *desk {
	d.t.Helper()
	d.get("/admin/login")
	if r := d.post("/admin/login", "password", password); r.status != http.StatusSeeOther {
		d.t.Fatalf("log in: got %d", r.status)
	}
	d.get("/admin/jobs") // for the token
	return d
}

// wants fails the test unless a reply has a status.
func (r reply) wants(t *testing.T, status int) reply {
	t.Helper()
	if r.status != status {
		t.Errorf("got %d, want %d: %s", r.status, status, words(r.body))
	}
	return r
}

var tags = regexp.MustCompile(`(?s)<head>.*?</head>|<[^>]*>`)

// words returns what of a page is to be read, shortened.
func words(page string) string {
	text := strings.Join(strings.Fields(tags.ReplaceAllString(page, " ")), " ")
	return text[:min(len(text), 500)]
}

// board makes a board.
func (d *desk) board(id store.BoardID, change func(*store.Settings)) {
	d.t.Helper()
	_, _, err := d.store.PutBoard(d.t.Context(), id, func(s *store.Settings) error {
		if change != nil {
			change(s)
		}
		return nil
	})
	if err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) score(board store.BoardID, player, name string, points int64) {
	d.t.Helper()
	_, err := d.store.Submit(d.t.Context(), board, store.Submission{
		Player: store.PlayerID(player), Name: store.Name(name), Points: store.Whole(points),
	})
	if err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) state(board store.BoardID) store.BoardState {
	d.t.Helper()
	state, err := d.store.BoardState(d.t.Context(), board)
	if err != nil {
		d.t.Fatal(err)
	}
	return state
}

// acts returns what the audit holds, oldest first, in words.
func (d *desk) acts() []string {
	d.t.Helper()
	acts, _, err := d.store.Acts(d.t.Context(), "", 100)
	if err != nil {
		d.t.Fatal(err)
	}
	var list []string
	for i := len(acts) - 1; i >= 0; i-- {
		a := acts[i]
		list = append(list, strings.TrimRight(strings.Join([]string{a.Who, a.Act, string(a.Board), string(a.Player), a.Details}, "|"), "|"))
	}
	return list
}

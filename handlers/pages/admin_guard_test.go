package pages_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"leaderboard/store"
)

// adminRoutes returns the addresses of the admin pages that take a method, with a board of the test in them.
func adminRoutes(d *desk, method string) []string {
	d.t.Helper()
	var paths []string
	for _, routes := range d.app.Stack() {
		for _, r := range routes {
			if r.Method == method && strings.HasPrefix(r.Path, "/admin") && r.Path != "/admin/login" {
				paths = append(paths, strings.ReplaceAll(r.Path, ":board", "demo"))
			}
		}
	}
	if len(paths) < 10 {
		d.t.Fatalf("got %d routes for %s", len(paths), method)
	}
	return paths
}

func TestPagesWithoutASessionLeadToTheLogin(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.board("demo", nil)
	for _, path := range adminRoutes(d, http.MethodGet) {
		for _, cookie := range []string{"", "x", strings.Repeat("A", 26), strings.Repeat("x", 2000), "%00", "../session"} {
			v := d.visitor()
			if cookie != "" {
				v.jar["admin"] = cookie
			}
			r := v.get(path).wants(t, 303)
			if r.header.Get("Location") != "/admin/login" || r.body != "" || r.header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s: leads to %q, %q, with %q", path, r.header.Get("Location"), r.header.Get("Cache-Control"), r.body)
			}
		}
	}
}

func TestNothingIsDoneWithoutASessionItsTokenAndAFormOfOurs(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.board("demo", nil)
	d.score("demo", "ada", "Ada", 5)
	d.login()
	other := d.visitor().login()
	before, state := d.acts(), d.state("demo")
	fields := []string{
		"id", "demo", "season", "1", "reason", "why", "player", "ada", "held", "1", "name", "key", "scope", "admin", "job", "j", "title", "changed",
	}
	with := func(token string) string { return encode(append(fields, "csrf", token)...) }
	for _, path := range adminRoutes(d, http.MethodPost) {
		for name, try := range map[string]struct {
			by      *desk
			body    string
			headers []string
		}{
			"no session":                 {d.visitor(), with(d.token), nil},
			"no token":                   {d, encode(fields...), nil},
			"an empty token":             {d, with(""), nil},
			"a made up token":            {d, with(strings.Repeat("A", 26)), nil},
			"the token of another":       {d, with(other.token), nil},
			"half the token":             {d, with(d.token[:13]), nil},
			"the token after another":    {d, encode("csrf", "x") + "&" + with(d.token), nil},
			"a foreign origin":           {d, with(d.token), []string{"Origin: https://evil.example"}},
			"an origin that begins well": {d, with(d.token), []string{"Origin: https://scores.example.evil.example"}},
			"another port":               {d, with(d.token), []string{"Origin: http://scores.example:8080"}},
			"no origin":                  {d, with(d.token), []string{"Origin: null"}},
			"a foreign page":             {d, with(d.token), []string{"Sec-Fetch-Site: cross-site"}},
			"a page of a sister":         {d, with(d.token), []string{"Sec-Fetch-Site: same-site"}},
		} {
			r := try.by.send(http.MethodPost, path, try.body, try.headers...)
			if r.status != http.StatusForbidden {
				t.Errorf("%s, %s: got %d, want 403", path, name, r.status)
			}
			r.has(t, "Not from there", `href="/admin"`)
		}
		d.send(http.MethodPost, path, `{"csrf":"`+d.token+`"}`, "Content-Type: application/json").wants(t, 415)
		d.send(http.MethodPost, path, with(d.token), "Content-Encoding: gzip").wants(t, 415)
		d.send(http.MethodPost, path, with(d.token), "Content-Type: multipart/form-data; boundary=x").wants(t, 415)
		d.send(http.MethodPost, path, "csrf=%zz").wants(t, 422)
		d.send(http.MethodPost, path, with(d.token)+strings.Repeat("&a=1", 1000)).wants(t, 422)
		d.send(http.MethodGet, path+"?"+with(d.token), "")
	}
	if after := d.acts(); !slices.Equal(after, before) {
		t.Errorf("the audit grew by %q", after[len(before):])
	}
	if after := d.state("demo"); after.Rev != state.Rev || after.Total != 1 {
		t.Errorf("the board is %+v, was %+v", after, state)
	}
	if _, err := d.store.BoardState(t.Context(), "key"); err == nil {
		t.Error("a board was made")
	}
}

func TestFormsOfOurPagesAreTaken(t *testing.T) {
	t.Parallel()
	d := newDesk(t).login()
	for _, headers := range [][]string{
		nil, {"Origin: http://scores.example", "Sec-Fetch-Site: same-origin"}, {"Origin: https://scores.example"}, {"Origin: HTTPS://Scores.Example"},
	} {
		d.send(http.MethodPost, "/admin/jobs/pause", encode("csrf", d.token), headers...).wants(t, 303)
	}
}

func TestAddressesThatPlayTricksReachNoPage(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.board("demo", nil)
	in := d.visitor().login()
	for _, path := range []string{
		"/admin/", "//admin", "/ADMIN", "/Admin/keys", "/admin/keys/", "/admin/../admin", "/b/../admin", "/admin%2Fkeys", "/%61dmin", "/admin/./keys",
		"/admin;x", "/admin/boards/..%2Fkeys", "/admin/boards/%2e%2e/keys", "/admin/boards/../keys", "/admin/boards/demo%2Fclose", "/admin/boards/demo/",
		"/admin/boards/DEMO", "/admin/boards/demo%00", "/admin/boards/demo%20", "/admin/boards/{demo}", "/admin/boards/demo.1", "/admin/boards/*",
		"/admin/boards//close", "/admin/login/", "/adminx", "/admin/login/../keys",
	} {
		if r := d.visitor().get(path); r.status == http.StatusOK {
			t.Errorf("%s without a session: got 200, %s", path, words(r.body))
		}
		// With a session: the page that the path means, or none.
		if r := in.get(path); r.status >= 500 || r.status == http.StatusOK && !strings.Contains(r.body, "Log out") {
			t.Errorf("%s: got %d, %s", path, r.status, words(r.body))
		}
		if r := d.visitor().send(http.MethodPost, path, encode("csrf", in.token)); r.status < 400 || r.status >= 500 {
			t.Errorf("POST %s without a session: got %d", path, r.status)
		}
	}
}

func TestAdminPagesAreKeptByNobodyAndShownInNoFrame(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.board("demo", nil)
	d.login()
	for _, path := range append(adminRoutes(d, http.MethodGet), "/admin/login") {
		r := d.get(path)
		if got := r.header.Get("Cache-Control"); got != "no-store" {
			t.Errorf("%s: got Cache-Control %q, want no-store", path, got)
		}
		if csp := r.header.Get("Content-Security-Policy"); !strings.Contains(csp, "frame-ancestors 'none'") || !strings.Contains(csp, "form-action 'self'") {
			t.Errorf("%s: got the policy %q", path, csp)
		}
	}
}

func TestNothingIsDoneWhileTheAuditIsOutOfReach(t *testing.T) {
	t.Parallel()
	d := newDesk(t, withStore(func(f *faulty) { f.record = store.ErrUnavailable }))
	d.board("demo", nil)
	d.score("demo", "ada", "Ada", 5)
	d.get("/admin/login")
	d.post("/admin/login", "password", password).wants(t, 503)
	if d.jar["admin"] != "" {
		t.Error("a session opens that the audit does not know of")
	}
}

package pages_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"leaderboard/store"
	"leaderboard/store/redisstore"
	"leaderboard/web"
)

// session returns the cookie that opens the admin pages.
func session(r reply) *http.Cookie {
	for _, c := range r.cookies {
		if c.Name == "admin" {
			return c
		}
	}
	return nil
}

func TestTheLoginLeadsToThePageThatWasAskedFor(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.get("/admin/login").wants(t, 200)
	if to := d.post("/admin/login", "password", password).header.Get("Location"); to != "/admin" {
		t.Errorf("got %s, want /admin", to)
	}
	d = d.visitor()
	if to := d.get("/admin/audit?filter=a%20b").wants(t, 303).header.Get("Location"); to != "/admin/login" {
		t.Errorf("got %s, want the login", to)
	}
	d.get("/admin/login")
	if to := d.post("/admin/login", "password", password).header.Get("Location"); to != "/admin/audit?filter=a%20b" {
		t.Errorf("got %s, want the page", to)
	}
	if to := d.get("/admin/login").wants(t, 303).header.Get("Location"); to != "/admin" {
		t.Errorf("logged in: got %s, want /admin", to)
	}
}

func TestALoginLeadsNowhereElse(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for i, address := range []string{
		"https://evil.example", "//evil.example", "/admin.evil.example", "/admin/../b/x", "/b/x", "/admin/login", "/admin/logout",
	} {
		v := d.visitor()
		v.headers = []string{fmt.Sprint("X-Forwarded-For: 203.0.113.", i)}
		v.get("/admin/login")
		v.jar["admin-return"] = address
		if to := v.post("/admin/login", "password", password).wants(t, 303).header.Get("Location"); to != "/admin" {
			t.Errorf("%s: got %s, want /admin", address, to)
		}
	}
}

func TestWhateverIsWrongWithALoginTheAnswerIsTheSame(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	page := d.get("/admin/login").wants(t, 200)
	form := func(fields ...string) string { return encode(append(fields, "csrf", d.token)...) }
	var first string
	for name, try := range map[string]struct {
		body    string
		headers []string
	}{
		"a wrong password":     {form("password", "wrong"), nil},
		"an empty password":    {form("password", ""), nil},
		"no password":          {form(), nil},
		"nearly the password":  {form("password", password+" "), nil},
		"a long password":      {form("password", strings.Repeat("x", 100_000)), nil},
		"no token":             {encode("password", password), nil},
		"another token":        {encode("password", password, "csrf", strings.Repeat("A", 26)), nil},
		"a foreign origin":     {form("password", password), []string{"Origin: https://evil.example"}},
		"no origin":            {form("password", password), []string{"Origin: null"}},
		"a foreign page":       {form("password", password), []string{"Sec-Fetch-Site: cross-site"}},
		"a page beside":        {form("password", password), []string{"Sec-Fetch-Site: same-site"}},
		"no form":              {`{"password":"` + password + `"}`, []string{"Content-Type: application/json"}},
		"a form that is wrong": {"%zz", nil},
	} {
		r := d.send(http.MethodPost, "/admin/login", try.body, try.headers...).wants(t, 403)
		if session(r) != nil {
			t.Errorf("%s: opens a session", name)
		}
		if first == "" {
			first = r.body
		}
		if r.body != first {
			t.Errorf("%s: another answer:\n%s\n%s", name, words(r.body), words(first))
		}
	}
	if strings.Contains(page.body, "That did not open it") || !strings.Contains(first, "That did not open it") {
		t.Error("the page does not say that it was wrong")
	}
	if got := d.acts(); len(got) > 0 {
		t.Errorf("the audit has %q", got)
	}
}

func TestTheLoginNeedsTheCookieOfItsForm(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.get("/admin/login")
	delete(d.jar, "admin-form")
	d.post("/admin/login", "password", password).wants(t, 403)
	v := d.visitor()
	v.get("/admin/login")
	mine := v.token
	v = d.visitor()
	v.get("/admin/login")
	v.token = mine
	v.post("/admin/login", "password", password).wants(t, 403)
}

func TestPasswordsCannotBeTriedForLong(t *testing.T) {
	t.Parallel()
	d := newDesk(t, trusting("0.0.0.0/32"))
	at := func(address string, secret string) reply {
		t.Helper()
		v := d.visitor()
		v.headers = []string{"X-Forwarded-For: " + address}
		v.get("/admin/login")
		return v.post("/admin/login", "password", secret)
	}
	for i := range 10 {
		at("203.0.113.1", fmt.Sprint("wrong", i)).wants(t, 403)
	}
	for _, secret := range []string{"wrong", password} {
		r := at("203.0.113.1", secret).wants(t, 429)
		if seconds, err := strconv.Atoi(r.header.Get("Retry-After")); err != nil || seconds < 1 || seconds > 600 || session(r) != nil {
			t.Errorf("Retry-After: got %q, a session %v", r.header.Get("Retry-After"), session(r))
		}
	}
	at("203.0.113.2", password).wants(t, 303)
	// With IPv6 everybody has a network to choose addresses from.
	for i := range 10 {
		at(fmt.Sprintf("2001:db8:1:2::%x", i+1), "wrong").wants(t, 403)
	}
	at("2001:db8:1:2:ffff::1", password).wants(t, 429)
	at("2001:db8:1:3::1", password).wants(t, 303)
}

func TestAForgedAddressBuysNoTries(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		trusted []string
		forged  func(i int) string
	}{
		"nobody is trusted":          {nil, func(i int) string { return fmt.Sprint("198.51.100.", i) }},
		"somebody else is trusted":   {[]string{"10.0.0.0/8"}, func(i int) string { return fmt.Sprint("198.51.100.", i) }},
		"before the proxy's word":    {[]string{"0.0.0.0/32"}, func(i int) string { return fmt.Sprintf("198.51.100.%d, 203.0.113.9", i) }},
		"behind two proxies":         {[]string{"0.0.0.0/32", "10.0.0.0/8"}, func(i int) string { return fmt.Sprintf("198.51.100.%d, 203.0.113.9, 10.1.1.1", i) }},
		"what no proxy would write":  {[]string{"0.0.0.0/32"}, func(i int) string { return fmt.Sprintf("198.51.100.%d, unknown", i) }},
		"a list that begins trusted": {[]string{"0.0.0.0/32", "10.0.0.0/8"}, func(i int) string { return fmt.Sprintf("10.0.0.%d, 203.0.113.9", i) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, trusting(c.trusted...))
			d.get("/admin/login")
			for i := range 10 {
				d.headers = []string{"X-Forwarded-For: " + c.forged(i), "X-Real-Ip: " + c.forged(i), "Forwarded: for=" + c.forged(i)}
				d.post("/admin/login", "password", "wrong").wants(t, 403)
			}
			d.headers = []string{"X-Forwarded-For: " + c.forged(99)}
			d.post("/admin/login", "password", password).wants(t, 429)
		})
	}
}

func TestAnotherSiteCannotUseUpTheTriesOfItsVisitors(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.get("/admin/login")
	for range 12 {
		d.send(http.MethodPost, "/admin/login", encode("password", "x", "csrf", "x"), "Origin: https://evil.example").wants(t, 403)
	}
	d.post("/admin/login", "password", password).wants(t, 303)
}

func TestTheSessionIsRenewedAtTheLogin(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	// A name that somebody made up and planted.
	planted := "AAAAAAAAAAAAAAAAAAAAAAAAAA"
	v := d.visitor()
	v.jar["admin"] = planted
	v.get("/admin/login")
	v.post("/admin/login", "password", password).wants(t, 303)
	if v.jar["admin"] == planted || v.jar["admin"] == "" {
		t.Errorf("the session is called %q after the login", v.jar["admin"])
	}
	attacker := d.visitor()
	attacker.jar["admin"] = planted
	attacker.get("/admin").wants(t, 303)

	// A session that was open before: it ends, and its name opens nothing.
	old := v.jar["admin"]
	v.jar = map[string]string{"admin": old}
	v.app = d.app
	second := d.visitor()
	second.get("/admin/login")
	second.jar["admin"] = old
	second.post("/admin/login", "password", password).wants(t, 303)
	if second.jar["admin"] == old {
		t.Error("the login keeps the session that came with it")
	}
	v.get("/admin").wants(t, 303)
	second.get("/admin").wants(t, 200)
}

func TestASessionIsKeptFromScriptsAndOtherSites(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change  []func(*web.Deps)
		headers []string
		secure  bool
	}{
		"by http":                             {nil, nil, false},
		"a header that nobody should believe": {nil, []string{"X-Forwarded-Proto: https"}, false},
		"by https to a proxy of ours":         {[]func(*web.Deps){trusting("0.0.0.0/32")}, []string{"X-Forwarded-Proto: https"}, true},
		"the nearest proxy says it last":      {[]func(*web.Deps){trusting("0.0.0.0/32")}, []string{"X-Forwarded-Proto: https, http"}, false},
		"by https to a proxy unknown to us":   {nil, []string{"Origin: https://scores.example"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, c.change...)
			d.headers = c.headers
			d.get("/admin/login")
			r := d.post("/admin/login", "password", password).wants(t, 303)
			cookie := session(r)
			if cookie == nil || !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || cookie.Path != "/admin" || cookie.Secure != c.secure {
				t.Errorf("got %+v, want HttpOnly, Strict, below /admin, secure %v", cookie, c.secure)
			}
			for _, other := range append(d.get("/admin/login").cookies, d.post("/admin/jobs/pause").cookies...) {
				if other.Value != "" && (!other.HttpOnly || other.SameSite != http.SameSiteStrictMode || other.Secure != c.secure) {
					t.Errorf("got %+v, want HttpOnly, Strict, secure %v", other, c.secure)
				}
			}
			if cookie.MaxAge != 0 || !cookie.Expires.IsZero() || len(cookie.Value) < 26 {
				t.Errorf("got %+v, want one that ends with the browser", cookie)
			}
		})
	}
}

func TestTheLogoutEndsTheSession(t *testing.T) {
	t.Parallel()
	d := newDesk(t).login()
	name := d.jar["admin"]
	d.get("/admin/logout").wants(t, 200).has(t, "Log out")
	if to := d.post("/admin/logout").wants(t, 303).header.Get("Location"); to != "/admin/login" {
		t.Errorf("got %s, want the login", to)
	}
	if d.jar["admin"] != "" {
		t.Error("the cookie stays")
	}
	d.jar["admin"] = name
	d.get("/admin").wants(t, 303)
	if got := strings.Join(d.acts(), " "); !strings.Contains(got, "admin|login|||from 0.0.0.0 admin|logout") {
		t.Errorf("the audit has %s", got)
	}
}

func TestAllSessionsEndWhenThePasswordChanges(t *testing.T) {
	t.Parallel()
	d := newDesk(t).login()
	d.serve(func(deps *web.Deps) { deps.Admin.Password = "another" })
	old := d.jar["admin"]
	d.post("/admin/jobs/pause").wants(t, 403)
	d.jar["admin"] = old
	d.get("/admin").wants(t, 303)
	d.serve() // the old password is back: what ended stays ended
	d.jar["admin"] = old
	d.get("/admin").wants(t, 303)
}

func TestASessionEndsAfterHalfADayWhateverIsDone(t *testing.T) {
	t.Parallel()
	now := time.Now()
	d := newDesk(t, func(deps *web.Deps) { deps.Admin.Clock = func() time.Time { return now } }).login()
	for range 11 {
		now = now.Add(time.Hour)
		d.get("/admin").wants(t, 200)
	}
	now = now.Add(2 * time.Hour)
	d.get("/admin").wants(t, 303)
	now = now.Add(-12 * time.Hour)
	d.get("/admin").wants(t, 303)
}

func TestASessionEndsWhenNobodyUsesIt(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.serve(func(deps *web.Deps) { deps.Admin.Sessions = redisstore.NewSessions(d.store, 300*time.Millisecond) })
	d.get("/admin/login")
	d.post("/admin/login", "password", password).wants(t, 303)
	d.get("/admin").wants(t, 200)
	deadline := time.Now().Add(10 * time.Second)
	for time.Now().Before(deadline) {
		time.Sleep(400 * time.Millisecond) // longer than the session lives
		if d.get("/admin").status == 303 {
			return
		}
	}
	t.Error("the session outlives its time")
}

func TestAnAddressHasItsLimitHereToo(t *testing.T) {
	t.Parallel()
	d := newDesk(t, trusting("0.0.0.0/32"))
	d.serve(trusting("0.0.0.0/32"), func(deps *web.Deps) {
		deps.Limits = web.Limits{Limiter: redisstore.NewLimiter(d.store), Address: store.Limit{Count: 3, Window: time.Hour}}
	})
	d.headers = []string{"X-Forwarded-For: 203.0.113.1"}
	for _, path := range []string{"/admin/login", "/admin", "/admin/keys"} {
		if r := d.get(path); r.status >= 400 {
			t.Errorf("%s: got %d", path, r.status)
		}
	}
	for _, path := range []string{"/admin/login", "/admin", "/admin/keys"} {
		d.get(path).wants(t, 429)
	}
	d.post("/admin/login", "password", password).wants(t, 429)
	d.post("/admin/keys").wants(t, 429)
	d.headers = []string{"X-Forwarded-For: 203.0.113.2"}
	d.get("/admin/login").wants(t, 200)
}

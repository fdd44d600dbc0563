package pages_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"leaderboard/store"
	"leaderboard/web"
)

func TestAKeyIsShownOnceAndRevoked(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.board("demo", nil)
	d.board("arcade", nil)
	d.login()
	d.get("/admin/keys").wants(t, 200).has(t, "No keys but the one", `name="board" value="arcade"`)
	page := d.post("/admin/keys", "name", "game <server>", "scope", "scores:write", "scope", "players:token", "board", "demo",
		"expires_at", "2999-12-31T23:59", "limit", "50/1m").wants(t, 201)
	token := between(page.body, `id="made-key">`, "<")
	id, hash, ok := store.ParseKeyToken(token)
	if !ok {
		t.Fatalf("the page shows %q", token)
	}
	page.has(t, "game &lt;server&gt;", "scores:write, players:token", "demo", "50/1m0s", "31 Dec 2999 23:59", "never", "It is shown this once")
	key, err := d.store.FindKey(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if key.Hash != hash || key.Name != "game <server>" || !slices.Equal(key.Boards, []store.BoardID{"demo"}) || key.Limit != (store.Limit{Count: 50, Window: time.Minute}) ||
		!slices.Equal(key.Scopes, []store.Scope{store.ScopeScores, store.ScopePlayers}) {
		t.Errorf("kept is %+v", key)
	}
	_, secret, _ := strings.Cut(token[3:], "_")
	for _, path := range adminRoutes(d, "GET") {
		d.get(path).hasNot(t, secret, hash)
	}
	if all := strings.Join(d.acts(), "\n"); strings.Contains(all, secret) || !strings.Contains(all, "admin|key.make|||game <server> ("+id+"): scores:write, players:token on demo") {
		t.Errorf("the audit has %s", all)
	}
	if err := d.store.KeyUsed(t.Context(), id, time.Now().Add(-2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	d.get("/admin/keys").has(t, "2 h ago", "/admin/keys/revoke?key="+id)

	d.get("/admin/keys/revoke?key="+id).wants(t, 200).has(t, "opens nothing any more", id)
	d.post("/admin/keys/revoke", "key", id, "id", "game <server>").wants(t, 422).has(t, "nothing was done")
	if _, err := d.store.FindKey(t.Context(), id); err != nil {
		t.Error("the key is gone")
	}
	d.follow(d.post("/admin/keys/revoke", "key", id, "id", id)).wants(t, 200).has(t, "is revoked.")
	if _, err := d.store.FindKey(t.Context(), id); err == nil {
		t.Error("the key is still there")
	}
	d.post("/admin/keys/revoke", "key", id, "id", id).wants(t, 404).has(t, "There is no such key", "Make a key")
	for _, none := range []string{"", "..", "%2e%2e", "a:b", "*"} {
		d.get("/admin/keys/revoke?key="+none).wants(t, 404)
	}
}

func TestWhatIsWrongWithAKeyIsSaid(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 3, 14, 0, 0, 0, time.UTC)
	d := newDesk(t, func(deps *web.Deps) { deps.Admin.Clock = func() time.Time { return now } }).login()
	for _, c := range []struct {
		fields []string
		says   string
	}{
		{[]string{"scope", "admin"}, "Name must be 1 to 100 characters"},
		{[]string{"name", "\u200b", "scope", "admin"}, "Name must be 1 to 100 characters"},
		{[]string{"name", "a\x00", "scope", "admin"}, "without control characters"},
		{[]string{"name", "a"}, "Scope must be one at least"},
		{[]string{"name", "a", "scope", "root"}, "Scope must be scores:write, players:token or admin"},
		{[]string{"name", "a", "scope", "admin", "scope", "admin"}, "each once"},
		{[]string{"name", "a", "scope", "admin", "board", "../x"}, "Board must be 1 to 63"},
		{[]string{"name", "a", "scope", "admin", "expires_at", "2026-05-03T14:00"}, "Expires at must be in the future"},
		{[]string{"name", "a", "scope", "admin", "expires_at", "soon"}, "must be a date and a time in UTC"},
		{[]string{"name", "a", "scope", "admin", "limit", "many"}, "Limit must be a count and a window"},
	} {
		d.post("/admin/keys", c.fields...).wants(t, 422).has(t, `role="alert"`, c.says, "Make the key")
	}
	keys, err := d.store.Keys(t.Context())
	if err != nil || len(keys) > 0 || len(d.acts()) != 1 {
		t.Errorf("got %v, %v, %q", keys, err, d.acts())
	}
	// What was typed stays.
	d.post("/admin/keys", "name", "a <b>", "scope", "players:token").wants(t, 201)
	d.post("/admin/keys", "name", "x <y>", "limit", "bad", "scope", "players:token").has(t, `value="x &lt;y&gt;"`, `value="bad"`, `value="players:token" checked`)
}

func TestExpiredKeysAreMarked(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 3, 14, 0, 0, 0, time.UTC)
	d := newDesk(t, func(deps *web.Deps) { deps.Admin.Clock = func() time.Time { return now } }).login()
	d.post("/admin/keys", "name", "a", "scope", "admin", "expires_at", "2026-05-03T15:00").wants(t, 201).hasNot(t, ">expired<")
	now = now.Add(time.Hour)
	d.get("/admin/keys").has(t, ">expired<")
}

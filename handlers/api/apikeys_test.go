package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"

	"leaderboard/store"
	"leaderboard/store/redisstore"
	"leaderboard/store/storetest"
	"leaderboard/web"
)

const keysPath = "/api/v1/keys"

func number(n int64) string { return strconv.FormatInt(n, 10) }

type apiKey struct {
	ID, Name       string
	Scopes, Boards []string
	Limit          *string
	ExpiresAt      *time.Time `json:"expires_at"`
	LastUsedAt     *time.Time `json:"last_used_at"`
	Key            string
}

// newKey makes a key.
func newKey(t *testing.T, s *server, body string, headers ...string) (made apiKey) {
	t.Helper()
	do(t, s, "POST", keysPath, body, headers...).want(t, 201).into(t, &made)
	return made
}

func keysOf(t *testing.T, s *server, headers ...string) []apiKey {
	t.Helper()
	var list struct{ Keys []apiKey }
	do(t, s, "GET", keysPath, "", headers...).want(t, 200).into(t, &list)
	return list.Keys
}

// newKeyServer returns a server with a board demo that knows a first key, with adminKey as its token, and those in its
// store.
func newKeyServer(t *testing.T, change func(*web.Deps)) *server {
	t.Helper()
	kept := redisstore.New(storetest.Redis(t), redisstore.Options{Prefix: storetest.Prefix(t)})
	s := newServerOn(t, kept, withStoredKeys(kept, change))
	do(t, s, "PUT", "/api/v1/boards/demo", `{}`).want(t, 201)
	return s
}

func withStoredKeys(kept *redisstore.Store, change func(*web.Deps)) func(*web.Deps) {
	return func(d *web.Deps) {
		if change != nil {
			change(d)
		}
		d.Keys = web.NewStoredKeys(web.KeysOptions{
			First: web.NewFirstKey(adminKey), Store: kept, Limiter: d.Limits.Limiter, Address: d.Limits.Address,
			Log: slog.New(slog.DiscardHandler),
		})
	}
}

func TestAKeyIsShownOnceAndDoesWhatItsScopesSay(t *testing.T) {
	t.Parallel()
	s := newKeyServer(t, nil)
	r := do(t, s, "POST", keysPath, `{"name":"Spiel 1","scopes":["scores:write"],"limit":"100/1s","expires_at":"2199-01-01T00:00:00Z"}`).want(t, 201)
	if r.header.Get("Cache-Control") != "no-store" {
		t.Errorf("a key may be kept on its way: %v", r.header)
	}
	var made apiKey
	r.into(t, &made)
	if !strings.HasPrefix(made.Key, "lb_"+made.ID+"_") || made.Name != "Spiel 1" || len(made.Boards) != 0 || *made.Limit != "100/1s" || made.LastUsedAt != nil {
		t.Errorf("made %+v", made)
	}
	key := "Authorization: Bearer " + made.Key
	do(t, s, "POST", scoresPath, `{"player":"a","points":1}`, key).want(t, 200)
	do(t, s, "PUT", "/api/v1/boards/demo", `{}`, key).refused(t, 403, "forbidden", "")
	do(t, s, "GET", keysPath, "", key).refused(t, 403, "forbidden", "")
	do(t, s, "POST", "/api/v1/players/a/token", "", key).refused(t, 403, "forbidden", "")

	list := do(t, s, "GET", keysPath, "").want(t, 200)
	if secret := made.Key[len(made.Key)-26:]; strings.Contains(string(list.body), secret) {
		t.Errorf("the list shows the key: %s", list.body)
	}
	newKey(t, s, `{"name":"An earlier name","scopes":["admin","players:token"],"boards":null,"limit":null,"expires_at":null}`)
	keys := keysOf(t, s)
	if len(keys) != 2 || keys[0].Name != "An earlier name" || keys[1].ID != made.ID || keys[0].ExpiresAt != nil || keys[0].Limit != nil {
		t.Errorf("the list is %+v, want two by name", keys)
	}
}

func TestWrongKeysAreRefusedByField(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	boards, _ := json.Marshal(make([]string, 101))
	for body, field := range map[string]string{
		`{}`: "name", `{"name":"x"}`: "scopes", `{"scopes":["admin"]}`: "name", `{"name":"","scopes":["admin"]}`: "name",
		`{"name":5,"scopes":["admin"]}`: "name", `{"name":"a\nb","scopes":["admin"]}`: "name", `{"name":null,"scopes":["admin"]}`: "name",
		`{"name":"` + strings.Repeat("x", 101) + `","scopes":["admin"]}`: "name",
		`{"name":"x","scopes":[]}`:                                       "scopes", `{"name":"x","scopes":null}`: "scopes", `{"name":"x","scopes":"admin"}`: "scopes",
		`{"name":"x","scopes":["root"]}`: "scopes", `{"name":"x","scopes":["admin","admin"]}`: "scopes", `{"name":"x","scopes":["Admin"]}`: "scopes",
		`{"name":"x","scopes":["admin"],"boards":[]}`: "boards", `{"name":"x","scopes":["admin"],"boards":["A"]}`: "boards",
		`{"name":"x","scopes":["admin"],"boards":"demo"}`: "boards", `{"name":"x","scopes":["admin"],"boards":` + string(boards) + `}`: "boards",
		`{"name":"x","scopes":["admin"],"expires_at":"2020-01-01T00:00:00Z"}`: "expires_at",
		`{"name":"x","scopes":["admin"],"expires_at":"soon"}`:                 "expires_at", `{"name":"x","scopes":["admin"],"expires_at":5}`: "expires_at",
		`{"name":"x","scopes":["admin"],"limit":"0"}`: "limit", `{"name":"x","scopes":["admin"],"limit":"5"}`: "limit",
		`{"name":"x","scopes":["admin"],"limit":"5/1ms"}`: "limit", `{"name":"x","scopes":["admin"],"limit":5}`: "limit",
		`{"name":"x","scopes":["admin"],"key":"mine"}`: "key", `{"name":"x","scopes":["admin"],"hash":"mine"}`: "hash",
	} {
		do(t, s, "POST", keysPath, body).refused(t, 422, "invalid", field)
	}
	if got := keysOf(t, s); len(got) != 0 {
		t.Errorf("a refused key was made: %+v", got)
	}
}

func TestAKeyForSomeBoardsOpensNothingElse(t *testing.T) {
	t.Parallel()
	s := newKeyServer(t, nil)
	do(t, s, "PUT", "/api/v1/boards/other", `{}`).want(t, 201)
	made := newKey(t, s, `{"name":"demo","scopes":["admin","scores:write","players:token"],"boards":["demo","demo","later"]}`)
	if len(made.Boards) != 2 {
		t.Errorf("made for %v, want each board once", made.Boards)
	}
	key := "Authorization: Bearer " + made.Key
	do(t, s, "POST", scoresPath, `{"player":"a","points":1}`, key).want(t, 200)
	do(t, s, "PUT", "/api/v1/boards/later", `{}`, key).want(t, 201)
	for _, call := range []string{
		"POST /boards/other/scores", "POST /boards/oth%65r/scores", "DELETE /boards/other", "POST /boards/other/seasons/close",
		"GET /boards/other/held", "GET /boards/other/export", "DELETE /boards/other/players/a",
		"POST /keys", "DELETE /keys/" + made.ID, "POST /players/a/token", "DELETE /players/a",
	} {
		method, path, _ := strings.Cut(call, " ")
		do(t, s, method, "/api/v1"+path, `{}`, key).refused(t, 403, "forbidden", "")
	}
	// It sees of lists what its boards have to do with.
	newKey(t, s, `{"name":"all","scopes":["admin"]}`)
	newKey(t, s, `{"name":"both","scopes":["admin"],"boards":["demo","other"]}`)
	if got := keysOf(t, s, key); len(got) != 1 || got[0].ID != made.ID {
		t.Errorf("it sees the keys %+v, want itself alone", got)
	}
	var list struct{ Boards []struct{ ID string } }
	do(t, s, "GET", "/api/v1/boards", "", key).want(t, 200).into(t, &list)
	if len(list.Boards) != 2 || list.Boards[0].ID != "demo" || list.Boards[1].ID != "later" {
		t.Errorf("it sees the boards %+v", list.Boards)
	}
	// Reads are open to everybody, so also to it.
	do(t, s, "GET", "/api/v1/boards/other/top", "", key).want(t, 200)
}

func TestARevokedKeyOpensNothingASecondLaterOnAnyServer(t *testing.T) {
	t.Parallel()
	s := newKeyServer(t, nil)
	second := newServerOn(t, s.store, withStoredKeys(s.store, nil))
	made := newKey(t, s, `{"name":"x","scopes":["scores:write"]}`)
	key := "Authorization: Bearer " + made.Key
	for _, server := range []*server{s, second} {
		do(t, server, "POST", scoresPath, `{"player":"a","points":1}`, key).want(t, 200)
	}
	do(t, s, "DELETE", keysPath+"/"+made.ID, "").want(t, 204)
	revoked := time.Now()
	for _, server := range []*server{s, second} {
		for {
			began := time.Now()
			r := do(t, server, "POST", scoresPath, `{"player":"a","points":1}`, key)
			if r.status == 401 {
				break
			}
			if r.want(t, 200); began.Sub(revoked) > time.Second {
				t.Fatalf("it still opens %v after it was revoked", began.Sub(revoked))
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	do(t, s, "DELETE", keysPath+"/"+made.ID, "").refused(t, 404, "key_not_found", "")
	for _, id := range []string{"first", "a", "%00", "a%0Ab", "*"} {
		do(t, s, "DELETE", keysPath+"/"+id, "").refused(t, 404, "key_not_found", "")
	}
}

func TestTokensThatAreNotQuiteRightAreRefused(t *testing.T) {
	t.Parallel()
	s := newKeyServer(t, nil)
	made := newKey(t, s, `{"name":"x","scopes":["scores:write"]}`)
	other := newKey(t, s, `{"name":"y","scopes":["admin"]}`)
	secret, id := made.Key[len(made.Key)-26:], made.ID
	for _, token := range []string{
		made.Key[:len(made.Key)-1], made.Key + "a", strings.ToUpper(made.Key), "lb_" + id + "_", "lb_" + id, id, secret,
		"lb_" + other.ID + "_" + secret, "lb_aaaaaaaaaa_" + secret, "lb_" + id + "_" + strings.Repeat("a", 26), "lb__" + secret,
		"lb_" + id + "_" + secret[:13] + "_" + secret[13:], "lb_" + strings.Repeat("a", 300),
	} {
		for range 2 { // looked up, and known to be none
			do(t, s, "POST", scoresPath, `{"player":"a","points":1}`, "Authorization: Bearer "+token).refused(t, 401, "unauthorized", "")
		}
	}
	do(t, s, "POST", scoresPath, `{"player":"a","points":1}`, "Authorization: Bearer "+made.Key).want(t, 200)
}

func TestAnExpiredKeyOpensNothing(t *testing.T) {
	t.Parallel()
	s := newKeyServer(t, nil)
	id, token, hash := store.NewKeyToken()
	if err := s.store.AddKey(t.Context(), store.Key{
		ID: id, Name: "x", Scopes: []store.Scope{store.ScopeScores}, Hash: hash, ExpiresAt: time.Now().Add(-time.Millisecond),
	}); err != nil {
		t.Fatal(err)
	}
	do(t, s, "POST", scoresPath, `{"player":"a","points":1}`, "Authorization: Bearer "+token).refused(t, 401, "unauthorized", "")
	if got := keysOf(t, s); len(got) != 1 || got[0].ExpiresAt == nil {
		t.Errorf("the list shows %+v, want it with its end", got)
	}
}

func TestTheLastUseOfAKeyIsShown(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	keys := web.NewStoredKeys(web.KeysOptions{First: web.NewFirstKey(adminKey), Store: s.store, Log: slog.New(slog.DiscardHandler)})
	s = newServerOn(t, s.store, func(d *web.Deps) { d.Keys = keys })
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); keys.Run(ctx) }()
	used, never := newKey(t, s, `{"name":"a","scopes":["admin"]}`), newKey(t, s, `{"name":"b","scopes":["admin"]}`)
	before := time.Now().Truncate(time.Millisecond)
	do(t, s, "GET", keysPath, "", "Authorization: Bearer "+used.Key).want(t, 200)
	after := time.Now()
	cancel() // what was not written down yet is at the end
	<-ended
	got := keysOf(t, s)
	if len(got) != 2 || got[0].LastUsedAt == nil || got[0].LastUsedAt.Before(before) || got[0].LastUsedAt.After(after) {
		t.Errorf("the list is %+v, want a used between %v and %v", got, before, after)
	}
	if got[1].ID != never.ID || got[1].LastUsedAt != nil {
		t.Errorf("b was never used: %s", fmt.Sprint(got[1].LastUsedAt))
	}
}

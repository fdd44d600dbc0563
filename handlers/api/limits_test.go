package api_test

import (
	"context"
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/store"
	"leaderboard/store/redisstore"
	"leaderboard/store/storetest"
	"leaderboard/web"
)

const topPath = "/api/v1/boards/demo/top"

// aDay is a window in which a whole test takes place.
const aDay = 24 * time.Hour

// limited returns what gives a server limits of its own.
func limited(s *redisstore.Store, key, address, player store.Limit) func(*web.Deps) {
	return func(d *web.Deps) {
		d.Limits = web.Limits{Limiter: redisstore.NewLimiter(s), Key: key, Address: address, Player: player}
		d.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")} // from where all tests call
	}
}

// newLimited returns a server with a board demo and limits.
func newLimited(t *testing.T, key, address, player store.Limit) *server {
	t.Helper()
	kept := redisstore.New(storetest.Redis(t), redisstore.Options{Prefix: storetest.Prefix(t), Player: player})
	if _, _, err := kept.PutBoard(t.Context(), "demo", func(*store.Settings) error { return nil }); err != nil {
		t.Fatal(err)
	}
	return newServerOn(t, kept, withStoredKeys(kept, limited(kept, key, address, player)))
}

func from(address string) string { return "X-Forwarded-For: " + address }

var quotaText = regexp.MustCompile(`^"(\w+)";r=(\d+);t=(\d+)$`)

// quota reads what a reply says is left.
func (r reply) quota(t *testing.T) (policy string, left, resets int) {
	t.Helper()
	found := quotaText.FindStringSubmatch(r.header.Get("RateLimit"))
	if found == nil {
		t.Fatalf("%s answers %d with RateLimit: %s", r.call, r.status, r.header.Get("RateLimit"))
	}
	left, _ = strconv.Atoi(found[2])
	resets, _ = strconv.Atoi(found[3])
	return found[1], left, resets
}

func TestRepliesTellWhatIsLeftOfALimit(t *testing.T) {
	t.Parallel()
	s := newLimited(t, store.Limit{Count: 10, Window: aDay}, store.Limit{Count: 3, Window: 90 * time.Minute}, store.Limit{})
	own := newKey(t, s, `{"name":"x","scopes":["scores:write"],"limit":"2/24h"}`)
	for name, c := range map[string]struct {
		method, path, header string
		policy               string
		count, window, used  int
	}{
		"an address":             {"GET", topPath, from("198.51.100.1"), "address", 3, 5400, 0},
		"another address":        {"GET", "/api/v1/boards", from("198.51.100.2"), "address", 3, 5400, 0},
		"a network of IPv6":      {"POST", "/api/v1/boards/demo/lookup", from("2001:db8::1"), "address", 3, 5400, 0},
		"a page":                 {"GET", "/b/demo", from("198.51.100.3"), "address", 3, 5400, 0},
		"a key":                  {"GET", keysPath, "Authorization: Bearer " + adminKey, "key", 10, 86400, 1},
		"a limit of the key":     {"POST", scoresPath, "Authorization: Bearer " + own.Key, "key", 2, 86400, 0},
		"a key that nobody knew": {"GET", topPath, "Authorization: Bearer who", "address", 3, 5400, 0},
	} {
		t.Run(name, func(t *testing.T) {
			body := map[string]string{scoresPath: `{"player":"a","points":1}`, "/api/v1/boards/demo/lookup": `{"players":["a"]}`}[c.path]
			if name == "a key that nobody knew" {
				c.header += "\r\nX-Forwarded-For: 198.51.100.4"
			}
			for left := c.count - c.used - 1; left >= 0; left-- {
				r := do(t, s, c.method, c.path, body, strings.Split(c.header, "\r\n")...).want(t, 200)
				want := fmt.Sprintf(`"%s";q=%d;w=%d`, c.policy, c.count, c.window)
				if got := r.header.Get("RateLimit-Policy"); got != want {
					t.Errorf("RateLimit-Policy: %s, want %s", got, want)
				}
				policy, got, resets := r.quota(t)
				if policy != c.policy || got != left || resets < 0 || resets > c.window {
					t.Errorf("%q has %d left for %d s, want %d", policy, got, resets, left)
				}
			}
			r := do(t, s, c.method, c.path, body, strings.Split(c.header, "\r\n")...).want(t, 429)
			policy, left, resets := r.quota(t)
			after, err := strconv.Atoi(r.header.Get("Retry-After"))
			if err != nil || policy != c.policy || left != 0 || after < 1 || after < resets || after > 2*c.window {
				t.Errorf("refused with %q, %d left for %d s, Retry-After: %s", policy, left, resets, r.header.Get("Retry-After"))
			}
		})
	}
}

func TestANetworkOfIPv6IsOneAddress(t *testing.T) {
	t.Parallel()
	s := newLimited(t, store.Limit{}, store.Limit{Count: 2, Window: aDay}, store.Limit{})
	do(t, s, "GET", topPath, "", from("2001:db8:0:1::1")).want(t, 200)
	do(t, s, "GET", topPath, "", from("2001:db8:0:1:ffff::2")).want(t, 200)
	do(t, s, "GET", topPath, "", from("2001:db8:0:1::3")).refused(t, 429, "rate_limited", "")
	do(t, s, "GET", topPath, "", from("2001:db8:0:2::1")).want(t, 200)
	do(t, s, "GET", topPath, "", from("::ffff:198.51.100.1")).want(t, 200)
	do(t, s, "GET", topPath, "", from("198.51.100.1")).want(t, 200) // the same
	do(t, s, "GET", topPath, "", from("::ffff:198.51.100.1")).want(t, 429)
}

func TestServersOnOneRedisTogetherNeverExceedALimit(t *testing.T) {
	t.Parallel()
	const limit = 100
	first := newLimited(t, store.Limit{Count: limit, Window: aDay}, store.Limit{Count: limit, Window: aDay}, store.Limit{})
	same := limited(first.store, store.Limit{Count: limit, Window: aDay}, store.Limit{Count: limit, Window: aDay}, store.Limit{})
	servers := []*server{first, newServerOn(t, first.store, withStoredKeys(first.store, same))}
	for name, header := range map[string]string{
		"a key": "Authorization: Bearer " + adminKey, "an address": from("198.51.100.1"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var allowed atomic.Int64
			var callers sync.WaitGroup
			for i := range 8 {
				callers.Go(func() {
					for range limit / 3 {
						if r := do(t, servers[i%2], "GET", "/api/v1/boards/demo/rank?points=1", "", header); r.status == 200 {
							allowed.Add(1)
						} else {
							r.refused(t, 429, "rate_limited", "")
						}
					}
				})
			}
			callers.Wait()
			// A lease is a tenth of the limit at most; the last of each server may be lost.
			if got := allowed.Load(); got > limit || got < limit-2*limit/10 {
				t.Errorf("%d calls were let in, want %d but for what leases leave unused", got, limit)
			}
		})
	}
}

func TestAFloodWithoutAKeyLeavesOthersServed(t *testing.T) {
	t.Parallel()
	s := newLimited(t, store.Limit{Count: 1000, Window: aDay}, store.Limit{Count: 20, Window: aDay}, store.Limit{})
	key := newKey(t, s, `{"name":"x","scopes":["scores:write"]}`)
	const flooder = "198.51.100.66"
	var flood sync.WaitGroup
	var refused atomic.Int64
	for i := range 4 {
		flood.Go(func() {
			for j := range 100 {
				r := do(t, s, "GET", topPath, "", from(flooder))
				if i%2 == 0 { // with keys that are made up
					id, token, _ := store.NewKeyToken()
					r = do(t, s, "DELETE", keysPath+"/"+id, "", from(flooder), "Authorization: Bearer "+token)
				}
				switch r.status {
				case 429:
					refused.Add(1)
				case 200, 401:
				default:
					t.Errorf("call %d of the flood answers %d %s", j, r.status, r.body)
				}
			}
		})
	}
	for i := range 10 {
		do(t, s, "GET", topPath, "", from(fmt.Sprintf("198.51.100.%d", i))).want(t, 200)
		// From the same address, but with a key: it has a limit of its own.
		do(t, s, "POST", scoresPath, `{"player":"a","points":1}`, from(flooder), "Authorization: Bearer "+key.Key).want(t, 200)
		do(t, s, "GET", topPath, "", from(flooder), "Authorization: Bearer "+adminKey).want(t, 200)
	}
	flood.Wait()
	if got := refused.Load(); got < 300 {
		t.Errorf("%d of 400 calls of the flood were refused, want all but some 40", got)
	}
}

func TestWhatIsNotCountedIsNotRefused(t *testing.T) {
	t.Parallel()
	s := newLimited(t, store.Limit{Count: 1, Window: aDay}, store.Limit{Count: 1, Window: aDay}, store.Limit{})
	address := from("198.51.100.1")
	do(t, s, "GET", topPath, "", address).want(t, 200)
	do(t, s, "GET", topPath, "", address).want(t, 429)
	for range 3 {
		for _, path := range []string{"/healthz", "/readyz", "/metrics", "/docs", "/api/openapi.yaml"} {
			if r := do(t, s, "GET", path, "", address).want(t, 200); r.header.Get("RateLimit") != "" {
				t.Errorf("%s says RateLimit: %s", path, r.header.Get("RateLimit"))
			}
		}
		do(t, s, "GET", "/static/nothing.css", "", address).want(t, 404)
		do(t, s, "POST", scoresPath, `{}`, address, "Authorization: ").refused(t, 401, "unauthorized", "")
	}
}

func TestAPlayersLimitRefusesTheScoresBeyondIt(t *testing.T) {
	t.Parallel()
	s := newLimited(t, store.Limit{Count: 1000, Window: aDay}, store.Limit{}, store.Limit{Count: 3, Window: 10 * time.Second})
	score := func(player string) string { return fmt.Sprintf(`{"player":%q,"points":1}`, player) }
	do(t, s, "POST", scoresPath, score("a")).want(t, 200)
	do(t, s, "POST", scoresPath, score("a")).want(t, 200)
	var batch struct {
		Results []struct {
			Status       int
			Code, Detail string
		}
	}
	do(t, s, "POST", scoresPath+"/batch", `{"scores":[`+score("a")+`,`+score("a")+`,`+score("b")+`]}`).want(t, 200).into(t, &batch)
	got := batch.Results
	if len(got) != 3 || got[0].Status != 200 || got[1].Status != 429 || got[1].Code != "rate_limited" || got[2].Status != 200 {
		t.Errorf("a batch with one too many answers %+v", got)
	}
	if !strings.Contains(got[1].Detail, "Try again in ") {
		t.Errorf("the score that is too many is told %q", got[1].Detail)
	}
	r := do(t, s, "POST", scoresPath, score("a"))
	r.refused(t, 429, "rate_limited", "")
	if got, want := r.header.Get("RateLimit-Policy"), `"key";q=1000;w=86400, "player";q=3;w=10`; got != want {
		t.Errorf("RateLimit-Policy: %s, want %s", got, want)
	}
	after := r.header.Get("Retry-After")
	if policy, left, resets := r.quota(t); policy != "player" || left != 0 || strconv.Itoa(resets) != after || resets < 1 || resets > 10 {
		t.Errorf("refused with %q, %d left for %d s, Retry-After: %s", policy, left, resets, after)
	}
	do(t, s, "POST", scoresPath, score("c")).want(t, 200)
}

func TestALimitOfZeroIsNone(t *testing.T) {
	t.Parallel()
	s := newLimited(t, store.Limit{}, store.Limit{}, store.Limit{})
	for range 50 {
		if r := do(t, s, "GET", topPath, "", from("198.51.100.1")).want(t, 200); r.header.Get("RateLimit") != "" {
			t.Fatalf("without a limit: RateLimit: %s", r.header.Get("RateLimit"))
		}
		do(t, s, "POST", scoresPath, `{"player":"a","points":1}`).want(t, 200)
	}
}

// limiterFunc is a limiter that a test makes up.
type limiterFunc func(context.Context) (store.Quota, error)

func (f limiterFunc) Take(ctx context.Context, _ string, _ store.Limit) (store.Quota, error) {
	return f(ctx)
}

func TestWithoutRedisOnlyKeptTopsAreOpen(t *testing.T) {
	t.Parallel()
	for name, limiter := range map[string]limiterFunc{
		"that is gone": func(context.Context) (store.Quota, error) {
			return store.Quota{}, fmt.Errorf("tests: %w", store.ErrUnavailable)
		},
		"that says no more": func(ctx context.Context) (store.Quota, error) { <-ctx.Done(); return store.Quota{}, ctx.Err() },
		"that says it itself": func(ctx context.Context) (store.Quota, error) {
			<-ctx.Done()
			return store.Quota{}, fmt.Errorf("%w: late", store.ErrUnavailable)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limit := store.Limit{Count: 5, Window: time.Second}
			kept := redisstore.New(storetest.Redis(t), redisstore.Options{Prefix: storetest.Prefix(t)})
			s := newServerOn(t, kept, func(d *web.Deps) {
				d.Limits = web.Limits{Limiter: limiter, Key: limit, Address: limit}
				d.Times.Request = 400 * time.Millisecond // after which whoever waits for Redis gives up
			})
			if _, _, err := kept.PutBoard(t.Context(), "demo", func(*store.Settings) error { return nil }); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			for range 20 { // more than the limit, which nobody can count
				do(t, s, "GET", topPath, "").want(t, 200)
			}
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("kept tops took %v: each waited for the limiter", took)
			}
			s.tops.cut()
			if got := top(t, s, ""); !got.Stale {
				t.Errorf("the kept top is not called stale: %+v", got)
			}
			do(t, s, "GET", "/api/v1/boards/demo/range", "").refused(t, 503, "unavailable", "")
			do(t, s, "GET", "/api/v1/boards", "").refused(t, 503, "unavailable", "")
			do(t, s, "POST", scoresPath, `{"player":"a","points":1}`).refused(t, 503, "unavailable", "")
		})
	}
}

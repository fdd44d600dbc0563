package redisstore_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"leaderboard/store/redisstore"
	"leaderboard/store/storetest"
)

// adminRules are what holds on every Redis for what only the admin pages ask for.
var adminRules = map[string]func(t *testing.T, client redis.UniversalClient, prefix string){
	"a session is kept until it is deleted":              aSessionIsKeptUntilItIsDeleted,
	"nobody opens a session by the name of its key":      nobodyOpensASessionByTheNameOfItsKey,
	"a session ends when it is left alone":               aSessionEndsWhenItIsLeftAlone,
	"a reset ends sessions and nothing else":             aResetEndsSessionsAndNothingElse,
	"the stats count the last minute and the day":        theStatsCountTheLastMinuteAndTheDay,
	"bans are listed with name and reason":               bansAreListedWithNameAndReason,
	"more bans than are listed are counted all the same": moreBansThanAreListedAreCounted,
}

func TestWhatAdminsAskForOnRedis(t *testing.T) {
	t.Parallel()
	checkAdminRules(t, storetest.Redis)
}

func TestWhatAdminsAskForOnTheEmbeddedRedis(t *testing.T) {
	t.Parallel()
	checkAdminRules(t, storetest.Embedded)
}

func TestWhatAdminsAskForOnACluster(t *testing.T) {
	t.Parallel()
	checkAdminRules(t, storetest.Cluster(t).Client)
}

func checkAdminRules(t *testing.T, connect func(testing.TB) redis.UniversalClient) {
	t.Helper()
	for name, rule := range adminRules {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rule(t, connect(t), storetest.Prefix(t))
		})
	}
}

func get(t *testing.T, s *redisstore.Sessions, name string) string {
	t.Helper()
	data, err := s.Get(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func aSessionIsKeptUntilItIsDeleted(t *testing.T, client redis.UniversalClient, prefix string) {
	s := redisstore.NewSessions(redisstore.New(client, redisstore.Options{Prefix: prefix}), time.Hour)
	if data, err := s.Get("nobody"); data != nil || err != nil {
		t.Errorf("no session: got %q, %v, want nothing", data, err)
	}
	for _, name := range []string{"id", strings.Repeat("x", 5000), "a\x00:{b}*"} {
		if err := s.Set(name, []byte("data\xff"), time.Minute); err != nil {
			t.Fatal(err)
		}
		if got := get(t, s, name); got != "data\xff" {
			t.Errorf("%.20q: got %q", name, got)
		}
		if err := s.Delete(name); err != nil {
			t.Fatal(err)
		}
		if got := get(t, s, name); got != "" {
			t.Errorf("%.20q: got %q after it was deleted", name, got)
		}
	}
	if err := s.Delete("nobody"); err != nil {
		t.Errorf("deleting nothing: %v", err)
	}
}

func nobodyOpensASessionByTheNameOfItsKey(t *testing.T, client redis.UniversalClient, prefix string) {
	s := redisstore.NewSessions(redisstore.New(client, redisstore.Options{Prefix: prefix}), time.Hour)
	if err := s.Set("secret", []byte("data"), time.Hour); err != nil {
		t.Fatal(err)
	}
	keys := keysOf(t, client, prefix)
	if len(keys) != 1 || strings.Contains(keys[0], "secret") {
		t.Fatalf("got the keys %v, want one that does not name the session", keys)
	}
	_, name, _ := strings.Cut(keys[0], ":session:")
	if got := get(t, s, name); got != "" {
		t.Errorf("the key's name opens the session: %q", got)
	}
}

func aSessionEndsWhenItIsLeftAlone(t *testing.T, client redis.UniversalClient, prefix string) {
	s := redisstore.NewSessions(redisstore.New(client, redisstore.Options{Prefix: prefix}), time.Hour)
	for life, want := range map[time.Duration]time.Duration{time.Minute: time.Minute, 0: time.Hour} {
		if err := s.Set("id", nil, life); err != nil {
			t.Fatal(err)
		}
		if left := client.TTL(t.Context(), keysOf(t, client, prefix)[0]).Val(); left > want || left < want-time.Minute/2 {
			t.Errorf("kept for %v: %v are left, want %v", life, left, want)
		}
	}
	get(t, s, "id") // puts the end off
	if left := client.TTL(t.Context(), keysOf(t, client, prefix)[0]).Val(); left < time.Hour-time.Minute {
		t.Errorf("used: %v are left, want an hour", left)
	}
}

func aResetEndsSessionsAndNothingElse(t *testing.T, client redis.UniversalClient, prefix string) {
	s := redisstore.NewSessions(redisstore.New(client, redisstore.Options{Prefix: prefix}), time.Hour)
	others := redisstore.NewSessions(redisstore.New(client, redisstore.Options{Prefix: prefix + "x"}), time.Hour)
	for i := range 20 {
		if err := s.Set(string(rune('a'+i)), bytes.Repeat([]byte("x"), i), time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	if err := others.Set("id", []byte("other"), time.Hour); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = others.Reset() })
	if err := client.Set(t.Context(), prefix+":boards", "kept", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if err := s.Reset(); err != nil {
		t.Fatal(err)
	}
	if keys := keysOf(t, client, prefix); len(keys) != 1 || keys[0] != prefix+":boards" {
		t.Errorf("left are %v, want the boards", keys)
	}
	if got := get(t, others, "id"); got != "other" {
		t.Errorf("a session of another program: got %q", got)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// keysOf returns the keys of a prefix.
func keysOf(t *testing.T, client redis.UniversalClient, prefix string) []string {
	t.Helper()
	keys, err := client.Keys(t.Context(), prefix+":*").Result() // of the one node, in a Cluster too
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

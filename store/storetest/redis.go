package storetest

import (
	"context"
	"crypto/rand"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"leaderboard/store/embedded"
	"leaderboard/store/redisconn"
)

// Redis returns a client of the Redis that all tests of the process share: the one that LEADERBOARD_TEST_REDIS_URL
// names, else a redis-server started for this process, else an embedded one. What a test writes begins with a [Prefix] of
// its own, and nobody flushes.
func Redis(tb testing.TB) redis.UniversalClient {
	tb.Helper()
	if address := givenURL(); address != "" {
		return connect(tb, address)
	}
	if hasRedisServer() {
		server, err := shared()
		if err != nil {
			tb.Fatalf("storetest: start redis-server: %v", err)
		}
		return server.Client(tb)
	}
	if required("redis") {
		Require(tb, "redis")
	}
	server, err := sharedEmbedded()
	if err != nil {
		tb.Fatalf("storetest: %v", err)
	}
	client := redis.NewUniversalClient(redisconn.InProcess(server.Dial))
	closeAfter(tb, client)
	return client
}

// URL returns the address of the Redis that [Redis] gives a client of, for programs that take one. It skips the test
// where there is only an embedded one.
func URL(tb testing.TB) string {
	tb.Helper()
	if address := givenURL(); address != "" {
		return address
	}
	if !hasRedisServer() {
		Require(tb, "redis")
	}
	server, err := shared()
	if err != nil {
		tb.Fatalf("storetest: start redis-server: %v", err)
	}
	return server.URL()
}

// Embedded returns a client of an embedded store that only this test knows. It works in a testing/synctest bubble when
// made inside, and follows the bubble's clock.
func Embedded(tb testing.TB) redis.UniversalClient {
	tb.Helper()
	server, err := newEmbedded()
	if err != nil {
		tb.Fatalf("storetest: %v", err)
	}
	tb.Cleanup(func() {
		if err := server.Close(); err != nil {
			tb.Errorf("storetest: %v", err)
		}
	})
	return server.Client()
}

// Prefix returns the first part of every key that a test writes. On a Redis that was there before the tests, what
// begins with it is removed after the test.
func Prefix(tb testing.TB) string {
	tb.Helper()
	prefix := "t" + strings.ToLower(rand.Text()[:12])
	if address := givenURL(); address != "" {
		tb.Cleanup(func() { removeKeys(tb, address, prefix) })
	}
	return prefix
}

// Require ends the test where something that it needs is missing: "redis", "browser" or "data". It is skipped, or
// fails when LEADERBOARD_TEST_REQUIRE lists what is missing.
func Require(tb testing.TB, what string) {
	tb.Helper()
	if required(what) {
		tb.Fatalf("storetest: there is no %s here, and LEADERBOARD_TEST_REQUIRE asks for it", what)
	}
	tb.Skipf("there is no %s here", what)
}

func required(what string) bool {
	return slices.Contains(strings.Split(os.Getenv("LEADERBOARD_TEST_REQUIRE"), ","), what)
}

func givenURL() string { return os.Getenv("LEADERBOARD_TEST_REDIS_URL") }

func hasRedisServer() bool {
	_, err := exec.LookPath("redis-server")
	return err == nil
}

// shared is the redis-server of this process. Nobody stops it: it ends with the process.
var shared = sync.OnceValues(func() (*RedisServer, error) { return startServer(alone) })

// sharedEmbedded stands in where there is no redis-server.
var sharedEmbedded = sync.OnceValues(newEmbedded)

func newEmbedded() (*embedded.Server, error) {
	return embedded.Open("", slog.New(slog.DiscardHandler))
}

// connect returns a client of the Redis at an address, made as the product makes its own, and closes it after the test.
func connect(tb testing.TB, address string) redis.UniversalClient {
	tb.Helper()
	options, err := redisconn.Parse(address)
	if err != nil {
		tb.Fatalf("storetest: the address of the test's Redis %v", err)
	}
	client := redis.NewUniversalClient(options)
	closeAfter(tb, client)
	return client
}

func closeAfter(tb testing.TB, client redis.UniversalClient) {
	tb.Cleanup(func() {
		if err := client.Close(); err != nil {
			tb.Errorf("storetest: close the client: %v", err)
		}
	})
}

// removeKeys takes away what a test left on a Redis that was there before.
func removeKeys(tb testing.TB, address, prefix string) {
	options, err := redisconn.Parse(address)
	if err != nil {
		return // the test has said so
	}
	client := redis.NewUniversalClient(options)
	defer client.Close()
	remove := func(ctx context.Context, node *redis.Client) error {
		keys := node.Scan(ctx, 0, prefix+":*", 1000).Iterator()
		for keys.Next(ctx) {
			if err := node.Unlink(ctx, keys.Val()).Err(); err != nil {
				return err
			}
		}
		return keys.Err()
	}
	ctx := context.Background()
	switch client := client.(type) {
	case *redis.ClusterClient:
		err = client.ForEachMaster(ctx, remove)
	case *redis.Client:
		err = remove(ctx, client)
	}
	if err != nil {
		tb.Logf("storetest: remove the keys of %s: %v", prefix, err)
	}
}

package redisstore_test

import (
	"flag"
	"log/slog"
	"os"
	"testing"

	"leaderboard/store/redisconn"
)

// TestMain lets random histories be fewer than rapid's hundred, unless -rapid.checks says how many: each one is a
// conversation with Redis, and the next run plays others.
func TestMain(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "rapid.checks" })
	if !given {
		if err := flag.Set("rapid.checks", "20"); err != nil {
			panic(err)
		}
	}
	redisconn.LogTo(slog.New(slog.DiscardHandler)) // servers are killed on purpose
	os.Exit(m.Run())
}

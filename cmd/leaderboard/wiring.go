package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/redis/go-redis/v9"

	"leaderboard/store"
	"leaderboard/store/embedded"
	"leaderboard/store/redisconn"
	"leaderboard/store/redisstore"
	"leaderboard/web"
	"leaderboard/web/live"
)

// kept is where the boards are kept.
type kept struct {
	client     redis.UniversalClient
	afterWrite func() // nil: nothing waits for a write
	words      string // for whoever starts the program
	close      func() error
}

// openStore opens the Redis that was named, or the embedded one.
func (c *serveCmd) openStore(ctx context.Context, log *slog.Logger) (kept, error) {
	if c.RedisURL != "" {
		client, err := redisstore.Open(ctx, c.RedisURL, log)
		if err != nil {
			return kept{}, err
		}
		return kept{client: client, words: "Redis at " + whereabouts(c.RedisURL), close: client.Close}, nil
	}
	redisconn.LogTo(log)
	server, err := embedded.Open(c.Data, log)
	if err != nil {
		return kept{}, err
	}
	words := "embedded, in memory only: it ends with this program"
	if c.Data != "" {
		words = "embedded, with a snapshot in " + c.Data + " (fine for ten thousand players; --redis-url for more)"
	}
	return kept{client: server.Client(), afterWrite: server.Changed, words: words, close: server.Close}, nil
}

// whereabouts says where a Redis is, without what opens it.
func whereabouts(address string) string {
	options, err := redisconn.Parse(address)
	if err != nil {
		return "an address that cannot be read" // it was read before
	}
	words := strings.Join(options.Addrs, ", ")
	if options.MasterName != "" {
		words = options.MasterName + " of the Sentinels " + words
	}
	if options.DB != 0 {
		words += fmt.Sprintf(", database %d", options.DB)
	}
	return words
}

// inside is the server behind its listener.
type inside struct {
	app   *fiber.App
	store *redisstore.Store
	close func() error
}

// build puts the server together. Closing it ends what runs in the background, then the store.
func build(kept kept, c *serveCmd, secrets secrets, log *slog.Logger) inside {
	var tops *live.Tops
	boards := redisstore.New(kept.client, redisstore.Options{
		Prefix: c.KeyPrefix, OnceKeep: c.IdempotencyKeep, AfterWrite: kept.afterWrite, Logger: log,
		Wrote: func(id store.BoardID, version, total int64) { tops.Wrote(id, version, total) },
	})
	changes := redisstore.NewChanges(kept.client, redisstore.ChangesOptions{
		Prefix: c.KeyPrefix, Logger: log,
		OnChange: func(change redisstore.Change) { tops.Changed(live.Change(change)) },
		OnGap:    func() { tops.Gap() },
	})
	tops = live.NewTops(boards, changes, log)
	background, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { changes.Run(background) })
	running.Go(func() { tops.Run(background) })
	app := web.New(web.Deps{
		Store: boards, Tops: web.KeptTops(tops), Keys: web.NewFirstKey(secrets.key), Log: log,
		Ping: boards.Ping, Subscribed: changes.Alive,
		Registry: registry(boards), TrustedProxies: c.proxies,
	})
	return inside{app: app, store: boards, close: func() error {
		stop()
		running.Wait()
		return kept.close()
	}}
}

// registry returns the metrics of the process and of the store; package web adds its own.
func registry(boards *redisstore.Store) *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "leaderboard_shared_slots_total",
			Help: "Scores that found every slot of their points taken, so that their order among equals is not exact.",
		}, func() float64 { return float64(boards.SharedSlots()) }),
	)
	return r
}

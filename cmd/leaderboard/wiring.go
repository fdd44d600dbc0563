package main

import (
	"context"
	"errors"
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
	another    func() redis.UniversalClient // makes a client of its own connections, for calls that wait in Redis
	afterWrite func()                       // nil: nothing waits for a write
	restored   bool                         // from a snapshot, which may lack the last second
	words      string                       // for whoever starts the program
	close      func() error
}

// openStore opens the Redis that was named, or the embedded one.
func (c *serveCmd) openStore(ctx context.Context, log *slog.Logger) (kept, error) {
	if c.RedisURL != "" {
		client, err := redisstore.Open(ctx, c.RedisURL, log)
		if err != nil {
			return kept{}, err
		}
		another := func() redis.UniversalClient { return client }
		if options, err := redisconn.Parse(c.RedisURL); err == nil { // it was read before
			another = func() redis.UniversalClient { return redis.NewUniversalClient(options) }
		}
		return kept{client: client, another: another, words: "Redis at " + whereabouts(c.RedisURL), close: client.Close}, nil
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
	return kept{
		client: server.Client(), another: func() redis.UniversalClient { return redis.NewUniversalClient(redisconn.InProcess(server.Dial)) },
		afterWrite: server.Changed, restored: server.Loaded(), words: words, close: server.Close,
	}, nil
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
	app     *fiber.App
	hub     *live.Hub
	store   *redisstore.Store
	workers *team
	close   func() error // when app and hub are
}

// newcomers is how many readers a process lets in each second: after a restart all come back at once, and each needs
// the whole top.
const newcomers = 1000

// build puts the server together. Closing it ends what runs in the background, then the store.
func build(ctx context.Context, kept kept, c *serveCmd, secrets secrets, log *slog.Logger) (inside, error) {
	var tops *live.Tops
	boards := redisstore.New(kept.client, redisstore.Options{
		Prefix: c.KeyPrefix, OnceKeep: c.IdempotencyKeep, AfterWrite: kept.afterWrite, Logger: log,
		Player: c.player,
		Wrote:  func(id store.BoardID, version, total int64) { tops.Wrote(id, version, total) },
	})
	changes := redisstore.NewChanges(kept.client, redisstore.ChangesOptions{
		Prefix: c.KeyPrefix, Logger: log,
		OnChange: func(change redisstore.Change) { tops.Changed(live.Change(change)) },
		OnGap:    func() { tops.Gap() },
	})
	tops = live.NewTops(boards, changes, log)
	if kept.restored { // only now: a season that ended meanwhile is closed by this, which the tops are told
		if err := boards.RenewEpochs(ctx); err != nil {
			return inside{}, errors.Join(err, kept.close())
		}
	}
	metrics := registry(boards)
	tokens, followKeys, err := c.tokens(ctx, boards, log)
	if err != nil {
		return inside{}, errors.Join(err, kept.close())
	}
	hub, err := live.NewHub(tops, boards, live.Options{
		Limits: live.Limits{Readers: c.Readers, PerAddress: c.ReadersPerAddress, PerSecond: newcomers},
		Tokens: tokens.ForSockets(), Inbox: boards, Origins: c.PublicURL, Registerer: metrics, Logger: log,
	})
	if err != nil {
		return inside{}, errors.Join(fmt.Errorf("--public-url: %w", err), kept.close())
	}
	background, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { changes.Run(background) })
	running.Go(func() { tops.Run(background) })
	running.Go(func() { followKeys(background) })
	running.Go(func() { boards.ListenForPlayers(background, hub.News, func() {}) }) // pages look into the inbox themselves
	limiter := redisstore.NewLimiter(boards)
	keys := web.NewStoredKeys(web.KeysOptions{
		First: web.NewFirstKey(secrets.key), Store: boards, Limiter: limiter, Address: c.address, Log: log,
	})
	running.Go(func() { keys.Run(background) })
	app := web.New(web.Deps{
		Store: telling{boards, hub}, Tops: web.KeptTops(tops), Live: hub, Log: log,
		Keys: keys, KeyStore: boards, Audit: boards, Signer: tokens,
		Players: tokens, Inbox: boards, Searches: boards, Jobs: boards, Origins: c.PublicURL,
		Limits: web.Limits{Limiter: limiter, Player: c.player, Key: c.key, Address: c.address},
		Ping:   boards.Ping, Subscribed: changes.Alive, Queue: boards.JobCounts,
		Registry: metrics, TrustedProxies: c.proxies,
		Admin: web.Admin{
			Store: boards, Password: secrets.password, Sessions: redisstore.NewSessions(boards, web.AdminIdle),
			Limits: limiter, Origins: c.PublicURL, Readers: hub.Readers,
		},
	})
	workers := c.startWorkers(boards, kept, metrics, log)
	return inside{app: app, hub: hub, store: boards, workers: workers, close: func() error {
		workers.wait()
		stop()
		running.Wait()
		return kept.close()
	}}, nil
}

// telling is a store that tells the hub who has posted: whoever watches them learns at once where they stand.
type telling struct {
	store.Store
	hub *live.Hub
}

// Submit implements [store.Scores].
func (t telling) Submit(ctx context.Context, board store.BoardID, s store.Submission) (store.Result, error) {
	result, err := t.Store.Submit(ctx, board, s)
	if err == nil {
		t.hub.Posted(board, s.Player)
	}
	return result, err
}

// SubmitBatch implements [store.Scores].
func (t telling) SubmitBatch(
	ctx context.Context, board store.BoardID, submissions []store.Submission, once store.Once,
) (outcomes []store.Outcome, replayed bool, err error) {
	outcomes, replayed, err = t.Store.SubmitBatch(ctx, board, submissions, once)
	for i := range outcomes {
		if outcomes[i].Err == nil {
			t.hub.Posted(board, submissions[i].Player)
		}
	}
	return outcomes, replayed, err
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

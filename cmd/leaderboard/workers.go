package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"leaderboard/store"
	"leaderboard/store/redisstore"
	"leaderboard/web/worker"
)

// workerFlags are the settings of what happens behind the boards.
type workerFlags struct {
	NoWeb        bool     `env:"LEADERBOARD_NO_WEB" help:"Only the workers: seasons end, rewards are paid and webhooks leave, and nobody is listened to. Needs a Redis."`
	NoWorkers    bool     `env:"LEADERBOARD_NO_WORKERS" help:"Only the web side: seasons end, rewards are paid and erasures go on in other processes."`
	WebhookAllow []string `env:"LEADERBOARD_WEBHOOK_ALLOW" placeholder:"CIDR" help:"Private networks that webhooks may reach."`

	networks []netip.Prefix
}

// parse checks the flags, and reads those that are texts.
func (f *workerFlags) parse(c *serveCmd) (err error) {
	switch {
	case f.NoWeb && f.NoWorkers:
		return errors.New("--no-web and --no-workers leave nothing to do")
	case f.NoWeb && c.RedisURL == "":
		return errors.New("--no-web needs --redis-url: nobody else could reach the embedded store")
	case f.NoWeb && c.Demo:
		return errors.New("--no-web leaves nobody for --demo to play with")
	}
	if f.networks, err = worker.ParseNetworks(f.WebhookAllow); err != nil {
		return fmt.Errorf("--%w", err)
	}
	return nil
}

// graceForWorkers is how long jobs and webhooks may go on when the program is told to stop. What is left then is handed
// back, which takes a second or two more.
const graceForWorkers = 5 * time.Second

// team is the workers of this process.
type team struct {
	stop    context.CancelFunc
	running sync.WaitGroup
}

// startWorkers starts the workers, unless there are to be none. They stop claiming when stop is called; wait returns when
// what runs has ended or been handed back.
func (f *workerFlags) startWorkers(boards *redisstore.Store, kept kept, r prometheus.Registerer, log *slog.Logger) *team {
	metrics := worker.NewCounting(r)
	ctx, stop := context.WithCancel(context.Background())
	t := &team{stop: stop}
	if f.NoWorkers {
		t.running.Go(func() { worker.Count(ctx, boards, metrics) })
		return t
	}
	blocking := kept.another()
	outbox := boards.Outbox(blocking)
	pool := worker.NewPool(worker.PoolOptions{
		Queue: boards, Grace: graceForWorkers, Metrics: metrics, Logger: log,
		Handlers: map[string]worker.Handler{
			store.PayoutJob:   worker.PayOut(boards),
			store.RewardJob:   worker.BringReward(boards, outbox),
			store.HoldJob:     worker.CheckHold(boards),
			store.ClosedJob:   worker.TellOfClose(outbox),
			worker.WebhookJob: worker.SendAgain(outbox),
		},
	})
	sender := worker.NewSender(worker.SenderOptions{
		Outbox: outbox, Boards: boards, Jobs: boards, Webhooks: worker.NewWebhooks(f.networks), Grace: graceForWorkers,
		Metrics: metrics, Logger: log,
	})
	end := func(run func(context.Context) error) func() {
		return func() {
			if err := run(ctx); err != nil {
				log.Warn("a worker did not end well", "error", err)
			}
		}
	}
	var sending sync.WaitGroup
	sending.Go(end(sender.Run))
	t.running.Go(func() {
		sending.Wait()
		if err := blocking.Close(); err != nil {
			log.Warn("the connections of the outbox did not close well", "error", err)
		}
	})
	t.running.Go(end(pool.Run))
	t.running.Go(func() { worker.NewRelay(boards, log).Run(ctx) })
	t.running.Go(func() { worker.NewTimer(boards, log).Run(ctx) })
	return t
}

// wait stops the workers and returns when they have ended.
func (t *team) wait() {
	t.stop()
	t.running.Wait()
}

// work is all that a process without a web side does.
func (c *serveCmd) work(ctx context.Context, log *slog.Logger) error {
	kept, err := c.openStore(ctx, log)
	if err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	boards := redisstore.New(kept.client, redisstore.Options{Prefix: c.KeyPrefix, OnceKeep: c.IdempotencyKeep, Logger: log})
	workers := c.startWorkers(boards, kept, prometheus.NewRegistry(), log)
	log.Info("workers only, on " + kept.words)
	<-ctx.Done()
	log.Info("stopping")
	workers.wait()
	if err := kept.close(); err != nil {
		log.Error("the store did not close well", "error", err)
	}
	return nil
}

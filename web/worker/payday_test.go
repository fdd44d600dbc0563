package worker_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"leaderboard/store"
	"leaderboard/store/redisconn"
	"leaderboard/store/redisstore"
	"leaderboard/store/storetest"
	"leaderboard/web/worker"
)

// paymasterChild makes the test program a process that pays rewards, beside [childPrefix].
const paymasterChild = "LEADERBOARD_TEST_PAYMASTER"

// bePaymaster is what a server's workers are, until it is told to stop.
func bePaymaster(address, prefix string) error {
	options, err := redisconn.Parse(address)
	if err != nil {
		return err
	}
	client, blocking := redis.NewUniversalClient(options), redis.NewUniversalClient(options)
	defer client.Close()
	defer blocking.Close()
	s := redisstore.New(client, redisstore.Options{Prefix: prefix})
	outbox := s.Outbox(blocking)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	sender := worker.NewSender(worker.SenderOptions{
		Outbox: outbox, Boards: s, Jobs: s, Webhooks: worker.NewWebhooks(loopback()),
	})
	pool := worker.NewPool(worker.PoolOptions{Queue: s, Handlers: payHandlers(s, s, outbox)})
	var running sync.WaitGroup
	running.Go(func() { worker.NewRelay(s, nil).Run(ctx) })
	var failed error
	running.Go(func() { failed = sender.Run(ctx) })
	err = pool.Run(ctx)
	running.Wait()
	return errors.Join(err, failed)
}

// lineTo is a way to a server that can be cut.
type lineTo struct {
	net.Listener
	server string
	down   atomic.Bool

	mu   sync.Mutex
	open map[net.Conn]bool
}

func newLine(t *testing.T, server string) *lineTo {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &lineTo{Listener: listener, server: server, open: map[net.Conn]bool{}}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() { l.carry(near) })
		}
	})
	t.Cleanup(func() {
		listener.Close()
		l.cut()
		running.Wait()
	})
	return l
}

func (l *lineTo) carry(near net.Conn) {
	defer near.Close()
	if l.down.Load() {
		return
	}
	far, err := net.Dial("tcp", l.server)
	if err != nil {
		return
	}
	defer far.Close()
	l.mu.Lock()
	l.open[near], l.open[far] = true, true
	l.mu.Unlock()
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(near, far)
		near.Close()
	})
	_, _ = io.Copy(far, near)
	far.Close()
	back.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, near)
	delete(l.open, far)
}

// cut ends all connections, and lets none in until mended.
func (l *lineTo) cut() {
	l.down.Store(true)
	l.mu.Lock()
	defer l.mu.Unlock()
	for conn := range l.open {
		conn.Close()
	}
}

func (l *lineTo) mend() { l.down.Store(false) }

// TestEveryRewardArrivesOnceThroughAStorm pays a season while worker processes are killed every second, Redis is cut off
// twice, and the receiver of the webhooks fails a third of the time.
func TestEveryRewardArrivesOnceThroughAStorm(t *testing.T) {
	t.Parallel()
	many, kills, cut, patience := 1_000, 5, time.Second, 90*time.Second
	long := os.Getenv("LEADERBOARD_TEST_LONG") != ""
	if long {
		many, kills, cut, patience = 10_000, 60, 3*time.Second, 30*time.Minute
	}
	server := storetest.Server(t)
	client := server.Client(t)
	p := newPaymaster(bench{redisstore.New(client, redisstore.Options{}), t, client, "lb"})
	rec := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, nth int) {
		if rand.IntN(3) == 0 && (long || nth < 3) {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	p.putWith(func(s *store.Settings) {
		s.Webhook = &store.Webhook{URL: rec.URL, Secret: secret}
		half := int64(many / 2)
		s.Rewards = []store.Reward{ // in parts, so that the storm meets each step of a payout often
			{ID: "first", Ranks: []int64{1, half}},
			{ID: "second", Ranks: []int64{half + 1, int64(many) * 3 / 4}, Delay: time.Second},
			{ID: "third", Ranks: []int64{int64(many)*3/4 + 1, int64(many)}, Delay: time.Duration(kills) * time.Second / 2, Priority: 9},
		}
	})
	p.fill(many)

	line := newLine(t, server.Addr())
	start := func() *child {
		return startChild(t, "lb", paymasterChild+"=1", "LEADERBOARD_REDIS_URL=redis://"+line.Addr().String())
	}
	workers := []*child{start(), start(), start()}
	p.closeSeason(1)
	for i := range kills {
		if i == kills/3 || i == 2*kills/3 {
			line.cut()
			time.Sleep(cut)
			line.mend()
		}
		time.Sleep(time.Second)
		victim := i % len(workers)
		workers[victim].signal(t, syscall.SIGKILL)
		workers[victim] = start()
	}
	eventually(t, patience, "all is paid and told", func() bool {
		counts, err := p.outbox.Counts(t.Context())
		return err == nil && counts.Queued+counts.Sending == 0 && p.quiet()
	})

	missing, doubled, untold := 0, 0, 0
	for i := 1; i <= many; i++ {
		reward := "third"
		switch {
		case i <= many/2:
			reward = "first"
		case i <= many*3/4:
			reward = "second"
		}
		won := p.won(numbered(i))
		switch {
		case len(won) == 0 || won[0] != reward:
			missing++
		case len(won) > 1:
			doubled++
		}
		if rec.times(fmt.Sprintf("reward demo.1.1.1 %s %s", reward, numbered(i))) == 0 {
			untold++
		}
	}
	dead, err := p.outbox.Dead(t.Context(), 0, 1000)
	p.ok(err)
	if missing+doubled+untold > 0 || rec.times("season_closed demo.1.1.1") == 0 {
		t.Errorf("%d rewards are missing, %d came twice, %d were not told; %d events and %v are dead",
			missing, doubled, untold, len(dead), p.dead())
	}
	if c := p.counts(); c.Running != 0 || c.Dead != 0 || !p.season(1).Paid {
		t.Errorf("left are %+v; paid: %v", c, p.season(1).Paid)
	}
}

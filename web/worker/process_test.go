package worker_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strings"
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

// childPrefix makes the test program a worker process instead: it holds the prefix of its keys.
const childPrefix = "LEADERBOARD_TEST_WORKER"

func TestMain(m *testing.M) {
	if prefix := os.Getenv(childPrefix); prefix != "" {
		be := beChild
		if os.Getenv(paymasterChild) != "" {
			be = bePaymaster
		}
		if err := be(os.Getenv("LEADERBOARD_REDIS_URL"), prefix); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// beChild works until it is told to stop, and says on standard output what it does. Its jobs pay a prize: those of the
// kind slow first take a while, whatever their context says.
func beChild(address, prefix string) error {
	options, err := redisconn.Parse(address)
	if err != nil {
		return err
	}
	client := redis.NewUniversalClient(options)
	defer client.Close()
	s := redisstore.New(client, redisstore.Options{Prefix: prefix})
	var says sync.Mutex
	say := func(words ...any) {
		says.Lock()
		defer says.Unlock()
		fmt.Println(words...)
	}
	pay := func(_ context.Context, job store.Delivery) error {
		fresh, err := s.Deliver(context.Background(), prizeOf(job.ID))
		say("paid", job.ID, fresh, err)
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	pool := worker.NewPool(worker.PoolOptions{Queue: s, Handlers: map[string]worker.Handler{
		"quick": pay,
		"slow": func(ctx context.Context, job store.Delivery) error {
			say("began", job.ID)
			time.Sleep(3 * time.Second)
			return pay(ctx, job)
		},
	}})
	sender := worker.NewSender(worker.SenderOptions{
		Outbox: s.Outbox(client), Boards: boards{"demo": os.Getenv("LEADERBOARD_TEST_RECEIVER")}, Jobs: s,
		Webhooks: worker.NewWebhooks(loopback()),
	})
	var running sync.WaitGroup
	running.Go(func() {
		if err := sender.Run(ctx); err != nil {
			say(err)
		}
	})
	err = pool.Run(ctx)
	running.Wait()
	return err
}

func prizeOf(job string) store.Delivered {
	return store.Delivered{Player: "zoe", Job: job, Prize: store.Prize{Board: "demo", Season: 1, Reward: "r", Title: job}}
}

// child is a worker process.
type child struct {
	*exec.Cmd
	said chan string
}

// startChild starts a worker process, which ends with the test.
func startChild(t *testing.T, prefix string, environment ...string) *child {
	t.Helper()
	c := &child{Cmd: exec.Command(os.Args[0]), said: make(chan string, 10_000)}
	c.Env = append(os.Environ(), childPrefix+"="+prefix, "LEADERBOARD_REDIS_URL="+storetest.URL(t))
	c.Env = append(c.Env, environment...)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			c.said <- lines.Text()
		}
	}()
	t.Cleanup(func() {
		_ = c.Process.Kill() // also where it has ended already
		<-read
		_ = c.Wait()
	})
	return c
}

// waitFor returns when the process has said something that begins so.
func (c *child) waitFor(t *testing.T, words string) string {
	t.Helper()
	deadline := time.After(20 * time.Second)
	for {
		select {
		case line := <-c.said:
			if strings.HasPrefix(line, words) {
				return line
			}
		case <-deadline:
			t.Fatalf("the worker did not say %q", words)
		}
	}
}

func (c *child) signal(t *testing.T, s os.Signal) {
	t.Helper()
	if err := c.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// payroll is a queue on the Redis that the children know too.
func payroll(t *testing.T) (bench, *redisstore.Store) {
	t.Helper()
	prefix := storetest.Prefix(t)
	storetest.URL(t) // skips where there is no Redis to share
	client := storetest.Redis(t)
	s := redisstore.New(client, redisstore.Options{Prefix: prefix})
	return bench{s, t, client, prefix}, s
}

func (b bench) prizes() map[string]int {
	b.t.Helper()
	found := map[string]int{}
	for after := int64(0); ; {
		inbox, err := b.Inbox(b.t.Context(), "zoe", after, store.MaxInboxPage)
		if err != nil {
			b.t.Fatal(err)
		}
		for _, prize := range inbox.Prizes {
			found[prize.Title]++
		}
		if after = inbox.Next; after == 0 {
			return found
		}
	}
}

// TestProcessesThatDieOrSleep begins each story, and ends them all: most of their time is that of one lease.
func TestProcessesThatDieOrSleep(t *testing.T) {
	t.Parallel()
	stories := map[string]func(t *testing.T) (end func(t *testing.T)){
		"the job of a killed worker runs again within 15 s":                  aKilledWorker,
		"a worker that slept through its lease neither finishes nor doubles": aSleepingWorker,
		"what a killed sender held is sent by another":                       aKilledSender,
		"nothing is lost or doubled when Redis is killed":                    aKilledRedis,
	}
	ends := map[string]func(t *testing.T){}
	for name, story := range stories {
		ends[name] = story(t)
	}
	for name, end := range ends {
		t.Run(name, end)
	}
}

func aKilledWorker(t *testing.T) func(t *testing.T) {
	b, s := payroll(t)
	first := startChild(t, b.prefix)
	b.add(store.Job{ID: "j", Kind: "slow"})
	first.waitFor(t, "began j")
	first.signal(t, syscall.SIGKILL)
	killed := time.Now()
	ran := make(chan time.Duration, 1)
	stop := b.run(worker.PoolOptions{Handlers: map[string]worker.Handler{
		"slow": func(ctx context.Context, job store.Delivery) error {
			ran <- time.Since(killed)
			_, err := s.Deliver(ctx, prizeOf(job.ID))
			return err
		},
	}})
	return func(t *testing.T) {
		if after := <-ran; after > 15*time.Second {
			t.Errorf("it ran again after %v", after)
		}
		eventually(t, 5*time.Second, "it is done", func() bool { return b.counts().Running == 0 })
		if err := stop(); err != nil {
			t.Error(err)
		}
		if prizes := b.prizes(); prizes["j"] != 1 {
			t.Errorf("paid %v", prizes)
		}
	}
}

func aSleepingWorker(t *testing.T) func(t *testing.T) {
	b, s := payroll(t)
	first := startChild(t, b.prefix)
	b.add(store.Job{ID: "j", Kind: "slow"})
	first.waitFor(t, "began j")
	first.signal(t, syscall.SIGSTOP)
	var ran atomic.Int64
	hold, again := make(chan struct{}), make(chan struct{}, 1)
	stop := b.run(worker.PoolOptions{Handlers: map[string]worker.Handler{
		"slow": func(ctx context.Context, job store.Delivery) error {
			ran.Add(1)
			again <- struct{}{}
			<-hold
			_, err := s.Deliver(ctx, prizeOf(job.ID))
			return err
		},
	}})
	return func(t *testing.T) {
		<-again // the lease has ended, and the job is another's
		first.signal(t, syscall.SIGCONT)
		if said := first.waitFor(t, "paid j"); said != "paid j true <nil>" {
			t.Errorf("the one that woke said %q: it was the first to pay", said)
		}
		// It has told the queue that it is done, or been told that the job is not its own. Either way nothing changed.
		eventually(t, 10*time.Second, "a stale word is counted", func() bool { return b.counts().Stale > 0 })
		if c := b.counts(); c.Running != 1 || ran.Load() != 1 {
			t.Errorf("%+v, run %d times here: the one that woke finished another's delivery", c, ran.Load())
		}
		close(hold)
		eventually(t, 5*time.Second, "it is done", func() bool { return b.counts().Running == 0 })
		if err := stop(); err != nil {
			t.Error(err)
		}
		if prizes := b.prizes(); prizes["j"] != 1 {
			t.Errorf("paid %v", prizes)
		}
	}
}

func aKilledSender(t *testing.T) func(t *testing.T) {
	b, s := payroll(t)
	rec := newReceiver(t, func(_ http.ResponseWriter, r *http.Request, nth int) {
		if nth == 1 {
			<-r.Context().Done() // until the sender is killed
		}
	})
	first := startChild(t, b.prefix, "LEADERBOARD_TEST_RECEIVER="+rec.URL)
	o := office{s, t, s.Outbox(storetest.Redis(t))}
	o.send(eventOf("e"))
	eventually(t, 10*time.Second, "it is on its way", func() bool { return rec.times("e") == 1 })
	first.signal(t, syscall.SIGKILL)
	o.run(worker.SenderOptions{Boards: boards{"demo": rec.URL}})
	return func(t *testing.T) {
		eventually(t, 15*time.Second, "it arrived", func() bool { return rec.times("e") == 2 })
		eventually(t, 5*time.Second, "nothing is left", o.empty)
	}
}

func aKilledRedis(t *testing.T) func(t *testing.T) {
	server := storetest.Server(t, "--appendonly", "yes", "--appendfsync", "always")
	client := server.Client(t)
	s := redisstore.New(client, redisstore.Options{})
	b := bench{s, t, client, "lb"}
	stop := b.run(worker.PoolOptions{Handlers: map[string]worker.Handler{
		"quick": func(ctx context.Context, job store.Delivery) error {
			_, err := s.Deliver(ctx, prizeOf(job.ID))
			return err
		},
	}})
	const many = 1000
	for i := range many {
		b.add(store.Job{ID: fmt.Sprint(i), Kind: "quick", Wait: time.Duration(i) * 2 * time.Millisecond})
	}
	eventually(t, 10*time.Second, "some are done", func() bool { return b.counts().Scheduled < many/2 })
	server.Kill(t)
	server.Restart(t)
	return func(t *testing.T) {
		eventually(t, 20*time.Second, "all are done", func() bool {
			c := b.counts()
			return c.Scheduled+c.Ready+c.Running == 0
		})
		if err := stop(); err != nil {
			t.Error(err)
		}
		prizes := b.prizes()
		for i := range many {
			if prizes[fmt.Sprint(i)] != 1 {
				t.Errorf("%d was paid %d times", i, prizes[fmt.Sprint(i)])
			}
		}
		if c := b.counts(); c.Dead != 0 {
			t.Errorf("%+v", c)
		}
	}
}

// TestNothingIsLostOrDoubledWhileWorkersAreKilled pays rewards while a worker process is killed every second.
func TestNothingIsLostOrDoubledWhileWorkersAreKilled(t *testing.T) {
	t.Parallel()
	many, kills := 3_000, 5
	if os.Getenv("LEADERBOARD_TEST_LONG") != "" {
		many, kills = 100_000, 60
	}
	b, _ := payroll(t)
	var jobs []store.Job
	for i := range many {
		jobs = append(jobs, store.Job{
			ID: fmt.Sprintf("job-%06d", i), Kind: "quick", Priority: i % 10,
			Wait: time.Duration(i*kills*1000/many) * time.Millisecond,
		})
	}
	b.add(jobs...)
	workers := []*child{startChild(t, b.prefix), startChild(t, b.prefix), startChild(t, b.prefix)}
	for i := range kills {
		time.Sleep(time.Second)
		victim := i % len(workers)
		workers[victim].signal(t, syscall.SIGKILL)
		workers[victim] = startChild(t, b.prefix)
	}
	eventually(t, 40*time.Second, "all jobs are done", func() bool {
		c := b.counts()
		return c.Scheduled+c.Ready+c.Running == 0
	})
	prizes := b.prizes()
	for _, job := range jobs {
		if prizes[job.ID] != 1 {
			t.Errorf("%s was paid %d times", job.ID, prizes[job.ID])
		}
	}
	if c := b.counts(); c.Dead != 0 || len(prizes) != many {
		t.Errorf("%d prizes, %+v", len(prizes), c)
	}
}

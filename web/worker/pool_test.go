package worker_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"leaderboard/store"
	"leaderboard/store/redisstore"
	"leaderboard/store/storetest"
	"leaderboard/web/worker"
)

// bench is a job queue in a bubble, and what a test does with it.
type bench struct {
	*redisstore.Store
	t      *testing.T
	client redis.UniversalClient
	prefix string
}

// inBubble runs a test on a fake clock, with the embedded store. A goroutine that outlives the test fails it.
func inBubble(t *testing.T, test func(t *testing.T, b bench)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, prefix := storetest.Embedded(t), storetest.Prefix(t)
		test(t, bench{redisstore.New(client, redisstore.Options{Prefix: prefix}), t, client, prefix})
	})
}

// run starts a pool; the function that it returns stops it.
func (b bench) run(options worker.PoolOptions) (stop func() error) {
	if options.Queue == nil {
		options.Queue = b.Store
	}
	ctx, cancel := context.WithCancel(b.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- worker.NewPool(options).Run(ctx) }()
	return func() error {
		cancel()
		return <-ended
	}
}

func (b bench) ok(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Error(err)
	}
}

func (b bench) add(jobs ...store.Job) {
	b.t.Helper()
	if _, err := b.AddJobs(b.t.Context(), jobs...); err != nil {
		b.t.Fatal(err)
	}
}

func (b bench) counts() store.JobCounts {
	b.t.Helper()
	counts, err := b.JobCounts(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	return counts
}

// dead returns the reasons of the dead jobs, by id.
func (b bench) dead() map[string]string {
	b.t.Helper()
	jobs, err := b.Jobs(b.t.Context(), store.JobDead, 0, 1000)
	if err != nil {
		b.t.Fatal(err)
	}
	reasons := map[string]string{}
	for _, job := range jobs {
		reasons[job.ID] = job.Reason
	}
	return reasons
}

func handlers(handler worker.Handler) map[string]worker.Handler {
	return map[string]worker.Handler{"test": handler}
}

func TestEachJobRunsAtItsTimeAndNeverBefore(t *testing.T) {
	inBubble(t, func(t *testing.T, b bench) {
		const many = 500
		start := time.Now()
		due := map[string]time.Time{}
		var jobs []store.Job
		for i := range many {
			job := store.Job{ID: fmt.Sprint(i), Kind: "test", Due: start.Add(rand.N(time.Minute)).Truncate(time.Millisecond)}
			due[job.ID] = job.Due
			jobs = append(jobs, job)
		}
		var mu sync.Mutex
		var late []time.Duration
		stop := b.run(worker.PoolOptions{Handlers: handlers(func(_ context.Context, job store.Delivery) error {
			mu.Lock()
			defer mu.Unlock()
			late = append(late, time.Since(due[job.ID]))
			return nil
		})})
		for group := range slices.Chunk(jobs, 10) { // the pool sleeps already
			b.add(group...)
		}
		time.Sleep(2 * time.Minute)
		b.ok(stop())
		slices.Sort(late)
		if len(late) != many || late[0] < 0 || late[many-1] > 20*time.Millisecond {
			t.Errorf("%d jobs ran, from %v to %v late", len(late), late[0], late[len(late)-1])
		}
	})
}

func TestPoisonEndsAmongTheDeadWhileOthersGoOn(t *testing.T) {
	inBubble(t, func(t *testing.T, b bench) {
		var done atomic.Int64
		hang := make(chan struct{})
		kinds := map[string]worker.Handler{
			"test":  func(context.Context, store.Delivery) error { done.Add(1); return nil },
			"panic": func(context.Context, store.Delivery) error { panic("at the\ndisco") },
			"exit":  func(context.Context, store.Delivery) error { runtime.Goexit(); return nil },
			"fail":  func(context.Context, store.Delivery) error { return errors.New("no luck") },
			"hang":  func(context.Context, store.Delivery) error { <-hang; return nil },
			"obey":  func(ctx context.Context, _ store.Delivery) error { <-ctx.Done(); return ctx.Err() },
			"final": func(context.Context, store.Delivery) error { return worker.Final(errors.New("broken JSON")) },
		}
		want := map[string]string{
			"panic": "panic: at the disco", "exit": "the handler ended its goroutine", "fail": "no luck",
			"hang": "it ran for more than 30s",
			"obey": "it ran for more than 30s: context deadline exceeded",
			// These two die of the first delivery, the others of the last.
			"final": "broken JSON", "nobody": `there is no handler of the kind "nobody"`,
		}
		for kind := range want {
			b.add(store.Job{ID: kind, Kind: kind})
			if kind != "final" && kind != "nobody" {
				b.ok(b.client.HSet(t.Context(), b.prefix+":{jobs}:deliveries", kind, store.MaxDeliveries-1).Err())
			}
		}
		const many = 100
		for i := range many {
			b.add(store.Job{ID: fmt.Sprint(i), Kind: "test", Priority: 9, Due: time.Now().Add(time.Duration(i) * time.Second / 2)})
		}
		stop := b.run(worker.PoolOptions{Workers: 4, Handlers: kinds})
		time.Sleep(time.Minute)
		got := b.dead()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the dead and why: want −, got +\n%s", diff)
		}
		if done.Load() != many {
			t.Errorf("%d done, want %d", done.Load(), many)
		}
		close(hang)
		b.ok(stop())
	})
}

func TestAFailureMayAskForAWait(t *testing.T) {
	inBubble(t, func(t *testing.T, b bench) {
		stop := b.run(worker.PoolOptions{Handlers: handlers(func(context.Context, store.Delivery) error {
			return worker.After(time.Hour, errors.New("busy"))
		})})
		b.add(store.Job{ID: "j", Kind: "test"})
		began := time.Now()
		time.Sleep(time.Second)
		b.ok(stop())
		job, err := b.Job(t.Context(), "j")
		if err != nil || job.Due.Sub(began) < time.Hour || job.Failures != 1 {
			t.Errorf("got %+v (%v), want it due in an hour", job, err)
		}
	})
}

func TestAHangingHandlerLosesItsJobAndKeepsItsWorker(t *testing.T) {
	inBubble(t, func(t *testing.T, b bench) {
		release, began := make(chan struct{}), time.Now()
		var hung, other atomic.Int64
		stop := b.run(worker.PoolOptions{Workers: 1, Handlers: map[string]worker.Handler{
			"hang": func(context.Context, store.Delivery) error { hung.Add(1); <-release; return nil },
			"test": func(context.Context, store.Delivery) error { other.Add(1); return nil },
		}})
		b.add(store.Job{ID: "hang", Kind: "hang"}, store.Job{ID: "other", Kind: "test", Priority: 9})
		time.Sleep(29 * time.Second)
		if c := b.counts(); c.Running != 1 {
			t.Errorf("after 29 s: %+v", c)
		}
		time.Sleep(3 * time.Second)
		if c := b.counts(); c.Running != 0 || c.Ready+c.Scheduled != 2 || other.Load() != 0 {
			t.Errorf("after %v: %+v, want the job back in the queue and its worker taken", time.Since(began), c)
		}
		job, err := b.Job(t.Context(), "hang")
		if err != nil || !strings.Contains(job.Reason, "more than 30s") {
			t.Errorf("got %+v (%v)", job, err)
		}
		close(release) // from here on it returns at once
		time.Sleep(time.Minute)
		if c := b.counts(); hung.Load() != 2 || other.Load() != 1 || c.Ready+c.Scheduled+c.Running+c.Dead != 0 {
			t.Errorf("hung %d, others %d, %+v: want both done", hung.Load(), other.Load(), c)
		}
		b.ok(stop())
	})
}

func TestALongJobKeepsItsLease(t *testing.T) {
	inBubble(t, func(t *testing.T, b bench) {
		var began atomic.Int64
		options := worker.PoolOptions{Handlers: handlers(func(context.Context, store.Delivery) error {
			began.Add(1)
			// Not a whole second: at the very moment of a look the job may be finished before the look extends it, which
			// has no effect and counts as stale.
			time.Sleep(28500 * time.Millisecond)
			return nil
		})}
		stopOne, stopOther := b.run(options), b.run(options)
		b.add(store.Job{ID: "long", Kind: "test"})
		time.Sleep(time.Minute)
		b.ok(stopOne())
		b.ok(stopOther())
		if c := b.counts(); began.Load() != 1 || c.TakenBack != 0 || c.Stale != 0 {
			t.Errorf("began %d times, %+v", began.Load(), c)
		}
	})
}

func TestAJobThatIsDiscardedIsTakenFromItsHandler(t *testing.T) {
	inBubble(t, func(t *testing.T, b bench) {
		var why error
		stop := b.run(worker.PoolOptions{Handlers: handlers(func(ctx context.Context, _ store.Delivery) error {
			<-ctx.Done()
			why = context.Cause(ctx)
			return nil // whatever it says, the job is gone
		})})
		b.add(store.Job{ID: "j", Kind: "test"})
		time.Sleep(time.Second)
		b.ok(b.DiscardJob(t.Context(), "j"))
		time.Sleep(5 * time.Second)
		b.ok(stop())
		if why == nil || !strings.Contains(why.Error(), "no longer this worker's") {
			t.Errorf("its context ended because %v", why)
		}
	})
}

func TestAStoppedPoolFinishesWhatRunsAndTakesNothingMore(t *testing.T) {
	inBubble(t, func(t *testing.T, b bench) {
		var done atomic.Int64
		stop := b.run(worker.PoolOptions{Workers: 2, Handlers: handlers(func(context.Context, store.Delivery) error {
			time.Sleep(4 * time.Second)
			done.Add(1)
			return nil
		})})
		for i := range 10 {
			b.add(store.Job{ID: fmt.Sprint(i), Kind: "test"})
		}
		time.Sleep(time.Second)
		began := time.Now()
		b.ok(stop())
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("stopping took %v, want the three seconds that the handlers still needed", took)
		}
		if c := b.counts(); done.Load() != 2 || c.Running != 0 || c.Ready != 8 {
			t.Errorf("%d done, %+v: want two done and eight left", done.Load(), c)
		}
	})
}

func TestAStoppedPoolHandsBackWhatDoesNotEndInTime(t *testing.T) {
	inBubble(t, func(t *testing.T, b bench) {
		stop := b.run(worker.PoolOptions{Handlers: handlers(func(ctx context.Context, _ store.Delivery) error {
			<-ctx.Done()
			return ctx.Err()
		})})
		b.add(store.Job{ID: "a", Kind: "test"}, store.Job{ID: "b", Kind: "test"})
		time.Sleep(time.Second)
		began := time.Now()
		b.ok(stop())
		if took := time.Since(began); took > 6*time.Second {
			t.Errorf("stopping took %v", took)
		}
		for _, id := range []string{"a", "b"} {
			job, err := b.Job(t.Context(), id)
			if err != nil || job.State != store.JobReady || job.Deliveries != 0 || job.Reason != "" {
				t.Errorf("got %+v (%v), want it ready with nothing counted", job, err)
			}
		}
	})
}

func TestAPoolDoesNotWaitForEverForAHandler(t *testing.T) {
	inBubble(t, func(t *testing.T, b bench) {
		release := make(chan struct{})
		stop := b.run(worker.PoolOptions{Handlers: handlers(func(context.Context, store.Delivery) error { <-release; return nil })})
		b.add(store.Job{ID: "j", Kind: "test"})
		time.Sleep(time.Second)
		began := time.Now()
		if err := stop(); err == nil || time.Since(began) > 8*time.Second {
			t.Errorf("stopped after %v with %v, want an error within 8 s", time.Since(began), err)
		}
		if c := b.counts(); c.Ready != 1 {
			t.Errorf("got %+v, want the job handed back", c)
		}
		close(release)
		synctest.Wait()
	})
}

func TestAJobThatGoesOnLaterIsNotCounted(t *testing.T) {
	inBubble(t, func(t *testing.T, b bench) {
		var times []time.Time
		stop := b.run(worker.PoolOptions{Handlers: handlers(func(_ context.Context, job store.Delivery) error {
			times = append(times, time.Now())
			if job.Number != 1 {
				t.Errorf("delivery %d", job.Number)
			}
			if len(times) < 20 {
				return worker.Later(time.Second)
			}
			return nil
		})})
		b.add(store.Job{ID: "j", Kind: "test"})
		time.Sleep(time.Minute)
		b.ok(stop())
		if n := len(times); n != 20 || times[19].Sub(times[0]) < 19*time.Second {
			t.Errorf("ran %d times from %v to %v, want 20 times a second apart", n, times[0], times[n-1])
		}
	})
}

// away is a queue that loses calls or their replies while it is told to.
type away struct {
	*redisstore.Store
	calls, replies atomic.Bool
}

func (a *away) ClaimJobs(ctx context.Context, claim store.Claim) (store.Claimed, error) {
	if a.calls.Load() {
		return store.Claimed{}, store.ErrUnavailable
	}
	claimed, err := a.Store.ClaimJobs(ctx, claim)
	if a.replies.Load() {
		return store.Claimed{}, store.ErrUnavailable
	}
	return claimed, err
}

func TestWhatIsDoneWhileTheStoreIsAwayIsToldLater(t *testing.T) {
	inBubble(t, func(t *testing.T, b bench) {
		queue := &away{Store: b.Store}
		var began atomic.Int64
		stop := b.run(worker.PoolOptions{Queue: queue, Handlers: handlers(func(context.Context, store.Delivery) error {
			began.Add(1)
			time.Sleep(time.Second)
			return nil
		})})
		b.add(store.Job{ID: "j", Kind: "test"})
		time.Sleep(time.Second / 2)
		queue.calls.Store(true)
		time.Sleep(5 * time.Second)
		queue.calls.Store(false)
		time.Sleep(2 * time.Second)
		if c := b.counts(); began.Load() != 1 || c.Running != 0 {
			t.Errorf("began %d times, %+v: want it done", began.Load(), c)
		}
		b.ok(stop())
	})
}

func TestJobsWhoseHandingOutGotLostRunWithinFifteenSeconds(t *testing.T) {
	inBubble(t, func(t *testing.T, b bench) {
		queue := &away{Store: b.Store}
		var ran []time.Time
		stop := b.run(worker.PoolOptions{Queue: queue, Handlers: handlers(func(context.Context, store.Delivery) error {
			ran = append(ran, time.Now())
			return nil
		})})
		time.Sleep(time.Second)
		queue.replies.Store(true)
		b.add(store.Job{ID: "j", Kind: "test"})
		added := time.Now()
		time.Sleep(2 * time.Second)
		queue.replies.Store(false)
		time.Sleep(time.Minute)
		b.ok(stop())
		if len(ran) != 1 || ran[0].Sub(added) > 15*time.Second {
			t.Errorf("ran at %v, added at %v", ran, added)
		}
	})
}

// heard is what the metrics were told.
type heard struct {
	worker.NoMetrics
	mu       sync.Mutex
	outcomes map[string]int
	counts   []store.JobCounts
}

func (h *heard) JobEnded(kind string, outcome worker.Outcome, _ time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.outcomes[kind+" "+string(outcome)]++
}

func (h *heard) Queue(counts store.JobCounts) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.counts = append(h.counts, counts)
}

func TestTheMetricsHearHowItGoes(t *testing.T) {
	inBubble(t, func(t *testing.T, b bench) {
		metrics := &heard{outcomes: map[string]int{}}
		stop := b.run(worker.PoolOptions{Metrics: metrics, Handlers: handlers(func(_ context.Context, job store.Delivery) error {
			switch job.ID {
			case "dead":
				return worker.Final(errors.New("x"))
			case "failed":
				return errors.New("x")
			case "later":
				return worker.Later(time.Hour)
			}
			return nil
		})})
		for _, id := range []string{"done", "dead", "failed", "later"} {
			b.add(store.Job{ID: id, Kind: "test"})
		}
		b.add(store.Job{ID: "j", Kind: "whatever"})
		time.Sleep(900 * time.Millisecond)
		metrics.mu.Lock()
		for _, key := range []string{"test done", "test dead", "test failed", "test later", "unknown dead"} {
			if metrics.outcomes[key] != 1 {
				t.Errorf("%s: %d, want 1; all: %v", key, metrics.outcomes[key], metrics.outcomes)
			}
		}
		metrics.mu.Unlock()
		time.Sleep(10 * time.Second)
		b.ok(stop())
		if last := metrics.counts[len(metrics.counts)-1]; last.Dead != 2 || last.Scheduled == 0 {
			t.Errorf("counts %+v", last)
		}
	})
}

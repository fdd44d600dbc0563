package worker_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/store"
	"leaderboard/store/redisstore"
	"leaderboard/store/storetest"
	"leaderboard/web/worker"
)

// workOff runs pools until so many jobs are done.
func workOff(b *testing.B, s *redisstore.Store, pools, jobs int, handler func(job store.Delivery)) {
	b.Helper()
	ctx, stop := context.WithCancel(b.Context())
	defer stop()
	var left atomic.Int64
	left.Store(int64(jobs))
	var running sync.WaitGroup
	for range pools {
		pool := worker.NewPool(worker.PoolOptions{Queue: s, Handlers: handlers(func(_ context.Context, job store.Delivery) error {
			handler(job)
			if left.Add(-1) == 0 {
				stop()
			}
			return nil
		})})
		running.Go(func() {
			if err := pool.Run(ctx); err != nil {
				b.Error(err)
			}
		})
	}
	running.Wait()
}

// BenchmarkPool measures jobs that are claimed, handled and done, with handlers that do nothing. One operation is one
// job; adding them is not measured.
func BenchmarkPool(b *testing.B) {
	for _, pools := range []int{1, 2} {
		b.Run("pools="+strconv.Itoa(pools), func(b *testing.B) {
			s := redisstore.New(storetest.Redis(b), redisstore.Options{Prefix: storetest.Prefix(b)})
			jobs := make([]store.Job, b.N)
			for i := range jobs {
				jobs[i] = store.Job{ID: "pay demo.1 3.1 gold player-" + strconv.Itoa(i), Kind: "test", Payload: []byte(`{"player":"zoe"}`)}
			}
			if _, err := s.AddJobs(b.Context(), jobs...); err != nil {
				b.Fatal(err)
			}
			b.ResetTimer()
			workOff(b, s, pools, b.N, func(store.Delivery) {})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
		})
	}
}

// BenchmarkLateness measures how late delayed jobs begin that are due at random times, a thousand a second. Both clocks
// are this machine's. Run it with -benchtime=5000x.
func BenchmarkLateness(b *testing.B) {
	s := redisstore.New(storetest.Redis(b), redisstore.Options{Prefix: storetest.Prefix(b)})
	start := time.Now().Add(500 * time.Millisecond)
	due := make(map[string]time.Time, b.N)
	jobs := make([]store.Job, b.N)
	for i := range jobs {
		at := start.Add(rand.N(time.Duration(b.N) * time.Millisecond)).Truncate(time.Millisecond)
		jobs[i] = store.Job{ID: fmt.Sprint(i), Kind: "test", Due: at}
		due[jobs[i].ID] = at
	}
	if _, err := s.AddJobs(b.Context(), jobs...); err != nil {
		b.Fatal(err)
	}
	var mu sync.Mutex
	var late []time.Duration
	workOff(b, s, 2, b.N, func(job store.Delivery) {
		took := time.Since(due[job.ID])
		mu.Lock()
		late = append(late, took)
		mu.Unlock()
	})
	slices.Sort(late)
	if late[0] < 0 {
		b.Errorf("a job came %v early", -late[0])
	}
	ms := func(share float64) float64 {
		return float64(late[int(share*float64(len(late)-1))].Microseconds()) / 1000
	}
	b.ReportMetric(ms(0.5), "p50-ms")
	b.ReportMetric(ms(0.99), "p99-ms")
	b.ReportMetric(ms(1), "max-ms")
}

package redisstore_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"leaderboard/store"
	"leaderboard/store/redisstore"
	"leaderboard/store/storetest"
)

func TestAPlayersLimitIsExact(t *testing.T) {
	t.Parallel()
	client, prefix := storetest.Redis(t), storetest.Prefix(t)
	boards := 0
	rapid.Check(t, func(rt *rapid.T) {
		clock := storetest.NewClock()
		limit := store.Limit{
			Count: rapid.SampledFrom([]int{1, 2, 3, 10, 128}).Draw(rt, "count"), Window: 10 * time.Second,
		}
		options := redisstore.Options{Prefix: prefix, Clock: clock.Now, Player: limit}
		processes := []*redisstore.Store{redisstore.New(client, options), redisstore.New(client, options)}
		boards++
		board := store.BoardID(fmt.Sprint("b", boards))
		if _, _, err := processes[0].PutBoard(t.Context(), board, func(*store.Settings) error { return nil }); err != nil {
			rt.Fatalf("board: %v", err)
		}

		var allowed []time.Time
		for i := range rapid.IntRange(1, 3*limit.Count+3).Draw(rt, "arrivals") {
			most := 2 * limit.Window.Milliseconds() / int64(limit.Count)
			now := clock.Step(time.Duration(rapid.Int64Range(0, most).Draw(rt, "ms")) * time.Millisecond)
			_, err := processes[i%2].Submit(t.Context(), board, store.Submission{Player: "p", Points: store.Whole(1)})
			wait := time.Duration(0)
			if n := len(allowed) - limit.Count; n >= 0 {
				wait = allowed[n].Add(limit.Window).Sub(now)
			}
			refused, isLimit := errors.AsType[*store.LimitError](err)
			switch {
			case wait <= 0 && err == nil:
				allowed = append(allowed, now)
			case wait <= 0:
				rt.Fatalf("arrival %d: got %v, though there was room", i, err)
			case !isLimit || refused.RetryAfter != wait:
				rt.Fatalf("arrival %d: got %v (%+v), want to wait %v", i, err, refused, wait)
			}
		}
	})
}

func TestALimitIsOfOnePlayerOnOneBoard(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	s := redisstore.New(storetest.Redis(t), redisstore.Options{
		Prefix: storetest.Prefix(t), Clock: clock.Now, Player: store.Limit{Count: 2, Window: time.Second},
	})
	for _, board := range []store.BoardID{"a", "b"} {
		if _, _, err := s.PutBoard(t.Context(), board, func(*store.Settings) error { return nil }); err != nil {
			t.Fatal(err)
		}
		for _, player := range []store.PlayerID{"p", "q", "p:q"} {
			submission := store.Submission{Player: player, Points: store.Whole(1)}
			outcomes, _, err := s.SubmitBatch(t.Context(), board, []store.Submission{submission, submission, submission}, store.Once{})
			if err != nil {
				t.Fatal(err)
			}
			_, limited := errors.AsType[*store.LimitError](outcomes[2].Err)
			if outcomes[0].Err != nil || outcomes[1].Err != nil || !limited {
				t.Errorf("%s on %s: got %v, want the third refused", player, board, outcomes)
			}
		}
	}
	kept := store.Submission{Player: "r", Points: store.Whole(1), Once: store.Once{Key: "k", Fingerprint: "f"}}
	for range 5 {
		if _, err := s.Submit(t.Context(), "a", kept); err != nil {
			t.Errorf("a repeat counts against the limit: %v", err)
		}
	}
}

func TestAPlayersLargeLimitIsEstimated(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	s := redisstore.New(storetest.Redis(t), redisstore.Options{
		Prefix: storetest.Prefix(t), Clock: clock.Now, Player: store.Limit{Count: 200, Window: 10 * time.Second},
	})
	if _, _, err := s.PutBoard(t.Context(), "demo", func(*store.Settings) error { return nil }); err != nil {
		t.Fatal(err)
	}
	clock.Set(clock.Now().Truncate(10 * time.Second))
	// What was counted in the window before fades evenly: after 2 s of the next there is room for a fifth again.
	for _, tt := range []struct {
		step time.Duration
		want int
	}{{0, 200}, {9 * time.Second, 0}, {3 * time.Second, 40}, {5 * time.Second, 100}, {20 * time.Second, 200}} {
		clock.Step(tt.step)
		for n := 0; ; n++ {
			_, err := s.Submit(t.Context(), "demo", store.Submission{Player: "p", Points: store.Whole(1)})
			if err == nil {
				continue
			}
			refused, isLimit := errors.AsType[*store.LimitError](err)
			if !isLimit || n != tt.want || refused.RetryAfter <= 0 {
				t.Fatalf("after %v more: got %d and %v (%+v), want %d", tt.step, n, err, refused, tt.want)
			}
			break
		}
	}
}

func TestWhoWaitsAsLongAsToldFindsRoom(t *testing.T) {
	t.Parallel()
	client, prefix := storetest.Redis(t), storetest.Prefix(t)
	boards := 0
	rapid.Check(t, func(rt *rapid.T) {
		clock := storetest.NewClock()
		limit := store.Limit{Count: rapid.IntRange(129, 400).Draw(rt, "count"), Window: 7 * time.Second}
		s := redisstore.New(client, redisstore.Options{Prefix: prefix, Clock: clock.Now, Player: limit})
		boards++
		board := store.BoardID(fmt.Sprint("b", boards))
		if _, _, err := s.PutBoard(t.Context(), board, func(*store.Settings) error { return nil }); err != nil {
			rt.Fatalf("board: %v", err)
		}
		for range 8 {
			clock.Step(time.Duration(rapid.IntRange(0, 9000).Draw(rt, "ms")) * time.Millisecond)
			burst := make([]store.Submission, rapid.IntRange(1, 500).Draw(rt, "burst"))
			for i := range burst {
				burst[i] = store.Submission{Player: "p", Points: store.Whole(1)}
			}
			outcomes, _, err := s.SubmitBatch(t.Context(), board, burst, store.Once{})
			if err != nil {
				rt.Fatalf("burst: %v", err)
			}
			refused, isLimit := errors.AsType[*store.LimitError](outcomes[len(burst)-1].Err)
			if !isLimit {
				continue
			}
			for _, early := range []time.Duration{time.Millisecond, 0} {
				now := clock.Now()
				clock.Step(refused.RetryAfter - early)
				_, err := s.Submit(t.Context(), board, store.Submission{Player: "p", Points: store.Whole(1)})
				if (err == nil) != (early == 0) {
					rt.Fatalf("after waiting %v of %v: %v", refused.RetryAfter-early, refused.RetryAfter, err)
				}
				if early > 0 {
					clock.Set(now)
				}
			}
		}
	})
}

func TestProcessesTogetherNeverExceedALimit(t *testing.T) {
	t.Parallel()
	for _, count := range []int{1, 5, 50, 1000} {
		clock := storetest.NewClock() // stands still: all is one window
		limit := store.Limit{Count: count, Window: 10 * time.Second}
		options := redisstore.Options{Prefix: storetest.Prefix(t), Clock: clock.Now}
		client := storetest.Redis(t)
		var allowed atomic.Int64
		var callers sync.WaitGroup
		for range 3 {
			limiter := redisstore.NewLimiter(redisstore.New(client, options))
			for range 4 {
				callers.Go(func() {
					for range count {
						quota, err := limiter.Take(t.Context(), "key", limit)
						switch {
						case err != nil:
							t.Errorf("take: %v", err)
						case quota.Allowed:
							allowed.Add(1)
						case quota.RetryAfter <= 0 || quota.Left != 0:
							t.Errorf("limit of %d: refused with %+v, want a time to wait", count, quota)
						}
					}
				})
			}
		}
		callers.Wait()
		if got := int(allowed.Load()); got > count || got < count-2*max(count/10, 1) || count < 20 && got != count {
			t.Errorf("got %d calls allowed, want the limit of %d but for what leases leave unused", got, count)
		}
	}
}

func TestWhoCallsNowAndThenHasTheWholeLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limit := store.Limit{Count: 30, Window: 10 * time.Second}
		client := storetest.Embedded(t)
		var processes []*redisstore.Limiter
		for range 4 {
			processes = append(processes, redisstore.NewLimiter(redisstore.New(client, redisstore.Options{})))
		}
		// Twenty-four calls in ten seconds, each long after the one before: what is drawn and not used comes back.
		for i := range 120 {
			quota, err := processes[i%len(processes)].Take(t.Context(), "key", limit)
			if err != nil || !quota.Allowed {
				t.Fatalf("call %d: got %+v, %v, want it allowed", i, quota, err)
			}
			time.Sleep(10 * time.Second / 24)
		}
	})
}

func TestABusyCallerDrawsSeldom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		draws := 0
		s := redisstore.New(storetest.Embedded(t), redisstore.Options{AfterWrite: func() { draws++ }})
		limiter := redisstore.NewLimiter(s)
		for i := range 5000 {
			quota, err := limiter.Take(t.Context(), "key", store.Limit{Count: 6000, Window: time.Second})
			if err != nil || !quota.Allowed {
				t.Fatalf("call %d: got %+v, %v, want it allowed", i, quota, err)
			}
		}
		if draws > 20 {
			t.Errorf("5000 calls at once took %d draws, want 20 at most", draws)
		}
	})
}

func TestTheEstimateLetsInLessThanTwiceTheLimit(t *testing.T) {
	t.Parallel()
	const count = 50
	limit := store.Limit{Count: count, Window: 10 * time.Second}
	rapid.Check(t, func(rt *rapid.T) {
		pauses := rapid.SliceOfN(rapid.SampledFrom([]time.Duration{
			0, 0, 0, time.Millisecond, 50 * time.Millisecond, 400 * time.Millisecond, 9 * time.Second,
		}), 1, 400).Draw(rt, "pauses")
		synctest.Test(t, func(t *testing.T) {
			client := storetest.Embedded(t)
			var processes []*redisstore.Limiter
			for range 2 {
				processes = append(processes, redisstore.NewLimiter(redisstore.New(client, redisstore.Options{})))
			}
			var allowed []time.Time
			for i, pause := range pauses {
				time.Sleep(pause)
				quota, err := processes[i%2].Take(t.Context(), "key", limit)
				if err != nil {
					rt.Fatalf("call %d: %v", i, err)
				}
				if !quota.Allowed {
					continue
				}
				allowed = append(allowed, time.Now())
				if n := len(allowed) - 2*count; n >= 0 && time.Since(allowed[n]) < limit.Window {
					rt.Fatalf("call %d: twice the limit since %v", i, allowed[n])
				}
			}
		})
	})
}

package redisstore_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"leaderboard/store"
	"leaderboard/store/redisstore"
	"leaderboard/store/storetest"
)

// limitKinds are the Redises that limits are kept on.
var limitKinds = map[string]func(t *testing.T) redis.UniversalClient{
	"redis":    func(t *testing.T) redis.UniversalClient { return storetest.Redis(t) },
	"embedded": func(t *testing.T) redis.UniversalClient { return storetest.Embedded(t) },
}

// arrivals yields pauses between calls: now a crowd, now hardly anybody, now exactly a window later or just before, and
// now at the very end of a window.
func arrivals(random *rand.Rand, now time.Time, window time.Duration, count int) time.Duration {
	mean := window / time.Duration(count)
	switch random.IntN(20) {
	case 0:
		return window
	case 1:
		return window - time.Millisecond
	case 2:
		return time.Duration(random.Int64N(int64(2 * window))).Truncate(time.Millisecond)
	case 3:
		return now.Truncate(window).Add(window - time.Millisecond).Sub(now)
	case 4, 5, 6, 7, 8, 9:
		return 0
	}
	return time.Duration(random.Int64N(int64(2 * mean))).Truncate(time.Millisecond)
}

func TestAnExactLimitHoldsInEveryWindowAndRefusesNobodyForNothing(t *testing.T) {
	t.Parallel()
	for name, connect := range limitKinds {
		for _, count := range []int{1, 7, 128} {
			t.Run(fmt.Sprint(count, " on ", name), func(t *testing.T) {
				t.Parallel()
				window := 60 * time.Second // longer than the test: Redis counts a key's life by its own clock
				processes, clock := limited(t, connect(t), store.Limit{Count: count, Window: window})
				random := rand.New(rand.NewPCG(uint64(count), 4))
				var allowed []time.Time
				for i := range 6*count + 60 {
					now := clock.Step(arrivals(random, clock.Now(), window, count))
					_, err := processes[random.IntN(3)].Submit(t.Context(), "demo", store.Submission{Player: "p", Points: store.Whole(1)})
					room := len(allowed) < count || now.Sub(allowed[len(allowed)-count]) >= window
					_, refused := errors.AsType[*store.LimitError](err)
					if err != nil && !refused {
						t.Fatal(err)
					}
					if refused == room {
						t.Fatalf("limit of %d, arrival %d: refused %v, though there was room: %v", count, i, refused, room)
					}
					if !refused {
						allowed = append(allowed, now)
					}
				}
				if got := busiest(allowed, window); got > count {
					t.Errorf("a window holds %d, want %d at most", got, count)
				}
			})
		}
	}
}

// limited returns three processes with a board where the player's limit is in force.
func limited(t *testing.T, client redis.UniversalClient, limit store.Limit) ([3]*redisstore.Store, *storetest.Clock) {
	t.Helper()
	clock := storetest.NewClock()
	options := redisstore.Options{Prefix: storetest.Prefix(t), Clock: clock.Now, Player: limit}
	var processes [3]*redisstore.Store
	for i := range processes {
		processes[i] = redisstore.New(client, options)
	}
	if _, _, err := processes[0].PutBoard(t.Context(), "demo", func(*store.Settings) error { return nil }); err != nil {
		t.Fatal(err)
	}
	return processes, clock
}

// busiest returns how many times lie in one half-open window at most, wherever it begins.
func busiest(times []time.Time, window time.Duration) int {
	most, first := 0, 0
	for i, at := range times {
		for at.Sub(times[first]) >= window {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}

func TestHistoryAndWhatAnAdminAcceptsIsNotLimited(t *testing.T) {
	t.Parallel()
	processes, clock := limited(t, storetest.Redis(t), store.Limit{Count: 2, Window: time.Minute})
	past := clock.Step(time.Hour).Add(-time.Minute)
	for i := range int64(5) {
		for _, s := range []store.Submission{{AchievedAt: past}, {Slot: i, HasSlot: true}} {
			s.Player, s.Points = "p", store.Whole(i)
			if _, err := processes[i%3].Submit(t.Context(), "demo", s); err != nil {
				t.Fatalf("backdated submission %d: %v", i, err)
			}
		}
	}
	for i := range 3 {
		_, err := processes[i].Submit(t.Context(), "demo", store.Submission{Player: "p", Points: store.Whole(100)})
		if _, refused := errors.AsType[*store.LimitError](err); refused != (i == 2) {
			t.Errorf("submission %d after the history: got %v, want the third refused", i, err)
		}
	}
}

// TestTheEstimateIsAsFarOffAsItsDescriptionSays shows the numbers that stand above [redisstore.Limiter]: no aligned window
// holds more than the limit; others hold a tenth more when calls come evenly at random, and less than twice the limit
// when they come at the worst of times.
func TestTheEstimateIsAsFarOffAsItsDescriptionSays(t *testing.T) {
	t.Parallel()
	const count, window = 200, 60 * time.Second
	evenly := func(load float64) func(*rand.Rand, int, time.Time) time.Duration {
		return func(random *rand.Rand, _ int, _ time.Time) time.Duration {
			return time.Duration(random.ExpFloat64() * float64(window) / count / load).Truncate(time.Millisecond)
		}
	}
	// Now and then, after two quiet windows, all come in the last instant of one, and then as soon as there is room.
	worst := func(_ *rand.Rand, n int, now time.Time) time.Duration {
		switch n %= 5 * count; {
		case n == 0:
			return now.Truncate(window).Add(3*window - time.Millisecond).Sub(now)
		case n < 2*count:
			return 0
		}
		return window / count / 2
	}
	for name, tt := range map[string]struct {
		pause   func(random *rand.Rand, n int, now time.Time) time.Duration
		least   int // of the busiest window: the test reaches what it is about
		most    int
		arrives int
	}{
		"half of what is allowed":  {evenly(0.5), 0, count, 3 * count},
		"as much as is allowed":    {evenly(1), count * 9 / 10, count * 11 / 10, 8 * count},
		"thrice what is allowed":   {evenly(3), count * 9 / 10, count * 11 / 10, 12 * count},
		"bursts before a boundary": {worst, count * 19 / 10, 2*count - 1, 10 * count},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			processes, clock := limited(t, storetest.Redis(t), store.Limit{Count: count, Window: window})
			clock.Set(clock.Now().Truncate(3 * window))
			random := rand.New(rand.NewPCG(uint64(tt.arrives), 7))
			var allowed []time.Time
			for n := range tt.arrives {
				now := clock.Step(tt.pause(random, n, clock.Now()))
				_, err := processes[random.IntN(3)].Submit(t.Context(), "demo", store.Submission{Player: "p", Points: store.Whole(1)})
				if _, refused := errors.AsType[*store.LimitError](err); err != nil && !refused {
					t.Fatal(err)
				} else if !refused {
					allowed = append(allowed, now)
				}
			}
			got := busiest(allowed, window)
			t.Logf("%d of %d let in, %d in the busiest window", len(allowed), tt.arrives, got)
			if got > tt.most || got < tt.least {
				t.Errorf("the busiest window holds %d, want %d to %d", got, tt.least, tt.most)
			}
			if aligned := busiestAligned(allowed, window); aligned > count {
				t.Errorf("an aligned window holds %d, want %d at most", aligned, count)
			}
		})
	}
}

func busiestAligned(times []time.Time, window time.Duration) int {
	counts := make(map[int64]int)
	for _, at := range times {
		counts[at.UnixMilli()/window.Milliseconds()]++
	}
	most := 0
	for _, n := range counts {
		most = max(most, n)
	}
	return most
}

func TestLeasesNeverExceedTheEstimate(t *testing.T) {
	t.Parallel()
	for name, connect := range limitKinds {
		for _, count := range []int{1, 12, 300} {
			t.Run(fmt.Sprint(count, " on ", name), func(t *testing.T) {
				t.Parallel()
				clock, limit := storetest.NewClock(), store.Limit{Count: count, Window: 60 * time.Second}
				options := redisstore.Options{Prefix: storetest.Prefix(t), Clock: clock.Now}
				client := connect(t)
				var limiters [3]*redisstore.Limiter
				for i := range limiters {
					limiters[i] = redisstore.NewLimiter(redisstore.New(client, options))
				}
				random := rand.New(rand.NewPCG(uint64(count), 9))
				used := make(map[int64]int) // by window
				for range min(6*count+100, 3000) {
					now := clock.Step(arrivals(random, clock.Now(), limit.Window, count))
					quota, err := limiters[random.IntN(3)].Take(t.Context(), "key", limit)
					if err != nil {
						t.Fatal(err)
					}
					if !quota.Allowed {
						if quota.RetryAfter <= 0 || quota.Left != 0 {
							t.Fatalf("refused with %+v, want a time to wait", quota)
						}
						continue
					}
					index := now.UnixMilli() / limit.Window.Milliseconds()
					used[index]++
					elapsed := float64(now.UnixMilli()%limit.Window.Milliseconds()) / float64(limit.Window.Milliseconds())
					if sum := float64(used[index]) + float64(used[index-1])*(1-elapsed); sum > float64(count)+1e-9 {
						t.Fatalf("limit of %d: %d calls in this window and %d before, %.0f%% into it: %.2f by the estimate",
							count, used[index], used[index-1], 100*elapsed, sum)
					}
				}
			})
		}
	}
}

func TestOneProcessHasTheWholeLimitOfAKey(t *testing.T) {
	t.Parallel()
	for _, count := range []int{1, 12, 300, 6000} {
		clock, limit := storetest.NewClock(), store.Limit{Count: count, Window: 10 * time.Second}
		clock.Set(clock.Now().Truncate(limit.Window))
		limiter := redisstore.NewLimiter(redisstore.New(storetest.Redis(t), redisstore.Options{Prefix: storetest.Prefix(t), Clock: clock.Now}))
		var waits []time.Duration
		allowed := 0
		for range count + 5 {
			quota, err := limiter.Take(t.Context(), "key", limit)
			if err != nil {
				t.Fatal(err)
			}
			if quota.Allowed {
				allowed++
			} else {
				waits = append(waits, quota.RetryAfter)
			}
		}
		if allowed != count || len(slices.Compact(waits)) != 1 {
			t.Errorf("got %d calls allowed and then told to wait %v, want %d", allowed, waits, count)
		}
		clock.Step(waits[0])
		if quota, err := limiter.Take(t.Context(), "key", limit); err != nil || !quota.Allowed {
			t.Errorf("limit of %d: after waiting as told got %+v, %v", count, quota, err)
		}
	}
	limiter := redisstore.NewLimiter(redisstore.New(storetest.Redis(t), redisstore.Options{Prefix: storetest.Prefix(t)}))
	if quota, err := limiter.Take(t.Context(), "key", store.Limit{}); err != nil || !quota.Allowed || quota.Left < 0 {
		t.Errorf("no limit at all: got %+v, %v, want it allowed", quota, err)
	}
}

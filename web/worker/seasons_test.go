package worker_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"leaderboard/store"
	"leaderboard/store/redisstore"
	"leaderboard/web/worker"
)

// keepTime starts a timer; the function that it returns stops it.
func (b bench) keepTime(calendar worker.Calendar, log *slog.Logger) (stop func()) {
	ctx, cancel := context.WithCancel(b.t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		worker.NewTimer(calendar, log).Run(ctx)
	}()
	return func() {
		cancel()
		<-ended
	}
}

func (b bench) schedule(id store.BoardID, schedule string) {
	b.t.Helper()
	_, _, err := b.PutBoard(b.t.Context(), id, func(s *store.Settings) error {
		s.Schedule = schedule
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

// season returns the number of the running season as it is kept: no look at the board would close it.
func (b bench) season(id store.BoardID) int64 {
	b.t.Helper()
	number, err := b.client.HGet(b.t.Context(), fmt.Sprintf("%s:{%s.1}:board", b.prefix, id), "season").Int64()
	if err != nil {
		b.t.Fatal(err)
	}
	return number
}

const instant = 10 * time.Millisecond

func untilMinute(n int) time.Duration {
	return time.Until(time.Now().Truncate(time.Minute).Add(time.Duration(n) * time.Minute))
}

func TestSeasonsEndOnTimeWithNobodyAwake(t *testing.T) {
	inBubble(t, func(t *testing.T, b bench) {
		b.schedule("minutely", "* * * * *")
		b.schedule("hourly", "0 * * * *")
		b.schedule("manual", store.Manual)
		stop := b.keepTime(b.Store, slog.New(slog.DiscardHandler))
		for minute := range int64(125) {
			time.Sleep(untilMinute(1) - instant)
			if got := b.season("minutely"); got != minute+1 {
				t.Fatalf("before minute %d: got season %d, want %d", minute, got, minute+1)
			}
			time.Sleep(2 * instant)
			if got := b.season("minutely"); got != minute+2 {
				t.Fatalf("after minute %d: got season %d, want %d", minute, got, minute+2)
			}
		}
		stop()
		if hourly, manual := b.season("hourly"), b.season("manual"); hourly != 3 || manual != 1 {
			t.Errorf("got seasons %d and %d, want the hourly board in its third and the manual one in its first", hourly, manual)
		}
	})
}

func TestChangesOfAScheduleAreNoticed(t *testing.T) {
	inBubble(t, func(t *testing.T, b bench) {
		stop := b.keepTime(b.Store, slog.New(slog.DiscardHandler))
		time.Sleep(time.Second)
		other := b
		other.Store = redisstore.New(b.client, redisstore.Options{Prefix: b.prefix})
		other.schedule("new", "* * * * *")
		other.schedule("changed", store.Daily)
		time.Sleep(6 * time.Second)
		other.schedule("changed", "* * * * *")
		time.Sleep(untilMinute(1) + instant)
		if new, changed := b.season("new"), b.season("changed"); new != 2 || changed != 2 {
			t.Errorf("got seasons %d and %d, want 2", new, changed)
		}
		if err := other.DeleteBoard(t.Context(), "new"); err != nil {
			t.Error(err)
		}
		other.schedule("changed", store.Manual)
		time.Sleep(5 * time.Minute)
		if got := b.season("changed"); got != 2 {
			t.Errorf("a board that is manual now: got season %d, want 2", got)
		}
		stop()
	})
}

func TestSeveralTimersCloseASeasonOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, b bench) {
		b.schedule("demo", "* * * * *")
		var stops []func()
		for range 3 {
			process := redisstore.New(b.client, redisstore.Options{Prefix: b.prefix})
			stops = append(stops, b.keepTime(process, slog.New(slog.DiscardHandler)))
		}
		time.Sleep(untilMinute(10) + instant)
		for _, stop := range stops {
			stop()
		}
		closed, err := b.ClosedSeasons(t.Context(), "demo")
		if err != nil || len(closed) != 10 || b.season("demo") != 11 {
			t.Fatalf("got %d closed seasons before season %d, %v, want ten", len(closed), b.season("demo"), err)
		}
		for i, season := range closed {
			if i > 0 && !season.End.Equal(closed[i-1].Start) || season.Closes != 1 {
				t.Errorf("got %+v before %+v, want no gap", season, closed[max(i-1, 0)])
			}
		}
	})
}

// outage is a calendar whose store is away now and then.
type outage struct {
	*redisstore.Store
	away atomic.Bool
}

func (o *outage) SeasonEnds(ctx context.Context) (map[store.BoardID]time.Time, time.Time, error) {
	if o.away.Load() {
		return nil, time.Time{}, store.ErrUnavailable
	}
	return o.Store.SeasonEnds(ctx)
}

func (o *outage) ResumeErasures(ctx context.Context) (int, error) {
	if o.away.Load() {
		return 0, store.ErrUnavailable
	}
	return o.Store.ResumeErasures(ctx)
}

func TestATimerOutlivesAnOutage(t *testing.T) {
	inBubble(t, func(t *testing.T, b bench) {
		b.schedule("demo", "* * * * *")
		var log strings.Builder
		calendar := &outage{Store: b.Store}
		stop := b.keepTime(calendar, slog.New(slog.NewTextHandler(&log, nil)))
		time.Sleep(untilMinute(1) + instant)
		calendar.away.Store(true)
		time.Sleep(5*time.Minute - time.Second)
		if got := b.season("demo"); got != 2 {
			t.Errorf("while the store is away: got season %d, want 2", got)
		}
		calendar.away.Store(false)
		time.Sleep(3 * time.Second) // into the seventh minute, five boundaries later
		if got := b.season("demo"); got != 3 {
			t.Errorf("after an outage: got season %d, want 3: untouched periods make none", got)
		}
		time.Sleep(untilMinute(1) + instant)
		if got := b.season("demo"); got != 4 {
			t.Errorf("a minute later: got season %d, want 4", got)
		}
		stop()
		if got := strings.Count(log.String(), "\n"); got != 4 {
			t.Errorf("got %d lines, want one for the beginning and the end of the outage of each loop:\n%s", got, &log)
		}
	})
}

func TestABoardThatCannotBeReadKeepsNoOtherFromItsEnd(t *testing.T) {
	inBubble(t, func(t *testing.T, b bench) {
		b.schedule("broken", "* * * * *")
		b.schedule("demo", "* * * * *")
		key := b.prefix + ":{broken.1}:board"
		if err := b.client.HSet(t.Context(), key, "settings", "{", "rev", 7).Err(); err != nil {
			t.Fatal(err)
		}
		stop := b.keepTime(b.Store, slog.New(slog.DiscardHandler))
		time.Sleep(untilMinute(5) + 2*time.Second)
		stop()
		if broken, demo := b.season("broken"), b.season("demo"); broken != 1 || demo != 6 {
			t.Errorf("got seasons %d and %d, want 1 and 6", broken, demo)
		}
	})
}

// trips counts the calls of a client.
type trips struct{ n atomic.Int64 }

func (c *trips) DialHook(next redis.DialHook) redis.DialHook { return next }

func (c *trips) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		c.n.Add(1)
		return next(ctx, cmd)
	}
}

func (c *trips) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		c.n.Add(1)
		return next(ctx, cmds)
	}
}

func TestWatchingManyBoardsCostsLittle(t *testing.T) {
	inBubble(t, func(t *testing.T, b bench) {
		for i := range 50 {
			b.schedule(store.BoardID(fmt.Sprint("b", i)), store.Monthly)
		}
		counted := &trips{}
		b.client.AddHook(counted)
		stop := b.keepTime(b.Store, slog.New(slog.DiscardHandler))
		time.Sleep(10 * time.Minute)
		stop()
		// Two for the boards and one for erasures, every five seconds.
		if got := counted.n.Load(); got > 10*12*3+50 {
			t.Errorf("got %d trips in ten minutes", got)
		}
	})
}

func TestATimerGoesOnWithErasures(t *testing.T) {
	inBubble(t, func(t *testing.T, b bench) {
		b.schedule("demo", store.Manual)
		if _, err := b.Submit(t.Context(), "demo", store.Submission{Player: "zoe", Points: store.Whole(5), Name: "Zoe"}); err != nil {
			t.Fatal(err)
		}
		queue, died := b.prefix+":{erase}:queue", fmt.Sprint(time.Now().UnixMilli(), " word")
		if err := b.client.HSet(t.Context(), queue, "zoe", died).Err(); err != nil {
			t.Fatal(err)
		}
		stop := b.keepTime(b.Store, slog.New(slog.DiscardHandler))
		time.Sleep(20 * time.Second)
		stop()
		left, err := b.client.HLen(t.Context(), queue).Result()
		if state, stateErr := b.BoardState(t.Context(), "demo"); left != 0 || err != nil || stateErr != nil || state.Total != 0 {
			t.Errorf("got %d erasures and %d players left, %v, %v", left, state.Total, err, stateErr)
		}
	})
}

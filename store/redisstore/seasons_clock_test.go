package redisstore_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"leaderboard/store"
	"leaderboard/store/storetest"
)

// places are where clocks do what clocks do.
var places = []string{"America/New_York", "America/Sao_Paulo", "Australia/Lord_Howe", "Asia/Kolkata", "UTC"}

func TestTenYearsOfSeasonsHaveNoGapButUntouchedPeriods(t *testing.T) {
	t.Parallel()
	for _, zone := range places {
		for _, expression := range []string{store.Daily, store.Weekly, store.Monthly, "30 2 * * *", "30 1 * * *", "*/45 0-3 * * 6,0"} {
			t.Run(expression+" in "+zone, func(t *testing.T) {
				t.Parallel()
				touchSeasons(newSeasons(t, storetest.Redis(t)), expression, zone, 20)
			})
		}
	}
}

func TestSeasonsOfTheEmbeddedStoreHaveNoGapEither(t *testing.T) {
	t.Parallel()
	for _, expression := range []string{store.Daily, "30 2 * * *", "30 1 * * *"} {
		t.Run(expression, func(t *testing.T) {
			t.Parallel()
			touchSeasons(newSeasons(t, storetest.Embedded(t)), expression, "America/New_York", 10)
		})
	}
}

// touchSeasons looks at a board some times in the ten years from 2010, by one process or the other: at random, just
// before and just at boundaries, and around each change of the clock. Each look that finds a season over must close
// exactly that one, at its boundary, and begin the next at the latest.
func touchSeasons(s seasonsOn, expression, zone string, touches int) {
	s.t.Helper()
	schedule, err := store.ParseSchedule(expression, zone)
	s.do("schedule", err)
	s.clock.Set(time.Date(2010, 1, 1, 0, 30, 0, 0, time.UTC))
	began := s.put(func(settings *store.Settings) { settings.Schedule, settings.Timezone = expression, zone })
	running := began.Season
	var want []store.Season
	look := func(now time.Time) {
		s.t.Helper()
		s.clock.Set(now)
		if !now.Before(running.End) {
			closed := running
			want = append(want, closed)
			running = store.Season{Number: closed.Number + 1, Start: schedule.Latest(closed.Start, now), End: schedule.Next(now)}
		}
		state, err := s.processes[len(want)%2].BoardState(s.t.Context(), "demo")
		s.do("state", err)
		if got := state.Season; got.Number != running.Number || !got.Start.Equal(running.Start) || !got.End.Equal(running.End) {
			s.t.Fatalf("at %v: got %+v, want %+v", now, got, running)
		}
	}
	random := rand.New(rand.NewPCG(2010, uint64(len(expression+zone))))
	location, err := time.LoadLocation(zone)
	s.do("zone", err)
	within := func(d time.Duration) time.Duration { return time.Duration(random.Int64N(int64(d))) }
	step := 10 * 365 * 24 * time.Hour / time.Duration(touches)
	for range touches {
		at := s.clock.Now().Add(step/2 + within(step))
		if _, change := at.In(location).ZoneBounds(); !change.IsZero() && random.IntN(2) == 0 {
			for at = change.Add(-3 * time.Hour); at.Before(change.Add(3 * time.Hour)); at = at.Add(within(50 * time.Minute)) {
				if !at.Before(s.clock.Now()) {
					look(at)
				}
			}
		}
		look(at)
		look(running.End.Add(-time.Millisecond))
		look(running.End)
	}
	closed, err := s.processes[0].ClosedSeasons(s.t.Context(), "demo")
	s.do("seasons", err)
	if len(closed) != len(want) {
		s.t.Fatalf("got %d closed seasons, want %d", len(closed), len(want))
	}
	for i := range want {
		got := closed[len(closed)-1-i]
		if got.Number != want[i].Number || !got.Start.Equal(want[i].Start) || !got.End.Equal(want[i].End) || got.Closes != 1 {
			s.t.Errorf("got %+v, want %+v", got, want[i])
		}
	}
}

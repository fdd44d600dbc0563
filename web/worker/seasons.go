package worker

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"leaderboard/store"
)

// Calendar is what a [Timer] needs of a store.
type Calendar interface {
	// SeasonEnds returns when running seasons end, by the store's clock, and what it shows. Beside an error it returns
	// the ends that it knows.
	SeasonEnds(ctx context.Context) (ends map[store.BoardID]time.Time, now time.Time, err error)
	// BoardState looks at a board, and so closes its season when that is over.
	BoardState(ctx context.Context, id store.BoardID) (store.BoardState, error)
	// ResumeErasures goes on with what processes that died, or callers that left, have not finished.
	ResumeErasures(ctx context.Context) (waiting int, err error)
}

const (
	pollEnds     = 5 * time.Second      // between looks at all boards: one may be new, or have another schedule
	leastSleep   = 5 * time.Millisecond // the clocks of two nodes differ: a season may not be over there
	touchAtOnce  = 8
	pollErasures = 5 * time.Second
)

// Timer does what nobody asks for: it looks at each board when its season ends, so that watchers and payouts do not wait
// for a visitor, and goes on with erasures. Every process may have one: a season is closed once, whoever looks first.
type Timer struct {
	calendar Calendar
	log      *slog.Logger
}

// NewTimer returns a timer that [Timer.Run] starts.
func NewTimer(calendar Calendar, log *slog.Logger) *Timer {
	return &Timer{calendar: calendar, log: log}
}

// Run works until the context ends.
func (t *Timer) Run(ctx context.Context) {
	var loops sync.WaitGroup
	loops.Go(func() {
		t.repeat(ctx, "seasons end when somebody looks, and not by themselves", t.closeSeasons)
	})
	loops.Go(func() {
		t.repeat(ctx, "erasures wait", func(ctx context.Context) (time.Duration, error) {
			_, err := t.calendar.ResumeErasures(ctx)
			return pollErasures/2 + rand.N(pollErasures), err // apart from the other processes
		})
	})
	loops.Wait()
}

// repeat does something again and again, after the time that it says, until the context ends. Of an outage it tells at
// its beginning and its end.
func (t *Timer) repeat(ctx context.Context, trouble string, do func(context.Context) (time.Duration, error)) {
	for failed := false; ctx.Err() == nil; {
		wait, err := do(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && !failed:
			t.log.Warn(trouble, "error", err)
		case err == nil && failed:
			t.log.Info("no longer: " + trouble)
		}
		failed = err != nil
		if failed {
			wait = min(max(wait, worstPause/2+rand.N(worstPause)), pollEnds)
		}
		rest(ctx, wait)
	}
}

// closeSeasons looks at the boards whose seasons are over, and returns how long to sleep.
func (t *Timer) closeSeasons(ctx context.Context) (time.Duration, error) {
	asking, cancel := context.WithTimeout(ctx, callWait)
	defer cancel()
	ends, now, err := t.calendar.SeasonEnds(asking)
	sleep := pollEnds
	var over []store.BoardID
	for id, end := range ends {
		if left := end.Sub(now); left > 0 {
			sleep = min(sleep, left)
		} else {
			over = append(over, id)
		}
	}
	if len(over) > 0 {
		sleep = 0 // their next ends are not known yet
	}
	return max(sleep, leastSleep), errors.Join(err, t.touch(ctx, over))
}

// touch looks at boards, some at once.
func (t *Timer) touch(ctx context.Context, boards []store.BoardID) error {
	var (
		waiting = make(chan store.BoardID)
		lookers sync.WaitGroup
		mu      sync.Mutex
		all     error
	)
	for range min(len(boards), touchAtOnce) {
		lookers.Go(func() {
			for id := range waiting {
				looking, cancel := context.WithTimeout(ctx, callWait)
				_, err := t.calendar.BoardState(looking, id)
				cancel()
				if err != nil && !errors.Is(err, store.ErrBoardNotFound) {
					mu.Lock()
					all = errors.Join(all, err)
					mu.Unlock()
				}
			}
		})
	}
	for _, id := range boards {
		waiting <- id
	}
	close(waiting)
	lookers.Wait()
	return all
}

package live

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"leaderboard/store"
)

const (
	// frameGap is the least time between two frames of a board.
	frameGap = 100 * time.Millisecond
	// look is how often a board is looked at that nobody speaks of. It only costs the store something when the kept top
	// is no longer trusted.
	lookEvery = time.Second
	// yieldAfter is how many readers are handed a state before their writers get the processor: else all of them would
	// exist at once.
	yieldAfter = 16
)

// relay makes frames of the changes of one board, while somebody watches it.
type relay struct {
	board   store.BoardID
	tops    *Tops
	metrics *metrics
	log     *slog.Logger
	players *players

	wake chan struct{} // has a token when the board may have changed
	born atomic.Int64  // when that was heard of, in nanoseconds of the Unix clock; 0: nothing was
	quit chan struct{} // closed when the last reader has left

	mu     sync.Mutex
	kept   *Kept
	groups map[int]*group
	count  int  // readers
	over   bool // the board is gone or the relay ended
}

// heard notes that the board may have changed. It never blocks.
func (r *relay) heard() {
	if r.born.Load() == 0 {
		r.born.CompareAndSwap(0, time.Now().UnixNano())
	}
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// run relays until the last reader has left. A first change after a quiet spell goes out at once, the next no sooner
// than frameGap later.
func (r *relay) run() {
	looks := time.NewTicker(lookEvery)
	defer looks.Stop()
	for {
		told := false
		select {
		case <-r.quit:
			return
		case <-r.wake:
			told = true
		case <-looks.C:
		}
		if wrote := r.relay(); !wrote && !told {
			continue
		}
		select {
		case <-r.quit:
			return
		case <-time.After(frameGap):
		}
	}
}

// relay brings all readers to the newest state, and reports whether there was anything to tell.
func (r *relay) relay() (told bool) {
	var born time.Time
	if at := r.born.Swap(0); at != 0 {
		born = time.Unix(0, at)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*loadTime)
	defer cancel()
	kept, err := r.tops.Read(ctx, r.board, false)
	switch {
	case errors.Is(err, store.ErrBoardNotFound):
		r.close(policyViolation, "no such board")
		return true
	case err != nil:
		r.metrics.failures.Inc()
		if !errors.Is(err, store.ErrUnavailable) {
			r.log.Error("live: read the top", "board", r.board, "error", err)
		}
		return false
	}
	return r.show(kept, born)
}

// show hands every reader the newest state.
func (r *relay) show(kept *Kept, born time.Time) (told bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	r.kept = kept
	handed := 0
	for _, g := range r.groups {
		next, _ := g.advance(kept, now, born)
		if next == nil {
			continue
		}
		told = true
		for _, reader := range g.readers {
			reader.offer(next)
			if handed++; handed%yieldAfter == 0 {
				runtime.Gosched()
			}
		}
	}
	r.players.show(kept)
	return told
}

// join adds a reader with a limit, and hands them the present state. It reports false when the relay has ended: there
// is or will be another.
func (r *relay) join(reader *reader, limit int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return false
	}
	g := r.groups[limit]
	if g == nil {
		g = &group{limit: limit}
		r.groups[limit] = g
		g.advance(r.kept, time.Now(), time.Time{})
	}
	g.add(reader)
	r.count++
	reader.relay, reader.group = r, g
	reader.offer(g.current)
	return true
}

// leave takes a reader out, and ends the relay with the last one. It reports whether it ended.
func (r *relay) leave(reader *reader) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	reader.group.remove(reader)
	if len(reader.group.readers) == 0 {
		delete(r.groups, reader.group.limit)
	}
	if r.count--; r.count > 0 {
		return false
	}
	r.over = true
	close(r.quit)
	return true
}

// close sends all readers away. No other joins.
func (r *relay) close(code int, reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	for _, g := range r.groups {
		for _, reader := range g.readers {
			reader.sendAway(code, reason)
		}
	}
}

package live

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"leaderboard/store"
)

// Source is where tops are read.
type Source interface {
	Board(ctx context.Context, id store.BoardID) (store.Board, error)
	Top(ctx context.Context, look store.Look, offset, limit int64) (store.Page, error)
}

// Subscriptions tell of changes. Watch returns when every later change is sure to be reported to [Tops.Changed], or a
// gap to [Tops.Gap].
type Subscriptions interface {
	Watch(ctx context.Context, id store.BoardID, incarnation int64) error
	Unwatch(id store.BoardID, incarnation int64)
}

// Change is the state of a board that was published: that which a change left.
type Change struct {
	Board       store.BoardID
	Incarnation int64
	Version     int64
	Season      int64
	Total       int64
	Rev         int64
}

const (
	// trust is how long a top counts as new without a word from anybody: messages get lost, and a loss is to be
	// repaired within five seconds.
	trust = 3 * time.Second
	// keepFor is how long a top is kept that nobody reads.
	keepFor = time.Minute
	// loadTime bounds one load.
	loadTime = 2 * time.Second
	// watchTime bounds the wait for a subscription. Without one a top is read all the same, each time anew.
	watchTime = time.Second
	// pause is how long, at least, a store that could not be reached is not asked again for those who can be given
	// what is kept.
	pause = 250 * time.Millisecond
	// maxTops bounds how many boards are kept; a further one is read from the store.
	maxTops = 10_000
)

// Tops keeps the top of every board that was read in the last minute.
type Tops struct {
	source        Source
	subscriptions Subscriptions
	log           *slog.Logger
	began         time.Time // times are kept as distances from it
	gaps          atomic.Uint64
	heard         atomic.Pointer[func(store.BoardID)]
	loads         sync.WaitGroup

	mu   sync.RWMutex
	tops map[store.BoardID]*top
}

// NewTops returns an empty set of tops. [Tops.Run] keeps it small.
func NewTops(source Source, subscriptions Subscriptions, log *slog.Logger) *Tops {
	return &Tops{
		source: source, subscriptions: subscriptions, log: log, began: time.Now(),
		tops: make(map[store.BoardID]*top),
	}
}

// Read returns the kept top of a board. When nothing changed since it was loaded that costs the store nothing;
// otherwise it is loaded, by one of all who ask at once. Fresh loads it in any case. Without the store it returns what
// is kept, stale, or [store.ErrUnavailable]; it returns [store.ErrBoardNotFound] when there is no such board.
func (t *Tops) Read(ctx context.Context, id store.BoardID, fresh bool) (*Kept, error) {
	now := t.now()
	for {
		top := t.get(id)
		if top == nil {
			return t.unkept(ctx, id)
		}
		if !fresh {
			if kept := top.current(now); kept != nil {
				return kept, nil
			}
		}
		kept, err := top.read(ctx, fresh)
		if !errors.Is(err, errDropped) {
			return kept, err
		}
	}
}

// Changed takes a change that was published. It never blocks.
func (t *Tops) Changed(c Change) {
	top := t.find(c.Board)
	if top == nil {
		return
	}
	if kept := top.kept.Load(); kept != nil {
		board, page := &kept.board, &kept.page
		switch {
		case c.Incarnation < board.Incarnation:
			return // a board of this name that is gone
		case c.Incarnation > board.Incarnation, c.Rev > board.Rev, c.Season > page.Season.Number, c.Version > page.Version:
		case c.Version < page.Version:
			return
		case c.Total == page.Total:
			top.confirm(kept)
			return
		}
	}
	t.mark(top)
}

// Wrote takes what a script said of a board after this process changed it: whoever posts and then reads through one
// process reads their own write. It never blocks.
func (t *Tops) Wrote(id store.BoardID, version, total int64) {
	top := t.find(id)
	if top == nil {
		return
	}
	kept := top.kept.Load()
	if kept == nil || version > kept.page.Version || version == kept.page.Version && total != kept.page.Total {
		t.mark(top)
	}
}

// Gap takes that changes may have been missed: nothing that is kept counts as new any more. It never blocks.
func (t *Tops) Gap() {
	t.gaps.Add(1)
	t.mu.RLock()
	defer t.mu.RUnlock()
	for id := range t.tops {
		t.tell(id)
	}
}

// onMark has f called when the top of a board may have changed. It must not block.
func (t *Tops) onMark(f func(store.BoardID)) { t.heard.Store(&f) }

func (t *Tops) mark(top *top) {
	top.mark.Add(1)
	top.retry.Store(0) // the store answers somebody
	t.tell(top.id)
}

func (t *Tops) tell(id store.BoardID) {
	if f := t.heard.Load(); f != nil {
		(*f)(id)
	}
}

// Run drops what nobody reads, until the context ends, and waits for loads that are on their way.
func (t *Tops) Run(ctx context.Context) {
	ticks := time.NewTicker(keepFor / 6)
	defer ticks.Stop()
	for {
		select {
		case <-ticks.C:
			t.sweep()
		case <-ctx.Done():
			t.loads.Wait()
			return
		}
	}
}

func (t *Tops) sweep() {
	t.mu.RLock()
	all := make([]*top, 0, len(t.tops))
	for _, top := range t.tops {
		all = append(all, top)
	}
	t.mu.RUnlock()
	for _, top := range all {
		top.dropIdle()
	}
}

func (t *Tops) now() int64 { return int64(time.Since(t.began)) }

func (t *Tops) find(id store.BoardID) *top {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.tops[id]
}

// get returns the top of a board, a new one when there is none, or nil when there are too many.
func (t *Tops) get(id store.BoardID) *top {
	if top := t.find(id); top != nil {
		return top
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if top := t.tops[id]; top != nil {
		return top
	}
	if len(t.tops) >= maxTops {
		return nil
	}
	top := &top{id: id, tops: t}
	top.used.Store(t.now())
	t.tops[id] = top
	return top
}

// remove forgets a top that was dropped. Its lock may be held: nobody takes it under this one.
func (t *Tops) remove(top *top) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.tops[top.id] == top {
		delete(t.tops, top.id)
	}
}

// unkept reads a top without keeping it.
func (t *Tops) unkept(ctx context.Context, id store.BoardID) (*Kept, error) {
	return t.fetch(ctx, id, freshness{}, func(int64) bool { return false })
}

// fetch reads a top. The board is looked at before and after: only if it stayed the same is it known which board the
// page shows. Watch is told the board's incarnation and says whether its changes are reported.
func (t *Tops) fetch(
	ctx context.Context, id store.BoardID, fresh freshness, watch func(incarnation int64) bool,
) (kept *Kept, err error) {
	defer func() {
		if p := recover(); p != nil { // loads run in goroutines of their own, where nobody else catches it
			err = fmt.Errorf("live: load %s: panic: %v\n%s", id, p, debug.Stack())
		}
	}()
	const attempts = 5
	for range attempts {
		board, err := t.source.Board(ctx, id)
		if err != nil {
			return nil, fmt.Errorf("live: load: %w", err)
		}
		fresh.watched = watch(board.Incarnation)
		began := time.Now()
		page, err := t.source.Top(ctx, store.Look{Board: id}, 0, int64(board.Settings.LiveTop))
		if err != nil {
			return nil, fmt.Errorf("live: load: %w", err)
		}
		after, err := t.source.Board(ctx, id)
		if err != nil {
			return nil, fmt.Errorf("live: load: %w", err)
		}
		if after.Incarnation == board.Incarnation && after.Rev == board.Rev && page.Epoch == board.Epoch {
			return &Kept{board: board, page: page, loaded: began, fresh: fresh, replies: new(replies)}, nil
		}
	}
	return nil, fmt.Errorf("live: load: %w: board %s changes all the time", store.ErrUnavailable, id)
}

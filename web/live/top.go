package live

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"leaderboard/store"
)

// errDropped means that a top was dropped meanwhile, and that there may be another one of the board.
var errDropped = errors.New("live: dropped")

// top is the kept top of one board and the loads that renew it. There is one load at a time: whoever needs a newer
// state than it will bring waits for the next, together with all others who do.
type top struct {
	id   store.BoardID
	tops *Tops

	kept  atomic.Pointer[Kept]
	mark  atomic.Uint64 // counts the changes heard of
	until atomic.Int64  // how long kept counts as new without a word
	retry atomic.Int64  // until when a store that failed is left alone
	used  atomic.Int64  // when somebody read it, to a second

	mu          sync.Mutex
	running     *load
	next        *load // begins when running ends
	incarnation int64 // that is watched; 0: none
	dropped     bool
}

// load is one reading of the store, shared by all who wait for it.
type load struct {
	fresh freshness     // as it began
	done  chan struct{} // closed when kept and err are set
	kept  *Kept
	err   error
}

// current returns the kept top if nothing has changed since, else nil. This is what every read of a quiet board costs.
func (t *top) current(now int64) *Kept {
	kept := t.kept.Load()
	if kept == nil || !kept.fresh.watched || now >= t.until.Load() ||
		kept.fresh.mark != t.mark.Load() || kept.fresh.gap != t.tops.gaps.Load() {
		return nil
	}
	t.touch(now)
	return kept
}

// touch notes that the top is read. It writes once a second: readers on many cores share the line.
func (t *top) touch(now int64) {
	if now-t.used.Load() >= int64(time.Second) {
		t.used.Store(now)
	}
}

// confirm notes that what is kept was the board's state a moment ago.
func (t *top) confirm(kept *Kept) {
	if kept == t.kept.Load() {
		t.until.Store(t.tops.now() + int64(trust))
	}
}

// read returns the top as it is now or was after the call began.
func (t *top) read(ctx context.Context, fresh bool) (*Kept, error) {
	t.touch(t.tops.now())
	if kept := t.kept.Load(); !fresh && kept != nil && t.tops.now() < t.retry.Load() {
		return kept.asStale(), nil
	}
	l := t.join(fresh)
	if l == nil {
		return nil, errDropped
	}
	select {
	case <-l.done:
		return l.kept, l.err
	case <-ctx.Done():
		return nil, unavailable(ctx)
	}
}

// join returns a load that misses nothing which is known now, or nil when the top was dropped.
func (t *top) join(fresh bool) *load {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.dropped:
		return nil
	case t.running == nil:
		t.running = &load{done: make(chan struct{})}
		t.start()
		return t.running
	case !fresh && t.running.fresh.mark == t.mark.Load() && t.running.fresh.gap == t.tops.gaps.Load():
		return t.running
	case t.next == nil:
		t.next = &load{done: make(chan struct{})}
	}
	return t.next
}

// start begins the running load. It goes on when the one who asked first has gone. The caller holds mu.
func (t *top) start() {
	l := t.running
	l.fresh = freshness{mark: t.mark.Load(), gap: t.tops.gaps.Load()}
	t.tops.loads.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), loadTime)
		defer cancel()
		began := t.tops.now()
		l.kept, l.err = t.tops.fetch(ctx, t.id, l.fresh, func(incarnation int64) bool { return t.watch(ctx, incarnation) })
		t.finish(l, began)
	})
}

// finish keeps what a load brought and begins the next.
func (t *top) finish(l *load, began int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer close(l.done)
	switch before := t.kept.Load(); {
	case l.err == nil:
		t.retry.Store(0)
		t.until.Store(began + int64(trust))
		t.kept.Store(l.kept)
	case errors.Is(l.err, store.ErrBoardNotFound):
		t.drop()
	case errors.Is(l.err, store.ErrUnavailable) && before != nil:
		// A store that hangs is asked half of the time at most.
		now := t.tops.now()
		t.retry.Store(now + max(int64(pause), now-began))
		l.kept, l.err = before.asStale(), nil
	}
	t.running, t.next = t.next, nil
	if t.running != nil {
		t.start()
	}
}

// watch has the board's changes reported, and says whether they are. Only the running load calls it.
func (t *top) watch(ctx context.Context, incarnation int64) bool {
	t.mu.Lock()
	if t.incarnation != incarnation && t.incarnation != 0 {
		t.tops.subscriptions.Unwatch(t.id, t.incarnation)
	}
	t.incarnation = incarnation
	t.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, watchTime)
	defer cancel()
	return t.tops.subscriptions.Watch(ctx, t.id, incarnation) == nil
}

// dropIdle drops the top when nobody has read it for long.
func (t *top) dropIdle() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.running == nil && !t.dropped && t.tops.now()-t.used.Load() >= int64(keepFor) {
		t.drop()
	}
}

// drop ends the top, and sends who waits for its next load to another top of the board. The subscription ends before
// anybody can see that: another top may begin its own at once. The caller holds mu.
func (t *top) drop() {
	t.dropped = true
	t.kept.Store(nil)
	if t.incarnation != 0 {
		t.tops.subscriptions.Unwatch(t.id, t.incarnation)
		t.incarnation = 0
	}
	if t.next != nil {
		t.next.err = errDropped
		close(t.next.done)
		t.next = nil
	}
	t.tops.remove(t)
}

func unavailable(ctx context.Context) error {
	return errors.Join(store.ErrUnavailable, ctx.Err())
}

package redisstore

import (
	"context"
	"sync"
	"time"

	"leaderboard/store"
)

// Limits are kept by two methods. Up to 128 calls a window the times of the last calls are known, and the limit is exact:
// no window of time, wherever it begins, holds more, and nobody is refused while there is room. Beyond that, and for keys
// and addresses, two numbers do: those of the present window and of the one before, which is taken to have come evenly and
// to fade while the present one runs. By that estimate no window that begins on a whole multiple of its length holds more
// than the limit. One that begins elsewhere may: a tenth more when calls come evenly at random, and at worst, when all
// calls of a window come at its very end and the next ones as soon as there is room, twice the limit less one.

// A lease is a tenth of the limit at most, and no larger than this.
const (
	leaseShare = 10
	largeLease = 1000
)

// leaseLife is how long a leased call may be used: a tenth of the window and a second at most, and never beyond the end of
// its window. Longer, and calls of one window could pile up in the next.
func leaseLife(window time.Duration) time.Duration { return min(window/leaseShare, time.Second) }

// Limiter counts the calls of subjects (API keys, addresses) over all processes. It draws calls from Redis in small
// leases, so that a call costs no trip. A lease begins with one call and doubles as long as leases are used up; what is
// left of one is given back with the next draw. So a subject that calls now and then, through however many processes,
// has its whole limit. Its methods may be called at once.
type Limiter struct {
	store *Store

	mu     sync.Mutex
	leases map[string]*lease
	swept  time.Time
}

// lease is what a process may still use of a subject's calls.
type lease struct {
	drawing sync.Mutex // one draw at a time for a subject

	mu      sync.Mutex
	granted int   // at the last draw
	window  int64 // in which that was; Redis' count of windows
	left    int
	beyond  int // left in Redis at the last draw
	ends    time.Time
	resets  time.Time // end of the window at the last draw
	retry   time.Time // no room before
	touched time.Time
}

// NewLimiter returns a limiter on the store's Redis.
func NewLimiter(s *Store) *Limiter {
	return &Limiter{store: s, leases: make(map[string]*lease)}
}

// Take counts one call of a subject. The quota tells how many are left and when the window ends; refused calls are not
// counted and tell how long to wait. The zero limit allows everything. The error is of the kind [store.ErrUnavailable].
func (l *Limiter) Take(ctx context.Context, subject string, limit store.Limit) (store.Quota, error) {
	if limit.Count == 0 {
		return store.Quota{Allowed: true}, nil
	}
	held := l.lease(subject)
	if quota, ok := held.use(l.store.time()); ok {
		return quota, nil
	}
	held.drawing.Lock()
	defer held.drawing.Unlock()
	asked := l.store.time()
	if quota, ok := held.use(asked); ok { // drawn by another call meanwhile
		return quota, nil
	}
	wanted, back, window := held.giveBack(min(max(limit.Count/leaseShare, 1), largeLease))
	raw, err := l.store.call(ctx, l.store.scripts.lease, []string{l.store.keys.rate(subject)},
		l.store.now(), limit.Count, limit.Window.Milliseconds(), wanted, back, window)
	if err != nil {
		return store.Quota{}, err
	}
	reply := items(raw)
	if len(reply) != 5 {
		return store.Quota{}, unexpected("lease", raw)
	}
	return held.draw(reply, leaseLife(limit.Window), asked, l.store.time()), nil
}

// lease returns the subject's lease, and now and then drops those that nobody used for a while.
func (l *Limiter) lease(subject string) *lease {
	now := l.store.time()
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Sub(l.swept) > time.Minute {
		l.swept = now
		for name, held := range l.leases {
			if held.idle(now) {
				delete(l.leases, name)
			}
		}
	}
	held, ok := l.leases[subject]
	if !ok {
		held = &lease{touched: now}
		l.leases[subject] = held
	}
	return held
}

func (h *lease) idle(now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return now.Sub(h.touched) > time.Minute
}

// use takes one call from the lease, or answers that there is no room before some time. It reports false when Redis must
// be asked.
func (h *lease) use(now time.Time) (store.Quota, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.touched = now
	quota := store.Quota{Left: h.left + h.beyond, Resets: max(h.resets.Sub(now), 0)}
	if h.left > 0 && now.Before(h.ends) {
		h.left--
		quota.Left--
		quota.Allowed = true
		return quota, true
	}
	if now.Before(h.retry) {
		quota.Left, quota.RetryAfter = 0, h.retry.Sub(now)
		quota.Resets = max(quota.Resets, quota.RetryAfter)
		return quota, true
	}
	return quota, false
}

// giveBack returns how many calls to draw next, and what is to be given back of the last draw, which nobody can use from
// here on: should the next draw fail, it is lost.
func (h *lease) giveBack(most int) (wanted, back int, window int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	wanted = 2 * h.granted
	if h.left > 0 {
		wanted = h.granted - h.left
	}
	back, h.left = h.left, 0
	return min(max(wanted, 1), most), back, h.window
}

// draw takes in what lease.lua answered: granted, left beyond that, ms to wait, ms until the window ends, the window.
// The first call granted is that of the caller, so that no other takes it meanwhile. Nobody knows when between asked and
// now Redis counted: a lease ends as if that was at once, and a wait as if it was just now.
func (h *lease) draw(reply []any, life time.Duration, asked, now time.Time) store.Quota {
	h.mu.Lock()
	defer h.mu.Unlock()
	granted := int(number(reply[0]))
	h.granted, h.window = granted, number(reply[4])
	h.left, h.beyond = max(granted-1, 0), int(number(reply[1]))
	resets := time.Duration(number(reply[3])) * time.Millisecond
	h.ends = asked.Add(min(life, resets))
	h.resets = now.Add(resets)
	h.retry = time.Time{}
	if granted > 0 {
		return store.Quota{Allowed: true, Left: h.left + h.beyond, Resets: resets}
	}
	wait := time.Duration(max(number(reply[2]), 1)) * time.Millisecond
	h.retry = now.Add(wait)
	return store.Quota{Resets: max(resets, wait), RetryAfter: wait}
}

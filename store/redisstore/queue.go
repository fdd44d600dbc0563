package redisstore

import (
	"sync"

	"leaderboard/store"
)

// calls is how many script calls of one board may be on their way at once: while Redis works on one, the next is
// written and the one before is read.
const calls = 2

// queue gathers submissions of one board into calls (group commit). Nobody waits for a timer: a submission that finds a
// free call leaves at once, others leave with the next.
type queue struct {
	commit func([]*pending)

	mu      sync.Mutex
	waiting []*pending
	flying  int
}

func (s *Store) queue(id store.BoardID) *queue {
	if q, ok := s.queues.Load(id); ok {
		return q.(*queue)
	}
	q, _ := s.queues.LoadOrStore(id, &queue{commit: func(group []*pending) { s.commit(id, group) }})
	return q.(*queue)
}

func (q *queue) add(p *pending) {
	q.mu.Lock()
	q.waiting = append(q.waiting, p)
	start := q.flying < calls
	if start {
		q.flying++
	}
	q.mu.Unlock()
	if start {
		go q.fly() // ends when nothing waits; each call is bounded in time
	}
}

// fly commits what waits until nothing does.
func (q *queue) fly() {
	for {
		group := q.take()
		if group == nil {
			return
		}
		q.commit(group)
	}
}

// take returns the next group, or nil when this flight ends.
func (q *queue) take() []*pending {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		q.flying--
		q.waiting = nil
		return nil
	}
	group := q.waiting
	if len(group) > perCall {
		group = group[:perCall:perCall]
	}
	q.waiting = q.waiting[len(group):]
	return group
}

package worker

import (
	"errors"
	"sync"
	"time"

	"leaderboard/store"
)

const (
	slow     = 2 * time.Second  // failures that take less hold nobody up
	enough   = 2                // slow failures in a row after which a receiver is left alone
	restTime = 30 * time.Second // how long
)

// rests remembers which receivers to leave alone: those that asked for it, and those that let tries time out. Without it
// one receiver that never answers would hold up the events of all boards.
type rests struct {
	mu     sync.Mutex
	boards map[store.BoardID]*receiver
}

type receiver struct {
	failures int // slow ones in a row
	until    time.Time
}

// of returns how long a board's receiver is to be left alone.
func (r *rests) of(board store.BoardID) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known := r.boards[board]; known != nil {
		return max(time.Until(known.until), 0)
	}
	return 0
}

// note takes down how a try went.
func (r *rests) note(board store.BoardID, took time.Duration, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		delete(r.boards, board)
		return
	}
	known := r.boards[board]
	if known == nil {
		known = &receiver{}
		if r.boards == nil {
			r.boards = map[store.BoardID]*receiver{}
		}
		r.boards[board] = known
	}
	if took >= slow {
		known.failures++
	}
	if known.failures >= enough {
		known.until = time.Now().Add(restTime)
	}
	if asked, ok := errors.AsType[*waitError](err); ok {
		known.until = time.Now().Add(asked.wait)
	}
}

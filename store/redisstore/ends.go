package redisstore

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"leaderboard/store"
)

// SeasonEnds returns when the running seasons end that have an end, and what the store's clock shows. It is cheap: two
// trips, however many boards there are, and one more for each board that changed since this process last saw it. Seasons
// that are over may be among them: a look at the board closes them. When some boards cannot be read, the ends of the
// others are returned beside the error.
func (s *Store) SeasonEnds(ctx context.Context) (ends map[store.BoardID]time.Time, now time.Time, err error) {
	boards, err := s.client.HGetAll(ctx, s.keys.boards()).Result()
	if err != nil {
		return nil, time.Time{}, fail("boards", err)
	}
	now, revs, err := s.revs(ctx, boards)
	if err != nil {
		return nil, time.Time{}, err
	}
	var (
		group errgroup.Group
		mu    sync.Mutex
	)
	group.SetLimit(8)
	ends = make(map[store.BoardID]time.Time)
	note := func(board *store.Board) {
		if end := board.Season.End; !end.IsZero() {
			mu.Lock()
			defer mu.Unlock()
			ends[board.ID] = end
		}
	}
	for id, rev := range revs {
		if board, ok := s.seen(id, number(boards[string(id)]), rev); ok {
			note(&board)
			continue
		}
		group.Go(func() error {
			state, failed := s.BoardState(ctx, id)
			switch {
			case failed == nil:
				note(&state.Board)
			case !errors.Is(failed, store.ErrBoardNotFound):
				mu.Lock()
				defer mu.Unlock()
				err = errors.Join(err, failed)
			}
			return nil
		})
	}
	_ = group.Wait() // one board that cannot be read keeps no other from its end
	return ends, now, err
}

// revs returns the revs of all boards that are there, and the time.
func (s *Store) revs(ctx context.Context, boards map[string]string) (now time.Time, revs map[store.BoardID]int64, err error) {
	found := make(map[store.BoardID]*redis.StringCmd, len(boards))
	var clock *redis.TimeCmd
	_, err = s.client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		clock = pipe.Time(ctx)
		for id, incarnation := range boards {
			if n := number(incarnation); n > 0 {
				id := store.BoardID(id)
				found[id] = pipe.HGet(ctx, s.keys.board(id, n).board(), "rev")
			}
		}
		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return now, nil, fail("boards", err)
	}
	revs = make(map[store.BoardID]int64, len(found))
	for id, rev := range found {
		text, err := rev.Result()
		if errors.Is(err, redis.Nil) {
			continue // is being removed
		}
		if err != nil {
			return now, nil, fail("boards", err)
		}
		revs[id] = number(text)
	}
	if s.options.Clock != nil {
		return s.options.Clock(), revs, nil
	}
	now, err = clock.Result()
	if err != nil {
		return now, nil, fail("boards", err)
	}
	return now, revs, nil
}

// seen returns a board as this process last saw it, if it still is at that rev.
func (s *Store) seen(id store.BoardID, incarnation, rev int64) (store.Board, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	board, ok := s.boards[id]
	return board, ok && board.Incarnation == incarnation && board.Rev == rev
}

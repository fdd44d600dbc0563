package redisstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"leaderboard/store"
)

// ended reports that the running season's planned end has passed.
func ended(state *store.BoardState) bool {
	end := state.Season.End
	return !end.IsZero() && !state.Now.Before(end)
}

// closeOver closes a season whose planned end has passed, exactly there. The next one begins at the latest boundary
// passed: periods that nobody touched make no season. Somebody else may have closed it before: then nothing happens.
func (s *Store) closeOver(ctx context.Context, state *store.BoardState) error {
	schedule, err := store.ParseSchedule(state.Settings.Schedule, state.Settings.Timezone)
	if err != nil {
		return fmt.Errorf("redisstore: schedule of board %s: %w", state.ID, err)
	}
	end := state.Season.End
	start := end
	if latest := schedule.Latest(end, state.Now); !latest.IsZero() {
		start = latest
	}
	_, err = s.closeSeason(ctx, state, millis(end), millis(start), start, "schedule")
	return err
}

// closeSeason ends the running season at end and begins the next at start; both empty mean now, and begin is then about
// now. It reports false when the board moved or the time is not right: the caller looks again.
func (s *Store) closeSeason(
	ctx context.Context, state *store.BoardState, end, start string, begin time.Time, reason string,
) (bool, error) {
	next, err := state.Settings.NewSeason(state.Season.Number+1, begin, state.Now)
	if err != nil {
		// A schedule whose periods differ wildly: this one is too long for ticks that fit the others. Hours always do,
		// and a close must not fail.
		next.Resolution = time.Hour
	}
	closed := state.Season
	closed.Closed, closed.Reason, closed.Rewards = true, reason, state.Settings.Rewards
	closedRecord, nextRecord := recordOf(&closed), recordOf(&next)
	closedRecord.End, closedRecord.Total, nextRecord.Start = 0, 0, 0

	k := s.keys.of(&state.Board)
	word, reply, err := s.list(ctx, s.scripts.close, []string{k.board(), k.seasons(), k.scores(closed.Number)},
		state.Rev, s.now(), k.live(), closed.Number, end, start, closedRecord.rest(), nextRecord.rest(), millis(next.End))
	if err != nil {
		return false, err
	}
	if word == "ok" && len(reply) != 2 {
		return false, unexpected("close", reply)
	}
	return word == "ok", nil
}

// seasonOf returns the season that a look is about: the running one, or a closed one from its own record.
func (s *Store) seasonOf(ctx context.Context, board *store.Board, wanted int64) (store.Season, error) {
	if wanted == 0 || wanted == board.Season.Number {
		return board.Season, nil
	}
	text, err := s.client.HGet(ctx, s.keys.of(board).seasons(), strconv.FormatInt(wanted, 10)).Result()
	if errors.Is(err, redis.Nil) {
		return store.Season{}, fmt.Errorf("redisstore: season %d of %s: %w", wanted, board.ID, store.ErrSeasonNotFound)
	}
	if err != nil {
		return store.Season{}, fail("seasons", err)
	}
	return parseSeason(wanted, text)
}

// seasonNumbers returns the seasons that are kept, the running one first.
func (s *Store) seasonNumbers(ctx context.Context, board *store.Board) ([]int64, error) {
	fields, err := s.client.HKeys(ctx, s.keys.of(board).seasons()).Result()
	if err != nil {
		return nil, fail("seasons", err)
	}
	numbers := make([]int64, 0, len(fields))
	for _, field := range fields {
		numbers = append(numbers, number(field))
	}
	slices.Sort(numbers)
	slices.Reverse(numbers)
	return numbers, nil
}

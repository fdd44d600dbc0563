package redisstore

import (
	"cmp"
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
	closed, _, err := s.closeSeason(ctx, state, millis(end), millis(start), start, "schedule")
	if closed {
		s.prune(ctx, &state.Board)
	}
	return err
}

// CloseSeason implements [store.Seasons].
func (s *Store) CloseSeason(
	ctx context.Context, id store.BoardID, number int64, reason string,
) (store.BoardState, time.Time, error) {
	for range attempts {
		state, err := s.BoardState(ctx, id)
		if err == nil && state.Season.Number != number {
			err = fmt.Errorf("redisstore: close season %d of %s: %w", number, id, store.ErrSeasonNotRunning)
		}
		if err != nil {
			return store.BoardState{}, time.Time{}, err
		}
		closed, at, err := s.closeSeason(ctx, &state, "", "", state.Now, reason)
		if err != nil {
			return store.BoardState{}, time.Time{}, err
		}
		if closed {
			s.prune(ctx, &state.Board)
			state, err = s.BoardState(ctx, id)
			return state, at, err
		}
	}
	return store.BoardState{}, time.Time{}, s.restless(id)
}

// closeSeason ends the running season at end and begins the next at start; both empty mean now, and begin is then about
// now. It reports false when the board moved or the time is not right: the caller looks again.
func (s *Store) closeSeason(
	ctx context.Context, state *store.BoardState, end, start string, begin time.Time, reason string,
) (done bool, at time.Time, err error) {
	next, err := state.Settings.NewSeason(state.Season.Number+1, begin, state.Now)
	if err != nil {
		// A schedule whose periods differ wildly: this one is too long for ticks that fit the others. Hours always do,
		// and a close must not fail.
		next.Resolution = time.Hour
		next.Lasts(next.End.Sub(begin))
	}
	closed := state.Season
	closed.Closed, closed.Reason, closed.Rewards = true, reason, state.Settings.Rewards
	closed.Closes++
	closedRecord, nextRecord := recordOf(&closed), recordOf(&next)
	closedRecord.End, closedRecord.Total, nextRecord.Start = 0, 0, 0

	k := s.keys.of(&state.Board)
	args := []any{
		state.Rev, s.now(), k.live(), closed.Number, end, start, closedRecord.rest(), nextRecord.rest(), millis(next.End),
		millis(closed.Start),
	}
	word, reply, err := s.list(ctx, s.scripts.close,
		[]string{k.board(), k.seasons(), k.scores(closed.Number), k.holds(closed.Number), k.owed()},
		append(args, s.owedAtClose(&state.Board, &closed)...)...)
	if err != nil || word != "ok" {
		return false, time.Time{}, err
	}
	if len(reply) != 2 {
		return false, time.Time{}, unexpected("close", reply)
	}
	s.wrote(state.ID, state.Version+1, 0)
	return true, fromMillis(number(reply[1])), nil
}

// prune removes the closed seasons that a board keeps no longer, oldest first. What is left undone after a crash is done
// at the next close.
func (s *Store) prune(ctx context.Context, board *store.Board) {
	closed, err := s.ClosedSeasons(ctx, board.ID)
	if err == nil {
		for _, season := range closed[min(board.Settings.KeepSeasons, len(closed)):] {
			k := s.keys.of(board)
			keys := append([]string{k.seasons()}, k.ofSeason(season.Number)...)
			if _, err = s.call(ctx, s.scripts.prune, keys, season.Number); err != nil {
				break
			}
		}
	}
	if err != nil {
		s.options.Logger.WarnContext(ctx, "old seasons stay until the next close", "board", board.ID, "error", err)
	}
}

// ReopenSeason implements [store.Seasons].
func (s *Store) ReopenSeason(ctx context.Context, id store.BoardID, wanted int64) (store.BoardState, error) {
	for range attempts {
		state, err := s.BoardState(ctx, id)
		if err != nil {
			return store.BoardState{}, err
		}
		known, err := s.seasonRecord(ctx, &state.Board, wanted)
		if err != nil {
			return store.BoardState{}, err
		}
		season, err := parseSeason(wanted, known)
		if err != nil {
			return store.BoardState{}, err
		}
		if wanted != state.Season.Number-1 || season.Paying || !sameRules(&season, &state.Season) {
			return store.BoardState{}, fmt.Errorf("redisstore: season %d of %s: %w", wanted, id, store.ErrNotReopenable)
		}
		schedule, err := store.ParseSchedule(state.Settings.Schedule, state.Settings.Timezone)
		if err != nil {
			return store.BoardState{}, fmt.Errorf("redisstore: schedule of board %s: %w", id, err)
		}
		season.Closed, season.Reason, season.Total, season.Rewards, season.Paid = false, "", 0, nil, false
		season.End = schedule.Next(state.Now)
		if !schedule.Never() {
			season.Lasts(season.End.Sub(season.Start))
		}
		k, next := s.keys.of(&state.Board), state.Season.Number
		word, reply, err := s.list(ctx, s.scripts.reopen,
			[]string{k.board(), k.seasons(), k.scores(wanted), k.scores(next), k.banned(next)},
			state.Rev, s.now(), millis(state.Season.End), k.live(), wanted, next, known, encode(recordOf(&season)))
		switch {
		case err != nil:
			return store.BoardState{}, err
		case word == "refused":
			return store.BoardState{}, fmt.Errorf("redisstore: season %d of %s: %w", wanted, id, store.ErrNotReopenable)
		case word == "ok":
			s.wrote(id, number(at(reply, 0)), number(at(reply, 1)))
			return s.BoardState(ctx, id)
		}
	}
	return store.BoardState{}, s.restless(id)
}

// sameRules reports whether scores of two seasons are read alike. The running season's rules are those of the settings: a
// season of other rules would get scores that do not fit its own.
func sameRules(a, b *store.Season) bool {
	return a.Order == b.Order && a.Decimals == b.Decimals && a.Policy == b.Policy && a.TimeBits == b.TimeBits
}

// ClosedSeasons implements [store.Seasons].
func (s *Store) ClosedSeasons(ctx context.Context, id store.BoardID) ([]store.Season, error) {
	state, err := s.BoardState(ctx, id)
	if err != nil {
		return nil, err
	}
	records, err := s.client.HGetAll(ctx, s.keys.of(&state.Board).seasons()).Result()
	if err != nil {
		return nil, fail("seasons", err)
	}
	closed := make([]store.Season, 0, len(records))
	for field, text := range records {
		season, err := parseSeason(number(field), text)
		if err != nil {
			return nil, err
		}
		if season.Closed {
			closed = append(closed, season)
		}
	}
	slices.SortFunc(closed, func(a, b store.Season) int { return cmp.Compare(b.Number, a.Number) })
	return closed, nil
}

// seasonOf returns the season that a look is about: the running one, or a closed one from its own record.
func (s *Store) seasonOf(ctx context.Context, board *store.Board, wanted int64) (store.Season, error) {
	if wanted == 0 || wanted == board.Season.Number {
		return board.Season, nil
	}
	text, err := s.seasonRecord(ctx, board, wanted)
	if err != nil {
		return store.Season{}, err
	}
	return parseSeason(wanted, text)
}

// seasonRecord returns a season's record as it is kept, or [store.ErrSeasonNotFound].
func (s *Store) seasonRecord(ctx context.Context, board *store.Board, wanted int64) (string, error) {
	text, err := s.client.HGet(ctx, s.keys.of(board).seasons(), strconv.FormatInt(wanted, 10)).Result()
	if errors.Is(err, redis.Nil) {
		return "", fmt.Errorf("redisstore: season %d of %s: %w", wanted, board.ID, store.ErrSeasonNotFound)
	}
	if err != nil {
		return "", fail("seasons", err)
	}
	return text, nil
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

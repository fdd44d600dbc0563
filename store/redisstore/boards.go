package redisstore

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"leaderboard/store"
)

// attempts bounds how often a call follows a board that moves. Each move is an admin's act or a season's end.
const attempts = 10

// Board implements [store.Boards].
func (s *Store) Board(ctx context.Context, id store.BoardID) (store.Board, error) {
	s.mu.RLock()
	board, ok := s.boards[id]
	s.mu.RUnlock()
	if ok {
		return board, nil
	}
	state, err := s.BoardState(ctx, id)
	return state.Board, err
}

// BoardState implements [store.Boards].
func (s *Store) BoardState(ctx context.Context, id store.BoardID) (store.BoardState, error) {
	for range attempts {
		state, err := s.load(ctx, id)
		if err != nil || !ended(&state) {
			return state, err
		}
		if err := s.closeOver(ctx, &state); err != nil {
			return store.BoardState{}, err
		}
	}
	return store.BoardState{}, s.restless(id)
}

func (s *Store) restless(id store.BoardID) error {
	return fmt.Errorf("redisstore: board %s moved %d times: %w", id, attempts, store.ErrUnavailable)
}

// load reads a board from Redis and remembers it.
func (s *Store) load(ctx context.Context, id store.BoardID) (store.BoardState, error) {
	incarnation, err := s.incarnation(ctx, id)
	if err == nil && incarnation <= 0 {
		err = fmt.Errorf("redisstore: board %s: %w", id, store.ErrBoardNotFound)
	}
	if err != nil {
		s.forget(id, err)
		return store.BoardState{}, err
	}
	state, err := s.read(ctx, id, incarnation)
	if err != nil {
		s.forget(id, err)
		return store.BoardState{}, err
	}
	s.remember(&state.Board)
	return state, nil
}

func (s *Store) incarnation(ctx context.Context, id store.BoardID) (int64, error) {
	incarnation, err := s.client.HGet(ctx, s.keys.boards(), string(id)).Int64()
	if errors.Is(err, redis.Nil) {
		return 0, nil
	}
	if err != nil {
		return 0, fail("boards", err)
	}
	return incarnation, nil
}

// read returns one incarnation of a board, or [store.ErrBoardNotFound]. Its Now is set in either case.
func (s *Store) read(ctx context.Context, id store.BoardID, incarnation int64) (store.BoardState, error) {
	k := s.keys.board(id, incarnation)
	state := store.BoardState{Board: store.Board{ID: id, Incarnation: incarnation}}
	season := int64(1)
	s.mu.RLock()
	if known, ok := s.boards[id]; ok && known.Incarnation == incarnation {
		season = known.Season.Number
	}
	s.mu.RUnlock()
	for range attempts {
		keys := []string{k.board(), k.seasons(), k.scores(season)}
		now, reply, err := s.list(ctx, s.scripts.board, keys, s.now(), season)
		if err != nil {
			return state, err
		}
		state.Now = fromMillis(number(now))
		if len(reply) == 0 {
			return state, fmt.Errorf("redisstore: board %s: %w", id, store.ErrBoardNotFound)
		}
		season = number(at(reply, 4))
		if at(reply, 6) == nil {
			continue
		}
		state.Rev, state.Epoch, state.Version = number(reply[1]), text(reply[2]), number(reply[3])
		state.Total = number(reply[6])
		if err := json.Unmarshal([]byte(text(reply[0])), &state.Settings); err != nil {
			return state, fmt.Errorf("redisstore: settings of board %s: %w", id, err)
		}
		state.Season, err = parseSeason(season, text(reply[5]))
		return state, err
	}
	return state, s.restless(id)
}

// remember keeps the newest of what was seen of a board.
func (s *Store) remember(board *store.Board) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.boards[board.ID]
	if ok && cmp.Or(cmp.Compare(known.Incarnation, board.Incarnation), cmp.Compare(known.Rev, board.Rev)) > 0 {
		return
	}
	s.boards[board.ID] = *board
}

func (s *Store) forget(id store.BoardID, err error) {
	if !errors.Is(err, store.ErrBoardNotFound) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.boards, id)
}

// BoardStates implements [store.Boards].
func (s *Store) BoardStates(ctx context.Context) ([]store.BoardState, error) {
	incarnations, err := s.client.HGetAll(ctx, s.keys.boards()).Result()
	if err != nil {
		return nil, fail("boards", err)
	}
	var ids []store.BoardID
	for id, incarnation := range incarnations {
		if !strings.HasPrefix(incarnation, "-") {
			ids = append(ids, store.BoardID(id))
		}
	}
	slices.Sort(ids)
	states := make([]store.BoardState, len(ids))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(8)
	for i, id := range ids {
		group.Go(func() error {
			state, err := s.BoardState(groupCtx, id)
			if errors.Is(err, store.ErrBoardNotFound) {
				return nil // removed meanwhile
			}
			states[i] = state
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(states, func(b store.BoardState) bool { return b.ID == "" }), nil
}

// PutBoard implements [store.Boards].
func (s *Store) PutBoard(
	ctx context.Context, id store.BoardID, change func(*store.Settings) error,
) (store.BoardState, bool, error) {
	for range attempts {
		state, err := s.load(ctx, id)
		var done, made bool
		switch {
		case errors.Is(err, store.ErrBoardNotFound):
			made = true
			done, err = s.create(ctx, id, change)
		case err == nil && ended(&state):
			err = s.closeOver(ctx, &state)
		case err == nil:
			done, err = s.update(ctx, &state, change)
		}
		if err != nil {
			return store.BoardState{}, false, err
		}
		if done {
			state, err = s.BoardState(ctx, id)
			return state, made, err
		}
	}
	return store.BoardState{}, false, s.restless(id)
}

// create makes the board, or reports false when somebody else did. The board's own keys come first: until the list of
// boards names the new incarnation, nobody sees them.
func (s *Store) create(ctx context.Context, id store.BoardID, change func(*store.Settings) error) (bool, error) {
	incarnation, err := s.incarnation(ctx, id)
	if err != nil {
		return false, err
	}
	if incarnation > 0 {
		// Somebody made it since the caller looked, unless a caller that was removing it died.
		if _, err := s.read(ctx, id, incarnation); !errors.Is(err, store.ErrBoardNotFound) {
			return false, err
		}
	}
	incarnation = max(incarnation, -incarnation) + 1
	state, err := s.read(ctx, id, incarnation)
	if err != nil && !errors.Is(err, store.ErrBoardNotFound) {
		return false, err
	}
	exists := err == nil // begun by a caller that died or is about to go on
	if !exists {
		settings := store.DefaultSettings(id)
		if err := apply(&settings, change, state.Now); err != nil {
			return false, err
		}
		season, err := settings.NewSeason(1, settings.StartsAt, state.Now)
		if err != nil {
			return false, err
		}
		k := s.keys.board(id, incarnation)
		reply, err := s.call(ctx, s.scripts.create, []string{k.board(), k.seasons()},
			encode(settings), newEpoch(), encode(recordOf(&season)))
		if err != nil {
			return false, err
		}
		exists = number(reply) == 0
	}
	registered, err := s.call(ctx, s.scripts.register, []string{s.keys.boards()}, string(id), incarnation)
	return !exists && number(registered) == 1, err
}

// apply changes settings and checks them.
func apply(settings *store.Settings, change func(*store.Settings) error, now time.Time) error {
	if err := change(settings); err != nil {
		return err
	}
	if settings.StartsAt.IsZero() {
		settings.StartsAt = now
	}
	settings.StartsAt = settings.StartsAt.UTC().Truncate(time.Millisecond)
	if settings.StartsAt.After(now) {
		return store.Invalid("starts_at", "must not be in the future")
	}
	return settings.Validate()
}

// newEpoch returns a word that no board had before, so to speak: one of a billion.
func newEpoch() string { return strings.ToLower(rand.Text()[:6]) }

// update changes a board, or reports false when it moved.
func (s *Store) update(ctx context.Context, state *store.BoardState, change func(*store.Settings) error) (bool, error) {
	settings := state.Settings
	if err := apply(&settings, change, state.Now); err != nil {
		return false, err
	}
	season, unused, err := nextRules(state, &settings)
	if err != nil {
		return false, err
	}
	rec := ""
	if season != nil {
		rec = encode(recordOf(season))
	}
	k := s.keys.of(&state.Board)
	number := state.Season.Number
	word, _, err := s.list(ctx, s.scripts.update,
		[]string{k.board(), k.seasons(), k.scores(number), k.banned(number), k.bans()},
		state.Rev, s.now(), millis(state.Season.End), encode(settings), rec, flag(unused), k.live())
	if word == "in_use" {
		return false, fmt.Errorf("redisstore: board %s: %w", state.ID, store.ErrBoardInUse)
	}
	return word == "ok", err
}

func flag(set bool) string {
	if set {
		return "1"
	}
	return ""
}

// nextRules returns the running season under new settings, or nil when they leave it as it is, and whether nobody may
// have a score for that.
func nextRules(state *store.BoardState, to *store.Settings) (season *store.Season, unused bool, err error) {
	from := &state.Settings
	frozen := from.Order != to.Order || from.Decimals != to.Decimals || from.Policy != to.Policy ||
		from.MaxPoints != to.MaxPoints || !from.StartsAt.Equal(to.StartsAt) || from.SeasonDays != to.SeasonDays
	scheduled := from.Schedule != to.Schedule || from.Timezone != to.Timezone
	if !frozen && !scheduled {
		return nil, false, nil
	}
	start := state.Season.Start
	if !from.StartsAt.Equal(to.StartsAt) {
		if state.Season.Number > 1 {
			return nil, false, store.Invalid("starts_at", "is that of the first season, which is closed")
		}
		start = to.StartsAt
	}
	fresh, err := to.NewSeason(state.Season.Number, start, state.Now)
	if err != nil {
		return nil, false, err
	}
	if frozen {
		return &fresh, true, nil
	}
	// Only the end moves. Scores that stand were packed with the season's ticks, so these must fit the new length.
	moved := state.Season
	moved.End = fresh.End
	length := fresh.End.Sub(start)
	if fresh.End.IsZero() {
		length = time.Duration(to.SeasonDays) * 24 * time.Hour
	}
	if int64(length/moved.Resolution)+store.FreeSlots < moved.Slots() {
		moved.Lasts(length)
		return &moved, false, nil
	}
	return &fresh, true, nil
}

// DeleteBoard implements [store.Boards]. The board's own hash goes first: from then on every script answers "moved",
// and who loads the board again finds none.
func (s *Store) DeleteBoard(ctx context.Context, id store.BoardID) error {
	for range attempts {
		state, err := s.load(ctx, id)
		if err != nil {
			return err
		}
		numbers, err := s.seasonNumbers(ctx, &state.Board)
		if err != nil {
			return err
		}
		k := s.keys.of(&state.Board)
		keys := []string{k.board(), k.seasons(), k.names(), k.nameIndex(), k.bans(), k.held(), k.owed()}
		for _, n := range numbers {
			keys = append(keys, k.ofSeason(n)...)
		}
		word, _, err := s.list(ctx, s.scripts.delete, keys, state.Rev, k.live())
		if err != nil {
			return err
		}
		if word != "ok" {
			continue
		}
		_, err = s.call(ctx, s.scripts.register, []string{s.keys.boards()}, string(id), -state.Incarnation)
		s.forget(id, store.ErrBoardNotFound)
		return err
	}
	return s.restless(id)
}

// RenewEpochs gives every board another epoch. A store that lost its last moments counts versions again that others have
// seen already: with another epoch nobody takes the new ones for the old.
func (s *Store) RenewEpochs(ctx context.Context) error {
	states, err := s.BoardStates(ctx)
	if err != nil {
		return err
	}
	for i := range states {
		key := s.keys.of(&states[i].Board).board()
		if _, err := s.call(ctx, s.scripts.renewEpoch, []string{key}, newEpoch()); err != nil {
			return err
		}
	}
	return nil
}

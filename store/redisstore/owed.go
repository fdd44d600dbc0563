package redisstore

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"leaderboard/store"
)

// owedAtClose returns what close.lua is told of what the board owes when the season is closed.
func (s *Store) owedAtClose(board *store.Board, season *store.Season) []any {
	closed, closedID := "", ""
	event := store.Closed{
		Board: board.ID, Incarnation: board.Incarnation, Season: season.Number, Close: season.Closes,
		Start: season.Start.UnixMilli(), Reason: season.Reason,
	}
	if board.Settings.Webhook != nil {
		// The script adds the end and the total.
		closed, _, _ = strings.Cut(encodeAsIs(event), `,"at":`)
		closedID = event.EventID()
	}
	payout := store.Payout{
		Board: board.ID, Incarnation: board.Incarnation, Season: season.Number, Close: season.Closes, Reward: store.HeldRewards,
	}
	held, heldID := "", payout.JobID()
	if len(season.Rewards) > 0 {
		held = encodeAsIs(payout)
	}
	args := []any{s.keys.relays(), debtorText(board), closed, closedID, held, heldID}
	for i := range season.Rewards {
		if r := &season.Rewards[i]; !r.Reaching() {
			payout.Reward = r.ID
			args = append(args, payout.JobID(), r.Delay.Milliseconds(), r.Priority, encodeAsIs(payout))
		}
	}
	return args
}

// owedRecord is what a script writes under the id of the cause.
type owedRecord struct {
	Kind     string          `json:"kind"`
	Due      int64           `json:"due"`
	Priority int             `json:"priority"`
	Payload  json.RawMessage `json:"payload"`
}

func parseOwed(id, kept string) store.Owed {
	var r owedRecord
	if err := json.Unmarshal([]byte(kept), &r); err != nil {
		// Written by somebody else's hand. As a job it ends among the dead, where an admin sees it.
		return store.Owed{Job: store.Job{ID: id, Kind: "unreadable", Payload: []byte(kept)}, Kept: kept}
	}
	return store.Owed{
		Job:  store.Job{ID: id, Kind: r.Kind, Priority: r.Priority, Due: fromMillis(r.Due), Payload: r.Payload},
		Kept: kept,
	}
}

// Debtors returns boards that owe something. It looks at so many boards behind the one named, by id, and returns behind
// which to go on, nothing when all were looked at. Two trips, when nothing is owed.
func (s *Store) Debtors(ctx context.Context, after store.BoardID, most int) ([]store.Debtor, store.BoardID, error) {
	boards, err := s.client.HGetAll(ctx, s.keys.boards()).Result()
	if err != nil {
		return nil, "", fail("owed", err)
	}
	var looked []store.Debtor
	for id, text := range boards {
		if n := number(text); n > 0 && store.BoardID(id) > after {
			looked = append(looked, store.Debtor{Board: store.BoardID(id), Incarnation: n})
		}
	}
	slices.SortFunc(looked, func(a, b store.Debtor) int { return cmp.Compare(a.Board, b.Board) })
	next := store.BoardID("")
	if len(looked) > most {
		looked = looked[:most]
		next = looked[most-1].Board
	}
	if len(looked) == 0 {
		return nil, "", nil
	}
	owed := make([]*redis.IntCmd, len(looked))
	_, err = s.client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for i, d := range looked {
			owed[i] = pipe.HLen(ctx, s.keys.board(d.Board, d.Incarnation).owed())
		}
		return nil
	})
	if err != nil {
		return nil, "", fail("owed", err)
	}
	debtors := looked[:0]
	for i, d := range looked {
		if owed[i].Val() > 0 {
			debtors = append(debtors, d)
		}
	}
	return debtors, next, nil
}

// Owed returns some of what a board owes, nothing when it owes nothing.
func (s *Store) Owed(ctx context.Context, d store.Debtor) ([]store.Owed, error) {
	return s.owedIn(ctx, s.keys.board(d.Board, d.Incarnation).owed(), parseOwed)
}

// owedIn returns some of a hash. Whoever takes out what was returned gets to all of it.
func (s *Store) owedIn(ctx context.Context, hash string, parse func(field, value string) store.Owed) ([]store.Owed, error) {
	// A scan that begins anew may be answered with nothing though there is something, in a hash that has shrunk.
	for cursor := uint64(0); ; {
		pairs, next, err := s.client.HScan(ctx, hash, cursor, "", store.MaxJobBatch).Result()
		if err != nil {
			return nil, fail("owed", err)
		}
		owed := make([]store.Owed, 0, len(pairs)/2)
		for i := 0; i+1 < len(pairs) && len(owed) < store.MaxJobBatch; i += 2 {
			owed = append(owed, parse(pairs[i], pairs[i+1]))
		}
		if len(owed) > 0 || next == 0 {
			return owed, nil
		}
		cursor = next
	}
}

// SettleOwed takes out what the job queue has now.
func (s *Store) SettleOwed(ctx context.Context, d store.Debtor, owed []store.Owed) error {
	args := make([]any, 0, 2*len(owed))
	for i := range owed {
		args = append(args, owed[i].Job.ID, owed[i].Kept)
	}
	_, err := s.call(ctx, s.scripts.payout.done, []string{s.keys.board(d.Board, d.Incarnation).owed()}, args...)
	return err
}

// ListenForOwed calls wake with each board that begins to owe something, until the context ends, and gap whenever that
// may have been missed. Neither may block.
func (s *Store) ListenForOwed(ctx context.Context, wake func(store.Debtor), gap func()) {
	s.listen(ctx, s.keys.relays(), func(message string) {
		if d, err := parseDebtor(message); err == nil {
			wake(d)
		}
	}, gap)
}

func parseDebtor(text string) (d store.Debtor, err error) {
	id, incarnation, _ := strings.Cut(text, ".")
	if d.Board, err = store.ParseBoardID(id); err == nil {
		d.Incarnation, err = strconv.ParseInt(incarnation, 10, 64)
	}
	if err != nil {
		return d, fmt.Errorf("redisstore: debtor %q: %w", text, err)
	}
	return d, nil
}

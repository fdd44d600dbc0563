package redisstore

import (
	"context"
	"fmt"

	"leaderboard/store"
)

// RemovePlayer implements [store.Moderation].
func (s *Store) RemovePlayer(ctx context.Context, id store.BoardID, player store.PlayerID) error {
	board, reply, err := s.changing(ctx, id, s.scripts.remove, func(b *store.Board, k boardKeys) ([]string, []any, error) {
		n := b.Season.Number
		return []string{k.board(), k.scores(n), k.banned(n), k.names(), k.activity(player)}, []any{string(player)}, nil
	})
	if err != nil {
		return err
	}
	if len(reply) != 5 {
		return unexpected("remove", reply)
	}
	s.wrote(id, number(reply[3]), number(reply[4]))
	if name := text(reply[2]); name != "" {
		s.unindex(ctx, &board, []any{string(player), name})
	}
	if number(reply[1]) == 0 {
		return noPlayer(store.Look{Board: id}, player)
	}
	return nil
}

// Ban implements [store.Moderation].
func (s *Store) Ban(ctx context.Context, id store.BoardID, player store.PlayerID, reason string) (int64, error) {
	_, reply, err := s.changing(ctx, id, s.scripts.ban, func(b *store.Board, k boardKeys) ([]string, []any, error) {
		keys, err := s.withAllSeasons(ctx, b, k)
		return keys, []any{string(player), reason}, err
	})
	return s.newTotal(id, reply, err)
}

// Unban implements [store.Moderation].
func (s *Store) Unban(ctx context.Context, id store.BoardID, player store.PlayerID) (int64, error) {
	_, reply, err := s.changing(ctx, id, s.scripts.unban, func(b *store.Board, k boardKeys) ([]string, []any, error) {
		keys, err := s.withAllSeasons(ctx, b, k)
		return keys, []any{string(player)}, err
	})
	return s.newTotal(id, reply, err)
}

// newTotal reads {word, total, version}.
func (s *Store) newTotal(id store.BoardID, reply []any, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	if text(at(reply, 0)) == "none" {
		return 0, fmt.Errorf("redisstore: unban: %w", store.ErrNotBanned)
	}
	if len(reply) != 3 {
		return 0, unexpected("ban", reply)
	}
	s.wrote(id, number(reply[2]), number(reply[1]))
	return number(reply[1]), nil
}

// withAllSeasons returns the keys of ban.lua and unban.lua: the board, the bans, and the scores and banned of every
// season that is kept, the running one first.
func (s *Store) withAllSeasons(ctx context.Context, b *store.Board, k boardKeys) ([]string, error) {
	numbers, err := s.seasonNumbers(ctx, b)
	if err != nil {
		return nil, err
	}
	keys := []string{k.board(), k.bans(), k.scores(b.Season.Number), k.banned(b.Season.Number)}
	for _, n := range numbers {
		if n != b.Season.Number {
			keys = append(keys, k.scores(n), k.banned(n))
		}
	}
	return keys, nil
}

// changing runs a script about players until it finds the board as it is. The reply begins with the script's word.
func (s *Store) changing(
	ctx context.Context, id store.BoardID, sc script, args func(*store.Board, boardKeys) ([]string, []any, error),
) (store.Board, []any, error) {
	for range attempts {
		board, err := s.Board(ctx, id)
		if err != nil {
			return store.Board{}, nil, err
		}
		k := s.keys.of(&board)
		keys, more, err := args(&board, k)
		if err != nil {
			return store.Board{}, nil, err
		}
		head := []any{board.Rev, s.now(), millis(board.Season.End), k.live(), board.Settings.LiveTop}
		word, reply, err := s.list(ctx, sc, keys, append(head, more...)...)
		if err != nil {
			return store.Board{}, nil, err
		}
		if word != "moved" && word != "over" {
			return board, append([]any{word}, reply...), nil
		}
		if _, err := s.BoardState(ctx, id); err != nil {
			return store.Board{}, nil, err
		}
	}
	return store.Board{}, nil, s.restless(id)
}

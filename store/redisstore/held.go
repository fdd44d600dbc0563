package redisstore

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/redis/go-redis/v9"

	"leaderboard/store"
)

// heldRecord is what submit.lua keeps of a held submission. Numbers are text: Lua's encoder would round them.
type heldRecord struct {
	Player   string `json:"player"`
	Points   string `json:"points"`
	Present  string `json:"present"`
	At       string `json:"at"`
	Season   string `json:"season"`
	Decimals string `json:"decimals"`
	Name     string `json:"name"`
}

func parseHeld(id, text string) (store.Held, error) {
	var r heldRecord
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return store.Held{}, fmt.Errorf("redisstore: held submission %s: %w", id, err)
	}
	return store.Held{
		ID: number(id), Player: store.PlayerID(r.Player), Name: store.Name(r.Name), Season: number(r.Season),
		Points: store.Points(number(r.Points)), Present: store.Points(number(r.Present)), HasPresent: r.Present != "-",
		Decimals: int(number(r.Decimals)), At: fromMillis(number(r.At)),
	}, nil
}

// Held implements [store.HeldScores].
func (s *Store) Held(ctx context.Context, id store.BoardID) ([]store.Held, error) {
	board, err := s.freshBoard(ctx, id)
	if err != nil {
		return nil, err
	}
	records, err := s.client.HGetAll(ctx, s.keys.of(&board).held()).Result()
	if err != nil {
		return nil, fail("held", err)
	}
	list := make([]store.Held, 0, len(records))
	for id, text := range records {
		held, err := parseHeld(id, text)
		if err != nil {
			return nil, err
		}
		list = append(list, held)
	}
	slices.SortFunc(list, func(a, b store.Held) int { return cmp.Compare(a.ID, b.ID) })
	return list, nil
}

// AcceptHeld implements [store.HeldScores]. Applying it and taking it off the list is one script.
func (s *Store) AcceptHeld(ctx context.Context, id store.BoardID, heldID int64) (store.Result, error) {
	board, err := s.freshBoard(ctx, id)
	if err != nil {
		return store.Result{}, err
	}
	key, field := s.keys.of(&board).held(), strconv.FormatInt(heldID, 10)
	text, err := s.client.HGet(ctx, key, field).Result()
	if errors.Is(err, redis.Nil) {
		return store.Result{}, fmt.Errorf("redisstore: accept %d: %w", heldID, store.ErrHeldNotFound)
	}
	if err != nil {
		return store.Result{}, fail("held", err)
	}
	held, err := parseHeld(field, text)
	if err != nil {
		return store.Result{}, err
	}
	points, err := store.ParseDecimal("points", held.Points.Text(held.Decimals))
	if err != nil {
		return store.Result{}, err
	}
	p := &pending{submission: store.Submission{
		Player: held.Player, Name: held.Name, Points: points, Season: held.Season, AchievedAt: held.At, HeldID: heldID,
	}}
	if _, err := s.apply(ctx, id, []*pending{p}, store.Once{}); err != nil {
		return store.Result{}, err
	}
	return p.outcome.Result, p.outcome.Err
}

// RejectHeld implements [store.HeldScores].
func (s *Store) RejectHeld(ctx context.Context, id store.BoardID, heldID int64) error {
	board, err := s.freshBoard(ctx, id)
	if err != nil {
		return err
	}
	removed, err := s.client.HDel(ctx, s.keys.of(&board).held(), strconv.FormatInt(heldID, 10)).Result()
	s.afterWrite()
	if err != nil {
		return fail("held", err)
	}
	if removed == 0 {
		return fmt.Errorf("redisstore: reject %d: %w", heldID, store.ErrHeldNotFound)
	}
	return nil
}

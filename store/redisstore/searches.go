package redisstore

import (
	"context"

	"github.com/redis/go-redis/v9"

	"leaderboard/store"
)

// Searches returns what a player last looked for, newest first.
func (s *Store) Searches(ctx context.Context, player store.PlayerID) ([]string, error) {
	texts, err := s.client.LRange(ctx, s.keys.player(player, "searches"), 0, store.KeptSearches-1).Result()
	if err != nil {
		return nil, fail("searches", err)
	}
	return texts, nil
}

// AddSearch keeps what a player looked for, in front of what else was. The same text stands once, however it is
// capitalised: between two at the same moment that holds for the very same text only.
func (s *Store) AddSearch(ctx context.Context, player store.PlayerID, text string) error {
	before, err := s.Searches(ctx, player)
	if err != nil {
		return err
	}
	key := s.keys.player(player, "searches")
	_, err = s.client.TxPipelined(ctx, func(do redis.Pipeliner) error {
		do.LRem(ctx, key, 0, text)
		for _, other := range before {
			if other != text && store.Fold(other) == store.Fold(text) {
				do.LRem(ctx, key, 0, other)
			}
		}
		do.LPush(ctx, key, text)
		do.LTrim(ctx, key, 0, store.KeptSearches-1)
		do.PExpire(ctx, key, store.SearchesKept)
		return nil
	})
	s.afterWrite()
	if err != nil {
		return fail("add search", err)
	}
	return nil
}

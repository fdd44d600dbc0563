package redisstore

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"leaderboard/store"
)

var _ store.Keys = (*Store)(nil)

// keyRecord is an API key as Redis keeps it.
type keyRecord struct {
	Name    string          `json:"name"`
	Scopes  []store.Scope   `json:"scopes"`
	Boards  []store.BoardID `json:"boards,omitempty"`
	Expires int64           `json:"expires,omitempty"` // ms
	Limit   string          `json:"limit,omitempty"`
	Hash    string          `json:"hash"`
}

func parseKey(id, text, used string) (store.Key, error) {
	var r keyRecord
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return store.Key{}, fmt.Errorf("redisstore: key %s: %w", id, err)
	}
	key := store.Key{ID: id, Name: r.Name, Scopes: r.Scopes, Boards: r.Boards, Hash: r.Hash}
	if r.Expires != 0 {
		key.ExpiresAt = fromMillis(r.Expires)
	}
	if used != "" {
		key.LastUsedAt = fromMillis(number(used))
	}
	if r.Limit != "" {
		limit, err := store.ParseLimit(r.Limit)
		if err != nil {
			return store.Key{}, fmt.Errorf("redisstore: key %s: %w", id, err)
		}
		key.Limit = limit
	}
	return key, nil
}

// Keys implements [store.Keys].
func (s *Store) Keys(ctx context.Context) ([]store.Key, error) {
	records, err := s.client.HGetAll(ctx, s.keys.apiKeys()).Result()
	if err != nil {
		return nil, fail("keys", err)
	}
	used, err := s.client.HGetAll(ctx, s.keys.apiKeysUsed()).Result()
	if err != nil {
		return nil, fail("keys", err)
	}
	list := make([]store.Key, 0, len(records))
	for id, text := range records {
		key, err := parseKey(id, text, used[id])
		if err != nil {
			return nil, err
		}
		list = append(list, key)
	}
	slices.SortFunc(list, func(a, b store.Key) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
	})
	return list, nil
}

// FindKey implements [store.Keys]. LastUsedAt is not looked up.
func (s *Store) FindKey(ctx context.Context, id string) (store.Key, error) {
	text, err := s.client.HGet(ctx, s.keys.apiKeys(), id).Result()
	if errors.Is(err, redis.Nil) {
		return store.Key{}, fmt.Errorf("redisstore: key %s: %w", id, store.ErrKeyNotFound)
	}
	if err != nil {
		return store.Key{}, fail("keys", err)
	}
	return parseKey(id, text, "")
}

// AddKey implements [store.Keys].
func (s *Store) AddKey(ctx context.Context, key store.Key) error {
	r := keyRecord{Name: key.Name, Scopes: key.Scopes, Boards: key.Boards, Hash: key.Hash}
	if !key.ExpiresAt.IsZero() {
		r.Expires = key.ExpiresAt.UnixMilli()
	}
	if key.Limit.Count > 0 {
		r.Limit = key.Limit.String()
	}
	added, err := s.client.HSetNX(ctx, s.keys.apiKeys(), key.ID, encode(r)).Result()
	s.afterWrite()
	if err != nil {
		return fail("keys", err)
	}
	if !added {
		return fmt.Errorf("redisstore: key %s is there already", key.ID)
	}
	return nil
}

// RevokeKey implements [store.Keys].
func (s *Store) RevokeKey(ctx context.Context, id string) error {
	removed, err := s.call(ctx, s.scripts.revokeKey, []string{s.keys.apiKeys(), s.keys.apiKeysUsed()}, id)
	if err != nil {
		return err
	}
	if number(removed) == 0 {
		return fmt.Errorf("redisstore: key %s: %w", id, store.ErrKeyNotFound)
	}
	return nil
}

// KeyUsed implements [store.Keys].
func (s *Store) KeyUsed(ctx context.Context, id string, at time.Time) error {
	_, err := s.call(ctx, s.scripts.useKey, []string{s.keys.apiKeys(), s.keys.apiKeysUsed()}, id, at.UnixMilli())
	return err
}

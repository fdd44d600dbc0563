package redisstore

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// Sessions keeps what the admin pages know of who is logged in. It has the methods that Fiber asks of a storage, which
// know no context: each call gets a few seconds. A name opens a session, so names are kept hashed.
type Sessions struct {
	store *Store
	idle  time.Duration
}

// sessionPatience bounds one call.
const sessionPatience = 3 * time.Second

// NewSessions returns sessions on the store's Redis. One that is not asked for in the time of idle ends.
func NewSessions(s *Store, idle time.Duration) *Sessions { return &Sessions{store: s, idle: idle} }

// Get returns a session and puts its end off, or nothing when there is none. It writes nothing else: a session that
// somebody ends at this moment stays ended.
func (s *Sessions) Get(name string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), sessionPatience)
	defer cancel()
	data, err := s.store.client.GetEx(ctx, s.store.keys.session(name), s.idle).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	if err != nil {
		return nil, fail("sessions", err)
	}
	return data, nil
}

// Set keeps a session. Its own time to live counts only until it is asked for; none means that of all.
func (s *Sessions) Set(name string, data []byte, life time.Duration) error {
	if life <= 0 {
		life = s.idle
	}
	return s.write(func(ctx context.Context) error {
		return s.store.client.Set(ctx, s.store.keys.session(name), data, life).Err()
	})
}

// Delete ends a session. One that is not there is no error.
func (s *Sessions) Delete(name string) error {
	return s.write(func(ctx context.Context) error {
		return s.store.client.Unlink(ctx, s.store.keys.session(name)).Err()
	})
}

// Reset ends all sessions, and touches nothing else that is kept.
func (s *Sessions) Reset() error {
	return s.write(func(ctx context.Context) error {
		if cluster, ok := s.store.client.(*redis.ClusterClient); ok {
			return cluster.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error { return s.clear(ctx, node) })
		}
		return s.clear(ctx, s.store.client)
	})
}

func (s *Sessions) clear(ctx context.Context, node redis.Cmdable) error {
	const page = 500
	for cursor, first := uint64(0), true; first || cursor != 0; first = false {
		keys, next, err := node.Scan(ctx, cursor, s.store.keys.sessions(), page).Result()
		if err != nil {
			return err
		}
		for _, key := range keys { // one by one: on a Cluster each has a slot of its own
			if err := node.Unlink(ctx, key).Err(); err != nil {
				return err
			}
		}
		cursor = next
	}
	return nil
}

func (s *Sessions) write(do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), sessionPatience)
	defer cancel()
	err := do(ctx)
	s.store.afterWrite()
	if err != nil {
		return fail("sessions", err)
	}
	return nil
}

// Close does nothing: the client is the caller's.
func (s *Sessions) Close() error { return nil }

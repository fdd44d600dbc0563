package redisstore

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

// TokenKeys returns the text of the keys that all processes sign players' tokens with. Where none are kept, those that
// the caller made are, unless another process was first.
func (s *Store) TokenKeys(ctx context.Context, made string) (string, error) {
	for {
		kept, err := s.client.Get(ctx, s.keys.tokenKeys()).Result()
		if err == nil {
			return kept, nil
		}
		if !errors.Is(err, redis.Nil) {
			return "", fail("token keys", err)
		}
		err = s.client.SetNX(ctx, s.keys.tokenKeys(), made, 0).Err()
		s.afterWrite()
		if err != nil {
			return "", fail("token keys", err)
		}
	}
}

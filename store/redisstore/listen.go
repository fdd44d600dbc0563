package redisstore

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

// listen calls heard with each message of a channel until the context ends, and gap whenever messages may have been
// lost, at first too. Neither may block.
func (s *Store) listen(ctx context.Context, channel string, heard func(message string), gap func()) {
	pubsub := s.client.Subscribe(ctx, channel)
	defer pubsub.Close()
	// The driver connects again by itself, and sends a subscription when it has.
	messages := pubsub.ChannelWithSubscriptions(redis.WithChannelHealthCheckInterval(5 * time.Second))
	for {
		select {
		case <-ctx.Done():
			return
		case message, ok := <-messages:
			if !ok {
				return
			}
			switch message := message.(type) {
			case *redis.Message:
				heard(message.Payload)
			case *redis.Subscription:
				gap()
			}
		}
	}
}

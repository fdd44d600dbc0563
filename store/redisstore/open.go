package redisstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"leaderboard/store/redisconn"
)

// startWait is how long Redis may take to answer when the program starts.
const startWait = 10 * time.Second

// Open returns a client of the Redis at an address, as [redisconn.Parse] reads it, after a look at that Redis: one
// older than 6.2 is refused, one that does not answer too. One that may drop keys or keeps nothing on disk is warned
// about in log, where the client's own messages go as well. The caller closes the client.
func Open(ctx context.Context, address string, log *slog.Logger) (redis.UniversalClient, error) {
	options, err := redisconn.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("redisstore: open: the address of Redis %w", err)
	}
	redisconn.LogTo(log)
	client := redis.NewUniversalClient(options)
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	if err := inspectAll(ctx, client, log); err != nil {
		return nil, errors.Join(fmt.Errorf("redisstore: open %s: %w", strings.Join(options.Addrs, ", "), err), client.Close())
	}
	return client, nil
}

// inspectAll looks at every server that may hold keys.
func inspectAll(ctx context.Context, client redis.UniversalClient, log *slog.Logger) error {
	cluster, ok := client.(*redis.ClusterClient)
	if !ok {
		return inspect(ctx, client, log)
	}
	var one sync.Mutex // the servers are asked at once: what is said of one stays together
	return cluster.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error {
		one.Lock()
		defer one.Unlock()
		address := node.Options().Addr
		if err := inspect(ctx, node, log.With("node", address)); err != nil {
			return fmt.Errorf("node %s: %w", address, err)
		}
		return nil
	})
}

package redisstore_test

import (
	"testing"

	"leaderboard/store"
	"leaderboard/store/redisstore"
	"leaderboard/store/storetest"

	"github.com/redis/go-redis/v9"
)

func TestStoreOnRedisKeepsTheContract(t *testing.T) {
	t.Parallel()
	storetest.Suite{Open: open(storetest.Redis), Many: 3000}.Run(t)
}

func TestStoreOnTheEmbeddedRedisKeepsTheContract(t *testing.T) {
	t.Parallel()
	storetest.Suite{Open: open(storetest.Embedded), Many: 300}.Run(t)
}

func TestStoreOnAClusterKeepsTheContract(t *testing.T) {
	t.Parallel()
	cluster := storetest.Cluster(t)
	storetest.Suite{Open: open(cluster.Client), Many: 300}.Run(t)
}

// open returns two stores on one client and prefix, as two servers would have them.
func open(connect func(testing.TB) redis.UniversalClient) func(testing.TB) (one, other store.Store, clock *storetest.Clock) {
	return func(tb testing.TB) (one, other store.Store, clock *storetest.Clock) {
		tb.Helper()
		clock = storetest.NewClock()
		client, options := connect(tb), redisstore.Options{Prefix: storetest.Prefix(tb), Clock: clock.Now}
		return redisstore.New(client, options), redisstore.New(client, options), clock
	}
}

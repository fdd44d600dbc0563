package redisstore_test

import (
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"

	"leaderboard/store"
	"leaderboard/store/redisstore"
	"leaderboard/store/storetest"
)

func TestAPlayerTakesAtMost130BytesOfRedis(t *testing.T) {
	t.Parallel()
	server := storetest.Server(t)
	client := server.Client(t)
	s := redisstore.New(client, redisstore.Options{Prefix: "lb"})
	noActivity := func(settings *store.Settings) error {
		settings.ActivityCap = 0
		return nil
	}
	if _, _, err := s.PutBoard(t.Context(), "demo", noActivity); err != nil {
		t.Fatal(err)
	}

	const players = 100_000
	batch := make([]store.Submission, 0, store.MaxBatch)
	for i := range players {
		batch = append(batch, store.Submission{
			Player: store.PlayerID(fmt.Sprintf("player-%09d", i)), Points: store.Whole(int64(i*7919) % 9_999_991),
		})
		if len(batch) < store.MaxBatch {
			continue
		}
		outcomes, _, err := s.SubmitBatch(t.Context(), "demo", batch, store.Once{})
		if err != nil || outcomes[0].Err != nil || outcomes[len(batch)-1].Result.Total != int64(i+1) {
			t.Fatalf("batch up to %d: got %+v, %v", i, outcomes[len(outcomes)-1], err)
		}
		batch = batch[:0]
	}
	if got := memory(t, client); got > 130*players {
		t.Errorf("got %d bytes a player, want at most 130", got/players)
	}
}

// memory returns how many bytes all keys take. Samples 0 looks at every member.
func memory(t *testing.T, client redis.UniversalClient) int64 {
	t.Helper()
	total := int64(0)
	keys := client.Scan(t.Context(), 0, "*", 1000).Iterator()
	for keys.Next(t.Context()) {
		size, err := client.MemoryUsage(t.Context(), keys.Val(), 0).Result()
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d bytes", keys.Val(), size)
		total += size
	}
	if err := keys.Err(); err != nil {
		t.Fatal(err)
	}
	return total
}

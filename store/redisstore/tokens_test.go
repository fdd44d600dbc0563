package redisstore_test

import (
	"sync"
	"testing"

	"leaderboard/store/redisstore"
	"leaderboard/store/storetest"
)

func TestProcessesThatStartAtOnceShareTheKeysOfTokens(t *testing.T) {
	t.Parallel()
	client, prefix := storetest.Redis(t), storetest.Prefix(t)
	var (
		starts sync.WaitGroup
		mu     sync.Mutex
		kept   = map[string]bool{}
	)
	for _, made := range []string{"a", "b", "c", "d"} {
		starts.Go(func() {
			got, err := redisstore.New(client, redisstore.Options{Prefix: prefix}).TokenKeys(t.Context(), made)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			kept[got] = true
		})
	}
	starts.Wait()
	if len(kept) != 1 {
		t.Errorf("got the keys %v, want one for all", kept)
	}
	// Whoever runs the server changes them by hand.
	if err := client.Set(t.Context(), prefix+":{tokens}:keys", "new,old", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if got, err := redisstore.New(client, redisstore.Options{Prefix: prefix}).TokenKeys(t.Context(), "e"); got != "new,old" || err != nil {
		t.Errorf("got %q, %v, want those that were set", got, err)
	}
}

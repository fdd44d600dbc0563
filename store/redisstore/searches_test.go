package redisstore_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"leaderboard/store"
	"leaderboard/store/redisstore"
	"leaderboard/store/storetest"
)

func TestTheLastTenSearchesOfAPlayerAreKeptOnce(t *testing.T) {
	t.Parallel()
	client, prefix := storetest.Redis(t), storetest.Prefix(t)
	s := redisstore.New(client, redisstore.Options{Prefix: prefix})
	search := func(player store.PlayerID, text string) {
		t.Helper()
		if err := s.AddSearch(t.Context(), player, text); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 12 {
		search("mira", fmt.Sprintf("Name %d", i))
	}
	search("mira", "name 5")
	search("mira", "Straße")
	search("mira", "Straße")
	search("玩家", "other")
	got, err := s.Searches(t.Context(), "mira")
	want := []string{"Straße", "name 5", "Name 11", "Name 10", "Name 9", "Name 8", "Name 7", "Name 6", "Name 4", "Name 3"}
	if diff := gocmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("want −, got + (%v)\n%s", err, diff)
	}
	if left := client.TTL(t.Context(), prefix+":{p:mira}:searches").Val(); left < store.SearchesKept-time.Hour {
		t.Errorf("they are kept for %v, want %v", left, store.SearchesKept)
	}
	if got, err := s.Searches(t.Context(), "nobody"); err != nil || len(got) != 0 {
		t.Errorf("who never searched has %q (%v)", got, err)
	}
}

func TestOneSearchAtTwentyPlacesIsKeptOnce(t *testing.T) {
	t.Parallel()
	s := redisstore.New(storetest.Redis(t), redisstore.Options{Prefix: storetest.Prefix(t)})
	var runs sync.WaitGroup
	for range 20 {
		runs.Go(func() {
			if err := s.AddSearch(t.Context(), "mira", "zoe"); err != nil {
				t.Error(err)
			}
		})
	}
	runs.Wait()
	if got, _ := s.Searches(t.Context(), "mira"); len(got) != 1 {
		t.Errorf("got %q, want it once", got)
	}
}

package redisstore_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"leaderboard/store"
	"leaderboard/store/redisstore"
	"leaderboard/store/storetest"
)

// TestAnErasureAmongManyTakesSmallSteps prints what it takes to erase a person among a quarter of a million, with names,
// kept replies, a thousand seasons and a full audit. It takes a minute: LEADERBOARD_TEST_LONG=1 runs it.
func TestAnErasureAmongManyTakesSmallSteps(t *testing.T) {
	if os.Getenv("LEADERBOARD_TEST_LONG") == "" {
		t.Skip("takes a minute: LEADERBOARD_TEST_LONG=1 runs it")
	}
	server := storetest.Server(t, "--slowlog-log-slower-than", "5000", "--slowlog-max-len", "1000")
	client, hook := server.Client(t), &slowest{}
	s := redisstore.New(client, redisstore.Options{})
	_, _, err := s.PutBoard(t.Context(), "demo", func(settings *store.Settings) error {
		settings.KeepSeasons = 1000
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	erased := store.Submission{Player: "zoe", Points: store.Whole(1), Name: "Zoe", Once: store.Once{Key: "zoe", Fingerprint: "f"}}
	for season := range int64(1000) {
		if _, err := s.Submit(t.Context(), "demo", erased); err != nil {
			t.Fatal(err)
		}
		closeOf(t, s, "demo", season+1)
	}
	const players = 250_000
	batch := make([]store.Submission, 0, store.MaxBatch)
	for i := range players {
		batch = append(batch, store.Submission{
			Player: store.PlayerID(fmt.Sprintf("player-%09d", i)), Name: store.Name(fmt.Sprint("Player ", i)), Points: store.Whole(int64(i)),
		})
		if len(batch) < store.MaxBatch {
			continue
		}
		if _, _, err := s.SubmitBatch(t.Context(), "demo", batch, store.Once{Key: fmt.Sprint(i), Fingerprint: "f"}); err != nil {
			t.Fatal(err)
		}
		batch = batch[:0]
	}
	for i := range 100_000 {
		act := store.Act{Who: "admin", Act: "player.ban", Board: "demo", Player: store.PlayerID(fmt.Sprint("player-", i%1000))}
		if err := s.Record(t.Context(), act); err != nil {
			t.Fatal(err)
		}
	}
	keys, err := client.DBSize(t.Context()).Result()
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Do(t.Context(), "SLOWLOG", "RESET").Err(); err != nil {
		t.Fatal(err)
	}
	client.AddHook(hook)
	began := time.Now()
	done, err := s.ErasePlayer(t.Context(), "zoe")
	t.Logf("%d keys: erased in %v, the longest trip %v", keys, time.Since(began), hook.took)
	if err != nil || !done {
		t.Errorf("got done %v, %v", done, err)
	}
	slow, err := client.SlowLogGet(t.Context(), -1).Result()
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range slow {
		t.Logf("a step took Redis %v: %.200q", step.Duration, step.Args)
	}
	if len(slow) > 20 { // of thousands; on a busy machine Redis itself has to wait now and then
		t.Errorf("%d steps took Redis more than 5ms", len(slow))
	}
}

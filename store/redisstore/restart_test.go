package redisstore_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/store"
	"leaderboard/store/redisstore"
	"leaderboard/store/storetest"
)

// sender adds points, one by one, to a player of its own and counts what it was told.
type sender struct {
	store  *redisstore.Store
	player store.PlayerID
	// repeats tells whether what has an unknown outcome is sent again under its idempotency key until that is known.
	repeats bool
	// batch is how many points go in one batch; 0: each goes alone.
	batch int

	told, unknown int64
}

func TestRestartsOfRedisLoseNothingAndDoubleNothing(t *testing.T) {
	t.Parallel()
	server := storetest.Server(t, "--appendonly", "yes", "--appendfsync", "always")
	client := server.Client(t)
	processes := []*redisstore.Store{
		redisstore.New(client, redisstore.Options{}), redisstore.New(server.Client(t), redisstore.Options{}),
	}
	adding := func(settings *store.Settings) error {
		settings.Policy = store.Sum
		return nil
	}
	if _, _, err := processes[0].PutBoard(t.Context(), "demo", adding); err != nil {
		t.Fatal(err)
	}

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var all atomic.Int64 // submissions that were acknowledged
	senders := make([]*sender, 8)
	var working sync.WaitGroup
	for i := range senders {
		senders[i] = &sender{store: processes[i%2], player: store.PlayerID(fmt.Sprint("p", i)), repeats: i >= 3}
		if i >= 6 {
			senders[i].batch = 300 // three calls: a restart may come between them
		}
		working.Go(func() { senders[i].run(ctx, t, &all) })
	}
	for range 3 {
		waitForMore(t, &all, 200)
		if err := client.ScriptFlush(t.Context()).Err(); err != nil {
			t.Errorf("flush the scripts: %v", err)
		}
		waitForMore(t, &all, 200)
		server.Kill(t)
		if _, err := processes[0].Top(t.Context(), store.Look{Board: "demo"}, 0, 10); !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("a read while Redis is away: got %v, want ErrUnavailable", err)
		}
		server.Restart(t)
	}
	waitForMore(t, &all, 200)
	stop()
	working.Wait()
	for _, s := range senders {
		s.check(t)
	}
}

// waitForMore waits until that many more submissions were acknowledged.
func waitForMore(t *testing.T, all *atomic.Int64, more int64) {
	t.Helper()
	want := all.Load() + more
	deadline := time.Now().Add(20 * time.Second)
	for poll := time.NewTicker(time.Millisecond); all.Load() < want; <-poll.C {
		if time.Now().After(deadline) {
			t.Fatalf("got %d submissions acknowledged, want %d", all.Load(), want)
		}
	}
}

func (s *sender) run(ctx context.Context, t *testing.T, all *atomic.Int64) {
	for n := 0; ctx.Err() == nil; n++ {
		once := store.Once{}
		if s.repeats {
			once = store.Once{Key: fmt.Sprint(s.player, "-", n), Fingerprint: "f"}
		}
		for {
			err := s.send(t, once)
			if err == nil {
				s.told += int64(max(s.batch, 1))
				all.Add(1)
				break
			}
			if !errors.Is(err, store.ErrUnavailable) {
				t.Errorf("submit: got %v, want ErrUnavailable", err)
				return
			}
			pause(t)
			if !s.repeats {
				s.unknown++
				break
			}
		}
	}
}

// send sends one submission, or one batch, and returns an error unless all of it was applied.
func (s *sender) send(t *testing.T, once store.Once) error {
	submission := store.Submission{Player: s.player, Points: store.Whole(1)}
	if s.batch == 0 {
		submission.Once = once
		_, err := s.store.Submit(t.Context(), "demo", submission)
		return err
	}
	outcomes, _, err := s.store.SubmitBatch(t.Context(), "demo", slices.Repeat([]store.Submission{submission}, s.batch), once)
	for _, outcome := range outcomes {
		err = cmp.Or(err, outcome.Err)
	}
	return err
}

// pause lets a restarting server have the processor.
func pause(t *testing.T) {
	select {
	case <-t.Context().Done():
	case <-time.After(5 * time.Millisecond):
	}
}

func (s *sender) check(t *testing.T) {
	t.Helper()
	standing, err := s.store.Player(t.Context(), store.Look{Board: "demo"}, s.player)
	if err != nil {
		t.Errorf("player %s: %v", s.player, err)
		return
	}
	points := int64(standing.Points)
	if points < s.told || points > s.told+s.unknown {
		t.Errorf("%s has %d points: %d were acknowledged, and of %d nothing is known", s.player, points, s.told, s.unknown)
	}
}

func TestARedisThatMayNotWriteRefusesWholeAndStillAnswers(t *testing.T) {
	t.Parallel()
	server := storetest.Server(t)
	client := server.Client(t)
	s := redisstore.New(client, redisstore.Options{})
	if _, _, err := s.PutBoard(t.Context(), "demo", func(*store.Settings) error { return nil }); err != nil {
		t.Fatal(err)
	}
	submit := func(points int64) error {
		once := store.Once{Key: fmt.Sprint(points), Fingerprint: "f"}
		submission := store.Submission{Player: "p", Points: store.Whole(points), Name: "Pat", Once: once}
		_, err := s.Submit(t.Context(), "demo", submission)
		return err
	}
	if err := submit(1); err != nil {
		t.Fatal(err)
	}
	for i, trouble := range []struct{ setting, bad, good string }{
		{"maxmemory", "1", "0"},
		{"min-replicas-to-write", "1", "0"},
	} {
		if err := client.ConfigSet(t.Context(), trouble.setting, trouble.bad).Err(); err != nil {
			t.Fatal(err)
		}
		if err := submit(int64(i) + 2); !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("%s: got %v, want ErrUnavailable", trouble.setting, err)
		}
		page, err := s.Top(t.Context(), store.Look{Board: "demo"}, 0, 10)
		if err != nil || len(page.Entries) != 1 || page.Entries[0].Points != store.Points(i)+1 {
			t.Errorf("%s: got %v, %v, want the score of before", trouble.setting, page.Entries, err)
		}
		if err := client.ConfigSet(t.Context(), trouble.setting, trouble.good).Err(); err != nil {
			t.Fatal(err)
		}
		if err := submit(int64(i) + 2); err != nil {
			t.Errorf("%s: after the trouble: %v", trouble.setting, err)
		}
	}
}

package redisstore_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/store"
	"leaderboard/store/redisstore"
	"leaderboard/store/storetest"
)

// sender adds one point after the other to a player of its own and counts what it was told.
type sender struct {
	store  *redisstore.Store
	player store.PlayerID
	// repeats tells whether a submission whose outcome is unknown is sent again under its idempotency key until it is
	// known.
	repeats bool

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
		senders[i] = &sender{store: processes[i%2], player: store.PlayerID(fmt.Sprint("p", i)), repeats: i >= 4}
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
		submission := store.Submission{Player: s.player, Points: store.Whole(1)}
		if s.repeats {
			submission.Once = store.Once{Key: fmt.Sprint(s.player, "-", n), Fingerprint: "f"}
		}
		for {
			_, err := s.store.Submit(t.Context(), "demo", submission)
			if err == nil {
				s.told++
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

package live

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard/store"
	"leaderboard/store/redisstore"
	"leaderboard/store/storetest"
)

// TestThreeSeasonsOnTheEmbeddedStore has the real store, subscription and hub live through three seasons on a clock that
// is the test's.
func TestThreeSeasonsOnTheEmbeddedStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		redis := storetest.Embedded(t)
		log := slog.New(slog.DiscardHandler)
		var tops *Tops
		boards := redisstore.New(redis, redisstore.Options{Logger: log}) // as another process: it tells by publishing only
		changes := redisstore.NewChanges(redis, redisstore.ChangesOptions{
			Prefix: "lb", Logger: log,
			OnChange: func(c redisstore.Change) { tops.Changed(Change(c)) },
			OnGap:    func() { tops.Gap() },
		})
		tops = NewTops(boards, changes, log)
		hub, err := NewHub(tops, boards, Options{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(context.Background())
		var running sync.WaitGroup
		running.Go(func() { changes.Run(ctx) })
		running.Go(func() { tops.Run(ctx) })
		defer running.Wait()
		defer stop()

		_, _, err = boards.PutBoard(ctx, "demo", func(s *store.Settings) error {
			s.Schedule, s.LiveTop = "*/4 * * * *", 10
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		w := watchBoard(t, hub, "demo", 10)
		defer func() {
			hub.leave(w.reader)
			if err := hub.Close(ctx); err != nil {
				t.Error(err)
			}
		}()
		hub.watchPlayer(w.reader, "p0", false)
		for minute := range 12 {
			time.Sleep(time.Minute)
			player := store.PlayerID(fmt.Sprint("p", minute%3))
			if _, err := boards.Submit(ctx, "demo", store.Submission{Player: player, Points: store.Whole(int64(minute + 1))}); err != nil {
				t.Fatal(err)
			}
			// A score that closes a season is the second change of its moment.
			time.Sleep(frameGap)
			synctest.Wait()
			page, err := boards.Top(ctx, store.Look{Board: "demo"}, 0, 10)
			if err != nil {
				t.Fatal(err)
			}
			c := w.client(t)
			if err := c.expect(&page, 10); err != nil {
				t.Error(err)
			}
			i := slices.IndexFunc(page.Entries, func(e store.Entry) bool { return e.Player == "p0" })
			if (i < 0) != (c.You == nil) || c.You != nil && c.You.Rank != int64(i+1) {
				t.Errorf("minute %d: p0 is told %+v, and stands at %d", minute, c.You, i+1)
			}
		}
		c := w.client(t)
		if c.Season != 4 || c.seasons != 3 {
			t.Errorf("the reader is in season %d after %d season frames, want 4 after 3", c.Season, c.seasons)
		}
		if c.sent > 12*2 {
			t.Errorf("%d rows were sent for 12 scores", c.sent)
		}
	})
}

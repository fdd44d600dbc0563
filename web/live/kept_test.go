package live

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard/store"
)

// read reads a board that must be there, and checks how many loads the store has seen by then.
func read(t *testing.T, tops *Tops, l *ledger, id store.BoardID, fresh bool, loads int) *Kept {
	t.Helper()
	kept, err := tops.Read(t.Context(), id, fresh)
	if err != nil {
		t.Fatal(err)
	}
	if got := l.count(); got != loads {
		t.Errorf("the store has seen %d loads, want %d", got, loads)
	}
	return kept
}

func TestAQuietBoardIsReadOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		l.put("demo", 30, 20, 10)
		tops := keep(t, l)
		first := read(t, tops, l, "demo", false, 1)
		if len(first.Page().Entries) != 3 || first.Board().ID != "demo" {
			t.Errorf("got %+v", first.Page())
		}
		for range 100 {
			if read(t, tops, l, "demo", false, 1) != first {
				t.Fatal("another top without a change")
			}
		}
		if _, stale := first.Stale(); stale {
			t.Error("a top that was just read is stale")
		}
	})
}

func TestWhatMakesTheKeptTopStale(t *testing.T) {
	t.Parallel()
	later := func(f func(*Change)) func(*testing.T, *Tops, *ledger) {
		return func(_ *testing.T, tops *Tops, l *ledger) {
			c := l.state("demo")
			f(&c)
			tops.Changed(c)
		}
	}
	for name, c := range map[string]struct {
		happens func(*testing.T, *Tops, *ledger)
		loads   int
	}{
		"nothing":                        {func(*testing.T, *Tops, *ledger) {}, 1},
		"a newer version":                {later(func(c *Change) { c.Version++ }), 2},
		"another season":                 {later(func(c *Change) { c.Season++ }), 2},
		"new settings":                   {later(func(c *Change) { c.Rev++ }), 2},
		"another total":                  {later(func(c *Change) { c.Total++ }), 2},
		"a board made anew":              {later(func(c *Change) { c.Incarnation++; c.Version = 0 }), 2},
		"what is known":                  {later(func(*Change) {}), 1},
		"an older version":               {later(func(c *Change) { c.Version--; c.Total++ }), 1},
		"a board of that name before":    {later(func(c *Change) { c.Incarnation--; c.Version += 9 }), 1},
		"another board":                  {later(func(c *Change) { c.Board = "other"; c.Version++ }), 1},
		"an own write":                   {func(_ *testing.T, tops *Tops, _ *ledger) { tops.Wrote("demo", 2, 3) }, 2},
		"an own write of the total only": {func(_ *testing.T, tops *Tops, _ *ledger) { tops.Wrote("demo", 1, 4) }, 2},
		"an own write that is known":     {func(_ *testing.T, tops *Tops, _ *ledger) { tops.Wrote("demo", 1, 3) }, 1},
		"an own write elsewhere":         {func(_ *testing.T, tops *Tops, _ *ledger) { tops.Wrote("other", 9, 9) }, 1},
		"a gap":                          {func(_ *testing.T, tops *Tops, _ *ledger) { tops.Gap() }, 2},
		"almost three seconds":           {func(*testing.T, *Tops, *ledger) { time.Sleep(trust - 1) }, 1},
		"three seconds without a word":   {func(*testing.T, *Tops, *ledger) { time.Sleep(trust) }, 2},
		"a word that it is still true": {func(_ *testing.T, tops *Tops, l *ledger) {
			time.Sleep(2 * time.Second)
			tops.Changed(l.state("demo"))
			time.Sleep(2 * time.Second)
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := newLedger()
				l.put("demo", 30, 20, 10)
				tops := keep(t, l)
				read(t, tops, l, "demo", false, 1)
				c.happens(t, tops, l)
				read(t, tops, l, "demo", false, c.loads)
				read(t, tops, l, "demo", false, c.loads)
			})
		})
	}
}

func TestAFreshReadAsksTheStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		l.put("demo", 30)
		tops := keep(t, l)
		read(t, tops, l, "demo", false, 1)
		l.change("demo", func(s *sheet) { s.page.Entries[0].Points = 40 })
		if got := read(t, tops, l, "demo", true, 2).Page().Entries[0].Points; got != 40 {
			t.Errorf("got %d points, want 40", got)
		}
		if got := read(t, tops, l, "demo", false, 2).Page().Entries[0].Points; got != 40 {
			t.Errorf("afterwards: got %d points, want 40", got)
		}
	})
}

func TestAllWhoWaitShareOneLoad(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		l.put("demo", 30)
		tops := keep(t, l)
		gate := make(chan struct{})
		l.set(func() { l.gate = gate })
		var readers sync.WaitGroup
		for range 50 {
			readers.Go(func() {
				if _, err := tops.Read(t.Context(), "demo", false); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		close(gate)
		readers.Wait()
		if got := l.count(); got != 1 {
			t.Errorf("%d loads, want 1", got)
		}
	})
}

func TestALoadDoesNotServeWhoCameAfterALaterChange(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		l.put("demo", 30)
		tops := keep(t, l)
		first, second := make(chan struct{}), make(chan struct{})
		l.set(func() { l.gate = first })
		versions := make(chan int64, 30)
		ask := func() {
			kept, err := tops.Read(t.Context(), "demo", false)
			if err != nil {
				t.Error(err)
				return
			}
			versions <- kept.Page().Version
		}
		go ask()
		synctest.Wait() // the first load is on its way and is about to see version 1
		tops.Wrote("demo", 2, 1)
		for range 20 {
			go ask()
		}
		synctest.Wait()
		l.set(func() { l.gate = second })
		close(first)
		synctest.Wait()
		if got := <-versions; got != 1 {
			t.Errorf("the first reader got version %d, want 1", got)
		}
		if len(versions) > 0 {
			t.Fatalf("a reader who came after the change got version %d of a load from before", <-versions)
		}
		l.change("demo", func(s *sheet) { s.page.Version = 2 })
		close(second)
		for range 20 {
			if got := <-versions; got != 2 {
				t.Errorf("got version %d, want 2", got)
			}
		}
		if got := l.count(); got != 2 {
			t.Errorf("%d loads, want 2: all later readers share the next one", got)
		}
	})
}

func TestWithoutTheStoreOnlyKeptTopsAreServed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		l.put("demo", 30)
		l.put("unread", 30)
		tops := keep(t, l)
		read(t, tops, l, "demo", false, 1)
		l.set(func() { l.down, l.deaf = store.ErrUnavailable, store.ErrUnavailable })
		tops.Gap()
		time.Sleep(10 * time.Second)
		kept := read(t, tops, l, "demo", false, 2)
		if age, stale := kept.Stale(); !stale || age != 10*time.Second {
			t.Errorf("got age %v and stale %v, want 10s and true", age, stale)
		}
		if kept.Page().Entries[0].Points != 30 {
			t.Errorf("got %+v", kept.Page().Entries)
		}
		read(t, tops, l, "demo", false, 2) // a store that has just failed is left alone
		if _, err := tops.Read(t.Context(), "unread", false); !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("got %v, want unavailable", err)
		}
		if fresh := read(t, tops, l, "demo", true, 4); !fresh.stale {
			t.Error("a fresh read without a store is not stale")
		}

		l.set(func() { l.down, l.deaf = nil, nil })
		tops.Wrote("demo", 2, 1) // the store answered somebody: no need to wait
		if kept := read(t, tops, l, "demo", false, 5); kept.stale {
			t.Error("still stale with the store back")
		}
	})
}

func TestAStoreThatHangsHoldsNobodyForLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		l.put("demo", 30)
		tops := keep(t, l)
		read(t, tops, l, "demo", false, 1)
		l.set(func() { l.gate = make(chan struct{}) })
		tops.Gap()
		began := time.Now()
		if kept := read(t, tops, l, "demo", false, 2); !kept.stale || time.Since(began) != loadTime {
			t.Errorf("stale %v after %v, want true after %v", kept.stale, time.Since(began), loadTime)
		}
		if read(t, tops, l, "demo", false, 2); time.Since(began) != loadTime {
			t.Errorf("the next reader waited too: %v", time.Since(began))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := tops.Read(ctx, "demo", true); !errors.Is(err, store.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want unavailable and the deadline", err)
		}
		time.Sleep(time.Minute) // the load that nobody waits for ends by itself
	})
}

func TestWithoutASubscriptionEveryReadAsksTheStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		l.put("demo", 30)
		tops := keep(t, l)
		l.set(func() { l.deaf = store.ErrUnavailable })
		for i := range 3 {
			if kept := read(t, tops, l, "demo", false, i+1); kept.stale {
				t.Error("stale, though the store answers")
			}
		}
		l.set(func() { l.deaf = nil })
		read(t, tops, l, "demo", false, 4)
		read(t, tops, l, "demo", false, 4)
	})
}

func TestABoardThatIsGoneIsDropped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		tops := keep(t, l)
		if _, err := tops.Read(t.Context(), "demo", false); !errors.Is(err, store.ErrBoardNotFound) {
			t.Errorf("got %v, want no such board", err)
		}
		l.put("demo", 30)
		read(t, tops, l, "demo", false, 1)
		change := l.state("demo")
		l.set(func() { delete(l.boards, "demo") })
		change.Version++
		tops.Changed(change)
		var readers sync.WaitGroup
		for range 10 {
			readers.Go(func() {
				if _, err := tops.Read(t.Context(), "demo", false); !errors.Is(err, store.ErrBoardNotFound) {
					t.Errorf("got %v, want no such board", err)
				}
			})
		}
		readers.Wait()
		if len(tops.tops) != 0 || l.watched("demo", 1) != 0 {
			t.Errorf("%d tops and %d subscriptions are left, want none", len(tops.tops), l.watched("demo", 1))
		}

		l.put("demo", 50) // made anew
		l.change("demo", func(s *sheet) { s.board.Incarnation, s.board.Epoch, s.page.Epoch = 2, "e2", "e2" })
		if got := read(t, tops, l, "demo", false, 2).Page().Entries[0].Points; got != 50 {
			t.Errorf("got %d points, want 50", got)
		}
		if l.watched("demo", 2) != 1 {
			t.Error("the new board is not watched")
		}
	})
}

func TestWhoWaitsForTheNextLoadOfADroppedTopIsServedByAnother(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		l.put("demo", 30)
		tops := keep(t, l)
		gate := make(chan struct{})
		l.set(func() { l.gate = gate; l.errs = []error{store.ErrBoardNotFound} }) // gone for a moment
		first := make(chan error, 1)
		go func() {
			_, err := tops.Read(context.Background(), "demo", false)
			first <- err
		}()
		synctest.Wait()
		tops.Wrote("demo", 2, 0)
		later := make(chan error, 10)
		for range 10 {
			go func() {
				_, err := tops.Read(context.Background(), "demo", false)
				later <- err
			}()
		}
		synctest.Wait()
		close(gate)
		if err := <-first; !errors.Is(err, store.ErrBoardNotFound) {
			t.Errorf("got %v, want no such board", err)
		}
		for range 10 {
			if err := <-later; err != nil {
				t.Error(err)
			}
		}
		if len(tops.tops) != 1 || l.watched("demo", 1) != 1 {
			t.Errorf("%d tops and %d subscriptions, want one", len(tops.tops), l.watched("demo", 1))
		}
	})
}

func TestABoardMadeAnewIsWatchedInsteadOfTheOldOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		l.put("demo", 30)
		tops := keep(t, l)
		read(t, tops, l, "demo", false, 1)
		l.change("demo", func(s *sheet) { s.board.Incarnation, s.board.Epoch, s.page.Epoch = 2, "e2", "e2" })
		time.Sleep(trust) // nobody said so
		if got := read(t, tops, l, "demo", false, 2).Board().Incarnation; got != 2 {
			t.Errorf("got incarnation %d, want 2", got)
		}
		if l.watched("demo", 1) != 0 || l.watched("demo", 2) != 1 {
			t.Errorf("subscriptions %v, want that of incarnation 2", l.watch)
		}
	})
}

func TestWhatNobodyReadsIsDroppedAfterAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		l.put("read", 30)
		l.put("unread", 30)
		tops := keep(t, l)
		read(t, tops, l, "unread", false, 1)
		for i := range 40 {
			read(t, tops, l, "read", false, i+2)
			time.Sleep(trust)
		}
		if tops.find("unread") != nil || l.watched("unread", 1) != 0 {
			t.Error("a top that nobody reads is kept")
		}
		if tops.find("read") == nil || l.watched("read", 1) != 1 {
			t.Error("a top that is read was dropped")
		}
		read(t, tops, l, "unread", false, 42)
		if l.watched("unread", 1) != 1 {
			t.Error("not watched when it is read again")
		}
	})
}

func TestAPanicOfTheStoreIsAnError(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tops := NewTops(panics{}, newLedger(), slog.New(slog.DiscardHandler))
		if _, err := tops.Read(t.Context(), "demo", false); err == nil || !strings.Contains(err.Error(), "panic: boom") {
			t.Errorf("got %v, want the panic", err)
		}
	})
}

type panics struct{ Source }

func (panics) Board(context.Context, store.BoardID) (store.Board, error) { panic("boom") }

func TestRepliesAreEncodedOnce(t *testing.T) {
	t.Parallel()
	kept := &Kept{replies: new(replies)}
	made := 0
	encode := func() []byte { made++; return fmt.Append(nil, made) }
	key := []byte("limit=10")
	if got := kept.Encoded(string(key), encode); string(got) != "1" {
		t.Errorf("got %s, want 1", got)
	}
	copy(key, "XXXXXXXX") // as the web server does with its buffers
	if got := kept.Encoded("limit=10", encode); string(got) != "1" || made != 1 {
		t.Errorf("got %s made %d times, want 1 made once", got, made)
	}
	for i := range 100 {
		kept.Encoded(fmt.Sprint(i), encode)
	}
	if got := len(*kept.replies.list.Load()); got != maxReplies {
		t.Errorf("%d replies are kept, want %d", got, maxReplies)
	}
	if got := kept.Encoded("limit=10", encode); string(got) != "1" {
		t.Errorf("got %s, want 1", got)
	}
	if stale := kept.asStale().Encoded("limit=10", encode); slices.Equal(stale, []byte("1")) {
		t.Error("a stale top gave the reply of a fresh one")
	}
}

func TestReadingAQuietBoardAllocatesNothing(t *testing.T) {
	l := newLedger()
	l.put("demo", 30)
	tops := keep(t, l)
	ctx := t.Context()
	encode := func() []byte { return []byte("x") }
	allocations := testing.AllocsPerRun(1000, func() {
		kept, err := tops.Read(ctx, "demo", false)
		if err != nil {
			t.Fatal(err)
		}
		kept.Encoded("limit=10", encode)
	})
	if allocations != 0 {
		t.Errorf("%v allocations, want none", allocations)
	}
}

func TestReadersAndWritersAtOnceSeeTheirOwnWrites(t *testing.T) {
	t.Parallel()
	l := newLedger()
	l.put("demo", 1)
	tops := keep(t, l)
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for range 200 {
				var version int64
				l.change("demo", func(s *sheet) { s.page.Version++; version = s.page.Version })
				tops.Wrote("demo", version, 1)
				kept, err := tops.Read(t.Context(), "demo", false)
				if err != nil {
					t.Error(err)
					return
				}
				if got := kept.Page().Version; got < version {
					t.Errorf("wrote version %d and read %d", version, got)
				}
			}
		})
	}
	clients.Go(func() {
		for range 50 {
			tops.Gap()
			tops.Changed(l.state("demo"))
			tops.sweep()
		}
	})
	clients.Wait()
}

func BenchmarkReadingAQuietBoard(b *testing.B) {
	l := newLedger()
	l.put("demo", 30)
	tops := NewTops(l, l, slog.New(slog.DiscardHandler))
	ctx := b.Context()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := tops.Read(ctx, "demo", false); err != nil {
				b.Fatal(err)
			}
		}
	})
}

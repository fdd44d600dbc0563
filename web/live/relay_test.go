package live

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"leaderboard/store"
)

// raise gives the player at a place more points than the first, and says so.
func raise(l *ledger, tops *Tops, id store.BoardID, place int) {
	l.change(id, func(s *sheet) {
		e := s.page.Entries[place]
		e.Points = s.page.Entries[0].Points + 1
		rest := append(append([]store.Entry{}, s.page.Entries[:place]...), s.page.Entries[place+1:]...)
		s.page.Entries = append([]store.Entry{e}, rest...)
		renumber(s)
	})
	tops.Changed(l.state(id))
}

func renumber(s *sheet) {
	for i := range s.page.Entries {
		s.page.Entries[i].Rank = int64(i + 1)
	}
	s.page.Version++
}

func (w watcherOf) expectBoard(t *testing.T, l *ledger, id store.BoardID, limit int) *client {
	t.Helper()
	c := w.client(t)
	l.mu.Lock()
	page := l.boards[id].page
	l.mu.Unlock()
	if err := c.expect(&page, limit); err != nil {
		t.Error(err)
	}
	return c
}

func TestAReaderBeginsWithASnapshotAndGetsDeltas(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		l.put("demo", 50, 40, 30, 20, 10)
		h := newTestHub(t, l, Options{})
		w := watchBoard(t, h, "demo", 3)
		synctest.Wait()
		w.expectBoard(t, l, "demo", 3)
		time.Sleep(time.Second)
		raise(l, h.tops, "demo", 2)
		time.Sleep(time.Second)
		raise(l, h.tops, "demo", 4)
		time.Sleep(time.Second)
		c := w.expectBoard(t, l, "demo", 3)
		if got, want := w.kinds(), "snapshot delta delta"; got != want {
			t.Errorf("got frames %q, want %q", got, want)
		}
		if c.sent != 2 {
			t.Errorf("%d rows were sent for two climbers", c.sent)
		}
	})
}

func TestTheFirstChangeGoesOutAtOnceAndThenTenFramesASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		l.put("demo", 50, 40, 30, 20, 10)
		h := newTestHub(t, l, Options{})
		w := watchBoard(t, h, "demo", 5)
		time.Sleep(10 * time.Second)
		began := time.Now()
		for range 2000 { // a change each millisecond
			raise(l, h.tops, "demo", 4)
			time.Sleep(time.Millisecond)
		}
		time.Sleep(frameGap)
		synctest.Wait()
		w.expectBoard(t, l, "demo", 5)
		_, at := w.taken()
		if at = at[1:]; at[0] != began {
			t.Errorf("the first frame came after %v", at[0].Sub(began))
		}
		for i := range at[1:] {
			if gap := at[i+1].Sub(at[i]); gap < frameGap {
				t.Errorf("frame %d came %v after the one before", i+1, gap)
			}
		}
		if len(at) < 19 || len(at) > 22 {
			t.Errorf("%d frames in two seconds, want about 20", len(at))
		}
	})
}

func TestAMissedChangeIsRepairedWithinFiveSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		l.put("demo", 50, 40, 30)
		h := newTestHub(t, l, Options{})
		w := watchBoard(t, h, "demo", 3)
		for i := range 20 {
			time.Sleep(trust + time.Duration(i)*137*time.Millisecond)
			began := time.Now()
			l.change("demo", func(s *sheet) { s.page.Entries[0].Points++; s.page.Version++ }) // nobody says so
			time.Sleep(5 * time.Second)
			w.expectBoard(t, l, "demo", 3)
			if _, at := w.taken(); at[len(at)-1].Sub(began) > 5*time.Second {
				t.Errorf("repaired after %v", at[len(at)-1].Sub(began))
			}
		}
	})
}

func TestAGapIsRepairedAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		l.put("demo", 50, 40, 30)
		h := newTestHub(t, l, Options{})
		w := watchBoard(t, h, "demo", 3)
		time.Sleep(10 * time.Second)
		l.change("demo", func(s *sheet) { s.page.Entries[0].Points++; s.page.Version++ })
		h.tops.Gap()
		synctest.Wait()
		w.expectBoard(t, l, "demo", 3)
	})
}

func TestATotalAloneIsADeltaWithoutRows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		l.put("demo", 50, 40, 30)
		h := newTestHub(t, l, Options{})
		w := watchBoard(t, h, "demo", 3)
		time.Sleep(10 * time.Second)
		l.change("demo", func(s *sheet) { s.page.Total = 77 })
		h.tops.Changed(l.state("demo"))
		synctest.Wait()
		frames, _ := w.taken()
		if got, want := frames[len(frames)-1], `{"type":"delta","from":1,"version":1,"total":77,"changed":[],"removed":[]}`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

func TestWhatChangesOutOfSightIsToldOnceASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		l.put("demo", 50, 40, 30, 20)
		h := newTestHub(t, l, Options{})
		all, few := watchBoard(t, h, "demo", 4), watchBoard(t, h, "demo", 1)
		time.Sleep(10 * time.Second)
		for range 50 { // five seconds
			l.change("demo", func(s *sheet) { s.page.Entries[3].Points--; s.page.Version++ })
			h.tops.Changed(l.state("demo"))
			time.Sleep(frameGap)
		}
		time.Sleep(2 * quiet)
		if c := all.expectBoard(t, l, "demo", 4); c.deltas < 40 {
			t.Errorf("who sees the row got %d deltas, want about ten a second", c.deltas)
		}
		if c := few.expectBoard(t, l, "demo", 1); c.deltas < 4 || c.deltas > 7 || c.sent != 0 {
			t.Errorf("who does not see the row got %d deltas with %d rows, want about one a second without", c.deltas, c.sent)
		}
		l.change("demo", func(s *sheet) { s.page.Entries[0].Points++; s.page.Version++ })
		h.tops.Changed(l.state("demo"))
		synctest.Wait()
		few.expectBoard(t, l, "demo", 1)
	})
}

func TestANewSeasonIsASeasonFrameAndASnapshot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		l.put("demo", 50, 40, 30)
		h := newTestHub(t, l, Options{})
		w := watchBoard(t, h, "demo", 3)
		time.Sleep(10 * time.Second)
		l.change("demo", func(s *sheet) {
			s.page.Season.Number, s.board.Season.Number = 2, 2
			s.page.Version++
			s.board.Rev++
			s.page.Entries, s.page.Total = nil, 0
		})
		h.tops.Changed(l.state("demo"))
		synctest.Wait()
		w.expectBoard(t, l, "demo", 3)
		if got, want := w.kinds(), "snapshot season snapshot"; got != want {
			t.Errorf("got frames %q, want %q", got, want)
		}
	})
}

func TestANewEpochComesWithASnapshot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		l.put("demo", 50, 40, 30)
		h := newTestHub(t, l, Options{})
		w := watchBoard(t, h, "demo", 3)
		time.Sleep(10 * time.Second)
		l.change("demo", func(s *sheet) {
			s.page.Epoch, s.board.Epoch, s.board.Incarnation = "e2", "e2", 2
			s.page.Entries = s.page.Entries[:1]
		})
		time.Sleep(5 * time.Second) // the old board's channel is silent
		w.expectBoard(t, l, "demo", 3)
		if got, want := w.kinds(), "snapshot snapshot"; got != want {
			t.Errorf("got frames %q, want %q", got, want)
		}
		raise(l, h.tops, "demo", 0)
		synctest.Wait()
		w.expectBoard(t, l, "demo", 3)
	})
}

func TestReadersOfABoardThatIsGoneAreSentAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		l.put("demo", 50)
		l.put("other", 50)
		h := newTestHub(t, l, Options{})
		w, other := watchBoard(t, h, "demo", 3), watchBoard(t, h, "other", 3)
		time.Sleep(time.Second)
		change := l.state("demo")
		change.Version++
		l.set(func() { delete(l.boards, "demo") })
		h.tops.Changed(change)
		synctest.Wait()
		if w.seen().code != policyViolation || other.seen().code != 0 {
			t.Errorf("got close codes %d and %d, want %d and none", w.seen().code, other.seen().code, policyViolation)
		}
		l.put("demo", 70) // made anew while the old readers are still on their way out
		again := watchBoard(t, h, "demo", 3)
		synctest.Wait()
		again.expectBoard(t, l, "demo", 3)
		h.leave(w.reader)
		raise(l, h.tops, "demo", 0)
		time.Sleep(frameGap)
		synctest.Wait()
		again.expectBoard(t, l, "demo", 3)
	})
}

func TestWithoutTheStoreReadersStayAndCatchUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		l.put("demo", 50, 40)
		h := newTestHub(t, l, Options{})
		w := watchBoard(t, h, "demo", 3)
		time.Sleep(10 * time.Second)
		l.set(func() { l.down, l.deaf = store.ErrUnavailable, store.ErrUnavailable })
		h.tops.Gap()
		time.Sleep(time.Minute)
		l.change("demo", func(s *sheet) { s.page.Entries[0].Points++; s.page.Version++ })
		l.set(func() { l.down, l.deaf = nil, nil })
		time.Sleep(5 * time.Second)
		w.expectBoard(t, l, "demo", 3)
		if got, want := w.kinds(), "snapshot delta"; got != want {
			t.Errorf("got frames %q, want %q", got, want)
		}
	})
}

func TestABoardThatNobodyWatchesCostsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		l.put("demo", 50, 40)
		h := newTestHub(t, l, Options{})
		w := watchBoard(t, h, "demo", 3)
		time.Sleep(10 * time.Second)
		h.leave(w.reader)
		synctest.Wait()
		loads := l.count()
		for range 100 {
			raise(l, h.tops, "demo", 1)
			time.Sleep(time.Second)
		}
		if got := l.count(); got != loads {
			t.Errorf("%d loads for nobody", got-loads)
		}
		if len(h.relays) != 0 || l.watched("demo", 1) != 0 {
			t.Errorf("%d relays and %d subscriptions are left", len(h.relays), l.watched("demo", 1))
		}
		again := watchBoard(t, h, "demo", 3)
		synctest.Wait()
		again.expectBoard(t, l, "demo", 3)
	})
}

func TestFramesAreEncodedOnceForAllReadersWithOneLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		l.put("demo", 50, 40, 30)
		h := newTestHub(t, l, Options{})
		watchBoard(t, h, "demo", 2)
		r := h.relay("demo")
		for range 10 {
			watchBoard(t, h, "demo", 2)
			watchBoard(t, h, "demo", 3)
		}
		raise(l, h.tops, "demo", 1)
		time.Sleep(time.Second)
		r.mu.Lock()
		defer r.mu.Unlock()
		if len(r.groups) != 2 || r.count != 21 {
			t.Fatalf("%d groups of %d readers, want 2 of 21", len(r.groups), r.count)
		}
		for limit, g := range r.groups {
			frame := g.current.delta
			for _, reader := range g.readers {
				if reader.next.delta != frame {
					t.Errorf("limit %d: a reader has a frame of its own", limit)
				}
			}
		}
	})
}

// TestEveryReaderShowsTheBoard plays random histories of a board to readers who are now and then slow, ask again, come
// and go: after each, every reader shows the board.
func TestEveryReaderShowsTheBoard(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		var failure string
		synctest.Test(t, func(t *testing.T) { failure = playHistory(t, seed) })
		if failure != "" {
			rt.Fatal(failure)
		}
	})
}

func playHistory(t *testing.T, seed uint64) (failure string) {
	random := newRandom(seed)
	l := newLedger()
	l.put("demo", 9, 8, 7, 6, 5, 4, 3, 2, 1)
	h := newTestHub(t, l, Options{})
	readers := map[int]watcherOf{}
	next := 10
	for step := range 60 {
		switch who := random.IntN(6); random.IntN(12) {
		case 0:
			if w, ok := readers[who]; ok {
				w.set(func() { w.full = nil })
				h.leave(w.reader)
				delete(readers, who)
			} else {
				readers[who] = watchBoard(t, h, "demo", []int{1, 3, 5, 100}[random.IntN(4)])
			}
		case 1:
			if w, ok := readers[who]; ok {
				w.resync()
			}
		case 2: // stops taking anything in, or begins again
			if w, ok := readers[who]; ok {
				w.set(func() {
					if w.full == nil {
						w.full = make(chan struct{})
					} else {
						close(w.full)
						w.full = nil
					}
				})
			}
		case 3:
			time.Sleep(time.Duration(random.IntN(1500)) * time.Millisecond)
		default:
			l.change("demo", func(s *sheet) { next = shake(s, random, next) })
			if random.IntN(10) > 0 { // else the message is lost
				h.tops.Changed(l.state("demo"))
			}
			if random.IntN(3) > 0 {
				time.Sleep(time.Duration(random.IntN(150)) * time.Millisecond)
			}
		}
		_ = step
	}
	for _, w := range readers {
		w.set(func() {
			if w.full != nil {
				close(w.full)
				w.full = nil
			}
		})
	}
	time.Sleep(5 * time.Second)
	synctest.Wait()
	page := l.boards["demo"].page
	for who, w := range readers {
		c := &client{}
		frames, _ := w.taken()
		for i, f := range frames {
			if err := c.apply([]byte(f)); err != nil {
				return fmt.Sprintf("reader %d, frame %d: %v\n%s", who, i, err, strings.Join(frames[:i+1], "\n"))
			}
		}
		if err := c.expect(&page, w.group.limit); err != nil {
			return fmt.Sprintf("reader %d: %v", who, err)
		}
	}
	return ""
}

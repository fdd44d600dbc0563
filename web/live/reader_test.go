package live

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

func TestSlowReaderSkipsToTheNewestFrame(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		l.put("demo", 50, 40, 30, 20)
		h := newTestHub(t, l, Options{})
		slow, quick := watchBoard(t, h, "demo", 4), watchBoard(t, h, "demo", 4)
		time.Sleep(time.Second)
		full := make(chan struct{})
		slow.set(func() { slow.full = full })
		for range 20 {
			raise(l, h.tops, "demo", 3)
			time.Sleep(frameGap + time.Millisecond)
		}
		quick.expectBoard(t, l, "demo", 4)
		slow.set(func() { slow.full = nil })
		close(full)
		synctest.Wait()
		slow.expectBoard(t, l, "demo", 4)
		// The delta that it was stuck in goes out, then the present state at once.
		if got, want := slow.kinds(), "snapshot delta snapshot"; got != want {
			t.Errorf("got frames %q, want %q", got, want)
		}
		if got := counted(t, h.metrics.skipped); got != 18 {
			t.Errorf("%v skipped frames are counted, want 18", got)
		}
		raise(l, h.tops, "demo", 3)
		time.Sleep(frameGap)
		synctest.Wait()
		slow.expectBoard(t, l, "demo", 4)
		if got, want := slow.kinds(), "snapshot delta snapshot delta"; got != want {
			t.Errorf("got frames %q, want %q", got, want)
		}
	})
}

func TestSlowReaderHearsOfASeasonThatItSlept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		l.put("demo", 50, 40)
		h := newTestHub(t, l, Options{})
		w := watchBoard(t, h, "demo", 4)
		time.Sleep(time.Second)
		full := make(chan struct{})
		w.set(func() { w.full = full })
		for range 3 {
			raise(l, h.tops, "demo", 1)
			time.Sleep(time.Second)
			l.change("demo", func(s *sheet) {
				s.page.Season.Number++
				s.board.Season.Number++
				s.board.Rev++
				s.page.Version++
			})
			h.tops.Changed(l.state("demo"))
			time.Sleep(time.Second)
		}
		w.set(func() { w.full = nil })
		close(full)
		synctest.Wait()
		w.expectBoard(t, l, "demo", 4)
		if got, want := w.kinds(), "snapshot delta season snapshot"; got != want {
			t.Errorf("got frames %q, want %q", got, want)
		}
	})
}

func TestAReaderThatTakesNothingInIsGivenUpAfterTenSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		l.put("demo", 50, 40)
		h := newTestHub(t, l, Options{})
		w := watchBoard(t, h, "demo", 4)
		time.Sleep(time.Second)
		w.set(func() { w.full = make(chan struct{}) })
		began := time.Now()
		raise(l, h.tops, "demo", 1)
		time.Sleep(writeTime + time.Second)
		if got := w.seen().reading.Sub(began); got != writeTime {
			t.Errorf("its reading ends after %v, want %v", got, writeTime)
		}
		w.set(func() { w.full = nil }) // too late
		for range 10 {
			raise(l, h.tops, "demo", 1)
			w.resync()
			time.Sleep(frameGap)
		}
		if got := w.kinds(); got != "snapshot" {
			t.Errorf("got frames %q: somebody writes to who is gone", got)
		}
	})
}

func TestNobodyTouchesASocketAfterItsReaderHasLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		l.put("demo", 50, 40)
		h := newTestHub(t, l, Options{})
		w := watchBoard(t, h, "demo", 4)
		time.Sleep(time.Second)
		slow := &slowWire{fakeWire: w.fakeWire}
		w.reader.mu.Lock()
		w.wire = slow
		w.reader.mu.Unlock()
		raise(l, h.tops, "demo", 1)
		synctest.Wait() // a writer is at work
		h.leave(w.reader)
		if slow.writing.Load() {
			t.Error("the reader has left, and somebody writes to its socket")
		}
		w.beat() // as a handler would that is late
		h.tops.Gap()
		w.resync()
		w.sendAway(serviceRestart, "")
		w.alive(time.Hour)
		touched := slow.touched.Load()
		time.Sleep(time.Hour)
		if got := slow.touched.Load(); got != touched {
			t.Errorf("the socket was touched %d times after its reader had left", got-touched)
		}
	})
}

// slowWire takes a moment for each write, and counts who touches it.
type slowWire struct {
	*fakeWire
	writing atomic.Bool
	touched atomic.Int64
}

func (w *slowWire) send(*frame, time.Time) error {
	w.touched.Add(1)
	w.writing.Store(true)
	time.Sleep(time.Second)
	w.writing.Store(false)
	return nil
}

func (w *slowWire) ping(time.Time) error                 { w.touched.Add(1); return nil }
func (w *slowWire) goodbye(int, string, time.Time) error { w.touched.Add(1); return nil }
func (w *slowWire) stopReading(time.Time)                { w.touched.Add(1) }

func TestAResyncIsASnapshotOfThePresentState(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		l.put("demo", 50, 40)
		h := newTestHub(t, l, Options{})
		w := watchBoard(t, h, "demo", 4)
		time.Sleep(time.Second)
		w.resync()
		synctest.Wait()
		raise(l, h.tops, "demo", 1)
		w.resync() // before the state is there and after
		synctest.Wait()
		w.resync()
		synctest.Wait()
		w.expectBoard(t, l, "demo", 4)
		if got := w.kinds(); strings.Count(got, "snapshot") != 4 {
			t.Errorf("got frames %q, want the first snapshot and one for each resync", got)
		}
	})
}

func TestAReaderWhoIsSentAwayGetsTheCodeAndNothingMore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		l.put("demo", 50, 40)
		h := newTestHub(t, l, Options{})
		w := watchBoard(t, h, "demo", 4)
		synctest.Wait()
		began := time.Now()
		w.sendAway(serviceRestart, "going away")
		w.sendAway(policyViolation, "too late")
		synctest.Wait()
		w.alive(time.Hour) // a pong that comes now does not prolong it
		raise(l, h.tops, "demo", 1)
		time.Sleep(time.Minute)
		if w.seen().code != serviceRestart || w.seen().reason != "going away" {
			t.Errorf("got %d %q", w.seen().code, w.seen().reason)
		}
		if got := w.seen().reading.Sub(began); got != farewellTime {
			t.Errorf("its reading ends after %v, want %v", got, farewellTime)
		}
		if got := w.kinds(); got != "snapshot" || w.seen().pings != 0 {
			t.Errorf("got frames %q and %d pings after the farewell", got, w.seen().pings)
		}
	})
}

func TestPingsComeAtRandomMoments(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		l.put("demo", 50)
		h := newTestHub(t, l, Options{})
		var firsts []time.Duration
		for range 8 {
			w := watchBoard(t, h, "demo", 4)
			began := time.Now()
			w.beat()
			for w.seen().pings == 0 {
				time.Sleep(50 * time.Millisecond)
				synctest.Wait()
			}
			firsts = append(firsts, time.Since(began))
			time.Sleep(10 * time.Minute)
			if w.seen().pings < 10*60/25 || w.seen().pings > 10*60/12+2 {
				t.Errorf("%d pings in ten minutes", w.seen().pings)
			}
			h.leave(w.reader)
			pings := w.seen().pings
			if time.Sleep(time.Minute); w.seen().pings != pings {
				t.Error("pinged after it left")
			}
		}
		same := true
		for _, first := range firsts {
			same = same && first == firsts[0]
			if first < pingEvery/2 || first > pingEvery+100*time.Millisecond {
				t.Errorf("the first ping came after %v", first)
			}
		}
		if same {
			t.Errorf("all readers were pinged after %v", firsts[0])
		}
	})
}

func TestPrivateFramesOfASlowReaderAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		l.put("demo", 50)
		h := newTestHub(t, l, Options{})
		w := watchBoard(t, h, "demo", 4)
		synctest.Wait()
		full := make(chan struct{})
		w.set(func() { w.full = full })
		for i := range 1000 {
			w.tell(&frame{kind: activityFrame, text: fmt.Appendf(nil, `{"type":"activity","items":[%d]}`, i)})
		}
		w.set(func() { w.full = nil })
		close(full)
		synctest.Wait()
		items := w.client(t).Items
		if len(items) > maxPrivate+1 || string(items[len(items)-1]) != "999" {
			t.Errorf("got %d items up to %s, want the last %d", len(items), items[len(items)-1], maxPrivate)
		}
	})
}

func TestAPanicWhileWritingEndsOneReaderOnly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		l.put("demo", 50, 40)
		h := newTestHub(t, l, Options{})
		w, other := watchBoard(t, h, "demo", 4), watchBoard(t, h, "demo", 4)
		time.Sleep(time.Second)
		w.reader.mu.Lock()
		w.wire = panickyWire{w.fakeWire}
		w.reader.mu.Unlock()
		raise(l, h.tops, "demo", 1)
		time.Sleep(time.Second)
		raise(l, h.tops, "demo", 1)
		time.Sleep(time.Second)
		other.expectBoard(t, l, "demo", 4)
		if w.seen().reading.After(time.Now()) || counted(t, h.metrics.panics) != 1 {
			t.Errorf("reading ends at %v, %v panics counted", w.seen().reading, counted(t, h.metrics.panics))
		}
	})
}

type panickyWire struct{ *fakeWire }

func (panickyWire) send(*frame, time.Time) error { panic("boom") }

func TestAFailedWriteEndsTheReader(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		l.put("demo", 50, 40)
		h := newTestHub(t, l, Options{})
		w := watchBoard(t, h, "demo", 4)
		time.Sleep(time.Second)
		w.set(func() { w.bad = errors.New("broken pipe") })
		raise(l, h.tops, "demo", 1)
		synctest.Wait()
		if !w.seen().reading.Equal(time.Now()) {
			t.Errorf("its reading ends at %v, want now", w.seen().reading)
		}
	})
}

func TestClosingSendsAllReadersAwayInBatches(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		l.put("demo", 50, 40)
		h := newTestHub(t, l, Options{})
		const readers = 200
		var all []watcherOf
		for range readers {
			all = append(all, watchBoard(t, h, "demo", 4))
		}
		time.Sleep(time.Second)
		stalled := all[0]
		stalled.set(func() { stalled.full = make(chan struct{}) })
		raise(l, h.tops, "demo", 1)
		synctest.Wait()
		left := make(chan time.Duration, readers)
		began := time.Now()
		for _, w := range all { // what a handler does
			go func() {
				for {
					var done bool
					seen := w.seen()
					done = seen.code != 0 || !seen.reading.IsZero()
					if done {
						break
					}
					time.Sleep(time.Millisecond)
				}
				left <- time.Since(began)
				h.leave(w.reader)
			}()
		}
		ended := make(chan error)
		go func() { ended <- h.Close(t.Context()) }()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > 4*time.Second {
			t.Errorf("closing took %v", took)
		}
		moments := map[time.Duration]int{}
		for range readers {
			moments[<-left]++
		}
		if len(moments) < 10 {
			t.Errorf("readers left at %d moments only", len(moments))
		}
		for _, w := range all[1:] {
			if w.seen().code != serviceRestart {
				t.Errorf("got close code %d, want %d", w.seen().code, serviceRestart)
			}
		}
		kept, err := h.tops.Read(t.Context(), "demo", false)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := h.join(newFakeWire(), kept, 4); ok {
			t.Error("somebody came in after the close")
		}
		if h.Close(t.Context()) == nil {
			t.Error("closing twice is no error")
		}
	})
}

// counted returns what a counter or gauge says.
func counted(t *testing.T, metric prometheus.Metric) float64 {
	t.Helper()
	var m dto.Metric
	if err := metric.Write(&m); err != nil {
		t.Fatal(err)
	}
	return m.GetCounter().GetValue() + m.GetGauge().GetValue()
}

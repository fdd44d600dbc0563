package live

import (
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"time"

	"leaderboard/store"
)

// wire is what a reader needs of its socket. Only socket.go knows more.
type wire interface {
	// send writes a text frame; ping and goodbye write control frames. Each gives up after the deadline.
	send(f *frame, deadline time.Time) error
	ping(deadline time.Time) error
	goodbye(code int, reason string, deadline time.Time) error
	// stopReading makes the handler's read return at a time, also one that began before; stopWriting does the same for
	// the write that is under way.
	stopReading(at time.Time)
	stopWriting(at time.Time)
}

const (
	// writeTime is how long a write may take: whoever takes in nothing for so long is gone, or as good as gone.
	writeTime = 10 * time.Second
	// pingEvery is the longest time between pings; each waits a random part of its second half, so that readers who
	// came together do not answer together.
	pingEvery = 25 * time.Second
	// pongTime is how long the answer to a ping may take beyond that.
	pongTime = 10 * time.Second
	// farewellTime is how long a socket stays open for the other side to answer a close frame.
	farewellTime = time.Second
	// maxPrivate is how many frames for one player wait for a slow reader; the oldest goes first. The inbox and the
	// activity list have them all.
	maxPrivate = 16
)

// farewell is why a reader is sent away.
type farewell struct {
	code   int
	reason string
}

// reader is somebody who watches a board. What is to be written is a handful of slots, each with the newest of its
// kind; a goroutine that writes lives only while one of them is full.
type reader struct {
	wire    wire
	metrics *metrics
	log     *slog.Logger

	relay  *relay
	group  *group
	place  int            // in the group's list; the relay's lock guards it
	player store.PlayerID // whom the reader watches; this and owner are the handler's own
	owner  bool           // the reader showed the player's token

	mu        sync.Mutex
	next      *state
	again     bool // a snapshot was asked for
	you       *frame
	private   []*frame
	pinging   bool
	leaving   *farewell
	writing   bool
	gone      bool // nothing is written any more
	writers   sync.WaitGroup
	heartbeat *time.Timer
	expiry    *time.Timer

	// The writer's own, of which there is one at a time.
	written uint64 // number of the state that the other side has
	season  int64
}

// offer hands the reader a newer state. It never blocks.
func (r *reader) offer(s *state) { r.put(func() { r.next = s }) }

// resync has the newest state sent whole.
func (r *reader) resync() { r.put(func() { r.again = true }) }

// tellYou hands the reader where their player stands.
func (r *reader) tellYou(f *frame) { r.put(func() { r.you = f }) }

// tell hands the reader a frame for their player alone.
func (r *reader) tell(f *frame) {
	r.put(func() {
		if len(r.private) == maxPrivate {
			r.private = append(r.private[:0], r.private[1:]...)
			r.metrics.skipped.Inc()
		}
		r.private = append(r.private, f)
	})
}

// sendAway ends the connection with a close frame. Who takes in nothing gets none.
func (r *reader) sendAway(code int, reason string) {
	r.put(func() {
		if r.leaving == nil {
			r.leaving = &farewell{code, reason}
			r.wire.stopWriting(time.Now().Add(farewellTime))
		}
	})
}

// put fills a slot, and starts a writer unless one is at work.
func (r *reader) put(fill func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gone {
		return
	}
	fill()
	if !r.writing {
		r.writing = true
		r.writers.Go(r.write)
	}
}

// write writes until every slot is empty.
func (r *reader) write() {
	defer r.contain()
	for {
		err, more := r.writeNext()
		if !more {
			return
		}
		if err != nil {
			r.fail()
			return
		}
	}
}

// fail ends the connection of a reader who takes in nothing any more.
func (r *reader) fail() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gone = true
	// The handler reads: this wakes it. Closing the connection from here would not.
	r.wire.stopReading(time.Now())
	r.wire.stopWriting(time.Now())
}

// writeNext writes what stands first: a farewell makes all else needless, and a player's place follows the board, which
// is there from the first moment.
func (r *reader) writeNext() (err error, more bool) {
	r.mu.Lock()
	deadline := time.Now().Add(writeTime)
	switch {
	case r.gone:
		r.writing = false
		r.mu.Unlock()
		return nil, false
	case r.leaving != nil:
		leaving := *r.leaving
		r.gone = true
		r.mu.Unlock()
		return r.leave(leaving), true
	case r.next != nil && (r.again || r.next.number != r.written):
		s, again := r.next, r.again
		r.again = false
		r.mu.Unlock()
		return r.writeState(s, again, deadline), true
	case r.you != nil:
		f := r.you
		r.you = nil
		r.mu.Unlock()
		return r.send(f, deadline), true
	case len(r.private) > 0:
		f := r.private[0]
		r.private = r.private[1:]
		if len(r.private) == 0 {
			r.private = nil
		}
		r.mu.Unlock()
		return r.send(f, deadline), true
	case r.pinging:
		r.pinging = false
		r.mu.Unlock()
		return r.wire.ping(deadline), true
	}
	r.writing = false
	r.mu.Unlock()
	return nil, false
}

// writeState writes a state: the way from the one before where the other side has that, else all of it. Only what goes
// to somebody who was there before says how long a change took.
func (r *reader) writeState(s *state, again bool, deadline time.Time) error {
	f, late := s.delta, r.written > 0 && s.number > r.written
	if f == nil || r.written+1 != s.number || again {
		if r.season != 0 && r.season != s.season() {
			if err := r.send(newSeason(s.season()), deadline); err != nil {
				return err
			}
		}
		if late {
			r.metrics.skipped.Add(float64(s.number - r.written - 1))
		}
		f = s.whole()
	}
	r.written, r.season = s.number, s.season()
	err := r.send(f, deadline)
	if err == nil && late && !s.born.IsZero() {
		r.metrics.delay.Observe(time.Since(s.born).Seconds())
	}
	return err
}

func (r *reader) send(f *frame, deadline time.Time) error {
	err := r.wire.send(f, deadline)
	if err == nil {
		r.metrics.frames[f.kind].Inc()
		r.metrics.bytes.Add(float64(len(f.text)))
	}
	return err
}

// leave writes the close frame and gives the other side a moment to answer it.
func (r *reader) leave(f farewell) error {
	now := time.Now()
	if err := r.wire.goodbye(f.code, f.reason, now.Add(farewellTime)); err != nil {
		return err
	}
	r.wire.stopReading(now.Add(farewellTime))
	return nil
}

// beat pings now and then, from the first time on.
func (r *reader) beat() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.heartbeat = time.AfterFunc(pingPause(), func() {
		r.put(func() {
			r.pinging = true
			r.heartbeat.Reset(pingPause())
		})
	})
}

func pingPause() time.Duration { return pingEvery/2 + rand.N(pingEvery/2) }

// alive notes that the other side lives and has so much time for the next sign of it. The handler calls it.
func (r *reader) alive(until time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.gone { // else it would undo that the connection is to end
		r.wire.stopReading(time.Now().Add(until))
	}
}

// isLeaving reports whether the reader was sent away.
func (r *reader) isLeaving() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.leaving != nil
}

// expireAt sends the reader away when the token is no longer good that made the socket a player's.
func (r *reader) expireAt(at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.expiry = time.AfterFunc(time.Until(at), func() { r.sendAway(policyViolation, "token expired") })
}

// end stops all writing. When it returns, nobody touches the socket any more: it is about to belong to another.
func (r *reader) end() (sentAway *farewell) {
	r.mu.Lock()
	r.gone = true
	r.next, r.you, r.private = nil, nil, nil
	for _, timer := range []*time.Timer{r.heartbeat, r.expiry} {
		if timer != nil {
			timer.Stop()
		}
	}
	sentAway = r.leaving
	r.wire.stopWriting(time.Now())
	r.mu.Unlock()
	r.writers.Wait()
	return sentAway
}

// contain keeps a bug in here from ending the process. The reader is sent away without another write.
func (r *reader) contain() {
	if p := recover(); p != nil {
		r.metrics.panics.Inc()
		r.log.Error("live: panic while writing to a reader", "panic", p, "stack", string(debug.Stack()))
		r.fail()
	}
}

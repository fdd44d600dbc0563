package live

import (
	"sync"
	"time"

	"leaderboard/store"
)

// state is what readers with one limit see at one moment, and how to get there from the state before. All of them share
// it, and what it sends is encoded once.
type state struct {
	number uint64 // counts the states of a group: a delta leads from the one before
	kept   *Kept
	rows   []store.Entry
	delta  *frame    // nil: only a snapshot leads here
	born   time.Time // when the change was heard of; zero: nobody said so

	encode   sync.Once
	snapshot *frame
}

// whole returns the frame that shows the state to whoever has nothing.
func (s *state) whole() *frame {
	s.encode.Do(func() { s.snapshot = newSnapshot(s.kept.Page(), s.rows) })
	return s.snapshot
}

func (s *state) season() int64 { return s.kept.page.Season.Number }

// group are the readers of a board with one limit.
type group struct {
	limit   int
	current *state
	since   time.Time // of the current state
	readers []*reader
}

// quiet is how long a state waits that changes no row in sight. Like a total alone, a change of rows further down is
// told at most once a second.
const quiet = time.Second

// advance moves the group to a newer top. It returns the new state, or nil when nothing is to be told yet; owing tells
// that there will be. Born is when the change was heard of.
func (g *group) advance(kept *Kept, now, born time.Time) (next *state, owing bool) {
	page := &kept.page
	next = &state{number: 1, kept: kept, rows: page.Entries[:min(g.limit, len(page.Entries))], born: born}
	if g.current != nil {
		next.number = g.current.number + 1
		before := &g.current.kept.page
		if chained(before, page) {
			d := diff(g.current.rows, next.rows)
			if d.empty() {
				if before.Version == page.Version && before.Total == page.Total {
					return nil, false
				}
				if now.Sub(g.since) < quiet {
					return nil, true
				}
				next.born = time.Time{}
			}
			next.delta = newDelta(before.Version, page, next.rows, d)
		}
	}
	g.current, g.since = next, now
	return next, false
}

// chained reports whether a delta can lead from one page to the other.
func chained(a, b *store.Page) bool {
	return a.Epoch == b.Epoch && a.Season.Number == b.Season.Number && a.Season.Decimals == b.Season.Decimals &&
		a.Season.Order == b.Season.Order
}

// add and remove keep the place of each reader in the list, so that both cost the same however many there are.
func (g *group) add(r *reader) {
	r.place = len(g.readers)
	g.readers = append(g.readers, r)
}

func (g *group) remove(r *reader) {
	last := len(g.readers) - 1
	g.readers[r.place] = g.readers[last]
	g.readers[r.place].place = r.place
	g.readers[last] = nil
	g.readers = g.readers[:last]
}

package live

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"leaderboard/store"
)

// ledger is a source and its subscriptions where a test says what stands on the boards and when.
type ledger struct {
	mu     sync.Mutex
	boards map[store.BoardID]*sheet
	down   error         // what every read returns, while set
	errs   []error       // what the next calls of Top return
	deaf   error         // what Watch returns, while set
	gate   chan struct{} // while set, reads wait for it to close
	loads  int
	watch  map[string]int // calls of Watch less calls of Unwatch

	standings []store.Entry // of players below the top
	activity  map[store.PlayerID][]store.Activity
	lookups   [][]store.PlayerID
	late      chan struct{} // while set, answers of Lookup wait for it to close
}

// sheet is what stands on one board.
type sheet struct {
	board store.Board
	page  store.Page
}

func newLedger() *ledger {
	return &ledger{boards: map[store.BoardID]*sheet{}, watch: map[string]int{}, activity: map[store.PlayerID][]store.Activity{}}
}

// put makes a board, with one entry for each of the given points.
func (l *ledger) put(id store.BoardID, points ...store.Points) {
	l.mu.Lock()
	defer l.mu.Unlock()
	season := store.Season{Number: 1}
	s := &sheet{
		board: store.Board{ID: id, Incarnation: 1, Rev: 1, Epoch: "e1", Season: season},
		page:  store.Page{Board: id, Season: season, Epoch: "e1", Version: 1, Total: int64(len(points))},
	}
	s.board.Settings = store.DefaultSettings(id)
	for i, p := range points {
		s.page.Entries = append(s.page.Entries, store.Entry{
			Rank: int64(i + 1), Player: store.PlayerID(fmt.Sprint("p", i)), Points: p, AchievedAt: time.UnixMilli(int64(i)).UTC(),
		})
	}
	l.boards[id] = s
}

// change changes a board and says nothing.
func (l *ledger) change(id store.BoardID, f func(*sheet)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := *l.boards[id]
	s.page.Entries = append([]store.Entry(nil), s.page.Entries...)
	f(&s)
	l.boards[id] = &s
}

// state is what would be published of a board now.
func (l *ledger) state(id store.BoardID) Change {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.boards[id]
	return Change{
		Board: id, Incarnation: s.board.Incarnation, Version: s.page.Version, Season: s.page.Season.Number,
		Total: s.page.Total, Rev: s.board.Rev,
	}
}

func (l *ledger) set(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
}

func (l *ledger) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.loads
}

func (l *ledger) watched(id store.BoardID, incarnation int64) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.watch[fmt.Sprint(id, incarnation)]
}

func (l *ledger) Board(_ context.Context, id store.BoardID) (store.Board, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.boards[id]
	if s == nil && l.down == nil {
		return store.Board{}, fmt.Errorf("ledger: %w", store.ErrBoardNotFound)
	}
	if s == nil {
		return store.Board{}, l.down
	}
	return s.board, nil
}

func (l *ledger) Top(ctx context.Context, look store.Look, offset, limit int64) (store.Page, error) {
	l.mu.Lock()
	l.loads++
	gate := l.gate
	l.mu.Unlock()
	if gate != nil {
		select {
		case <-gate:
		case <-ctx.Done():
			return store.Page{}, fmt.Errorf("ledger: %w", store.ErrUnavailable)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.errs) > 0 {
		err := l.errs[0]
		l.errs = l.errs[1:]
		return store.Page{}, err
	}
	if l.down != nil {
		return store.Page{}, l.down
	}
	s := l.boards[look.Board]
	if s == nil {
		return store.Page{}, fmt.Errorf("ledger: %w", store.ErrBoardNotFound)
	}
	page := s.page
	page.Entries = append([]store.Entry(nil), page.Entries[:min(limit, int64(len(page.Entries)))]...)
	return page, nil
}

func (l *ledger) Watch(_ context.Context, id store.BoardID, incarnation int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.deaf != nil {
		return l.deaf
	}
	l.watch[fmt.Sprint(id, incarnation)] = 1
	return nil
}

func (l *ledger) Unwatch(id store.BoardID, incarnation int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.watch[fmt.Sprint(id, incarnation)]--
}

// Lookup answers from the board, and from what a test put into standings.
func (l *ledger) Lookup(_ context.Context, look store.Look, players []store.PlayerID) (
	store.Season, []store.Placed, []store.PlayerID, error,
) {
	season, placed, unknown, late, err := l.lookup(look.Board, players)
	if late != nil {
		<-late
	}
	return season, placed, unknown, err
}

func (l *ledger) lookup(id store.BoardID, players []store.PlayerID) (
	season store.Season, placed []store.Placed, unknown []store.PlayerID, late chan struct{}, err error,
) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lookups = append(l.lookups, append([]store.PlayerID(nil), players...))
	s := l.boards[id]
	if l.down != nil || s == nil {
		return season, nil, nil, l.late, errors.Join(l.down, store.ErrUnavailable)
	}
next:
	for _, player := range players {
		for _, list := range [][]store.Entry{s.page.Entries, l.standings} {
			for i := range list {
				if list[i].Player == player {
					placed = append(placed, store.Placed{Entry: list[i]})
					continue next
				}
			}
		}
		unknown = append(unknown, player)
	}
	return s.page.Season, placed, unknown, l.late, nil
}

func (l *ledger) Activity(_ context.Context, _ store.BoardID, player store.PlayerID, limit int64) ([]store.Activity, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.down != nil {
		return nil, l.down
	}
	items := l.activity[player]
	return append([]store.Activity(nil), items[:min(limit, int64(len(items)))]...), nil
}

// keep returns tops over a ledger, and has them run until the test ends.
func keep(t testing.TB, l *ledger) *Tops {
	t.Helper()
	tops := NewTops(l, l, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { tops.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	return tops
}

func newRandom(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// shake changes something of a board at random. Next is the number of the next new player.
func shake(s *sheet, random *rand.Rand, next int) int {
	entries := s.page.Entries
	place := random.IntN(len(entries) + 1)
	switch random.IntN(10) {
	case 0: // leaves
		if place < len(entries) {
			s.page.Entries = append(append([]store.Entry{}, entries[:place]...), entries[place+1:]...)
			s.page.Total--
		}
	case 1, 2: // comes
		fresh := store.Entry{Player: store.PlayerID(fmt.Sprint("p", next)), AchievedAt: time.UnixMilli(int64(next)).UTC()}
		next++
		s.page.Entries = append(append(append([]store.Entry{}, entries[:place]...), fresh), entries[place:]...)
		s.page.Total++
	case 3: // is called otherwise
		if place < len(entries) {
			entries[place].Name = store.Name(fmt.Sprint("name ", random.IntN(3)))
		}
	case 4: // only the total
		s.page.Total++
		return next
	case 5: // a season ends, now and then
		if random.IntN(4) == 0 {
			s.page.Season.Number++
			s.board.Season.Number++
			s.board.Rev++
			s.page.Entries, s.page.Total = nil, 0
		}
	default: // moves
		if to := random.IntN(len(entries) + 1); place < len(entries) && to < len(entries) {
			e := entries[place]
			e.Points++
			e.AchievedAt = e.AchievedAt.Add(time.Hour)
			rest := append(append([]store.Entry{}, entries[:place]...), entries[place+1:]...)
			s.page.Entries = append(append(append([]store.Entry{}, rest[:to]...), e), rest[to:]...)
		}
	}
	for i := range s.page.Entries {
		s.page.Entries[i].Rank = int64(i + 1)
	}
	s.page.Version++
	return next
}

package live

import (
	"context"
	"fmt"
	"log/slog"
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
	deaf   error         // what Watch returns, while set
	gate   chan struct{} // while set, reads wait for it to close
	loads  int
	watch  map[string]int // calls of Watch less calls of Unwatch

	tops *Tops // hears of changes; nil: nobody does
}

// sheet is what stands on one board.
type sheet struct {
	board store.Board
	page  store.Page
}

func newLedger() *ledger {
	return &ledger{boards: map[store.BoardID]*sheet{}, watch: map[string]int{}}
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

// keep returns tops over a ledger, and has them run until the test ends.
func keep(t *testing.T, l *ledger) *Tops {
	t.Helper()
	tops := NewTops(l, l, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { tops.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	return tops
}

package live

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"leaderboard/store"
)

// client does with frames what a browser does, and is strict about it.
type client struct {
	Board   string
	Season  int64
	Epoch   string
	Version int64
	Total   int64
	Rows    []row

	You      *row
	YouTotal int64
	Yous     int
	Items    []json.RawMessage // of activity frames
	Rewards  []string          // frames

	whole   int  // snapshots taken
	deltas  int  // deltas applied
	sent    int  // rows that came in deltas
	seasons int  // season frames
	moved   bool // a season frame came and its snapshot did not
}

// row is an entry as it stands in a frame.
type row struct {
	Rank       int64       `json:"rank"`
	Player     string      `json:"player"`
	Name       *string     `json:"name"`
	Points     json.Number `json:"points"`
	AchievedAt string      `json:"achieved_at"`
}

// apply takes a frame, or says why a client could not.
func (c *client) apply(text []byte) error {
	var f struct {
		Type    string            `json:"type"`
		Board   string            `json:"board"`
		Season  int64             `json:"season"`
		Epoch   string            `json:"epoch"`
		From    int64             `json:"from"`
		Version int64             `json:"version"`
		Total   int64             `json:"total"`
		Entries []row             `json:"entries"`
		Changed []row             `json:"changed"`
		Removed []string          `json:"removed"`
		Entry   *row              `json:"entry"`
		Items   []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(text, &f); err != nil {
		return err
	}
	switch f.Type {
	case "snapshot":
		if f.Entries == nil {
			return fmt.Errorf("entries are null")
		}
		c.Board, c.Season, c.Epoch, c.Version, c.Total, c.Rows = f.Board, f.Season, f.Epoch, f.Version, f.Total, f.Entries
		c.whole++
		c.moved = false
	case "delta":
		if f.From != c.Version || c.whole == 0 || c.moved {
			return fmt.Errorf("a delta from %d, but the client has %d", f.From, c.Version)
		}
		if f.Changed == nil || f.Removed == nil {
			return fmt.Errorf("changed or removed is null")
		}
		c.deltas++
		c.sent += len(f.Changed)
		return c.change(f.Version, f.Total, f.Changed, f.Removed)
	case "season":
		c.seasons++
		c.moved = true
	case "you":
		if c.whole == 0 {
			return fmt.Errorf("you came before the snapshot")
		}
		c.You, c.YouTotal = f.Entry, f.Total
		c.Yous++
	case "reward":
		c.Rewards = append(c.Rewards, string(text))
	case "activity":
		c.Items = append(c.Items, f.Items...)
	default:
		return fmt.Errorf("a frame of type %q", f.Type)
	}
	return nil
}

func (c *client) change(version, total int64, changed []row, removed []string) error {
	out := map[string]bool{}
	for _, player := range removed {
		if !slices.ContainsFunc(c.Rows, func(r row) bool { return r.Player == player }) {
			return fmt.Errorf("removed %q, who is not there", player)
		}
		out[player] = true
	}
	for _, r := range changed {
		out[r.Player] = true
	}
	c.Rows = slices.DeleteFunc(c.Rows, func(r row) bool { return out[r.Player] })
	for _, r := range changed {
		if r.Rank < 1 || int(r.Rank) > len(c.Rows)+1 {
			return fmt.Errorf("rank %d in a list of %d", r.Rank, len(c.Rows))
		}
		c.Rows = slices.Insert(c.Rows, int(r.Rank-1), r)
	}
	for i := range c.Rows {
		c.Rows[i].Rank = int64(i + 1)
	}
	c.Version, c.Total = version, total
	return nil
}

// expect fails unless the client shows the page, as far as its limit goes.
func (c *client) expect(page *store.Page, limit int) error {
	var want client
	if err := want.apply(newSnapshot(page, page.Entries[:min(limit, len(page.Entries))]).text); err != nil {
		return err
	}
	got, _ := json.Marshal([]any{c.Board, c.Season, c.Epoch, c.Version, c.Total, c.Rows})
	wanted, _ := json.Marshal([]any{want.Board, want.Season, want.Epoch, want.Version, want.Total, want.Rows})
	if string(got) != string(wanted) {
		return fmt.Errorf("the client shows\n%s\nthe board is\n%s", got, wanted)
	}
	return nil
}

// fakeWire is a socket of which a test sees what is written, and which can stop taking anything in.
type fakeWire struct {
	mu      sync.Mutex
	frames  []string
	at      []time.Time
	pings   int
	code    int // of the close frame
	reason  string
	reading time.Time // when reading ends

	full chan struct{} // while set, writes wait for it to close
	cut  chan struct{} // closed when writing was stopped
	bad  error         // what writes return, while set
}

func newFakeWire() *fakeWire { return &fakeWire{cut: make(chan struct{})} }

func (w *fakeWire) wait(deadline time.Time) error {
	w.mu.Lock()
	full, cut, bad := w.full, w.cut, w.bad
	w.mu.Unlock()
	if full == nil {
		return bad
	}
	select {
	case <-full:
		return bad
	case <-cut:
		return fmt.Errorf("writing was stopped")
	case <-time.After(time.Until(deadline)):
		return fmt.Errorf("timeout")
	}
}

func (w *fakeWire) send(f *frame, deadline time.Time) error {
	if err := w.wait(deadline); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.frames = append(w.frames, string(f.text))
	w.at = append(w.at, time.Now())
	return nil
}

func (w *fakeWire) ping(deadline time.Time) error {
	if err := w.wait(deadline); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pings++
	return nil
}

func (w *fakeWire) goodbye(code int, reason string, deadline time.Time) error {
	if err := w.wait(deadline); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.code, w.reason = code, reason
	return nil
}

func (w *fakeWire) stopReading(at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reading = at
}

func (w *fakeWire) stopWriting(at time.Time) {
	w.mu.Lock()
	cut := w.cut
	w.mu.Unlock()
	time.AfterFunc(time.Until(at), func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.cut == cut {
			close(cut)
			w.cut = make(chan struct{})
		}
	})
}

func (w *fakeWire) set(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
}

// seen is what has become of a socket.
type seen struct {
	pings, code int
	reason      string
	reading     time.Time
}

func (w *fakeWire) seen() seen {
	w.mu.Lock()
	defer w.mu.Unlock()
	return seen{w.pings, w.code, w.reason, w.reading}
}

// taken returns the frames written so far, and when.
func (w *fakeWire) taken() ([]string, []time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.frames), slices.Clone(w.at)
}

// kinds returns the types of the frames written so far.
func (w *fakeWire) kinds() string {
	frames, _ := w.taken()
	var kinds []string
	for _, f := range frames {
		_, rest, _ := strings.Cut(f, `{"type":"`)
		kind, _, _ := strings.Cut(rest, `"`)
		kinds = append(kinds, kind)
	}
	return strings.Join(kinds, " ")
}

// client returns what a browser shows that got all frames written so far.
func (w *fakeWire) client(t *testing.T) *client {
	t.Helper()
	c := &client{}
	frames, _ := w.taken()
	for i, f := range frames {
		if err := c.apply([]byte(f)); err != nil {
			t.Fatalf("frame %d: %v\n%s", i, err, f)
		}
	}
	return c
}

// watcherOf has a hub watch a board with a fake socket until the test ends.
type watcherOf struct {
	*fakeWire
	*reader
}

func watchBoard(t *testing.T, h *Hub, id store.BoardID, limit int) watcherOf {
	t.Helper()
	kept, err := h.tops.Read(t.Context(), id, false)
	if err != nil {
		t.Fatal(err)
	}
	w := newFakeWire()
	r, ok := h.join(w, kept, limit)
	if !ok {
		t.Fatal("the hub is closing")
	}
	t.Cleanup(func() {
		h.mu.RLock()
		in := h.readers[r]
		h.mu.RUnlock()
		if in {
			h.leave(r)
		}
	})
	return watcherOf{w, r}
}

func newTestHub(t testing.TB, l *ledger, options Options) *Hub {
	t.Helper()
	h, err := NewHub(keep(t, l), l, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		h.mu.RLock()
		closing := h.closing
		h.mu.RUnlock()
		if closing {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := h.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return h
}

package live

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"leaderboard/store"
)

// Options say how a [Hub] works.
type Options struct {
	Limits  Limits
	Origins []string // where pages may come from, besides the host itself: https://scores.example
	Tokens  Tokens   // nil: no token is good
	Inbox   Inbox    // nil: nobody is told of rewards

	Registerer prometheus.Registerer // nil: nobody counts
	Logger     *slog.Logger
}

// The close codes that the program sends by itself.
const (
	policyViolation = 1008
	messageTooBig   = 1009
	internalError   = 1011
	serviceRestart  = 1012
	tryAgainLater   = 1013
	lostConnection  = 1006 // never sent: stands for a connection that just ended
)

// Hub is who watches, on all boards of the process. There is a relay for each board that somebody watches.
type Hub struct {
	tops    *Tops
	places  Places
	tokens  Tokens
	origins origins
	gate    *gate
	metrics *metrics
	mail    *mail
	log     *slog.Logger
	running sync.WaitGroup // relays, and what reads watched players and rewards

	mu      sync.RWMutex
	relays  map[store.BoardID]*relay
	readers map[*reader]bool
	closing bool
	empty   chan struct{} // closed when the last reader has gone after closing began
}

// NewHub returns a hub that shows the given tops. [Hub.Close] ends it.
func NewHub(tops *Tops, places Places, options Options) (*Hub, error) {
	allowed, err := newOrigins(options.Origins)
	if err != nil {
		return nil, err
	}
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	h := &Hub{
		tops: tops, places: places, tokens: options.Tokens, origins: allowed, gate: newGate(options.Limits),
		metrics: newMetrics(options.Registerer), log: options.Logger,
		relays: map[store.BoardID]*relay{}, readers: map[*reader]bool{}, empty: make(chan struct{}),
	}
	h.mail = &mail{
		inbox: options.Inbox, earned: h.earned, metrics: h.metrics, log: h.log, running: &h.running, owners: map[store.PlayerID][]*reader{},
	}
	tops.onMark(h.heard)
	return h, nil
}

// Posted notes that players posted on a board: who watches them is told at once where they stand. It never blocks.
func (h *Hub) Posted(board store.BoardID, player store.PlayerID) {
	if r := h.relay(board); r != nil {
		r.players.posted(player)
	}
}

// earned notes that a player received a reward of a board: who watches with the player's token is told what they did.
func (h *Hub) earned(board store.BoardID, player store.PlayerID) {
	if r := h.relay(board); r != nil {
		r.players.earned(player)
	}
}

// Readers returns how many readers watch a board.
func (h *Hub) Readers(board store.BoardID) int {
	r := h.relay(board)
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.count
}

// heard takes that a board may have changed.
func (h *Hub) heard(board store.BoardID) {
	if r := h.relay(board); r != nil {
		r.heard()
	}
}

func (h *Hub) relay(board store.BoardID) *relay {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.relays[board]
}

// join lets a reader watch the first places of a board, of which kept is a recent state. It reports false when the hub
// is closing. The hub's lock is not held while a relay is joined: that waits while the relay hands a state to all of
// its readers, and whoever posts a score needs the hub's lock.
func (h *Hub) join(w wire, kept *Kept, limit int) (*reader, bool) {
	r := &reader{wire: w, metrics: h.metrics, log: h.log}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closing {
		return nil, false
	}
	h.readers[r] = true
	h.metrics.readers.Set(float64(len(h.readers)))
	for joined := false; !joined; {
		relay := h.relays[kept.board.ID]
		if relay == nil {
			relay = h.newRelay(kept)
			h.relays[kept.board.ID] = relay
			h.metrics.boards.Set(float64(len(h.relays)))
			h.running.Go(func() { h.run(relay) })
		}
		h.mu.Unlock()
		joined = relay.join(r, limit)
		h.mu.Lock()
		if !joined {
			h.forget(relay)
		}
	}
	return r, true
}

// forget makes room for another relay of a board. The caller holds mu.
func (h *Hub) forget(relay *relay) {
	if h.relays[relay.board] == relay {
		delete(h.relays, relay.board)
		h.metrics.boards.Set(float64(len(h.relays)))
	}
}

func (h *Hub) newRelay(kept *Kept) *relay {
	id := kept.board.ID
	r := &relay{
		board: id, tops: h.tops, metrics: h.metrics, log: h.log,
		players: newPlayers(id, h.places, h.metrics, h.log, &h.running),
		wake:    make(chan struct{}, 1), quit: make(chan struct{}), kept: kept, groups: map[int]*group{},
	}
	r.players.show(kept)
	r.wake <- struct{}{} // kept may be a moment old
	return r
}

// run runs a relay. A bug in one ends it and sends its readers away, nobody else's.
func (h *Hub) run(r *relay) {
	defer func() {
		if p := recover(); p != nil {
			h.metrics.panics.Inc()
			h.log.Error("live: panic in a relay", "board", r.board, "panic", p, "stack", string(debug.Stack()))
			r.close(internalError, "")
		}
	}()
	r.run()
}

// watchPlayer has a reader told where a player stands; own, when the reader showed the player's token: then of what is
// for the player alone, too. It takes the place of whom the reader watched before.
func (h *Hub) watchPlayer(r *reader, player store.PlayerID, own bool) {
	h.unwatchPlayer(r)
	r.player = player
	if own {
		r.owner = true
		h.mail.add(player, r)
	}
	r.relay.players.add(r, player, own)
}

func (h *Hub) unwatchPlayer(r *reader) {
	if r.player == "" {
		return
	}
	r.relay.players.remove(r, r.player)
	if r.owner {
		h.mail.remove(r.player, r)
	}
}

// leave takes a reader out. When it returns nobody touches the reader's socket any more.
func (h *Hub) leave(r *reader) (sentAway *farewell) {
	h.unwatchPlayer(r)
	ended := r.relay.leave(r)
	h.mu.Lock()
	if ended {
		h.forget(r.relay)
	}
	delete(h.readers, r)
	h.metrics.readers.Set(float64(len(h.readers)))
	if h.closing && len(h.readers) == 0 {
		close(h.empty)
	}
	h.mu.Unlock()
	return r.end()
}

// Close lets nobody in any more and sends all readers away, to come back to another process: in batches at random
// moments of the first half of the time there is, at most two seconds, so that they do not arrive there together. It
// returns when the last one has gone and everything has ended, or when the context ends; then with an error.
func (h *Hub) Close(ctx context.Context) error {
	h.gate.close()
	h.mu.Lock()
	if h.closing {
		h.mu.Unlock()
		return errors.New("live: close: closed before")
	}
	h.closing = true
	leaving := make([]*reader, 0, len(h.readers))
	for r := range h.readers {
		leaving = append(leaving, r)
	}
	if len(leaving) == 0 {
		close(h.empty)
	}
	h.mu.Unlock()

	h.sendAway(ctx, leaving)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		<-h.empty
		h.running.Wait()
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
	}
	h.mu.RLock()
	left := len(h.readers)
	for r := range h.readers {
		r.fail()
	}
	h.mu.RUnlock()
	select {
	case <-ended:
	case <-time.After(farewellTime):
	}
	return fmt.Errorf("live: close: %d readers were cut off: %w", left, ctx.Err())
}

// sendAway sends readers away in batches.
func (h *Hub) sendAway(ctx context.Context, leaving []*reader) {
	const batches = 20
	spread := 2 * time.Second
	if deadline, ok := ctx.Deadline(); ok {
		spread = min(spread, time.Until(deadline)/2)
	}
	rand.Shuffle(len(leaving), func(i, j int) { leaving[i], leaving[j] = leaving[j], leaving[i] })
	size := (len(leaving) + batches - 1) / batches
	for len(leaving) > 0 {
		batch := leaving[:min(size, len(leaving))]
		leaving = leaving[len(batch):]
		for _, r := range batch {
			r.sendAway(serviceRestart, "going away")
		}
		if len(leaving) == 0 || spread <= 0 {
			continue
		}
		select {
		case <-time.After(rand.N(2 * spread / batches)):
		case <-h.empty:
			return
		case <-ctx.Done():
			spread = 0
		}
	}
}

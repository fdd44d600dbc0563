package live

import (
	"log/slog"
	"slices"
	"sync"

	"leaderboard/store"
)

// players are the players of one board whom somebody watches. Who stands in the kept top is known from it. The others
// are read: at once when they posted, else in turn.
type players struct {
	board   store.BoardID
	places  Places
	metrics *metrics
	log     *slog.Logger
	running *sync.WaitGroup
	wake    chan struct{} // has a token when somebody is due, or nobody is watched any more

	mu      sync.Mutex
	watched map[store.PlayerID]*watched
	turns   []*watched // all of them
	turn    int        // whose turn it is
	due     map[*watched]bool
	inTop   []*watched
	kept    *Kept
	index   map[store.PlayerID]int // of the kept top; nil until somebody needs it
	works   bool                   // the goroutine that reads lives
}

// watched is one player and who watches.
type watched struct {
	player   store.PlayerID
	watchers []watcher
	place    int // in turns

	frame  *frame // the last one told; nil while nothing is known
	entry  *store.Entry
	inTop  bool
	active bool // there may be activity that was not told
}

// watcher is a reader who watches a player.
type watcher struct {
	reader *reader
	own    bool            // with the player's token: private frames, too
	told   *store.Activity // the last one told
}

func newPlayers(board store.BoardID, places Places, m *metrics, log *slog.Logger, running *sync.WaitGroup) *players {
	return &players{
		board: board, places: places, metrics: m, log: log, running: running,
		wake: make(chan struct{}, 1), watched: map[store.PlayerID]*watched{}, due: map[*watched]bool{},
	}
}

// add has a reader told where a player stands: at once, and whenever that changes.
func (p *players) add(r *reader, player store.PlayerID, own bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.watched[player]
	if w == nil {
		w = &watched{player: player, place: len(p.turns)}
		p.watched[player] = w
		p.turns = append(p.turns, w)
		p.look(w)
	}
	w.watchers = append(w.watchers, watcher{reader: r, own: own})
	if own {
		w.active = true
	}
	if w.frame != nil {
		r.tellYou(w.frame)
	}
	if w.frame == nil || own {
		p.hurry(w)
	}
	if !p.works {
		p.works = true
		p.running.Go(p.work)
	}
}

// remove ends what add began.
func (p *players) remove(r *reader, player store.PlayerID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.watched[player]
	if w == nil {
		return
	}
	for i := range w.watchers {
		if w.watchers[i].reader == r {
			w.watchers = append(w.watchers[:i], w.watchers[i+1:]...)
			break
		}
	}
	if len(w.watchers) > 0 {
		return
	}
	delete(p.watched, player)
	delete(p.due, w)
	last := len(p.turns) - 1
	p.turns[w.place] = p.turns[last]
	p.turns[w.place].place = w.place
	p.turns[last] = nil
	p.turns = p.turns[:last]
	if len(p.watched) == 0 {
		p.inTop, p.index = nil, nil
		p.rouse()
	}
}

// posted notes that a player's own doing may have moved them.
func (p *players) posted(player store.PlayerID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w := p.watched[player]; w != nil {
		p.hurry(w)
	}
}

// earned notes that there is activity of a player, though nothing about their place changed.
func (p *players) earned(player store.PlayerID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.watched[player]
	if w != nil && slices.ContainsFunc(w.watchers, func(watcher watcher) bool { return watcher.own }) {
		w.active = true
		p.hurry(w)
	}
}

// show takes the newest top.
func (p *players) show(kept *Kept) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.kept
	if before == kept {
		return
	}
	p.kept, p.index = kept, nil
	if len(p.watched) == 0 {
		return
	}
	if before != nil && !chained(&before.page, &kept.page) { // another season: all stand elsewhere, or nowhere
		for _, w := range p.turns {
			w.frame, w.entry = nil, nil
			p.hurry(w)
		}
	}
	was := p.inTop
	p.inTop = nil
	for _, w := range was {
		w.inTop = false
	}
	for i := range kept.page.Entries {
		if w := p.watched[kept.page.Entries[i].Player]; w != nil {
			p.seen(w, &kept.page.Entries[i])
		}
	}
	for _, w := range was {
		if !w.inTop && p.watched[w.player] == w {
			p.hurry(w)
		}
	}
}

// look finds a player in the kept top. The caller holds mu.
func (p *players) look(w *watched) {
	if p.kept == nil {
		return
	}
	entries := p.kept.page.Entries
	if p.index == nil {
		p.index = make(map[store.PlayerID]int, len(entries))
		for i := range entries {
			p.index[entries[i].Player] = i
		}
	}
	if i, ok := p.index[w.player]; ok {
		p.seen(w, &entries[i])
	}
}

// seen notes that a player stands in the kept top. The caller holds mu.
func (p *players) seen(w *watched, entry *store.Entry) {
	w.inTop = true
	p.inTop = append(p.inTop, w)
	if !w.active {
		delete(p.due, w)
	}
	p.update(w, entry)
}

// hurry has a player read without waiting for their turn. The caller holds mu.
func (p *players) hurry(w *watched) {
	p.due[w] = true
	p.rouse()
}

func (p *players) rouse() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// update tells who watches where a player stands, if that is news. A nil entry means nowhere. The caller holds mu.
func (p *players) update(w *watched, entry *store.Entry) {
	if w.frame != nil && (entry == nil) == (w.entry == nil) &&
		(entry == nil || entry.Rank == w.entry.Rank && same(entry, w.entry)) {
		return
	}
	if w.frame != nil && entry != nil && (w.entry == nil || !same(entry, w.entry)) {
		for i := range w.watchers {
			if w.watchers[i].own {
				w.active = true
				p.hurry(w)
				break
			}
		}
	}
	total, decimals := p.kept.page.Total, p.kept.page.Season.Decimals
	if entry != nil {
		copied := *entry
		entry = &copied
		total = max(total, entry.Rank) // the kept total may be a second old
	}
	w.entry, w.frame = entry, newYou(entry, total, decimals)
	for i := range w.watchers {
		w.watchers[i].reader.tellYou(w.frame)
	}
}

package live

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"leaderboard/store"
)

// Places is where the places of watched players are read.
type Places interface {
	Lookup(ctx context.Context, look store.Look, players []store.PlayerID) (
		season store.Season, placed []store.Placed, unknown []store.PlayerID, err error)
	Activity(ctx context.Context, id store.BoardID, player store.PlayerID, limit int64) ([]store.Activity, error)
}

const (
	// lookupEvery is how often watched players are read who have no reason to have moved but others.
	lookupEvery = time.Second
	// maxLookup is how many players one read takes; if there are more they take turns.
	maxLookup = 1000
	// maxActivity is how many activities one frame has, and maxActive how many players' are read at a time.
	maxActivity = 20
	maxActive   = 100
)

// work reads where players stand, while somebody is watched.
func (p *players) work() {
	defer p.contain()
	turns := time.NewTicker(lookupEvery)
	defer turns.Stop()
	for {
		inTurn := false
		select {
		case <-p.wake:
		case <-turns.C:
			inTurn = true
		}
		batch, active, end := p.batch(inTurn)
		if end {
			return
		}
		if err := errors.Join(p.read(batch), p.readActivity(active)); err != nil {
			p.metrics.failures.Inc()
			if !errors.Is(err, store.ErrUnavailable) && !errors.Is(err, store.ErrBoardNotFound) {
				p.log.Error("live: read watched players", "board", p.board, "error", err)
			}
		}
		if !inTurn {
			<-time.After(frameGap) // who posts a hundred times a second is read ten times
		}
	}
}

// batch returns who is to be read now: those who are due, or those whose turn it is. It reports the end when nobody is
// watched any more.
func (p *players) batch(inTurn bool) (batch, active []store.PlayerID, end bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.watched) == 0 {
		p.works = false
		return nil, nil, true
	}
	take := func(w *watched) {
		if !w.inTop {
			batch = append(batch, w.player)
		}
		if w.active && len(active) < maxActive {
			w.active = false
			active = append(active, w.player)
		}
		if w.active {
			p.hurry(w)
		} else {
			delete(p.due, w)
		}
	}
	if inTurn {
		for range p.turns {
			if len(batch) == maxLookup {
				break
			}
			p.turn = (p.turn + 1) % len(p.turns)
			take(p.turns[p.turn])
		}
		return batch, active, false
	}
	for w := range p.due {
		if len(batch) == maxLookup || len(active) == maxActive {
			p.rouse()
			break
		}
		take(w)
	}
	return batch, active, false
}

// read reads where players stand and tells who watches.
func (p *players) read(batch []store.PlayerID) error {
	if len(batch) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), loadTime)
	defer cancel()
	p.metrics.lookups.Inc()
	season, placed, unknown, err := p.places.Lookup(ctx, store.Look{Board: p.board}, batch)
	if err != nil {
		return fmt.Errorf("live: look up players: %w", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if season.Number != p.kept.page.Season.Number {
		return nil // the new season is about to be shown, and then all are due
	}
	for i := range placed {
		p.found(placed[i].Player, &placed[i].Entry)
	}
	for _, player := range unknown {
		p.found(player, nil)
	}
	return nil
}

// found notes where a player stood when they were read. The caller holds mu.
func (p *players) found(player store.PlayerID, entry *store.Entry) {
	if w := p.watched[player]; w != nil && !w.inTop { // the top knows better by now
		p.update(w, entry)
	}
}

// readActivity tells players what they did, those of them who watch with their token.
func (p *players) readActivity(active []store.PlayerID) error {
	ctx, cancel := context.WithTimeout(context.Background(), loadTime)
	defer cancel()
	var failed error
	for _, player := range active {
		items, err := p.places.Activity(ctx, p.board, player, maxActivity)
		if err != nil {
			failed = fmt.Errorf("live: read activity: %w", err)
		}
		p.tellActivity(player, items, err != nil)
	}
	return failed
}

// tellActivity tells each reader who has the player's token what they were not told before.
func (p *players) tellActivity(player store.PlayerID, items []store.Activity, failed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.watched[player]
	if w == nil {
		return
	}
	w.active = w.active || failed // then with the player's next turn
	if len(items) == 0 {
		return
	}
	for i := range w.watchers {
		watcher := &w.watchers[i]
		if !watcher.own {
			continue
		}
		fresh := items
		if last := watcher.told; last != nil {
			fresh = items[:newer(items, last)]
		}
		watcher.told = &items[0]
		if len(fresh) > 0 {
			watcher.reader.tell(newActivity(fresh))
		}
	}
}

// newer returns how many of the items, newest first, came after the last one that was told.
func newer(items []store.Activity, last *store.Activity) int {
	for i := range items {
		// Several may share a millisecond.
		if items[i] == *last || items[i].At.Before(last.At) {
			return i
		}
	}
	return len(items)
}

// contain keeps a bug in here from ending the process. The next player to be watched starts the work again.
func (p *players) contain() {
	if c := recover(); c != nil {
		p.metrics.panics.Inc()
		p.log.Error("live: panic while reading watched players", "panic", c, "stack", string(debug.Stack()))
		p.mu.Lock()
		p.works = false
		p.mu.Unlock()
	}
}

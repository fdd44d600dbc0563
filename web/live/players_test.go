package live

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard/store"
)

// stand puts a player below the top of every board.
func (l *ledger) stand(player store.PlayerID, rank int64, points store.Points) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.standings = slices.DeleteFunc(l.standings, func(e store.Entry) bool { return e.Player == player })
	l.standings = append(l.standings, store.Entry{Rank: rank, Player: player, Points: points, AchievedAt: time.UnixMilli(int64(points)).UTC()})
}

func (l *ledger) lookedUp() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.lookups)
}

func (w watcherOf) expectYou(t *testing.T, rank int64, yous int) {
	t.Helper()
	c := w.client(t)
	if c.Yous != yous {
		t.Errorf("told %d times, want %d", c.Yous, yous)
	}
	switch {
	case rank == 0 && c.You != nil:
		t.Errorf("got %+v, want no entry", c.You)
	case rank > 0 && (c.You == nil || c.You.Rank != rank):
		t.Errorf("got %+v, want rank %d", c.You, rank)
	}
}

func TestAPlayerInTheTopIsToldFromIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		l.put("demo", 50, 40, 30, 20)
		h := newTestHub(t, l, Options{})
		w := watchBoard(t, h, "demo", 2)
		h.watchPlayer(w.reader, "p3", false)
		synctest.Wait()
		w.expectYou(t, 4, 1)
		if got := w.kinds(); got != "snapshot you" {
			t.Errorf("got frames %q, want you behind the snapshot", got)
		}
		time.Sleep(time.Second)
		raise(l, h.tops, "demo", 3)
		synctest.Wait()
		w.expectYou(t, 1, 2)
		time.Sleep(time.Minute)
		w.expectYou(t, 1, 2) // nothing changed: nothing is told
		if got := l.lookedUp(); got != 0 {
			t.Errorf("%d lookups for a player who stands in the top", got)
		}
	})
}

func TestAPlayerBelowTheTopIsReadOnceASecondAndAtOnceAfterAPost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		l.put("demo", 50, 40)
		l.stand("low", 500, 7)
		h := newTestHub(t, l, Options{})
		w := watchBoard(t, h, "demo", 2)
		h.watchPlayer(w.reader, "low", false)
		synctest.Wait()
		w.expectYou(t, 500, 1)
		if c := w.client(t); c.YouTotal != 500 {
			t.Errorf("got total %d beside rank 500", c.YouTotal)
		}
		time.Sleep(10*time.Second + frameGap)
		if got := l.lookedUp(); got < 10 || got > 12 {
			t.Errorf("%d lookups in ten seconds", got)
		}
		l.stand("low", 450, 7) // somebody above left
		time.Sleep(lookupEvery)
		w.expectYou(t, 450, 2)

		l.stand("low", 300, 9)
		h.Posted("demo", "low")
		h.Posted("demo", "nobody")
		h.Posted("other", "low")
		synctest.Wait()
		w.expectYou(t, 300, 3)
		looks := l.lookedUp()
		for range 1000 { // a post each millisecond
			h.Posted("demo", "low")
			time.Sleep(time.Millisecond)
		}
		if got := l.lookedUp() - looks; got > 13 {
			t.Errorf("%d lookups in a second of posts, want about ten", got)
		}
	})
}

func TestAPlayerWithoutAScoreIsToldSo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		l.put("demo", 50, 40)
		h := newTestHub(t, l, Options{})
		w := watchBoard(t, h, "demo", 2)
		h.watchPlayer(w.reader, "new", false)
		time.Sleep(5 * time.Second)
		w.expectYou(t, 0, 1)
		l.change("demo", func(s *sheet) { s.page.Entries[1].Player = "new"; s.page.Version++ }) // enters the top
		h.tops.Changed(l.state("demo"))
		synctest.Wait()
		w.expectYou(t, 2, 2)
		l.change("demo", func(s *sheet) { s.page.Entries = s.page.Entries[:1]; s.page.Version++ }) // and is removed
		time.Sleep(time.Second)
		h.tops.Changed(l.state("demo"))
		time.Sleep(2 * lookupEvery)
		w.expectYou(t, 0, 3)
	})
}

func TestMoreWatchedPlayersThanOneReadTakesTakeTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		l.put("demo", 50)
		const count = 2500
		h := newTestHub(t, l, Options{})
		w := watchBoard(t, h, "demo", 1)
		r := w.relay
		for i := range count {
			r.players.add(w.reader, store.PlayerID(fmt.Sprint("low", i)), false)
		}
		time.Sleep(time.Second)
		l.set(func() { l.lookups = nil })
		time.Sleep(6*lookupEvery + time.Millisecond)
		times := map[store.PlayerID]int{}
		var lookups [][]store.PlayerID
		l.set(func() { lookups = l.lookups })
		for _, batch := range lookups {
			if len(batch) > maxLookup {
				t.Errorf("one read took %d players", len(batch))
			}
			for _, player := range batch {
				times[player]++
			}
		}
		if len(lookups) > 7 || len(times) != count {
			t.Errorf("%d reads reached %d of %d players in six seconds", len(lookups), len(times), count)
		}
		for player, n := range times {
			if n < 2 || n > 3 {
				t.Errorf("%s was read %d times, want 2 or 3", player, n)
			}
		}
		for i := range count {
			r.players.remove(w.reader, store.PlayerID(fmt.Sprint("low", i)))
		}
		time.Sleep(frameGap)
		synctest.Wait()
		r.players.mu.Lock()
		defer r.players.mu.Unlock()
		if p := r.players; len(p.watched) != 0 || len(p.turns) != 0 || len(p.due) != 0 || p.works {
			t.Errorf("%d watched, %d turns, %d due are left; works: %v", len(p.watched), len(p.turns), len(p.due), p.works)
		}
	})
}

func TestInANewSeasonAllAreToldAnew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		l.put("demo", 50, 40)
		l.stand("low", 500, 7)
		h := newTestHub(t, l, Options{})
		top, low := watchBoard(t, h, "demo", 2), watchBoard(t, h, "demo", 2)
		h.watchPlayer(top.reader, "p0", false)
		h.watchPlayer(low.reader, "low", false)
		time.Sleep(5 * time.Second)
		l.set(func() { l.standings = nil })
		l.change("demo", func(s *sheet) {
			s.page.Season.Number, s.board.Season.Number = 2, 2
			s.page.Version++
			s.board.Rev++
			s.page.Entries, s.page.Total = nil, 0
		})
		h.tops.Changed(l.state("demo"))
		time.Sleep(time.Second)
		top.expectYou(t, 0, 2)
		low.expectYou(t, 0, 2)
		if got := top.kinds(); got != "snapshot you season snapshot you" {
			t.Errorf("got frames %q", got)
		}
	})
}

func TestOnlyTheTokensPlayerIsToldWhatTheyDid(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		l.put("demo", 50, 40)
		l.stand("me", 500, 7)
		item := func(ms int64, points store.Points) store.Activity {
			return store.Activity{At: time.UnixMilli(ms).UTC(), Kind: store.NewBest, Points: points, Rank: 500}
		}
		l.set(func() { l.activity["me"] = []store.Activity{item(2, 7), item(1, 5)} })
		h := newTestHub(t, l, Options{})
		mine, other := watchBoard(t, h, "demo", 2), watchBoard(t, h, "demo", 2)
		h.watchPlayer(other.reader, "me", false)
		h.watchPlayer(mine.reader, "me", true)
		time.Sleep(time.Second)
		if got := len(mine.client(t).Items); got != 2 {
			t.Errorf("told %d activities at first, want 2", got)
		}
		l.stand("me", 400, 9)
		l.set(func() { l.activity["me"] = append([]store.Activity{item(2, 9), item(2, 8)}, l.activity["me"]...) })
		time.Sleep(2 * lookupEvery)
		if got := len(mine.client(t).Items); got != 4 {
			t.Errorf("told %d activities, want 4: those of one millisecond, too", got)
		}
		l.stand("me", 401, 9) // passed by another: nothing that they did
		time.Sleep(5 * time.Second)
		if got := len(mine.client(t).Items); got != 4 {
			t.Errorf("told %d activities, want 4", got)
		}
		if got := len(other.client(t).Items); got != 0 {
			t.Errorf("somebody without the token was told %d activities", got)
		}
		mine.expectYou(t, 401, 3)
		other.expectYou(t, 401, 3)
	})
}

func TestWatchedPlayersSurviveAnAbsentStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		l.put("demo", 50, 40)
		l.stand("me", 500, 7)
		l.set(func() { l.activity["me"] = []store.Activity{{At: time.UnixMilli(1).UTC(), Kind: store.NewBest}} })
		h := newTestHub(t, l, Options{})
		w := watchBoard(t, h, "demo", 2)
		l.set(func() { l.down = store.ErrUnavailable })
		h.watchPlayer(w.reader, "me", true)
		time.Sleep(20 * time.Second)
		w.expectYou(t, 0, 0)
		l.set(func() { l.down = nil })
		time.Sleep(2 * lookupEvery)
		w.expectYou(t, 500, 1)
		if got := len(w.client(t).Items); got != 1 {
			t.Errorf("told %d activities, want 1", got)
		}
	})
}

func TestTheTopKnowsBetterThanALookupThatIsLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		l.put("demo", 50, 40)
		l.stand("low", 500, 7)
		h := newTestHub(t, l, Options{})
		w := watchBoard(t, h, "demo", 2)
		h.watchPlayer(w.reader, "low", false)
		time.Sleep(time.Second)
		late := make(chan struct{})
		l.set(func() { l.late = late })
		h.Posted("demo", "low")
		synctest.Wait() // the lookup has seen rank 500, and its answer is on its way
		l.change("demo", func(s *sheet) { s.page.Entries[0].Player = "low"; s.page.Version++ })
		h.tops.Changed(l.state("demo"))
		synctest.Wait()
		w.expectYou(t, 1, 2)
		close(late)
		synctest.Wait()
		w.expectYou(t, 1, 2)
	})
}

package storetest

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"leaderboard/store"
)

// checkHistories plays random histories on a store and a [Model] side by side: every reply and, at the end, every read
// must be the model's.
func (s Suite) checkHistories(t *testing.T) {
	for _, backdated := range []bool{false, true} {
		name := "scores as they come"
		if backdated {
			name = "with times and slots handed in"
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := s.fixture(t)
			var boards atomic.Int64
			rapid.Check(t, func(rt *rapid.T) {
				here := *f
				here.reporter = rt
				h := newHistory(rt, &here, store.BoardID(fmt.Sprint("b", boards.Add(1))), backdated)
				rt.Repeat(h.acts())
				h.checkReads()
			})
		})
	}
}

// history is a board in the store and in the model.
type history struct {
	*fixture
	t         *rapid.T
	id        store.BoardID
	model     *Model
	players   []store.PlayerID
	backdated bool
}

func newHistory(t *rapid.T, f *fixture, id store.BoardID, backdated bool) *history {
	h := &history{fixture: f, t: t, id: id, backdated: backdated}
	for i := range rapid.IntRange(2, 24).Draw(t, "players") {
		h.players = append(h.players, store.PlayerID(fmt.Sprintf("%c%d", "zaZ0é"[i%5], i)))
	}
	start := f.clock.Now().Add(-time.Duration(rapid.IntRange(0, 5000).Draw(t, "ms since the start")) * time.Millisecond)
	h.model = NewModel(f.put(id, with(func(s *store.Settings) {
		s.StartsAt = start
		s.Order = rapid.SampledFrom([]store.Order{store.Desc, store.Asc}).Draw(t, "order")
		s.Policy = rapid.SampledFrom([]store.Policy{store.Best, store.Last, store.Sum}).Draw(t, "policy")
		s.Decimals = rapid.IntRange(0, 2).Draw(t, "decimals")
		// Ticks of a millisecond, a second, an hour.
		s.MaxPoints = rapid.SampledFrom([]int64{3, 10_000_000, 1 << 28}).Draw(t, "max points")
		s.LiveTop = rapid.IntRange(1, 5).Draw(t, "live top")
		s.ActivityCap = rapid.IntRange(0, 5).Draw(t, "activity cap")
	})))
	return h
}

func (h *history) acts() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"submit":  h.submitOne,
		"submit ": h.submitOne, // twice as often as the rest
		"batch":   h.submitBatch,
		"clock":   h.moveClock,
		"ban":     h.banOne,
		"unban":   h.unbanOne,
		"remove":  h.removeOne,
		"look":    func(*rapid.T) { h.checkOrder() },
	}
}

// process returns one of the two processes.
func (h *history) process(t *rapid.T) store.Store {
	return []store.Store{h.one, h.other}[rapid.IntRange(0, 1).Draw(t, "process")]
}

func (h *history) player(t *rapid.T) store.PlayerID {
	return rapid.SampledFrom(h.players).Draw(t, "player")
}

// submission draws a score of few distinct points, so that most are ties, and some out of range.
func (h *history) submission(t *rapid.T) store.Submission {
	points := store.Points(rapid.Int64Range(-3, 3).Draw(t, "points"))
	s := sub(h.player(t), points.Text(h.model.Season.Decimals))
	if rapid.IntRange(0, 3).Draw(t, "naming") == 0 {
		s.Name = rapid.SampledFrom([]store.Name{"Ann", "ANNA", "anne", "Bo"}).Draw(t, "name")
	}
	if !h.backdated {
		return s
	}
	slots := h.model.Season.Slots()
	switch rapid.IntRange(0, 3).Draw(t, "time") {
	case 0:
		s.AchievedAt = h.clock.Now().Add(-time.Duration(rapid.IntRange(-1, 4000).Draw(t, "ms ago")) * time.Millisecond)
	case 1:
		s.HasSlot = true
		s.Slot = rapid.SampledFrom([]int64{0, 1, 2, slots - 3, slots - 2, slots - 1, slots}).Draw(t, "slot")
	}
	return s
}

func (h *history) submitOne(t *rapid.T) {
	s := h.submission(t)
	got, err := h.process(t).Submit(h.ctx, h.id, s)
	h.compare(s, store.Outcome{Result: got, Err: err})
}

func (h *history) submitBatch(t *rapid.T) {
	var batch []store.Submission
	for range rapid.IntRange(1, 6).Draw(t, "length") {
		batch = append(batch, h.submission(t))
	}
	outcomes, _, err := h.process(t).SubmitBatch(h.ctx, h.id, batch, store.Once{})
	if err != nil || len(outcomes) != len(batch) {
		h.Fatalf("batch: got %d outcomes, %v", len(outcomes), err)
	}
	for i, s := range batch {
		h.compare(s, outcomes[i])
	}
}

func (h *history) compare(s store.Submission, got store.Outcome) {
	h.Helper()
	want, err := h.model.Submit(h.id, s, h.clock.Now())
	if _, ok := errors.AsType[*store.InvalidError](got.Err); ok && errors.Is(err, store.ErrBanned) {
		return // of two faults either may be named
	}
	if err != nil || got.Err != nil {
		h.fails(fmt.Sprintf("submit %+v", s), got.Err, err)
		return
	}
	h.equal(fmt.Sprintf("submit %+v", s), got.Result, want)
}

func (h *history) moveClock(t *rapid.T) {
	h.clock.Step(time.Duration(rapid.IntRange(-3000, 5000).Draw(t, "step in ms")) * time.Millisecond)
}

func (h *history) banOne(t *rapid.T) {
	player := h.player(t)
	total, err := h.process(t).Ban(h.ctx, h.id, player, "")
	h.model.Ban(player)
	if err != nil || total != h.model.Total() {
		h.Errorf("ban %s: got a total of %d, %v, want %d", player, total, err, h.model.Total())
	}
}

func (h *history) unbanOne(t *rapid.T) {
	player := h.player(t)
	total, err := h.process(t).Unban(h.ctx, h.id, player)
	want := h.model.Unban(player)
	if !sameFault(err, want) || err == nil && total != h.model.Total() {
		h.Errorf("unban %s: got a total of %d, %v, want %d, %v", player, total, err, h.model.Total(), want)
	}
}

func (h *history) removeOne(t *rapid.T) {
	player := h.player(t)
	err := h.process(t).RemovePlayer(h.ctx, h.id, player)
	if want := h.model.Remove(player); !sameFault(err, want) {
		h.Errorf("remove %s: got %v, want %v", player, err, want)
	}
}

// checkOrder compares the whole board.
func (h *history) checkOrder() {
	h.Helper()
	if !h.backdated {
		h.equal("the model's two orders", h.model.Players(), h.model.FirstCome())
	}
	page, err := h.one.Top(h.ctx, store.Look{Board: h.id}, 0, 100)
	if err != nil {
		h.Fatalf("top: %v", err)
	}
	h.equal("the board", page.Entries, h.model.Entries(h.clock.Now(), false))
	if page.Version != h.model.Version || page.Total != h.model.Total() {
		h.Errorf("got version %d and total %d, want %d and %d", page.Version, page.Total, h.model.Version, h.model.Total())
	}
}

// checkReads compares every read of the board with the model, with ordinal or with shared ranks.
func (h *history) checkReads() {
	h.checkOrder()
	l := store.Look{Board: h.id, SharedTies: rapid.Bool().Draw(h.t, "shared ties")}
	all := h.model.Entries(h.clock.Now(), l.SharedTies)
	h.checkPages(l, all)
	some := rapid.SliceOfNDistinct(rapid.SampledFrom(h.players), 1, min(4, len(h.players)), rapid.ID).Draw(h.t, "some")
	for _, player := range append(some, "nobody") {
		h.checkPlayer(l, all, player)
	}
	h.checkPoints(l, all)
	h.checkGroups(l, all)
	for _, player := range some {
		got, err := h.other.Activity(h.ctx, h.id, player, 3)
		want, wantErr := h.model.Activity(player)
		h.fails("activity of "+string(player), err, wantErr)
		h.equal("activity of "+string(player), got, want[:min(3, len(want))])
	}
}

func (h *history) checkPages(l store.Look, all []store.Entry) {
	var walked []store.Entry
	limit := rapid.Int64Range(3, 10).Draw(h.t, "limit")
	for page, err := h.other.Top(h.ctx, l, 0, limit); ; page, err = h.one.After(h.ctx, l, behind(page), limit) {
		if err != nil {
			h.Fatalf("walk: %v", err)
		}
		walked = append(walked, page.Entries...)
		if !page.More {
			break
		}
	}
	h.equal("a walk", walked, all)
	rows, err := collect(h.other.Export(h.ctx, l))
	if err != nil || len(rows) != len(all) {
		h.Fatalf("export: got %d rows, %v, want %d", len(rows), err, len(all))
	}
	for i, row := range rows {
		_, slot := h.model.Season.Unpack(all[i].Packed)
		h.equal("a row of the export", row, store.ExportRow{Entry: all[i], Slot: slot})
	}
}

func (h *history) checkPlayer(l store.Look, all []store.Entry, player store.PlayerID) {
	radius := rapid.IntRange(0, 4).Draw(h.t, "radius")
	limit := rapid.IntRange(0, 5).Draw(h.t, "rows")
	view, err := h.other.View(h.ctx, l, player, int64(limit), int64(radius))
	if err != nil {
		h.Fatalf("view: %v", err)
	}
	h.equal("top of the view", view.Entries, all[:min(limit, len(all))])
	h.equal("standing of "+string(player), view.Standing, Standing(all, h.model.Season, player))
	h.equal("around "+string(player), view.Around, Around(all, player, radius))
}

func (h *history) checkPoints(l store.Look, all []store.Entry) {
	decimal := func(points store.Points) store.Decimal { return number(points.Text(h.model.Season.Decimals)) }
	for range 3 {
		points := store.Points(rapid.Int64Range(-3, 3).Draw(h.t, "points"))
		got, err := h.one.RankOf(h.ctx, l, decimal(points))
		if want := h.model.RankOf(points, l.SharedTies); err != nil || got.Rank != want || got.Points != points {
			h.Errorf("rank of %d: got %+v, %v, want %d", points, got, err, want)
		}
		low, high := decimal(points), decimal(min(points+2, 3))
		page, count, err := h.one.Range(h.ctx, l, &low, &high, 4)
		if err != nil {
			h.Fatalf("range: %v", err)
		}
		want := slices.DeleteFunc(slices.Clone(all), func(e store.Entry) bool {
			return e.Points < points || e.Points > min(points+2, 3)
		})
		if count != int64(len(want)) {
			h.Errorf("range from %d: got a count of %d, want %d", points, count, len(want))
		}
		h.equal(fmt.Sprint("range from ", points), page.Entries, want[:min(4, len(want))])
	}
}

func (h *history) checkGroups(l store.Look, all []store.Entry) {
	group := append([]store.PlayerID{"nobody"}, h.players[len(h.players)/2:]...)
	_, placed, unknown, err := h.other.Lookup(h.ctx, l, group)
	if err != nil {
		h.Fatalf("lookup: %v", err)
	}
	wantPlaced, wantUnknown := Lookup(all, group, l.SharedTies)
	h.equal("lookup", placed, wantPlaced)
	h.equal("lookup of unknown ones", unknown, wantUnknown)
	for _, prefix := range []string{"a", "ANN", "anna", "b"} {
		page, err := h.other.Search(h.ctx, l, prefix, 100)
		if err != nil {
			h.Fatalf("search: %v", err)
		}
		h.equal("search "+prefix, page.Entries, Search(all, prefix))
	}
}

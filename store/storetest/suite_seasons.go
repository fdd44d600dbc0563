package storetest

import (
	"sync"
	"time"

	"leaderboard/store"
)

func seasonRules() []rule {
	return []rule{
		{"a season ends at its boundary, however late somebody looks", endsAtItsBoundary},
		{"a score at the boundary belongs to the next season", boundaryBelongsToTheNext},
		{"periods that nobody touched make no season", untouchedPeriodsMakeNone},
		{"a closed season is read by its own rules", closedSeasonKeepsItsRules},
		{"every read answers on a closed season", readsOnAClosedSeason},
		{"a ban reaches closed seasons and outlasts them", bansReachAllSeasons},
		{"many who find a season over close it once", manyCloseOnce},
	}
}

// daily makes the demo board a daily one; its clock shows noon.
func (f *fixture) daily() {
	f.Helper()
	f.put(demo, with(func(s *store.Settings) { s.Schedule = store.Daily }))
}

func midnight(t time.Time) time.Time { return t.Truncate(24*time.Hour).AddDate(0, 0, 1) }

func endsAtItsBoundary(f *fixture) {
	f.daily()
	end := midnight(f.clock.Now())
	f.submit("p", "5")
	before := f.everything()
	f.clock.Set(end.Add(-time.Millisecond))
	f.equal("just before the end", f.everything(), before)
	f.clock.Set(end.Add(7 * time.Hour))
	now := f.everything()
	if now.Season.Number != 2 || !now.Season.Start.Equal(end) || !now.Season.End.Equal(end.AddDate(0, 0, 1)) || now.Total != 0 {
		f.Errorf("got %+v with %d players, want an empty season 2 from %v", now.Season, now.Total, end)
	}
	if now.Version <= before.Version {
		f.Errorf("got version %d after %d", now.Version, before.Version)
	}
	closed, err := f.one.Top(f.ctx, store.Look{Board: demo, Season: 1}, 0, 10)
	if err != nil {
		f.Fatalf("season 1: %v", err)
	}
	f.equal("its entries", closed.Entries, before.Entries)
	if s := closed.Season; !s.Closed || !s.End.Equal(end) || s.Total != 1 || s.Reason != "schedule" || closed.Total != 1 {
		f.Errorf("got %+v, want it closed at %v with one player", s, end)
	}
}

func boundaryBelongsToTheNext(f *fixture) {
	f.daily()
	end := midnight(f.clock.Now())
	f.clock.Set(end.Add(-time.Millisecond))
	if got := f.submit("p", "5"); got.Season != 1 {
		f.Errorf("before the end: got season %d, want 1", got.Season)
	}
	f.clock.Set(end)
	if got := f.submit("p", "3"); got.Season != 2 || got.Points != 3 || got.PreviousRank != 0 || !got.AchievedAt.Equal(end) {
		f.Errorf("at the end: got %+v, want a first score in season 2", got)
	}
	outcomes, _, err := f.other.SubmitBatch(f.ctx, demo, []store.Submission{sub("q", "1")}, store.Once{})
	if err != nil || outcomes[0].Result.Season != 2 {
		f.Errorf("in another process: got %+v, %v, want season 2", outcomes, err)
	}
}

func untouchedPeriodsMakeNone(f *fixture) {
	f.daily()
	f.submit("p", "5")
	end := midnight(f.clock.Now())
	f.clock.Set(end.AddDate(0, 3, 4).Add(time.Hour))
	state := f.state(demo)
	if s := state.Season; s.Number != 2 || !s.Start.Equal(end.AddDate(0, 3, 4)) || !s.End.Equal(s.Start.AddDate(0, 0, 1)) {
		f.Errorf("got %+v, want season 2 from the latest midnight", state.Season)
	}
	if page, err := f.one.Top(f.ctx, store.Look{Board: demo, Season: 1}, 0, 1); err != nil || !page.Season.End.Equal(end) {
		f.Errorf("season 1: got %+v, %v, want an end at %v", page.Season, err, end)
	}
}

func closedSeasonKeepsItsRules(f *fixture) {
	f.put(demo, with(func(s *store.Settings) { s.Schedule, s.Decimals, s.Order = store.Daily, 2, store.Asc }))
	f.submit("a", "1.50")
	f.submit("b", "0.50")
	before := f.everything().Entries
	f.clock.Step(24 * time.Hour)
	f.put(demo, with(func(s *store.Settings) { s.Decimals, s.Order, s.MaxPoints, s.Policy = 0, store.Desc, 100, store.Sum }))
	f.submit("a", "1")
	page, err := f.other.Top(f.ctx, store.Look{Board: demo, Season: 1}, 0, 10)
	if err != nil {
		f.Fatalf("season 1: %v", err)
	}
	f.equal("its entries", page.Entries, before)
	if s := page.Season; s.Decimals != 2 || s.Order != store.Asc || s.Policy != store.Best {
		f.Errorf("got %+v, want the rules of before", s)
	}
	rank, err := f.other.RankOf(f.ctx, store.Look{Board: demo, Season: 1}, number("1.25"))
	if err != nil || rank.Rank != 2 || rank.Points != 125 {
		f.Errorf("rank of 1.25: got %+v, %v, want 2", rank, err)
	}
	if s := f.state(demo).Season; s.Decimals != 0 || s.Order != store.Desc || s.Policy != store.Sum {
		f.Errorf("the running season: got %+v", s)
	}
}

func readsOnAClosedSeason(f *fixture) {
	f.daily()
	f.fill(9, 8, 8, 7)
	f.clock.Step(time.Hour)
	before := f.everything().Entries
	f.clock.Step(24 * time.Hour)
	f.submit("p4", "100", named("Pat"))
	before[3].Name = "Pat" // names are of the board
	l := store.Look{Board: demo, Season: 1}
	view, err := f.other.View(f.ctx, l, "p3", 2, 1)
	if err != nil {
		f.Fatalf("view: %v", err)
	}
	f.equal("top", view.Entries, before[:2])
	f.equal("around", view.Around, before[1:])
	f.equal("standing", view.Standing, Standing(before, view.Season, "p3"))
	if standing, err := f.other.Player(f.ctx, l, "p4"); err != nil || standing.Rank != 4 || standing.Points != 7 {
		f.Errorf("player: got %+v, %v", standing, err)
	}
	page, err := f.other.After(f.ctx, l, behind(view.Page), 10)
	if err != nil {
		f.Fatalf("after: %v", err)
	}
	f.equal("after", page.Entries, before[2:])
	_, placed, unknown, err := f.other.Lookup(f.ctx, l, []store.PlayerID{"p1", "new"})
	if err != nil || len(placed) != 1 || len(unknown) != 1 {
		f.Errorf("lookup: got %v, %v, %v", placed, unknown, err)
	}
	if _, count, err := f.other.Range(f.ctx, l, nil, nil, 1); err != nil || count != 4 {
		f.Errorf("range: got %d, %v", count, err)
	}
	if rows, err := collect(f.other.Export(f.ctx, l)); err != nil || len(rows) != 4 {
		f.Errorf("export: got %v, %v", rows, err)
	}
	_, err = f.other.Top(f.ctx, store.Look{Board: demo, Season: 3}, 0, 1)
	f.fails("a season to come", err, store.ErrSeasonNotFound)
}

func bansReachAllSeasons(f *fixture) {
	f.daily()
	f.fill(9, 8, 7)
	f.clock.Step(24 * time.Hour)
	f.submit("p1", "1")
	f.ban("p1")
	f.clock.Step(24 * time.Hour)
	f.submit("p2", "1")
	f.refuse(store.ErrBanned, sub("p1", "5"))
	first, second := store.Look{Board: demo, Season: 1}, store.Look{Board: demo, Season: 2}
	page, err := f.other.Top(f.ctx, first, 0, 10)
	if err != nil {
		f.Fatalf("season 1: %v", err)
	}
	f.equal("season 1", players(page.Entries), []store.PlayerID{"p2", "p3"})
	f.unban("p1")
	if page, err = f.other.Top(f.ctx, first, 0, 10); err != nil {
		f.Fatalf("season 1: %v", err)
	}
	f.equal("season 1 after the unban", players(page.Entries), ids(1, 3))
	if page, err = f.other.Top(f.ctx, second, 0, 10); err != nil || len(page.Entries) != 1 {
		f.Errorf("season 2 after the unban: got %v, %v", page.Entries, err)
	}
	f.equal("season 3 after the unban", f.order(), []store.PlayerID{"p2"})
}

func manyCloseOnce(f *fixture) {
	f.daily()
	f.submit("p", "5")
	for day := range int64(5) {
		f.clock.Step(24 * time.Hour)
		var callers sync.WaitGroup
		for i := range 8 {
			callers.Go(func() {
				process := []store.Store{f.one, f.other}[i%2]
				result, err := process.Submit(f.ctx, demo, sub("p", "5"))
				if err != nil || result.Season != day+2 {
					f.Errorf("got %+v, %v, want season %d", result, err, day+2)
				}
			})
		}
		callers.Wait()
	}
	if got := f.state(demo).Season.Number; got != 6 {
		f.Errorf("got season %d, want 6", got)
	}
}

package storetest

import (
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"leaderboard/store"
)

func closingRules() []rule {
	return []rule{
		{"a season closed by hand ends now, and the next begins", closedByHandEndsNow},
		{"closing must name the running season", closingNamesTheSeason},
		{"closing twice is closing once", closingTwiceIsOnce},
		{"no more closed seasons are kept than asked for", oldSeasonsGo},
		{"a season with rewards is kept until they are paid", rewardedSeasonsStay},
		{"a reopened season runs on", reopenedRunsOn},
		{"a season that others build on is not reopened", notReopenable},
		{"a score lands in the season that its reply names", scoresLandWhereTheySay},
	}
}

func (f *fixture) closeSeason(number int64) store.BoardState {
	f.Helper()
	state, _, err := f.one.CloseSeason(f.ctx, demo, number, "by hand")
	if err != nil {
		f.Fatalf("close season %d: %v", number, err)
	}
	return state
}

// closed returns the numbers of the closed seasons that are kept.
func (f *fixture) closed() []int64 {
	f.Helper()
	seasons, err := f.other.ClosedSeasons(f.ctx, demo)
	if err != nil {
		f.Fatalf("seasons: %v", err)
	}
	numbers := []int64{}
	for _, season := range seasons {
		numbers = append(numbers, season.Number)
	}
	return numbers
}

func (f *fixture) season(number int64) (store.Page, error) {
	return f.other.Top(f.ctx, store.Look{Board: demo, Season: number}, 0, 1000)
}

func closedByHandEndsNow(f *fixture) {
	began := f.put(demo, keepAll)
	f.submit("p", "5", named("Pat"))
	now := f.clock.Step(90 * time.Minute)
	before := f.everything()
	state, ended, err := f.one.CloseSeason(f.ctx, demo, 1, "cheaters")
	if err != nil || !ended.Equal(now) {
		f.Fatalf("close: ended %v, %v, want %v", ended, err, now)
	}
	s := state.Season
	if s.Number != 2 || !s.Start.Equal(now) || s.Closed || state.Total != 0 || state.Version <= before.Version {
		f.Errorf("got %+v, want an empty season 2 from now", state)
	}
	f.equal("order", f.order(), []store.PlayerID{})
	page, err := f.season(1)
	if err != nil {
		f.Fatalf("season 1: %v", err)
	}
	f.equal("its entries", page.Entries, before.Entries)
	want := began.Season
	want.End, want.Closed, want.Closes, want.Reason, want.Total = now, true, 1, "cheaters", 1
	f.equal("its record", page.Season, want)
	seasons, err := f.other.ClosedSeasons(f.ctx, demo)
	if err != nil {
		f.Fatalf("seasons: %v", err)
	}
	f.equal("closed seasons", seasons, []store.Season{want})
	if got := f.submit("p", "3"); got.Season != 2 || got.PreviousRank != 0 {
		f.Errorf("got %+v, want a first score in season 2", got)
	}
}

// keepAll makes a board that keeps every season of these tests.
func keepAll(s *store.Settings) error {
	s.KeepSeasons = 100
	return nil
}

func closingNamesTheSeason(f *fixture) {
	f.put(demo, keepAll)
	for _, number := range []int64{2, 0, -1} {
		_, _, err := f.one.CloseSeason(f.ctx, demo, number, "")
		f.fails(fmt.Sprint("closing ", number), err, store.ErrSeasonNotRunning)
	}
	f.closeSeason(1)
	_, _, err := f.other.CloseSeason(f.ctx, demo, 1, "")
	f.fails("closing again", err, store.ErrSeasonNotRunning)
	f.equal("closed", f.closed(), []int64{1})
}

func closingTwiceIsOnce(f *fixture) {
	f.put(demo, keepAll)
	for number := int64(1); number <= 5; number++ {
		var closed atomic.Int64
		var admins sync.WaitGroup
		for i := range 8 {
			admins.Go(func() {
				_, _, err := []store.Store{f.one, f.other}[i%2].CloseSeason(f.ctx, demo, number, "")
				if err == nil {
					closed.Add(1)
				} else {
					f.fails("a second close", err, store.ErrSeasonNotRunning)
				}
			})
		}
		admins.Wait()
		if closed.Load() != 1 {
			f.Errorf("season %d was closed %d times", number, closed.Load())
		}
	}
	f.equal("closed", f.closed(), []int64{5, 4, 3, 2, 1})
}

func oldSeasonsGo(f *fixture) {
	f.put(demo, with(func(s *store.Settings) { s.KeepSeasons = 2 }))
	for number := int64(1); number <= 4; number++ {
		f.submit("p", fmt.Sprint(number))
		f.closeSeason(number)
	}
	f.equal("closed", f.closed(), []int64{4, 3})
	for number := int64(1); number <= 5; number++ {
		page, err := f.season(number)
		if number <= 2 {
			f.fails(fmt.Sprint("season ", number), err, store.ErrSeasonNotFound)
		} else if err != nil || number < 5 && page.Entries[0].Points != store.Points(number) {
			f.Errorf("season %d: got %v, %v", number, page.Entries, err)
		}
	}
	_, err := f.other.ReopenSeason(f.ctx, demo, 1)
	f.fails("reopening one that is gone", err, store.ErrSeasonNotFound)
	f.put("none", with(func(s *store.Settings) { s.KeepSeasons = 0 }))
	if _, _, err := f.one.CloseSeason(f.ctx, "none", 1, ""); err != nil {
		f.Fatalf("close: %v", err)
	}
	if seasons, err := f.other.ClosedSeasons(f.ctx, "none"); err != nil || len(seasons) != 0 {
		f.Errorf("keeping none: got %v, %v", seasons, err)
	}
}

func rewardedSeasonsStay(f *fixture) {
	gold := []store.Reward{{ID: "gold", Title: "Gold", Ranks: []int64{1, 1}}}
	f.put(demo, with(func(s *store.Settings) { s.KeepSeasons, s.Rewards = 1, gold }))
	f.submit("p", "5")
	f.closeSeason(1)
	f.put(demo, with(func(s *store.Settings) { s.Rewards = nil }))
	f.closeSeason(2)
	f.closeSeason(3)
	f.equal("closed", f.closed(), []int64{3, 1})
	page, err := f.season(1)
	if err != nil {
		f.Fatalf("season 1: %v", err)
	}
	f.equal("its rewards", page.Season.Rewards, gold)
}

func reopenedRunsOn(f *fixture) {
	for _, schedule := range []string{store.Manual, store.Daily} {
		began := f.put(demo, with(func(s *store.Settings) { s.Schedule = schedule }))
		f.submit("a", "5", named("Ann"))
		f.submit("b", "5")
		f.clock.Step(time.Minute)
		before := f.everything()
		f.closeSeason(1)
		f.clock.Step(time.Minute)
		state, err := f.one.ReopenSeason(f.ctx, demo, 1)
		if err != nil {
			f.Fatalf("%s: reopen: %v", schedule, err)
		}
		began.Season.Closes = 1
		f.equal(schedule+": the season", state.Season, began.Season)
		if state.Total != 2 || state.Version <= before.Version {
			f.Errorf("%s: got %d players at version %d", schedule, state.Total, state.Version)
		}
		f.equal(schedule+": the board", f.everything().Entries, before.Entries)
		f.equal(schedule+": closed", f.closed(), []int64{})
		if got := f.submit("c", "5"); got.Season != 1 || got.Rank != 3 {
			f.Errorf("%s: got %+v, want third in season 1", schedule, got)
		}
		f.closeSeason(1)
		page, err := f.season(1)
		if err != nil || page.Season.Closes != 2 || page.Total != 3 {
			f.Errorf("%s: closed again: got %+v, %v", schedule, page.Season, err)
		}
		if err := f.one.DeleteBoard(f.ctx, demo); err != nil {
			f.Fatalf("delete: %v", err)
		}
	}
}

func notReopenable(f *fixture) {
	f.put(demo, keepAll)
	f.submit("p", "5")
	reopen := func(what string, number int64, want error) {
		f.Helper()
		_, err := f.other.ReopenSeason(f.ctx, demo, number)
		f.fails(what, err, want)
	}
	reopen("a season to come", 2, store.ErrSeasonNotFound)
	f.closeSeason(1)
	f.submit("p", "5")
	reopen("while the new one has a score", 1, store.ErrNotReopenable)
	f.ban("p")
	reopen("while the new one has a score that is away", 1, store.ErrNotReopenable)
	f.unban("p")
	f.closeSeason(2)
	reopen("while a later one is closed", 1, store.ErrNotReopenable)
	reopen("the running one", 3, store.ErrNotReopenable)
	f.equal("closed", f.closed(), []int64{2, 1})
	if _, err := f.other.ReopenSeason(f.ctx, demo, 2); err != nil {
		f.Errorf("the last one: %v", err)
	}
}

// scoresLandWhereTheySay closes seasons while many submit. Each player submits once, so that a season shows who landed
// in it.
func scoresLandWhereTheySay(f *fixture) {
	f.put(demo, keepAll)
	const seasons = 20
	stop := make(chan struct{})
	landed := make([]map[store.PlayerID]int64, 8)
	var senders sync.WaitGroup
	for i := range landed {
		landed[i] = make(map[store.PlayerID]int64)
		senders.Go(func() {
			for n := 0; ; n++ {
				player := store.PlayerID(fmt.Sprintf("p%d.%d", i, n))
				result, err := []store.Store{f.one, f.other}[i%2].Submit(f.ctx, demo, sub(player, "5"))
				if err != nil {
					f.Errorf("submit: %v", err)
					return
				}
				landed[i][player] = result.Season
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	for number := int64(1); number <= seasons; number++ {
		f.clock.Step(time.Second)
		if _, _, err := []store.Store{f.one, f.other}[number%2].CloseSeason(f.ctx, demo, number, ""); err != nil {
			f.Errorf("close %d: %v", number, err)
		}
	}
	close(stop)
	senders.Wait()

	got, want := make(map[store.PlayerID]int64), make(map[store.PlayerID]int64)
	for _, mine := range landed {
		maps.Copy(want, mine)
	}
	for number := int64(1); number <= seasons+1; number++ {
		rows, err := collect(f.other.Export(f.ctx, store.Look{Board: demo, Season: number}))
		if err != nil {
			f.Fatalf("season %d: %v", number, err)
		}
		for _, row := range rows {
			if other, twice := got[row.Player]; twice {
				f.Errorf("%s stands in seasons %d and %d", row.Player, other, number)
			}
			got[row.Player] = number
		}
	}
	f.equal("seasons by player", got, want)
}

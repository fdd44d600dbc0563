package storetest

import (
	"time"

	"leaderboard/store"
)

func traceRules() []rule {
	return []rule{
		{"activity tells of every change of points, newest first", activityTellsChanges},
		{"the version counts changes inside the live top", versionCountsTheTop},
	}
}

func activityTellsChanges(f *fixture) {
	f.put(demo, with(func(s *store.Settings) { s.Policy, s.LiveTop, s.ActivityCap = store.Last, 1, 4 }))
	f.submit("q", "10")
	first := f.clock.Now()
	f.submit("p", "5")
	second := f.clock.Step(time.Second)
	f.submit("p", "6", named("Pat"))
	f.submit("p", "6", named("Pit"))
	third := f.clock.Step(time.Second)
	f.submit("p", "4")
	fourth := f.clock.Step(time.Second)
	f.submit("p", "20")
	want := []store.Activity{
		{At: fourth, Kind: store.EnteredTop, Points: 20, PreviousPoints: 4, HadPoints: true, Rank: 1, PreviousRank: 2},
		{At: third, Kind: store.NewScore, Points: 4, PreviousPoints: 6, HadPoints: true, Rank: 2, PreviousRank: 2},
		{At: second, Kind: store.NewBest, Points: 6, PreviousPoints: 5, HadPoints: true, Rank: 2, PreviousRank: 2},
		{At: first, Kind: store.NewBest, Points: 5, Rank: 2},
	}
	f.checkActivity("p", 50, want)
	f.checkActivity("p", 2, want[:2])
	fifth := f.clock.Step(time.Second)
	f.submit("p", "30")
	f.checkActivity("p", 50, append([]store.Activity{
		{At: fifth, Kind: store.NewBest, Points: 30, PreviousPoints: 20, HadPoints: true, Rank: 1, PreviousRank: 1},
	}, want[:3]...))
	_, err := f.one.Activity(f.ctx, demo, "nobody", 10)
	f.fails("activity of nobody", err, store.ErrPlayerNotFound)
	f.put(demo, with(func(s *store.Settings) { s.ActivityCap = 0 }))
	f.submit("r", "1")
	f.checkActivity("r", 10, nil)
}

func (f *fixture) checkActivity(player store.PlayerID, limit int64, want []store.Activity) {
	f.Helper()
	got, err := f.other.Activity(f.ctx, demo, player, limit)
	if err != nil {
		f.Fatalf("activity: %v", err)
	}
	f.equal("activity of "+string(player), got, want)
}

func versionCountsTheTop(f *fixture) {
	f.put(demo, with(func(s *store.Settings) { s.LiveTop = 2 }))
	version := f.state(demo).Version
	expect := func(what string, changes int64) {
		f.Helper()
		now := f.everything()
		if got := now.Version - version; got != changes {
			f.Errorf("%s: the version grew by %d, want %d", what, got, changes)
		}
		if state := f.state(demo); state.Version != now.Version || state.Epoch != now.Epoch || state.Total != now.Total {
			f.Errorf("%s: the board is at %d, %s, %d, the top at %d, %s, %d", what, state.Version, state.Epoch, state.Total,
				now.Version, now.Epoch, now.Total)
		}
		version = now.Version
	}
	f.submit("a", "10")
	expect("a first score", 1)
	f.submit("b", "9")
	f.submit("c", "8")
	expect("the second place, and the third that nobody watches", 1)
	f.submit("c", "8", named("Cleo"))
	expect("a name outside the top", 0)
	f.submit("c", "9")
	expect("a rise outside the top", 0)
	f.submit("b", "9", named("Bo"))
	expect("a name inside the top", 1)
	f.submit("b", "9", named("Bo"))
	f.submit("b", "3")
	expect("the same name and a worse score", 0)
	f.submit("c", "12")
	expect("a rise into the top", 1)
	f.equal("order", f.order(), []store.PlayerID{"c", "a", "b"})
	if _, err := f.one.Ban(f.ctx, demo, "b", ""); err != nil {
		f.Fatalf("ban: %v", err)
	}
	expect("a ban outside the top", 0)
	if _, err := f.one.Unban(f.ctx, demo, "b"); err != nil {
		f.Fatalf("unban: %v", err)
	}
	expect("an unban outside the top", 0)
	if _, err := f.one.Ban(f.ctx, demo, "c", ""); err != nil {
		f.Fatalf("ban: %v", err)
	}
	expect("a ban inside the top", 1)
	if _, err := f.one.Unban(f.ctx, demo, "c"); err != nil {
		f.Fatalf("unban: %v", err)
	}
	expect("an unban inside the top", 1)
	if err := f.one.RemovePlayer(f.ctx, demo, "a"); err != nil {
		f.Fatalf("remove: %v", err)
	}
	expect("a removal inside the top", 1)
}

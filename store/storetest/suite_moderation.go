package storetest

import (
	"fmt"
	"time"

	"leaderboard/store"
)

func moderationRules() []rule {
	return []rule{
		{"a banned player is gone from every view at once", bannedIsGone},
		{"a banned player's score is refused", bannedIsRefused},
		{"an unban brings back the old place, whatever came meanwhile", unbanBringsBack},
		{"a ban needs no score and is made once", banNeedsNoScore},
		{"a removed player is gone with name and activity", removedIsGone},
		{"a removed player begins anew", removedBeginsAnew},
		{"a ban outlasts a removal", banOutlastsRemoval},
	}
}

func (f *fixture) ban(player store.PlayerID) int64 {
	f.Helper()
	total, err := f.one.Ban(f.ctx, demo, player, "cheats")
	if err != nil {
		f.Fatalf("ban %s: %v", player, err)
	}
	return total
}

func (f *fixture) unban(player store.PlayerID) int64 {
	f.Helper()
	total, err := f.one.Unban(f.ctx, demo, player)
	if err != nil {
		f.Fatalf("unban %s: %v", player, err)
	}
	return total
}

func bannedIsGone(f *fixture) {
	f.put(demo, asIs)
	f.fill(9, 8, 8, 7)
	f.submit("p2", "1", named("Pat"))
	if total := f.ban("p2"); total != 3 {
		f.Errorf("got a total of %d, want 3", total)
	}
	want := []store.PlayerID{"p1", "p3", "p4"}
	all := f.everything()
	f.equal("top", players(all.Entries), want)
	f.equal("ranks", ranks(all.Entries), []int64{1, 2, 3})
	if all.Total != 3 || f.state(demo).Total != 3 {
		f.Errorf("got totals %d and %d, want 3", all.Total, f.state(demo).Total)
	}
	around, err := f.other.Around(f.ctx, look(), "p3", 5)
	if err != nil {
		f.Fatalf("around: %v", err)
	}
	f.equal("around", players(around.Entries), want)
	if got := f.standing("p3"); got.Rank != 2 || got.ToNext != 1 || got.Percentile != 50 {
		f.Errorf("the player behind: got %+v", got)
	}
	if got, err := f.other.RankOf(f.ctx, look(), number("8")); err != nil || got.Rank != 3 {
		f.Errorf("rank of 8: got %+v, %v, want 3", got, err)
	}
	if _, count, err := f.other.Range(f.ctx, look(), nil, nil, 10); err != nil || count != 3 {
		f.Errorf("range: got %d, %v, want 3", count, err)
	}
	_, _, unknown, err := f.other.Lookup(f.ctx, look(), []store.PlayerID{"p2"})
	if err != nil || len(unknown) != 1 {
		f.Errorf("lookup: got unknown %v, %v", unknown, err)
	}
	if page, err := f.other.Search(f.ctx, look(), "pat", 10); err != nil || len(page.Entries) != 0 {
		f.Errorf("search: got %v, %v", page.Entries, err)
	}
	if view, err := f.other.View(f.ctx, look(), "p2", 10, 5); err != nil || view.Standing != nil {
		f.Errorf("view: got %+v, %v", view.Standing, err)
	}
	_, err = f.other.Player(f.ctx, look(), "p2")
	f.fails("player", err, store.ErrPlayerNotFound)
	_, err = f.other.Activity(f.ctx, demo, "p2", 10)
	f.fails("activity", err, store.ErrPlayerNotFound)
}

func bannedIsRefused(f *fixture) {
	start := f.begin(func(*store.Settings) {})
	f.submit("p", "5")
	f.ban("p")
	f.refuse(store.ErrBanned, sub("p", "9", named("New")))
	f.refuse(store.ErrBanned, sub("p", "9", at(start)))
	f.refuse(store.ErrBanned, sub("p", "9", inSlot(7)))
	f.unban("p")
	if got := f.standing("p"); got.Points != 5 || got.Name != "" {
		f.Errorf("got %+v, want the 5 points of before", got)
	}
}

func unbanBringsBack(f *fixture) {
	f.put(demo, asIs)
	for _, player := range []store.PlayerID{"a", "b", "c"} {
		f.submit(player, "100", named("N"))
	}
	before := f.everything()
	f.ban("b")
	f.ban("c")
	f.submit("d", "100") // tied meanwhile, within the tick of those who are away
	f.clock.Step(-time.Hour)
	f.submit("e", "100")
	f.ban("d")
	f.submit("f", "100")
	f.equal("meanwhile", f.order(), []store.PlayerID{"a", "e", "f"})
	for i, player := range []store.PlayerID{"c", "d", "b"} {
		if total := f.unban(player); total != int64(4+i) {
			f.Errorf("after %s came back: got a total of %d, want %d", player, total, 4+i)
		}
	}
	after := f.everything()
	f.equal("order", players(after.Entries), []store.PlayerID{"a", "b", "c", "d", "e", "f"})
	for i, entry := range before.Entries {
		entry.AchievedAt, after.Entries[i].AchievedAt = time.Time{}, time.Time{} // the clock was set back
		f.equal(string(entry.Player), after.Entries[i], entry)
	}
}

func banNeedsNoScore(f *fixture) {
	f.put(demo, asIs)
	f.submit("q", "1")
	if total := f.ban("p"); total != 1 {
		f.Errorf("got a total of %d, want 1", total)
	}
	f.refuse(store.ErrBanned, sub("p", "1"))
	f.submit("r", "1")
	version := f.state(demo).Version
	if total := f.ban("p"); total != 2 {
		f.Errorf("again: got a total of %d, want 2", total)
	}
	f.unban("p")
	if got := f.state(demo).Version; got != version {
		f.Errorf("got version %d, want %d: no row changed", got, version)
	}
	for _, player := range []store.PlayerID{"p", "q", "nobody"} {
		_, err := f.one.Unban(f.ctx, demo, player)
		f.fails("unban of "+string(player), err, store.ErrNotBanned)
	}
	f.submit("p", "1")
	f.equal("order", f.order(), []store.PlayerID{"q", "r", "p"})
}

func removedIsGone(f *fixture) {
	f.put(demo, asIs)
	f.fill(9, 8, 7)
	f.submit("p2", "8", named("Pat"))
	if err := f.one.RemovePlayer(f.ctx, demo, "p2"); err != nil {
		f.Fatalf("remove: %v", err)
	}
	f.equal("order", f.order(), []store.PlayerID{"p1", "p3"})
	_, err := f.other.Player(f.ctx, look(), "p2")
	f.fails("player", err, store.ErrPlayerNotFound)
	_, err = f.other.Activity(f.ctx, demo, "p2", 10)
	f.fails("activity", err, store.ErrPlayerNotFound)
	if page, err := f.other.Search(f.ctx, look(), "pat", 10); err != nil || len(page.Entries) != 0 {
		f.Errorf("search: got %v, %v", page.Entries, err)
	}
	for _, player := range []store.PlayerID{"p2", "nobody"} {
		f.fails("remove "+string(player), f.one.RemovePlayer(f.ctx, demo, player), store.ErrPlayerNotFound)
	}
}

func removedBeginsAnew(f *fixture) {
	f.put(demo, asIs)
	f.submit("a", "9", named("Ann"))
	f.submit("b", "9")
	if err := f.one.RemovePlayer(f.ctx, demo, "a"); err != nil {
		f.Fatalf("remove: %v", err)
	}
	if got := f.submit("a", "9"); got.PreviousRank != 0 || !got.Improved || got.Rank != 2 {
		f.Errorf("got %+v, want a first score", got)
	}
	if got := f.standing("a").Name; got != "" {
		f.Errorf("got the name %q of before", got)
	}
	if activity, err := f.one.Activity(f.ctx, demo, "a", 10); err != nil || len(activity) != 1 {
		f.Errorf("got activity %v, %v, want one", activity, err)
	}
}

func banOutlastsRemoval(f *fixture) {
	f.put(demo, asIs)
	f.submit("p", "9")
	f.ban("p")
	if err := f.one.RemovePlayer(f.ctx, demo, "p"); err != nil {
		f.Fatalf("remove: %v", err)
	}
	f.refuse(store.ErrBanned, sub("p", "1"))
	if total := f.unban("p"); total != 0 {
		f.Errorf("got a total of %d, want 0: the score is gone", total)
	}
	if got := f.submit("p", "1"); got.PreviousRank != 0 {
		f.Errorf("got %+v, want a first score", got)
	}
	f.equal("order", fmt.Sprint(f.order()), "[p]")
}

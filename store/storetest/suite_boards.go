package storetest

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"leaderboard/store"
)

func boardRules() []rule {
	return []rule{
		{"a new board has the default settings", newBoardHasDefaults},
		{"a change is seen by every process", changeIsSeenByAll},
		{"a change leaves the rest as it was", changeLeavesTheRest},
		{"a refused change changes nothing", refusedChangeChangesNothing},
		{"what the order rests on is frozen while somebody has a score", orderIsFrozenByScores},
		{"what the order rests on is frozen while somebody is banned", orderIsFrozenByBans},
		{"a first season may begin in the past and not in the future", startsInThePast},
		{"a new schedule moves the running end", scheduleMovesTheEnd},
		{"a board made anew begins empty", madeAnewBeginsEmpty},
		{"all boards are listed by id", boardsAreListed},
		{"no board is an error everywhere", noBoardIsAnError},
		{"makers of one board at once make one board", makersMakeOneBoard},
		{"changes at once are not lost", changesAtOnceAreNotLost},
	}
}

func newBoardHasDefaults(f *fixture) {
	state, made, err := f.one.PutBoard(f.ctx, demo, asIs)
	if err != nil || !made {
		f.Fatalf("got made %v, %v, want a new board", made, err)
	}
	want := store.DefaultSettings(demo)
	want.StartsAt = f.clock.Now()
	f.equal("settings", state.Settings, want)
	f.equal("season", state.Season, store.Season{
		Number: 1, Start: f.clock.Now(), Order: store.Desc, Policy: store.Best, TimeBits: 29, Resolution: time.Second,
		LastTick: 3650 * 24 * 3600,
	})
	if state.ID != demo || state.Total != 0 || state.Epoch == "" || !state.Now.Equal(f.clock.Now()) {
		f.Errorf("got %+v", state)
	}
	f.equal("the board as it was just made", f.state(demo), state)
	board, err := f.other.Board(f.ctx, demo)
	if err != nil {
		f.Fatalf("board: %v", err)
	}
	f.equal("the board in another process", board, state.Board)
}

func changeIsSeenByAll(f *fixture) {
	before := f.put(demo, asIs)
	if _, err := f.other.BoardState(f.ctx, demo); err != nil {
		f.Fatalf("state: %v", err)
	}
	after, made, err := f.one.PutBoard(f.ctx, demo, with(func(s *store.Settings) { s.Decimals, s.MaxPoints = 2, 1000 }))
	if err != nil || made {
		f.Fatalf("got made %v, %v, want a change", made, err)
	}
	if after.Rev <= before.Rev || after.Incarnation != before.Incarnation || after.Epoch != before.Epoch {
		f.Errorf("got rev %d, incarnation %d, epoch %s after %d, %d, %s", after.Rev, after.Incarnation, after.Epoch,
			before.Rev, before.Incarnation, before.Epoch)
	}
	result, err := f.other.Submit(f.ctx, demo, sub("p", "1.50"))
	if err != nil || result.Points != 150 || result.Decimals != 2 {
		f.Errorf("the other process: got %+v, %v, want 150 units", result, err)
	}
	f.put("reads", asIs)
	if _, err := f.other.BoardState(f.ctx, "reads"); err != nil {
		f.Fatalf("state: %v", err)
	}
	f.put("reads", with(func(s *store.Settings) { s.Decimals = 1 }))
	rank, err := f.other.RankOf(f.ctx, store.Look{Board: "reads"}, number("2.5"))
	if err != nil || rank.Points != 25 {
		f.Errorf("rank in the other process: got %+v, %v, want 25 units", rank, err)
	}
}

func changeLeavesTheRest(f *fixture) {
	f.put(demo, with(func(s *store.Settings) { s.Title, s.Order, s.MaxStep = "Ladder", store.Asc, "5" }))
	f.submit("p", "3")
	before := f.state(demo)
	after := f.put(demo, with(func(s *store.Settings) { s.LiveTop = 7 }))
	before.Settings.LiveTop, before.Rev = 7, after.Rev
	f.equal("the board", after, before)
}

func refusedChangeChangesNothing(f *fixture) {
	before := f.put(demo, asIs)
	mine := errors.New("mine")
	tests := []struct {
		want   error
		change func(*store.Settings) error
	}{
		{mine, func(s *store.Settings) error { s.Title = "changed"; return mine }},
		{invalid("order"), with(func(s *store.Settings) { s.Order = "up" })},
		{invalid("title"), with(func(s *store.Settings) { s.Title = "" })},
		{invalid("max_points"), with(func(s *store.Settings) { s.MaxPoints = 1 << 50 })},
		{invalid("schedule"), with(func(s *store.Settings) { s.Schedule = "0 0 30 2 *" })},
		{invalid("timezone"), with(func(s *store.Settings) { s.Timezone = "Mars" })},
		{invalid("starts_at"), with(func(s *store.Settings) { s.StartsAt = f.clock.Now().Add(time.Second) })},
	}
	for _, tt := range tests {
		_, _, err := f.one.PutBoard(f.ctx, demo, tt.change)
		f.fails("change", err, tt.want)
		_, _, err = f.one.PutBoard(f.ctx, "fresh", tt.change)
		f.fails("make", err, tt.want)
	}
	f.equal("the board", f.state(demo), before)
	_, err := f.one.BoardState(f.ctx, "fresh")
	f.fails("a board that was refused", err, store.ErrBoardNotFound)
}

// frozen are changes of what the order rests on.
func frozen(now time.Time) map[string]func(*store.Settings) {
	return map[string]func(*store.Settings){
		"order":       func(s *store.Settings) { s.Order = store.Asc },
		"decimals":    func(s *store.Settings) { s.Decimals = 1 },
		"policy":      func(s *store.Settings) { s.Policy = store.Sum },
		"max_points":  func(s *store.Settings) { s.MaxPoints = 100 },
		"starts_at":   func(s *store.Settings) { s.StartsAt = now.AddDate(0, 0, -1) },
		"season_days": func(s *store.Settings) { s.SeasonDays = 10 },
	}
}

func (f *fixture) expectFrozen(why string, isFrozen bool) {
	f.Helper()
	for name, change := range frozen(f.clock.Now()) {
		_, _, err := f.one.PutBoard(f.ctx, demo, with(change))
		if isFrozen {
			f.fails(why+": "+name, err, store.ErrBoardInUse)
		} else if err != nil {
			f.Errorf("%s: %s: %v", why, name, err)
		}
	}
}

func orderIsFrozenByScores(f *fixture) {
	f.put(demo, asIs)
	f.submit("p", "5")
	before := f.everything()
	f.expectFrozen("with a score", true)
	f.equal("the board", f.everything(), before)
	f.put(demo, with(func(s *store.Settings) { s.Title, s.LiveTop, s.ActivityCap, s.MaxStep = "Other", 5, 0, "9" }))
	if err := f.one.RemovePlayer(f.ctx, demo, "p"); err != nil {
		f.Fatalf("remove: %v", err)
	}
	f.expectFrozen("with nobody left", false)
	if got := f.submit("p", "-0.5"); got.Points != -5 || f.state(demo).Season.Order != store.Asc {
		f.Errorf("after the changes: got %+v on %+v", got, f.state(demo).Season)
	}
}

func orderIsFrozenByBans(f *fixture) {
	f.put(demo, asIs)
	if _, err := f.one.Ban(f.ctx, demo, "p", "cheats"); err != nil {
		f.Fatalf("ban: %v", err)
	}
	f.expectFrozen("with a ban", true)
	if _, err := f.one.Unban(f.ctx, demo, "p"); err != nil {
		f.Fatalf("unban: %v", err)
	}
	f.expectFrozen("with no ban left", false)
}

func startsInThePast(f *fixture) {
	now := f.clock.Now()
	start := now.AddDate(-1, 0, 0).Add(1_234_567 * time.Microsecond)
	state := f.put(demo, with(func(s *store.Settings) { s.StartsAt, s.Schedule = start, store.Daily }))
	if want := start.Truncate(time.Millisecond); !state.Season.Start.Equal(want) || !state.Settings.StartsAt.Equal(want) {
		f.Errorf("got a start at %v, want %v", state.Season.Start, want)
	}
	if want := now.Truncate(24*time.Hour).AddDate(0, 0, 1); !state.Season.End.Equal(want) {
		f.Errorf("got an end at %v, want the next boundary from now, %v", state.Season.End, want)
	}
	if state.Season.Resolution != 100*time.Millisecond {
		f.Errorf("got ticks of %v, want those of a year", state.Season.Resolution)
	}
}

func scheduleMovesTheEnd(f *fixture) {
	f.put(demo, asIs)
	f.submit("p", "5")
	midnight := f.clock.Now().Truncate(24*time.Hour).AddDate(0, 0, 1)
	if got := f.put(demo, with(func(s *store.Settings) { s.Schedule = store.Daily })); !got.Season.End.Equal(midnight) {
		f.Errorf("daily: got an end at %v, want %v", got.Season.End, midnight)
	}
	got := f.put(demo, with(func(s *store.Settings) { s.Timezone = "Asia/Kolkata" }))
	if want := midnight.Add(-5*time.Hour - 30*time.Minute); !got.Season.End.Equal(want) {
		f.Errorf("in Kolkata: got an end at %v, want %v", got.Season.End, want)
	}
	if got := f.put(demo, with(func(s *store.Settings) { s.Schedule = store.Manual })); !got.Season.End.IsZero() {
		f.Errorf("manual: got an end at %v, want none", got.Season.End)
	}
	if got := f.order(); len(got) != 1 {
		f.Errorf("got %v, want the one player", got)
	}

	f.put("short", with(func(s *store.Settings) { s.Schedule = store.Daily }))
	if _, err := f.one.Submit(f.ctx, "short", sub("p", "5")); err != nil {
		f.Fatalf("submit: %v", err)
	}
	_, _, err := f.one.PutBoard(f.ctx, "short", with(func(s *store.Settings) { s.Schedule = store.Manual }))
	f.fails("ticks of a millisecond do not last ten years", err, store.ErrBoardInUse)
}

func madeAnewBeginsEmpty(f *fixture) {
	before := f.put(demo, with(func(s *store.Settings) { s.Order, s.Title = store.Asc, "Old" }))
	once := store.Once{Key: "k", Fingerprint: "f"}
	f.submit("p", "5", named("Pat"), func(s *store.Submission) { s.Once = once })
	f.submit("q", "6", named("Quinn"))
	if _, err := f.one.Ban(f.ctx, demo, "q", "cheats"); err != nil {
		f.Fatalf("ban: %v", err)
	}
	if _, err := f.other.Board(f.ctx, demo); err != nil {
		f.Fatalf("board: %v", err)
	}
	if err := f.one.DeleteBoard(f.ctx, demo); err != nil {
		f.Fatalf("delete: %v", err)
	}
	_, err := f.other.Top(f.ctx, store.Look{Board: demo}, 0, 10)
	f.fails("top of a deleted board", err, store.ErrBoardNotFound)
	f.fails("deleting again", f.one.DeleteBoard(f.ctx, demo), store.ErrBoardNotFound)

	after, made, err := f.other.PutBoard(f.ctx, demo, asIs)
	if err != nil || !made {
		f.Fatalf("got made %v, %v, want a new board", made, err)
	}
	if after.Incarnation <= before.Incarnation || after.Epoch == before.Epoch || after.Total != 0 {
		f.Errorf("got incarnation %d, epoch %s, total %d after %d, %s", after.Incarnation, after.Epoch, after.Total,
			before.Incarnation, before.Epoch)
	}
	if want := store.DefaultSettings(demo); after.Settings.Title != want.Title || after.Settings.Order != want.Order {
		f.Errorf("got settings %+v, want the default ones", after.Settings)
	}
	_, err = f.one.Activity(f.ctx, demo, "p", 10)
	f.fails("activity of before", err, store.ErrPlayerNotFound)
	result := f.submit("p", "7", func(s *store.Submission) { s.Once = once })
	if result.Replayed || result.Points != 7 || result.PreviousRank != 0 {
		f.Errorf("got %+v, want a first score", result)
	}
	if got := f.standing("p"); got.Name != "" {
		f.Errorf("got the name %q of before", got.Name)
	}
	f.submit("q", "8")
}

func boardsAreListed(f *fixture) {
	states, err := f.one.BoardStates(f.ctx)
	if err != nil || len(states) != 0 {
		f.Errorf("got %v, %v, want none", states, err)
	}
	var want []store.BoardState
	for _, id := range []store.BoardID{"b", "a-2", "a", "c", "gone"} {
		f.put(id, asIs)
	}
	if err := f.one.DeleteBoard(f.ctx, "gone"); err != nil {
		f.Fatalf("delete: %v", err)
	}
	for _, id := range []store.BoardID{"a", "a-2", "b", "c"} {
		want = append(want, f.state(id))
	}
	states, err = f.other.BoardStates(f.ctx)
	if err != nil {
		f.Fatalf("boards: %v", err)
	}
	f.equal("boards", states, want)
}

func noBoardIsAnError(f *fixture) {
	look := store.Look{Board: "none"}
	for name, call := range map[string]func() error{
		"board":  func() error { _, err := f.one.Board(f.ctx, "none"); return err },
		"state":  func() error { _, err := f.one.BoardState(f.ctx, "none"); return err },
		"delete": func() error { return f.one.DeleteBoard(f.ctx, "none") },
		"submit": func() error { _, err := f.one.Submit(f.ctx, "none", sub("p", "1")); return err },
		"batch": func() error {
			_, _, err := f.one.SubmitBatch(f.ctx, "none", []store.Submission{sub("p", "1")}, store.Once{})
			return err
		},
		"top":      func() error { _, err := f.one.Top(f.ctx, look, 0, 1); return err },
		"after":    func() error { _, err := f.one.After(f.ctx, look, store.Position{}, 1); return err },
		"player":   func() error { _, err := f.one.Player(f.ctx, look, "p"); return err },
		"around":   func() error { _, err := f.one.Around(f.ctx, look, "p", 1); return err },
		"view":     func() error { _, err := f.one.View(f.ctx, look, "", 1, 1); return err },
		"rank":     func() error { _, err := f.one.RankOf(f.ctx, look, store.Whole(1)); return err },
		"range":    func() error { _, _, err := f.one.Range(f.ctx, look, nil, nil, 1); return err },
		"lookup":   func() error { _, _, _, err := f.one.Lookup(f.ctx, look, []store.PlayerID{"p"}); return err },
		"search":   func() error { _, err := f.one.Search(f.ctx, look, "p", 1); return err },
		"activity": func() error { _, err := f.one.Activity(f.ctx, "none", "p", 1); return err },
		"export":   func() error { _, err := collect(f.one.Export(f.ctx, look)); return err },
		"remove":   func() error { return f.one.RemovePlayer(f.ctx, "none", "p") },
		"ban":      func() error { _, err := f.one.Ban(f.ctx, "none", "p", ""); return err },
		"unban":    func() error { _, err := f.one.Unban(f.ctx, "none", "p"); return err },
		"seasons":  func() error { _, err := f.one.ClosedSeasons(f.ctx, "none"); return err },
		"close":    func() error { _, _, err := f.one.CloseSeason(f.ctx, "none", 1, ""); return err },
		"reopen":   func() error { _, err := f.one.ReopenSeason(f.ctx, "none", 1); return err },
		"held":     func() error { _, err := f.one.Held(f.ctx, "none"); return err },
		"accept":   func() error { _, err := f.one.AcceptHeld(f.ctx, "none", 1); return err },
		"reject":   func() error { return f.one.RejectHeld(f.ctx, "none", 1) },
	} {
		f.fails(name, call(), store.ErrBoardNotFound)
	}
}

func makersMakeOneBoard(f *fixture) {
	var made [8]bool
	var makers sync.WaitGroup
	for i := range made {
		makers.Go(func() {
			process := []store.Store{f.one, f.other}[i%2]
			title := with(func(s *store.Settings) { s.Title = fmt.Sprint("maker ", i) })
			var err error
			if _, made[i], err = process.PutBoard(f.ctx, demo, title); err != nil {
				f.Errorf("maker %d: %v", i, err)
			}
		})
	}
	makers.Wait()
	count := 0
	for _, m := range made {
		if m {
			count++
		}
	}
	if state := f.state(demo); count != 1 || state.Incarnation != 1 {
		f.Errorf("%d made the board, in incarnation %d, want 1 and 1", count, state.Incarnation)
	}
}

func changesAtOnceAreNotLost(f *fixture) {
	before := f.put(demo, asIs)
	var changers sync.WaitGroup
	for i := range 4 {
		changers.Go(func() {
			process := []store.Store{f.one, f.other}[i%2]
			for range 3 {
				add := with(func(s *store.Settings) { s.LiveTop++ })
				if _, _, err := process.PutBoard(f.ctx, demo, add); err != nil {
					f.Errorf("change: %v", err)
				}
			}
		})
	}
	changers.Wait()
	if got, want := f.state(demo).Settings.LiveTop, before.Settings.LiveTop+12; got != want {
		f.Errorf("got a live top of %d, want %d", got, want)
	}
}

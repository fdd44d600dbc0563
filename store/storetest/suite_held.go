package storetest

import (
	"sync"
	"sync/atomic"
	"time"

	"leaderboard/store"
)

func heldRules() []rule {
	return []rule{
		{"a gain beyond the largest step is held and changes nothing", gainBeyondIsHeld},
		{"what is no gain beyond the step is applied", smallerStepsAreApplied},
		{"an accepted submission counts with its own time", acceptedCountsWithItsTime},
		{"a rejected submission is gone", rejectedIsGone},
		{"a held submission is accepted once", acceptedOnce},
		{"a submission that cannot be accepted still waits", unacceptableStillWaits},
		{"a repeat of a held submission is not held twice", repeatIsNotHeldTwice},
	}
}

// stepping makes the demo board hold gains beyond 10.
func (f *fixture) stepping(change func(*store.Settings)) {
	f.Helper()
	f.put(demo, with(func(s *store.Settings) {
		s.MaxStep = "10"
		change(s)
	}))
}

func (f *fixture) held() []store.Held {
	f.Helper()
	list, err := f.other.Held(f.ctx, demo)
	if err != nil {
		f.Fatalf("held: %v", err)
	}
	return list
}

func gainBeyondIsHeld(f *fixture) {
	f.stepping(func(s *store.Settings) { s.Decimals = 1 })
	f.submit("p", "5")
	f.clock.Step(time.Minute)
	before := f.everything()
	want := store.Result{
		Board: demo, Season: 1, Decimals: 1, Player: "p", Points: 50, HasPoints: true, Submitted: 151, Held: true, Total: 1,
	}
	f.equal("a large gain", f.submit("p", "15.1", named("Pat")), want)
	want.Player, want.Submitted, want.Points, want.HasPoints = "q", 1000, 0, false
	f.equal("a large first score", f.submit("q", "100"), want)
	f.equal("the board", f.everything(), before)
	now := f.clock.Now()
	list := f.held()
	if len(list) != 2 || list[0].ID >= list[1].ID {
		f.Fatalf("got %+v, want two in their order", list)
	}
	f.equal("held", list, []store.Held{
		{
			ID: list[0].ID, Player: "p", Name: "Pat", Season: 1, Points: 151, Present: 50, HasPresent: true, Decimals: 1, At: now,
		},
		{ID: list[1].ID, Player: "q", Season: 1, Points: 1000, Decimals: 1, At: now},
	})
	if activity, err := f.one.Activity(f.ctx, demo, "p", 10); err != nil || len(activity) != 1 {
		f.Errorf("got activity %v, %v, want that of the first score", activity, err)
	}
}

func smallerStepsAreApplied(f *fixture) {
	f.stepping(func(*store.Settings) {})
	for _, points := range []string{"10", "20", "3", "-1000", "29"} {
		if got := f.submit("p", points); got.Held {
			f.Errorf("%s: got %+v, want it applied", points, got)
		}
	}
	start := f.state(demo).Season.Start
	f.submit("q", "1000", at(start)) // history and imports are an admin's own
	f.submit("r", "1000", inSlot(5))
	f.equal("order", f.order(), []store.PlayerID{"q", "r", "p"})
	if list := f.held(); len(list) != 0 {
		f.Errorf("got %+v, want nothing held", list)
	}

	f.put("low", with(func(s *store.Settings) { s.MaxStep, s.Order = "10", store.Asc }))
	for i, points := range []string{"60", "50", "39", "-20"} {
		result, err := f.one.Submit(f.ctx, "low", sub("p", points))
		if want := i >= 2; err != nil || result.Held != want {
			f.Errorf("low is better, %s: got held %v, %v, want %v", points, result.Held, err, want)
		}
	}
}

func acceptedCountsWithItsTime(f *fixture) {
	f.stepping(func(s *store.Settings) { s.Policy = store.Sum })
	f.submit("p", "5")
	f.clock.Step(time.Minute)
	f.submit("p", "20", named("Pat"))
	sent := f.clock.Now()
	f.clock.Step(time.Minute)
	for range 2 {
		f.submit("q", "10")
	}
	f.submit("q", "5")
	f.clock.Step(time.Minute)
	result, err := f.one.AcceptHeld(f.ctx, demo, f.held()[0].ID)
	if err != nil || result.Held {
		f.Fatalf("accept: got %+v, %v", result, err)
	}
	if result.Points != 25 || !result.AchievedAt.Equal(sent) || result.Rank != 1 || result.PreviousRank != 2 {
		f.Errorf("got %+v, want 25 points at %v, before those who had as many later", result, sent)
	}
	f.equal("order", f.order(), []store.PlayerID{"p", "q"})
	if got := f.standing("p").Name; got != "Pat" {
		f.Errorf("got the name %q", got)
	}
	if list := f.held(); len(list) != 0 {
		f.Errorf("got %+v, want nothing held", list)
	}
}

func rejectedIsGone(f *fixture) {
	f.stepping(func(*store.Settings) {})
	f.submit("p", "20")
	before := f.everything()
	id := f.held()[0].ID
	if err := f.one.RejectHeld(f.ctx, demo, id); err != nil {
		f.Fatalf("reject: %v", err)
	}
	f.equal("the board", f.everything(), before)
	f.fails("rejecting again", f.one.RejectHeld(f.ctx, demo, id), store.ErrHeldNotFound)
	_, err := f.one.AcceptHeld(f.ctx, demo, id)
	f.fails("accepting a rejected one", err, store.ErrHeldNotFound)
	if list := f.held(); len(list) != 0 {
		f.Errorf("got %+v, want nothing held", list)
	}
}

func acceptedOnce(f *fixture) {
	f.stepping(func(s *store.Settings) { s.Policy = store.Sum })
	f.submit("p", "20")
	id := f.held()[0].ID
	var accepted atomic.Int64
	var admins sync.WaitGroup
	for i := range 8 {
		admins.Go(func() {
			_, err := []store.Store{f.one, f.other}[i%2].AcceptHeld(f.ctx, demo, id)
			if err == nil {
				accepted.Add(1)
			} else {
				f.fails("a second accept", err, store.ErrHeldNotFound)
			}
		})
	}
	admins.Wait()
	if got := f.standing("p").Points; accepted.Load() != 1 || got != 20 {
		f.Errorf("got accepted %d times and %d points, want once and 20", accepted.Load(), got)
	}
}

func unacceptableStillWaits(f *fixture) {
	f.stepping(func(s *store.Settings) { s.Schedule = store.Daily })
	f.submit("p", "20")
	id := f.held()[0].ID
	f.ban("p")
	_, err := f.one.AcceptHeld(f.ctx, demo, id)
	f.fails("of a banned player", err, store.ErrBanned)
	f.unban("p")
	f.clock.Step(24 * time.Hour)
	_, err = f.one.AcceptHeld(f.ctx, demo, id)
	f.fails("of a season that is over", err, store.ErrSeasonClosed)
	if list := f.held(); len(list) != 1 || list[0].ID != id {
		f.Errorf("got %+v, want it to wait", list)
	}
	if got := f.order(); len(got) != 0 {
		f.Errorf("got %v, want nobody", got)
	}
}

func repeatIsNotHeldTwice(f *fixture) {
	f.stepping(func(*store.Settings) {})
	first := f.submit("p", "20", once("k", "f"))
	again := f.submit("p", "20", once("k", "f"))
	first.Replayed = true
	f.equal("the repeat", again, first)
	if list := f.held(); len(list) != 1 {
		f.Errorf("got %+v, want one", list)
	}
}

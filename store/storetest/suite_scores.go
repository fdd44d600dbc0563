package storetest

import (
	"context"
	"fmt"
	"time"

	"leaderboard/store"
)

func scoreRules() []rule {
	return []rule{
		{"each policy does with a further score what it says", policiesKeepWhatTheySay},
		{"a result says all about a score", resultSaysAll},
		{"equal points stand in the order in which they were reached", firstComeFirst},
		{"the order of equal points does not depend on clocks", clocksDoNotMatter},
		{"a batch's own order breaks its ties", batchOrderBreaksTies},
		{"the same or a worse score changes neither rank nor time", sameScoreChangesNothing},
		{"points that come back are reached anew", pointsThatComeBack},
		{"a name counts even with a worse score", nameCountsAlways},
		{"a submission may name the running season", namesTheSeason},
		{"each submission of a batch stands on its own", batchItemsStandAlone},
		{"a batch may be as long as it gets", longBatches},
		{"a caller who gave up is told that the outcome is unknown", cancelledIsUnavailable},
	}
}

func policiesKeepWhatTheySay(f *fixture) {
	tests := []struct {
		policy store.Policy
		order  store.Order
		sent   []string
		want   []string // points after each, with a star where they got better
	}{
		{store.Best, store.Desc, []string{"5", "3", "5", "8", "-9"}, []string{"5*", "5", "5", "8*", "8"}},
		{store.Best, store.Asc, []string{"5", "8", "5", "3", "-9"}, []string{"5*", "5", "5", "3*", "-9*"}},
		{store.Last, store.Desc, []string{"5", "3", "3", "8", "-9"}, []string{"5*", "3", "3", "8*", "-9"}},
		{store.Last, store.Asc, []string{"5", "3", "3", "8", "-9"}, []string{"5*", "3*", "3", "8", "-9*"}},
		{store.Sum, store.Desc, []string{"5", "3", "0", "-8", "-1"}, []string{"5*", "8*", "8", "0", "-1"}},
		{store.Sum, store.Asc, []string{"5", "3", "0", "-8", "-1"}, []string{"5*", "8", "8", "0*", "-1*"}},
		{store.Best, store.Desc, []string{"0"}, []string{"0*"}},
		{store.Best, store.Desc, []string{"-5", "-50", "-0"}, []string{"-5*", "-5", "0*"}},
	}
	for i, tt := range tests {
		id := store.BoardID(fmt.Sprintf("b%d", i))
		f.put(id, with(func(s *store.Settings) { s.Policy, s.Order = tt.policy, tt.order }))
		for j, points := range tt.sent {
			result, err := f.one.Submit(f.ctx, id, sub("p", points))
			if err != nil {
				f.Fatalf("%s %s: submit %s: %v", tt.policy, tt.order, points, err)
			}
			got := result.Points.Text(0)
			if result.Improved {
				got += "*"
			}
			if got != tt.want[j] {
				f.Errorf("%s %s: after %v got %s, want %s", tt.policy, tt.order, tt.sent[:j+1], got, tt.want[j])
			}
		}
	}
}

func resultSaysAll(f *fixture) {
	f.put(demo, with(func(s *store.Settings) { s.Decimals, s.MaxPoints = 2, 1000 })) // ticks of 10 ms
	f.submit("a", "3")
	f.submit("b", "2")
	f.clock.Step(1507 * time.Millisecond)
	want := store.Result{
		Board: demo, Season: 1, Decimals: 2, Player: "c", Points: 250, HasPoints: true, Submitted: 250, Improved: true, Rank: 2, Total: 3,
		AchievedAt: f.clock.Now().Add(-7 * time.Millisecond),
	}
	f.equal("a first score", f.submit("c", "2.5"), want)
	f.clock.Step(time.Minute)
	want.PreviousRank, want.Submitted, want.Improved = 2, -100, false
	f.equal("a worse score", f.submit("c", "-1"), want)
	want.Rank, want.Points, want.Submitted, want.Improved = 1, 301, 301, true
	want.AchievedAt = f.clock.Now().Add(-7 * time.Millisecond)
	f.equal("a better score", f.submit("c", "3.01"), want)
	f.equal("the standing", f.standing("c"), store.Standing{
		Entry:  store.Entry{Rank: 1, Player: "c", Points: 301, AchievedAt: want.AchievedAt, Packed: f.standing("c").Packed},
		Season: f.state(demo).Season, Total: 3, Percentile: 100,
	})
}

func firstComeFirst(f *fixture) {
	for _, order := range []store.Order{store.Desc, store.Asc} {
		f.put(demo, with(func(s *store.Settings) { s.Order, s.Decimals = order, 2 }))
		for _, player := range []store.PlayerID{"zoe", "adam", "Émile", "玩家", "00", "~"} { // all within one millisecond
			f.submit(player, "12.50")
		}
		f.equal(string(order), f.order(), []store.PlayerID{"zoe", "adam", "Émile", "玩家", "00", "~"})
		for _, entry := range f.everything().Entries {
			if entry.AchievedAt.After(f.clock.Now()) {
				f.Errorf("%s: %s got there at %v, later than now", order, entry.Player, entry.AchievedAt)
			}
		}
		if err := f.one.DeleteBoard(f.ctx, demo); err != nil {
			f.Fatalf("delete: %v", err)
		}
	}
}

func clocksDoNotMatter(f *fixture) {
	f.put(demo, asIs)
	var want []store.PlayerID
	for i, step := range []time.Duration{0, -time.Second, -time.Hour, 2 * time.Hour, -time.Millisecond, 0, -1000 * time.Hour, time.Minute} {
		f.clock.Step(step)
		player := store.PlayerID(fmt.Sprint("p", 9-i))
		process := []store.Store{f.one, f.other}[i%2]
		if _, err := process.Submit(f.ctx, demo, sub(player, "7")); err != nil {
			f.Fatalf("submit: %v", err)
		}
		want = append(want, player)
	}
	f.equal("order", f.order(), want)
}

func batchOrderBreaksTies(f *fixture) {
	f.put(demo, asIs)
	var batch []store.Submission
	var want []store.PlayerID
	for i := range 300 {
		player := store.PlayerID(fmt.Sprint("p", (i*7919)%300))
		batch = append(batch, sub(player, "100"))
		want = append(want, player)
	}
	if _, _, err := f.one.SubmitBatch(f.ctx, demo, batch, store.Once{}); err != nil {
		f.Fatalf("batch: %v", err)
	}
	f.equal("order", f.order(), want)
}

func sameScoreChangesNothing(f *fixture) {
	f.put(demo, asIs)
	f.submit("zoe", "100")
	f.submit("adam", "100")
	f.submit("Émile", "100")
	f.clock.Step(time.Hour)
	before := f.everything()
	for _, points := range []string{"100", "90", "-1", "1e2"} {
		f.submit("zoe", points)
		f.submit("adam", points)
	}
	f.equal("the board", f.everything(), before)
	if activity, err := f.one.Activity(f.ctx, demo, "zoe", 10); err != nil || len(activity) != 1 {
		f.Errorf("got activity %v, %v, want only the first score", activity, err)
	}
}

func pointsThatComeBack(f *fixture) {
	f.put(demo, with(func(s *store.Settings) { s.Policy = store.Last }))
	f.submit("a", "100")
	f.submit("b", "100")
	f.submit("a", "110")
	f.equal("order", f.order(), []store.PlayerID{"a", "b"})
	f.submit("a", "100") // a correction: b has been there all the time
	f.equal("order", f.order(), []store.PlayerID{"b", "a"})
}

func nameCountsAlways(f *fixture) {
	f.put(demo, asIs)
	f.submit("p", "100", named("Pat"))
	f.submit("p", "1", named("Pâté"))
	if got := f.standing("p"); got.Name != "Pâté" || got.Points != 100 {
		f.Errorf("after a worse score: got %q with %d", got.Name, got.Points)
	}
	f.submit("p", "200")
	if got := f.standing("p").Name; got != "Pâté" {
		f.Errorf("after a score without name: got %q", got)
	}
	const name = "🧙🏽‍♂️ <b>M&M's</b>\u061c {{7*7}} \"'"
	f.submit("p", "200", named(name))
	if got := f.standing("p").Name; got != name {
		f.Errorf("got %q, want %q", got, name)
	}
}

func namesTheSeason(f *fixture) {
	f.put(demo, with(func(s *store.Settings) { s.Schedule = store.Daily }))
	inSeason := func(n int64) func(*store.Submission) { return func(s *store.Submission) { s.Season = n } }
	f.submit("p", "1", inSeason(1))
	f.refuse(invalid("season"), sub("p", "2", inSeason(2)))
	f.clock.Step(24 * time.Hour)
	f.submit("p", "3", inSeason(2))
	f.refuse(store.ErrSeasonClosed, sub("p", "4", inSeason(1)))
	if result, err := f.other.Submit(f.ctx, demo, sub("q", "3", inSeason(2))); err != nil || result.Season != 2 {
		f.Errorf("in another process: got %+v, %v", result, err)
	}
}

func batchItemsStandAlone(f *fixture) {
	f.put(demo, asIs)
	if _, err := f.one.Ban(f.ctx, demo, "cheat", ""); err != nil {
		f.Fatalf("ban: %v", err)
	}
	future := func(s *store.Submission) { s.AchievedAt = f.clock.Now().Add(time.Hour) }
	outcomes, replayed, err := f.one.SubmitBatch(f.ctx, demo, []store.Submission{
		sub("a", "1"), sub("b", "0.5"), sub("cheat", "2"), sub("c", "3"), sub("d", "4", future), sub("a", "5"),
		sub("e", "6", func(s *store.Submission) { s.Season = 9 }), sub("a", "4"),
	}, store.Once{})
	if err != nil || replayed || len(outcomes) != 8 {
		f.Fatalf("got %d outcomes, replayed %v, %v", len(outcomes), replayed, err)
	}
	for i, want := range []error{
		nil, invalid("points"), store.ErrBanned, nil, invalid("achieved_at"), nil, invalid("season"), nil,
	} {
		f.fails(fmt.Sprint("outcome ", i), outcomes[i].Err, want)
	}
	f.equal("the last outcome", outcomes[7].Result, store.Result{
		Board: demo, Season: 1, Player: "a", Points: 5, HasPoints: true, Submitted: 4, Rank: 1, PreviousRank: 1, Total: 2,
		AchievedAt: f.clock.Now(),
	})
	f.equal("order", f.order(), []store.PlayerID{"a", "c"})
}

func longBatches(f *fixture) {
	f.put(demo, with(func(s *store.Settings) { s.Policy = store.Sum }))
	for _, length := range []int{0, 1, 127, 128, 129, store.MaxBatch} {
		batch := make([]store.Submission, length)
		for i := range batch {
			batch[i] = sub("p", "1")
		}
		outcomes, _, err := f.one.SubmitBatch(f.ctx, demo, batch, store.Once{})
		if err != nil || len(outcomes) != length {
			f.Fatalf("a batch of %d: got %d outcomes, %v", length, len(outcomes), err)
		}
		for i, outcome := range outcomes {
			if outcome.Err != nil || i > 0 && outcome.Result.Points != outcomes[i-1].Result.Points+1 {
				f.Fatalf("a batch of %d, outcome %d: got %+v", length, i, outcome)
			}
		}
	}
	if got, want := f.standing("p").Points, store.Points(1+127+128+129+store.MaxBatch); got != want {
		f.Errorf("got %d, want %d", got, want)
	}
}

func cancelledIsUnavailable(f *fixture) {
	f.put(demo, asIs)
	ctx, cancel := context.WithCancel(f.ctx)
	cancel()
	_, err := f.one.Submit(ctx, demo, sub("p", "1"))
	f.fails("submit", err, store.ErrUnavailable)
	_, err = f.one.Top(ctx, store.Look{Board: demo}, 0, 1)
	f.fails("top", err, store.ErrUnavailable)
	f.submit("q", "1") // others are served on
}

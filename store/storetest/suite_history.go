package storetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"leaderboard/store"
)

func historyRules() []rule {
	return []rule{
		{"a history makes the same board in any order", historyInAnyOrder},
		{"a backdated score stands among equal points by its time", backdatedStandsByTime},
		{"equal points keep the earlier time", earlierTimeIsKept},
		{"of the latest scores the latest by time stands", latestByTime},
		{"a sum is reached with its last part", sumIsReachedLast},
		{"times before the season and times to come are refused", timesOutsideTheSeason},
		{"an exported board is imported in its exact order", exportedOrderIsKept},
		{"a slot that the board does not have is refused", slotsBeyondTheBoard},
		{"when the slots of some points run out the last one is shared", lastSlotIsShared},
		{"ties keep their order on a board that runs past its longest season", tiesPastTheSeason},
	}
}

func at(t time.Time) func(*store.Submission) {
	return func(s *store.Submission) { s.AchievedAt = t }
}

func inSlot(slot int64) func(*store.Submission) {
	return func(s *store.Submission) { s.Slot, s.HasSlot = slot, true }
}

// begin makes the demo board with a season that began an hour ago, and returns its start.
func (f *fixture) begin(change func(*store.Settings)) time.Time {
	f.Helper()
	start := f.clock.Now().Add(-time.Hour)
	f.put(demo, with(func(s *store.Settings) {
		s.StartsAt = start
		change(s)
	}))
	return start
}

func historyInAnyOrder(f *fixture) {
	start := f.begin(func(*store.Settings) {})
	var history []store.Submission
	for i := range 60 {
		player := store.PlayerID(fmt.Sprint("p", i%20))
		history = append(history, sub(player, fmt.Sprint(i/13), at(start.Add(time.Duration(i)*time.Minute))))
	}
	for _, s := range history {
		f.submit(s.Player, "0", func(all *store.Submission) { *all = s })
	}
	want := f.everything().Entries
	random := rand.New(rand.NewPCG(3, 4))
	for round := range 5 {
		id := store.BoardID(fmt.Sprint("shuffled", round))
		f.put(id, with(func(s *store.Settings) { s.StartsAt = start }))
		random.Shuffle(len(history), func(i, j int) { history[i], history[j] = history[j], history[i] })
		if _, _, err := f.one.SubmitBatch(f.ctx, id, history, store.Once{}); err != nil {
			f.Fatalf("batch: %v", err)
		}
		page, err := f.one.Top(f.ctx, store.Look{Board: id}, 0, 100)
		if err != nil {
			f.Fatalf("top: %v", err)
		}
		f.equal("entries", page.Entries, want)
	}
}

func backdatedStandsByTime(f *fixture) {
	start := f.begin(func(*store.Settings) {})
	f.submit("now", "5")
	f.submit("minute", "5", at(start.Add(time.Minute)))
	f.submit("second", "5", at(start.Add(time.Second)))
	f.submit("also now", "5")
	f.submit("start", "5", at(start))
	f.equal("order", f.order(), []store.PlayerID{"start", "second", "minute", "now", "also now"})
	if got, want := f.standing("minute").AchievedAt, start.Add(time.Minute); !got.Equal(want) {
		f.Errorf("got %v, want %v", got, want)
	}
}

func earlierTimeIsKept(f *fixture) {
	for _, policy := range []store.Policy{store.Best, store.Last} {
		start := f.begin(func(s *store.Settings) { s.Policy = policy })
		f.submit("p", "5", at(start.Add(30*time.Minute)))
		f.submit("p", "5", at(start.Add(40*time.Minute)))
		f.submit("p", "5")
		if got, want := f.standing("p").AchievedAt, start.Add(30*time.Minute); !got.Equal(want) {
			f.Errorf("%s: after later ones got %v, want %v", policy, got, want)
		}
		if got := f.submit("p", "5", at(start.Add(20*time.Minute))); got.Improved {
			f.Errorf("%s: an earlier time of the same points is called better", policy)
		}
		if got, want := f.standing("p").AchievedAt, start.Add(20*time.Minute); !got.Equal(want) {
			f.Errorf("%s: after an earlier one got %v, want %v", policy, got, want)
		}
		if err := f.one.DeleteBoard(f.ctx, demo); err != nil {
			f.Fatalf("delete: %v", err)
		}
	}
}

func latestByTime(f *fixture) {
	start := f.begin(func(s *store.Settings) { s.Policy = store.Last })
	f.submit("p", "5", at(start.Add(30*time.Minute)))
	if got := f.submit("p", "9", at(start.Add(20*time.Minute))); got.Points != 5 || got.Improved {
		f.Errorf("an older score: got %+v, want 5 points", got)
	}
	if got := f.submit("p", "3", at(start.Add(40*time.Minute))); got.Points != 3 {
		f.Errorf("a newer score: got %+v, want 3 points", got)
	}
}

func sumIsReachedLast(f *fixture) {
	start := f.begin(func(s *store.Settings) { s.Policy = store.Sum })
	f.submit("p", "5", at(start.Add(30*time.Minute)))
	f.submit("p", "5", at(start.Add(20*time.Minute)))
	if got, want := f.standing("p"), start.Add(30*time.Minute); got.Points != 10 || !got.AchievedAt.Equal(want) {
		f.Errorf("got %d at %v, want 10 at %v", got.Points, got.AchievedAt, want)
	}
}

func timesOutsideTheSeason(f *fixture) {
	start := f.begin(func(*store.Settings) {})
	f.submit("p", "1")
	f.refuse(invalid("achieved_at"), sub("q", "5", at(f.clock.Now().Add(time.Millisecond))))
	f.refuse(invalid("achieved_at"), sub("q", "5", at(start.Add(-time.Millisecond))))
	f.refuse(invalid("achieved_at"), sub("q", "5", at(time.Unix(0, 0))))
	f.refuse(invalid("achieved_at"), sub("q", "5", at(time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC))))
	f.submit("r", "5", at(f.clock.Now()))
	f.submit("s", "5", at(start))
}

func exportedOrderIsKept(f *fixture) {
	f.begin(func(*store.Settings) {})
	var batch []store.Submission
	for i := range f.many { // a burst of ties
		batch = append(batch, sub(store.PlayerID(fmt.Sprint("p", (i*7919)%f.many)), fmt.Sprint(30*i/f.many/29)))
	}
	for chunk := range slices.Chunk(batch, store.MaxBatch) {
		if _, _, err := f.one.SubmitBatch(f.ctx, demo, chunk, store.Once{}); err != nil {
			f.Fatalf("batch: %v", err)
		}
	}
	rows, err := collect(f.other.Export(f.ctx, store.Look{Board: demo}))
	if err != nil || len(rows) != f.many {
		f.Fatalf("export: got %d rows, %v", len(rows), err)
	}

	f.put("copy", with(func(s *store.Settings) { s.StartsAt = f.state(demo).Season.Start }))
	batch = batch[:0]
	for _, row := range rows {
		batch = append(batch, sub(row.Player, row.Points.Text(0), inSlot(row.Slot)))
	}
	rand.New(rand.NewPCG(5, 6)).Shuffle(len(batch), func(i, j int) { batch[i], batch[j] = batch[j], batch[i] })
	for chunk := range slices.Chunk(batch, store.MaxBatch) {
		if _, _, err := f.one.SubmitBatch(f.ctx, "copy", chunk, store.Once{}); err != nil {
			f.Fatalf("import: %v", err)
		}
	}
	again, err := collect(f.other.Export(f.ctx, store.Look{Board: "copy"}))
	if err != nil {
		f.Fatalf("export: %v", err)
	}
	f.equal("the copy", again, rows)
}

func slotsBeyondTheBoard(f *fixture) {
	f.begin(func(*store.Settings) {})
	season := f.state(demo).Season
	f.submit("p", "1", inSlot(0))
	f.submit("q", "1", inSlot(season.Slots()-1))
	f.refuse(invalid("slot"), sub("r", "1", inSlot(season.Slots())))
	f.refuse(invalid("slot"), sub("r", "1", inSlot(1<<53)))
	f.equal("order", f.order(), []store.PlayerID{"p", "q"})
}

func tiesPastTheSeason(f *fixture) {
	start := f.clock.Now().Add(-30 * 24 * time.Hour)
	f.put(demo, with(func(s *store.Settings) { s.StartsAt, s.SeasonDays = start, 1 }))
	for _, player := range []store.PlayerID{"a", "b", "c", "d"} {
		f.submit(player, "5")
		f.clock.Step(time.Hour)
	}
	f.equal("order", f.order(), []store.PlayerID{"a", "b", "c", "d"})
	if got, want := f.standing("a").AchievedAt, start.Add(24*time.Hour); !got.Equal(want) {
		f.Errorf("a got there at %v, want %v, where the ticks stand still", got, want)
	}
}

func lastSlotIsShared(f *fixture) {
	f.begin(func(*store.Settings) {})
	season := f.state(demo).Season
	last := season.Slots() - 1
	f.submit("a", "1", inSlot(last-1))
	f.submit("b", "1") // takes the last
	f.submit("c", "1") // shares it
	f.submit("d", "2")
	f.submit("e", "0")
	rows, err := collect(f.one.Export(f.ctx, store.Look{Board: demo}))
	if err != nil || len(rows) != 5 {
		f.Fatalf("export: got %v, %v", rows, err)
	}
	if rows[0].Player != "d" || rows[1].Player != "a" || rows[4].Player != "e" || rows[2].Slot != last || rows[3].Slot != last {
		f.Errorf("got %+v, want d, a, the two that share the last slot, e", rows)
	}
	for _, row := range rows {
		if row.AchievedAt.After(f.clock.Now()) {
			f.Errorf("%s got there at %v, later than now", row.Player, row.AchievedAt)
		}
	}
}

package storetest

import (
	"fmt"

	"leaderboard/store"
)

func placeRules() []rule {
	return []rule{
		{"around moves at the edges", aroundMovesAtTheEdges},
		{"a standing says how far above the others a player is", standingSaysHowFar},
		{"ties share a rank where that is asked for", tiesShareRanks},
		{"points that nobody has have a rank, too", ranksOfPoints},
		{"a range is bounded by points", rangesOfPoints},
	}
}

func aroundMovesAtTheEdges(f *fixture) {
	f.put(demo, asIs)
	f.fill(9, 9, 8, 7, 7, 7, 6, 5)
	all := f.everything().Entries
	for _, tt := range []struct {
		player      int
		radius      int64
		first, last int
	}{
		{1, 0, 1, 1},
		{1, 1, 1, 3},
		{2, 1, 1, 3},
		{3, 1, 2, 4},
		{8, 1, 6, 8},
		{7, 1, 6, 8},
		{1, 3, 1, 7},
		{5, 3, 2, 8},
		{8, 3, 2, 8},
		{4, 4, 1, 8},
		{1, 100, 1, 8},
	} {
		page, err := f.one.Around(f.ctx, look(), store.PlayerID(fmt.Sprint("p", tt.player)), tt.radius)
		if err != nil {
			f.Fatalf("around: %v", err)
		}
		f.equal(fmt.Sprintf("%d around p%d", tt.radius, tt.player), page.Entries, all[tt.first-1:tt.last])
		if page.Total != 8 {
			f.Errorf("got a total of %d, want 8", page.Total)
		}
	}
}

func standingSaysHowFar(f *fixture) {
	for _, order := range []store.Order{store.Desc, store.Asc} {
		f.put(demo, with(func(s *store.Settings) { s.Order = order }))
		f.submit("p1", "5")
		if got := f.standing("p1"); got.Percentile != 100 || got.Rank != 1 || got.Total != 1 {
			f.Errorf("%s: alone: got %+v", order, got)
		}
		sign := map[store.Order]int64{store.Desc: -1, store.Asc: 1}[order]
		f.fill(5, 5+sign*2, 5+sign*2, 5+sign*6, 5+sign*20)
		for i, want := range []struct {
			percentile float64
			toNext     store.Points
		}{{100, 0}, {75, 2}, {50, 0}, {25, 4}, {0, 14}} {
			got := f.standing(ids(i+1, i+1)[0])
			if got.Rank != int64(i+1) || got.Percentile != want.percentile || i > 0 && got.ToNext != want.toNext {
				f.Errorf("%s: got %+v, want rank %d, %v", order, got, i+1, want)
			}
		}
		if err := f.one.DeleteBoard(f.ctx, demo); err != nil {
			f.Fatalf("delete: %v", err)
		}
	}
}

func tiesShareRanks(f *fixture) {
	f.put(demo, asIs)
	f.fill(101, 100, 100, 99, 0, 0, 0, -1)
	want := []int64{1, 2, 2, 4, 5, 5, 5, 8}
	for offset := range want {
		page, err := f.one.Top(f.ctx, sharing(), int64(offset), 3)
		if err != nil {
			f.Fatalf("top: %v", err)
		}
		f.equal(fmt.Sprint("ranks from ", offset), ranks(page.Entries), want[offset:min(offset+3, 8)])
		player := ids(offset+1, offset+1)[0]
		standing, err := f.one.Player(f.ctx, sharing(), player)
		if err != nil || standing.Rank != want[offset] {
			f.Errorf("%s: got rank %d, %v, want %d", player, standing.Rank, err, want[offset])
		}
		page, err = f.one.Around(f.ctx, sharing(), player, 1)
		if err != nil {
			f.Fatalf("around: %v", err)
		}
		first := max(0, min(offset-1, 5))
		f.equal("ranks around "+string(player), ranks(page.Entries), want[first:first+3])
	}
	page, err := f.one.After(f.ctx, sharing(), behind(store.Page{Entries: f.everything().Entries[:2]}), 2)
	if err != nil {
		f.Fatalf("after: %v", err)
	}
	f.equal("ranks behind p2", ranks(page.Entries), []int64{2, 4})
	_, placed, _, err := f.one.Lookup(f.ctx, sharing(), []store.PlayerID{"p7", "p8", "p5", "p3"})
	if err != nil || len(placed) != 4 {
		f.Fatalf("lookup: got %v, %v", placed, err)
	}
	for i, want := range []struct{ rank, place int64 }{{2, 1}, {5, 2}, {5, 2}, {8, 4}} {
		if got := placed[i]; got.Rank != want.rank || got.Place != want.place {
			f.Errorf("lookup of %s: got rank %d, place %d, want %v", got.Player, got.Rank, got.Place, want)
		}
	}
}

func ranks(entries []store.Entry) []int64 {
	var list []int64
	for _, entry := range entries {
		list = append(list, entry.Rank)
	}
	return list
}

func ranksOfPoints(f *fixture) {
	f.put(demo, with(func(s *store.Settings) { s.Decimals = 1 }))
	f.fill(9, 7, 7, 5, -3)
	for points, want := range map[string][2]int64{
		"10000000": {1, 1}, "10": {1, 1}, "9": {2, 1}, "8.9": {2, 2}, "7": {4, 2}, "6": {4, 4}, "5.0": {5, 4}, "0": {5, 5},
		"-3": {6, 5}, "-3.1": {6, 6}, "-1e7": {6, 6},
	} {
		ordinal, err := f.one.RankOf(f.ctx, look(), number(points))
		if err != nil {
			f.Fatalf("rank: %v", err)
		}
		shared, err := f.one.RankOf(f.ctx, sharing(), number(points))
		if err != nil || ordinal.Rank != want[0] || shared.Rank != want[1] || ordinal.Total != 5 {
			f.Errorf("%s: got %d, shared %d of %d, %v, want %v", points, ordinal.Rank, shared.Rank, ordinal.Total, err, want)
		}
	}
	for _, points := range []string{"0.05", "10000000.1", "1e17"} {
		_, err := f.one.RankOf(f.ctx, look(), number(points))
		f.fails(points, err, invalid("points"))
	}
	ordinal, err := f.one.RankOf(f.ctx, look(), number("7"))
	if err != nil {
		f.Fatalf("rank: %v", err)
	}
	if got := f.submit("new", "7"); got.Rank != ordinal.Rank {
		f.Errorf("the score took place %d, promised was %d", got.Rank, ordinal.Rank)
	}
	season := f.state(demo).Season
	f.submit("late", "7", inSlot(season.Slots()-1)) // the last of all who may have so many points
	if got, err := f.one.RankOf(f.ctx, look(), number("7")); err != nil || got.Rank != 6 {
		f.Errorf("behind the last slot: got %+v, %v, want 6", got, err)
	}
}

func rangesOfPoints(f *fixture) {
	for _, order := range []store.Order{store.Desc, store.Asc} {
		f.put(demo, with(func(s *store.Settings) { s.Order = order }))
		f.fill(9, 7, 7, 5, 0, -3)
		all := f.everything().Entries
		bound := func(text string) *store.Decimal {
			if text == "" {
				return nil
			}
			decimal := number(text)
			return &decimal
		}
		for _, tt := range [][2]string{
			{"", ""}, {"7", "7"}, {"5", "9"}, {"5", ""}, {"", "5"}, {"1", "4"}, {"-10000000", "10000000"}, {"-3", "-3"}, {"8", "8"},
		} {
			var want []store.Entry
			for _, entry := range all {
				if (tt[0] == "" || entry.Points >= units(tt[0])) && (tt[1] == "" || entry.Points <= units(tt[1])) {
					want = append(want, entry)
				}
			}
			for limit := range int64(4) {
				page, count, err := f.one.Range(f.ctx, look(), bound(tt[0]), bound(tt[1]), limit)
				if err != nil || count != int64(len(want)) || page.Total != int64(len(all)) {
					f.Errorf("%s %v: got %d of %d, %v, want %d", order, tt, count, page.Total, err, len(want))
				}
				f.equal(fmt.Sprint(order, tt), page.Entries, want[:min(int(limit), len(want))])
			}
		}
		_, _, err := f.one.Range(f.ctx, look(), bound("0.5"), nil, 1)
		f.fails("too many decimals", err, invalid("min"))
		_, _, err = f.one.Range(f.ctx, look(), nil, bound("10000001"), 1)
		f.fails("out of range", err, invalid("max"))
		_, _, err = f.one.Range(f.ctx, look(), bound("2"), bound("1"), 1)
		f.fails("the wrong way round", err, invalid("min"))
		if err := f.one.DeleteBoard(f.ctx, demo); err != nil {
			f.Fatalf("delete: %v", err)
		}
	}
}

// units reads whole points.
func units(text string) store.Points {
	points, err := number(text).Points("points", 0, store.MaxUnits)
	if err != nil {
		panic(err)
	}
	return points
}

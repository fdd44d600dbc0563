package storetest

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"leaderboard/store"
)

func readRules() []rule {
	return []rule{
		{"an empty board is answered as one", emptyBoard},
		{"pages follow each other without gap or repeat", pagesFollow},
		{"a walk goes on behind a position that its player has left", walkGoesOn},
		{"around moves at the edges", aroundMovesAtTheEdges},
		{"a standing says how far above the others a player is", standingSaysHowFar},
		{"ties share a rank where that is asked for", tiesShareRanks},
		{"points that nobody has have a rank, too", ranksOfPoints},
		{"a range is bounded by points", rangesOfPoints},
		{"players looked up come back by rank", lookupByRank},
		{"players are found by the beginning of their name", searchByName},
		{"one view agrees with itself", viewAgrees},
		{"an export has every row with its slot", exportHasEveryRow},
	}
}

func collect(rows iter.Seq2[store.ExportRow, error]) ([]store.ExportRow, error) {
	var all []store.ExportRow
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		all = append(all, row)
	}
	return all, nil
}

// fill gives the demo board players p1, p2, …, best first, with the given points.
func (f *fixture) fill(points ...int64) {
	f.Helper()
	batch := make([]store.Submission, len(points))
	for i, p := range points {
		batch[i] = store.Submission{Player: store.PlayerID(fmt.Sprint("p", i+1)), Points: store.Whole(p)}
	}
	for chunk := range slices.Chunk(batch, store.MaxBatch) {
		if _, _, err := f.one.SubmitBatch(f.ctx, demo, chunk, store.Once{}); err != nil {
			f.Fatalf("batch: %v", err)
		}
	}
}

// ids returns p with each number from first to last.
func ids(first, last int) []store.PlayerID {
	list := []store.PlayerID{}
	for i := first; i <= last; i++ {
		list = append(list, store.PlayerID(fmt.Sprint("p", i)))
	}
	return list
}

func look() store.Look { return store.Look{Board: demo} }

func sharing() store.Look { return store.Look{Board: demo, SharedTies: true} }

func emptyBoard(f *fixture) {
	state := f.put(demo, asIs)
	want := store.Page{Board: demo, Season: state.Season, Epoch: state.Epoch, Version: state.Version}
	for name, read := range map[string]func() (store.Page, error){
		"top":      func() (store.Page, error) { return f.one.Top(f.ctx, look(), 0, 10) },
		"far page": func() (store.Page, error) { return f.one.Top(f.ctx, look(), 1<<62, 10) },
		"after":    func() (store.Page, error) { return f.one.After(f.ctx, look(), store.Position{Player: "p"}, 10) },
		"search":   func() (store.Page, error) { return f.one.Search(f.ctx, look(), "a", 10) },
		"range": func() (store.Page, error) {
			page, count, err := f.one.Range(f.ctx, look(), nil, nil, 10)
			if count != 0 {
				f.Errorf("range: got a count of %d", count)
			}
			return page, err
		},
		"view": func() (store.Page, error) {
			view, err := f.one.View(f.ctx, look(), "p", 10, 5)
			if view.Standing != nil || len(view.Around) != 0 {
				f.Errorf("view: got %+v and %v", view.Standing, view.Around)
			}
			return view.Page, err
		},
	} {
		page, err := read()
		if err != nil {
			f.Errorf("%s: %v", name, err)
		}
		f.equal(name, page, want)
	}
	rank, err := f.one.RankOf(f.ctx, look(), number("5"))
	if err != nil || rank.Rank != 1 || rank.Total != 0 || rank.Points != 5 {
		f.Errorf("rank: got %+v, %v", rank, err)
	}
	_, placed, unknown, err := f.one.Lookup(f.ctx, look(), []store.PlayerID{"b", "a", "b"})
	if err != nil || len(placed) != 0 {
		f.Errorf("lookup: got %v, %v", placed, err)
	}
	f.equal("unknown", unknown, []store.PlayerID{"b", "a"})
	_, err = f.one.Player(f.ctx, look(), "p")
	f.fails("player", err, store.ErrPlayerNotFound)
	_, err = f.one.Around(f.ctx, look(), "p", 5)
	f.fails("around", err, store.ErrPlayerNotFound)
	rows, err := collect(f.one.Export(f.ctx, look()))
	if err != nil || len(rows) != 0 {
		f.Errorf("export: got %v, %v", rows, err)
	}
	_, err = f.one.Top(f.ctx, store.Look{Board: demo, Season: 2}, 0, 10)
	f.fails("a season to come", err, store.ErrSeasonNotFound)
	_, err = f.one.Top(f.ctx, store.Look{Board: demo, Season: -1}, 0, 10)
	f.fails("a season that cannot be", err, store.ErrSeasonNotFound)
}

func pagesFollow(f *fixture) {
	f.put(demo, asIs)
	f.fill(9, 9, 9, 9, 9, 8, 7, 7, 7, 6, 5, 5)
	all := f.everything()
	f.equal("order", players(all.Entries), ids(1, 12))
	for limit := range int64(14) {
		for offset := range int64(15) {
			page, err := f.one.Top(f.ctx, look(), offset, limit)
			if err != nil {
				f.Fatalf("top: %v", err)
			}
			want := all
			first := min(offset, 12)
			want.Entries = all.Entries[first:min(first+limit, 12)]
			want.More = len(want.Entries) > 0 && offset+limit < 12
			f.equal(fmt.Sprintf("%d places from %d", limit, offset), page, want)
		}
		if limit == 0 {
			continue
		}
		var walked []store.Entry
		for page, err := f.one.Top(f.ctx, look(), 0, limit); ; page, err = f.one.After(f.ctx, look(), behind(page), limit) {
			if err != nil {
				f.Fatalf("walk: %v", err)
			}
			walked = append(walked, page.Entries...)
			if !page.More {
				break
			}
		}
		f.equal(fmt.Sprintf("a walk by %d", limit), walked, all.Entries)
	}
}

// behind returns the position of a page's last entry.
func behind(page store.Page) store.Position {
	last := page.Entries[len(page.Entries)-1]
	return store.Position{Packed: last.Packed, Player: last.Player}
}

func walkGoesOn(f *fixture) {
	start := f.begin(func(s *store.Settings) { s.Policy = store.Last })
	for _, player := range []store.PlayerID{"c", "a", "é", "b", "B", "z"} { // they share one slot
		f.submit(player, "5", at(start))
	}
	f.submit("first", "9")
	f.submit("last", "1")
	all := f.everything().Entries
	for i, entry := range all {
		position := store.Position{Packed: entry.Packed, Player: entry.Player}
		if entry.Player != "first" {
			f.submit(entry.Player, "10")
		}
		page, err := f.one.After(f.ctx, look(), position, 10)
		if err != nil {
			f.Fatalf("after: %v", err)
		}
		f.equal("behind "+string(entry.Player), players(page.Entries), players(all[i+1:]))
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
		{1, 0, 1, 1}, {1, 1, 1, 3}, {2, 1, 1, 3}, {3, 1, 2, 4}, {8, 1, 6, 8}, {7, 1, 6, 8}, {1, 3, 1, 7}, {5, 3, 2, 8}, {8, 3, 2, 8}, {4, 4, 1, 8}, {1, 100, 1, 8},
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
	for i, want := range []store.Placed{{Entry: store.Entry{Rank: 2}, Place: 1}, {Entry: store.Entry{Rank: 5}, Place: 2}, {Entry: store.Entry{Rank: 5}, Place: 2}, {Entry: store.Entry{Rank: 8}, Place: 4}} {
		if placed[i].Rank != want.Rank || placed[i].Place != want.Place {
			f.Errorf("lookup of %s: got rank %d, place %d, want %d and %d", placed[i].Player, placed[i].Rank, placed[i].Place, want.Rank, want.Place)
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
		"10": {1, 1}, "9": {2, 1}, "8.9": {2, 2}, "7": {4, 2}, "6": {4, 4}, "5.0": {5, 4}, "0": {5, 5}, "-3": {6, 5}, "-3.1": {6, 6}, "10000000": {1, 1}, "-1e7": {6, 6},
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

func lookupByRank(f *fixture) {
	f.put(demo, asIs)
	f.fill(200, 150, 150, 100)
	f.submit("p3", "1", named("Pat"))
	asked := []store.PlayerID{"p4", "zz", "p3", "p1", "p3", "aa", "zz"}
	season, placed, unknown, err := f.other.Lookup(f.ctx, look(), asked)
	if err != nil {
		f.Fatalf("lookup: %v", err)
	}
	all := f.everything()
	f.equal("season", season, all.Season)
	f.equal("placed", placed, []store.Placed{
		{Entry: all.Entries[0], Place: 1}, {Entry: all.Entries[2], Place: 2}, {Entry: all.Entries[3], Place: 3},
	})
	f.equal("unknown", unknown, []store.PlayerID{"zz", "aa"})

	many := append(ids(1, 997), "aa", "zz", "p1")
	if _, placed, unknown, err = f.one.Lookup(f.ctx, look(), many); err != nil || len(placed) != 4 || len(unknown) != 995 {
		f.Errorf("a thousand: got %d placed, %d unknown, %v", len(placed), len(unknown), err)
	}
}

func searchByName(f *fixture) {
	f.put(demo, asIs)
	for i, name := range []store.Name{"Ann", "ANNA", "annabel", "Straße", "Ánn", "玩家", "an\u200bn", "Rank", "*", "a:n"} {
		f.submit(ids(i+1, i+1)[0], fmt.Sprint(100-i), named(name))
	}
	f.submit("anonymous", "1000")
	all := f.everything().Entries
	for _, prefix := range []string{
		"a", "an", "AN", "ann", "anna", "annab", "annabelle", "strass", "STRASSE", "á", "A\u0301", "玩", "玩家", "b", "*", "a:", "p1", "[", "(", "\xff", "𝙍𝙖",
	} {
		page, err := f.other.Search(f.ctx, look(), prefix, 100)
		if err != nil {
			f.Fatalf("search: %v", err)
		}
		f.equal(fmt.Sprintf("search %q", prefix), page.Entries, Search(all, prefix))
	}
	page, err := f.one.Search(f.ctx, look(), "ann", 2)
	if err != nil || len(page.Entries) != 2 || page.Total != int64(len(all)) {
		f.Errorf("two: got %v, %v", page, err)
	}

	f.submit("p1", "1", named("Zoe"))
	page, err = f.one.Search(f.ctx, look(), "ann", 10)
	if err != nil {
		f.Fatalf("search: %v", err)
	}
	f.equal("after a change of name", players(page.Entries), []store.PlayerID{"p2", "p3"})
	if err := f.one.RemovePlayer(f.ctx, demo, "p2"); err != nil {
		f.Fatalf("remove: %v", err)
	}
	if _, err := f.one.Ban(f.ctx, demo, "p3", ""); err != nil {
		f.Fatalf("ban: %v", err)
	}
	if page, err = f.one.Search(f.ctx, look(), "ann", 10); err != nil || len(page.Entries) != 0 {
		f.Errorf("after a removal and a ban: got %v, %v", page.Entries, err)
	}
}

func viewAgrees(f *fixture) {
	f.put(demo, asIs)
	f.fill(9, 9, 8, 7, 6, 5, 4, 4, 4, 3)
	for _, l := range []store.Look{look(), sharing()} {
		for _, player := range ids(1, 10) {
			view, err := f.one.View(f.ctx, l, player, 3, 2)
			if err != nil {
				f.Fatalf("view: %v", err)
			}
			top, _ := f.one.Top(f.ctx, l, 0, 3)
			standing, _ := f.one.Player(f.ctx, l, player)
			around, _ := f.one.Around(f.ctx, l, player, 2)
			f.equal("the view of "+string(player), view, store.View{Page: top, Standing: &standing, Around: around.Entries})
		}
	}
	view, err := f.one.View(f.ctx, look(), "", 3, 2)
	if err != nil || view.Standing != nil || len(view.Around) != 0 || len(view.Entries) != 3 {
		f.Errorf("of nobody: got %+v, %v", view, err)
	}
}

func exportHasEveryRow(f *fixture) {
	start := f.begin(func(s *store.Settings) { s.Order = store.Asc })
	f.fill(slices.Repeat([]int64{3, 1, 2}, f.many/3)...)
	f.submit("p1", "5", named("=SUM(A1)"), at(start.Add(time.Minute)))
	rows, err := collect(f.one.Export(f.ctx, look()))
	if err != nil || len(rows) != f.many/3*3 {
		f.Fatalf("export: got %d rows, %v", len(rows), err)
	}
	season := f.state(demo).Season
	for i, row := range rows {
		if row.Rank != int64(i+1) || row.Packed != season.Pack(row.Points, row.Slot) || i > 0 && row.Packed >= rows[i-1].Packed {
			f.Fatalf("row %d: got %+v after %+v", i, row, rows[max(i-1, 0)])
		}
	}
	for row, err := range f.one.Export(f.ctx, look()) { // a reader may stop
		if err != nil || row.Rank != 1 {
			f.Errorf("got %+v, %v", row, err)
		}
		break
	}
}

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
	start := f.begin(func(*store.Settings) {})
	for _, player := range []store.PlayerID{"c", "a", "é", "b", "B", "z", "ab", "aa", "玩", "0", "~"} {
		f.submit(player, "5", at(start)) // they share one slot
	}
	f.submit("first", "9", at(start))
	f.submit("last", "1", at(start))
	all := f.everything().Entries
	for i, entry := range all {
		if err := f.one.RemovePlayer(f.ctx, demo, entry.Player); err != nil {
			f.Fatalf("remove: %v", err)
		}
		position := store.Position{Packed: entry.Packed, Player: entry.Player}
		page, err := f.one.After(f.ctx, look(), position, 100)
		if err != nil {
			f.Fatalf("after: %v", err)
		}
		f.equal("behind "+string(entry.Player), players(page.Entries), players(all[i+1:]))
		f.submit(entry.Player, entry.Points.Text(0), at(start))
	}
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
		"a", "an", "AN", "ann", "anna", "annab", "annabelle", "strass", "STRASSE", "á", "A\u0301", "玩", "玩家", "b",
		"*", "a:", "p1", "[", "(", "\xff", "𝙍𝙖",
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
		if row.Rank != int64(i+1) || row.Packed != season.Pack(row.Points, row.Slot) ||
			i > 0 && row.Packed >= rows[i-1].Packed {
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

package storetest

import (
	"fmt"
	"slices"
	"strings"

	"leaderboard/store"
)

func valueRules() []rule {
	return []rule{
		{"a score outside the range is refused whole", outsideTheRange},
		{"every number that a board accepts comes back digit for digit", numbersComeBack},
		{"ids of every kind are just ids", idsAreJustIDs},
	}
}

func outsideTheRange(f *fixture) {
	f.put(demo, with(func(s *store.Settings) { s.Policy, s.MaxPoints, s.Decimals = store.Sum, 1000, 1 }))
	f.submit("p", "999.9", named("Pat"))
	f.submit("q", "-1000")
	for _, s := range []store.Submission{
		sub("r", "1000.1"), sub("r", "-1000.1"), sub("r", "0.01"), sub("r", "1e18"),
		sub("p", "0.2"), sub("p", "1000"), sub("q", "-0.1"), sub("p", "500", named("Other")),
	} {
		f.refuse(invalid("points"), s)
	}
	if got := f.submit("p", "0.1"); got.Points != 10_000 {
		f.Errorf("up to the bound: got %d", got.Points)
	}
}

func numbersComeBack(f *fixture) {
	tests := []struct {
		maxPoints int64
		decimals  int
		numbers   []string
	}{
		{1<<35 - 1, 0, []string{"0", "1", "-1", "34359738367", "-34359738367", "3000000000", "34359738366"}},
		{10_000_000, 0, []string{"10000000", "-10000000", "9999999", "1460000"}},
		{10_000_000, 2, []string{"1.10", "-0.01", "0.00", "9999999.99", "-10000000.00", "593.21"}},
		{34, 9, []string{"33.999999999", "-33.999999999", "0.000000001", "12.345000000"}},
	}
	for i, tt := range tests {
		for _, order := range []store.Order{store.Desc, store.Asc} {
			id := store.BoardID(fmt.Sprintf("b%d%s", i, order))
			f.put(id, with(func(s *store.Settings) { s.MaxPoints, s.Decimals, s.Order = tt.maxPoints, tt.decimals, order }))
			for _, text := range tt.numbers {
				player := store.PlayerID("p" + text)
				result, err := f.one.Submit(f.ctx, id, sub(player, text))
				if err != nil || result.Points.Text(tt.decimals) != text || result.Submitted != result.Points {
					f.Errorf("%s %s: got %+v, %v", order, text, result, err)
				}
			}
			page, err := f.other.Top(f.ctx, store.Look{Board: id}, 0, 100)
			if err != nil || len(page.Entries) != len(tt.numbers) {
				f.Fatalf("top: got %v, %v", page, err)
			}
			for _, entry := range page.Entries {
				if got, want := entry.Points.Text(tt.decimals), strings.TrimPrefix(string(entry.Player), "p"); got != want {
					f.Errorf("%s: got %s, want %s", order, got, want)
				}
			}
		}
	}
}

func idsAreJustIDs(f *fixture) {
	f.put(demo, asIs)
	ids := []store.PlayerID{
		"a:b", "a:b:c", ":", "{x}", "}{", "{", "*", "?", "[a]", "lb:B:meta", "123", "00123", "-inf", "+inf", "(5", "__proto__",
		"constructor", "a b", "a%20b", "a+b", "..", "a/b", "\"", "\\", "%", "é", "玩家", "🩸",
	}
	for i, id := range ids {
		f.submit(id, fmt.Sprint(100-i), named(store.Name("n"+string(id))))
	}
	f.equal("order", f.order(), ids)
	for i, id := range ids {
		activity, err := f.one.Activity(f.ctx, demo, id, 10)
		if err != nil || len(activity) != 1 || activity[0].Points != store.Points(100-i) {
			f.Errorf("%q: got activity %v, %v", id, activity, err)
		}
	}
	if err := f.one.RemovePlayer(f.ctx, demo, "*"); err != nil {
		f.Fatalf("remove: %v", err)
	}
	without := slices.DeleteFunc(slices.Clone(ids), func(id store.PlayerID) bool { return id == "*" })
	f.equal("order without *", f.order(), without)
}

package live

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"leaderboard/store"
)

// rows returns entries of players named by single letters; a digit behind a letter is the player's points.
func rows(names string) []store.Entry {
	var list []store.Entry
	for _, c := range names {
		if c >= '0' && c <= '9' {
			list[len(list)-1].Points = store.Points(c - '0')
			continue
		}
		list = append(list, store.Entry{Rank: int64(len(list) + 1), Player: store.PlayerID(c)})
	}
	return list
}

func TestTheLeastThatChangedIsTold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, after, changed, removed string }{
		"nothing":                      {"abcde", "abcde", "", ""},
		"the first entry":              {"", "a", "a", ""},
		"the last one to go":           {"a", "", "", "a"},
		"one climbs over fifty":        {"abcdefgh", "habcdefg", "h", ""},
		"one falls under all":          {"abcdefgh", "bcdefgha", "a", ""},
		"two swap":                     {"abcd", "acbd", "b", ""},
		"points change in place":       {"abc", "ab2c", "b", ""},
		"one comes in at the top":      {"abc", "xab", "x", "c"},
		"one leaves from the middle":   {"abcd", "acd", "", "b"},
		"another moves up from below":  {"abcd", "acdx", "x", "b"},
		"all change":                   {"abc", "a1b1c1", "abc", ""},
		"all are others":               {"abc", "xyz", "xyz", "abc"},
		"one climbs with more points":  {"abcde", "ad7bce", "d", ""},
		"who stays has the same order": {"abcdef", "fdabce", "fd", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, after := rows(c.before), rows(c.after)
			d := diff(before, after)
			var changed, removed string
			for _, i := range d.changed {
				changed += string(after[i].Player)
			}
			for _, player := range d.removed {
				removed += string(player)
			}
			if changed != c.changed && !(name == "two swap" && changed == "c") || removed != c.removed {
				t.Errorf("got changed %q and removed %q, want %q and %q", changed, removed, c.changed, c.removed)
			}
		})
	}
}

// apply does what a client does with a difference.
func apply(list []store.Entry, after []store.Entry, d difference) []store.Entry {
	out := map[store.PlayerID]bool{}
	for _, player := range d.removed {
		out[player] = true
	}
	for _, i := range d.changed {
		out[after[i].Player] = true
	}
	list = slices.DeleteFunc(slices.Clone(list), func(e store.Entry) bool { return out[e.Player] })
	for _, i := range d.changed {
		list = slices.Insert(list, int(after[i].Rank)-1, after[i])
	}
	for i := range list {
		list[i].Rank = int64(i + 1)
	}
	return list
}

func TestADifferenceLeadsFromOneListToTheOther(t *testing.T) {
	t.Parallel()
	list := rapid.Custom(func(t *rapid.T) []store.Entry {
		players := rapid.Permutation([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}).Draw(t, "players")
		players = players[:rapid.IntRange(0, len(players)).Draw(t, "length")]
		list := []store.Entry{}
		for i, p := range players {
			list = append(list, store.Entry{
				Rank: int64(i + 1), Player: store.PlayerID(fmt.Sprint(p)), Points: store.Points(rapid.IntRange(0, 1).Draw(t, "points")),
				Name:   store.Name(rapid.SampledFrom([]string{"", "x"}).Draw(t, "name")),
				Packed: rapid.Int64Range(0, 1).Draw(t, "packed"),
			})
		}
		return list
	})
	rapid.Check(t, func(t *rapid.T) {
		before, after := list.Draw(t, "before"), list.Draw(t, "after")
		d := diff(before, after)
		if difference := cmp.Diff(after, apply(before, after, d)); difference != "" {
			t.Fatalf("after the difference (-want +got):\n%s", difference)
		}
		if want := len(after) - longestCommon(before, after); len(d.changed) != want {
			t.Fatalf("%d rows are told, %d would do", len(d.changed), want)
		}
		if slices.ContainsFunc(d.removed, func(p store.PlayerID) bool {
			return slices.ContainsFunc(after, func(e store.Entry) bool { return e.Player == p })
		}) {
			t.Fatalf("removed %v, of whom somebody is there", d.removed)
		}
	})
}

// longestCommon returns the length of the longest common subsequence, by the book.
func longestCommon(a, b []store.Entry) int {
	best := make([][]int, len(a)+1)
	for i := range best {
		best[i] = make([]int, len(b)+1)
	}
	for i := range a {
		for j := range b {
			if same(&a[i], &b[j]) {
				best[i+1][j+1] = best[i][j] + 1
			} else {
				best[i+1][j+1] = max(best[i][j+1], best[i+1][j])
			}
		}
	}
	return best[len(a)][len(b)]
}

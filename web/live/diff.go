package live

import (
	"slices"

	"leaderboard/store"
)

// difference is the least that leads from one list of rows to another: take out removed and changed, put changed in by
// rank, best first, and count anew. A single climber is one row, however many were passed.
type difference struct {
	changed []int            // places in the new list, best first
	removed []store.PlayerID // who is not in the new list
}

func (d *difference) empty() bool { return len(d.changed) == 0 && len(d.removed) == 0 }

// diff compares two lists of rows. A row counts as changed when its own data changed or when it does not stay in order
// among those that did not: the rows that stay are the longest run of them that has the same order in both lists.
func diff(before, after []store.Entry) difference {
	head, tail := 0, 0 // most rows of most changes: no need to look closer
	for head < min(len(before), len(after)) && same(&before[head], &after[head]) {
		head++
	}
	for tail < min(len(before), len(after))-head && same(&before[len(before)-1-tail], &after[len(after)-1-tail]) {
		tail++
	}
	before, after = before[head:len(before)-tail], after[head:len(after)-tail]
	if len(before) == 0 && len(after) == 0 {
		return difference{}
	}

	places := make(map[store.PlayerID]int, len(before))
	for i := range before {
		places[before[i].Player] = i
	}
	old := make([]int, len(after)) // the place before of each row whose data is the same, or -1
	for i := range after {
		old[i] = -1
		if place, ok := places[after[i].Player]; ok {
			if same(&before[place], &after[i]) {
				old[i] = place
			}
			delete(places, after[i].Player)
		}
	}
	var d difference
	for i := range before {
		if _, gone := places[before[i].Player]; gone {
			d.removed = append(d.removed, before[i].Player)
		}
	}
	stays := longestRise(old)
	for i := range after {
		if !stays[i] {
			d.changed = append(d.changed, head+i)
		}
	}
	return d
}

// same reports whether a row tells the same of the same player. Its rank is left out: it follows from the order. So is
// the time, which follows from the packed score: that of a slot ahead of the clock is shown as now, whenever now is, and
// a player who did nothing would be news with every look.
func same(a, b *store.Entry) bool {
	return a.Player == b.Player && a.Packed == b.Packed && a.Points == b.Points && a.Name == b.Name
}

// longestRise marks a longest run of places that rise; -1 is no place. It finds the run by its ends: of all runs of one
// length the one with the lowest end can go on furthest.
func longestRise(places []int) []bool {
	ends := make([]int, 0, len(places))  // ends[n] is where the best run of n+1 places ends
	previous := make([]int, len(places)) // the one before each place in its run
	for i, place := range places {
		if place < 0 {
			continue
		}
		n, _ := slices.BinarySearchFunc(ends, place, func(end, place int) int { return places[end] - place })
		previous[i] = -1
		if n > 0 {
			previous[i] = ends[n-1]
		}
		if n == len(ends) {
			ends = append(ends, i)
		} else {
			ends[n] = i
		}
	}
	marked := make([]bool, len(places))
	if len(ends) > 0 {
		for i := ends[len(ends)-1]; i >= 0; i = previous[i] {
			marked[i] = true
		}
	}
	return marked
}

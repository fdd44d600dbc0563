package storetest

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"leaderboard/store"
)

// Entries returns the whole board as a store shows it at a time. With shared ties equal points have equal ranks.
func (m *Model) Entries(now time.Time, sharedTies bool) []store.Entry {
	entries := make([]store.Entry, 0, len(m.board))
	for i, player := range m.Players() {
		p := m.board[player]
		entry := store.Entry{
			Rank: int64(i + 1), Player: player, Name: m.names[player], Points: p.points,
			AchievedAt: m.Season.AchievedAt(p.slot, now), Packed: m.Season.Pack(p.points, p.slot),
		}
		if sharedTies && i > 0 && entries[i-1].Points == p.points {
			entry.Rank = entries[i-1].Rank
		}
		entries = append(entries, entry)
	}
	return entries
}

// Standing returns how a player stands on a board of these entries, or nil.
func Standing(entries []store.Entry, season store.Season, player store.PlayerID) *store.Standing {
	i := slices.IndexFunc(entries, func(e store.Entry) bool { return e.Player == player })
	if i < 0 {
		return nil
	}
	standing := store.Standing{Entry: entries[i], Season: season, Total: int64(len(entries)), Percentile: 100}
	if len(entries) > 1 {
		standing.Percentile = float64(len(entries)-1-i) / float64(len(entries)-1) * 100
	}
	if i > 0 {
		standing.ToNext = max(entries[i-1].Points-entries[i].Points, entries[i].Points-entries[i-1].Points)
	}
	return &standing
}

// Around returns 2×radius+1 of the entries with the player in the middle, moved where the board ends.
func Around(entries []store.Entry, player store.PlayerID, radius int) []store.Entry {
	i := slices.IndexFunc(entries, func(e store.Entry) bool { return e.Player == player })
	if i < 0 {
		return nil
	}
	first := max(0, min(i-radius, len(entries)-2*radius-1))
	return entries[first:min(first+2*radius+1, len(entries))]
}

// RankOf returns the place that points would take: behind all of equal points, or with them where ties are shared.
func (m *Model) RankOf(points store.Points, sharedTies bool) int64 {
	rank := int64(1)
	for _, p := range m.board {
		if m.value(p.points) > m.value(points) || !sharedTies && p.points == points {
			rank++
		}
	}
	return rank
}

// Lookup returns the entries of some players, with their places among themselves, and who has none.
func Lookup(
	entries []store.Entry, players []store.PlayerID, sharedTies bool,
) (placed []store.Placed, unknown []store.PlayerID) {
	for _, entry := range entries {
		if !slices.Contains(players, entry.Player) {
			continue
		}
		place := int64(len(placed) + 1)
		if sharedTies && len(placed) > 0 && placed[len(placed)-1].Points == entry.Points {
			place = placed[len(placed)-1].Place
		}
		placed = append(placed, store.Placed{Entry: entry, Place: place})
	}
	for i, player := range players {
		known := slices.ContainsFunc(placed, func(p store.Placed) bool { return p.Player == player })
		if !known && !slices.Contains(players[:i], player) {
			unknown = append(unknown, player)
		}
	}
	return placed, unknown
}

// Search returns the entries whose name begins with a text, whatever its case, by name.
func Search(entries []store.Entry, prefix string) []store.Entry {
	found := slices.DeleteFunc(slices.Clone(entries), func(e store.Entry) bool {
		return e.Name == "" || !strings.HasPrefix(store.Fold(string(e.Name)), store.Fold(prefix))
	})
	slices.SortFunc(found, func(a, b store.Entry) int {
		byName := strings.Compare(store.Fold(string(a.Name)), store.Fold(string(b.Name)))
		return cmp.Or(byName, strings.Compare(string(a.Player), string(b.Player)))
	})
	return found
}

// Activity returns a player's latest changes, newest first, or [store.ErrPlayerNotFound] for somebody whom the board
// does not know or does not show.
func (m *Model) Activity(player store.PlayerID) ([]store.Activity, error) {
	_, banned := m.bans[player]
	if _, stands := m.board[player]; banned || !stands && m.names[player] == "" && len(m.activity[player]) == 0 {
		return nil, store.ErrPlayerNotFound
	}
	return m.activity[player], nil
}

package storetest

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"leaderboard/store"
)

// Model is the running season of a board, kept as plainly as can be: a list of players that is sorted whenever somebody
// asks. Every store must answer as it does.
//
// A place is points, a slot, and the turn in which it was taken. The slot decides among equal points: a new score takes
// the tick of its time, or the slot behind the last of those with the same points, on the board or banned. So as long as
// nobody hands in times or slots, equal points stand in the order of their turns, which [Model.FirstCome] returns.
type Model struct {
	Settings store.Settings
	Season   store.Season
	Version  int64

	board    map[store.PlayerID]place
	bans     map[store.PlayerID]place // the zero place where there was no score
	names    map[store.PlayerID]store.Name
	activity map[store.PlayerID][]store.Activity
	turns    int64
}

// place is where a player stands: points, and when they were reached.
type place struct {
	points store.Points
	slot   int64
	turn   int64 // from 1
}

// NewModel returns the model of a board on which nobody stands.
func NewModel(board store.BoardState) *Model {
	return &Model{
		Settings: board.Settings, Season: board.Season, Version: board.Version,
		board: make(map[store.PlayerID]place), bans: make(map[store.PlayerID]place),
		names: make(map[store.PlayerID]store.Name), activity: make(map[store.PlayerID][]store.Activity),
	}
}

// Clone returns a copy that shares nothing with m.
func (m *Model) Clone() *Model {
	clone := *m
	clone.board, clone.bans, clone.names = maps.Clone(m.board), maps.Clone(m.bans), maps.Clone(m.names)
	clone.activity = make(map[store.PlayerID][]store.Activity, len(m.activity))
	for player, list := range m.activity {
		clone.activity[player] = slices.Clone(list)
	}
	return &clone
}

// Submit does what [store.Scores] says of one submission, without Once.
func (m *Model) Submit(id store.BoardID, sub store.Submission, now time.Time) (store.Result, error) {
	submitted, slot, err := m.check(sub, now)
	if err != nil {
		return store.Result{}, err
	}
	old, had := m.board[sub.Player]
	points := submitted
	if m.Season.Policy == store.Sum {
		points += old.points
	}
	if limit := m.Settings.Limit(); points > limit || points < -limit {
		return store.Result{}, store.Invalid("points", "would leave the range")
	}

	previous := m.rank(sub.Player)
	renamed := sub.Name != "" && m.names[sub.Player] != sub.Name
	if renamed {
		m.names[sub.Player] = sub.Name
	}
	taken, changed := m.take(old, had, points, slot, now)
	if changed {
		m.turns++
		taken.turn = m.turns
		m.board[sub.Player] = taken
	}
	rank := m.rank(sub.Player)
	improved := changed && (!had || m.value(taken.points) > m.value(old.points))
	if changed && (!had || taken.points != old.points) {
		m.remember(sub.Player, now, old, had, improved, rank, previous)
	}
	m.count(changed || renamed, rank, previous)
	return store.Result{
		Board: id, Season: m.Season.Number, Decimals: m.Season.Decimals, Player: sub.Player, Points: taken.points,
		HasPoints: true, Submitted: submitted, Improved: improved, Rank: rank, PreviousRank: previous, Total: m.Total(),
		AchievedAt: m.Season.AchievedAt(taken.slot, now),
	}, nil
}

// check refuses what needs no look at the player's score. The slot is -1 where the clock decides.
func (m *Model) check(sub store.Submission, now time.Time) (points store.Points, slot int64, err error) {
	if sub.Season != 0 && sub.Season < m.Season.Number {
		return 0, 0, store.ErrSeasonClosed
	}
	if sub.Season > m.Season.Number {
		return 0, 0, store.Invalid("season", "has not begun")
	}
	if points, err = sub.Points.Points("points", m.Season.Decimals, m.Settings.Limit()); err != nil {
		return 0, 0, err
	}
	if _, banned := m.bans[sub.Player]; banned {
		return 0, 0, store.ErrBanned
	}
	switch {
	case sub.HasSlot && sub.Slot >= m.Season.Slots():
		return 0, 0, store.Invalid("slot", "is too large")
	case sub.HasSlot:
		return points, sub.Slot, nil
	case sub.AchievedAt.IsZero():
		return points, -1, nil
	case sub.AchievedAt.After(now):
		return 0, 0, store.Invalid("achieved_at", "is in the future")
	case sub.AchievedAt.Before(m.Season.Start):
		return 0, 0, store.Invalid("achieved_at", "is before the season")
	}
	return points, m.Season.Tick(sub.AchievedAt), nil
}

// take returns where a player stands after points that count as the policy says, and whether that is news.
func (m *Model) take(old place, had bool, points store.Points, slot int64, now time.Time) (place, bool) {
	same := had && points == old.points
	if had && m.Season.Policy == store.Best && m.value(points) < m.value(old.points) {
		return old, false
	}
	if slot < 0 {
		if same {
			return old, false
		}
		return place{points: points, slot: m.behind(points, now)}, true
	}
	switch {
	case m.Season.Policy == store.Sum && had:
		if same {
			return old, false
		}
		slot = max(slot, old.slot) // reached with its last part
	case same && slot >= old.slot:
		return old, false
	case m.Season.Policy == store.Last && had && !same && slot < old.slot:
		return old, false // something later stands
	}
	return place{points: points, slot: slot}, true
}

// behind returns the slot of a new score: its tick's, or the one behind the last of equal points.
func (m *Model) behind(points store.Points, now time.Time) int64 {
	slot := m.Season.Tick(now)
	for _, taken := range []map[store.PlayerID]place{m.board, m.bans} {
		for _, other := range taken {
			if other.turn > 0 && other.points == points {
				slot = max(slot, other.slot+1)
			}
		}
	}
	return min(slot, m.Season.Slots()-1)
}

func (m *Model) remember(
	player store.PlayerID, now time.Time, old place, had, improved bool, rank, previous int64,
) {
	kind := store.NewScore
	if improved {
		kind = store.NewBest
	}
	if m.live(rank) && !m.live(previous) {
		kind = store.EnteredTop
	}
	happened := store.Activity{
		At: now, Kind: kind, Decimals: m.Season.Decimals, Points: m.board[player].points, PreviousPoints: old.points,
		HadPoints: had, Rank: rank, PreviousRank: previous,
	}
	list := slices.Insert(m.activity[player], 0, happened)
	m.activity[player] = list[:min(len(list), m.Settings.ActivityCap)]
}

// count counts a change of a row that stands or stood in the live top.
func (m *Model) count(changed bool, ranks ...int64) {
	if changed && slices.ContainsFunc(ranks, m.live) {
		m.Version++
	}
}

func (m *Model) live(rank int64) bool { return rank > 0 && rank <= int64(m.Settings.LiveTop) }

// Ban takes a player off the board until [Model.Unban].
func (m *Model) Ban(player store.PlayerID) {
	if _, banned := m.bans[player]; banned {
		return
	}
	m.count(true, m.rank(player))
	m.bans[player] = m.board[player]
	delete(m.board, player)
}

// Unban puts a banned player back, or returns [store.ErrNotBanned].
func (m *Model) Unban(player store.PlayerID) error {
	kept, banned := m.bans[player]
	if !banned {
		return store.ErrNotBanned
	}
	delete(m.bans, player)
	if kept.turn > 0 {
		m.board[player] = kept
	}
	m.count(true, m.rank(player))
	return nil
}

// Remove takes away what there is of a player but a ban, or returns [store.ErrPlayerNotFound].
func (m *Model) Remove(player store.PlayerID) error {
	_, stood := m.board[player]
	kept, banned := m.bans[player]
	if !stood && kept.turn == 0 && m.names[player] == "" && len(m.activity[player]) == 0 {
		return store.ErrPlayerNotFound
	}
	m.count(true, m.rank(player))
	delete(m.board, player)
	delete(m.names, player)
	delete(m.activity, player)
	if banned {
		m.bans[player] = place{}
	}
	return nil
}

// Total returns how many players stand on the board.
func (m *Model) Total() int64 { return int64(len(m.board)) }

// value returns points as they count: more is better.
func (m *Model) value(points store.Points) store.Points {
	if m.Season.Order == store.Asc {
		return -points
	}
	return points
}

// Players returns who stands on the board, best first. Those who share a slot, which takes backdating or a points value
// without a free slot, stand in falling order of the bytes of their ids.
func (m *Model) Players() []store.PlayerID {
	return m.sorted(func(a, b place) int { return cmp.Compare(a.slot, b.slot) })
}

// FirstCome returns who stands on the board, best first, and among equal points in the order in which they were reached,
// whatever any clock showed.
func (m *Model) FirstCome() []store.PlayerID {
	return m.sorted(func(a, b place) int { return cmp.Compare(a.turn, b.turn) })
}

func (m *Model) sorted(tie func(a, b place) int) []store.PlayerID {
	return slices.SortedFunc(maps.Keys(m.board), func(a, b store.PlayerID) int {
		placeA, placeB := m.board[a], m.board[b]
		better := cmp.Compare(m.value(placeB.points), m.value(placeA.points))
		return cmp.Or(better, tie(placeA, placeB), strings.Compare(string(b), string(a)))
	})
}

// rank returns a player's place, or 0.
func (m *Model) rank(player store.PlayerID) int64 {
	return int64(slices.Index(m.Players(), player) + 1)
}

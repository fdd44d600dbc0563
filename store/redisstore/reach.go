package redisstore

import (
	"strconv"
	"strings"

	"leaderboard/store"
)

// reach is what submit.lua is told of rewards that are won by reaching something: of a board without any, the number 0.
type reach struct {
	goals int
	keys  []string
	args  []any
}

// payoutRef is how ids of jobs name a close of a season; 0 stands for the season before any.
func payoutRef(board *store.Board, season, closes int64) string {
	return debtorText(board) + "." + strconv.FormatInt(season, 10) + "." + strconv.FormatInt(closes, 10)
}

// debtorText is how a board that owes something is named on the channel of the relays.
func debtorText(board *store.Board) string {
	return string(board.ID) + "." + strconv.FormatInt(board.Incarnation, 10)
}

func (s *Store) reachOf(board *store.Board) (r reach) {
	season := &board.Season
	for i := range board.Settings.Rewards {
		reward := &board.Settings.Rewards[i]
		if !reward.Reaching() {
			continue
		}
		goal, ok := goalOf(board, reward.Points)
		if !ok {
			continue
		}
		if r.goals == 0 {
			k := s.keys.of(board)
			r.keys = []string{k.owed(), k.reached(season.Number), k.holds(season.Number)}
			r.args = []any{s.keys.relays(), debtorText(board), payoutRef(board, season.Number, 0)}
		}
		r.goals++
		p := reward.Payment(board, season, 0)
		r.args = append(r.args, reward.ID, goal, reward.ReachRank, reward.Hold.Milliseconds(), reward.Delay.Milliseconds(),
			reward.Priority, restOf(&p))
	}
	return r
}

// goalOf returns points to reach as they count in the order of the running season, nothing for nothing. It reports false
// for points that the board cannot have.
func goalOf(board *store.Board, points string) (goal string, ok bool) {
	if points == "" {
		return "", true
	}
	number, err := store.ParseDecimal("points", points)
	if err != nil {
		return "", false // settings were checked when they were stored
	}
	reached, err := number.Points("points", board.Season.Decimals, store.MaxUnits)
	if err != nil {
		return "", false
	}
	return strconv.FormatInt(board.Season.Value(reached), 10), true
}

// restOf encodes a payment without what only a script knows, which stands first.
func restOf(p *store.Payment) string {
	p.Player, p.Points, p.Rank, p.Seq = "", 0, 0, 0
	return strings.TrimPrefix(encodeAsIs(p), `{"player":"","points":0,"rank":0,`)
}

package redisstore

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"leaderboard/store"
)

// record is a season as the seasons hash keeps it. A closed season is read by its own record, whatever the board's
// settings have become.
type record struct {
	Start      int64          `json:"start,omitempty"` // ms
	End        int64          `json:"end,omitempty"`   // ms; 0: none is planned
	Total      int64          `json:"total,omitempty"` // players at the close
	Closed     bool           `json:"closed,omitempty"`
	Closes     int64          `json:"closes,omitempty"`
	Reason     string         `json:"reason,omitempty"`
	Order      store.Order    `json:"order"`
	Decimals   int            `json:"decimals"`
	Policy     store.Policy   `json:"policy"`
	TimeBits   int            `json:"T"`
	Resolution int64          `json:"resolution"` // ms
	LastTick   int64          `json:"last_tick"`
	Rewards    []store.Reward `json:"rewards,omitempty"`
	Paying     bool           `json:"paying,omitempty"`
	Paid       bool           `json:"paid,omitempty"`
}

func recordOf(s *store.Season) record {
	r := record{
		Start: s.Start.UnixMilli(), Closed: s.Closed, Closes: s.Closes, Reason: s.Reason, Order: s.Order,
		Decimals: s.Decimals, Policy: s.Policy, TimeBits: s.TimeBits, Resolution: s.Resolution.Milliseconds(),
		LastTick: s.LastTick, Rewards: s.Rewards,
		Paying: s.Paying, Paid: s.Paid, Total: s.Total,
	}
	if !s.End.IsZero() {
		r.End = s.End.UnixMilli()
	}
	return r
}

func (r *record) season(number int64) store.Season {
	s := store.Season{
		Number: number, Start: fromMillis(r.Start), Closed: r.Closed, Closes: r.Closes, Reason: r.Reason, Order: r.Order,
		Decimals: r.Decimals, Policy: r.Policy, TimeBits: r.TimeBits,
		Resolution: time.Duration(r.Resolution) * time.Millisecond, LastTick: r.LastTick, Rewards: r.Rewards, Paying: r.Paying, Paid: r.Paid,
		Total: r.Total,
	}
	if r.End != 0 {
		s.End = fromMillis(r.End)
	}
	return s
}

func parseSeason(number int64, text string) (store.Season, error) {
	var r record
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return store.Season{}, fmt.Errorf("redisstore: record of season %d: %w", number, err)
	}
	return r.season(number), nil
}

// encode writes a value as the store keeps it.
func encode(v any) string { return encodeAsIs(v) }

// rest encodes a record without its opening brace: the script that closes a season writes before it what only the
// script knows.
func (r record) rest() string { return strings.TrimPrefix(encode(r), "{") }

package store

import (
	"encoding/json"
	"time"
)

// Reward is a rule by which players win something: by final place, by final share, for points reached, or for a place
// reached during the season. Exactly one of Ranks, Percent, Points and ReachRank is set.
type Reward struct {
	ID        string          `json:"id"`
	Title     string          `json:"title"`
	Ranks     []int64         `json:"ranks,omitempty"`      // first and last final place
	Percent   float64         `json:"percent,omitempty"`    // final share of the players, rounded up
	Points    string          `json:"points,omitempty"`     // points to reach, exact decimal text
	ReachRank int64           `json:"reach_rank,omitempty"` // place to reach during the season
	Hold      time.Duration   `json:"hold,omitempty"`       // how long it must stay true
	Delay     time.Duration   `json:"delay,omitempty"`      // how long after the cause it is due
	Priority  int             `json:"priority"`             // 0 is first, 9 last
	Data      json.RawMessage `json:"data,omitempty"`       // free, handed on as it is
}

// Webhook is where events of a board are sent. The secret is never shown.
type Webhook struct {
	URL    string `json:"url"`
	Secret string `json:"secret"`
}

func (s *Settings) validateRewards() error { return nil }

package store

import (
	"cmp"
	"strings"
	"time"
)

// Order says which points are better.
type Order string

// The two orders.
const (
	Desc Order = "desc" // high is better
	Asc  Order = "asc"  // low is better
)

// Policy says what a further submission of a player does.
type Policy string

// The three policies.
const (
	Best Policy = "best" // keeps the best
	Last Policy = "last" // keeps the latest
	Sum  Policy = "sum"  // adds
)

// BoardID names a board: ^[a-z0-9][a-z0-9_-]{0,62}$.
type BoardID string

// MaxBoardIDBytes is how long an id of a board may be.
const MaxBoardIDBytes = 63

// ParseBoardID returns s as an id, or an [InvalidError] for the field board. The result shares no memory with s.
func ParseBoardID(s string) (BoardID, error) {
	if !isBoardID(s) {
		return "", Invalid("board", "must be 1 to 63 of a-z, 0-9, _ and -, and begin with a letter or digit")
	}
	return BoardID(strings.Clone(s)), nil
}

// isBoardID is a loop and no expression: every call of the API asks it.
func isBoardID(s string) bool {
	if s == "" || len(s) > MaxBoardIDBytes || s[0] == '_' || s[0] == '-' {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

// Bounds of settings.
const (
	MaxSeasonDays  = 36_500
	MaxLiveTop     = 1000
	MaxActivityCap = 1000
	MaxKeepSeasons = 1000
	MaxPriority    = 9
)

// Settings are what an admin chose for a board.
type Settings struct {
	Title       string    `json:"title"`
	Order       Order     `json:"order"`
	Policy      Policy    `json:"policy"`
	Decimals    int       `json:"decimals"`
	MaxPoints   int64     `json:"max_points"` // largest size of points, either sign, in whole points
	Schedule    string    `json:"schedule"`   // manual, daily, weekly, monthly, or five cron fields
	Timezone    string    `json:"timezone"`
	StartsAt    time.Time `json:"starts_at"` // start of the first season
	SeasonDays  int       `json:"season_days"`
	LiveTop     int       `json:"live_top"`
	ActivityCap int       `json:"activity_cap"`
	KeepSeasons int       `json:"keep_seasons"`
	Rewards     []Reward  `json:"rewards,omitempty"`
	Webhook     *Webhook  `json:"webhook,omitempty"`
	MaxStep     string    `json:"max_step,omitempty"` // exact decimal text; "" means none
}

// DefaultSettings are those of a board made with an empty body. StartsAt is left for the store: its clock knows now.
func DefaultSettings(id BoardID) Settings {
	return Settings{
		Title: string(id), Order: Desc, Policy: Best, MaxPoints: 10_000_000, Schedule: Manual, Timezone: "UTC",
		SeasonDays: 3650, LiveTop: 100, ActivityCap: 50, KeepSeasons: 12,
	}
}

// Limit returns the largest size of points in whole units.
func (s *Settings) Limit() Points {
	units, _ := s.units()
	return Points(units)
}

// units returns the largest size of points in whole units, and whether a sorted set keeps it exactly.
func (s *Settings) units() (int64, bool) {
	units := s.MaxPoints
	for range s.Decimals {
		if units > MaxUnits/10 {
			return MaxUnits, false
		}
		units *= 10
	}
	return units, units <= MaxUnits
}

// Board is a board as the store knows it. Rev counts every change of settings or season: a caller whose Rev is old
// is told so by the store and loads the board again.
type Board struct {
	ID          BoardID
	Incarnation int64 // counts up when a board of this id is made anew
	Rev         int64
	Epoch       string // changes when versions start anew
	Settings    Settings
	Season      Season // the running one
}

// BoardState is a board with what changes all the time.
type BoardState struct {
	Board
	Version int64
	Total   int64
	Now     time.Time // the store's clock at this look
}

// Validate returns an [InvalidError] for the first setting that is wrong. Whether the settings leave room for exact
// time is for [Settings.NewSeason] to say.
func (s *Settings) Validate() error {
	if err := s.validatePlain(); err != nil {
		return err
	}
	if _, err := ParseSchedule(s.Schedule, s.Timezone); err != nil {
		return err
	}
	if s.MaxStep != "" {
		step, err := ParseDecimal("max_step", s.MaxStep)
		if err != nil {
			return err
		}
		if points, err := step.Points("max_step", s.Decimals, s.Limit()); err != nil || points <= 0 {
			return cmp.Or(err, Invalid("max_step", "must be more than 0"))
		}
	}
	return s.validateRewards()
}

func (s *Settings) validatePlain() error {
	switch {
	case !validTitle(s.Title):
		return Invalid("title", wantTitle)
	case s.Order != Desc && s.Order != Asc:
		return Invalid("order", "must be desc or asc")
	case s.Policy != Best && s.Policy != Last && s.Policy != Sum:
		return Invalid("policy", "must be best, last or sum")
	case s.Decimals < 0 || s.Decimals > MaxDecimals:
		return Invalid("decimals", "must be 0 to 9")
	case s.MaxPoints < 1 || s.MaxPoints > MaxUnits:
		return Invalid("max_points", "must be 1 to 9007199254740991")
	case !s.StartsAt.IsZero() && s.StartsAt.UnixMilli() < 0:
		return Invalid("starts_at", "must not be before 1970")
	case s.SeasonDays < 1 || s.SeasonDays > MaxSeasonDays:
		return Invalid("season_days", "must be 1 to 36500")
	case s.LiveTop < 1 || s.LiveTop > MaxLiveTop:
		return Invalid("live_top", "must be 1 to 1000")
	case s.ActivityCap < 0 || s.ActivityCap > MaxActivityCap:
		return Invalid("activity_cap", "must be 0 to 1000")
	case s.KeepSeasons < 0 || s.KeepSeasons > MaxKeepSeasons:
		return Invalid("keep_seasons", "must be 0 to 1000")
	}
	return nil
}

func pow10(decimals int) int64 {
	n := int64(1)
	for range decimals {
		n *= 10
	}
	return n
}

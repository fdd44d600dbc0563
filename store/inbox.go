package store

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"
)

// Bounds of an inbox.
const (
	MaxInboxPage    = 100
	MaxClaimedKept  = 200 // claimed rewards kept; unclaimed ones are never trimmed
	ShortestMarking = DeadJobsKept + 7*24*time.Hour
)

// ErrRewardNotFound means that the player's inbox has no such reward, or no more.
var ErrRewardNotFound = errors.New("no such reward in the inbox")

// Prize is a reward in a player's inbox.
type Prize struct {
	ID        int64 // counts up within one inbox
	Board     BoardID
	Season    int64
	Reward    string // id of the rule
	Title     string
	Data      json.RawMessage
	At        time.Time // when it arrived
	ClaimedAt time.Time // zero: not yet
}

// Delivered is a prize that a job brings to a player.
type Delivered struct {
	Player PlayerID
	Job    string        // id of the job: the mark of the effect
	Keep   time.Duration // how long the mark stays, [ShortestMarking] at least
	Prize  Prize         // without ID and times
}

// Inbox is a page of a player's prizes, newest first.
type Inbox struct {
	Prizes    []Prize
	Unclaimed int64
	Next      int64 // where the next page begins; 0: there is none
}

// PlayerNews is what is published about a player on a channel that all processes hear.
type PlayerNews struct {
	Player PlayerID
	What   string // NewsReward or NewsClaimed
	Prize  int64
}

// What may be new.
const (
	NewsReward  = "reward"
	NewsClaimed = "claimed"
)

// ParsePlayerNews reads a published message: what, prize, player.
func ParsePlayerNews(message string) (news PlayerNews, ok bool) {
	what, rest, _ := strings.Cut(message, " ")
	number, player, found := strings.Cut(rest, " ")
	prize, err := strconv.ParseInt(number, 10, 64)
	if !found || err != nil || player == "" {
		return PlayerNews{}, false
	}
	return PlayerNews{Player: PlayerID(player), What: what, Prize: prize}, true
}

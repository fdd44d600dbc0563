package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/big"
	"strconv"
	"time"
)

// Kinds of the jobs that boards owe.
const (
	PayoutJob = "payout"        // pays one reward of a closed season, or what was held at its close
	RewardJob = "reward"        // brings one player one reward
	HoldJob   = "hold"          // looks whether what a player reached is still true
	ClosedJob = "season_closed" // tells the webhook that a season closed
)

// Bounds of a payout.
const (
	PayoutPage    = MaxJobBatch // rewards added at once
	MaxPayoutWait = 10_000      // jobs that may wait for a worker before a payout pauses
	PayoutPreview = 100         // entries of a reward in a preview
)

// HeldRewards stands in a [Payout] for a reward: it pays what players held at the close.
const HeldRewards = "*"

// ErrPayoutMoved means that another worker took the same step of a payout. Nothing was changed.
var ErrPayoutMoved = errors.New("the payout has gone on without this worker")

// Owed is what a board owes the job queue. It stands in the board's slot until the queue has it.
type Owed struct {
	Job  Job
	Kept string // as it stands there
}

// Debtor is one board and incarnation that may owe something.
type Debtor struct {
	Board       BoardID
	Incarnation int64
}

// Payout is the payload of a [PayoutJob]: one reward of one close of a season.
type Payout struct {
	Board       BoardID `json:"board"`
	Incarnation int64   `json:"incarnation"`
	Season      int64   `json:"season"`
	Close       int64   `json:"close"`  // which close of the season: 1, or more after reopening
	Reward      string  `json:"reward"` // id of the rule, or [HeldRewards]
}

// Payment is the payload of a [RewardJob], and of the [HoldJob] that may lead to one. It carries all of the reward: the
// season and the rule may be gone when it arrives. Data is JSON as text, so that what an admin wrote there is never
// taken for a part of the payment.
type Payment struct {
	Player      PlayerID `json:"player"`
	Points      Points   `json:"points"` // in whole units
	Rank        int64    `json:"rank"`   // when it was won
	Board       BoardID  `json:"board"`
	Incarnation int64    `json:"incarnation"`
	Season      int64    `json:"season"`
	Close       int64    `json:"close"` // 0: reached during the season
	Reward      string   `json:"reward"`
	Title       string   `json:"title"`
	Data        string   `json:"data,omitempty"`
	Decimals    int      `json:"decimals"`
	Priority    int      `json:"priority"`
	Delay       int64    `json:"delay,omitempty"`      // ms
	Goal        string   `json:"goal,omitempty"`       // points to reach
	ReachRank   int64    `json:"reach_rank,omitempty"` // place to reach
	Seq         int64    `json:"seq,omitempty"`        // of the time that it was reached
}

// Closed is the payload of a [ClosedJob].
type Closed struct {
	Board       BoardID `json:"board"`
	Incarnation int64   `json:"incarnation"`
	Season      int64   `json:"season"`
	Close       int64   `json:"close"`
	Start       int64   `json:"started_at"` // ms
	Reason      string  `json:"reason"`
	At          int64   `json:"at"` // ms
	Total       int64   `json:"total"`
}

// PayoutStep is a page of a payout: the rewards to add, and what the payout then keeps of how far it came.
type PayoutStep struct {
	Payments []Payment
	Due      []time.Time // of each; zero: at once
	Ended    bool        // there is no more to pay
	Known    []string    // what stood in the store before
	Next     string      // what stands there after
}

// payoutRef names a payout, or all of one season's rewards, in ids of jobs.
func payoutRef(board BoardID, incarnation, season, close int64) string {
	return string(board) + "." + strconv.FormatInt(incarnation, 10) + "." + strconv.FormatInt(season, 10) + "." +
		strconv.FormatInt(close, 10)
}

// JobID returns the id of the payout's job.
func (p *Payout) JobID() string {
	return PayoutJob + " " + payoutRef(p.Board, p.Incarnation, p.Season, p.Close) + " " + p.Reward
}

// JobID returns the id of the job that brings the reward. It is the mark of the effect, and the id of the webhook's event.
func (p *Payment) JobID() string {
	return RewardJob + " " + payoutRef(p.Board, p.Incarnation, p.Season, p.Close) + " " + p.Reward + " " + string(p.Player)
}

// EventID returns the id of the event that tells of the close.
func (c *Closed) EventID() string {
	return ClosedJob + " " + payoutRef(c.Board, c.Incarnation, c.Season, c.Close)
}

// Payment returns what a player gets by a rule, without the player.
func (r *Reward) Payment(board *Board, season *Season, close int64) Payment {
	p := Payment{
		Board: board.ID, Incarnation: board.Incarnation, Season: season.Number, Close: close, Reward: r.ID, Title: r.Title,
		Data: string(r.Data), Decimals: season.Decimals, Priority: r.Priority,
	}
	if r.Reaching() {
		p.Delay, p.Goal, p.ReachRank = r.Delay.Milliseconds(), r.Points, r.ReachRank
	}
	return p
}

// Delivered returns the prize for the player's inbox. Keep is how long its mark stays.
func (p *Payment) Delivered(keep time.Duration) Delivered {
	return Delivered{
		Player: p.Player, Job: p.JobID(), Keep: keep,
		Prize: Prize{Board: p.Board, Season: p.Season, Reward: p.Reward, Title: p.Title, Data: p.data()},
	}
}

func (p *Payment) data() json.RawMessage {
	if p.Data == "" {
		return nil
	}
	return json.RawMessage(p.Data)
}

// Event returns what the board's webhook is told.
func (p *Payment) Event(at time.Time) (Event, error) {
	data, err := eventData(struct {
		Player PlayerID        `json:"player"`
		Reward string          `json:"reward"`
		Title  string          `json:"title"`
		Points json.RawMessage `json:"points"`
		Rank   int64           `json:"rank"`
		Data   json.RawMessage `json:"data"`
	}{p.Player, p.Reward, p.Title, json.RawMessage(p.Points.Text(p.Decimals)), p.Rank, p.data()})
	return Event{
		ID: p.JobID(), Kind: EventReward, Board: p.Board, Incarnation: p.Incarnation, Season: p.Season, At: at, Data: data,
	}, err
}

// Event returns what the board's webhook is told.
func (c *Closed) Event() (Event, error) {
	data, err := eventData(struct {
		Start  time.Time `json:"started_at"`
		End    time.Time `json:"ended_at"`
		Total  int64     `json:"total"`
		Reason string    `json:"reason"`
	}{time.UnixMilli(c.Start).UTC(), time.UnixMilli(c.At).UTC(), c.Total, c.Reason})
	return Event{
		ID: c.EventID(), Kind: EventSeasonClosed, Board: c.Board, Incarnation: c.Incarnation, Season: c.Season,
		At: time.UnixMilli(c.At).UTC(), Data: data,
	}, err
}

// eventData encodes what an event says. What came as < does not go out as \u003c, six times as long.
func eventData(v any) (json.RawMessage, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), err
}

// Reaching reports whether the reward is won during the season, and not at its close.
func (r *Reward) Reaching() bool { return r.Points != "" || r.ReachRank != 0 }

// Places returns which final places of so many players win the reward: those behind the first number, up to the second.
// A share is rounded up, so that whoever is among one percent of ten players is the first. Equal points do not share a
// place: whoever reached them first stands first, so a reward never goes to more players than it has places.
func (r *Reward) Places(total int64) (behind, upTo int64) {
	switch {
	case r.Ranks != nil:
		return min(r.Ranks[0]-1, total), min(r.Ranks[1], total)
	case r.Percent != 0:
		return 0, share(r.Percent, total)
	}
	return 0, 0
}

// share returns a percentage of a number, rounded up. It is exact: in floats 0.07 % of 10 000 is more than 7.
func share(percent float64, total int64) int64 {
	part, _ := new(big.Rat).SetString(strconv.FormatFloat(percent, 'f', -1, 64))
	part.Mul(part, big.NewRat(total, 100))
	whole, rest := new(big.Int).QuoRem(part.Num(), part.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		return whole.Int64() + 1
	}
	return whole.Int64()
}

// MarkKept returns how long the mark of a reward stays: as long as the board keeps the season, and longer than any dead
// job.
func (b *Board) MarkKept() time.Duration {
	const longest = 100 * 365 * 24 * time.Hour
	days := time.Duration(b.Settings.SeasonDays) * 24 * time.Hour
	if end := b.Season.End; !end.IsZero() {
		days = end.Sub(b.Season.Start)
	}
	if seasons := time.Duration(b.Settings.KeepSeasons + 1); days < longest/seasons {
		return max(days*seasons, ShortestMarking)
	}
	return longest
}

// RewardPreview says who would get a reward if the season closed now.
type RewardPreview struct {
	Reward  Reward
	Count   int64
	Entries []Entry // the first of them
}

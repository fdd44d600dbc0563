package store

import (
	"math/bits"
	"strconv"
	"time"
)

// FreeSlots is how many slots of every points value stay free after a season's last tick, for players who reach the
// same points within one tick.
const FreeSlots = 65_536

// Season is one run of a board, and the rules by which its packed scores are read. A packed score carries points and
// time in one number that a sorted set keeps exactly (below 2^53):
//
//	packed = value × 2^TimeBits + (2^TimeBits − 1 − slot)
//
// where value is the points in whole units, negated on a board where low is better, so that a higher packed score is
// always the better place. A slot is a tick of the season's clock, Resolution long, counted from Start; a score that
// meets others with the same points takes the slot behind the last of them.
type Season struct {
	Number     int64
	Start      time.Time
	End        time.Time // planned end, or the end when closed; zero when a manual season runs
	Closed     bool
	Closes     int64  // how often it was closed: once, or more after reopening
	Reason     string // why it was closed: schedule, or an admin's words
	Order      Order
	Decimals   int
	Policy     Policy
	TimeBits   int
	Resolution time.Duration
	LastTick   int64    // of its length: beyond it ticks stand still, and the slots behind it are for ties
	Rewards    []Reward // copied from the board at the close
	Paying     bool     // a payout has begun: no reopening
	Paid       bool     // nothing of it is to be paid any more
	Total      int64    // players at the close; known where a reply says so
}

// NewSeason returns the season that would begin at start, as far as the settings decide. It ends at the first boundary
// of the schedule after now (start and now differ only for a first season that begins in the past); a manual one is
// taken to last SeasonDays. The error is an [InvalidError] when no tick is fine enough.
func (s *Settings) NewSeason(number int64, start, now time.Time) (Season, error) {
	schedule, err := ParseSchedule(s.Schedule, s.Timezone)
	if err != nil {
		return Season{}, err
	}
	season := Season{
		Number: number, Start: start, End: schedule.Next(now), Order: s.Order, Decimals: s.Decimals, Policy: s.Policy,
	}
	length := time.Duration(s.SeasonDays) * 24 * time.Hour
	if !schedule.Never() {
		if season.End.IsZero() {
			return Season{}, Invalid("schedule", "must name a time that comes")
		}
		length = season.End.Sub(start)
	}
	units, ok := s.units()
	if ok {
		season.TimeBits = TimeBits(units)
		season.Resolution, err = Resolution(season.TimeBits, length)
	}
	if !ok || err != nil {
		most := largestUnits(length) / pow10(s.Decimals)
		return season, Invalid("max_points", "leaves no room for exact time: a season this long takes at most "+
			strconv.FormatInt(most, 10)+" points with "+strconv.Itoa(s.Decimals)+" decimals")
	}
	season.Lasts(length)
	return season, nil
}

// Lasts sets the season's last tick from its length. [FreeSlots] stay free behind it, also where a season became longer
// than its ticks were made for.
func (s *Season) Lasts(length time.Duration) {
	ticks := int64((length + s.Resolution - 1) / s.Resolution)
	s.LastTick = min(ticks, max(s.Slots()-FreeSlots, 0))
}

// Slots returns how many slots a points value has.
func (s *Season) Slots() int64 { return 1 << s.TimeBits }

// Pack returns the packed score of points in a slot. The slot must lie in 0 … Slots()-1.
func (s *Season) Pack(points Points, slot int64) int64 {
	return s.Value(points)<<s.TimeBits + (s.Slots() - 1 - slot)
}

// Value returns the points as they count in the order: negated where low is better.
func (s *Season) Value(points Points) int64 {
	if s.Order == Asc {
		return -int64(points)
	}
	return int64(points)
}

// Unpack returns the points and the slot of a packed score.
func (s *Season) Unpack(packed int64) (Points, int64) {
	value := packed >> s.TimeBits // an arithmetic shift is a division that rounds down, also below zero
	slot := s.Slots() - 1 - packed&(s.Slots()-1)
	if s.Order == Asc {
		value = -value
	}
	return Points(value), slot
}

// Tick returns the slot that a time has by itself, between the season's start and its last tick.
func (s *Season) Tick(t time.Time) int64 {
	tick := (t.UnixMilli() - s.Start.UnixMilli()) / s.Resolution.Milliseconds()
	return min(max(tick, 0), s.LastTick)
}

// AchievedAt returns the time for which a slot stands, never later than now: players who share a tick take slots ahead
// of the clock.
func (s *Season) AchievedAt(slot int64, now time.Time) time.Time {
	// In milliseconds: as a time.Duration the last slots of a board with few points overflow.
	ms := s.Start.UnixMilli() + slot*s.Resolution.Milliseconds()
	return time.UnixMilli(min(ms, now.UnixMilli())).UTC()
}

// TimeBits returns how many bits are left for time beside points of the given largest size in whole units.
func TimeBits(maxUnits int64) int { return 53 - bits.Len64(uint64(maxUnits)) }

// resolutions are the lengths that a tick may have, finest first.
var resolutions = [...]time.Duration{
	time.Millisecond, 10 * time.Millisecond, 100 * time.Millisecond,
	time.Second, 10 * time.Second, time.Minute, 10 * time.Minute, time.Hour,
}

// Resolution returns the finest length of a tick at which a season of the given length leaves [FreeSlots] slots free,
// or an [InvalidError] that says what would fit.
func Resolution(timeBits int, length time.Duration) (time.Duration, error) {
	if timeBits < 0 {
		return 0, Invalid("max_points", "with these decimals is beyond what is kept exactly (2^53 units)")
	}
	for _, r := range resolutions {
		ticks := int64((length + r - 1) / r)
		if int64(1)<<timeBits-ticks >= FreeSlots {
			return r, nil
		}
	}
	return 0, Invalid("max_points", "leaves no room for exact time: "+whatFits(length))
}

// whatFits says the largest points in whole units that a season of this length allows.
func whatFits(length time.Duration) string {
	return "a season this long takes at most " + strconv.FormatInt(largestUnits(length), 10) + " units of the last decimal"
}

// largestUnits returns the largest points in whole units that a season of this length allows.
func largestUnits(length time.Duration) int64 {
	ticks := int64((length+time.Hour-1)/time.Hour) + FreeSlots
	return int64(1)<<(53-bits.Len64(uint64(ticks-1))) - 1
}

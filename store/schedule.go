package store

import (
	"strings"
	"time"

	cron "github.com/netresearch/go-cron"
)

// The schedules that have a name. Any other is a cron expression of five fields.
const (
	Manual  = "manual"
	Daily   = "daily"
	Weekly  = "weekly" // Monday 00:00
	Monthly = "monthly"
)

// Schedule tells when seasons end. It works on the wall clock of its zone, and every wall-clock time that matches is
// one boundary: one that the clock skips (summer time begins) is moved to the end of the gap, one that the clock shows
// twice (summer time ends) counts the first time. The zero Schedule never ends a season.
type Schedule struct {
	times cron.Schedule
	zone  *time.Location
}

// ParseSchedule reads a schedule: manual, daily, weekly, monthly, or five cron fields (minute, hour, day of the month,
// month, day of the week), in an IANA zone. The error is an [InvalidError] for schedule or timezone.
func ParseSchedule(expression, timezone string) (Schedule, error) {
	// Zones begin with a capital. What does not is a file of the machine (localtime, right/UTC with its leap seconds).
	if timezone == "" || timezone == "Local" || timezone[0] < 'A' || timezone[0] > 'Z' {
		return Schedule{}, Invalid("timezone", "must be an IANA zone such as Europe/Berlin")
	}
	zone, err := time.LoadLocation(timezone)
	if err != nil {
		return Schedule{}, Invalid("timezone", "must be an IANA zone such as Europe/Berlin")
	}
	switch expression {
	case Manual:
		return Schedule{zone: zone}, nil
	case Daily:
		expression = "0 0 * * *"
	case Weekly:
		expression = "0 0 * * 1"
	case Monthly:
		expression = "0 0 1 * *"
	}
	const wrong = "must be manual, daily, weekly, monthly, or five cron fields"
	if len(expression) > 200 || len(strings.Fields(expression)) != 5 || strings.ContainsAny(expression, "=@") {
		return Schedule{}, Invalid("schedule", wrong)
	}
	// As in crontab(5), a day matches by its number or its weekday where both are restricted.
	const fields = cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.DowOrDom
	parser := cron.MustNewParser(fields).WithMaxSearchYears(9)
	// Wall-clock times are handed to it as if they were UTC. Lower case, because it takes the H of THU for a hash.
	times, err := parser.Parse("TZ=UTC " + strings.ToLower(expression))
	if err != nil {
		return Schedule{}, Invalid("schedule", wrong)
	}
	if times.Next(time.Unix(0, 0).UTC()).IsZero() {
		return Schedule{}, Invalid("schedule", "must name a time that comes")
	}
	return Schedule{times: times, zone: zone}, nil
}

// Never reports whether the schedule ends no season.
func (s Schedule) Never() bool { return s.times == nil }

// Next returns the first boundary after the given time, or the zero time when there is none.
func (s Schedule) Next(after time.Time) time.Time {
	if s.Never() {
		return time.Time{}
	}
	// Later wall-clock times never stand for earlier instants, so the search can begin at what the clock shows. What it
	// shows for the second time finds boundaries that are past, and goes on.
	for wall := wallClock(after.In(s.zone)); ; {
		wall = s.times.Next(wall)
		if wall.IsZero() {
			return time.Time{}
		}
		if boundary := s.instant(wall); boundary.After(after) {
			return boundary
		}
	}
}

// Latest returns the last boundary after from and not after to, or the zero time when there is none.
func (s Schedule) Latest(from, to time.Time) time.Time {
	if s.Never() {
		return time.Time{}
	}
	// Halves the stretch behind which one still comes, so that a minutely board left alone for years costs what a yearly
	// one does. What is left holds one boundary, or two where a clock was set back by seconds.
	for last := to; last.Sub(from) > time.Minute; {
		middle := from.Add(last.Sub(from) / 2)
		if next := s.Next(middle); next.IsZero() || next.After(to) {
			last = middle
		} else {
			from = middle
		}
	}
	var latest time.Time
	for next := s.Next(from); !next.IsZero() && !next.After(to); next = s.Next(next) {
		latest = next
	}
	return latest
}

// wallClock returns what the clock shows, as if it were UTC.
func wallClock(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
}

// instant returns when the zone's clock first shows the wall-clock time, or, where it never does, the end of the gap.
func (s Schedule) instant(wall time.Time) time.Time {
	guess := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), 0, 0, s.zone)
	from, to := guess.ZoneBounds()
	if !wallClock(guess).Equal(wall) {
		// Skipped. time.Date then answers with the offset of one side of the change or the other.
		if wallClock(guess).Before(wall) {
			return to
		}
		return from
	}
	if from.IsZero() {
		return guess
	}
	// Shown twice: time.Date may have answered with the second.
	_, offset := guess.Zone()
	_, before := from.Add(-1).Zone()
	first := guess.Add(time.Duration(offset-before) * time.Second)
	if first.Before(from) && wallClock(first.In(s.zone)).Equal(wall) {
		return first
	}
	return guess
}

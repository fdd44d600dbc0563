package store

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// zones are those whose clocks do what clocks do: Apia skips a whole day, São Paulo midnights, Lord Howe half hours.
var zones = []string{"UTC", "America/New_York", "America/Sao_Paulo", "Australia/Lord_Howe", "Asia/Kolkata", "Pacific/Apia"}

// plans are schedules beside what they mean, said in another way.
var plans = []struct {
	expression string
	minutes    []int
	hours      []int
	day        func(time.Time) bool
}{
	{Daily, []int{0}, []int{0}, func(time.Time) bool { return true }},
	{Weekly, []int{0}, []int{0}, func(t time.Time) bool { return t.Weekday() == time.Monday }},
	{Monthly, []int{0}, []int{0}, func(t time.Time) bool { return t.Day() == 1 }},
	{"30 2 * * *", []int{30}, []int{2}, func(time.Time) bool { return true }},
	{"30 1 * * *", []int{30}, []int{1}, func(time.Time) bool { return true }},
	{"0,45 0-4/2 * * *", []int{0, 45}, []int{0, 2, 4}, func(time.Time) bool { return true }},
	{"0 22-2 * * SUN,thu", []int{0}, []int{0, 1, 2, 22, 23}, func(t time.Time) bool { return t.Weekday()%4 == time.Sunday }},
	{"0 3 31 * *", []int{0}, []int{3}, func(t time.Time) bool { return t.Day() == 31 }},
	{"0 12 29 FEB *", []int{0}, []int{12}, func(t time.Time) bool { return t.Month() == time.February && t.Day() == 29 }},
	{"0 0 13 * 5", []int{0}, []int{0}, func(t time.Time) bool { return t.Day() == 13 || t.Weekday() == time.Friday }},
}

const firstYear, lastYear = 2010, 2019

func TestEveryWallClockMatchIsOneBoundary(t *testing.T) {
	t.Parallel()
	for _, zone := range zones {
		clock := readClock(t, zone)
		for _, plan := range plans {
			t.Run(plan.expression+" in "+zone, func(t *testing.T) {
				t.Parallel()
				var want []time.Time
				for date := time.Date(firstYear, 1, 1, 0, 0, 0, 0, time.UTC); date.Year() <= lastYear; date = date.AddDate(0, 0, 1) {
					if !plan.day(date) {
						continue
					}
					for _, hour := range plan.hours {
						for _, minute := range plan.minutes {
							want = append(want, clock.instant(t, date.Add(time.Duration(60*hour+minute)*time.Minute)))
						}
					}
				}
				want = slices.CompactFunc(want, time.Time.Equal) // what a gap swallows is one boundary, at its end
				checkBoundaries(t, schedule(t, plan.expression, zone), want)
			})
		}
	}
}

// checkBoundaries walks a schedule by Next, and looks back into it by Latest.
func checkBoundaries(t *testing.T, s Schedule, want []time.Time) {
	t.Helper()
	at := want[0].Add(-time.Nanosecond)
	for i, boundary := range want {
		next := s.Next(at)
		if !next.Equal(boundary) {
			t.Fatalf("boundary %d after %v: got %v, want %v", i, at, next, boundary)
		}
		if !next.After(at) {
			t.Fatalf("boundary %d: %v is not after %v", i, next, at)
		}
		at = next
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 30 {
		from := random.IntN(len(want))
		to := from + random.IntN(len(want)-from)
		for _, tt := range []struct{ from, to, want time.Time }{
			{want[from], want[to], want[to]},
			{want[from], want[to].Add(-1), want[max(to-1, 0)]},
			{want[from].Add(-1), want[to].Add(1), want[to]},
		} {
			if !tt.want.After(tt.from) {
				tt.want = time.Time{}
			}
			if got := s.Latest(tt.from, tt.to); !got.Equal(tt.want) {
				t.Fatalf("latest after %v up to %v: got %v, want %v", tt.from, tt.to, got, tt.want)
			}
		}
	}
}

func TestMinutelySeasonsCrossEveryChangeOfTheClock(t *testing.T) {
	t.Parallel()
	for _, zone := range zones {
		clock := readClock(t, zone)
		minutely := schedule(t, "* * * * *", zone)
		for _, change := range clock.periods[1:] {
			at := change.from.Add(-90 * time.Minute)
			end := change.from.Add(90 * time.Minute)
			for !at.After(end) {
				next := minutely.Next(at)
				want := at.Add(time.Minute)
				if clock.showedBefore(want) { // the second showing ends no season
					want = change.from.Add(-time.Duration(change.offset-clock.before(change.from)) * time.Second)
				}
				if !next.Equal(want) {
					t.Fatalf("%s: after %v got %v, want %v", zone, at.In(clock.zone), next.In(clock.zone), want.In(clock.zone))
				}
				at = next
			}
		}
	}
}

func TestSeasonsAtTheChangesOfTheClock(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, expression, zone, after string
		want                          []string
	}{
		{"02:30 that is skipped comes at the end of the gap", "30 2 * * *", "America/New_York", "2026-03-07T12:00:00-05:00", []string{
			"2026-03-08T03:00:00-04:00", "2026-03-09T02:30:00-04:00", "2026-03-10T02:30:00-04:00",
		}},
		{"01:30 that is shown twice counts the first time", "30 1 * * *", "America/New_York", "2026-10-31T12:00:00-04:00", []string{
			"2026-11-01T01:30:00-04:00", "2026-11-02T01:30:00-05:00",
		}},
		{"a day of 23 hours", Daily, "America/New_York", "2026-03-07T12:00:00-05:00", []string{
			"2026-03-08T00:00:00-05:00", "2026-03-09T00:00:00-04:00",
		}},
		{"a day of 25 hours", Daily, "America/New_York", "2026-10-31T12:00:00-04:00", []string{
			"2026-11-01T00:00:00-04:00", "2026-11-02T00:00:00-05:00",
		}},
		{"a skipped midnight", Daily, "America/Sao_Paulo", "2018-11-03T12:00:00-03:00", []string{
			"2018-11-04T01:00:00-02:00", "2018-11-05T00:00:00-02:00",
		}},
		{"midnight when the clock is set back to the day before", Daily, "America/Sao_Paulo", "2018-02-17T12:00:00-02:00", []string{
			"2018-02-18T00:00:00-03:00", "2018-02-19T00:00:00-03:00",
		}},
		{"half an hour that is skipped", "15 2 * * *", "Australia/Lord_Howe", "2026-10-03T12:00:00+10:30", []string{
			"2026-10-04T02:30:00+11:00", "2026-10-05T02:15:00+11:00",
		}},
		{"half an hour that is shown twice", "45 1 * * *", "Australia/Lord_Howe", "2026-04-04T12:00:00+11:00", []string{
			"2026-04-05T01:45:00+11:00", "2026-04-06T01:45:00+10:30",
		}},
		{"a day that never was", Daily, "Pacific/Apia", "2011-12-29T12:00:00-10:00", []string{
			"2011-12-31T00:00:00+14:00", "2012-01-01T00:00:00+14:00",
		}},
		{"the week that lost a Friday", Weekly, "Pacific/Apia", "2011-12-26T12:00:00-10:00", []string{
			"2012-01-02T00:00:00+14:00",
		}},
		{"hourly where an hour is shown twice", "0 * * * *", "America/New_York", "2026-11-01T00:30:00-04:00", []string{
			"2026-11-01T01:00:00-04:00", "2026-11-01T02:00:00-05:00",
		}},
		{"hourly where an hour is skipped", "0 * * * *", "America/New_York", "2026-03-08T00:30:00-05:00", []string{
			"2026-03-08T01:00:00-05:00", "2026-03-08T03:00:00-04:00", "2026-03-08T04:00:00-04:00",
		}},
		{"asked during the second showing", "30 1 * * *", "America/New_York", "2026-11-01T01:15:00-05:00", []string{"2026-11-02T01:30:00-05:00"}},
		{"weekly is Monday midnight", Weekly, "Asia/Kolkata", "2026-03-05T00:00:00Z", []string{
			"2026-03-09T00:00:00+05:30",
		}},
		{"monthly is the first", Monthly, "Asia/Kolkata", "2026-01-31T23:00:00+05:30", []string{
			"2026-02-01T00:00:00+05:30", "2026-03-01T00:00:00+05:30",
		}},
		{"a leap day after a century without", "0 0 29 2 *", "UTC", "2096-03-01T00:00:00Z", []string{"2104-02-29T00:00:00Z"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := schedule(t, tt.expression, tt.zone)
			at := instant(t, tt.after)
			for i, text := range tt.want {
				want := instant(t, text)
				if got := s.Next(at); !got.Equal(want) {
					t.Fatalf("boundary %d: got %v, want %v", i, got, want)
				}
				if got := s.Latest(at, want); !got.Equal(want) {
					t.Errorf("boundary %d: latest up to it: got %v", i, got)
				}
				if got := s.Latest(at, want.Add(-1)); !got.IsZero() {
					t.Errorf("boundary %d: latest before it: got %v, want none", i, got)
				}
				at = want
			}
		})
	}
}

func TestAManualScheduleEndsNothing(t *testing.T) {
	t.Parallel()
	s := schedule(t, Manual, "America/New_York")
	if !s.Never() || !s.Next(start).IsZero() || !s.Latest(start, start.AddDate(50, 0, 0)).IsZero() {
		t.Errorf("got boundaries %v and %v, want none", s.Next(start), s.Latest(start, start.AddDate(50, 0, 0)))
	}
}

func TestLatestCostsLittleAfterYearsAway(t *testing.T) {
	t.Parallel()
	to := time.Date(2026, 12, 1, 12, 0, 30, 0, time.UTC)
	for expression, want := range map[string]time.Time{
		"* * * * *":  to.Truncate(time.Minute),
		"* * * 2 *":  time.Date(2026, 2, 28, 23, 59, 0, 0, time.UTC),
		"* * 29 2 *": time.Date(2024, 2, 29, 23, 59, 0, 0, time.UTC),
	} {
		s := schedule(t, expression, "UTC")
		counted := &countingSchedule{Schedule: s.times}
		s.times = counted
		if got := s.Latest(to.AddDate(-20, 0, 0), to); !got.Equal(want) {
			t.Errorf("%s: got %v, want %v", expression, got, want)
		}
		if counted.asked > 100 {
			t.Errorf("%s: asked the schedule %d times, want at most 100", expression, counted.asked)
		}
	}
}

// countingSchedule counts how often it is asked.
type countingSchedule struct {
	Schedule interface{ Next(time.Time) time.Time }
	asked    int
}

func (c *countingSchedule) Next(t time.Time) time.Time {
	c.asked++
	return c.Schedule.Next(t)
}

func TestSchedulesThatSayNothingClearAreRefused(t *testing.T) {
	t.Parallel()
	for _, expression := range []string{
		"", " ", "hourly", "Daily", "@daily", "@every 1h", "* * * *", "* * * * * *", "60 0 * * *", "0 24 * * *",
		"0 0 0 * *", "0 0 32 * *", "0 0 1 13 *", "0 0 * * 8", "-1 0 * * *",
		"a b c d e", "TZ=Asia/Tokyo 0 0 * * *", "CRON_TZ=UTC 0 0 * * *", "0 0 30 2 *", "0 0 31 4,6,9,11 *",
		"*/0 * * * *", "H H * * *", "0 0 L * *", "0 0 15W * *", "0 0 * * 5#3",
		"0 0 * * ?x", "1-2-3 * * * *", "1//2 * * * *", "0 0 * * mon-", "٣ 0 * * *", "0 0 * * *\x00", strings.Repeat("1,", 200) + "1 0 * * *",
	} {
		if _, err := ParseSchedule(expression, "UTC"); !isInvalid(err, "schedule") {
			t.Errorf("%.60q: got %v, want an InvalidError for schedule", expression, err)
		}
	}
	for _, zone := range []string{
		"", "Local", "local", "localtime", "right/UTC", "posix/UTC", "Mars/Olympus", "+01:00", "../etc/passwd",
		"/etc/localtime", "Europe", "UTC\x00", strings.Repeat("A", 1<<20),
	} {
		if _, err := ParseSchedule(Daily, zone); !isInvalid(err, "timezone") {
			t.Errorf("%.60q: got %v, want an InvalidError for timezone", zone, err)
		}
	}
}

func FuzzSchedule(f *testing.F) {
	for _, seed := range []string{
		Daily, "30 2 * * *", "*/7 1-5 * 2,3 MON-FRI", "0 0 31 12 *", "0 0 30 2 *", "? ? ? ? ?", "0 0 L * *", "59 23 29 2 *",
	} {
		f.Add(seed, int64(1_772_409_600), uint8(1))
	}
	f.Fuzz(func(t *testing.T, expression string, seconds int64, zone uint8) {
		s, err := ParseSchedule(expression, zones[int(zone)%len(zones)])
		if err != nil {
			if !isInvalid(err, "schedule") {
				t.Fatalf("%q: got %v, want an InvalidError for schedule", expression, err)
			}
			return
		}
		from := time.Unix(seconds&(1<<32-1), 0)
		next := s.Next(from)
		if s.Never() {
			return
		}
		if !next.After(from) || next.After(from.AddDate(9, 0, 1)) {
			t.Fatalf("%q: after %v comes %v", expression, from, next)
		}
		if latest := s.Latest(from, next); !latest.Equal(next) {
			t.Fatalf("%q: after %v comes %v, yet the latest up to that is %v", expression, from, next, latest)
		}
		if latest := s.Latest(from, next.Add(-1)); !latest.IsZero() {
			t.Fatalf("%q: after %v comes %v, yet %v lies between", expression, from, next, latest)
		}
	})
}

// clock is what a zone's clock showed, found by looking at it.
type clock struct {
	zone    *time.Location
	periods []period
}

// period is a time without a change of the clock. It lasts until the next begins.
type period struct {
	from   time.Time
	offset int // seconds ahead of UTC
}

// readClock looks at a zone's clock every few hours, and every quarter of an hour about a change: none comes at another
// minute.
func readClock(t *testing.T, name string) clock {
	t.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	c := clock{zone: zone}
	offset := func(at time.Time) int {
		_, offset := at.In(zone).Zone()
		return offset
	}
	at := time.Date(firstYear-1, 12, 1, 0, 0, 0, 0, time.UTC)
	c.periods = []period{{at, offset(at)}}
	for now := offset(at); at.Year() <= lastYear+1; at = at.Add(6 * time.Hour) {
		for offset(at) != now && offset(at.Add(-15*time.Minute)) != now {
			at = at.Add(-15 * time.Minute)
		}
		if offset(at) != now {
			now = offset(at)
			c.periods = append(c.periods, period{at, now})
		}
	}
	return c
}

// instant returns when the clock first showed a wall-clock time, or the end of the gap that swallowed it.
func (c clock) instant(t *testing.T, wall time.Time) time.Time {
	t.Helper()
	for i, p := range c.periods {
		at := wall.Add(-time.Duration(p.offset) * time.Second)
		if at.Before(p.from) {
			return p.from
		}
		if i+1 == len(c.periods) || at.Before(c.periods[i+1].from) {
			return at
		}
	}
	panic(fmt.Sprintf("%v was never shown", wall))
}

// before returns the offset just before an instant.
func (c clock) before(at time.Time) int {
	_, offset := at.Add(-time.Nanosecond).In(c.zone).Zone()
	return offset
}

// showedBefore reports whether what the clock shows at an instant was shown once before.
func (c clock) showedBefore(at time.Time) bool {
	_, offset := at.In(c.zone).Zone()
	for i, p := range c.periods[1:] {
		earlier := at.Add(time.Duration(offset-c.periods[i].offset) * time.Second)
		if p.offset == offset && !at.Before(p.from) && earlier.Before(p.from) {
			return true
		}
	}
	return false
}

func schedule(t *testing.T, expression, zone string) Schedule {
	t.Helper()
	s, err := ParseSchedule(expression, zone)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func instant(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

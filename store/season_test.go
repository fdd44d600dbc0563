package store

import (
	"math/bits"
	"regexp"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// start is when the seasons of these tests begin: a Monday.
var start = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)

const day = 24 * time.Hour

func TestResolutionIsTheFinestThatFits(t *testing.T) {
	t.Parallel()
	settings := func(change func(*Settings)) Settings {
		s := DefaultSettings("demo")
		change(&s)
		return s
	}
	tests := []struct {
		name     string
		settings Settings
		bits     int
		want     time.Duration
	}{
		{"a default board", settings(func(*Settings) {}), 29, time.Second},
		{"a default board, daily", settings(func(s *Settings) { s.Schedule = Daily }), 29, time.Millisecond},
		{"a default board, weekly", settings(func(s *Settings) { s.Schedule = Weekly }), 29, 10 * time.Millisecond},
		{"a default board, monthly", settings(func(s *Settings) { s.Schedule = Monthly }), 29, 10 * time.Millisecond},
		{"a default board of at most a year", settings(func(s *Settings) { s.SeasonDays = 366 }), 29, 100 * time.Millisecond},
		{"lap times in milliseconds", settings(func(s *Settings) { s.MaxPoints, s.Decimals = 1000, 3 }), 33, 100 * time.Millisecond},
		{"few points", settings(func(s *Settings) { s.MaxPoints = 1 }), 52, time.Millisecond},
		{"many points", settings(func(s *Settings) { s.MaxPoints = 1<<32 - 1 }), 21, 10 * time.Minute},
		{"as many points as fit in ten years", settings(func(s *Settings) { s.MaxPoints = 1<<35 - 1 }), 18, time.Hour},
		{"as many points as fit in a day", settings(func(s *Settings) { s.MaxPoints, s.Schedule = 1<<36-1, Daily }), 17, 10 * time.Second},
		{"nine decimals", settings(func(s *Settings) { s.MaxPoints, s.Decimals, s.Schedule = 60, 9, Daily }), 17, 10 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			season, err := tt.settings.NewSeason(1, start, start)
			if err != nil {
				t.Fatal(err)
			}
			if season.TimeBits != tt.bits || season.Resolution != tt.want {
				t.Errorf("got %d bits and ticks of %v, want %d and %v", season.TimeBits, season.Resolution, tt.bits, tt.want)
			}
		})
	}
}

func TestResolutionLeavesFreeSlotsAndNoFinerOneDoes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		timeBits := rapid.IntRange(0, 52).Draw(t, "bits")
		length := time.Duration(rapid.Int64Range(1, int64(36_500*day)).Draw(t, "length"))
		fits := func(r time.Duration) bool {
			last := (length - 1) / r // slot of the last instant of the season
			return int64(1)<<timeBits-1-int64(last) >= FreeSlots
		}
		got, err := Resolution(timeBits, length)
		for _, r := range resolutions {
			if fits(r) {
				if err != nil || got != r {
					t.Fatalf("got %v, %v, want %v", got, err, r)
				}
				return
			}
		}
		if !isInvalid(err, "max_points") {
			t.Fatalf("got %v, %v, want an InvalidError", got, err)
		}
	})
}

func TestRefusalOfABoardSaysWhatFits(t *testing.T) {
	t.Parallel()
	largest := regexp.MustCompile(`at most (\d+) units`)
	rapid.Check(t, func(t *rapid.T) {
		length := time.Duration(rapid.Int64Range(int64(time.Minute), int64(36_500*day)).Draw(t, "length"))
		_, err := Resolution(rapid.IntRange(0, 16).Draw(t, "bits"), length)
		if !isInvalid(err, "max_points") {
			t.Fatalf("got %v, want an InvalidError", err)
		}
		said := largest.FindStringSubmatch(err.Error())
		if said == nil {
			t.Fatalf("%q does not say what fits", err)
		}
		units, err := strconv.ParseInt(said[1], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Resolution(TimeBits(units), length); err != nil {
			t.Errorf("%d units were said to fit: %v", units, err)
		}
		if _, err := Resolution(TimeBits(units+1), length); err == nil {
			t.Errorf("%d units were said to be the most, but one more fits", units)
		}
	})
}

func TestBoardsThatCannotBeExactAreRefused(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Settings){
		"points up to 2^53":                   func(s *Settings) { s.MaxPoints = MaxUnits },
		"points beyond 2^53 by decimals":      func(s *Settings) { s.MaxPoints, s.Decimals = 10_000_000, 9 },
		"points just beyond 2^53 by decimals": func(s *Settings) { s.MaxPoints, s.Decimals = 9_007_199_254_741, 3 },
		"one bit too many in a day":           func(s *Settings) { s.MaxPoints, s.Schedule = 1<<37, Daily },
		"ten years":                           func(s *Settings) { s.MaxPoints = 1 << 36 },
	} {
		settings := DefaultSettings("demo")
		change(&settings)
		if season, err := settings.NewSeason(1, start, start); !isInvalid(err, "max_points") {
			t.Errorf("%s: got %v, %v, want an InvalidError for max_points", name, season, err)
		}
	}
}

func TestNewSeasonEndsAtTheNextBoundaryAfterNow(t *testing.T) {
	t.Parallel()
	settings := DefaultSettings("demo")
	settings.Schedule = Weekly
	now := start.AddDate(0, 0, 31).Add(time.Hour) // a Thursday
	season, err := settings.NewSeason(1, start, now)
	if err != nil {
		t.Fatal(err)
	}
	if want := time.Date(2026, 4, 6, 0, 0, 0, 0, time.UTC); !season.Start.Equal(start) || !season.End.Equal(want) {
		t.Errorf("got %v to %v, want %v to %v", season.Start, season.End, start, want)
	}
	if want := 10 * time.Millisecond; season.Resolution != want {
		t.Errorf("got ticks of %v for five weeks, want %v", season.Resolution, want)
	}
	settings.Schedule = Manual
	if season, err = settings.NewSeason(1, start, now); err != nil || !season.End.IsZero() {
		t.Errorf("manual: got an end %v, %v, want none", season.End, err)
	}
}

// anySeason draws a season that a board may have.
func anySeason(t *rapid.T) (Season, int64) {
	maxUnits := rapid.Int64Range(1, 1<<36-1).Draw(t, "max units")
	season := Season{
		Start: start, Order: rapid.SampledFrom([]Order{Desc, Asc}).Draw(t, "order"), TimeBits: TimeBits(maxUnits),
		Resolution: rapid.SampledFrom(resolutions[:]).Draw(t, "resolution"),
	}
	season.Lasts(time.Duration(rapid.Int64Range(1, int64(3650*day)).Draw(t, "length")))
	return season, maxUnits
}

func TestPackedScoresUnpackUnchanged(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		season, maxUnits := anySeason(t)
		points := Points(rapid.Int64Range(-maxUnits, maxUnits).Draw(t, "points"))
		slot := rapid.Int64Range(0, season.Slots()-1).Draw(t, "slot")
		packed := season.Pack(points, slot)
		if gotPoints, gotSlot := season.Unpack(packed); gotPoints != points || gotSlot != slot {
			t.Errorf("got %d in slot %d, want %d in slot %d", gotPoints, gotSlot, points, slot)
		}
		if int64(float64(packed)) != packed || packed > MaxUnits || packed < -MaxUnits {
			t.Errorf("%d is beyond what a sorted set keeps exactly", packed)
		}
	})
}

func TestPackedScoresAreExactAtEveryBoundOfEverySeason(t *testing.T) {
	t.Parallel()
	for pointBits := 1; pointBits <= 53; pointBits++ {
		for _, maxUnits := range []int64{1 << (pointBits - 1), 1<<pointBits - 1} {
			for _, order := range []Order{Desc, Asc} {
				season := Season{Start: start, Order: order, TimeBits: TimeBits(maxUnits), Resolution: time.Second}
				if want := 53 - bits.Len64(uint64(maxUnits)); season.TimeBits != want {
					t.Fatalf("%d units: got %d bits for time, want %d", maxUnits, season.TimeBits, want)
				}
				for _, points := range []int64{-maxUnits, 1 - maxUnits, -1, 0, 1, maxUnits - 1, maxUnits} {
					for _, slot := range []int64{0, 1, season.Slots() - 2, season.Slots() - 1} {
						slot = min(max(slot, 0), season.Slots()-1)
						packed := season.Pack(Points(points), slot)
						gotPoints, gotSlot := season.Unpack(packed)
						if int64(gotPoints) != points || gotSlot != slot || packed > MaxUnits || packed < -MaxUnits {
							t.Errorf("%s, %d bits, %d in slot %d: got %d in slot %d from %d", order, season.TimeBits, points, slot, gotPoints, gotSlot, packed)
						}
					}
				}
			}
		}
	}
}

func TestPackedScoresOrderByPointsAndThenBySlot(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		season, maxUnits := anySeason(t)
		few := min(maxUnits, rapid.SampledFrom([]int64{2, maxUnits}).Draw(t, "span"))
		points, slots := rapid.Int64Range(-few, few), rapid.Int64Range(0, season.Slots()-1)
		a, b := Points(points.Draw(t, "a")), Points(points.Draw(t, "b"))
		slotA, slotB := slots.Draw(t, "slot of a"), slots.Draw(t, "slot of b")
		better := a > b
		if season.Order == Asc {
			better = a < b
		}
		if want := better || a == b && slotA < slotB; season.Pack(a, slotA) > season.Pack(b, slotB) != want {
			t.Errorf("%d in slot %d before %d in slot %d: got %v, want %v", a, slotA, b, slotB, !want, want)
		}
	})
}

func TestTicksStandStillAtTheSeasonsEnd(t *testing.T) {
	t.Parallel()
	season := Season{Start: start, TimeBits: 17, Resolution: time.Second}
	season.Lasts(10 * time.Hour)
	tests := []struct {
		after time.Duration
		want  int64
	}{
		{0, 0},
		{-time.Millisecond, 0},
		{-100 * day, 0},
		{999 * time.Millisecond, 0},
		{time.Second, 1},
		{1999 * time.Millisecond, 1},
		{time.Second - 1, 0},
		{36_000 * time.Second, 36_000},
		{36_001 * time.Second, 36_000},
		{100_000 * day, 36_000},
	}
	for _, tt := range tests {
		if got := season.Tick(start.Add(tt.after)); got != tt.want {
			t.Errorf("%v after the start: got tick %d, want %d", tt.after, got, tt.want)
		}
	}
}

func TestSlotsForTiesStayFreeHoweverLongASeasonBecame(t *testing.T) {
	t.Parallel()
	season := Season{Start: start, TimeBits: 17, Resolution: time.Second}
	for length, want := range map[time.Duration]int64{
		time.Second: 1, 1500 * time.Millisecond: 2, 65_536 * time.Second: 65_536, 65_537 * time.Second: 65_536, 900 * day: 65_536,
	} {
		season.Lasts(length)
		if season.LastTick != want {
			t.Errorf("%v: got last tick %d, want %d", length, season.LastTick, want)
		}
	}
}

func TestAchievedAtIsTheSlotsTimeAndNeverLaterThanNow(t *testing.T) {
	t.Parallel()
	season := Season{Start: start, TimeBits: 29, Resolution: time.Second}
	now := start.Add(90 * time.Second)
	for slot, want := range map[int64]time.Time{0: start, 60: start.Add(time.Minute), 90: now, 91: now, season.Slots() - 1: now} {
		if got := season.AchievedAt(slot, now); !got.Equal(want) || got.Location() != time.UTC {
			t.Errorf("slot %d: got %v, want %v", slot, got, want)
		}
	}
	few := Season{Start: start, TimeBits: 52, Resolution: time.Millisecond} // its last slot is far beyond a Duration
	if got := few.AchievedAt(few.Slots()-1, now); !got.Equal(now) {
		t.Errorf("last slot of a board with few points: got %v, want %v", got, now)
	}
	if got, want := few.AchievedAt(86_400_000, start.AddDate(1, 0, 0)), start.Add(day); !got.Equal(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestATicksTimeFallsIntoTheTick(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		season, _ := anySeason(t)
		at := start.Add(time.Duration(rapid.Int64Range(0, int64(3650*day)).Draw(t, "after")))
		tick := season.Tick(at)
		shown := season.AchievedAt(tick, at)
		if shown.After(at) || tick < season.LastTick && at.Sub(shown) >= season.Resolution+time.Millisecond || season.Tick(shown) != tick {
			t.Errorf("%v became tick %d, which stands for %v", at, tick, shown)
		}
	})
}

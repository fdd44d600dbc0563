package store

import (
	"strings"
	"testing"
	"time"
)

func TestBoardIDs(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"a", "0", "demo", "a-b_c", "123", "00123", "a" + strings.Repeat("-", 62), "constructor"} {
		if got, err := ParseBoardID(id); err != nil || string(got) != id {
			t.Errorf("%q: got %q, %v, want it unchanged", id, got, err)
		}
	}
	for _, id := range []string{
		"", "A", "Demo", "-a", "_a", "a b", "a:b", "{x}", "*", "a.b", "a/b", "a\n", "\na", "a\x00", "é", "１",
		"a\u212a", "__proto__", strings.Repeat("a", 64), strings.Repeat("a", 1<<20),
	} {
		if got, err := ParseBoardID(id); !isInvalid(err, "board") {
			t.Errorf("%.40q: got %.40q, %v, want an InvalidError for board", id, got, err)
		}
	}
}

func TestDefaultSettingsAreValid(t *testing.T) {
	t.Parallel()
	settings := DefaultSettings("demo")
	if err := settings.Validate(); err != nil {
		t.Error(err)
	}
	if _, err := settings.NewSeason(1, start, start); err != nil {
		t.Error(err)
	}
}

func TestSettingsAreTakenUpToTheirBounds(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Settings){
		"title of 100 characters": func(s *Settings) { s.Title = strings.Repeat("玩", 100) },
		"title in any script":     func(s *Settings) { s.Title = "שלום 🩸" },
		"low is better":           func(s *Settings) { s.Order = Asc },
		"the latest":              func(s *Settings) { s.Policy = Last },
		"the sum":                 func(s *Settings) { s.Policy = Sum },
		"nine decimals":           func(s *Settings) { s.Decimals, s.MaxPoints = 9, 1 },
		"one point":               func(s *Settings) { s.MaxPoints = 1 },
		"most points":             func(s *Settings) { s.MaxPoints = MaxUnits },
		"from 1970":               func(s *Settings) { s.StartsAt = time.UnixMilli(0) },
		"a day":                   func(s *Settings) { s.SeasonDays = 1 },
		"a century":               func(s *Settings) { s.SeasonDays = 36_500 },
		"a live top of one":       func(s *Settings) { s.LiveTop = 1 },
		"a live top of 1000":      func(s *Settings) { s.LiveTop = 1000 },
		"no activity":             func(s *Settings) { s.ActivityCap = 0 },
		"long activity":           func(s *Settings) { s.ActivityCap = 1000 },
		"no seasons kept":         func(s *Settings) { s.KeepSeasons = 0 },
		"a thousand seasons kept": func(s *Settings) { s.KeepSeasons = 1000 },
		"weekly in Kolkata":       func(s *Settings) { s.Schedule, s.Timezone = Weekly, "Asia/Kolkata" },
		"a cron schedule":         func(s *Settings) { s.Schedule = "30 2 * * 1-5" },
		"a largest step":          func(s *Settings) { s.MaxStep = "1e3" },
		"a step in decimals":      func(s *Settings) { s.MaxStep, s.Decimals = "0.01", 2 },
		"a step as large as all":  func(s *Settings) { s.MaxStep = "10000000" },
	} {
		settings := DefaultSettings("demo")
		change(&settings)
		if err := settings.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSettingsBeyondTheirBoundsAreRefusedByField(t *testing.T) {
	t.Parallel()
	tests := []struct {
		field  string
		change func(*Settings)
	}{
		{"title", func(s *Settings) { s.Title = "" }},
		{"title", func(s *Settings) { s.Title = " " }},
		{"title", func(s *Settings) { s.Title = "\u200b" }},
		{"title", func(s *Settings) { s.Title = "a\nb" }},
		{"title", func(s *Settings) { s.Title = "a\u202e" }},
		{"title", func(s *Settings) { s.Title = "\xff" }},
		{"title", func(s *Settings) { s.Title = strings.Repeat("a", 101) }},
		{"order", func(s *Settings) { s.Order = "" }},
		{"order", func(s *Settings) { s.Order = "DESC" }},
		{"policy", func(s *Settings) { s.Policy = "" }},
		{"policy", func(s *Settings) { s.Policy = "max" }},
		{"decimals", func(s *Settings) { s.Decimals = -1 }},
		{"decimals", func(s *Settings) { s.Decimals = 10 }},
		{"max_points", func(s *Settings) { s.MaxPoints = 0 }},
		{"max_points", func(s *Settings) { s.MaxPoints = -1 }},
		{"max_points", func(s *Settings) { s.MaxPoints = MaxUnits + 1 }},
		{"starts_at", func(s *Settings) { s.StartsAt = time.UnixMilli(-1) }},
		{"starts_at", func(s *Settings) { s.StartsAt = time.Time{}.Add(time.Second) }},
		{"season_days", func(s *Settings) { s.SeasonDays = 0 }},
		{"season_days", func(s *Settings) { s.SeasonDays = 36_501 }},
		{"live_top", func(s *Settings) { s.LiveTop = 0 }},
		{"live_top", func(s *Settings) { s.LiveTop = 1001 }},
		{"activity_cap", func(s *Settings) { s.ActivityCap = -1 }},
		{"activity_cap", func(s *Settings) { s.ActivityCap = 1001 }},
		{"keep_seasons", func(s *Settings) { s.KeepSeasons = -1 }},
		{"keep_seasons", func(s *Settings) { s.KeepSeasons = 1001 }},
		{"schedule", func(s *Settings) { s.Schedule = "" }},
		{"schedule", func(s *Settings) { s.Schedule = "hourly" }},
		{"timezone", func(s *Settings) { s.Timezone = "" }},
		{"timezone", func(s *Settings) { s.Timezone = "Mars/Olympus" }},
		{"max_step", func(s *Settings) { s.MaxStep = "0" }},
		{"max_step", func(s *Settings) { s.MaxStep = "-1" }},
		{"max_step", func(s *Settings) { s.MaxStep = "many" }},
		{"max_step", func(s *Settings) { s.MaxStep = "0.5" }},
		{"max_step", func(s *Settings) { s.MaxStep = "10000001" }},
	}
	for _, tt := range tests {
		settings := DefaultSettings("demo")
		tt.change(&settings)
		if err := settings.Validate(); !isInvalid(err, tt.field) {
			t.Errorf("%+v: got %v, want an InvalidError for %s", settings, err, tt.field)
		}
	}
}

func TestLimitIsInWholeUnits(t *testing.T) {
	t.Parallel()
	tests := []struct {
		maxPoints int64
		decimals  int
		want      Points
	}{
		{10_000_000, 0, 10_000_000},
		{1000, 3, 1_000_000},
		{1, 9, 1_000_000_000},
		{MaxUnits, 0, MaxUnits},
		{9_007_199, 9, 9_007_199_000_000_000},
		{9_007_200, 9, MaxUnits},
	}
	for _, tt := range tests {
		settings := Settings{MaxPoints: tt.maxPoints, Decimals: tt.decimals}
		if got := settings.Limit(); got != tt.want {
			t.Errorf("%d with %d decimals: got %d, want %d", tt.maxPoints, tt.decimals, got, tt.want)
		}
	}
}

package pages

import (
	"testing"
	"time"

	"leaderboard/store"
)

func TestOrdinalsEndAsTheyAreSpoken(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 11: "11th", 12: "12th", 13: "13th", 21: "21st", 101: "101st", 111: "111th",
		1112: "1\u202f112th", 1_000_003: "1\u202f000\u202f003rd",
	} {
		if got := ordinal(n); got != want {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
	}
}

func TestDigitsAreGroupedInThrees(t *testing.T) {
	t.Parallel()
	for plain, want := range map[string]string{
		"0": "0", "999": "999", "1000": "1\u202f000", "-1240.50": "\u22121\u202f240.50", "-0.001": "\u22120.001", "9007199254740991": "9\u202f007\u202f199\u202f254\u202f740\u202f991",
	} {
		if got := group(plain); got != want {
			t.Errorf("%s: got %q, want %q", plain, got, want)
		}
	}
}

func TestTimesAreToldByHowLongAgo(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 3, 14, 0, 0, 0, time.UTC)
	for d, want := range map[time.Duration]string{
		-time.Second: "just now", 9 * time.Second: "just now", 42 * time.Second: "42 s ago", 59*time.Minute + 59*time.Second: "59 min ago",
		47 * time.Hour: "47 h ago", 48 * time.Hour: "2 days ago", 90 * 24 * time.Hour: "2 Feb 2026",
	} {
		if got := ago(now, now.Add(-d)); got != want {
			t.Errorf("%v: got %q, want %q", d, got, want)
		}
	}
}

func TestClockCountsDown(t *testing.T) {
	t.Parallel()
	for left, want := range map[time.Duration]string{
		0: "00:00:00", 59 * time.Second: "00:00:59", 3*time.Hour + 4*time.Minute + 9*time.Second: "03:04:09",
		24 * time.Hour: "1 d 00 h", 400*24*time.Hour + 5*time.Hour: "400 d 05 h",
	} {
		if got := countdown(left); got != want {
			t.Errorf("%v: got %q, want %q", left, got, want)
		}
	}
}

func TestShareIsNeverRoundedUp(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rank, total int64
		percentile  float64
		want        string
	}{
		{1, 1, 100, "nobody yet"}, {1, 2, 100, "100\u202f%"}, {2, 2, 0, "0\u202f%"}, {2, 100_000, 99.999, "99.9\u202f%"}, {3, 5, 50, "50\u202f%"},
	} {
		standing := store.Standing{Entry: store.Entry{Rank: c.rank}, Total: c.total, Percentile: c.percentile}
		if got := share(&standing); got != c.want {
			t.Errorf("%+v: got %q", c, got)
		}
	}
}

func TestDistanceToTheNextPlaceIsToldInWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rank, total int64
		missing     store.Points
		want        string
	}{
		{1, 1, 0, "First, and alone so far"},
		{1, 9, 0, "In the lead"},
		{2, 9, 0, "Level with 1st, who got there first"},
		{12, 90, 35, "35 points behind 11th"},
		{3, 9, 1, "1 point behind 2nd"},
	} {
		standing := store.Standing{Entry: store.Entry{Rank: c.rank}, Total: c.total, ToNext: c.missing}
		if got := toNext(&standing); got != c.want {
			t.Errorf("%+v: got %q", c, got)
		}
	}
}

func TestMarksShowInitials(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ player, name, want string }{
		{"p1", "ada lovelace", "AL"},
		{"p1", "Ada", "A"},
		{"p1", "Ana de la Cruz", "AC"},
		{"p1", "élan", "É"},
		{"zed", "", "Z"},
		{"p1", "🩸", "P"},
		{"*", "🩸", "•"},
		{"p1", "<img src=x>", "IS"},
		{"p1", "שלום עולם", "שע"},
		{"p1", "玩家", "玩"},
		{"p1", "𝙍𝙖𝙣𝙠", "𝙍"},
		{"p1", "(7 up)", "7U"},
	} {
		if got := markOf(store.PlayerID(c.player), store.Name(c.name)).Initials; got != c.want {
			t.Errorf("%s, %q: got %q, want %q", c.player, c.name, got, c.want)
		}
	}
	if a, b := markOf("p1", "Ada"), markOf("p1", "Bea"); a.Hue != b.Hue {
		t.Errorf("renamed: got hue %s, want %s", b.Hue, a.Hue)
	}
}

func TestBetterPointsAreDrawnHigher(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 3, 14, 0, 0, 0, time.UTC)
	activity := []store.Activity{
		{At: now.Add(-time.Hour), Points: 90}, {At: now.Add(-2 * time.Hour), Kind: store.RewardReceived}, {At: now.Add(-3 * time.Hour), Points: 120},
	}
	for order, want := range map[store.Order]string{
		store.Asc:  "M0.00 900.00H666.67V100.00H1000.00",
		store.Desc: "M0.00 100.00H666.67V900.00H1000.00",
	} {
		w := writer{season: store.Season{Order: order}, now: now}
		chart := w.chart(&store.Standing{}, activity)
		if chart.Line != want || len(chart.Dots) != 2 {
			t.Errorf("%s: got %s and %d dots, want %s and 2", order, chart.Line, len(chart.Dots), want)
		}
	}
	w := writer{now: now}
	if got := w.chart(&store.Standing{}, activity[:2]); got != nil {
		t.Errorf("one value: got %+v, want no chart", got)
	}
	same := w.chart(&store.Standing{}, []store.Activity{{At: now, Points: 5}, {At: now, Points: 5}})
	if want := "M0.00 500.00H0.00V500.00H0.00"; same.Line != want {
		t.Errorf("one value twice at one time: got %s, want %s", same.Line, want)
	}
}

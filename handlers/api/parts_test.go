package api

import (
	"strings"
	"testing"
	"time"

	"leaderboard/store"
)

func TestCursorsHoldAnyPosition(t *testing.T) {
	t.Parallel()
	for _, want := range []cursor{
		{season: 1, epoch: "abcdef", at: store.Position{Packed: 0, Player: "a"}},
		{season: maxSeason, epoch: "e", at: store.Position{Packed: 1<<53 - 1, Player: store.PlayerID(strings.Repeat("é", 64))}},
		{season: 12, epoch: "", at: store.Position{Packed: -1 << 53, Player: "\u202e"}},
	} {
		got, err := parseCursor(string(want.append(nil)))
		if err != nil || *got != want {
			t.Errorf("%+v came back as %+v (%v)", want, got, err)
		}
	}
}

func TestDurationsAreWrittenAsPeopleDo(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0s", 10 * time.Second: "10s", time.Minute: "1m", 90 * time.Second: "1m30s", time.Hour: "1h", 24 * time.Hour: "24h",
		time.Hour + 30*time.Minute: "1h30m", time.Hour + time.Second: "1h0m1s", 10 * time.Minute: "10m", 1500 * time.Millisecond: "1.5s",
		20 * time.Hour: "20h", 100 * time.Minute: "1h40m",
	} {
		got := durationText(d)
		if got != want {
			t.Errorf("%d is %s, want %s", d, got, want)
		}
		if back, err := time.ParseDuration(got); err != nil || back != d {
			t.Errorf("%s reads as %v (%v), want %v", got, back, err, d)
		}
	}
}

func TestDepthCountsBracketsOutsideOfStrings(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]int{
		`1`: 0, `"[[["`: 0, `[]`: 1, `{"a":[{}]}`: 3, `[[],[[]]]`: 3, `"\"[["`: 0, `["\\",[]]`: 2, `{"[":"]"}`: 1,
	} {
		if got := depth([]byte(value)); got != want {
			t.Errorf("%s is %d deep, want %d", value, got, want)
		}
	}
}

func TestTimesAreWrittenInUTCWithTheMillisecondsTheyNeed(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("", 2*60*60)
	for want, at := range map[string]time.Time{
		`"2026-11-30T18:04:05.123Z"`: time.Date(2026, 11, 30, 20, 4, 5, 123_999_999, zone),
		`"2026-11-30T18:04:05.5Z"`:   time.Date(2026, 11, 30, 18, 4, 5, 500_000_000, time.UTC),
		`"2026-11-30T18:04:05Z"`:     time.Date(2026, 11, 30, 18, 4, 5, 999, time.UTC),
		`null`:                       {},
	} {
		if got := string(appendTimeOrNull(nil, at)); got != want {
			t.Errorf("%v is written %s, want %s", at, got, want)
		}
	}
}

func TestHeldScoresHaveNoRank(t *testing.T) {
	t.Parallel()
	held := store.Result{Board: "demo", Season: 1, Player: "a", Submitted: 500, Held: true, Total: 7}
	const want = `"board":"demo","season":1,"player":"a","points":null,"submitted":500,"improved":false,"held":true,` +
		`"rank":null,"previous_rank":null,"total":7,"achieved_at":null`
	if got := string(appendResult(nil, &held)); got != want {
		t.Errorf("held is %s, want %s", got, want)
	}
}

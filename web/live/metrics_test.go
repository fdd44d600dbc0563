package live

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

func TestAnOperatorSeesWhatReadersGet(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	s, l := demoSite(t, Options{Registerer: registry, Limits: Limits{Readers: 2}})
	p, other := s.join(t, "demo"), s.join(t, "demo")
	p.take(t)
	other.take(t)
	if q, _ := s.dial(t, "demo", nil); q != nil {
		t.Fatal("a third reader came in")
	}
	raise(l, s.hub.tops, "demo", 4)
	p.takeUntil(t, "version 2", func(c *client) bool { return c.Version == 2 })
	p.say(t, `{"type":"resync"}`)
	p.takeUntil(t, "a second snapshot", func(c *client) bool { return c.whole == 2 })
	other.say(t, `nonsense`)
	other.takeClose(t)
	eventually(t, "one reader is left", func() bool { return s.in() == 1 })

	want := map[string]float64{
		"leaderboard_live_readers":                    1,
		"leaderboard_live_boards":                     1,
		"leaderboard_live_frames_total snapshot":      3,
		"leaderboard_live_resyncs_total":              1,
		"leaderboard_live_refused_total readers":      1,
		"leaderboard_live_closes_total 1008":          1,
		"leaderboard_live_panics_total":               0,
		"leaderboard_live_skipped_frames_total":       0,
		"leaderboard_live_failures_total":             0,
		"leaderboard_live_frames_total delta":         2,
		"leaderboard_live_delay_seconds observations": 2,
	}
	got := map[string]float64{}
	eventually(t, "the second delta is counted", func() bool {
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, family := range families {
			for _, metric := range family.GetMetric() {
				var name strings.Builder
				name.WriteString(family.GetName())
				for _, label := range metric.GetLabel() {
					name.WriteString(" " + label.GetValue())
				}
				got[name.String()] = metric.GetCounter().GetValue() + metric.GetGauge().GetValue()
				if h := metric.GetHistogram(); h != nil {
					got[name.String()+" observations"] = float64(h.GetSampleCount())
				}
			}
		}
		return got["leaderboard_live_frames_total delta"] == 2
	})
	for name, value := range want {
		if got[name] != value {
			t.Errorf("%s is %v, want %v", name, got[name], value)
		}
	}
	if got["leaderboard_live_bytes_total"] < 500 {
		t.Errorf("%v bytes are counted", got["leaderboard_live_bytes_total"])
	}
	for name := range got {
		if strings.Contains(name, "p4") || strings.Contains(name, "demo") {
			t.Errorf("%q names a player or a board: such labels grow without end", name)
		}
	}
}

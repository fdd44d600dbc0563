package live

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are what an operator can see of the readers.
type metrics struct {
	readers  prometheus.Gauge
	boards   prometheus.Gauge
	frames   [frameKinds]prometheus.Counter
	bytes    prometheus.Counter
	skipped  prometheus.Counter
	resyncs  prometheus.Counter
	panics   prometheus.Counter
	refused  *prometheus.CounterVec
	closes   *prometheus.CounterVec
	delay    prometheus.Histogram
	lookups  prometheus.Counter
	failures prometheus.Counter
}

// newMetrics returns metrics that are registered, or, with a nil registerer, seen by nobody.
func newMetrics(registerer prometheus.Registerer) *metrics {
	const space, system = "leaderboard", "live"
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Namespace: space, Subsystem: system, Name: name, Help: help})
	}
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Namespace: space, Subsystem: system, Name: name, Help: help})
	}
	vector := func(name, help, label string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(
			prometheus.CounterOpts{Namespace: space, Subsystem: system, Name: name, Help: help}, []string{label})
	}
	frames := vector("frames_total", "Frames written to readers.", "type")
	m := &metrics{
		readers:  gauge("readers", "Readers that are connected."),
		boards:   gauge("boards", "Boards that somebody watches."),
		bytes:    counter("bytes_total", "Bytes of the frames written."),
		skipped:  counter("skipped_frames_total", "States that readers never got because they were too slow."),
		resyncs:  counter("resyncs_total", "Snapshots that readers asked for."),
		panics:   counter("panics_total", "Bugs that were contained."),
		refused:  vector("refused_total", "Readers refused before the upgrade.", "reason"),
		closes:   vector("closes_total", "Connections that ended, by close code.", "code"),
		lookups:  counter("lookups_total", "Reads of the places of watched players."),
		failures: counter("failures_total", "Reads of the store that failed; the next one tries again."),
		delay: prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: space, Subsystem: system, Name: "delay_seconds",
			Help:    "Time from hearing of a change to having written it to a reader.",
			Buckets: []float64{.001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10},
		}),
	}
	for kind := range frameKinds {
		m.frames[kind] = frames.WithLabelValues(kind.String())
	}
	if registerer != nil {
		registerer.MustRegister(m.readers, m.boards, frames, m.bytes, m.skipped, m.resyncs, m.panics, m.refused, m.closes,
			m.lookups, m.failures, m.delay)
	}
	return m
}

// closed counts a connection that ended. Codes that no one should see are one, or a client could fill the memory.
func (m *metrics) closed(code int) {
	label := "other"
	switch code {
	case 1000, 1001, 1002, 1005, 1006, 1007, 1008, 1009, 1011, 1012, 1013:
		label = strconv.Itoa(code)
	}
	m.closes.WithLabelValues(label).Inc()
}

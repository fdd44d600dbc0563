package worker

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"leaderboard/store"
)

// Counting is [Metrics] for Prometheus.
type Counting struct {
	jobs     *prometheus.GaugeVec
	overdue  prometheus.Gauge
	running  prometheus.Gauge
	paused   prometheus.Gauge
	ever     *prometheus.GaugeVec
	late     *prometheus.HistogramVec
	took     *prometheus.HistogramVec
	webhooks *prometheus.HistogramVec
}

// NewCounting returns metrics that are registered.
func NewCounting(registerer prometheus.Registerer) *Counting {
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: "leaderboard_" + name, Help: help})
	}
	gauges := func(name, help, label string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "leaderboard_" + name, Help: help}, []string{label})
	}
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(
			prometheus.HistogramOpts{Name: "leaderboard_" + name, Help: help, Buckets: buckets}, labels)
	}
	short := []float64{.001, .0025, .005, .01, .02, .05, .1, .5, 1, 5, 30}
	c := &Counting{
		jobs:     gauges("jobs", "Jobs in the queue that all processes share.", "state"),
		overdue:  gauge("jobs_overdue_seconds", "How long the head of the queue waits past its time."),
		running:  gauge("jobs_longest_run_seconds", "How long the job runs that began first."),
		paused:   gauge("jobs_paused", "1 while the queue is paused."),
		ever:     gauges("jobs_since_made", "What happened since the queue was made: deliveries taken back from dead workers, stale words of workers, members without a job, dead jobs that made room.", "what"),
		late:     histogram("job_lateness_seconds", "How long after its time a job was handed to this process.", short, "kind"),
		took:     histogram("job_seconds", "How long jobs took in this process.", short, "kind", "outcome"),
		webhooks: histogram("webhook_seconds", "How long it took to send an event.", []float64{.01, .05, .1, .5, 1, 5, 10}, "outcome"),
	}
	registerer.MustRegister(c.jobs, c.overdue, c.running, c.paused, c.ever, c.late, c.took, c.webhooks)
	return c
}

// JobStarted implements [Metrics].
func (c *Counting) JobStarted(kind string, late time.Duration) {
	c.late.WithLabelValues(kind).Observe(late.Seconds())
}

// JobEnded implements [Metrics].
func (c *Counting) JobEnded(kind string, outcome Outcome, took time.Duration) {
	c.took.WithLabelValues(kind, string(outcome)).Observe(took.Seconds())
}

// WebhookEnded implements [Metrics].
func (c *Counting) WebhookEnded(outcome Outcome, took time.Duration) {
	c.webhooks.WithLabelValues(string(outcome)).Observe(took.Seconds())
}

// Queue implements [Metrics].
func (c *Counting) Queue(counts store.JobCounts) {
	for state, n := range map[store.JobState]int64{
		store.JobScheduled: counts.Scheduled, store.JobReady: counts.Ready, store.JobRunning: counts.Running, store.JobDead: counts.Dead,
	} {
		c.jobs.WithLabelValues(string(state)).Set(float64(n))
	}
	for what, n := range map[string]int64{
		"taken_back": counts.TakenBack, "stale": counts.Stale, "orphans": counts.Orphans, "trimmed": counts.Trimmed,
	} {
		c.ever.WithLabelValues(what).Set(float64(n))
	}
	c.overdue.Set(counts.Overdue().Seconds())
	c.running.Set(counts.RunningFor.Seconds())
	c.paused.Set(0)
	if counts.Paused {
		c.paused.Set(1)
	}
}

// Counts is where the state of the queue is read.
type Counts interface {
	JobCounts(ctx context.Context) (store.JobCounts, error)
}

// Count tells metrics how the queue is, until the context ends: for a process that has no [Pool], which does so itself.
func Count(ctx context.Context, queue Counts, metrics Metrics) {
	for ctx.Err() == nil {
		asking, cancel := context.WithTimeout(ctx, callWait)
		counts, err := queue.JobCounts(asking)
		cancel()
		if err == nil {
			metrics.Queue(counts)
		}
		rest(ctx, countEvery)
	}
}

package worker

import (
	"time"

	"leaderboard/store"
)

// Outcome says how a delivery or a parcel ended.
type Outcome string

// The outcomes.
const (
	Done    Outcome = "done"
	Failed  Outcome = "failed"  // to be tried again
	Dead    Outcome = "dead"    // given up
	Delayed Outcome = "later"   // neither failed nor done
	Lost    Outcome = "lost"    // no longer this worker's, when it ended
	Dropped Outcome = "dropped" // nobody wants it any more
)

// Metrics hears how the work goes. Its methods are called from many goroutines and must not block. Kind is one that has
// a handler, or unknown.
type Metrics interface {
	JobStarted(kind string, late time.Duration)
	JobEnded(kind string, outcome Outcome, took time.Duration)
	Queue(counts store.JobCounts)
	WebhookEnded(outcome Outcome, took time.Duration)
}

// NoMetrics hears nothing.
type NoMetrics struct{}

// JobStarted implements [Metrics].
func (NoMetrics) JobStarted(string, time.Duration) {}

// JobEnded implements [Metrics].
func (NoMetrics) JobEnded(string, Outcome, time.Duration) {}

// Queue implements [Metrics].
func (NoMetrics) Queue(store.JobCounts) {}

// WebhookEnded implements [Metrics].
func (NoMetrics) WebhookEnded(Outcome, time.Duration) {}

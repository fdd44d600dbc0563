package worker

import (
	"context"
	"time"

	"leaderboard/store"
)

const (
	look       = time.Second        // between looks at what runs
	beat       = store.JobLease / 3 // between extensions: two may be lost
	countEvery = 5 * time.Second    // between looks at the queue as a whole
)

// keep extends the leases of what runs, takes jobs from handlers that hang, and tells how the queue is.
func (p *Pool) keep(ctx context.Context) {
	ticks := time.NewTicker(look)
	defer ticks.Stop()
	var beaten, counted time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		if now := time.Now(); now.Sub(beaten) >= beat {
			beaten = now
			p.extend(ctx)
		}
		p.cut()
		if now := time.Now(); now.Sub(counted) >= countEvery {
			counted = now
			p.count(ctx)
		}
	}
}

// extend renews the leases. A job that is no longer ours is taken from its handler, and so is one of which we cannot
// know: its lease has ended while the store was away.
func (p *Pool) extend(ctx context.Context) {
	now := time.Now()
	held := p.held()
	receipts := make([]store.Receipt, len(held))
	for i, r := range held {
		receipts[i] = r.delivery.Receipt()
	}
	ctx, cancel := context.WithTimeout(ctx, callWait)
	defer cancel()
	lost, err := p.o.Queue.ExtendJobs(ctx, store.JobLease, receipts...)
	if err != nil {
		p.o.Logger.Warn("leases cannot be extended", "jobs", len(held), "error", err)
	}
	gone := make(map[store.Receipt]bool, len(lost))
	for _, receipt := range lost {
		gone[receipt] = true
	}
	for _, r := range held {
		switch {
		case gone[r.delivery.Receipt()], err != nil && time.Since(r.leased) > store.JobLease:
			if r.settle() {
				r.end(errLost)
			}
		case err == nil:
			r.leased = now
		}
	}
}

// cut takes jobs from handlers that do not obey their context. Their workers stay theirs until they return.
func (p *Pool) cut() {
	for _, r := range p.held() {
		if time.Since(r.began) < store.JobTime+look/2 || !r.settle() {
			continue
		}
		p.o.Logger.Error("a handler hangs", "job", r.delivery.ID, "kind", r.delivery.Kind)
		p.tell(r, errTooLong)
	}
}

// held returns the runs of which the queue has not been told.
func (p *Pool) held() []*run {
	p.mu.Lock()
	defer p.mu.Unlock()
	held := make([]*run, 0, len(p.runs))
	for r := range p.runs {
		if !r.settled.Load() {
			held = append(held, r)
		}
	}
	return held
}

func (p *Pool) count(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, callWait)
	defer cancel()
	if counts, err := p.o.Queue.JobCounts(ctx); err == nil {
		p.o.Metrics.Queue(counts)
	}
}

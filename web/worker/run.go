package worker

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"leaderboard/store"
)

// run is one delivery in the hands of a handler.
type run struct {
	delivery store.Delivery
	kind     string // for metrics: one that is known, or unknown
	ctx      context.Context
	end      context.CancelCauseFunc
	began    time.Time
	leased   time.Time   // when the lease was last known to be ours
	settled  atomic.Bool // the queue has been told what became of it, or is about to be
}

// settle reports whether the caller is the one who tells the queue.
func (r *run) settle() bool { return r.settled.CompareAndSwap(false, true) }

// start gives a delivery to a handler.
func (p *Pool) start(delivery store.Delivery) {
	kind := delivery.Kind
	if p.o.Handlers[kind] == nil {
		kind = "unknown"
	}
	ctx, stop := context.WithTimeoutCause(p.base, store.JobTime, errTooLong)
	ctx, end := context.WithCancelCause(ctx)
	now := time.Now()
	r := &run{delivery: delivery, kind: kind, ctx: ctx, end: end, began: now, leased: now}
	p.mu.Lock()
	p.runs[r] = struct{}{}
	p.mu.Unlock()
	p.o.Metrics.JobStarted(kind, delivery.Late())
	p.work.Go(func() {
		defer stop()
		p.handle(r)
	})
}

// handle runs the handler and tells the queue how it went, whatever the handler does.
func (p *Pool) handle(r *run) {
	err := errors.New("the handler ended its goroutine")
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
			p.o.Logger.Error("a handler panicked", "job", r.delivery.ID, "kind", r.delivery.Kind, "panic", v,
				"stack", string(debug.Stack()))
		}
		p.conclude(r, err)
	}()
	handler := p.o.Handlers[r.delivery.Kind]
	if handler == nil {
		err = Final(fmt.Errorf("there is no handler of the kind %q", r.delivery.Kind))
		return
	}
	err = handler(r.ctx, r.delivery)
}

// conclude tells the queue what became of a delivery and frees its worker.
func (p *Pool) conclude(r *run, err error) {
	r.end(nil)
	outcome := Lost
	if r.settle() {
		outcome = p.tell(r, err)
	} else {
		p.o.Logger.Warn("a handler returned after its job was taken from it", "job", r.delivery.ID,
			"took", time.Since(r.began), "why", context.Cause(r.ctx), "error", err)
	}
	p.o.Metrics.JobEnded(r.kind, outcome, time.Since(r.began))
	p.mu.Lock()
	delete(p.runs, r)
	if outcome == Done {
		p.finished = append(p.finished, r.delivery.Receipt())
	}
	p.mu.Unlock()
	signal(p.some)
}

// tell tells the queue of a delivery that is not done. What is done goes with the next claim. The caller has settled
// the run.
func (p *Pool) tell(r *run, err error) Outcome {
	if err == nil {
		return Done
	}
	ctx, cancel := context.WithTimeout(p.base, callWait)
	defer cancel()
	if later, ok := errors.AsType[*laterError](err); ok {
		_, err := p.o.Queue.ReleaseJobs(ctx, max(later.wait, time.Millisecond), r.delivery.Receipt())
		if err != nil {
			p.untold(r, err)
		}
		return Delayed
	}
	failure := store.Failure{Receipt: r.delivery.Receipt(), Reason: err.Error()}
	if errors.Is(context.Cause(r.ctx), errTooLong) && !errors.Is(err, errTooLong) {
		failure.Reason = fmt.Sprintf("%v: %v", errTooLong, err)
	}
	if wait, ok := errors.AsType[*waitError](err); ok {
		failure.Wait = wait.wait
	}
	_, failure.Final = errors.AsType[*finalError](err)
	due, errFail := p.o.Queue.FailJob(ctx, failure)
	log := p.o.Logger.With("job", r.delivery.ID, "kind", r.delivery.Kind, "delivery", r.delivery.Number, "error", err)
	switch {
	case errors.Is(errFail, store.ErrJobLost):
		return Lost
	case errFail != nil:
		p.untold(r, errFail)
		return Failed
	case due.IsZero():
		log.Error("a job is dead")
		return Dead
	}
	log.Warn("a job failed", "due", due)
	return Failed
}

// untold notes that the queue could not be told: it takes the job back when the lease ends.
func (p *Pool) untold(r *run, err error) {
	p.o.Logger.Warn("the queue cannot be told of a job", "job", r.delivery.ID, "error", err)
}

package worker

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"leaderboard/store"
)

// Queue is what a [Pool] needs of the job queue.
type Queue interface {
	ClaimJobs(ctx context.Context, claim store.Claim) (store.Claimed, error)
	ExtendJobs(ctx context.Context, lease time.Duration, receipts ...store.Receipt) (lost []store.Receipt, err error)
	ReleaseJobs(ctx context.Context, wait time.Duration, receipts ...store.Receipt) (lost []store.Receipt, err error)
	FailJob(ctx context.Context, failure store.Failure) (due time.Time, err error)
	JobCounts(ctx context.Context) (store.JobCounts, error)
	ListenForJobs(ctx context.Context, wake func())
}

// Handler does a job. It ends soon after its context does. Its error means another try, unless it is one of [Final],
// [After] and [Later].
type Handler func(ctx context.Context, job store.Delivery) error

// PoolOptions say what a [Pool] works on. Queue and Handlers are needed.
type PoolOptions struct {
	Queue    Queue
	Handlers map[string]Handler // by kind; a job of another kind is dead at once
	Workers  int                // how many handlers run at once; 0: 64
	Grace    time.Duration      // how long handlers may go on when the pool stops; 0: five seconds
	Metrics  Metrics            // nil: none
	Logger   *slog.Logger
}

const (
	backstop   = 250 * time.Millisecond // the longest sleep: messages that wake may be lost
	callWait   = 5 * time.Second        // for the store to answer
	worstPause = time.Second            // between tries while the store is away
	lastWait   = time.Second            // for a word to the store, and for handlers to return, when time is up
)

// Pool works off the job queue. One goroutine claims, as many jobs as there are free workers; what they have finished
// goes with the next claim, in one call.
type Pool struct {
	o    PoolOptions
	wake chan struct{} // has a token when something may have come to be done
	some chan struct{} // has a token when a worker has ended
	base context.Context
	work sync.WaitGroup

	mu       sync.Mutex
	runs     map[*run]struct{}
	finished []store.Receipt
}

// NewPool returns a pool that [Pool.Run] starts.
func NewPool(options PoolOptions) *Pool {
	if options.Workers == 0 {
		options.Workers = 64
	}
	if options.Grace == 0 {
		options.Grace = 5 * time.Second
	}
	if options.Metrics == nil {
		options.Metrics = NoMetrics{}
	}
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	return &Pool{
		o: options, wake: make(chan struct{}, 1), some: make(chan struct{}, 1), runs: map[*run]struct{}{},
	}
}

// Run works until the context ends. Then it takes nothing more, lets handlers finish within the grace, and hands back
// what they do not finish. It returns an error when a handler has not returned even then.
func (p *Pool) Run(ctx context.Context) error {
	p.base = context.WithoutCancel(ctx) // handlers end by their own time, not by ours
	helping, stop := context.WithCancel(p.base)
	var helpers sync.WaitGroup
	helpers.Go(func() { p.o.Queue.ListenForJobs(helping, func() { signal(p.wake) }) })
	helpers.Go(func() { p.keep(helping) })
	p.dispatch(ctx)
	err := p.drain()
	stop()
	helpers.Wait()
	return err
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// dispatch claims and starts jobs until the context ends.
func (p *Pool) dispatch(ctx context.Context) {
	var pause time.Duration // while the store is away
	for ctx.Err() == nil {
		free, finished := p.due()
		if free == 0 && len(finished) == 0 {
			p.sleep(ctx, backstop)
			continue
		}
		claimed, err := p.claim(p.base, free, finished)
		if err != nil {
			if pause == 0 {
				p.o.Logger.Warn("no jobs can be claimed", "error", err)
			}
			pause = min(max(2*pause, 50*time.Millisecond), worstPause)
			rest(ctx, pause/2+rand.N(pause/2))
			continue
		}
		pause = 0
		for _, delivery := range claimed.Deliveries {
			p.start(delivery)
		}
		switch {
		case claimed.Sleep < 0:
			p.sleep(ctx, backstop)
		case claimed.Sleep > 0:
			p.sleep(ctx, min(claimed.Sleep, backstop))
		}
	}
}

// due returns how many workers are free, and what there is to tell the queue.
func (p *Pool) due() (free int, finished []store.Receipt) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := min(len(p.finished), store.MaxJobBatch)
	finished = p.finished[:n:n]
	p.finished = p.finished[n:]
	return min(p.o.Workers-len(p.runs), store.MaxJobBatch), finished
}

// claim asks the queue for jobs. The call is not cut off when the pool stops: what it hands out would be lost until its
// lease ends. Finished jobs whose fate is unknown are told again with the next call.
func (p *Pool) claim(ctx context.Context, most int, finished []store.Receipt) (store.Claimed, error) {
	ctx, cancel := context.WithTimeout(ctx, callWait)
	defer cancel()
	claimed, err := p.o.Queue.ClaimJobs(ctx, store.Claim{Most: most, Lease: store.JobLease, Finished: finished})
	if err != nil {
		p.mu.Lock()
		p.finished = append(finished, p.finished...)
		p.mu.Unlock()
	}
	return claimed, err
}

// sleep returns when there may be something to do, at the latest after a time.
func (p *Pool) sleep(ctx context.Context, longest time.Duration) {
	timer := time.NewTimer(longest)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-p.wake:
	case <-p.some:
	case <-timer.C:
	}
}

func rest(ctx context.Context, wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// drain ends what runs: by itself within the grace, or handed back.
func (p *Pool) drain() error {
	p.finish(p.o.Grace)
	var back []store.Receipt
	p.mu.Lock()
	for r := range p.runs {
		if r.settle() {
			back = append(back, r.delivery.Receipt())
			r.end(errStopping)
		}
	}
	p.mu.Unlock()
	ctx, cancel := context.WithTimeout(p.base, lastWait)
	defer cancel()
	if _, err := p.o.Queue.ReleaseJobs(ctx, 0, back...); err != nil {
		p.o.Logger.Warn("unfinished jobs cannot be handed back: they run again when their lease ends", "error", err)
	}
	p.finish(lastWait)
	if n := p.running(); n > 0 {
		return fmt.Errorf("worker: %d handlers have not returned", n)
	}
	p.work.Wait()
	return nil
}

// finish waits until no handler runs and the queue knows of all that are done, or for a time.
func (p *Pool) finish(longest time.Duration) {
	ctx, cancel := context.WithTimeout(p.base, longest)
	defer cancel()
	for ctx.Err() == nil {
		_, finished := p.due()
		if len(finished) > 0 {
			if _, err := p.claim(ctx, 0, finished); err != nil {
				rest(ctx, 50*time.Millisecond)
			}
			continue
		}
		if p.running() == 0 {
			return
		}
		select {
		case <-p.some:
		case <-ctx.Done():
		}
	}
}

func (p *Pool) running() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.runs)
}

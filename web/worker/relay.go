package worker

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"leaderboard/store"
)

// Ledger is what a [Relay] needs of a store.
type Ledger interface {
	Debtors(ctx context.Context, after store.BoardID, most int) (debtors []store.Debtor, next store.BoardID, err error)
	Owed(ctx context.Context, debtor store.Debtor) ([]store.Owed, error)
	AddJobs(ctx context.Context, jobs ...store.Job) (store.Added, error)
	SettleOwed(ctx context.Context, debtor store.Debtor, owed []store.Owed) error
	ListenForOwed(ctx context.Context, wake func(store.Debtor), gap func())
}

const (
	sweepEvery  = time.Second // at what was missed
	sweepBoards = 5_000       // at once; more take turns
	mostWoken   = 1_000       // boards that wait to be looked at; a sweep finds the others
)

// Relay brings what boards owe to the job queue. It takes nothing out of a board before the queue has it, and the queue
// takes nothing twice: so any number of relays may work at once, and die.
type Relay struct {
	ledger Ledger
	log    *slog.Logger
	wake   chan struct{}

	mu    sync.Mutex
	woken map[store.Debtor]bool
	sweep bool // something may have been missed
	next  store.BoardID
}

// NewRelay returns a relay that [Relay.Run] starts.
func NewRelay(ledger Ledger, log *slog.Logger) *Relay {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Relay{ledger: ledger, log: log, wake: make(chan struct{}, 1), woken: map[store.Debtor]bool{}}
}

// Run works until the context ends.
func (r *Relay) Run(ctx context.Context) {
	var listening sync.WaitGroup
	listening.Go(func() { r.ledger.ListenForOwed(ctx, r.rouse, r.missed) })
	defer listening.Wait()
	ticks := time.NewTicker(sweepEvery)
	defer ticks.Stop()
	for failed := false; ctx.Err() == nil; {
		err := r.work(ctx)
		if err != nil && !failed && ctx.Err() == nil {
			r.log.Warn("what boards owe waits", "error", err)
		}
		if failed = err != nil; failed {
			rest(ctx, worstPause/4+rand.N(worstPause/4))
		}
		select {
		case <-ctx.Done():
		case <-r.wake:
		case <-ticks.C:
			r.missed()
		}
	}
}

func (r *Relay) rouse(debtor store.Debtor) {
	r.mu.Lock()
	if len(r.woken) < mostWoken {
		r.woken[debtor] = true
	}
	r.mu.Unlock()
	signal(r.wake)
}

func (r *Relay) missed() {
	r.mu.Lock()
	r.sweep = true
	r.mu.Unlock()
	signal(r.wake)
}

// work relays what boards owe that are known to, and looks for others if some may have been missed.
func (r *Relay) work(ctx context.Context) error {
	r.mu.Lock()
	woken, sweep := r.woken, r.sweep
	r.woken, r.sweep = map[store.Debtor]bool{}, false
	r.mu.Unlock()
	for debtor := range woken {
		if err := r.relay(ctx, debtor); err != nil {
			return err
		}
	}
	if !sweep {
		return nil
	}
	asking, cancel := context.WithTimeout(ctx, callWait)
	defer cancel()
	debtors, next, err := r.ledger.Debtors(asking, r.next, sweepBoards)
	if err != nil {
		return err
	}
	r.next = next
	for _, debtor := range debtors {
		if err := r.relay(ctx, debtor); err != nil {
			return err
		}
	}
	return nil
}

// relay brings all that a board owes to the queue.
func (r *Relay) relay(ctx context.Context, debtor store.Debtor) error {
	for ctx.Err() == nil {
		more, err := r.some(ctx, debtor)
		if err != nil || !more {
			return err
		}
	}
	return ctx.Err()
}

// some brings some of it. The order of its steps is the promise: added first, taken out after.
func (r *Relay) some(ctx context.Context, debtor store.Debtor) (more bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, callWait)
	defer cancel()
	owed, err := r.ledger.Owed(ctx, debtor)
	if err != nil || len(owed) == 0 {
		return false, err
	}
	jobs := make([]store.Job, 0, len(owed))
	for i := range owed {
		job := owed[i].Job
		if err := job.Validate(); err != nil {
			// Nothing of ours. As a dead job an admin sees it, and it holds up nobody.
			r.log.Error("a board owes what cannot be a job", "board", debtor.Board, "error", err)
			name := sha256.Sum256([]byte(job.ID))
			job = store.Job{ID: fmt.Sprintf("unreadable %s %x", debtor.Board, name[:8]), Kind: "unreadable"}
		}
		jobs = append(jobs, job)
	}
	if _, err := r.ledger.AddJobs(ctx, jobs...); err != nil {
		return false, err
	}
	return true, r.ledger.SettleOwed(ctx, debtor, owed)
}

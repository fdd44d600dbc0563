package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"leaderboard/store"
)

// Treasury is what a payout needs of a store.
type Treasury interface {
	BeginPayout(ctx context.Context, payout store.Payout) (begun bool, err error)
	PayoutPage(ctx context.Context, payout store.Payout) (store.PayoutStep, error)
	WaitingJobs(ctx context.Context, priority int) (int64, error)
	AddJobs(ctx context.Context, jobs ...store.Job) (store.Added, error)
	KeepPayout(ctx context.Context, payout store.Payout, step store.PayoutStep) error
	EndPayout(ctx context.Context, payout store.Payout) error
}

const (
	payoutTurn  = store.JobTime / 3      // after which a payout makes room for others
	payoutPause = 250 * time.Millisecond // while enough of its rewards wait
)

// PayOut returns the handler of [store.PayoutJob]. Every step of it may be done again: what it has done so far stands in
// the store.
func PayOut(treasury Treasury) Handler {
	return func(ctx context.Context, job store.Delivery) error {
		var payout store.Payout
		if err := json.Unmarshal(job.Payload, &payout); err != nil {
			return Final(fmt.Errorf("worker: a payout: %w", err))
		}
		begun, err := treasury.BeginPayout(ctx, payout)
		if err != nil || !begun {
			return err
		}
		for began := time.Now(); time.Since(began) < payoutTurn; {
			ended, err := payPage(ctx, treasury, payout, job.Priority)
			if ended || err != nil {
				return err
			}
		}
		return Later(time.Millisecond)
	}
}

// payPage adds the next rewards of a payout to the queue, and only then keeps how far it came. It reports the end.
func payPage(ctx context.Context, treasury Treasury, payout store.Payout, priority int) (ended bool, err error) {
	waiting, err := treasury.WaitingJobs(ctx, priority)
	if err != nil {
		return false, err
	}
	if waiting >= store.MaxPayoutWait {
		return false, Later(payoutPause)
	}
	step, err := treasury.PayoutPage(ctx, payout)
	if err != nil {
		return false, err
	}
	if step.Ended {
		return true, treasury.EndPayout(ctx, payout)
	}
	jobs := make([]store.Job, len(step.Payments))
	for i := range step.Payments {
		var due time.Time
		if step.Due != nil {
			due = step.Due[i]
		}
		if jobs[i], err = rewardJob(&step.Payments[i], due); err != nil {
			return false, err
		}
	}
	if _, err := treasury.AddJobs(ctx, jobs...); err != nil {
		return false, err
	}
	err = treasury.KeepPayout(ctx, payout, step)
	if errors.Is(err, store.ErrPayoutMoved) {
		return false, nil // our lease had ended: who has the job now came further, and the next page shows it
	}
	return false, err
}

func rewardJob(p *store.Payment, due time.Time) (store.Job, error) {
	payload, err := json.Marshal(p)
	return store.Job{ID: p.JobID(), Kind: store.RewardJob, Priority: p.Priority, Due: due, Payload: payload}, err
}

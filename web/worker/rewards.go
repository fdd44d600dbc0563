package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"leaderboard/store"
)

// Rewards is what the delivery of rewards needs of a store.
type Rewards interface {
	NotePayment(ctx context.Context, payment store.Payment) (board store.Board, deserved bool, err error)
	Deliver(ctx context.Context, delivered store.Delivered) (fresh bool, err error)
	CheckHold(ctx context.Context, payment store.Payment) (settled bool, err error)
}

// holdPause is how long a hold of a closed season waits for the payout to begin, or for the season to be reopened.
const holdPause = 5 * time.Second

// BringReward returns the handler of [store.RewardJob]. It tells the player's activity, puts the reward into the inbox
// and tells the webhook. Each of the three happens once, or is told under the same id: however often the handler runs.
func BringReward(rewards Rewards, outbox Outbox) Handler {
	return func(ctx context.Context, job store.Delivery) error {
		var payment store.Payment
		if err := json.Unmarshal(job.Payload, &payment); err != nil {
			return Final(fmt.Errorf("worker: a reward: %w", err))
		}
		board, deserved, err := rewards.NotePayment(ctx, payment)
		if err != nil || !deserved {
			return err
		}
		if _, err := rewards.Deliver(ctx, payment.Delivered(board.MarkKept())); err != nil {
			return err
		}
		if board.Settings.Webhook == nil {
			return nil
		}
		event, err := payment.Event(job.Started)
		if err != nil {
			return Final(fmt.Errorf("worker: a reward's event: %w", err))
		}
		return sendEvent(ctx, outbox, event)
	}
}

// CheckHold returns the handler of [store.HoldJob].
func CheckHold(rewards Rewards) Handler {
	return func(ctx context.Context, job store.Delivery) error {
		var payment store.Payment
		if err := json.Unmarshal(job.Payload, &payment); err != nil {
			return Final(fmt.Errorf("worker: a hold: %w", err))
		}
		settled, err := rewards.CheckHold(ctx, payment)
		if err == nil && !settled {
			return Later(holdPause)
		}
		return err
	}
}

// TellOfClose returns the handler of [store.ClosedJob].
func TellOfClose(outbox Outbox) Handler {
	return func(ctx context.Context, job store.Delivery) error {
		var closed store.Closed
		if err := json.Unmarshal(job.Payload, &closed); err != nil {
			return Final(fmt.Errorf("worker: a close: %w", err))
		}
		event, err := closed.Event()
		if err != nil {
			return Final(fmt.Errorf("worker: the event of a close: %w", err))
		}
		return sendEvent(ctx, outbox, event)
	}
}

// sendEvent puts an event into the outbox.
func sendEvent(ctx context.Context, outbox Outbox, event store.Event) error {
	err := outbox.Send(ctx, store.Parcel{Event: event})
	if _, invalid := errors.AsType[*store.InvalidError](err); invalid {
		return Final(err)
	}
	return err
}

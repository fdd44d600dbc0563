package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"time"

	"leaderboard/store"
)

// WebhookJob is the kind of the jobs that bring parcels back which were put off.
const WebhookJob = "webhook"

const (
	webhookPriority = 5  // in the middle: neither before rewards that matter, nor starved by those that do not
	maxPut          = 10 // times that a parcel is put off before that counts as a try
)

// try sends a parcel and takes it off our list, whatever came of it: what failed is a job before that.
func (s *Sender) try(parcel store.Parcel) (Outcome, error) {
	webhook, err := s.webhook(&parcel.Event)
	board := parcel.Event.Board
	resting := s.rest.of(board)
	switch {
	case err != nil:
	case webhook == nil:
		return Dropped, s.done(parcel)
	case resting > 0 && parcel.PutOff < maxPut:
		return Delayed, s.putOff(parcel, resting, nil)
	case resting > 0:
		err = errors.New("the receiver does not answer, or asked to be left alone")
	default:
		began := time.Now()
		err = s.o.Webhooks.Send(s.base, *webhook, parcel.Event)
		if s.base.Err() == nil {
			s.rest.note(board, time.Since(began), err)
		}
	}
	_, final := errors.AsType[*finalError](err)
	switch {
	case err == nil:
		return Done, s.done(parcel)
	case s.base.Err() != nil:
		return Failed, err // our time is over
	case parcel.Attempts+1 >= store.MaxAttempts || final:
		return Dead, s.bury(parcel, err)
	}
	return Failed, s.putOff(parcel, 0, err)
}

func (s *Sender) done(parcel store.Parcel) error {
	return s.insist(func(ctx context.Context) error { return s.o.Outbox.Done(ctx, s.id, parcel) })
}

func (s *Sender) bury(parcel store.Parcel, cause error) error {
	return errors.Join(cause, s.insist(func(ctx context.Context) error {
		return s.o.Outbox.Bury(ctx, s.id, parcel, cause.Error())
	}))
}

// webhook returns where an event goes, or nil when nobody wants it any more.
func (s *Sender) webhook(event *store.Event) (*store.Webhook, error) {
	var webhook *store.Webhook
	return webhook, s.insist(func(ctx context.Context) error {
		state, err := s.o.Boards.BoardState(ctx, event.Board)
		if errors.Is(err, store.ErrBoardNotFound) {
			return nil
		}
		if err == nil && state.Incarnation == event.Incarnation {
			webhook = state.Settings.Webhook
		}
		return err
	})
}

// putOff makes a parcel a job, and only then takes it off our list. A parcel that failed waits twice as long each time.
func (s *Sender) putOff(parcel store.Parcel, wait time.Duration, cause error) error {
	again := parcel
	if cause == nil {
		again.PutOff++
	} else {
		again.Attempts, again.PutOff = parcel.Attempts+1, 0
		wait = min(store.JobFirstWait<<parcel.Attempts, store.JobLongestWait)
		if asked, ok := errors.AsType[*waitError](cause); ok {
			wait = max(wait, asked.wait)
		}
	}
	job, err := jobOf(again, wait+mathrand.N(wait/4+1))
	if err == nil {
		err = s.insist(func(ctx context.Context) error {
			_, err := s.o.Jobs.AddJobs(ctx, job)
			return err
		})
	}
	if err != nil && !errors.Is(err, store.ErrUnavailable) {
		return s.bury(parcel, err) // the queue does not take it: nobody would bring it back
	}
	if err == nil {
		err = s.done(parcel)
	}
	return errors.Join(cause, err)
}

// jobOf returns the job that brings a parcel back. Its id says which try it is for: the job of the try before may still
// be running.
func jobOf(parcel store.Parcel, wait time.Duration) (store.Job, error) {
	payload, err := json.Marshal(postponed{parcel.Event, parcel.Attempts, parcel.PutOff})
	return store.Job{
		ID:       fmt.Sprintf("%s %d.%d %s", WebhookJob, parcel.Attempts, parcel.PutOff, parcel.Event.ID),
		Kind:     WebhookJob,
		Priority: webhookPriority,
		Wait:     wait,
		Payload:  payload,
	}, err
}

// postponed is the payload of a [WebhookJob].
type postponed struct {
	Event    store.Event `json:"event"`
	Attempts int         `json:"attempts"`
	PutOff   int         `json:"put_off"`
}

// SendAgain returns the handler of [WebhookJob].
func SendAgain(outbox Outbox) Handler {
	return func(ctx context.Context, job store.Delivery) error {
		var p postponed
		if err := json.Unmarshal(job.Payload, &p); err != nil {
			return Final(fmt.Errorf("worker: a parcel that was put off: %w", err))
		}
		err := outbox.Send(ctx, store.Parcel{Event: p.Event, Attempts: p.Attempts, PutOff: p.PutOff})
		if _, invalid := errors.AsType[*store.InvalidError](err); invalid {
			return Final(err)
		}
		return err
	}
}

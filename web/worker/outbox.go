package worker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	mathrand "math/rand/v2"
	"sync"
	"time"

	"leaderboard/store"
)

// Outbox is what a [Sender] needs of the list of events on their way.
type Outbox interface {
	Beat(ctx context.Context, sender string) error
	Take(ctx context.Context, sender string, wait time.Duration) (parcel store.Parcel, ok bool, err error)
	Held(ctx context.Context, sender string) ([]store.Parcel, error)
	Done(ctx context.Context, sender string, parcel store.Parcel) error
	Bury(ctx context.Context, sender string, parcel store.Parcel, reason string) error
	Leave(ctx context.Context, sender string) error
	Reap(ctx context.Context) (parcels int, err error)
	Send(ctx context.Context, parcels ...store.Parcel) error
}

// Boards says where the events of a board go.
type Boards interface {
	BoardState(ctx context.Context, id store.BoardID) (store.BoardState, error)
}

// Jobs takes parcels that are put off.
type Jobs interface {
	AddJobs(ctx context.Context, jobs ...store.Job) (store.Added, error)
}

// SenderOptions say what a [Sender] works on. Outbox, Boards, Jobs and Webhooks are needed.
type SenderOptions struct {
	Outbox   Outbox
	Boards   Boards
	Jobs     Jobs
	Webhooks *Webhooks
	Tries    int           // how many webhooks are on their way at once; 0: 16
	Grace    time.Duration // how long they may go on when the sender stops; 0: five seconds
	Metrics  Metrics       // nil: none
	Logger   *slog.Logger
}

const (
	takeWait   = time.Second     // in Redis: a call that waits there cannot be called off
	senderBeat = 3 * time.Second // well within [store.BeatTime]
)

// Sender sends the events in the outbox. What it has taken stands in a list of its own until it has arrived.
type Sender struct {
	o    SenderOptions
	id   string
	base context.Context // of tries and of words to the store
	rest rests
	free chan struct{} // has a token for each try that may begin
	work sync.WaitGroup
}

// NewSender returns a sender that [Sender.Run] starts.
func NewSender(options SenderOptions) *Sender {
	if options.Tries == 0 {
		options.Tries = 16
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
	s := &Sender{o: options, id: rand.Text(), free: make(chan struct{}, options.Tries)}
	for range options.Tries {
		s.free <- struct{}{}
	}
	return s
}

// Run sends until the context ends. Then it takes nothing more, lets what is on its way arrive within the grace, and
// puts the rest back.
func (s *Sender) Run(ctx context.Context) error {
	base, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	s.base = base
	helping, stop := context.WithCancel(base)
	defer stop()
	var helpers sync.WaitGroup
	helpers.Go(func() { s.keep(helping) })

	s.take(ctx)
	grace := time.AfterFunc(s.o.Grace, end)
	s.work.Wait()
	grace.Stop()
	stop()
	helpers.Wait()

	leaving, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWait)
	defer cancel()
	if err := s.o.Outbox.Leave(leaving, s.id); err != nil {
		return fmt.Errorf("worker: unsent events are put back by another sender: %w", err)
	}
	return nil
}

// keep shows that this sender lives, and puts back what others held that do not.
func (s *Sender) keep(ctx context.Context) {
	ticks := time.NewTicker(senderBeat)
	defer ticks.Stop()
	for {
		if err := s.o.Outbox.Beat(ctx, s.id); err != nil && ctx.Err() == nil {
			s.o.Logger.Warn("a sender cannot show that it lives", "error", err)
		}
		parcels, err := s.o.Outbox.Reap(ctx)
		if parcels > 0 {
			s.o.Logger.Warn("events of a sender that died are sent again", "events", parcels)
		}
		if err != nil && ctx.Err() == nil {
			s.o.Logger.Warn("no look at other senders", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
	}
}

// take takes parcels and starts a try for each, until the context ends.
func (s *Sender) take(ctx context.Context) {
	unsure := false // about what stands in our list
	for ctx.Err() == nil {
		err := s.next(ctx, unsure)
		unsure = err != nil
		if err != nil {
			s.o.Logger.Warn("no events can be taken", "error", err)
			rest(ctx, worstPause/2+mathrand.N(worstPause/2))
		}
	}
}

// next starts a try of the next parcel. After a call whose reply was lost a parcel may stand in our list that nobody
// sends: then all that is on its way is waited for, and what is still in the list is sent.
func (s *Sender) next(ctx context.Context, unsure bool) error {
	if unsure {
		s.work.Wait()
		held, err := s.o.Outbox.Held(s.base, s.id)
		if err != nil {
			return err
		}
		for _, parcel := range held {
			if !s.acquire(ctx) {
				return nil
			}
			s.begin(parcel)
		}
	}
	if !s.acquire(ctx) {
		return nil
	}
	// Registered before anything is taken: nobody looks for the list of a sender that is not known.
	if err := s.o.Outbox.Beat(s.base, s.id); err != nil {
		s.release()
		return err
	}
	parcel, ok, err := s.o.Outbox.Take(s.base, s.id, takeWait)
	if !ok || err != nil {
		s.release()
		return err
	}
	s.begin(parcel)
	return nil
}

func (s *Sender) acquire(ctx context.Context) bool {
	select {
	case <-s.free:
		return true
	case <-ctx.Done():
		return false
	}
}

func (s *Sender) release() { s.free <- struct{}{} }

func (s *Sender) begin(parcel store.Parcel) {
	s.work.Go(func() {
		defer s.release()
		began := time.Now()
		outcome, err := s.try(parcel)
		switch {
		case s.base.Err() != nil: // put back by Leave
		case outcome == Dead:
			s.o.Logger.Error("an event is given up", "event", parcel.Event.ID, "board", parcel.Event.Board, "error", err)
		case err != nil:
			s.o.Logger.Warn("an event was not sent", "event", parcel.Event.ID, "board", parcel.Event.Board,
				"attempt", parcel.Attempts+1, "error", err)
		}
		s.o.Metrics.WebhookEnded(outcome, time.Since(began))
	})
}

// insist says something to the store until it is heard or our time is over.
func (s *Sender) insist(say func(ctx context.Context) error) error {
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, worstPause) {
		ctx, cancel := context.WithTimeout(s.base, callWait)
		err := say(ctx)
		cancel()
		if err == nil || !errors.Is(err, store.ErrUnavailable) {
			return err
		}
		rest(s.base, pause)
		if s.base.Err() != nil {
			return err
		}
	}
}

package worker_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/store"
	"leaderboard/store/redisstore"
	"leaderboard/web/worker"
)

// mortal is all that a worker knows of the store. At one of its calls the worker dies: before the call, or when the call
// is done and before it hears so. From then on nothing it says is heard.
type mortal struct {
	*redisstore.Store
	outbox *redisstore.Outbox
	dies   int64 // at which call
	after  bool
	calls  atomic.Int64
}

var errDied = fmt.Errorf("the worker died: %w", store.ErrUnavailable)

func (m *mortal) call(do func() error) error {
	n := m.calls.Add(1)
	if n < m.dies {
		return do()
	}
	if n == m.dies && m.after {
		_ = do()
	}
	return errDied
}

func called[T any](m *mortal, do func() (T, error)) (got T, err error) {
	err = m.call(func() (err error) {
		got, err = do()
		return err
	})
	return got, err
}

func (m *mortal) ClaimJobs(ctx context.Context, claim store.Claim) (store.Claimed, error) {
	// Claims that find nothing are no step.
	if m.calls.Load() >= m.dies {
		return store.Claimed{}, errDied
	}
	got, err := m.Store.ClaimJobs(ctx, claim)
	if err != nil || len(got.Deliveries)+len(claim.Finished) == 0 {
		return got, err
	}
	if err := m.call(func() error { return nil }); err != nil {
		return store.Claimed{}, err
	}
	return got, nil
}

func (m *mortal) ExtendJobs(ctx context.Context, lease time.Duration, receipts ...store.Receipt) ([]store.Receipt, error) {
	if m.calls.Load() >= m.dies {
		return nil, errDied
	}
	return m.Store.ExtendJobs(ctx, lease, receipts...)
}

func (m *mortal) ReleaseJobs(ctx context.Context, wait time.Duration, receipts ...store.Receipt) ([]store.Receipt, error) {
	return called(m, func() ([]store.Receipt, error) { return m.Store.ReleaseJobs(ctx, wait, receipts...) })
}

func (m *mortal) FailJob(ctx context.Context, failure store.Failure) (time.Time, error) {
	return called(m, func() (time.Time, error) { return m.Store.FailJob(ctx, failure) })
}

func (m *mortal) Owed(ctx context.Context, d store.Debtor) ([]store.Owed, error) {
	return called(m, func() ([]store.Owed, error) { return m.Store.Owed(ctx, d) })
}

func (m *mortal) AddJobs(ctx context.Context, jobs ...store.Job) (store.Added, error) {
	return called(m, func() (store.Added, error) { return m.Store.AddJobs(ctx, jobs...) })
}

func (m *mortal) SettleOwed(ctx context.Context, d store.Debtor, owed []store.Owed) error {
	return m.call(func() error { return m.Store.SettleOwed(ctx, d, owed) })
}

func (m *mortal) BeginPayout(ctx context.Context, p store.Payout) (bool, error) {
	return called(m, func() (bool, error) { return m.Store.BeginPayout(ctx, p) })
}

func (m *mortal) PayoutPage(ctx context.Context, p store.Payout) (store.PayoutStep, error) {
	return called(m, func() (store.PayoutStep, error) { return m.Store.PayoutPage(ctx, p) })
}

func (m *mortal) KeepPayout(ctx context.Context, p store.Payout, step store.PayoutStep) error {
	return m.call(func() error { return m.Store.KeepPayout(ctx, p, step) })
}

func (m *mortal) EndPayout(ctx context.Context, p store.Payout) error {
	return m.call(func() error { return m.Store.EndPayout(ctx, p) })
}

func (m *mortal) NotePayment(ctx context.Context, p store.Payment) (store.Board, bool, error) {
	var deserved bool
	board, err := called(m, func() (board store.Board, err error) {
		board, deserved, err = m.Store.NotePayment(ctx, p)
		return board, err
	})
	return board, deserved, err
}

func (m *mortal) Deliver(ctx context.Context, d store.Delivered) (bool, error) {
	return called(m, func() (bool, error) { return m.Store.Deliver(ctx, d) })
}

func (m *mortal) CheckHold(ctx context.Context, p store.Payment) (bool, error) {
	return called(m, func() (bool, error) { return m.Store.CheckHold(ctx, p) })
}

// mortalOutbox is where the events of a mortal worker go.
type mortalOutbox struct {
	worker.Outbox
	m *mortal
}

func (o mortalOutbox) Send(ctx context.Context, parcels ...store.Parcel) error {
	return o.m.call(func() error { return o.m.outbox.Send(ctx, parcels...) })
}

// work runs one worker until the context ends.
func (m *mortal) work(ctx context.Context) (wait func()) {
	outbox := mortalOutbox{m.outbox, m}
	var running sync.WaitGroup
	running.Go(func() { worker.NewRelay(m, nil).Run(ctx) })
	running.Go(func() {
		_ = worker.NewPool(worker.PoolOptions{Queue: m, Handlers: payHandlers(m, m, outbox), Workers: 8}).Run(ctx)
	})
	return running.Wait
}

const immortal = int64(1) << 60

// aCrash closes a season and pays it with a worker that dies at one of its calls; another takes over. It returns how many
// calls a worker makes that lives.
func aCrash(t *testing.T, p paymaster, dies int64, after bool) (calls int64) {
	const players = 150
	p.putWith(func(s *store.Settings) {
		s.Webhook = &store.Webhook{URL: "http://192.0.2.1/", Secret: secret}
		s.Rewards = []store.Reward{
			{ID: "gold", Ranks: []int64{1, 1}},
			{ID: "many", Percent: 90},
			{ID: "hundred", Points: "100"},
			{ID: "held", Points: "140", Hold: 3 * time.Minute},
			{ID: "minute", Points: "145", Hold: time.Minute},
		}
	})
	p.fill(players)
	ctx, cancel := context.WithCancel(t.Context())
	first := &mortal{Store: p.Store, outbox: p.outbox, dies: dies, after: after}
	ended := first.work(ctx)
	time.Sleep(70 * time.Second) // the minute is over
	p.closeSeason(1)
	time.Sleep(5 * time.Second)
	cancel()
	ended()
	calls = first.calls.Load()

	stop := p.start()
	deadline := time.Now().Add(5 * time.Minute)
	for !p.quiet() && time.Now().Before(deadline) {
		time.Sleep(time.Second)
	}
	stop()
	if !p.quiet() || !p.season(1).Paid || p.counts().Dead > 0 {
		t.Errorf("died at call %d (after: %v): left are %+v, paid %v", dies, after, p.counts(), p.season(1).Paid)
	}
	told := p.told()
	for i := 1; i <= players; i++ {
		points, want := players+1-i, []string{}
		for _, w := range []struct {
			reward string
			wins   bool
		}{{"gold", i == 1}, {"held", points >= 140}, {"hundred", points >= 100}, {"many", i <= 135}, {"minute", points >= 145}} {
			if w.wins {
				want = append(want, w.reward)
				closes := 0
				if w.reward == "gold" || w.reward == "many" {
					closes = 1
				}
				if id := fmt.Sprintf("reward demo.1.1.%d %s %s", closes, w.reward, numbered(i)); !told[id] {
					t.Errorf("died at call %d (after: %v): the webhook was not told %q", dies, after, id)
				}
			}
		}
		p.wantWon(map[store.PlayerID][]string{numbered(i): want})
	}
	if !told["season_closed demo.1.1.1"] {
		t.Errorf("died at call %d (after: %v): the webhook was not told of the close", dies, after)
	}
	return calls
}

// told returns the ids of the events in the outbox.
func (p paymaster) told() map[string]bool {
	p.t.Helper()
	list, err := p.client.LRange(p.t.Context(), p.prefix+":{outbox}:queue", 0, -1).Result()
	p.ok(err)
	ids := map[string]bool{}
	for _, kept := range list {
		var event store.Event
		if err := json.Unmarshal([]byte(kept[4:]), &event); err != nil {
			p.t.Errorf("%q: %v", kept, err)
		}
		ids[event.ID] = true
	}
	return ids
}

func TestAWorkerThatDiesAtAnyStepOfAPayoutCostsAndDoublesNothing(t *testing.T) {
	t.Parallel()
	rounds := 12
	if os.Getenv("LEADERBOARD_TEST_LONG") != "" {
		rounds = 200
	}
	var calls int64
	t.Run("none dies", func(t *testing.T) {
		inPayBubbleNow(t, func(t *testing.T, p paymaster) { calls = aCrash(t, p, immortal, false) })
	})
	if calls < 50 {
		t.Fatalf("a payout takes %d calls", calls)
	}
	for round := range rounds {
		// Each part of the way has its turn, at a random place of the part; the first steps are each tried.
		dies := int64(round/2) + 1
		if round >= rounds/2 {
			part := calls / int64(rounds-rounds/2)
			dies = int64(round-rounds/2)*part + 1 + rand.Int64N(part)
		}
		t.Run(fmt.Sprintf("at call %d of %d, after it %v", dies, calls, round%2 == 1), func(t *testing.T) {
			inPayBubbleNow(t, func(t *testing.T, p paymaster) { aCrash(t, p, dies, round%2 == 1) })
		})
	}
}

func TestReopeningAgainstAPayoutOneOfThemWins(t *testing.T) {
	t.Parallel()
	p := onRedis(t)
	p.put(gold)
	p.submit("a", "5")
	reopened, paid := 0, 0
	for season, rounds := int64(1), 0; rounds < 40; rounds++ {
		p.closeSeason(season)
		closed := p.season(season)
		payload, err := json.Marshal(store.Payout{Board: "demo", Incarnation: 1, Season: season, Close: closed.Closes, Reward: "gold"})
		p.ok(err)
		var both sync.WaitGroup
		var failed error
		both.Go(func() {
			if rounds%2 == 0 {
				time.Sleep(rand.N(time.Millisecond)) // either may be ahead
			}
			_, failed = p.ReopenSeason(t.Context(), "demo", season)
		})
		both.Go(func() {
			time.Sleep(rand.N(time.Millisecond))
			delivery := store.Delivery{Job: store.Job{Kind: store.PayoutJob, Payload: payload}}
			if err := worker.PayOut(p.Store)(t.Context(), delivery); err != nil {
				t.Errorf("payout: %v", err)
			}
		})
		both.Wait()
		id := fmt.Sprintf("reward demo.1.%d.%d gold a", season, closed.Closes)
		_, err = p.Job(t.Context(), id)
		switch {
		case failed == nil && errors.Is(err, store.ErrJobNotFound):
			reopened++ // nothing was paid, and the season runs
		case errors.Is(failed, store.ErrNotReopenable) && err == nil:
			paid++
			if !p.season(season).Paid {
				t.Errorf("season %d is not paid", season)
			}
			season++
			p.submit("a", "5")
		default:
			t.Fatalf("reopening: %v; the reward's job: %v", failed, err)
		}
	}
	t.Logf("reopened %d times, paid %d times", reopened, paid)
}

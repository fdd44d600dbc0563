package worker_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"leaderboard/store"
	"leaderboard/store/redisstore"
	"leaderboard/store/storetest"
	"leaderboard/web/worker"
)

const secret = "0123456789abcdef"

// receiver is a webhook's other side.
type receiver struct {
	*httptest.Server
	answer func(w http.ResponseWriter, r *http.Request, nth int) // nth time that this id came, from 1

	mu   sync.Mutex
	came map[string]int
	all  []string // bodies
}

func newReceiver(t *testing.T, answer func(w http.ResponseWriter, r *http.Request, nth int)) *receiver {
	t.Helper()
	rec := &receiver{answer: answer, came: map[string]int{}}
	rec.Server = httptest.NewServer(rec)
	t.Cleanup(rec.Close)
	return rec
}

func (rec *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var message struct{ ID string }
	_ = json.Unmarshal(body, &message)
	rec.mu.Lock()
	rec.came[message.ID]++
	nth := rec.came[message.ID]
	rec.all = append(rec.all, string(body))
	rec.mu.Unlock()
	if rec.answer != nil {
		rec.answer(w, r, nth)
	}
}

func (rec *receiver) times(id string) int {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	return rec.came[id]
}

// boards is where the events go, by board.
type boards map[store.BoardID]string

func (b boards) BoardState(_ context.Context, id store.BoardID) (store.BoardState, error) {
	url, ok := b[id]
	if !ok {
		return store.BoardState{}, fmt.Errorf("test: %w", store.ErrBoardNotFound)
	}
	state := store.BoardState{Board: store.Board{ID: id, Incarnation: 1}}
	if url != "" {
		state.Settings.Webhook = &store.Webhook{URL: url, Secret: secret}
	}
	return state, nil
}

// office is an outbox with a sender, and a pool that brings back what is put off.
type office struct {
	*redisstore.Store
	t      *testing.T
	outbox *redisstore.Outbox
}

func newOffice(t *testing.T) office {
	t.Helper()
	s := redisstore.New(storetest.Redis(t), redisstore.Options{Prefix: storetest.Prefix(t)})
	return office{s, t, s.Outbox(storetest.Redis(t))}
}

func loopback() []netip.Prefix {
	return []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
}

// run starts a sender and a pool, and returns what stops them; the test's end does so too.
func (o office) run(options worker.SenderOptions) (stop func()) {
	if options.Outbox == nil {
		options.Outbox = o.outbox
	}
	options.Jobs = o.Store
	if options.Webhooks == nil {
		options.Webhooks = worker.NewWebhooks(loopback())
	}
	ctx, cancel := context.WithCancel(context.Background())
	pool := worker.NewPool(worker.PoolOptions{
		Queue: o.Store, Handlers: map[string]worker.Handler{worker.WebhookJob: worker.SendAgain(o.outbox)},
	})
	var running sync.WaitGroup
	running.Go(func() {
		if err := pool.Run(ctx); err != nil {
			o.t.Error(err)
		}
	})
	running.Go(func() {
		if err := worker.NewSender(options).Run(ctx); err != nil {
			o.t.Error(err)
		}
	})
	stop = sync.OnceFunc(func() {
		cancel()
		running.Wait()
	})
	o.t.Cleanup(stop)
	return stop
}

func eventOf(id string) store.Parcel {
	return store.Parcel{Event: store.Event{
		ID: id, Kind: store.EventReward, Board: "demo", Incarnation: 1, Season: 3,
		At: time.Date(2026, 3, 2, 12, 0, 0, 5e6, time.UTC), Data: json.RawMessage(`{"player":"<zoe>"}`),
	}}
}

func (o office) send(parcels ...store.Parcel) {
	o.t.Helper()
	if err := o.outbox.Send(o.t.Context(), parcels...); err != nil {
		o.t.Fatal(err)
	}
}

// eventually waits for something to become true.
func eventually(t *testing.T, within time.Duration, what string, is func() bool) {
	t.Helper()
	deadline := time.Now().Add(within)
	for !is() {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", within, what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (o office) empty() bool {
	o.t.Helper()
	outbox, err := o.outbox.Counts(o.t.Context())
	jobs, errJobs := o.JobCounts(o.t.Context())
	if err := errors.Join(err, errJobs); err != nil {
		o.t.Fatal(err)
	}
	return outbox.Queued+outbox.Sending == 0 && jobs.Scheduled+jobs.Ready+jobs.Running == 0
}

func TestAWebhookIsSignedAndSaysWhatHappened(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	type request struct {
		header http.Header
		body   string
	}
	got := make(chan request, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- request{r.Header, string(body)}
		w.WriteHeader(http.StatusAccepted)
	}))
	t.Cleanup(server.Close)
	o.run(worker.SenderOptions{Boards: boards{"demo": server.URL + "/hook?x=1"}})
	o.send(eventOf("e1"))
	r := <-got
	want := `{"id":"e1","event":"reward","board":"demo","season":3,"at":"2026-03-02T12:00:00.005Z","data":{"player":"<zoe>"}}`
	if r.body != want {
		t.Errorf("body %s\nwant %s", r.body, want)
	}
	timestamp := r.header.Get("Leaderboard-Timestamp")
	mac := hmac.New(sha256.New, []byte(secret)) // as the README tells a receiver to do it
	mac.Write([]byte(timestamp + "." + r.body))
	if sign := "v1=" + hex.EncodeToString(mac.Sum(nil)); r.header.Get("Leaderboard-Signature") != sign {
		t.Errorf("signature %q, want %q", r.header.Get("Leaderboard-Signature"), sign)
	}
	var seconds int64
	if _, err := fmt.Sscan(timestamp, &seconds); err != nil || time.Since(time.Unix(seconds, 0)).Abs() > time.Minute {
		t.Errorf("timestamp %q", timestamp)
	}
	if r.header.Get("Content-Type") != "application/json" {
		t.Errorf("content type %q", r.header.Get("Content-Type"))
	}
	eventually(t, 5*time.Second, "nothing is left", o.empty)
}

func TestWhatFailsComesAgainUntilItArrives(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	rec := newReceiver(t, func(w http.ResponseWriter, r *http.Request, nth int) {
		if nth == 1 {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	o.run(worker.SenderOptions{Boards: boards{"demo": rec.URL}})
	const many = 50
	for i := range many {
		o.send(eventOf(fmt.Sprint(i)))
	}
	eventually(t, 20*time.Second, "each came twice", func() bool {
		for i := range many {
			if rec.times(fmt.Sprint(i)) < 2 {
				return false
			}
		}
		return true
	})
	eventually(t, 5*time.Second, "nothing is left", o.empty)
	for i := range many {
		if n := rec.times(fmt.Sprint(i)); n != 2 {
			t.Errorf("%d came %d times, want 2", i, n)
		}
	}
}

func TestAnEventThatNeverArrivesIsDeadWithItsReason(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	rec := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(http.StatusGone) })
	o.run(worker.SenderOptions{Boards: boards{"demo": rec.URL}})
	last := eventOf("e")
	last.Attempts = store.MaxAttempts - 1
	o.send(last)
	var dead []store.DeadEvent
	eventually(t, 5*time.Second, "the event is dead", func() bool {
		var err error
		if dead, err = o.outbox.Dead(t.Context(), 0, 10); err != nil {
			t.Fatal(err)
		}
		return len(dead) == 1
	})
	if !strings.Contains(dead[0].Reason, "answered 410") || dead[0].Event.ID != "e" {
		t.Errorf("got %+v", dead[0])
	}
	if err := o.outbox.Replay(t.Context(), "e"); err != nil {
		t.Error(err)
	}
	eventually(t, 5*time.Second, "it was sent again", func() bool { return rec.times("e") == 2 })
}

func TestWhatDoesNotArriveHasAReason(t *testing.T) {
	t.Parallel()
	elsewhere := newReceiver(t, nil)
	redirect := newReceiver(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
	})
	refusing := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(http.StatusGone) })
	gone := httptest.NewServer(nil)
	gone.Close()
	cut := newReceiver(t, func(w http.ResponseWriter, r *http.Request, _ int) { panic(http.ErrAbortHandler) })
	tests := map[string]struct {
		allowed []netip.Prefix
		url     string
		want    string
	}{
		"a redirect":                 {loopback(), redirect.URL, "answered 307"},
		"a refusal":                  {loopback(), refusing.URL, "answered 410"},
		"a closed port":              {loopback(), gone.URL, "connection refused"},
		"a connection cut off":       {loopback(), cut.URL, "EOF"},
		"an address of our own":      {nil, elsewhere.URL, "127.0.0.1 is not a public address"},
		"a name of our own":          {nil, strings.Replace(elsewhere.URL, "127.0.0.1", "localhost", 1), "is not a public address"},
		"an address spelled oddly":   {nil, strings.Replace(elsewhere.URL, "127.0.0.1", "[::ffff:127.0.0.1]", 1), "is not a public address"},
		"the metadata of a cloud":    {nil, "http://169.254.169.254/latest/meta-data", "is not a public address"},
		"a private network":          {loopback(), "http://10.0.0.1/", "is not a public address"},
		"an address that is nothing": {nil, "http://0.0.0.0:1/", "is not a public address"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to := store.Webhook{URL: test.url, Secret: secret}
			err := worker.NewWebhooks(test.allowed).Send(t.Context(), to, eventOf("e").Event)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
	t.Cleanup(func() {
		if n := elsewhere.times("e"); n != 0 {
			t.Errorf("%d requests arrived where none may", n)
		}
	})
}

func TestAReceiverThatAsksToWaitIsLeftAlone(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	rec := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	other := newReceiver(t, nil)
	o.run(worker.SenderOptions{Boards: boards{"demo": rec.URL, "other": other.URL}, Tries: 1})
	o.send(eventOf("first"))
	eventually(t, 5*time.Second, "it was asked", func() bool { return rec.times("first") == 1 })
	o.send(eventOf("second"))
	fine := eventOf("fine")
	fine.Event.Board = "other"
	o.send(fine)
	eventually(t, 5*time.Second, "another board's event arrived", func() bool { return other.times("fine") == 1 })
	jobs, err := o.Jobs(t.Context(), store.JobScheduled, 0, 10)
	if err != nil || len(jobs) != 2 || rec.times("second") != 0 {
		t.Fatalf("%+v (%v), %d requests for the second: want both put off, the second without a try", jobs, err, rec.times("second"))
	}
	for _, job := range jobs {
		if wait := time.Until(job.Due); wait < 59*time.Minute || wait > 76*time.Minute {
			t.Errorf("%s is due in %v, want an hour or a little more", job.ID, wait)
		}
	}
}

func TestAnEventThatNobodyWantsIsDropped(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	rec := newReceiver(t, nil)
	o.run(worker.SenderOptions{Boards: boards{"demo": rec.URL, "silent": ""}})
	for id, spoil := range map[string]func(e *store.Event){
		"of a board without a webhook":  func(e *store.Event) { e.Board = "silent" },
		"of a board that is gone":       func(e *store.Event) { e.Board = "gone" },
		"of a board made anew meantime": func(e *store.Event) { e.Incarnation = 7 },
	} {
		p := eventOf(id)
		spoil(&p.Event)
		o.send(p)
	}
	o.send(eventOf("wanted"))
	eventually(t, 5*time.Second, "the wanted one arrived", func() bool { return rec.times("wanted") == 1 })
	eventually(t, 5*time.Second, "nothing is left", o.empty)
	if len(rec.all) != 1 {
		t.Errorf("arrived %q", rec.all)
	}
}

func TestAReplyWithoutAnEndDoesNotHoldTheSenderUp(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	rec := newReceiver(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 4096)); err != nil {
				return
			}
		}
	})
	o.run(worker.SenderOptions{Boards: boards{"demo": rec.URL}, Tries: 1})
	o.send(eventOf("a"), eventOf("b"))
	eventually(t, 5*time.Second, "both arrived", func() bool { return rec.times("a") == 1 && rec.times("b") == 1 })
	eventually(t, 5*time.Second, "nothing is left", o.empty)
}

func TestASenderThatStopsPutsBackWhatHasNotArrived(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	hold := make(chan struct{})
	rec := newReceiver(t, func(w http.ResponseWriter, r *http.Request, nth int) {
		if nth == 1 {
			select {
			case <-hold:
			case <-r.Context().Done():
			}
		}
	})
	defer close(hold)
	stop := o.run(worker.SenderOptions{Boards: boards{"demo": rec.URL}, Grace: 100 * time.Millisecond})
	o.send(eventOf("a"), eventOf("b"))
	eventually(t, 5*time.Second, "both are on their way", func() bool { return rec.times("a")+rec.times("b") == 2 })
	began := time.Now()
	stop()
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("stopping took %v", took)
	}
	counts, err := o.outbox.Counts(t.Context())
	if want := (store.OutboxCounts{Queued: 2}); err != nil || counts != want {
		t.Errorf("got %+v (%v), want %+v", counts, err, want)
	}
	o.run(worker.SenderOptions{Boards: boards{"demo": rec.URL}})
	eventually(t, 5*time.Second, "both arrived", func() bool { return rec.times("a") == 2 && rec.times("b") == 2 })
	eventually(t, 5*time.Second, "nothing is left", o.empty)
}

// forgetful is an outbox whose replies get lost now and then.
type forgetful struct {
	*redisstore.Outbox
	mu    sync.Mutex
	calls int
}

func (f *forgetful) lost() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	return f.calls%4 == 0
}

func (f *forgetful) Take(ctx context.Context, sender string, wait time.Duration) (store.Parcel, bool, error) {
	p, ok, err := f.Outbox.Take(ctx, sender, wait)
	if ok && f.lost() {
		return store.Parcel{}, false, store.ErrUnavailable
	}
	return p, ok, err
}

func (f *forgetful) Done(ctx context.Context, sender string, p store.Parcel) error {
	if err := f.Outbox.Done(ctx, sender, p); err != nil || !f.lost() {
		return err
	}
	return store.ErrUnavailable
}

func TestAParcelWhoseReplyGotLostArrives(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	rec := newReceiver(t, nil)
	o.run(worker.SenderOptions{Boards: boards{"demo": rec.URL}, Outbox: &forgetful{Outbox: o.outbox}, Tries: 4})
	const many = 12
	for i := range many {
		o.send(eventOf(fmt.Sprint(i)))
	}
	eventually(t, 30*time.Second, "all arrived", func() bool {
		for i := range many {
			if rec.times(fmt.Sprint(i)) == 0 {
				return false
			}
		}
		return true
	})
	eventually(t, 10*time.Second, "nothing is left", o.empty)
}

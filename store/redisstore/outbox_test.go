package redisstore_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"leaderboard/store"
	"leaderboard/store/redisstore"
	"leaderboard/store/storetest"
)

var outboxRules = map[string]func(o outboxOn){
	"parcels leave in the order in which they came":             parcelsLeaveInOrder,
	"what a dead sender held is sent again, in its old place":   whatADeadSenderHeldIsSentAgain,
	"a sender that lives or leaves loses nothing":               aSenderThatLeavesLosesNothing,
	"a sender that slept and woke loses nothing":                aSenderThatSleptLosesNothing,
	"a parcel that kills its senders ends among the dead":       aParcelThatKillsItsSenders,
	"dead parcels are replayed or dropped":                      deadParcelsAreReplayedOrDropped,
	"dead parcels are bounded by number and age":                deadParcelsAreBounded,
	"what was pushed into the queue by hand stops nobody":       parcelsPushedByHand,
	"what a lost reply moved is found in the sender's own list": whatALostReplyMoved,
	"an event that is none is not taken":                        anEventThatIsNone,
}

// outboxOn is an outbox of its own on some Redis.
type outboxOn struct {
	queueOn
	*redisstore.Outbox
}

func checkOutbox(t *testing.T, connect func(t *testing.T) redis.UniversalClient) {
	t.Helper()
	for name, rule := range outboxRules {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := newQueue(t, connect(t))
			rule(outboxOn{q, q.Store.Outbox(q.client)})
		})
	}
}

func TestTheOutboxOnRedis(t *testing.T) {
	t.Parallel()
	checkOutbox(t, func(t *testing.T) redis.UniversalClient { return storetest.Redis(t) })
}

func TestTheOutboxOnTheEmbeddedRedis(t *testing.T) {
	t.Parallel()
	checkOutbox(t, func(t *testing.T) redis.UniversalClient { return storetest.Embedded(t) })
}

func TestTheOutboxOnACluster(t *testing.T) {
	t.Parallel()
	server := storetest.Cluster(t)
	checkOutbox(t, func(t *testing.T) redis.UniversalClient { return server.Client(t) })
}

func parcelOf(id string) store.Parcel {
	return store.Parcel{Event: store.Event{
		ID: id, Kind: store.EventReward, Board: "demo", Incarnation: 1, Season: 3,
		At: time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC), Data: json.RawMessage(`{"player":"zoe"}`),
	}}
}

func (o outboxOn) send(parcels ...store.Parcel) {
	o.t.Helper()
	o.ok(o.Send(o.t.Context(), parcels...))
}

// take takes a parcel as a sender does that lives.
func (o outboxOn) take(sender string) store.Parcel {
	o.t.Helper()
	o.ok(o.Beat(o.t.Context(), sender))
	p, ok, err := o.Take(o.t.Context(), sender, time.Second)
	if err != nil || !ok {
		o.t.Fatalf("took nothing: %v", err)
	}
	return p
}

// dies makes a sender show no more signs of life.
func (o outboxOn) dies(sender string) {
	o.t.Helper()
	o.mustDo("DEL", o.prefix+":{outbox}:beat:"+sender)
}

func (o outboxOn) reap(want int) {
	o.t.Helper()
	if n, err := o.Reap(o.t.Context()); err != nil || n != want {
		o.t.Errorf("put back %d (%v), want %d", n, err, want)
	}
}

func (o outboxOn) counts(want store.OutboxCounts) {
	o.t.Helper()
	got, err := o.Counts(o.t.Context())
	if diff := gocmp.Diff(want, got); err != nil || diff != "" {
		o.t.Errorf("%v; counts: want −, got +\n%s", err, diff)
	}
}

func parcelsLeaveInOrder(o outboxOn) {
	for i := range 300 {
		o.send(parcelOf(fmt.Sprint(i)))
	}
	for i := range 300 {
		p := o.take("s")
		want := parcelOf(fmt.Sprint(i))
		want.Kept = p.Kept
		if diff := gocmp.Diff(want, p); diff != "" {
			o.t.Fatalf("parcel %d: want −, got +\n%s", i, diff)
		}
		o.ok(o.Done(o.t.Context(), "s", p))
	}
	if _, ok, err := o.Take(o.t.Context(), "s", time.Second); ok || err != nil {
		o.t.Errorf("took one more (%v)", err)
	}
	o.counts(store.OutboxCounts{Senders: 1})
}

func whatADeadSenderHeldIsSentAgain(o outboxOn) {
	for _, id := range []string{"a", "b", "c", "d"} {
		o.send(parcelOf(id))
	}
	o.take("dead")
	o.take("dead")
	o.reap(0)
	o.dies("dead")
	o.reap(2)
	for i, want := range []string{"a", "b", "c", "d"} {
		p := o.take("other")
		if p.Event.ID != want || i < 2 && p.Attempts != 1 || i >= 2 && p.Attempts != 0 {
			o.t.Errorf("got %s with %d attempts, want %s, and a try counted for the first two", p.Event.ID, p.Attempts, want)
		}
	}
}

func aSenderThatLeavesLosesNothing(o outboxOn) {
	o.send(parcelOf("a"), parcelOf("b"))
	o.take("s")
	o.reap(0)
	o.ok(o.Leave(o.t.Context(), "s"))
	o.counts(store.OutboxCounts{Queued: 2})
	if p := o.take("t"); p.Event.ID != "a" || p.Attempts != 0 {
		o.t.Errorf("got %+v, want the first again, with nothing counted", p)
	}
	keys, err := o.client.Keys(o.t.Context(), o.prefix+":*").Result()
	if err != nil || len(keys) != 4 { // queue, workers, and list and beat of t
		o.t.Errorf("left behind %q (%v)", keys, err)
	}
}

// A sender that was stopped may take a parcel right after it was found dead, and before its next sign of life.
func aSenderThatSleptLosesNothing(o outboxOn) {
	o.ok(o.Beat(o.t.Context(), "s"))
	o.dies("s")
	o.reap(0)
	o.send(parcelOf("a"))
	o.ok(errOf2(o.Take(o.t.Context(), "s", time.Second)))
	o.clock.Step(time.Minute)
	o.reap(1)
	o.clock.Step(2 * time.Hour)
	o.reap(0)
	o.counts(store.OutboxCounts{Queued: 1})
	if n, err := o.client.Exists(o.t.Context(), o.prefix+":{outbox}:workers").Result(); err != nil || n != 0 {
		o.t.Errorf("a sender is remembered for ever (%v)", err)
	}
}

func errOf2[A, B any](_ A, _ B, err error) error { return err }

func aParcelThatKillsItsSenders(o outboxOn) {
	o.send(parcelOf("poison"))
	for i := range store.MaxAttempts {
		if p := o.take("s"); p.Attempts != i {
			o.t.Fatalf("%d attempts, want %d", p.Attempts, i)
		}
		o.dies("s")
		o.reap(1)
	}
	o.counts(store.OutboxCounts{Dead: 1})
	dead, err := o.Dead(o.t.Context(), 0, 10)
	if err != nil || len(dead) != 1 || dead[0].Event.ID != "poison" || dead[0].Reason == "" || !dead[0].Died.Equal(o.clock.Now()) {
		o.t.Errorf("got %+v (%v)", dead, err)
	}
}

func deadParcelsAreReplayedOrDropped(o outboxOn) {
	for _, id := range []string{"a", "b"} {
		o.send(parcelOf(id))
		o.ok(o.Bury(o.t.Context(), "s", o.take("s"), "the receiver\nsaid no \xff"))
	}
	dead, err := o.Dead(o.t.Context(), 0, 10)
	if err != nil || len(dead) != 2 || dead[0].Event.ID != "b" || dead[1].Reason != "the receiver said no \uFFFD" {
		o.t.Fatalf("got %+v (%v), want b and a", dead, err)
	}
	o.ok(o.Replay(o.t.Context(), "a"))
	o.ok(o.Drop(o.t.Context(), "b"))
	for name, err := range map[string]error{
		"replay": o.Replay(o.t.Context(), "a"), "drop": o.Drop(o.t.Context(), "b"),
	} {
		if !errors.Is(err, store.ErrEventNotFound) {
			o.t.Errorf("%s again: %v", name, err)
		}
	}
	if p := o.take("s"); p.Event.ID != "a" || p.Attempts != 0 {
		o.t.Errorf("got %+v, want a with nothing counted", p)
	}
	o.counts(store.OutboxCounts{Sending: 1, Senders: 1})
}

func deadParcelsAreBounded(o outboxOn) {
	for i := range store.MaxDeadEvents + 20 {
		o.send(parcelOf(fmt.Sprint(i)))
		o.ok(o.Bury(o.t.Context(), "s", o.take("s"), "x"))
	}
	o.counts(store.OutboxCounts{Dead: store.MaxDeadEvents, Senders: 1})
	o.clock.Step(store.DeadJobsKept + time.Second)
	for range 10 {
		o.send(parcelOf("late"))
		o.ok(o.Bury(o.t.Context(), "s", o.take("s"), "x"))
	}
	o.counts(store.OutboxCounts{Dead: 10, Senders: 1})
}

func parcelsPushedByHand(o outboxOn) {
	poison := []string{
		"", "{", "null", "x 1 {}", "1 x {}", "1 1", "1 1 {}", `1 1 {"id":5}`, "1 1 null", "\x00\xff", "-1 0 []",
		`0 0 {"id":"a","event":"reward","board":"demo","data":` + strings.Repeat("[", 100), strings.Repeat("x", 10<<20),
	}
	for _, p := range poison {
		o.mustDo("LPUSH", o.prefix+":{outbox}:queue", p)
	}
	o.send(parcelOf("good"))
	o.ok(o.Beat(o.t.Context(), "s"))
	for range poison {
		if p, ok, err := o.Take(o.t.Context(), "s", time.Second); ok || err != nil {
			o.t.Errorf("took %+v (%v)", p, err)
		}
	}
	if p := o.take("s"); p.Event.ID != "good" {
		o.t.Errorf("got %+v", p)
	}
	dead, err := o.Dead(o.t.Context(), 0, 100)
	if err != nil || len(dead) != len(poison) {
		o.t.Fatalf("%d dead (%v), want %d", len(dead), err, len(poison))
	}
	for _, d := range dead {
		if d.Reason == "" || len(d.Kept) > 3*store.MaxJobPayload {
			o.t.Errorf("a dead parcel of %d bytes with the reason %q", len(d.Kept), d.Reason)
		}
	}
	o.counts(store.OutboxCounts{Sending: 1, Dead: int64(len(poison)), Senders: 1})
}

func whatALostReplyMoved(o outboxOn) {
	o.send(parcelOf("a"), parcelOf("b"))
	o.mustDo("LPUSH", o.prefix+":{outbox}:queue", "{")
	for range 3 {
		o.mustDo("LMOVE", o.prefix+":{outbox}:queue", o.prefix+":{outbox}:worker:s", "RIGHT", "LEFT")
	}
	held, err := o.Held(o.t.Context(), "s")
	if err != nil || len(held) != 2 || held[0].Event.ID != "a" || held[1].Event.ID != "b" {
		o.t.Fatalf("held are %+v (%v), want a and b", held, err)
	}
	for _, p := range held {
		o.ok(o.Done(o.t.Context(), "s", p))
	}
	o.counts(store.OutboxCounts{Dead: 1})
}

func anEventThatIsNone(o outboxOn) {
	spoil := map[string]func(e *store.Event){
		"no id":          func(e *store.Event) { e.ID = "" },
		"a long id":      func(e *store.Event) { e.ID = strings.Repeat("x", store.MaxEventID+1) },
		"no kind":        func(e *store.Event) { e.Kind = "" },
		"no board":       func(e *store.Event) { e.Board = "" },
		"data, not JSON": func(e *store.Event) { e.Data = json.RawMessage("{") },
		"much data":      func(e *store.Event) { e.Data = json.RawMessage(`"` + strings.Repeat("x", store.MaxEventData) + `"`) },
	}
	for name, spoil := range spoil {
		p := parcelOf("a")
		spoil(&p.Event)
		if _, ok := errors.AsType[*store.InvalidError](o.Send(o.t.Context(), parcelOf("good"), p)); !ok {
			o.t.Errorf("%s is taken", name)
		}
	}
	o.counts(store.OutboxCounts{})
}

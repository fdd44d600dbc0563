package redisstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"leaderboard/store"
)

type outboxScripts struct{ beat, bury, reap, replay script }

func newOutboxScripts() outboxScripts {
	prelude := source("prelude")
	beat, reap := newScript(prelude, "outbox_beat"), newScript(prelude, "outbox_reap")
	// Called all the time: a sign of life is nothing that a start from a snapshot would miss, and a look at other senders
	// seldom finds anything.
	beat.reads, reap.reads = true, true
	return outboxScripts{
		beat: beat, bury: newScript(prelude, "outbox_bury"), reap: reap, replay: newScript(prelude, "outbox_replay"),
	}
}

// Outbox is a list of events on their way to webhooks. A sender takes a parcel by moving it to a list of its own, and
// takes it off there when it has arrived: nothing is ever only in a process. What a dead sender held is put back.
type Outbox struct {
	store    *Store
	blocking redis.UniversalClient
}

// Outbox returns the outbox. Its taking calls wait inside Redis: blocking is a client of its own for them, so that they
// hold up nobody else's. It stays the caller's to close.
func (s *Store) Outbox(blocking redis.UniversalClient) *Outbox { return &Outbox{s, blocking} }

func (o *Outbox) key(name string) string { return o.store.keys.outbox(name) }

func (o *Outbox) changed() {
	if o.store.options.AfterWrite != nil {
		o.store.options.AfterWrite()
	}
}

// parcel spells a parcel as it stands in the lists: tries so far, times put off, event.
func parcel(p *store.Parcel) string {
	return strconv.Itoa(p.Attempts) + " " + strconv.Itoa(p.PutOff) + " " + encodeAsIs(p.Event)
}

func parseParcel(kept string) (store.Parcel, error) {
	p := store.Parcel{Kept: kept}
	attempts, rest, _ := strings.Cut(kept, " ")
	put, event, _ := strings.Cut(rest, " ")
	var errAttempts, errPut error
	p.Attempts, errAttempts = strconv.Atoi(attempts)
	p.PutOff, errPut = strconv.Atoi(put)
	if err := errors.Join(errAttempts, errPut, json.Unmarshal([]byte(event), &p.Event)); err != nil {
		return p, err
	}
	return p, p.Event.Validate()
}

// Send puts parcels into the queue, behind all others. Returns an [store.InvalidError] for an event that the outbox
// does not take, and then sends none.
func (o *Outbox) Send(ctx context.Context, parcels ...store.Parcel) error {
	for group := range slices.Chunk(parcels, store.MaxJobBatch) {
		kept := make([]any, len(group))
		for i := range group {
			if err := group[i].Event.Validate(); err != nil {
				return err
			}
			kept[i] = parcel(&group[i])
		}
		err := o.store.client.LPush(ctx, o.key("queue"), kept...).Err()
		o.changed()
		if err != nil {
			return fail("outbox_send", err)
		}
	}
	return nil
}

// Beat shows that senders live. They take nothing before their first sign of life, and repeat it well within
// [store.BeatTime].
func (o *Outbox) Beat(ctx context.Context, sender string) error {
	_, _, err := o.store.list(ctx, o.store.scripts.outbox.beat,
		[]string{o.key("workers"), o.store.keys.outboxBeat(sender)}, o.store.now(), sender, store.BeatTime.Milliseconds())
	return err
}

// Take moves the next parcel to the sender's list and returns it, or false when none comes within the wait, which is
// short: a call that waits in Redis cannot be called off. What cannot be read is buried on the way.
func (o *Outbox) Take(ctx context.Context, sender string, wait time.Duration) (store.Parcel, bool, error) {
	kept, err := o.blocking.BLMove(ctx, o.key("queue"), o.store.keys.outboxWorker(sender), "RIGHT", "LEFT", wait).Result()
	if errors.Is(err, redis.Nil) {
		return store.Parcel{}, false, nil
	}
	o.changed()
	if err != nil {
		return store.Parcel{}, false, fail("outbox_take", err)
	}
	p, err := parseParcel(kept)
	if err != nil {
		return store.Parcel{}, false, o.Bury(ctx, sender, p, "it cannot be read: "+err.Error())
	}
	return p, true, nil
}

// Held returns what stands in a sender's list, the oldest first: after a call that failed nobody knows what it did.
// What cannot be read is buried on the way.
func (o *Outbox) Held(ctx context.Context, sender string) ([]store.Parcel, error) {
	list, err := o.store.client.LRange(ctx, o.store.keys.outboxWorker(sender), 0, -1).Result()
	if err != nil {
		return nil, fail("outbox_held", err)
	}
	slices.Reverse(list)
	parcels := make([]store.Parcel, 0, len(list))
	for _, kept := range list {
		p, err := parseParcel(kept)
		if err == nil {
			parcels = append(parcels, p)
		} else if err := o.Bury(ctx, sender, p, "it cannot be read: "+err.Error()); err != nil {
			return nil, err
		}
	}
	return parcels, nil
}

// Done takes a parcel off its sender's list: it has arrived, or a job will bring it back.
func (o *Outbox) Done(ctx context.Context, sender string, p store.Parcel) error {
	err := o.store.client.LRem(ctx, o.store.keys.outboxWorker(sender), -1, p.Kept).Err()
	o.changed()
	if err != nil {
		return fail("outbox_done", err)
	}
	return nil
}

// Bury gives a parcel up. It stays among the dead until it is replayed, dropped or too old.
func (o *Outbox) Bury(ctx context.Context, sender string, p store.Parcel, reason string) error {
	// Dead parcels are bounded by number, so none of them may be large.
	shown := p.Kept[:min(len(p.Kept), 2*store.MaxJobPayload)]
	_, _, err := o.store.list(ctx, o.store.scripts.outbox.bury,
		[]string{o.store.keys.outboxWorker(sender), o.key("dead")}, o.store.now(), p.Kept, store.CleanReason(reason),
		store.MaxDeadEvents, store.DeadJobsKept.Milliseconds(), shown)
	return err
}

// Leave puts back what a sender still holds, and forgets the sender.
func (o *Outbox) Leave(ctx context.Context, sender string) error {
	_, err := o.putBack(ctx, sender, 1)
	return err
}

// Reap puts back what senders held that show no sign of life, and returns how many parcels that were.
func (o *Outbox) Reap(ctx context.Context) (int, error) {
	senders, err := o.store.client.ZRange(ctx, o.key("workers"), 0, -1).Result()
	if err != nil {
		return 0, fail("outbox_reap", err)
	}
	parcels := 0
	for _, sender := range senders {
		n, err := o.putBack(ctx, sender, 0)
		parcels += n
		if err != nil {
			return parcels, err
		}
	}
	return parcels, nil
}

func (o *Outbox) putBack(ctx context.Context, sender string, leaves int) (int, error) {
	k := o.store.keys
	keys := []string{
		k.outbox("queue"), k.outbox("workers"), k.outboxWorker(sender), k.outboxBeat(sender), k.outbox("dead"),
	}
	for parcels := 0; ; {
		_, reply, err := o.store.list(ctx, o.store.scripts.outbox.reap, keys, o.store.now(), sender, leaves,
			store.MaxAttempts, store.MaxDeadEvents)
		if err != nil || number(at(reply, 0)) > 0 {
			o.changed()
		}
		if err != nil {
			return parcels, err
		}
		parcels += int(number(at(reply, 0)))
		if number(at(reply, 1)) == 0 {
			return parcels, nil
		}
	}
}

// Dead returns parcels that were given up, the latest first.
func (o *Outbox) Dead(ctx context.Context, skip, limit int) ([]store.DeadEvent, error) {
	list, err := o.store.client.LRange(ctx, o.key("dead"), int64(skip), int64(skip)+int64(limit)-1).Result()
	if err != nil {
		return nil, fail("outbox_dead", err)
	}
	dead := make([]store.DeadEvent, len(list))
	for i, kept := range list {
		dead[i] = parseDead(kept)
	}
	return dead, nil
}

func parseDead(kept string) store.DeadEvent {
	head, rest, _ := strings.Cut(kept, "\x00")
	died, reason, _ := strings.Cut(head, " ")
	p, _ := parseParcel(rest) // one that cannot be read has no id, and is shown by its reason
	p.Kept = kept
	return store.DeadEvent{Parcel: p, Died: fromMillis(number(died)), Reason: reason}
}

// Replay sends a dead event again, with nothing counted against it. Returns [store.ErrEventNotFound].
func (o *Outbox) Replay(ctx context.Context, id string) error {
	return o.exhume(ctx, id, func(p *store.Parcel) string {
		return parcel(&store.Parcel{Event: p.Event})
	})
}

// Drop removes a dead event. Returns [store.ErrEventNotFound].
func (o *Outbox) Drop(ctx context.Context, id string) error {
	return o.exhume(ctx, id, func(*store.Parcel) string { return "" })
}

func (o *Outbox) exhume(ctx context.Context, id string, again func(*store.Parcel) string) error {
	dead, err := o.Dead(ctx, 0, store.MaxDeadEvents)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(dead, func(d store.DeadEvent) bool { return d.Event.ID == id })
	if i < 0 {
		return fmt.Errorf("redisstore: outbox_replay: %w", store.ErrEventNotFound)
	}
	word, _, err := o.store.list(ctx, o.store.scripts.outbox.replay, []string{o.key("dead"), o.key("queue")},
		dead[i].Kept, again(&dead[i].Parcel))
	if err == nil && word == "absent" {
		err = fmt.Errorf("redisstore: outbox_replay: %w", store.ErrEventNotFound)
	}
	return err
}

// Counts returns the state of the outbox.
func (o *Outbox) Counts(ctx context.Context) (store.OutboxCounts, error) {
	senders, err := o.store.client.ZRange(ctx, o.key("workers"), 0, -1).Result()
	if err != nil {
		return store.OutboxCounts{}, fail("outbox_counts", err)
	}
	pipe := o.store.client.Pipeline()
	queued, dead := pipe.LLen(ctx, o.key("queue")), pipe.LLen(ctx, o.key("dead"))
	held, beats := make([]*redis.IntCmd, len(senders)), make([]*redis.IntCmd, len(senders))
	for i, sender := range senders {
		held[i] = pipe.LLen(ctx, o.store.keys.outboxWorker(sender))
		beats[i] = pipe.Exists(ctx, o.store.keys.outboxBeat(sender))
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return store.OutboxCounts{}, fail("outbox_counts", err)
	}
	counts := store.OutboxCounts{Queued: queued.Val(), Dead: dead.Val()}
	for i := range senders {
		counts.Sending += held[i].Val()
		counts.Senders += beats[i].Val()
	}
	return counts, nil
}

package redisstore

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"leaderboard/store"
)

const (
	erasureLooks = 20                    // at the queues, while one call waits for them to settle
	erasurePause = 50 * time.Millisecond // between looks: what moves from one queue to another is there by then
)

// looked is what a look at a queue found.
type looked struct {
	found bool // and removed
	held  bool // somewhere where it must be waited for
}

func (l *looked) add(other looked) {
	l.found = l.found || other.found
	l.held = l.held || other.held
}

// fromQueues removes what is on its way to the person. It reports whether two looks in a row found nothing, while no job
// ran that began before the person was gone from the boards.
func (e *erasure) fromQueues(ctx context.Context) (settled bool, err error) {
	quiet := 0
	for look := range erasureLooks {
		if look > 0 {
			if err := pause(ctx, erasurePause); err != nil {
				return false, fail("erase", err)
			}
		}
		var all looked
		for _, queue := range []func(context.Context) (looked, error){e.fromOwed, e.fromJobs, e.fromOutbox} {
			found, err := queue(ctx)
			if err != nil {
				return false, err
			}
			all.add(found)
		}
		busy, err := e.oldJobsRun(ctx)
		if err != nil {
			return false, err
		}
		if all.found || all.held || busy {
			quiet = 0
			continue
		}
		if quiet++; quiet == 2 {
			marked, err := e.payoutsStandAt(ctx)
			return err == nil && !marked, err
		}
	}
	return false, nil
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// oldJobsRun reports whether a job runs that began while the person stood on a board: it may be about to add a job of
// theirs. None runs longer than [store.JobTime].
func (e *erasure) oldJobsRun(ctx context.Context) (bool, error) {
	counts, err := e.JobCounts(ctx)
	if err != nil || counts.Running == 0 {
		return false, err
	}
	return !counts.Now.Add(-counts.RunningFor).After(e.ticket.gone), nil
}

// payoutsStandAt reports whether a payout has the person as the mark of how far it came. It goes on within minutes, or an
// admin has it among the dead.
func (e *erasure) payoutsStandAt(ctx context.Context) (bool, error) {
	boards, err := e.client.HGetAll(ctx, e.keys.boards()).Result()
	if err != nil {
		return false, fail("erase", err)
	}
	for id, text := range boards {
		if number(text) <= 0 {
			continue
		}
		if err := e.step(ctx); err != nil {
			return false, err
		}
		board := store.Board{ID: store.BoardID(id), Incarnation: number(text)}
		seasons, err := e.seasonNumbers(ctx, &board)
		if err != nil {
			return false, err
		}
		marks := make([]*redis.StringSliceCmd, len(seasons))
		_, err = e.client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
			for i, n := range seasons {
				marks[i] = pipe.HVals(ctx, e.keys.of(&board).payouts(n))
			}
			return nil
		})
		if err != nil {
			return false, fail("erase", err)
		}
		for i := range marks {
			for _, mark := range marks[i].Val() {
				if mentionOf([]byte(mark), e.player) != silent {
					return true, nil
				}
			}
		}
	}
	return false, nil
}

// fromOwed removes what boards owe the person.
func (e *erasure) fromOwed(ctx context.Context) (all looked, err error) {
	boards, err := e.client.HGetAll(ctx, e.keys.boards()).Result()
	if err != nil {
		return all, fail("erase", err)
	}
	owed := make(map[string]*redis.IntCmd)
	_, err = e.client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for id, text := range boards {
			if incarnation := number(text); incarnation > 0 {
				key := e.keys.board(store.BoardID(id), incarnation).owed()
				owed[key] = pipe.HLen(ctx, key)
			}
		}
		return nil
	})
	if err != nil {
		return all, fail("erase", err)
	}
	for key, length := range owed {
		if length.Val() == 0 {
			continue
		}
		found, err := e.fromHash(ctx, key)
		if err != nil {
			return all, err
		}
		all.add(found)
	}
	return all, nil
}

// fromHash removes values that are about the person, and blots the person out of the others.
func (e *erasure) fromHash(ctx context.Context, hash string) (all looked, err error) {
	type change struct{ field, seen, instead string }
	var changes []change
	err = e.pairs(ctx, hash, payloadScan, func(field, value string) {
		switch mentionOf([]byte(value), e.player) {
		case about:
			changes = append(changes, change{field, value, ""})
		case named:
			changes = append(changes, change{field, value, withoutPerson([]byte(value), e.player)})
		}
	})
	for _, c := range changes {
		if err != nil {
			break
		}
		_, err = e.dropKept(ctx, "hash", hash, c.field, c.seen, c.instead)
	}
	return looked{found: len(changes) > 0}, err
}

// fromJobs discards the jobs about the person. Of events put off that name others too, the person is blotted out. Any
// other job that names the person has them as a mark on its way through a board, and is waited for.
func (e *erasure) fromJobs(ctx context.Context) (all looked, err error) {
	data := e.keys.jobs()[4]
	var discarded []string
	type change struct{ id, seen, instead string }
	var changes []change
	err = e.pairs(ctx, data, payloadScan, func(id, kept string) {
		job, _ := jobOf(id, kept)
		switch mentionOf(job.Payload, e.player) {
		case about:
			discarded = append(discarded, id)
		case named:
			head, isEvent := kept[:len(kept)-len(job.Payload)], holdsEvent(job.Payload)
			if isEvent {
				changes = append(changes, change{id, kept, head + withoutPerson(job.Payload, e.player)})
			}
			all.held = all.held || !isEvent
		}
	})
	if err != nil {
		return all, err
	}
	for _, id := range discarded {
		if err := e.DiscardJob(ctx, id); err != nil && !errors.Is(err, store.ErrJobNotFound) {
			return all, err
		}
	}
	for _, c := range changes {
		if _, err := e.dropKept(ctx, "hash", data, c.id, c.seen, c.instead); err != nil {
			return all, err
		}
	}
	all.found = len(discarded)+len(changes) > 0
	return all, nil
}

func holdsEvent(payload []byte) bool {
	var p struct {
		Event *json.RawMessage `json:"event"`
	}
	return json.Unmarshal(payload, &p) == nil && p.Event != nil
}

// fromOutbox removes events about the person, and blots the person out of others. What a sender holds it is sending: it
// is waited for, as it may come back as a job.
func (e *erasure) fromOutbox(ctx context.Context) (all looked, err error) {
	senders, err := e.client.ZRange(ctx, e.keys.outbox("workers"), 0, -1).Result()
	if err != nil {
		return all, fail("erase", err)
	}
	for _, name := range []string{"queue", "dead"} {
		found, err := e.fromList(ctx, e.keys.outbox(name), true)
		if err != nil {
			return all, err
		}
		all.found = all.found || found
	}
	for _, sender := range senders {
		found, err := e.fromList(ctx, e.keys.outboxWorker(sender), false)
		if err != nil {
			return all, err
		}
		all.held = all.held || found
	}
	return all, nil
}

// fromList looks for the person in a list of parcels, and removes what it finds if it may. It begins where new ones are
// put: what shifts meanwhile is seen twice and never passed over.
func (e *erasure) fromList(ctx context.Context, list string, may bool) (found bool, err error) {
	type change struct{ seen, instead string }
	var changes []change
	next := func(cursor uint64) ([]string, uint64, error) {
		from := int64(cursor)
		items, err := e.client.LRange(ctx, list, from, from+erasureScan-1).Result()
		if len(items) < erasureScan {
			return items, 0, err
		}
		return items, cursor + erasureScan, err
	}
	err = e.scan(ctx, next, func(items []string) error {
		for _, kept := range items {
			head, event := splitParcel(kept)
			switch mentionOf([]byte(event), e.player) {
			case about:
				changes = append(changes, change{kept, ""})
			case named:
				changes = append(changes, change{kept, head + withoutPerson([]byte(event), e.player)})
			}
		}
		return nil
	})
	if err != nil || !may {
		return len(changes) > 0, err
	}
	for _, c := range changes {
		if _, err := e.dropKept(ctx, "list", list, "", c.seen, c.instead); err != nil {
			return true, err
		}
	}
	return len(changes) > 0, nil
}

// splitParcel returns what stands before the event of a parcel, dead or alive, and the event.
func splitParcel(kept string) (head, event string) {
	start := strings.IndexByte(kept, '{')
	if nul := strings.IndexByte(kept, 0); nul >= 0 { // a reason stands before a dead one, and may be anything
		start = nul + 1 + max(strings.IndexByte(kept[nul+1:], '{'), 0)
	}
	return kept[:max(start, 0)], kept[max(start, 0):]
}

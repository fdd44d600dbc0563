package redisstore

import (
	"context"
	"crypto/rand"
	"strings"
	"time"

	"leaderboard/store"
)

// An erasure is a list of small steps, each of which may be done again. Who is to be erased stands in a hash before the
// first step and until the last, so that a process that dies leaves nothing half done: another begins anew.
//
// First go the places where people stand (boards, replies kept for a repeat). Then goes what is on its way to somebody
// (owed, jobs, events), which is looked at until nothing is found twice in a row, and until no job runs that began
// while the person stood somewhere: it may hold a copy. Last go the keys of the person and the words of the audit.

const (
	// erasureHandover is how long an erasure is left to the call that began it.
	erasureHandover = 10 * time.Second
	// erasureTurn is how long a process that goes on with erasures may be silent before another one does.
	erasureTurn = time.Minute
	// erasureScan is how many items one step looks at. Redis finds a thousand in less than a millisecond.
	erasureScan = 500
	// payloadScan is the same for what may be 64 KiB large.
	payloadScan = 50
)

// erasure is a person who is being erased.
type erasure struct {
	*Store
	player store.PlayerID
	ticket ticket
	step   func(ctx context.Context) error // before each step
}

// ticket is what stands in the hash for a person: since when, a word that tells one call from another, and when the
// person was seen to stand nowhere any more.
type ticket struct {
	since time.Time
	word  string
	gone  time.Time // zero: not yet
}

func (t ticket) String() string {
	return strings.TrimSpace(millis(t.since) + " " + t.word + " " + millis(t.gone))
}

func parseTicket(text string) (t ticket) {
	part := append(strings.Fields(text), "", "", "")
	t.since, t.word = fromMillis(number(part[0])), part[1]
	if part[2] != "" {
		t.gone = fromMillis(number(part[2]))
	}
	return t
}

// ErasePlayer implements [store.Erasure].
func (s *Store) ErasePlayer(ctx context.Context, player store.PlayerID) (bool, error) {
	now, err := s.storeTime(ctx)
	if err != nil {
		return false, err
	}
	known, err := s.client.HMGet(ctx, s.keys.erasures(), string(player)).Result()
	if err != nil {
		return false, fail("erase", err)
	}
	e := &erasure{
		Store: s, player: player, ticket: ticket{since: now, word: rand.Text()}, step: func(context.Context) error { return nil },
	}
	if before := text(known[0]); before != "" {
		e.ticket.since = parseTicket(before).since // so that who asks again and again holds nobody up
	}
	err = s.client.HSet(ctx, s.keys.erasures(), string(player), e.ticket.String()).Err()
	s.afterWrite()
	if err != nil {
		return false, fail("erase", err)
	}
	done, err := e.run(ctx)
	if err != nil && ctx.Err() != nil {
		return false, nil // whoever resumes erasures has the time
	}
	return done, err
}

// ResumeErasures implements [store.Erasure].
func (s *Store) ResumeErasures(ctx context.Context) (int, error) {
	waiting, err := s.client.HGetAll(ctx, s.keys.erasures()).Result()
	if err != nil {
		return 0, fail("erase", err)
	}
	if len(waiting) == 0 {
		return 0, nil
	}
	now, err := s.storeTime(ctx)
	if err != nil {
		return 0, err
	}
	turn := rand.Text()
	mine, err := s.client.SetNX(ctx, s.keys.erasureTurn(), turn, erasureTurn).Result()
	if err != nil || !mine {
		return len(waiting), failOr(err)
	}
	defer s.dropKept(context.WithoutCancel(ctx), "string", s.keys.erasureTurn(), "", turn, "")

	left := len(waiting)
	for player, kept := range waiting {
		t := parseTicket(kept)
		if now.Sub(t.since) < erasureHandover {
			continue
		}
		e := &erasure{Store: s, player: store.PlayerID(player), ticket: t, step: s.holdTurn()}
		done, err := e.run(ctx)
		if err != nil {
			return left, err
		}
		if done {
			left--
		}
	}
	return left, nil
}

// holdTurn returns a step that keeps the turn of this process.
func (s *Store) holdTurn() func(context.Context) error {
	held := time.Now()
	return func(ctx context.Context) error {
		if time.Since(held) < erasureTurn/4 {
			return nil
		}
		held = time.Now()
		return failOr(s.client.PExpire(ctx, s.keys.erasureTurn(), erasureTurn).Err())
	}
}

func failOr(err error) error {
	if err != nil {
		return fail("erase", err)
	}
	return nil
}

// storeTime returns the time by the store's clock.
func (s *Store) storeTime(ctx context.Context) (time.Time, error) {
	counts, err := s.JobCounts(ctx) // by the clock of the node that has the jobs: it says when they began
	return counts.Now, err
}

// run takes all the steps and reports whether nothing is left.
func (e *erasure) run(ctx context.Context) (bool, error) {
	if e.ticket.gone.IsZero() {
		if err := e.fromBoards(ctx); err != nil {
			return false, err
		}
		if err := e.fromReplies(ctx); err != nil {
			return false, err
		}
		now, err := e.storeTime(ctx)
		if err != nil {
			return false, err
		}
		before := e.ticket
		e.ticket.gone = now
		if ours, err := e.mark(ctx, before, e.ticket.String()); err != nil || !ours {
			return false, err
		}
	}
	settled, err := e.fromQueues(ctx)
	if err != nil {
		return false, err
	}
	if err := e.fromPlayerKeys(ctx); err != nil {
		return false, err
	}
	if err := e.fromAudit(ctx); err != nil || !settled {
		return false, err
	}
	return e.mark(ctx, e.ticket, "")
}

// mark puts another text in the ticket's place, or takes it out. It reports false when the person is being erased anew.
func (e *erasure) mark(ctx context.Context, before ticket, after string) (bool, error) {
	return e.dropKept(ctx, "hash", e.keys.erasures(), string(e.player), before.String(), after)
}

// dropKept takes something out of a key, or puts something else there, unless it changed meanwhile.
func (s *Store) dropKept(ctx context.Context, kind, key, field, seen, instead string) (bool, error) {
	reply, err := s.call(ctx, s.scripts.eraseKept, []string{key}, kind, field, seen, instead)
	return number(reply) > 0, err
}

// fromPlayerKeys removes what is the person's own, whatever the board.
func (e *erasure) fromPlayerKeys(ctx context.Context) error {
	var own []string
	for _, name := range []string{"inbox", "prizes", "claimed", "effects", "searches"} {
		own = append(own, e.keys.player(e.player, name))
	}
	err := e.client.Unlink(ctx, own...).Err()
	e.afterWrite()
	return failOr(err)
}

// scan walks through a key, or all keys, in steps. What a step does must not make others be passed over, so found items
// are to be remembered and dealt with after.
func (e *erasure) scan(
	ctx context.Context, next func(cursor uint64) (items []string, more uint64, err error), each func(items []string) error,
) error {
	for cursor := uint64(0); ; {
		if err := e.step(ctx); err != nil {
			return err
		}
		items, more, err := next(cursor)
		if err != nil {
			return fail("erase", err)
		}
		if err := each(items); err != nil {
			return err
		}
		if more == 0 {
			return nil
		}
		cursor = more
	}
}

// pairs calls each with the fields and values of a hash, some in each step.
func (e *erasure) pairs(ctx context.Context, hash string, some int64, each func(field, value string)) error {
	next := func(cursor uint64) ([]string, uint64, error) {
		return e.client.HScan(ctx, hash, cursor, "", some).Result()
	}
	return e.scan(ctx, next, func(items []string) error {
		for i := 0; i+1 < len(items); i += 2 {
			each(items[i], items[i+1])
		}
		return nil
	})
}

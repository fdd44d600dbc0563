package redisstore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"leaderboard/store"
)

// fuse is a hook that cuts a client off after some commands.
type fuse struct{ left atomic.Int64 }

func (f *fuse) blown() error {
	if f.left.Add(-1) < 0 {
		return errors.New("the process died")
	}
	return nil
}

func (f *fuse) DialHook(next redis.DialHook) redis.DialHook { return next }

func (f *fuse) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if err := f.blown(); err != nil {
			cmd.SetErr(err)
			return err
		}
		return next(ctx, cmd)
	}
}

func (f *fuse) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if err := f.blown(); err != nil {
			for _, cmd := range cmds {
				cmd.SetErr(err)
			}
			return err
		}
		return next(ctx, cmds)
	}
}

func brokenErasuresAreResumed(e erasureOn) {
	f := &fuse{}
	f.left.Store(1 << 60)
	e.client.AddHook(f)
	player := store.PlayerID("zoe.87")
	for steps := int64(4); ; steps += 5 {
		e.leaveTraces(player)
		f.left.Store(steps)
		done, err := e.ErasePlayer(e.t.Context(), player)
		f.left.Store(1 << 60)
		if err == nil {
			if !done || steps < 20 {
				e.t.Errorf("got done %v after %d steps", done, steps)
			}
			return
		}
		if !errors.Is(err, store.ErrUnavailable) {
			e.t.Errorf("after %d steps: got %v", steps, err)
		}
		e.resume(0)
		if left := e.traces(player); len(left) > 0 {
			e.t.Fatalf("broken off after %d steps it left\n%s", steps, strings.Join(left, "\n"))
		}
	}
}

func erasuresAreLeftToTheirCaller(e erasureOn) {
	e.leaveTraces("zoe")
	e.do("a caller that died", e.client.HSet(e.t.Context(), e.prefix+":{erase}:queue", "zoe",
		fmt.Sprint(e.clock.Now().UnixMilli(), " word")).Err())
	for _, want := range []int{1, 0, 0} {
		left, err := e.ResumeErasures(e.t.Context())
		if err != nil || left != want || (len(e.traces("zoe")) > 0) != (want == 1) {
			e.t.Errorf("at %v: got %d left and %v, %v", e.clock.Now(), left, e.traces("zoe"), err)
		}
		e.clock.Step(10 * time.Second)
	}
	cancelled, cancel := context.WithCancel(e.t.Context())
	e.leaveTraces("zoe")
	cancel()
	if done, err := e.ErasePlayer(cancelled, "zoe"); err == nil || done {
		e.t.Errorf("with a context that ended before: got done %v, %v", done, err)
	}
}

func runningJobsAreWaitedFor(e erasureOn) {
	e.leaveTraces("zoe")
	e.add(store.Job{ID: "page", Kind: "payout", Priority: 0, Payload: []byte(`{}`)})
	var page store.Delivery
	for _, job := range e.claim(10) {
		if job.ID == "page" {
			page = job
		}
	}
	if done, err := e.ErasePlayer(e.t.Context(), "zoe"); err != nil || done {
		e.t.Fatalf("while a job runs: got done %v, %v", done, err)
	}
	if left := e.traces("zoe"); len(left) != 1 || !strings.Contains(left[0], ":queue") {
		e.t.Errorf("got %v, want only that it goes on", left)
	}
	e.clock.Step(time.Second)
	e.add(store.Job{ID: "reward zoe", Kind: "reward", Payload: []byte(`{"player":"zoe"}`)}) // from the page that it had read
	e.deliver(deliveredTo("zoe", "reward zoe"))
	e.claim(0, page)
	e.add(store.Job{ID: "new", Kind: "payout", Payload: []byte(`{}`)})
	e.claim(1) // one that began later is not waited for
	e.resume(0)
	if left := e.traces("zoe"); len(left) > 0 {
		e.t.Errorf("got %v, want nothing", left)
	}
}

func marksAreWaitedFor(e erasureOn) {
	e.leaveTraces("zoe")
	e.add(store.Job{ID: "page", Kind: "payout", Payload: []byte(`{"after":{"packed":7,"player":"zoe"}}`)})
	if done, err := e.ErasePlayer(e.t.Context(), "zoe"); err != nil || done {
		e.t.Fatalf("while a payout stands at the person: got done %v, %v", done, err)
	}
	e.do("the payout goes on", e.DiscardJob(e.t.Context(), "page"))
	e.resume(0)
	if left := e.traces("zoe"); len(left) > 0 {
		e.t.Errorf("got %v, want nothing", left)
	}
}

func payoutsAreWaitedFor(e erasureOn) {
	key := e.prefix + ":{demo.1}:s1:payouts"
	mark := `{"at":{"packed":"7","player":"zoe"},"to":{"packed":"-inf","player":""},"count":3}`
	e.do("mark", e.client.HSet(e.t.Context(), key, "gold", mark).Err())
	if done, err := e.ErasePlayer(e.t.Context(), "zoe"); err != nil || done {
		e.t.Fatalf("while a payout stands at the person: got done %v, %v", done, err)
	}
	e.do("the payout ends", e.client.HDel(e.t.Context(), key, "gold").Err())
	e.resume(0)
}

func sendersAreWaitedFor(e erasureOn) {
	e.do("beat", e.outbox.Beat(e.t.Context(), "sender"))
	e.do("send", e.outbox.Send(e.t.Context(), store.Parcel{Event: store.Event{
		ID: "e", Kind: store.EventReward, Board: "demo", Data: []byte(`{"player":"zoe"}`),
	}}))
	parcel, _, err := e.outbox.Take(e.t.Context(), "sender", time.Second)
	e.do("take", err)
	if done, err := e.ErasePlayer(e.t.Context(), "zoe"); err != nil || done {
		e.t.Fatalf("while a sender has an event: got done %v, %v", done, err)
	}
	e.do("done", e.outbox.Done(e.t.Context(), "sender", parcel))
	e.resume(0)
}

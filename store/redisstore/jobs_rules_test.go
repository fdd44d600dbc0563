package redisstore_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"leaderboard/store"
)

func aJobThatIsDoneLeavesNothingBehind(q queueOn) {
	for i := range 300 {
		q.add(jobNumber(i))
	}
	q.add(store.Job{ID: "again", Kind: "test", Due: q.clock.Now().Add(time.Second)})
	q.clock.Step(time.Second)
	var held []store.Delivery
	for i := 0; ; i++ {
		held = q.claim(store.MaxJobBatch, held...)
		if len(held) == 0 {
			break
		}
		if i == 0 {
			q.fail(held[0], "for a reason that is kept")
			held = held[1:]
		}
	}
	q.clock.Step(time.Minute)
	q.claim(0, q.one())
	if diff := gocmp.Diff([]string{"meta"}, q.keys()); diff != "" {
		q.t.Errorf("keys: want −, got +\n%s", diff)
	}
}

func thousandsDueAtOnceComeInTheirExactOrder(q queueOn) {
	const many = 1000
	due := q.clock.Now().Add(time.Second)
	var jobs []store.Job
	for i := range many {
		job := jobNumber(i)
		job.Priority, job.Due = (i*7)%10, due.Add(-time.Duration(i%3)*time.Millisecond)
		jobs = append(jobs, job)
	}
	q.add(jobs...)
	slices.SortStableFunc(jobs, func(a, b store.Job) int {
		if a.Priority != b.Priority {
			return a.Priority - b.Priority
		}
		return a.Due.Compare(b.Due)
	})
	if early := q.claim(10); len(early) != 0 {
		q.t.Fatalf("got %v before its time", early)
	}
	q.clock.Set(due)
	for i := 0; i < many; {
		for _, d := range q.claim(100) {
			if d.ID != jobs[i].ID || d.Late() != due.Sub(jobs[i].Due) {
				q.t.Fatalf("job %d is %s, %v late, want %s", i, d.ID, d.Late(), jobs[i].ID)
			}
			i++
		}
	}
}

func whatADeadWorkerHeldIsHandedOutAgain(q queueOn) {
	q.add(store.Job{ID: "j", Kind: "test", Priority: 4})
	old := q.one()
	q.clock.Step(store.JobLease - time.Millisecond)
	if d := q.claim(1); len(d) != 0 {
		q.t.Fatalf("got %v while its worker has the lease", d)
	}
	q.clock.Step(time.Millisecond)
	again := q.one()
	if again.Number != 2 || again.Priority != 4 || again.Token == old.Token {
		q.t.Errorf("got %+v, want the second delivery, of the same priority", again)
	}

	ctx := q.t.Context()
	if lost, err := q.ExtendJobs(ctx, store.JobLease, old.Receipt()); err != nil || len(lost) != 1 {
		q.t.Errorf("the dead one extends: %v, %v", lost, err)
	}
	if _, err := q.FailJob(ctx, store.Failure{Receipt: old.Receipt(), Reason: "late"}); !errors.Is(err, store.ErrJobLost) {
		q.t.Errorf("the dead one fails it: %v", err)
	}
	if lost, err := q.ReleaseJobs(ctx, 0, old.Receipt()); err != nil || len(lost) != 1 {
		q.t.Errorf("the dead one hands it back: %v, %v", lost, err)
	}
	claimed, err := q.ClaimJobs(ctx, store.Claim{Finished: []store.Receipt{old.Receipt()}})
	if err != nil || len(claimed.Lost) != 1 {
		q.t.Errorf("the dead one finishes it: %v, %v", claimed.Lost, err)
	}
	if c := q.counts(); c.Running != 1 || c.Stale != 4 || c.TakenBack != 1 {
		q.t.Errorf("got %+v, want one running, one taken back and four stale words", c)
	}
	q.claim(0, again)
	if c := q.counts(); c.Running != 0 {
		q.t.Errorf("got %+v, want it done", c)
	}
}

// theTwelfthDeliveryIsTheLast hands a job out again and again; end says how each delivery ends.
func theTwelfthDeliveryIsTheLast(reason string, end func(q queueOn, d store.Delivery)) func(q queueOn) {
	return func(q queueOn) {
		q.add(store.Job{ID: "poison", Kind: "test", Payload: []byte("it")})
		for n := 1; n <= store.MaxDeliveries; n++ {
			d := q.one()
			if d.Number != n {
				q.t.Fatalf("got delivery %d, want %d", d.Number, n)
			}
			end(q, d)
		}
		if d := q.claim(1); len(d) != 0 {
			q.t.Fatalf("handed out once more: %v", d)
		}
		dead, err := q.Jobs(q.t.Context(), store.JobDead, 0, 10)
		if err != nil || len(dead) != 1 || dead[0].Deliveries != store.MaxDeliveries || !strings.Contains(dead[0].Reason, reason) {
			q.t.Errorf("dead are %+v (%v), want the one, because %s", dead, err, reason)
		}
	}
}

func dies(q queueOn, _ store.Delivery) { q.clock.Step(store.JobLease) }

func failsEachTime(q queueOn, d store.Delivery) {
	q.fail(d, "no luck")
	q.clock.Step(2 * time.Hour)
}

func aDeadJobIsRetriedOrDiscarded(q queueOn) {
	ctx := q.t.Context()
	q.add(store.Job{ID: "j", Kind: "test", Priority: 3, Payload: []byte("p")})
	if err := q.RetryJob(ctx, "j"); !errors.Is(err, store.ErrJobNotDead) {
		q.t.Errorf("retry of a job that waits: %v", err)
	}
	die := func() {
		d := q.one()
		f := store.Failure{Receipt: d.Receipt(), Reason: "bad\nJSON \xff", Final: true}
		if due, err := q.FailJob(ctx, f); err != nil || !due.IsZero() {
			q.t.Fatalf("due %v (%v), want it dead", due, err)
		}
	}
	die()
	if added := q.add(store.Job{ID: "j", Kind: "test"}); added.New != 0 {
		q.t.Error("added a job that is dead")
	}
	job, err := q.Job(ctx, "j")
	want := store.QueuedJob{
		Job:   store.Job{ID: "j", Kind: "test", Priority: 3, Payload: []byte("p"), Due: q.clock.Now()},
		State: store.JobDead, Deliveries: 1, Failures: 1, Reason: "bad JSON \uFFFD",
	}
	if diff := gocmp.Diff(want, job); err != nil || diff != "" {
		q.t.Errorf("%v; want −, got +\n%s", err, diff)
	}
	if err := q.RetryJob(ctx, "j"); err != nil {
		q.t.Fatal(err)
	}
	if d := q.one(); d.Number != 1 || string(d.Payload) != "p" {
		q.t.Errorf("got %+v, want a new life", d)
	}
	q.clock.Step(store.JobLease)
	die()
	if err := q.DiscardJob(ctx, "j"); err != nil {
		q.t.Fatal(err)
	}
	for name, err := range map[string]error{"discard": q.DiscardJob(ctx, "j"), "retry": q.RetryJob(ctx, "j")} {
		if !errors.Is(err, store.ErrJobNotFound) {
			q.t.Errorf("%s of no job: %v", name, err)
		}
	}
	if diff := gocmp.Diff([]string{"meta"}, q.keys()); diff != "" {
		q.t.Errorf("keys: want −, got +\n%s", diff)
	}
}

func aCancelledJobIsNotItsWorkersAnyMore(q queueOn) {
	q.add(jobNumber(1), jobNumber(2))
	q.add(store.Job{ID: "later", Kind: "test", Due: q.clock.Now().Add(time.Hour)})
	running := q.one()
	for _, id := range []string{running.ID, jobNumber(2).ID, "later"} {
		if err := q.DiscardJob(q.t.Context(), id); err != nil {
			q.t.Errorf("discard %s: %v", id, err)
		}
	}
	lost, err := q.ExtendJobs(q.t.Context(), store.JobLease, running.Receipt())
	if err != nil || len(lost) != 1 {
		q.t.Errorf("extended a job that was discarded: %v, %v", lost, err)
	}
	q.clock.Step(2 * time.Hour)
	if d := q.claim(10); len(d) != 0 {
		q.t.Errorf("got %v, want none", d)
	}
}

func aPausedQueueHandsOutNothing(q queueOn) {
	ctx := q.t.Context()
	q.add(jobNumber(1), jobNumber(2))
	running := q.one()
	if err := q.PauseJobs(ctx); err != nil {
		q.t.Fatal(err)
	}
	q.add(jobNumber(3))
	if d := q.claim(10, running); len(d) != 0 {
		q.t.Errorf("got %v while paused", d)
	}
	if c := q.counts(); !c.Paused || c.Running != 0 || c.Ready != 2 {
		q.t.Errorf("got %+v, want two ready and what ran done", c)
	}
	if err := q.ResumeJobs(ctx); err != nil {
		q.t.Fatal(err)
	}
	if d := q.claim(10); len(d) != 2 {
		q.t.Errorf("got %v, want both", d)
	}
}

func addingAJobAgainAddsNothing(q queueOn) {
	first := store.Job{ID: "j", Kind: "test", Payload: []byte("first")}
	second := store.Job{ID: "j", Kind: "other", Payload: []byte("second"), Due: q.clock.Now().Add(time.Hour)}
	if added := q.add(first, second); added.New != 1 {
		q.t.Errorf("added %d of one id, want 1", added.New)
	}
	d := q.one()
	if q.add(second).New != 0 || string(d.Payload) != "first" {
		q.t.Errorf("got %+v, want the first, and no other while it runs", d)
	}
	q.claim(0, d)
	if added := q.add(second); added.New != 1 {
		q.t.Error("a job that is done cannot come again: its effect's mark is what makes it harmless")
	}
}

// A payload that no set names was left by an operator's hand. It must not keep its job out.
func aPayloadWithoutAJobIsNoJob(q queueOn) {
	q.add(store.Job{ID: "j", Kind: "test"})
	q.mustDo("DEL", q.key("ready"))
	if added := q.add(store.Job{ID: "j", Kind: "test", Payload: []byte("new")}); added.New != 1 {
		q.t.Fatal("the lost job cannot be added again")
	}
	if d := q.one(); string(d.Payload) != "new" {
		q.t.Errorf("got %+v", d)
	}
}

func jobsOfAnyTimeAndScript(q queueOn) {
	end := time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC)
	ids := []string{
		"a:b", "{x}", "}{", "*", "?", "[a]", "123", "00123", "-inf", "(5", "__proto__", "\x00", " ", "שלום", "玩家", "🧙🏽‍♂️",
		strings.Repeat("長", store.MaxJobID/3),
	}
	for _, id := range ids {
		q.add(store.Job{ID: id, Kind: "test", Payload: []byte(id)})
	}
	q.add(store.Job{ID: "long ago", Kind: "test", Due: time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)},
		store.Job{ID: "before 1970", Kind: "test", Due: time.UnixMilli(-5)},
		store.Job{ID: "the end", Kind: "test", Due: end})
	ids = append(ids, "long ago", "before 1970")
	for i, d := range q.claim(store.MaxJobBatch) {
		if d.ID != ids[i] || i < len(ids)-2 && string(d.Payload) != d.ID || d.Late() != 0 {
			q.t.Errorf("job %d is %+v, want %q", i, d, ids[i])
		}
	}
	q.clock.Set(end.Add(-time.Millisecond))
	if d := q.claim(1); slices.ContainsFunc(d, func(d store.Delivery) bool { return d.ID == "the end" }) {
		q.t.Error("the end came early")
	}
	if job, err := q.Job(q.t.Context(), "the end"); err != nil || !job.Due.Equal(end) {
		q.t.Errorf("got %+v (%v), want it due at %v", job, err, end)
	}
}

// whatWasPushedByHand pushes poison into a set. It ends among the dead, or is an orphan; the others go on.
func whatWasPushedByHand(set string) func(q queueOn) {
	const place = "00000000000000013"
	poison := []struct{ member, id, data string }{
		{place + "brace", "brace", "{"},
		{place + "null", "null", "null"},
		{place + "string", "string", `"x"`},
		{place + "large", "large", place + " test " + strings.Repeat("x", 10<<20)},
		{place + "binary", "binary", "\x00\xff\xfe"},
		{place + "kindless", "kindless", place},
		{place + "kind", "kind", place + "  x"},
		{place + "orphan", "", ""},
		{place, "", ""},
		{"{", "", ""},
		{"", "", ""},
		{"00000000000000099good", "", ""}, // not the place of the good one
	}
	return func(q queueOn) {
		dead := 0
		for _, p := range poison {
			q.mustDo("ZADD", q.key(set), 1, p.member)
			if p.id != "" {
				q.mustDo("HSET", q.key("data"), p.id, p.data)
				dead++
			}
		}
		q.add(store.Job{ID: "good", Kind: "test", Priority: 9})
		var got []string
		for range 3 {
			for _, d := range q.claim(5) {
				got = append(got, d.ID)
			}
		}
		if !slices.Equal(got, []string{"good"}) {
			q.t.Errorf("got %q, want only the good one", got)
		}
		c := q.counts()
		if int(c.Dead) != dead || int(c.Orphans) != len(poison)-dead || c.Ready+c.Scheduled != 0 {
			q.t.Errorf("got %+v, want %d dead and %d orphans", c, dead, len(poison)-dead)
		}
		jobs, err := q.Jobs(q.t.Context(), store.JobDead, 0, 100)
		q.ok(err)
		for _, j := range jobs {
			whole, err := q.Job(q.t.Context(), j.ID)
			if err != nil || j.Reason == "" || len(whole.Payload) > 1024 {
				q.t.Errorf("%q has the reason %q and %d bytes (%v)", j.ID, j.Reason, len(whole.Payload), err)
			}
			if err := q.DiscardJob(q.t.Context(), j.ID); err != nil {
				q.t.Errorf("discard %q: %v", j.ID, err)
			}
		}
	}
}

func deadJobsAreBoundedByNumberAndAge(q queueOn) {
	ctx, now := q.t.Context(), q.clock.Now().UnixMilli()
	const over, old = 300, 200
	pipe := q.client.Pipeline()
	for i := range store.MaxDeadJobs + over {
		died := now
		if i < old {
			died = now - store.DeadJobsKept.Milliseconds() - 1
		}
		id, place := fmt.Sprintf("dead-%d", i), fmt.Sprintf("%016d5", i)
		pipe.ZAdd(ctx, q.key("dead"), redis.Z{Score: float64(died), Member: place + id})
		pipe.HSet(ctx, q.key("data"), id, place+" test x")
		pipe.HSet(ctx, q.key("reasons"), id, "1 why")
		pipe.HSet(ctx, q.key("deliveries"), id, 12)
		if pipe.Len() > 400 || i == store.MaxDeadJobs+over-1 {
			q.ok(errOf(pipe.Exec(ctx)))
		}
	}
	for range 4 {
		q.claim(1)
	}
	if c := q.counts(); c.Dead != store.MaxDeadJobs || c.Trimmed != over {
		q.t.Errorf("%d dead and %d trimmed, want %d and %d", c.Dead, c.Trimmed, store.MaxDeadJobs, over)
	}
	q.add(jobNumber(1))
	if _, err := q.FailJob(ctx, store.Failure{Receipt: receipt(q.one()), Final: true}); err != nil {
		q.t.Fatal(err)
	}
	for _, hash := range []string{"data", "reasons", "deliveries"} {
		n, err := q.client.HLen(ctx, q.key(hash)).Result()
		if err != nil || n != store.MaxDeadJobs {
			q.t.Errorf("%s holds %d (%v), want %d: trimming takes the payload too", hash, n, err, store.MaxDeadJobs)
		}
	}
}

func receipt(d store.Delivery) store.Receipt { return d.Receipt() }

func sleepersAreWokenByWhatComesEarlier(q queueOn) {
	ctx, cancel := context.WithCancel(q.t.Context())
	woken := make(chan struct{}, 100)
	var listening sync.WaitGroup
	listening.Go(func() { q.ListenForJobs(ctx, func() { woken <- struct{}{} }) })
	defer listening.Wait()
	defer cancel()
	next(q.t, woken) // the subscription stands
	channel := q.client.Subscribe(ctx, q.key("wake"))
	defer channel.Close()
	q.ok(errOf(channel.Receive(ctx)))
	messages := channel.Channel()

	now := q.clock.Now()
	steps := []struct {
		what  string
		wakes bool
		do    func()
	}{
		{"the first that waits", true, func() { q.add(store.Job{ID: "a", Kind: "test", Due: now.Add(time.Hour)}) }},
		{"a later one", false, func() { q.add(store.Job{ID: "b", Kind: "test", Due: now.Add(2 * time.Hour)}) }},
		{"an earlier one", true, func() { q.add(store.Job{ID: "c", Kind: "test", Due: now.Add(time.Minute)}) }},
		{"one that is due", true, func() { q.add(store.Job{ID: "d", Kind: "test"}) }},
		{"a second that is due", false, func() { q.add(store.Job{ID: "e", Kind: "test"}) }},
		{"a claim", false, func() { q.claim(2) }},
		{"a pause", false, func() { q.ok(q.PauseJobs(q.t.Context())) }},
		{"its end", true, func() { q.ok(q.ResumeJobs(q.t.Context())) }},
	}
	for _, step := range steps {
		step.do()
		publish(q.t, q.client, q.key("wake"), "all of this step is before this")
		wakes := 0
		for next(q.t, messages).Payload == "" {
			wakes++
			next(q.t, woken)
		}
		next(q.t, woken)
		if (wakes == 1) != step.wakes || wakes > 1 {
			q.t.Errorf("%s wakes %d times", step.what, wakes)
		}
	}
}

func (q queueOn) ok(err error) {
	q.t.Helper()
	if err != nil {
		q.t.Fatal(err)
	}
}

func theCountsTellHowTheQueueIs(q queueOn) {
	if c := q.counts(); !c.OldestDue.IsZero() || c.Warning() != "" {
		q.t.Errorf("an empty queue: %+v", c)
	}
	start := q.clock.Now()
	for priority := range 10 { // the oldest waits behind all others
		q.add(store.Job{ID: fmt.Sprint(9 - priority), Kind: "test", Priority: 9 - priority})
		q.clock.Step(time.Second)
	}
	q.add(store.Job{ID: "later", Kind: "test", Due: q.clock.Now().Add(time.Hour)})
	if c := q.counts(); !c.OldestDue.Equal(start) || c.Overdue() != 10*time.Second || c.Ready != 10 || c.Scheduled != 1 {
		q.t.Errorf("got %+v, want the oldest due at %v", c, start)
	}
	q.clock.Step(time.Minute)
	if c := q.counts(); c.Warning() == "" {
		q.t.Errorf("no warning of %+v", c)
	}
	running := q.claim(10)
	if c := q.counts(); c.Overdue() != 0 || c.Warning() != "" || c.Running != 10 {
		q.t.Errorf("got %+v, want ten running", c)
	}
	for range 5 { // while its worker lives, a job may hang for ever
		q.clock.Step(7 * time.Second)
		q.ok(errOf(q.ExtendJobs(q.t.Context(), store.JobLease, running[0].Receipt())))
	}
	if c := q.counts(); c.RunningFor != 35*time.Second || !strings.Contains(c.Warning(), "30 seconds") {
		q.t.Errorf("got %+v, want one that runs for 35 s", c)
	}
	// Nobody promotes what is due when all workers are dead: it is overdue all the same.
	q.claim(0, running[0])
	q.clock.Step(2 * time.Hour)
	if c := q.counts(); c.Scheduled != 1 || c.Overdue() < time.Hour {
		q.t.Errorf("got %+v, want the scheduled one overdue", c)
	}
}

func errOf[T any](_ T, err error) error { return err }

func aReleasedJobKeepsItsPlaceAndDoesNotCount(q queueOn) {
	q.add(jobNumber(1), jobNumber(2), jobNumber(3))
	first := q.one()
	q.clock.Step(time.Second)
	q.ok(errOf(q.ReleaseJobs(q.t.Context(), 0, first.Receipt())))
	again := q.one()
	if again.ID != first.ID || again.Number != 1 || !again.Due.Equal(first.Due) {
		q.t.Errorf("got %+v, want %+v again", again, first)
	}
	q.ok(errOf(q.ReleaseJobs(q.t.Context(), time.Minute, again.Receipt())))
	if d := q.claim(10); len(d) != 2 {
		q.t.Errorf("got %v, want the two others", d)
	}
	q.clock.Step(time.Minute - time.Millisecond)
	if c := q.counts(); c.Scheduled != 1 {
		q.t.Errorf("got %+v, want the released one scheduled", c)
	}
}

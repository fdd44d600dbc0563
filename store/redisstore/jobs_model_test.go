package redisstore_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"leaderboard/store"
	"leaderboard/store/redisstore"
	"leaderboard/store/storetest"
)

// plainQueue is the job queue as one would write it without a store: a list, looked through from the front each time.
type plainQueue struct {
	jobs   []*plainJob // in order of arrival
	paused bool
}

type plainJob struct {
	store.QueuedJob
	due   int64 // ms; of a running job the end of its lease, of a dead one when it died
	first int64 // ms; due of a running job
	token string
}

func (q *plainQueue) find(id string) *plainJob {
	i := slices.IndexFunc(q.jobs, func(j *plainJob) bool { return j.ID == id })
	if i < 0 {
		return nil
	}
	return q.jobs[i]
}

// held returns the job when the receipt is its newest.
func (q *plainQueue) held(r store.Receipt) *plainJob {
	if j := q.find(r.ID); j != nil && j.State == store.JobRunning && j.token == r.Token {
		return j
	}
	return nil
}

func (q *plainQueue) remove(id string) {
	q.jobs = slices.DeleteFunc(q.jobs, func(j *plainJob) bool { return j.ID == id })
}

func (q *plainQueue) add(now int64, job store.Job) int {
	if q.find(job.ID) != nil {
		return 0
	}
	j := &plainJob{QueuedJob: store.QueuedJob{Job: job, State: store.JobReady}, due: now}
	if due := job.Due.UnixMilli(); due > now {
		j.due, j.State = due, store.JobScheduled
	}
	q.jobs = append(q.jobs, j)
	return 1
}

// pass brings the queue to what it is at a time: leases end, and what is due is ready.
func (q *plainQueue) pass(now int64) {
	for _, j := range q.jobs {
		switch {
		case j.due > now:
		case j.State == store.JobScheduled:
			j.State = store.JobReady
		case j.State == store.JobRunning && j.Deliveries >= store.MaxDeliveries:
			j.State, j.due = store.JobDead, now
		case j.State == store.JobRunning:
			j.State = store.JobReady
		}
	}
}

// claim hands out the best jobs. The token of each is set by the caller.
func (q *plainQueue) claim(now int64, most int, lease time.Duration) []*plainJob {
	q.pass(now)
	ready := q.in(store.JobReady)
	if q.paused {
		return nil
	}
	ready = ready[:min(most, len(ready))]
	for _, j := range ready {
		j.State = store.JobRunning
		j.first, j.due = j.due, now+lease.Milliseconds()
		j.Deliveries++
	}
	return ready
}

// in returns the jobs of a state, next first; dead ones latest first.
func (q *plainQueue) in(state store.JobState) []*plainJob {
	var jobs []*plainJob
	for _, j := range q.jobs {
		if j.State == state {
			jobs = append(jobs, j)
		}
	}
	slices.SortStableFunc(jobs, func(a, b *plainJob) int {
		if state == store.JobReady {
			return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.due, b.due))
		}
		return cmp.Compare(a.due, b.due)
	})
	if state == store.JobDead {
		slices.Reverse(jobs)
	}
	return jobs
}

// lines spells jobs for comparison.
func (q *plainQueue) lines(state store.JobState) []string {
	var lines []string
	for _, j := range q.in(state) {
		due := j.due
		if state == store.JobRunning {
			due = j.first
		}
		lines = append(lines, line(j.QueuedJob, due))
	}
	return lines
}

func line(j store.QueuedJob, due int64) string {
	return fmt.Sprintf("%q %s priority %d due %d, delivery %d, failures %d %q",
		j.ID, j.Kind, j.Priority, due, j.Deliveries, j.Failures, j.Reason)
}

// queueTime is the clock of a test.
type queueTime struct {
	now  func() time.Time
	step func(time.Duration)
}

// queueTest holds a queue and the plain one side by side.
type queueTest struct {
	*rapid.T
	store *redisstore.Store
	time  queueTime
	plain plainQueue
	given []store.Receipt // all that were ever handed out
}

func (q *queueTest) ok(err error) {
	q.Helper()
	if err != nil {
		q.Fatal(err)
	}
}

func (q *queueTest) nowMillis() int64 { return q.time.now().UnixMilli() }

var queueIDs = []string{"a", "b:1", "{c}", "прыжок 8", "12", "\x00", "受け取る", "a b c", "-inf", "🏆"}

func (q *queueTest) add(t *rapid.T) {
	var jobs []store.Job
	for range rapid.IntRange(1, 3).Draw(t, "jobs") {
		jobs = append(jobs, store.Job{
			ID:       rapid.SampledFrom(queueIDs).Draw(t, "id") + rapid.StringN(0, 1, -1).Draw(t, "more"),
			Kind:     rapid.SampledFrom([]string{"pay", "hold", "a.b-c_1"}).Draw(t, "kind"),
			Priority: rapid.IntRange(0, 9).Draw(t, "priority"),
			Due:      q.time.now().Add(rapid.SampledFrom(queueWaits).Draw(t, "wait")),
			Payload:  []byte(rapid.String().Draw(t, "payload")),
		})
	}
	want := 0
	for _, job := range jobs {
		want += q.plain.add(q.nowMillis(), job)
	}
	added, err := q.store.AddJobs(q.Context(), jobs...)
	q.ok(err)
	if ready := int64(len(q.plain.in(store.JobReady))); added.New != want || added.Ready != ready {
		t.Fatalf("added %+v, want %d new and %d ready", added, want, ready)
	}
}

var queueWaits = []time.Duration{
	-80 * 365 * 24 * time.Hour, -time.Second, 0, time.Millisecond, 3 * time.Millisecond, 3 * time.Millisecond, time.Second, time.Minute,
}

// claim claims until there is something or nothing to have, as a worker does.
func (q *queueTest) claim(t *rapid.T) {
	claim := store.Claim{Most: rapid.IntRange(0, 4).Draw(t, "most"), Lease: store.JobLease}
	var lost []store.Receipt
	for range rapid.IntRange(0, 3).Draw(t, "finished") {
		r := q.receipt(t)
		if slices.Contains(claim.Finished, r) {
			continue
		}
		claim.Finished = append(claim.Finished, r)
		if q.plain.held(r) == nil {
			lost = append(lost, r)
		} else {
			q.plain.remove(r.ID)
		}
	}
	claimed, err := q.store.ClaimJobs(q.Context(), claim)
	q.ok(err)
	if diff := gocmp.Diff(byID(lost), byID(claimed.Lost)); diff != "" {
		t.Fatalf("lost: want −, got +\n%s", diff)
	}
	want := q.plain.claim(q.nowMillis(), claim.Most, claim.Lease)
	if claimed.Paused != q.plain.paused || len(claimed.Deliveries) != len(want) {
		t.Fatalf("claimed %+v, want %d jobs", claimed, len(want))
	}
	for i, d := range claimed.Deliveries {
		j := want[i]
		if d.ID != j.ID || d.Kind != j.Kind || string(d.Payload) != string(j.Payload) || d.Priority != j.Priority ||
			d.Number != j.Deliveries || d.Due.UnixMilli() != j.first || d.Started.UnixMilli() != q.nowMillis() {
			t.Fatalf("delivery %d is %+v, want %+v", i, d, j)
		}
		j.token = d.Token
		q.given = append(q.given, d.Receipt())
	}
	if sleep := q.sleep(); claimed.Sleep != sleep {
		t.Fatalf("sleep %v, want %v", claimed.Sleep, sleep)
	}
}

// sleep is how long nothing will be to be done.
func (q *queueTest) sleep() time.Duration {
	first := int64(math.MaxInt64)
	for _, j := range q.plain.jobs {
		switch j.State {
		case store.JobReady:
			if !q.plain.paused {
				return 0
			}
		case store.JobScheduled, store.JobRunning:
			first = min(first, j.due)
		}
	}
	if first == math.MaxInt64 {
		return -time.Millisecond
	}
	return time.Duration(max(first-q.nowMillis(), 0)) * time.Millisecond
}

func byID(receipts []store.Receipt) []store.Receipt {
	return slices.SortedFunc(slices.Values(receipts), func(a, b store.Receipt) int {
		return cmp.Or(strings.Compare(a.ID, b.ID), strings.Compare(a.Token, b.Token))
	})
}

// receipt draws one of all that were ever handed out, or one that never was.
func (q *queueTest) receipt(t *rapid.T) store.Receipt {
	if len(q.given) == 0 || rapid.IntRange(0, 9).Draw(t, "forged") == 0 {
		return store.Receipt{ID: rapid.SampledFrom(queueIDs).Draw(t, "id"), Token: "forged"}
	}
	last := len(q.given) - 1
	return q.given[rapid.IntRange(max(0, last-8), last).Draw(t, "receipt")]
}

func (q *queueTest) fail(t *rapid.T) {
	f := store.Failure{
		Receipt: q.receipt(t), Reason: rapid.StringN(0, 5, -1).Draw(t, "reason"),
		Wait: rapid.SampledFrom([]time.Duration{0, 0, time.Hour}).Draw(t, "wait"), Final: rapid.IntRange(0, 4).Draw(t, "final") == 0,
	}
	due, err := q.store.FailJob(q.Context(), f)
	j := q.plain.held(f.Receipt)
	if j == nil {
		if err == nil {
			t.Fatal("failed a job that was not the worker's")
		}
		return
	}
	q.ok(err)
	j.Failures++
	j.Reason = store.CleanReason(f.Reason)
	if f.Final || j.Deliveries >= store.MaxDeliveries {
		j.State, j.due = store.JobDead, q.nowMillis()
		if !due.IsZero() {
			t.Fatalf("a dead job is due at %v", due)
		}
		return
	}
	j.State, j.due = store.JobScheduled, due.UnixMilli()
	wait := min(store.JobLongestWait, time.Second<<(j.Failures-1))
	least, most := max(wait, f.Wait), max(wait*5/4, f.Wait)
	if got := due.Sub(q.time.now().Truncate(time.Millisecond)); got < least || got > most {
		t.Fatalf("after %d failures due in %v, want %v to %v", j.Failures, got, least, most)
	}
}

func (q *queueTest) extend(t *rapid.T) {
	r := q.receipt(t)
	lost, err := q.store.ExtendJobs(q.Context(), store.JobLease, r)
	q.ok(err)
	j := q.plain.held(r)
	if (j == nil) != (len(lost) == 1) {
		t.Fatalf("extend %v: lost %v", r, lost)
	}
	if j != nil {
		j.due = q.nowMillis() + store.JobLease.Milliseconds()
	}
}

func (q *queueTest) release(t *rapid.T) {
	r := q.receipt(t)
	wait := rapid.SampledFrom([]time.Duration{0, time.Second}).Draw(t, "wait")
	lost, err := q.store.ReleaseJobs(q.Context(), wait, r)
	q.ok(err)
	j := q.plain.held(r)
	if (j == nil) != (len(lost) == 1) {
		t.Fatalf("release %v: lost %v", r, lost)
	}
	if j == nil {
		return
	}
	j.State, j.due = store.JobReady, j.first
	j.Deliveries--
	if wait > 0 {
		j.State, j.due = store.JobScheduled, q.nowMillis()+wait.Milliseconds()
	}
}

func (q *queueTest) retry(t *rapid.T) {
	id := rapid.SampledFrom(queueIDs).Draw(t, "id")
	err := q.store.RetryJob(q.Context(), id)
	if j := q.plain.find(id); j == nil || j.State != store.JobDead {
		if err == nil {
			t.Fatalf("retried %q, which is not dead", id)
		}
		return
	}
	q.ok(err)
	j := q.plain.find(id)
	j.State, j.due, j.Deliveries, j.Failures, j.Reason = store.JobReady, q.nowMillis(), 0, 0, ""
}

func (q *queueTest) discard(t *rapid.T) {
	id := rapid.SampledFrom(queueIDs).Draw(t, "id")
	err := q.store.DiscardJob(q.Context(), id)
	if (q.plain.find(id) == nil) != (err != nil) {
		t.Fatalf("discard %q: %v", id, err)
	}
	q.plain.remove(id)
}

func (q *queueTest) pause(t *rapid.T) {
	q.plain.paused = rapid.IntRange(0, 2).Draw(t, "pause") == 0
	if q.plain.paused {
		q.ok(q.store.PauseJobs(q.Context()))
	} else {
		q.ok(q.store.ResumeJobs(q.Context()))
	}
}

func (q *queueTest) wait(t *rapid.T) {
	q.time.step(rapid.SampledFrom([]time.Duration{
		time.Millisecond, 3 * time.Millisecond, time.Second, 4 * time.Second, 11 * time.Second,
	}).Draw(t, "wait"))
}

// check compares all that there is to see.
func (q *queueTest) check(t *rapid.T) {
	counts, err := q.store.JobCounts(q.Context())
	q.ok(err)
	for _, state := range store.JobStates {
		jobs, err := q.store.Jobs(q.Context(), state, 0, 1000)
		q.ok(err)
		var got []string
		for _, j := range jobs {
			if state == store.JobDead && strings.HasPrefix(j.Reason, "its worker died") {
				j.Reason = q.plain.find(j.ID).Reason // the plain queue has no words for it
			}
			got = append(got, line(j, j.Due.UnixMilli()))
		}
		want := q.plain.lines(state)
		if state == store.JobRunning { // equal leases are in order of arrival on both sides, but moved by extending
			slices.Sort(got)
			slices.Sort(want)
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Fatalf("%s: want −, got +\n%s", state, diff)
		}
		if n := map[store.JobState]int64{
			store.JobScheduled: counts.Scheduled, store.JobReady: counts.Ready, store.JobRunning: counts.Running,
			store.JobDead: counts.Dead,
		}[state]; n != int64(len(want)) {
			t.Fatalf("counts %d %s jobs, want %d", n, state, len(want))
		}
	}
	if counts.Paused != q.plain.paused {
		t.Fatalf("counts say paused %v", counts.Paused)
	}
}

// bubbled hides that a test has a deadline, which rapid would ask for and a bubble does not tell.
type bubbled struct{ testing.TB }

// againstThePlainQueue does random things to both queues.
func againstThePlainQueue(t testing.TB, s func() *redisstore.Store, clock func() queueTime) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) {
		q := &queueTest{T: t, store: s(), time: clock()}
		t.Repeat(map[string]func(*rapid.T){
			"add": q.add, "add more": q.add, "claim": q.claim, "claim more": q.claim, "claim much": q.claim, "fail": q.fail,
			"extend": q.extend, "release": q.release, "retry": q.retry, "discard": q.discard, "pause": q.pause, "wait": q.wait,
			"wait more": q.wait, "": q.check,
		})
	})
}

func TestTheQueueOnRedisEqualsThePlainQueue(t *testing.T) {
	t.Parallel()
	client := storetest.Redis(t)
	var clock *storetest.Clock
	againstThePlainQueue(t,
		func() *redisstore.Store {
			clock = storetest.NewClock()
			return redisstore.New(client, redisstore.Options{Prefix: storetest.Prefix(t), Clock: clock.Now})
		},
		func() queueTime {
			return queueTime{clock.Now, func(d time.Duration) { clock.Step(d) }}
		})
}

// On the embedded store the clock is that of the bubble, which the store reads by itself.
func TestTheEmbeddedQueueEqualsThePlainQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := storetest.Embedded(t)
		againstThePlainQueue(bubbled{t},
			func() *redisstore.Store {
				return redisstore.New(client, redisstore.Options{Prefix: storetest.Prefix(t)})
			},
			func() queueTime { return queueTime{time.Now, time.Sleep} })
	})
}

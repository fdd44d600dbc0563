package redisstore

import (
	"context"
	"crypto/rand"
	"fmt"
	mathrand "math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"leaderboard/store"
)

// jobScripts are the scripts of the job queue. Each takes the keys of [keys.jobs], the time and the channel that wakes
// sleepers; then its own arguments.
type jobScripts struct {
	add, claim, counts, discard, extend, fail, list, pause, release, retry script
}

func newJobScripts() jobScripts {
	behind := source("prelude") + source("job_prelude")
	writes := func(name string) script { return newScript(behind, "job_"+name) }
	reads := func(name string) script {
		s := writes(name)
		s.reads = true
		return s
	}
	return jobScripts{
		add: writes("add"), counts: reads("counts"), discard: writes("discard"), extend: writes("extend"),
		fail: writes("fail"), list: reads("list"), pause: writes("pause"), release: writes("release"),
		retry: writes("retry"),
		// Says itself whether it changed anything: a worker with nothing to do asks four times a second.
		claim: reads("claim"),
	}
}

const (
	placeLength = 17 // of a sequence and a priority
	maxJobData  = placeLength + 1 + 63 + 1 + store.MaxJobPayload
)

// job runs a script of the job queue.
func (s *Store) job(ctx context.Context, sc script, args ...any) (word string, reply []any, err error) {
	return s.list(ctx, sc, s.keys.jobs(), append([]any{s.now(), s.keys.jobWake()}, args...)...)
}

// AddJobs adds jobs. One whose id is in the queue already, dead or alive, stays as it is: adding again adds nothing.
// Returns an [store.InvalidError] for a job that the queue does not take, and then adds none.
func (s *Store) AddJobs(ctx context.Context, jobs ...store.Job) (store.Added, error) {
	for i := range jobs {
		if err := jobs[i].Validate(); err != nil {
			return store.Added{}, err
		}
	}
	var added store.Added
	for group := range slices.Chunk(jobs, store.MaxJobBatch) {
		args := make([]any, 0, 5*len(group))
		for i := range group {
			j := &group[i]
			args = append(args, j.ID, j.Kind, dueOf(j), j.Priority, j.Payload)
		}
		_, reply, err := s.job(ctx, s.scripts.jobs.add, args...)
		if err != nil {
			return added, err
		}
		if len(reply) != 1+len(group) {
			return added, unexpected("job_add", reply)
		}
		added.Ready = number(reply[0])
		for _, flag := range reply[1:] {
			added.New += int(number(flag))
		}
	}
	return added, nil
}

// dueOf spells when a job is due: ms, + and ms from now, or nothing for now.
func dueOf(j *store.Job) string {
	if j.Wait > 0 {
		return "+" + strconv.FormatInt(max(j.Wait.Milliseconds(), 1), 10)
	}
	return millis(j.Due)
}

// ClaimJobs takes finished deliveries out of the queue and hands out the next ones, best priority first, among equals
// who came first. Nothing is handed out before its time.
func (s *Store) ClaimJobs(ctx context.Context, claim store.Claim) (store.Claimed, error) {
	args := make([]any, 0, 9+2*len(claim.Finished))
	args = append(args, min(claim.Most, store.MaxJobBatch), claim.Lease.Milliseconds(), rand.Text()[:16], store.MaxDeliveries, maxJobData,
		store.MaxDeadJobs, store.DeadJobsKept.Milliseconds())
	word, reply, err := s.job(ctx, s.scripts.jobs.claim, appendReceipts(args, claim.Finished)...)
	if err == nil && (len(reply) < 4 || len(reply)%4 != 0) {
		err = unexpected("job_claim", reply)
	}
	if (err != nil || number(at(reply, 2)) == 1) && s.options.AfterWrite != nil {
		s.options.AfterWrite()
	}
	if err != nil {
		return store.Claimed{}, err
	}
	claimed := store.Claimed{
		Paused: word == "paused", Sleep: time.Duration(number(reply[1])) * time.Millisecond,
		Lost: lostOf(claim.Finished, items(reply[3])), Deliveries: make([]store.Delivery, 0, len(reply)/4-1),
	}
	for row := range slices.Chunk(reply[4:], 4) {
		delivery, err := deliveryOf(text(row[0]), text(row[1]), number(row[2]), text(row[3]))
		if err != nil {
			return store.Claimed{}, err
		}
		claimed.Deliveries = append(claimed.Deliveries, delivery)
	}
	return claimed, nil
}

// deliveryOf reads a job as the claim script hands it out. The script has checked its form.
func deliveryOf(id, token string, nth int64, data string) (store.Delivery, error) {
	fields := strings.SplitN(token, " ", 4)
	job, ok := jobOf(id, data)
	if len(fields) != 4 || !ok {
		return store.Delivery{}, fmt.Errorf("redisstore: job_claim: job %q with token %q", id, token)
	}
	job.Due = fromMillis(number(fields[1]))
	return store.Delivery{Job: job, Token: token, Number: int(nth), Started: fromMillis(number(fields[2]))}, nil
}

// jobOf reads what the queue keeps of a job, but for its time.
func jobOf(id, data string) (store.Job, bool) {
	place, rest, _ := strings.Cut(data, " ")
	kind, payload, ok := strings.Cut(rest, " ")
	if !ok || len(place) != placeLength {
		return store.Job{ID: id}, false
	}
	return store.Job{ID: id, Kind: kind, Priority: int(place[placeLength-1] - '0'), Payload: []byte(payload)}, true
}

func appendReceipts(args []any, receipts []store.Receipt) []any {
	for i := range receipts {
		args = append(args, receipts[i].ID, receipts[i].Token)
	}
	return args
}

// lostOf returns the receipts that a script found to be out of date, by their numbers from 1.
func lostOf(receipts []store.Receipt, numbers []any) []store.Receipt {
	var lost []store.Receipt
	for _, n := range numbers {
		lost = append(lost, receipts[number(n)-1])
	}
	return lost
}

// ExtendJobs gives deliveries a new lease, from now, and returns those that are no longer the caller's.
func (s *Store) ExtendJobs(ctx context.Context, lease time.Duration, receipts ...store.Receipt) ([]store.Receipt, error) {
	return s.receipts(ctx, s.scripts.jobs.extend, lease.Milliseconds(), receipts)
}

// ReleaseJobs hands deliveries back that have neither worked out nor failed: they do not count. A job with a wait is
// due after it; one without keeps its time and its place in the queue. Returns those that are no longer the caller's.
func (s *Store) ReleaseJobs(ctx context.Context, wait time.Duration, receipts ...store.Receipt) ([]store.Receipt, error) {
	var pause any = ""
	if wait > 0 {
		pause = max(wait.Milliseconds(), 1)
	}
	return s.receipts(ctx, s.scripts.jobs.release, pause, receipts)
}

// receipts runs a script on many deliveries.
func (s *Store) receipts(ctx context.Context, sc script, first any, receipts []store.Receipt) ([]store.Receipt, error) {
	var lost []store.Receipt
	for group := range slices.Chunk(receipts, store.MaxJobBatch) {
		_, reply, err := s.job(ctx, sc, appendReceipts([]any{first}, group)...)
		if err != nil {
			return lost, err
		}
		lost = append(lost, lostOf(group, reply)...)
	}
	return lost, nil
}

// FailJob takes back a delivery that did not work out. The job is due again after a wait that doubles with each
// failure, or dead. Returns when it is due, the zero time for a dead one, or [store.ErrJobLost].
func (s *Store) FailJob(ctx context.Context, failure store.Failure) (time.Time, error) {
	final := 0
	if failure.Final {
		final = 1
	}
	const jitter = 250 // a quarter of the wait, at most: jobs that failed together do not come back together
	word, reply, err := s.job(ctx, s.scripts.jobs.fail, failure.Receipt.ID, failure.Receipt.Token,
		store.CleanReason(failure.Reason), final, store.JobFirstWait.Milliseconds(), store.JobLongestWait.Milliseconds(),
		mathrand.IntN(jitter), failure.Wait.Milliseconds(), store.MaxDeliveries, store.MaxDeadJobs,
		store.DeadJobsKept.Milliseconds())
	switch {
	case err != nil:
		return time.Time{}, err
	case word == "stale":
		return time.Time{}, fmt.Errorf("redisstore: job_fail: %s: %w", failure.Receipt.ID, store.ErrJobLost)
	case word == "dead":
		return time.Time{}, nil
	}
	return fromMillis(number(at(reply, 0))), nil
}

// ListenForJobs calls wake whenever something may have come to be done earlier than was known, until the context ends.
// Messages may be lost: who sleeps looks up by itself now and then.
func (s *Store) ListenForJobs(ctx context.Context, wake func()) {
	s.listen(ctx, s.keys.jobWake(), func(string) { wake() }, wake)
}

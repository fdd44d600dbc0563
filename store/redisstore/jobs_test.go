package redisstore_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"leaderboard/store"
	"leaderboard/store/redisstore"
	"leaderboard/store/storetest"
)

// queueOn is a job queue of its own on some Redis, with a clock that the test moves.
type queueOn struct {
	*redisstore.Store
	t      *testing.T
	client redis.UniversalClient
	prefix string
	clock  *storetest.Clock
}

// queueRules are what holds on every Redis.
var queueRules = map[string]func(q queueOn){
	"a job that is done leaves nothing behind":            aJobThatIsDoneLeavesNothingBehind,
	"thousands due at once come in their exact order":     thousandsDueAtOnceComeInTheirExactOrder,
	"what a dead worker held is handed out again":         whatADeadWorkerHeldIsHandedOutAgain,
	"the twelfth delivery is the last, when workers die":  theTwelfthDeliveryIsTheLast("its worker died", dies),
	"the twelfth delivery is the last, when it fails":     theTwelfthDeliveryIsTheLast("no luck", failsEachTime),
	"a dead job is retried or discarded":                  aDeadJobIsRetriedOrDiscarded,
	"a cancelled job is not its worker's any more":        aCancelledJobIsNotItsWorkersAnyMore,
	"a paused queue hands out nothing":                    aPausedQueueHandsOutNothing,
	"adding a job again adds nothing":                     addingAJobAgainAddsNothing,
	"a payload without a job is no job":                   aPayloadWithoutAJobIsNoJob,
	"jobs of any time and script":                         jobsOfAnyTimeAndScript,
	"what was pushed into scheduled by hand stops nobody": whatWasPushedByHand("scheduled"),
	"what was pushed into ready by hand stops nobody":     whatWasPushedByHand("ready"),
	"what was pushed into running by hand stops nobody":   whatWasPushedByHand("running"),
	"dead jobs are bounded by number and age":             deadJobsAreBoundedByNumberAndAge,
	"sleepers are woken by what comes earlier":            sleepersAreWokenByWhatComesEarlier,
	"the counts tell how the queue is":                    theCountsTellHowTheQueueIs,
	"a released job keeps its place and does not count":   aReleasedJobKeepsItsPlaceAndDoesNotCount,
}

func TestTheJobQueueOnRedis(t *testing.T) {
	t.Parallel()
	checkRules(t, queueRules, func(t *testing.T) redis.UniversalClient { return storetest.Redis(t) })
}

func TestTheJobQueueOnTheEmbeddedRedis(t *testing.T) {
	t.Parallel()
	checkRules(t, queueRules, func(t *testing.T) redis.UniversalClient { return storetest.Embedded(t) })
}

func TestTheJobQueueOnACluster(t *testing.T) {
	t.Parallel()
	server := storetest.Cluster(t)
	checkRules(t, queueRules, func(t *testing.T) redis.UniversalClient { return server.Client(t) })
}

func checkRules(t *testing.T, rules map[string]func(q queueOn), connect func(t *testing.T) redis.UniversalClient) {
	t.Helper()
	for name, rule := range rules {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rule(newQueue(t, connect(t)))
		})
	}
}

func newQueue(t *testing.T, client redis.UniversalClient) queueOn {
	t.Helper()
	q := queueOn{t: t, client: client, prefix: storetest.Prefix(t), clock: storetest.NewClock()}
	q.Store = redisstore.New(client, redisstore.Options{Prefix: q.prefix, Clock: q.clock.Now})
	return q
}

func (q queueOn) key(name string) string { return q.prefix + ":{jobs}:" + name }

func (q queueOn) add(jobs ...store.Job) store.Added {
	q.t.Helper()
	added, err := q.AddJobs(q.t.Context(), jobs...)
	if err != nil {
		q.t.Fatal(err)
	}
	return added
}

// claim asks until there is something to have, or nothing.
func (q queueOn) claim(most int, finished ...store.Delivery) []store.Delivery {
	q.t.Helper()
	receipts := make([]store.Receipt, len(finished))
	for i := range finished {
		receipts[i] = finished[i].Receipt()
	}
	for {
		claimed, err := q.ClaimJobs(q.t.Context(), store.Claim{Most: most, Lease: store.JobLease, Finished: receipts})
		if err != nil {
			q.t.Fatal(err)
		}
		if claimed.Lost != nil {
			q.t.Fatalf("lost %v", claimed.Lost)
		}
		if receipts = nil; most == 0 || len(claimed.Deliveries) > 0 || claimed.Sleep != 0 {
			return claimed.Deliveries
		}
	}
}

func (q queueOn) one() store.Delivery {
	q.t.Helper()
	d := q.claim(1)
	if len(d) != 1 {
		q.t.Fatal("got no job")
	}
	return d[0]
}

func (q queueOn) fail(d store.Delivery, reason string) {
	q.t.Helper()
	if _, err := q.FailJob(q.t.Context(), store.Failure{Receipt: d.Receipt(), Reason: reason}); err != nil {
		q.t.Fatal(err)
	}
}

func (q queueOn) counts() store.JobCounts {
	q.t.Helper()
	counts, err := q.JobCounts(q.t.Context())
	if err != nil {
		q.t.Fatal(err)
	}
	return counts
}

// keys returns what the queue keeps in Redis.
func (q queueOn) keys() []string {
	q.t.Helper()
	var found []string
	for _, name := range []string{
		"scheduled", "ready", "running", "dead", "data", "token", "deliveries", "reasons", "meta",
	} {
		n, err := q.client.Exists(q.t.Context(), q.key(name)).Result()
		if err != nil {
			q.t.Fatal(err)
		}
		if n > 0 {
			found = append(found, name)
		}
	}
	return found
}

func (q queueOn) mustDo(args ...any) {
	q.t.Helper()
	if err := q.client.Do(q.t.Context(), args...).Err(); err != nil {
		q.t.Fatal(err)
	}
}

func jobNumber(i int) store.Job {
	return store.Job{ID: fmt.Sprintf("job-%06d", i), Kind: "test", Payload: []byte(`{"n":1}`)}
}

func TestThreeClientsGetTenThousandDifferentJobs(t *testing.T) {
	t.Parallel()
	const many = 10_000
	prefix := storetest.Prefix(t)
	adder := redisstore.New(storetest.Redis(t), redisstore.Options{Prefix: prefix})
	jobs := make([]store.Job, many)
	for i := range jobs {
		jobs[i] = jobNumber(i)
		jobs[i].Priority = i % 10
	}
	if _, err := adder.AddJobs(t.Context(), jobs...); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	got := map[string]int{}
	var clients sync.WaitGroup
	for range 3 {
		client := redisstore.New(storetest.Redis(t), redisstore.Options{Prefix: prefix})
		clients.Go(func() {
			for finished := []store.Receipt(nil); ; {
				claimed, err := client.ClaimJobs(t.Context(), store.Claim{Most: 50, Lease: time.Minute, Finished: finished})
				if err != nil || len(claimed.Lost) > 0 {
					t.Errorf("lost %v (%v)", claimed.Lost, err)
					return
				}
				finished = nil
				mu.Lock()
				for _, d := range claimed.Deliveries {
					got[d.ID]++
					finished = append(finished, d.Receipt())
				}
				mu.Unlock()
				if len(finished) == 0 {
					return
				}
			}
		})
	}
	clients.Wait()
	if len(got) != many {
		t.Errorf("got %d jobs, want %d", len(got), many)
	}
	for id, times := range got {
		if times != 1 {
			t.Errorf("%s was handed out %d times", id, times)
		}
	}
}

func TestTheWaitDoublesUpToAnHour(t *testing.T) {
	t.Parallel()
	q := newQueue(t, storetest.Redis(t))
	q.add(store.Job{ID: "j", Kind: "test"})
	least := time.Second
	for range store.MaxDeliveries - 1 {
		d := q.one()
		due, err := q.FailJob(t.Context(), store.Failure{Receipt: d.Receipt(), Reason: "x"})
		if wait := due.Sub(q.clock.Now()); err != nil || wait < least || wait > least*5/4 {
			t.Errorf("after delivery %d due in %v (%v), want %v and at most a quarter more", d.Number, wait, err, least)
		}
		q.clock.Set(due)
		least = min(2*least, time.Hour)
	}
}

func TestWhatTheQueueDoesNotTake(t *testing.T) {
	t.Parallel()
	q := newQueue(t, storetest.Redis(t))
	bad := map[string]store.Job{
		"id":       {Kind: "test"},
		"id ":      {ID: strings.Repeat("x", store.MaxJobID+1), Kind: "test"},
		"id  ":     {ID: "\xff", Kind: "test"},
		"kind":     {ID: "j", Kind: "a b"},
		"kind ":    {ID: "j"},
		"priority": {ID: "j", Kind: "test", Priority: 10},
		"due":      {ID: "j", Kind: "test", Due: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)},
		"payload":  {ID: "j", Kind: "test", Payload: make([]byte, 10<<20)},
	}
	for field, job := range bad {
		_, err := q.AddJobs(t.Context(), jobNumber(1), job)
		invalid, ok := errors.AsType[*store.InvalidError](err)
		if !ok || invalid.Field != strings.TrimSpace(field) {
			t.Errorf("%s: got %v", field, err)
		}
	}
	if c := q.counts(); c.Ready != 0 {
		t.Errorf("%d jobs were added beside a bad one", c.Ready)
	}
}

// TestTheQueueStaysFlat works off many jobs, a few of which fail or die, and looks at what is left.
func TestTheQueueStaysFlat(t *testing.T) {
	t.Parallel()
	many := 20_000
	if os.Getenv("LEADERBOARD_TEST_LONG") != "" {
		many = 1_000_000
	}
	q := newQueue(t, storetest.Redis(t))
	var held []store.Delivery
	for i := 0; i < many; {
		jobs := make([]store.Job, store.MaxJobBatch)
		for j := range jobs {
			jobs[j] = jobNumber(i)
			jobs[j].Due = q.clock.Now().Add(time.Duration(i%3) * time.Millisecond)
			i++
		}
		q.add(jobs...)
		q.clock.Step(2 * time.Millisecond)
		held = q.claim(store.MaxJobBatch, held...)
		q.fail(held[0], "bad luck")
		held = held[1:]
	}
	for range 20 {
		q.clock.Step(time.Hour)
		held = q.claim(store.MaxJobBatch, held...)
	}
	for len(held) > 0 {
		held = q.claim(store.MaxJobBatch, held...)
	}
	if diff := gocmp.Diff([]string{"meta"}, q.keys()); diff != "" {
		t.Errorf("keys: want −, got +\n%s", diff)
	}
}

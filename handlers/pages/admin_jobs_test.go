package pages_test

import (
	"fmt"
	"html"
	"net/url"
	"strings"
	"testing"
	"time"

	"leaderboard/store"
	"leaderboard/web"
)

const hostileJob = `payout:demo:1:"><script>alert(1)</script>&job=x/../y`

// bury adds a job and lets it die.
func (d *desk) bury(id, reason string) {
	d.t.Helper()
	if _, err := d.store.AddJobs(d.t.Context(), store.Job{ID: id, Kind: "payout", Priority: 3}); err != nil {
		d.t.Fatal(err)
	}
	claimed, err := d.store.ClaimJobs(d.t.Context(), store.Claim{Most: 1, Lease: time.Minute})
	if err != nil || len(claimed.Deliveries) != 1 {
		d.t.Fatalf("got %+v, %v", claimed, err)
	}
	if _, err := d.store.FailJob(d.t.Context(), store.Failure{Receipt: claimed.Deliveries[0].Receipt(), Reason: reason, Final: true}); err != nil {
		d.t.Fatal(err)
	}
}

func TestDeadJobsAreTriedAgainOrDiscarded(t *testing.T) {
	t.Parallel()
	d := newDesk(t).login()
	d.get("/admin/jobs").wants(t, 200).has(t, "No job is dead", "nothing waits", "scheduled 0")
	d.bury(hostileJob, "<b>no</b> such player")
	d.bury("other", "broken")
	shown := html.EscapeString(hostileJob)
	page := d.get("/admin/jobs").wants(t, 200).has(t, "dead 2", shown, "&lt;b&gt;no&lt;/b&gt; such player", "/admin/jobs/discard?job="+url.QueryEscape(hostileJob), "Try again")
	page.hasNot(t, "<script>alert")
	d.get("/admin/jobs?filter=BROKEN&sort=-job").has(t, "other").hasNot(t, shown)

	d.follow(d.post("/admin/jobs/retry", "job", hostileJob)).wants(t, 200).has(t, "The job is tried again", "ready 1", "dead 1")
	d.post("/admin/jobs/retry", "job", hostileJob).wants(t, 409).has(t, "Only a dead job can be tried again")
	d.get("/admin/jobs?state=ready").has(t, shown, "payout").hasNot(t, "Try again")

	d.get("/admin/jobs/discard?job="+url.QueryEscape(hostileJob)).wants(t, 200).has(t, "of the kind payout, now ready, is removed for good", shown)
	d.post("/admin/jobs/discard", "job", hostileJob, "id", "other").wants(t, 422).has(t, "nothing was done")
	d.follow(d.post("/admin/jobs/discard", "job", hostileJob, "id", hostileJob)).has(t, "The job is gone", "ready 0")
	d.post("/admin/jobs/discard", "job", hostileJob, "id", hostileJob).wants(t, 404).has(t, "There is no such job")
	for _, id := range []string{"", strings.Repeat("x", 600)} {
		d.post("/admin/jobs/retry", "job", id).wants(t, 422)
		d.post("/admin/jobs/discard", "job", id).wants(t, 422)
	}
	d.get("/admin/jobs/discard?job=none").wants(t, 404)
	d.get("/admin/jobs?state=lost").wants(t, 422)
	d.get("/admin/jobs?skip=-1").wants(t, 422)
	if all := strings.Join(d.acts(), "\n"); !strings.Contains(all, "admin|job.retry|||"+hostileJob) || !strings.Contains(all, "admin|job.discard|||"+hostileJob) {
		t.Errorf("the audit has %s", all)
	}
}

func TestTheQueueIsPausedAndResumed(t *testing.T) {
	t.Parallel()
	d := newDesk(t).login()
	d.follow(d.post("/admin/jobs/pause")).has(t, "The queue is paused", "Resume")
	if counts, err := d.store.JobCounts(t.Context()); err != nil || !counts.Paused {
		t.Errorf("got %+v, %v", counts, err)
	}
	d.follow(d.post("/admin/jobs/resume")).has(t, "The queue goes on", "Pause")
	if counts, err := d.store.JobCounts(t.Context()); err != nil || counts.Paused {
		t.Errorf("got %+v, %v", counts, err)
	}
}

func TestManyJobsComeAPageAtATimeAndRunningOnesAreShown(t *testing.T) {
	t.Parallel()
	d := newDesk(t).login()
	var jobs []store.Job
	for i := range 60 {
		jobs = append(jobs, store.Job{ID: fmt.Sprintf("job-%02d", i), Kind: "reward", Wait: time.Hour - 30*time.Second + time.Duration(i)*time.Minute})
	}
	if _, err := d.store.AddJobs(t.Context(), jobs...); err != nil {
		t.Fatal(err)
	}
	d.get("/admin/jobs?state=scheduled").has(t, "scheduled 60", "job-00", "job-49", "skip=50", "in 59 min").hasNot(t, "job-50")
	d.get("/admin/jobs?state=scheduled&skip=50").has(t, "job-50", "job-59", "skip=0").hasNot(t, "job-49")
	if _, err := d.store.AddJobs(t.Context(), store.Job{ID: "now", Kind: "reward"}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.store.ClaimJobs(t.Context(), store.Claim{Most: 1, Lease: time.Minute}); err != nil {
		t.Fatal(err)
	}
	d.get("/admin/jobs?state=running").has(t, "running 1", "now", "for 0 s")
}

func TestAQueueThatStandsStillIsWarnedAbout(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.serve(withStore(func(f *faulty) {
		f.counts = &store.JobCounts{Ready: 3, OldestDue: time.Unix(1000, 0), Now: time.Unix(1090, 0)}
	}))
	d.login()
	d.get("/admin/jobs").has(t, "The head of the queue waits for more than a minute.", "late by 1 min", "ready 3")
}

func TestTheAuditIsTurnedOverAndSearched(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for i := range 60 {
		act := store.Act{Who: "key <x>", Act: "board.put", Board: "demo", Player: "p<b>", Details: fmt.Sprintf("change %02d <i>", i)}
		if err := d.store.Record(t.Context(), act); err != nil {
			t.Fatal(err)
		}
	}
	d.login()
	page := d.get("/admin/audit").wants(t, 200).has(t, "change 59 &lt;i&gt;", "key &lt;x&gt;", "p&lt;b&gt;", "change 11", "login", "Older →").hasNot(t, "change 10 ", "<i>")
	older := html.UnescapeString(between(page.body, `<a href="/admin/audit?after=`, `"`))
	d.get("/admin/audit?after="+older).wants(t, 200).has(t, "change 10 ", "change 00 ", "Newest").hasNot(t, "change 11 ", "Older →")
	d.get("/admin/audit?filter=CHANGE+07").has(t, "change 07", `value="CHANGE 07"`).hasNot(t, "change 08")
	d.get("/admin/audit?filter=zebra").has(t, "Nothing fits “zebra” among 61 acts")
	d.get("/admin/audit?filter=change").has(t, "change 00", "change 59")
	d.get("/admin/audit?after=x").wants(t, 422)
	d.get("/admin/audit?filter=a&filter=b").wants(t, 422)
}

func TestPagesSayWhenTheStoreIsAway(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.login()
	d.serve(func(deps *web.Deps) { deps.Admin.Sessions = brokenSessions{} })
	d.get("/admin").wants(t, 503).has(t, "Back in a moment")
	d.post("/admin/jobs/pause").wants(t, 503)
}

// brokenSessions is a storage that is away.
type brokenSessions struct{}

func (brokenSessions) Get(string) ([]byte, error)              { return nil, store.ErrUnavailable }
func (brokenSessions) Set(string, []byte, time.Duration) error { return store.ErrUnavailable }
func (brokenSessions) Delete(string) error                     { return store.ErrUnavailable }
func (brokenSessions) Reset() error                            { return store.ErrUnavailable }
func (brokenSessions) Close() error                            { return nil }

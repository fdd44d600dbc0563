package api_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"leaderboard/store"
)

// queue is the reply of GET /jobs.
type queue struct {
	Scheduled, Ready, Running, Dead int64
	OldestDue                       *time.Time `json:"oldest_due"`
	Items                           []struct {
		ID, Kind, State string
		Due             time.Time
		Priority        int
		Deliveries      int
		Reason          *string
	}
}

func jobsOf(t *testing.T, s *server, query string) queue {
	t.Helper()
	var q queue
	do(t, s, "GET", "/api/v1/jobs"+query, "").want(t, 200).into(t, &q)
	return q
}

func (q *queue) ids() string {
	var ids []string
	for _, item := range q.Items {
		ids = append(ids, item.State+" "+item.ID)
	}
	return strings.Join(ids, ", ")
}

// withJobs returns a server whose queue has a job in each state.
func withJobs(t *testing.T) *server {
	t.Helper()
	s := newServer(t)
	ctx := t.Context()
	add := func(job store.Job) {
		t.Helper()
		if _, err := s.store.AddJobs(ctx, job); err != nil {
			t.Fatal(err)
		}
	}
	claim := func() store.Delivery {
		t.Helper()
		claimed, err := s.store.ClaimJobs(ctx, store.Claim{Most: 1, Lease: store.JobLease})
		if err != nil || len(claimed.Deliveries) != 1 {
			t.Fatalf("claimed %+v: %v", claimed, err)
		}
		return claimed.Deliveries[0]
	}
	add(store.Job{ID: "dead/1 %41 玩家", Kind: "payout", Priority: 3})
	failed := claim()
	if _, err := s.store.FailJob(ctx, store.Failure{Receipt: failed.Receipt(), Reason: "no\nuse", Final: true}); err != nil {
		t.Fatal(err)
	}
	add(store.Job{ID: "running", Kind: "payout"})
	claim()
	add(store.Job{ID: "ready", Kind: "payout"})
	add(store.Job{ID: "scheduled", Kind: "payout", Due: time.Now().Add(time.Hour), Priority: 9})
	return s
}

func TestTheQueueIsShown(t *testing.T) {
	t.Parallel()
	s := withJobs(t)
	q := jobsOf(t, s, "")
	if q.Scheduled+q.Ready != 2 || q.Running != 1 || q.Dead != 1 || q.OldestDue == nil || len(q.Items) != 4 {
		t.Errorf("the queue is %+v", q)
	}
	dead := jobsOf(t, s, "?state=dead")
	if dead.ids() != "dead dead/1 %41 玩家" || dead.Items[0].Priority != 3 || dead.Items[0].Deliveries != 1 ||
		dead.Items[0].Reason == nil || *dead.Items[0].Reason != "no use" {
		t.Errorf("the dead are %+v", dead)
	}
	if one := jobsOf(t, s, "?limit=1"); len(one.Items) != 1 {
		t.Errorf("asked for one, got %s", one.ids())
	}
	if running := jobsOf(t, s, "?state=running"); running.ids() != "running running" {
		t.Errorf("running are %s", running.ids())
	}
	empty := newServer(t)
	if q := jobsOf(t, empty, ""); q.Items == nil || q.OldestDue != nil {
		t.Errorf("an empty queue is %+v", q)
	}
	for _, wrong := range []string{"state=done", "state=", "state=dead&state=dead", "limit=0", "limit=1001"} {
		name, _, _ := strings.Cut(wrong, "=")
		do(t, s, "GET", "/api/v1/jobs?"+wrong, "").refused(t, 422, "invalid", name)
	}
}

func TestADeadJobIsTriedAgainAndAnyIsDiscarded(t *testing.T) {
	t.Parallel()
	s := withJobs(t)
	dead := "/api/v1/jobs/" + url.PathEscape("dead/1 %41 玩家")
	do(t, s, "POST", "/api/v1/jobs/running/retry", "").refused(t, 409, "job_not_dead", "")
	do(t, s, "POST", dead+"/retry", "").want(t, 204)
	do(t, s, "POST", dead+"/retry", "").refused(t, 409, "job_not_dead", "")
	if q := jobsOf(t, s, ""); q.Dead != 0 {
		t.Errorf("after the retry the queue is %+v", q)
	}
	for _, id := range []string{dead, "/api/v1/jobs/running", "/api/v1/jobs/ready", "/api/v1/jobs/scheduled"} {
		do(t, s, "DELETE", id, "").want(t, 204)
		do(t, s, "DELETE", id, "").refused(t, 404, "job_not_found", "")
		do(t, s, "POST", id+"/retry", "").refused(t, 404, "job_not_found", "")
	}
	if q := jobsOf(t, s, ""); len(q.Items) != 0 {
		t.Errorf("after all were discarded the queue is %+v", q)
	}
	for _, id := range []string{"%ff", "%zz", strings.Repeat("a", 513)} {
		do(t, s, "DELETE", "/api/v1/jobs/"+id, "").refused(t, 422, "invalid", "id")
	}
	if got, want := actsOn(t, s), "job.retry dead/1 %41 玩家"; !strings.Contains(got, want) || !strings.Contains(got, "job.discard running") {
		t.Errorf("the audit says %s, want %s in it", got, want)
	}
}

// actsOn returns what the audit says, an act a line.
func actsOn(t *testing.T, s *server) string {
	t.Helper()
	var audit struct {
		Items []struct {
			Who, Act string
			Details  *string
		}
	}
	do(t, s, "GET", "/api/v1/audit", "").want(t, 200).into(t, &audit)
	var lines strings.Builder
	for _, item := range audit.Items {
		lines.WriteString(item.Who + ": " + item.Act)
		if item.Details != nil {
			lines.WriteString(" " + *item.Details)
		}
		lines.WriteString("\n")
	}
	return lines.String()
}

func TestAPausedQueueHandsNothingOut(t *testing.T) {
	t.Parallel()
	s := withJobs(t)
	claim := func() store.Claimed {
		t.Helper()
		claimed, err := s.store.ClaimJobs(t.Context(), store.Claim{Most: 1, Lease: store.JobLease})
		if err != nil {
			t.Fatal(err)
		}
		return claimed
	}
	for range 2 {
		do(t, s, "POST", "/api/v1/jobs/pause", "").want(t, 204)
	}
	if claimed := claim(); !claimed.Paused || len(claimed.Deliveries) != 0 {
		t.Errorf("a paused queue hands out %+v", claimed)
	}
	for range 2 {
		do(t, s, "POST", "/api/v1/jobs/resume", "").want(t, 204)
	}
	if claimed := claim(); len(claimed.Deliveries) != 1 {
		t.Errorf("a queue that goes on hands out %+v", claimed)
	}
	if got := actsOn(t, s); strings.Count(got, "Ann: jobs.pause\n") != 2 || strings.Count(got, "Ann: jobs.resume\n") != 2 {
		t.Errorf("the audit says %s", got)
	}
}

func TestTheQueueIsForAdminsOfAllBoards(t *testing.T) {
	t.Parallel()
	s := withJobs(t)
	for _, call := range []string{
		"GET /api/v1/jobs", "POST /api/v1/jobs/pause", "POST /api/v1/jobs/resume", "POST /api/v1/jobs/ready/retry", "DELETE /api/v1/jobs/ready",
	} {
		method, target, _ := strings.Cut(call, " ")
		do(t, s, method, target, "", "Authorization: ").refused(t, 401, "unauthorized", "")
		for _, key := range []string{writerKey, readerKey, demoKey} {
			do(t, s, method, target, "", "Authorization: Bearer "+key).refused(t, 403, "forbidden", "")
		}
	}
	if q := jobsOf(t, s, ""); len(q.Items) != 4 {
		t.Errorf("after refused calls the queue is %s", q.ids())
	}
	var raw map[string]json.RawMessage
	do(t, s, "GET", "/api/v1/jobs", "").into(t, &raw)
	if len(raw) != 6 {
		t.Errorf("the reply has %d members, want 6", len(raw))
	}
}

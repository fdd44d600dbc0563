package pages

import (
	"net/url"
	"slices"
	"strconv"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"leaderboard/store"
	"leaderboard/templates"
)

const jobRows = 50

// Jobs shows the job queue, and the jobs of one state.
func (a *Admin) Jobs(c *fiber.Ctx) error {
	state, skip, err := askedJobs(c)
	if err != nil {
		return err
	}
	counts, err := a.deps.Store.JobCounts(c.UserContext())
	if err != nil {
		return err
	}
	queued, err := a.deps.Store.Jobs(c.UserContext(), state, skip, jobRows+1)
	if err != nil {
		return err
	}
	page := templates.AdminJobs{
		Admin: a.frame(c, "Jobs", partJobs), Warning: sentence(counts.Warning()), Paused: counts.Paused,
		Facts: jobFacts(&counts), States: jobStates(&counts, state), Dead: state == store.JobDead,
		Turn: turnJobs(state, skip, len(queued) > jobRows),
	}
	list := table[store.QueuedJob]{
		path: "/admin/jobs", noun: "jobs", none: "No job is " + string(state) + ".",
		columns: []column[store.QueuedJob]{
			{title: "Job", name: "job", compare: by(func(j store.QueuedJob) string { return j.ID })},
			{title: "Kind", name: "kind", compare: by(func(j store.QueuedJob) string { return j.Kind })},
			{title: "Priority", name: "priority", compare: by(func(j store.QueuedJob) int { return j.Priority }), number: true, extra: true},
			{title: dueTitle(state), name: "due", compare: by(func(j store.QueuedJob) int64 { return j.Due.UnixMilli() })},
			{title: "Deliveries", name: "deliveries", compare: by(func(j store.QueuedJob) int { return j.Deliveries }), number: true, extra: true},
			{title: "Last failure", name: "reason", compare: by(func(j store.QueuedJob) string { return j.Reason })},
			{},
		},
		words: func(j store.QueuedJob) []string { return []string{j.ID, j.Kind, j.Reason} },
		keep:  []templates.Hidden{{Name: "state", Value: string(state)}},
	}
	rows, frame, err := list.view(c, queued[:min(len(queued), jobRows)])
	if err != nil {
		return err
	}
	page.Table = frame
	for i := range rows {
		page.Rows = append(page.Rows, jobRow(&rows[i]))
	}
	return show(c, templates.AdminJobsPage(page))
}

// askedJobs returns which jobs a request is about: the dead ones first, as those wait for somebody.
func askedJobs(c *fiber.Ctx) (store.JobState, int, error) {
	text, given, err := query(c, "state")
	if err != nil {
		return "", 0, err
	}
	state := store.JobDead
	if given {
		i := slices.Index(store.JobStates[:], store.JobState(text))
		if i < 0 {
			return "", 0, store.Invalid("state", "must be scheduled, ready, running or dead")
		}
		state = store.JobStates[i]
	}
	skip, err := wholeNumber(c, "skip", 0, 0, furthestRow)
	return state, int(skip), err
}

func dueTitle(state store.JobState) string {
	if state == store.JobDead {
		return "Died (UTC)"
	}
	return "Due (UTC)"
}

func jobFacts(n *store.JobCounts) []templates.Fact {
	oldest := "nothing waits"
	switch late := n.Overdue(); {
	case late > 0:
		oldest = "late by " + lengthWords(late)
	case !n.OldestDue.IsZero():
		oldest = "in " + lengthWords(n.OldestDue.Sub(n.Now))
	}
	running := "nothing"
	if n.Running > 0 {
		running = "for " + lengthWords(n.RunningFor)
	}
	return []templates.Fact{
		{Label: "Next due", Value: oldest},
		{Label: "Longest run", Value: running},
		{Label: "Taken back", Value: count(n.TakenBack)},
		{Label: "Stale words", Value: count(n.Stale)},
		{Label: "Orphans", Value: count(n.Orphans)},
		{Label: "Trimmed", Value: count(n.Trimmed)},
	}
}

func jobStates(n *store.JobCounts, here store.JobState) []templates.Link {
	numbers := map[store.JobState]int64{
		store.JobScheduled: n.Scheduled, store.JobReady: n.Ready, store.JobRunning: n.Running, store.JobDead: n.Dead,
	}
	var links []templates.Link
	for _, state := range store.JobStates {
		links = append(links, templates.Link{
			Address: templ.SafeURL("/admin/jobs?state=" + string(state)), Text: string(state) + " " + count(numbers[state]), Here: state == here,
		})
	}
	return links
}

func turnJobs(state store.JobState, skip int, more bool) (turn []templates.Link) {
	at := func(skip int) templ.SafeURL {
		return templ.SafeURL("/admin/jobs?state=" + string(state) + "&skip=" + strconv.Itoa(skip))
	}
	if skip > 0 {
		turn = append(turn, templates.Link{Address: at(max(skip-jobRows, 0)), Text: "← Before"})
	}
	if more {
		turn = append(turn, templates.Link{Address: at(skip + jobRows), Text: "Further →"})
	}
	return turn
}

func jobRow(j *store.QueuedJob) templates.AdminJobRow {
	return templates.AdminJobRow{
		ID: j.ID, Kind: j.Kind, Priority: count(int64(j.Priority)), Due: stamp(j.Due), Deliveries: count(int64(j.Deliveries)),
		Reason: j.Reason, Discard: templ.SafeURL("/admin/jobs/discard?job=" + url.QueryEscape(j.ID)),
	}
}

// Retry gives a dead job a new life.
func (a *Admin) Retry(c *fiber.Ctx, f form) error {
	id, err := f.job()
	if err == nil {
		act := store.Act{Act: "job.retry", Details: id}
		err = a.record(c.UserContext(), act, func() error { return a.deps.Store.RetryJob(c.UserContext(), id) })
	}
	if err != nil {
		return a.refused(c, err, a.Jobs)
	}
	return a.done(c, "/admin/jobs", "The job is tried again.")
}

// job returns the id of the job that a form names. It is whatever the queue took once.
func (f form) job() (string, error) {
	id := f.first("job")
	if id == "" || len(id) > store.MaxJobID || len(f["job"]) > 1 {
		return "", store.Invalid("job", "must be the id of one job")
	}
	return id, nil
}

// DiscardPage asks before a job is discarded.
func (a *Admin) DiscardPage(c *fiber.Ctx) error {
	return a.showDiscard(c, string(c.Context().QueryArgs().Peek("job")), nil)
}

func (a *Admin) showDiscard(c *fiber.Ctx, id string, wrong error) error {
	job, err := a.deps.Store.Job(c.UserContext(), id)
	if err != nil {
		return a.refused(c, err, a.Jobs)
	}
	return a.confirm(c, templates.Confirm{
		Admin: a.frame(c, "Discard a job", partJobs),
		Words: []string{
			"The job of the kind " + job.Kind + ", now " + string(job.State) + ", is removed for good. What it was to bring about does not happen: a reward is not paid, an event not sent.",
			"A worker that has it in hand may still finish it.",
		},
		ID: job.ID, IDLabel: "To discard it, type or paste its id",
		Action: "/admin/jobs/discard", Fields: []templates.Hidden{{Name: "job", Value: job.ID}}, Button: "Discard the job", Danger: true,
		Cancel: templ.SafeURL("/admin/jobs?state=" + string(job.State)),
	}, wrong)
}

// Discard removes a job.
func (a *Admin) Discard(c *fiber.Ctx, f form) error {
	id, err := f.job()
	if err != nil {
		return a.refused(c, err, a.Jobs)
	}
	if err := f.typed(id); err != nil {
		return a.showDiscard(c, id, err)
	}
	act := store.Act{Act: "job.discard", Details: id}
	err = a.record(c.UserContext(), act, func() error { return a.deps.Store.DiscardJob(c.UserContext(), id) })
	if err != nil {
		return a.refused(c, err, a.Jobs)
	}
	return a.done(c, "/admin/jobs", "The job is gone.")
}

// Pause stops the queue.
func (a *Admin) Pause(c *fiber.Ctx, _ form) error {
	err := a.record(c.UserContext(), store.Act{Act: "jobs.pause"}, func() error { return a.deps.Store.PauseJobs(c.UserContext()) })
	if err != nil {
		return err
	}
	return a.done(c, "/admin/jobs", "The queue is paused.")
}

// Resume lets the queue go on.
func (a *Admin) Resume(c *fiber.Ctx, _ form) error {
	err := a.record(c.UserContext(), store.Act{Act: "jobs.resume"}, func() error { return a.deps.Store.ResumeJobs(c.UserContext()) })
	if err != nil {
		return err
	}
	return a.done(c, "/admin/jobs", "The queue goes on.")
}

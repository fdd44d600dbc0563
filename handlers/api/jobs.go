package api

import (
	"context"
	"slices"

	"github.com/gofiber/fiber/v2"

	"leaderboard/store"
)

// JobStore is what [Jobs] needs of a store.
type JobStore interface {
	JobCounts(ctx context.Context) (store.JobCounts, error)
	Jobs(ctx context.Context, state store.JobState, skip, limit int) ([]store.QueuedJob, error)
	RetryJob(ctx context.Context, id string) error
	DiscardJob(ctx context.Context, id string) error
	PauseJobs(ctx context.Context) error
	ResumeJobs(ctx context.Context) error
}

// Jobs shows the queue of rewards and webhooks, and lets admins act on it.
type Jobs struct {
	Store JobStore
	Acts  Acts
}

// List answers GET /jobs: how many there are, and those of one state or of all, in the order in which jobs pass them.
func (h Jobs) List(c *fiber.Ctx) error {
	states, err := queryJobStates(c)
	if err != nil {
		return err
	}
	limit, err := queryLimit(c, 50)
	if err != nil {
		return err
	}
	counts, err := h.Store.JobCounts(c.UserContext())
	if err != nil {
		return err
	}
	var items []store.QueuedJob
	seen := map[string]bool{} // a job may move on between two looks
	for _, state := range states {
		found, err := h.Store.Jobs(c.UserContext(), state, 0, int(limit))
		if err != nil {
			return err
		}
		for _, job := range found {
			if len(items) < int(limit) && !seen[job.ID] {
				seen[job.ID] = true
				items = append(items, job)
			}
		}
		if len(items) == int(limit) {
			break
		}
	}
	return sendJSON(c, appendJobs(nil, &counts, items))
}

// queryJobStates returns the states that a request asks for.
func queryJobStates(c *fiber.Ctx) ([]store.JobState, error) {
	text, given, err := queryValue(c, "state")
	if err != nil || !given {
		return store.JobStates[:], err
	}
	i := slices.Index(store.JobStates[:], store.JobState(text))
	if i < 0 {
		return nil, store.Invalid("state", "must be scheduled, ready, running or dead")
	}
	return store.JobStates[i : i+1], nil
}

func appendJobs(to []byte, n *store.JobCounts, items []store.QueuedJob) []byte {
	to = append(to, `{"scheduled":`...)
	to = appendInt(to, n.Scheduled)
	to = append(to, `,"ready":`...)
	to = appendInt(to, n.Ready)
	to = append(to, `,"running":`...)
	to = appendInt(to, n.Running)
	to = append(to, `,"dead":`...)
	to = appendInt(to, n.Dead)
	to = append(to, `,"oldest_due":`...)
	to = appendTimeOrNull(to, n.OldestDue)
	to = append(to, `,"items":`...)
	return append(appendList(to, items, appendJob), '}')
}

func appendJob(to []byte, j *store.QueuedJob) []byte {
	to = append(to, `{"id":`...)
	to = appendString(to, j.ID)
	to = append(to, `,"kind":`...)
	to = appendString(to, j.Kind)
	to = append(to, `,"state":`...)
	to = appendString(to, j.State)
	to = append(to, `,"due":`...)
	to = appendTime(to, j.Due)
	to = append(to, `,"priority":`...)
	to = appendInt(to, int64(j.Priority))
	to = append(to, `,"deliveries":`...)
	to = appendInt(to, int64(j.Deliveries))
	to = append(to, `,"reason":`...)
	return append(appendTextOrNull(to, j.Reason), '}')
}

// Retry answers POST /jobs/{id}/retry: a dead job gets a new life.
func (h Jobs) Retry(c *fiber.Ctx) error { return h.one(c, "job.retry", h.Store.RetryJob) }

// Discard answers DELETE /jobs/{id}: what the job was to bring about does not happen.
func (h Jobs) Discard(c *fiber.Ctx) error { return h.one(c, "job.discard", h.Store.DiscardJob) }

func (h Jobs) one(c *fiber.Ctx, act string, do func(context.Context, string) error) error {
	id, err := parseJobID(c)
	if err != nil {
		return err
	}
	err = h.Acts.do(c, store.Act{Act: act, Details: id}, func() error { return do(c.UserContext(), id) })
	if err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

// parseJobID returns the job in the path.
func parseJobID(c *fiber.Ctx) (string, error) {
	text, err := pathValue(c, "id")
	if err != nil {
		return "", err
	}
	return store.ParseJobID(text)
}

// Pause answers POST /jobs/pause: nothing more is handed out. Pausing again changes nothing.
func (h Jobs) Pause(c *fiber.Ctx) error { return h.all(c, "jobs.pause", h.Store.PauseJobs) }

// Resume answers POST /jobs/resume.
func (h Jobs) Resume(c *fiber.Ctx) error { return h.all(c, "jobs.resume", h.Store.ResumeJobs) }

func (h Jobs) all(c *fiber.Ctx, act string, do func(context.Context) error) error {
	if err := h.Acts.do(c, store.Act{Act: act}, func() error { return do(c.UserContext()) }); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

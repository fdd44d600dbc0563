package redisstore

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"leaderboard/store"
)

// RetryJob gives a dead job a new life. Returns [store.ErrJobNotFound] or [store.ErrJobNotDead].
func (s *Store) RetryJob(ctx context.Context, id string) error {
	return s.jobWord(ctx, s.scripts.jobs.retry, id)
}

// DiscardJob removes a job in whatever state it is. A worker that has it is told so by its next word about it. Returns
// [store.ErrJobNotFound].
func (s *Store) DiscardJob(ctx context.Context, id string) error {
	return s.jobWord(ctx, s.scripts.jobs.discard, id)
}

func (s *Store) jobWord(ctx context.Context, sc script, id string) error {
	word, _, err := s.job(ctx, sc, id)
	switch {
	case err != nil:
		return err
	case word == "absent":
		return fmt.Errorf("redisstore: %s: %w", sc.name, store.ErrJobNotFound)
	case word == "alive":
		return fmt.Errorf("redisstore: %s: %w", sc.name, store.ErrJobNotDead)
	}
	return nil
}

// PauseJobs stops the queue: nothing more is handed out until [Store.ResumeJobs]. What runs is finished.
func (s *Store) PauseJobs(ctx context.Context) error {
	_, _, err := s.job(ctx, s.scripts.jobs.pause, 1)
	return err
}

// ResumeJobs ends [Store.PauseJobs].
func (s *Store) ResumeJobs(ctx context.Context) error {
	_, _, err := s.job(ctx, s.scripts.jobs.pause, 0)
	return err
}

// JobCounts returns the state of the queue.
func (s *Store) JobCounts(ctx context.Context) (store.JobCounts, error) {
	const looked = 1000 // running jobs: more than workers usually have
	_, r, err := s.job(ctx, s.scripts.jobs.counts, looked)
	if err != nil {
		return store.JobCounts{}, err
	}
	if len(r) != 12 {
		return store.JobCounts{}, unexpected("job_counts", r)
	}
	counts := store.JobCounts{
		Now: fromMillis(number(r[0])), Scheduled: number(r[1]), Ready: number(r[2]), Running: number(r[3]),
		Dead: number(r[4]), Paused: number(r[7]) == 1,
		TakenBack: number(r[8]), Stale: number(r[9]), Orphans: number(r[10]), Trimmed: number(r[11]),
	}
	if due := text(r[5]); due != "" {
		counts.OldestDue = fromMillis(number(due))
	}
	if started := text(r[6]); started != "" {
		counts.RunningFor = max(counts.Now.Sub(fromMillis(number(started))), 0)
	}
	return counts, nil
}

// Jobs returns jobs of one state, those first whose turn is next; of the dead, the latest first. Their payloads are
// left out.
func (s *Store) Jobs(ctx context.Context, state store.JobState, skip, limit int) ([]store.QueuedJob, error) {
	if !slices.Contains(store.JobStates[:], state) {
		return nil, store.Invalid("state", "must be scheduled, ready, running or dead")
	}
	jobs, err := s.queuedJobs(ctx, string(state), min(skip, math.MaxInt32), min(limit, 1000), "")
	for i := range jobs {
		jobs[i].Payload = nil
	}
	return jobs, err
}

// Job returns one job, or [store.ErrJobNotFound].
func (s *Store) Job(ctx context.Context, id string) (store.QueuedJob, error) {
	jobs, err := s.queuedJobs(ctx, "", 0, 1, id)
	if err == nil && len(jobs) == 0 {
		err = fmt.Errorf("redisstore: job_list: %w", store.ErrJobNotFound)
	}
	if err != nil {
		return store.QueuedJob{}, err
	}
	return jobs[0], nil
}

func (s *Store) queuedJobs(ctx context.Context, state string, skip, limit int, id string) ([]store.QueuedJob, error) {
	_, reply, err := s.job(ctx, s.scripts.jobs.list, state, skip, limit, id)
	if err != nil {
		return nil, err
	}
	if len(reply)%8 != 0 {
		return nil, unexpected("job_list", reply)
	}
	jobs := make([]store.QueuedJob, 0, len(reply)/8)
	for row := range slices.Chunk(reply, 8) {
		job, ok := jobOf(text(row[1]), text(row[7]))
		if !ok {
			job.Kind = "unreadable" // pushed by hand; it is dead when its turn comes
		}
		job.Priority, _ = strconv.Atoi(text(row[2])[placeLength-1:])
		job.Due = fromMillis(number(row[3]))
		jobs = append(jobs, store.QueuedJob{
			Job: job, State: store.JobState(text(row[0])), Deliveries: int(number(row[4])),
			Failures: int(number(row[5])), Reason: text(row[6]),
		})
	}
	return jobs, nil
}

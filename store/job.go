package store

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Bounds of the job queue.
const (
	MaxJobBatch    = 128      // jobs in one call
	MaxJobID       = 512      // bytes
	MaxJobPayload  = 64 << 10 // bytes
	MaxJobReason   = 500      // bytes
	MaxDeliveries  = 12       // how often a job is handed out before it is dead
	MaxDeadJobs    = 10_000   // dead jobs kept; the oldest go first
	JobLease       = 10 * time.Second
	JobTime        = 30 * time.Second // how long one delivery may run
	JobFirstWait   = time.Second      // after the first failure; doubled by each further one
	JobLongestWait = time.Hour
	DeadJobsKept   = 30 * 24 * time.Hour
	MaxJobWait     = 100 * 365 * 24 * time.Hour
)

// Errors of the job queue.
var (
	// ErrJobNotFound means that no such job waits, runs or is dead: it never was, is done, or was discarded.
	ErrJobNotFound = errors.New("no such job")
	// ErrJobNotDead means that only a dead job can be tried again: this one is still on its way.
	ErrJobNotDead = errors.New("the job is not dead")
	// ErrJobLost means that a worker spoke of a delivery that is no longer its own: its lease ran out, or the job was
	// discarded. Nothing was changed.
	ErrJobLost = errors.New("the delivery is no longer this worker's")
)

// Job is something to be done later, at least once. Whoever does it marks the effect with the job's id, so that the
// effect happens once.
type Job struct {
	ID       string        // made of the cause: adding the same job again adds nothing
	Kind     string        // decides who does it
	Priority int           // 0 is first, 9 last
	Due      time.Time     // zero or in the past: at once
	Wait     time.Duration // if over 0, the job is due so long after it was added, by the store's clock, instead of at Due
	Payload  []byte
}

var jobKind = regexp.MustCompile(`^[a-z][a-z0-9_.-]{0,62}$`)

// latestDue is where times end: RFC 3339 has years of four digits.
var latestDue = time.Date(9999, 12, 31, 23, 59, 59, 999_000_000, time.UTC)

// Validate returns an [InvalidError] for the first part of a job that the queue does not take.
func (j *Job) Validate() error {
	switch {
	case !isJobID(j.ID):
		return errJobID()
	case !jobKind.MatchString(j.Kind):
		return Invalid("kind", "must be 1 to 63 of a-z, 0-9, _, . and -, and begin with a letter")
	case j.Priority < 0 || j.Priority > LowestPriority:
		return Invalid("priority", "must be 0 to 9")
	case j.Due.After(latestDue):
		return Invalid("due", "must not be after the year 9999")
	case j.Wait < 0 || j.Wait > MaxJobWait:
		return Invalid("wait", "must be 0 to 100 years")
	case len(j.Payload) > MaxJobPayload:
		return Invalid("payload", "must be at most "+strconv.Itoa(MaxJobPayload)+" bytes")
	}
	return nil
}

func isJobID(id string) bool { return id != "" && len(id) <= MaxJobID && utf8.ValidString(id) }

func errJobID() error { return Invalid("id", "must be 1 to "+strconv.Itoa(MaxJobID)+" bytes of UTF-8") }

// ParseJobID reads the id of a job.
func ParseJobID(text string) (string, error) {
	if !isJobID(text) {
		return "", errJobID()
	}
	return strings.Clone(text), nil
}

// Receipt names one delivery of a job. Finishing, extending, failing and releasing compare the token: a receipt that is
// no longer the job's newest has no effect.
type Receipt struct {
	ID    string
	Token string
}

// Delivery is a job as it was handed to a worker.
type Delivery struct {
	Job
	Token   string
	Number  int       // of this delivery, from 1
	Started time.Time // when it was handed out, by the store's clock
}

// Receipt returns what names this delivery.
func (d *Delivery) Receipt() Receipt { return Receipt{ID: d.ID, Token: d.Token} }

// Late returns how long after its time the job was handed out.
func (d *Delivery) Late() time.Duration { return d.Started.Sub(d.Due) }

// Claim asks for jobs and tells what became of earlier ones.
type Claim struct {
	Most     int // jobs to hand out, up to [MaxJobBatch]
	Lease    time.Duration
	Finished []Receipt // up to [MaxJobBatch]
}

// Claimed is the answer to a [Claim].
type Claimed struct {
	Deliveries []Delivery // best first
	Lost       []Receipt  // finished ones that were no longer the worker's
	Paused     bool
	// Sleep is how long nothing will be there to do, as far as is known: 0 when a further call would find something,
	// negative when nothing waits at all.
	Sleep time.Duration
}

// Added is what became of jobs that were added.
type Added struct {
	New   int   // the others were there before
	Ready int64 // jobs that wait for a worker now
}

// Failure says that a delivery did not work out.
type Failure struct {
	Receipt Receipt
	Reason  string
	Wait    time.Duration // the least to wait before the next delivery, such as a receiver asked for
	Final   bool          // there is no use in trying again: the job is dead now
}

// JobState is where a job is.
type JobState string

// The states. A job that is done is nowhere.
const (
	JobScheduled JobState = "scheduled" // its time has not come
	JobReady     JobState = "ready"     // waits for a worker
	JobRunning   JobState = "running"
	JobDead      JobState = "dead" // given up, kept for an admin
)

// JobStates are all states, in the order in which a job passes them.
var JobStates = [...]JobState{JobScheduled, JobReady, JobRunning, JobDead}

// QueuedJob is a job as an admin sees it.
type QueuedJob struct {
	Job        // Due of a dead job is when it died
	State      JobState
	Deliveries int
	Failures   int
	Reason     string // of the last failure, or of its death
}

// JobCounts are the state of the queue. The last four count since the queue was made.
type JobCounts struct {
	Scheduled, Ready, Running, Dead int64

	OldestDue  time.Time // of the jobs that wait; zero when none does
	RunningFor time.Duration
	Paused     bool
	Now        time.Time // the store's clock

	TakenBack int64 // deliveries whose worker died
	Stale     int64 // words about deliveries that were no longer the worker's
	Orphans   int64 // members without a job, removed
	Trimmed   int64 // dead jobs that made room
}

// Overdue returns how long the head of the queue has been waiting past its time.
func (c *JobCounts) Overdue() time.Duration {
	if c.OldestDue.IsZero() {
		return 0
	}
	return max(c.Now.Sub(c.OldestDue), 0)
}

// Warning says what is wrong with the queue, or nothing.
func (c *JobCounts) Warning() string {
	switch {
	case c.Overdue() > time.Minute && c.Paused:
		return "the queue is paused, and its head waits for more than a minute"
	case c.Overdue() > time.Minute:
		return "the head of the queue waits for more than a minute"
	case c.RunningFor > JobTime:
		return "a job runs for more than 30 seconds"
	}
	return ""
}

// CleanReason returns a reason as it is kept: one line of valid UTF-8, not longer than [MaxJobReason].
func CleanReason(reason string) string {
	reason = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(reason, "\uFFFD"))
	if len(reason) <= MaxJobReason {
		return reason
	}
	end := MaxJobReason
	for !utf8.RuneStart(reason[end]) {
		end--
	}
	return reason[:end]
}

package web

import (
	"context"
	"sync"
	"time"
)

// deadline is the context of a request. Most requests end long before it and nobody waits for it: the timer that
// context.WithDeadline would start is started when somebody does.
type deadline struct {
	at time.Time

	mu     sync.Mutex
	armed  context.Context
	cancel context.CancelFunc
	over   bool
}

func newDeadline(at time.Time) *deadline { return &deadline{at: at} }

// Deadline implements [context.Context].
func (d *deadline) Deadline() (time.Time, bool) { return d.at, true }

// Done implements [context.Context].
func (d *deadline) Done() <-chan struct{} { return d.arm().Done() }

// Err implements [context.Context].
func (d *deadline) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.armed != nil:
		return d.armed.Err()
	case d.over:
		return context.Canceled
	case !time.Now().Before(d.at):
		return context.DeadlineExceeded
	}
	return nil
}

// Value implements [context.Context]. There are no values, but package context asks a parent in this way whether it
// may hang children on it, which saves a goroutine for each.
func (d *deadline) Value(key any) any {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.armed == nil {
		return nil
	}
	return d.armed.Value(key)
}

func (d *deadline) arm() context.Context {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.armed == nil {
		d.armed, d.cancel = context.WithDeadline(context.Background(), d.at)
		if d.over {
			d.cancel()
		}
	}
	return d.armed
}

// release ends the context with its request.
func (d *deadline) release() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.over = true
	if d.cancel != nil {
		d.cancel()
	}
}

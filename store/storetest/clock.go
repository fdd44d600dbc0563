package storetest

import (
	"sync"
	"time"
)

// Clock is a clock that a test sets. It begins on a Monday in 2026 and stands still between two calls.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock that shows Monday, 2 March 2026, noon.
func NewClock() *Clock { return &Clock{now: time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)} }

// Now returns what the clock shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Set makes the clock show a time.
func (c *Clock) Set(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = now
}

// Step moves the clock, backwards where d is negative, and returns what it shows then.
func (c *Clock) Step(d time.Duration) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	return c.now
}

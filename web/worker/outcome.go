package worker

import (
	"errors"
	"fmt"
	"time"

	"leaderboard/store"
)

// errTooLong is why a handler's context ends after [store.JobTime].
var errTooLong = errors.New("it ran for more than " + store.JobTime.String())

// errLost is why a handler's context ends when the job is no longer this worker's.
var errLost = errors.New("the job is no longer this worker's")

// errStopping is why a handler's context ends when the process has no more time.
var errStopping = errors.New("the worker is stopping")

// finalError is a failure that no further try can mend.
type finalError struct{ cause error }

func (e *finalError) Error() string { return e.cause.Error() }
func (e *finalError) Unwrap() error { return e.cause }

// Final makes a failure the last one: the job is dead at once.
func Final(err error) error { return &finalError{err} }

// waitError is a failure after which somebody asked to wait.
type waitError struct {
	cause error
	wait  time.Duration
}

func (e *waitError) Error() string {
	return fmt.Sprintf("%v (to be tried again in %v)", e.cause, e.wait)
}
func (e *waitError) Unwrap() error { return e.cause }

// After makes a failure one whose next try has to wait, at the least so long.
func After(wait time.Duration, err error) error { return &waitError{err, wait} }

// laterError is no failure.
type laterError struct{ wait time.Duration }

func (e *laterError) Error() string { return fmt.Sprintf("goes on in %v", e.wait) }

// Later is what a handler returns that has not failed and is not done: the job comes again after the wait, and this
// delivery does not count. What it has done so far must stand in the store.
func Later(wait time.Duration) error { return &laterError{wait} }

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// retries spaces out the tries of one call.
type retries struct {
	patience time.Duration
	count    int
	since    time.Time
}

// wait waits before the next try, or returns why there is none.
func (r *retries) wait(ctx context.Context, cause error, said *teller) error {
	var atLeast time.Duration
	p, refused := errors.AsType[*problem](cause)
	if refused {
		atLeast = p.RetryAfter
	}
	_, away := errors.AsType[*unreachable](cause)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if !away && !(refused && p.passing()) {
		return cause
	}
	if r.count == 0 {
		r.since = time.Now()
	}
	backOff := min(250*time.Millisecond<<min(r.count, 10), 10*time.Second)
	backOff = max(atLeast, backOff/2+rand.N(backOff/2))
	r.count++
	if time.Since(r.since)+backOff > r.patience {
		return fmt.Errorf("given up after %d tries: %w", r.count, cause)
	}
	if r.count == 3 { // by now it is no hiccup
		said.say(fmt.Sprintf("%v; trying for up to %s", cause, r.patience))
	}
	timer := time.NewTimer(backOff)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

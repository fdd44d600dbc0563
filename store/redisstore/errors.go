package redisstore

import (
	"fmt"

	"leaderboard/store"
)

// fail is the one place that knows the driver's errors. Scripts answer by words and absence by false, so whatever the
// driver reports (a lost connection, a full pool, a server that loads, is busy, out of memory or read-only) means: not
// now.
func fail(op string, err error) error {
	return fmt.Errorf("redisstore: %s: %w: %w", op, store.ErrUnavailable, err)
}

package store

import "time"

// Bounds of what players looked for.
const (
	KeptSearches = 10 // the last ones, without repeats
	SearchesKept = 90 * 24 * time.Hour
)

package store

import (
	"strconv"
	"strings"
	"time"
)

// Limit is how many calls a subject may make in any window of time. The zero Limit is none.
type Limit struct {
	Count  int
	Window time.Duration
}

// ParseLimit reads a limit such as 120/10s; 0 is none.
func ParseLimit(s string) (Limit, error) {
	if s == "0" {
		return Limit{}, nil
	}
	count, window, ok := strings.Cut(s, "/")
	n, err := strconv.Atoi(count)
	length, lengthErr := time.ParseDuration(window)
	if !ok || err != nil || lengthErr != nil || n < 1 || n > 1e9 || length < time.Second || length > 24*time.Hour {
		return Limit{}, Invalid("limit", "must be a count and a window of 1s to 24h, such as 120/10s, or 0 for none")
	}
	return Limit{Count: n, Window: length}, nil
}

// String writes the limit as [ParseLimit] reads it.
func (l Limit) String() string {
	if l.Count == 0 {
		return "0"
	}
	return strconv.Itoa(l.Count) + "/" + l.Window.String()
}

// Quota is what is left of a limit after a call.
type Quota struct {
	Allowed    bool
	Left       int
	Resets     time.Duration // until the window ends
	RetryAfter time.Duration // until there is room again; 0 where the call was allowed
}

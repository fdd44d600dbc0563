package store

import (
	"errors"
	"time"
)

// Errors that callers tell apart with [errors.Is]. Everything else that a store returns is an [InvalidError],
// a [LimitError] or a bug.
var (
	// ErrBoardNotFound means that there is no such board, or no more.
	ErrBoardNotFound = errors.New("no such board")
	// ErrPlayerNotFound means that the player has no entry in the season asked for.
	ErrPlayerNotFound = errors.New("no such player on this board")
	// ErrSeasonNotFound means that the season never was or is no longer kept.
	ErrSeasonNotFound = errors.New("no such season, or no longer kept")
	// ErrSeasonClosed means that a submission or an act named a season that is over.
	ErrSeasonClosed = errors.New("the season is closed")
	// ErrSeasonNotRunning means that an act named another season than the running one.
	ErrSeasonNotRunning = errors.New("this is not the running season")
	// ErrNotReopenable means that a closed season cannot run again: it is not the last one, the new one has scores (those of
	// banned players count), or its rewards are being paid.
	ErrNotReopenable = errors.New("the season cannot be reopened")
	// ErrBanned means that the player is banned on this board.
	ErrBanned = errors.New("the player is banned on this board")
	// ErrKeyNotFound means that there is no such API key, or no more.
	ErrKeyNotFound = errors.New("no such key")
	// ErrHeldNotFound means that no such submission waits for an admin.
	ErrHeldNotFound = errors.New("no such held submission")
	// ErrNotBanned means that there is no ban to lift.
	ErrNotBanned = errors.New("the player is not banned on this board")
	// ErrBoardInUse means that a setting on which the order rests cannot change while somebody has a score or a ban.
	ErrBoardInUse = errors.New("the running season has scores or bans")
	// ErrOnceConflict means that an idempotency key came back with another body.
	ErrOnceConflict = errors.New("this Idempotency-Key was used with another body")
	// ErrUnavailable means not now: the outcome is unknown, or nothing was done.
	ErrUnavailable = errors.New("the store is unavailable")
)

// InvalidError says which part of an input is wrong and why. It is the only error whose words are shown to a caller.
type InvalidError struct {
	Field  string // name in the JSON body, the query or the path
	Reason string // a clause that follows the field's name, such as "must be a number"
}

func (e *InvalidError) Error() string { return e.Field + " " + e.Reason }

// Invalid returns an [InvalidError].
func Invalid(field, reason string) error { return &InvalidError{Field: field, Reason: reason} }

// LimitError says that a limit was reached and how long to wait before trying again.
type LimitError struct {
	Policy     string // name of the limit: player, key or address
	RetryAfter time.Duration
}

func (e *LimitError) Error() string { return "too many requests: limit of the " + e.Policy }

package api

import "errors"

// Errors of requests themselves. Everything else comes from the store.
var (
	// ErrUnauthorized means that a call needs a key and has none that anybody knows.
	ErrUnauthorized = errors.New("this call needs a key: Authorization: Bearer KEY")
	// ErrTooLarge means that a body is larger than [MaxBody], as it came or inflated.
	ErrTooLarge = errors.New("the body is over 1 MiB")
	// ErrMediaType means that a body is something else than JSON in UTF-8, or encoded in another way than gzip.
	ErrMediaType = errors.New("the body must be application/json in UTF-8, plain or with Content-Encoding: gzip")
)

// ForbiddenError means that a key lacks a scope, or is not for this board.
type ForbiddenError struct {
	Detail string
	Field  string // that only another key may send; empty: the whole call
}

func (e *ForbiddenError) Error() string { return e.Detail }

// MalformedError means that a body is not the JSON it must be.
type MalformedError struct {
	Detail string
	Field  string // in which the body stops being JSON; empty where none is known
}

func (e *MalformedError) Error() string { return "malformed JSON: " + e.Detail }

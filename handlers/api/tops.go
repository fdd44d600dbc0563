package api

import (
	"context"
	"time"

	"leaderboard/store"
)

// Tops gives the kept top of a board: the first places, held in this process, as new as the last change of the board.
type Tops interface {
	// Read returns the kept top. Fresh asks the store, whatever is kept. Without the store it returns what is still
	// kept, stale, or [store.ErrUnavailable].
	Read(ctx context.Context, board store.BoardID, fresh bool) (Kept, error)
}

// Kept is a kept top. It never changes: a newer state is another one.
type Kept interface {
	// Page holds the first live_top entries of the running season, ties counted one by one.
	Page() *store.Page
	// Stale reports whether the store could not be asked, and how old the page is then.
	Stale() (age time.Duration, stale bool)
	// Encoded returns the bytes kept under a key, made on the first call. Nobody may change them.
	Encoded(key string, make func() []byte) []byte
}

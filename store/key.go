package store

import (
	"context"
	"time"
)

// Scope is a right that an API key may carry.
type Scope string

// The scopes.
const (
	ScopeScores  Scope = "scores:write"
	ScopePlayers Scope = "players:token"
	ScopeAdmin   Scope = "admin"
)

// Key is an API key: what it may do, never the key itself.
type Key struct {
	ID         string
	Name       string
	Scopes     []Scope
	Boards     []BoardID // that it may touch; empty: all
	ExpiresAt  time.Time // zero: never
	Limit      Limit     // of its calls; zero: that of the server
	Hash       string    // hex SHA-256 of the secret half
	LastUsedAt time.Time // zero: never used; a minute late at most
}

// Keys keeps API keys.
type Keys interface {
	// Keys returns all keys, by name.
	Keys(ctx context.Context) ([]Key, error)
	// FindKey returns the key of an id, or [ErrKeyNotFound].
	FindKey(ctx context.Context, id string) (Key, error)
	// AddKey keeps a key under its id, which must be new.
	AddKey(ctx context.Context, key Key) error
	// RevokeKey removes a key, or returns [ErrKeyNotFound].
	RevokeKey(ctx context.Context, id string) error
	// KeyUsed notes that a key was used. A key that was revoked meanwhile stays so.
	KeyUsed(ctx context.Context, id string, at time.Time) error
}

// Act is what an admin did, for the audit list.
type Act struct {
	At      time.Time
	Who     string // the session or the key, by name
	Act     string // such as board.put, season.close, player.ban
	Board   BoardID
	Player  PlayerID
	Details string // in words
}

// Audit keeps every admin act, append-only, for a bounded time.
type Audit interface {
	// Record appends an act. At is set by the store's clock.
	Record(ctx context.Context, act Act) error
	// Acts returns acts, newest first, behind the cursor of an earlier reply; the empty cursor begins at the newest.
	// Next is empty at the end. An [InvalidError] names the field after.
	Acts(ctx context.Context, after string, limit int64) (acts []Act, next string, err error)
}

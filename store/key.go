package store

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strings"
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

// ParseKeyName returns s as what a key is called, or an [InvalidError] for the field name.
func ParseKeyName(s string) (string, error) {
	if !validTitle(s) {
		return "", Invalid("name", wantTitle)
	}
	return strings.Clone(s), nil
}

// A key's token is lb_, its id, _ and its secret. Both are lower-case base32: nothing in it needs escaping, and a
// double click takes it whole.
const (
	keyTokenMark    = "lb_"
	keyIDLength     = 10
	keySecretLength = 26 // at least 128 bits
)

// NewKeyToken makes a token for a new key, and what is kept of it: its id, and the hash of its secret half.
func NewKeyToken() (id, token, hash string) {
	id = strings.ToLower(rand.Text()[:keyIDLength])
	secret := strings.ToLower(rand.Text()[:keySecretLength])
	return id, keyTokenMark + id + "_" + secret, hashKeySecret(secret)
}

// ParseKeyToken returns the id that a token names and the hash of its secret half, for a comparison in constant time
// with the one that is kept. It reports false for what [NewKeyToken] never makes.
func ParseKeyToken(token string) (id, hash string, ok bool) {
	rest, marked := strings.CutPrefix(token, keyTokenMark)
	id, secret, halves := strings.Cut(rest, "_")
	if !marked || !halves || !isBase32(id, keyIDLength) || !isBase32(secret, keySecretLength) {
		return "", "", false
	}
	return strings.Clone(id), hashKeySecret(secret), true
}

func hashKeySecret(secret string) string {
	hash := sha256.Sum256([]byte(secret)) // the secret is random: a slow hash would protect nothing more
	return hex.EncodeToString(hash[:])
}

func isBase32(s string, length int) bool {
	return len(s) == length && !strings.ContainsFunc(s, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '2' || r > '7') })
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

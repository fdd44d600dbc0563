// Package redisstore keeps boards in Redis, one Lua script for everything that must hold together. It knows nothing of
// HTTP; it promises what package store says.
//
// Every script names its keys in KEYS; the keys of one board share a hash tag, so it works on a Redis Cluster too. The
// caller of a script passes the board's rev: a script that finds another does nothing and answers "moved", and the
// caller loads the board and repeats. Past the season's end it answers "over", and the caller closes the season first.
package redisstore

import (
	"context"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"leaderboard/store"
)

// Options say how a Store works. The zero Options are those of a plain server.
type Options struct {
	Prefix   string           // first part of every key; empty: lb
	Clock    func() time.Time // tests own the clock; nil: Redis' TIME
	OnceKeep time.Duration    // how long a reply is kept for an idempotency key; 0: an hour
	Player   store.Limit      // submissions of a player on a board

	// AfterWrite is called after every call that may have changed something; the embedded store waits for it.
	AfterWrite func()
	// Wrote is called with what a script said of a board after it changed it, before the caller hears of it.
	Wrote  func(id store.BoardID, version, total int64)
	Logger *slog.Logger
}

// Store is a [store.Store] on Redis. All its methods may be called at once.
type Store struct {
	client  redis.UniversalClient
	options Options
	keys    keys
	scripts scripts
	queues  sync.Map // store.BoardID → *queue
	shared  atomic.Int64

	mu     sync.RWMutex
	boards map[store.BoardID]store.Board // as last seen
}

var _ store.Store = (*Store)(nil)

// New returns a store on the client, which stays the caller's to close. The client must not repeat commands by itself
// (MaxRetries: -1): a script whose reply was lost may have run.
func New(client redis.UniversalClient, options Options) *Store {
	if options.Prefix == "" {
		options.Prefix = "lb"
	}
	if options.OnceKeep == 0 {
		options.OnceKeep = time.Hour
	}
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	return &Store{
		client: client, options: options, keys: keys{options.Prefix}, scripts: newScripts(),
		boards: make(map[store.BoardID]store.Board),
	}
}

// Ping returns [store.ErrUnavailable] unless Redis answers.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.client.Ping(ctx).Err(); err != nil {
		return fail("ping", err)
	}
	return nil
}

// SharedSlots returns how many scores found all slots of their points value taken and share the last one.
func (s *Store) SharedSlots() int64 { return s.shared.Load() }

// now is the argument by which a script learns the time: empty for Redis' own clock.
func (s *Store) now() string {
	if s.options.Clock == nil {
		return ""
	}
	return millis(s.options.Clock())
}

// time is about now, for names of statistics.
func (s *Store) time() time.Time {
	if s.options.Clock == nil {
		return time.Now()
	}
	return s.options.Clock()
}

// millis writes a time as scripts take it; the zero time is none.
func millis(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return strconv.FormatInt(t.UnixMilli(), 10)
}

func fromMillis(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// afterWrite tells that a plain command may have changed something; scripts do it in call.
func (s *Store) afterWrite() {
	if s.options.AfterWrite != nil {
		s.options.AfterWrite()
	}
}

func (s *Store) wrote(id store.BoardID, version, total int64) {
	if s.options.Wrote != nil {
		s.options.Wrote(id, version, total)
	}
}

package web

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"leaderboard/handlers/api"
	"leaderboard/store"
)

// KeyStore keeps keys.
type KeyStore interface {
	FindKey(ctx context.Context, id string) (store.Key, error)
	KeyUsed(ctx context.Context, id string, at time.Time) error
}

// KeysOptions say what [StoredKeys] are made of.
type KeysOptions struct {
	First   *FirstKey
	Store   KeyStore
	Limiter Limiter     // nil: strangers are looked up without limit
	Address store.Limit // keys that nobody here knows, of one address
	Log     *slog.Logger
}

const (
	// keyFresh is how long a process goes by what it read of a key: a key that is revoked opens nothing any more after
	// this, on any process.
	keyFresh = time.Second
	// keyNoted is how often the last use of a key is written down.
	keyNoted = time.Minute
	// earlyLookups is how many keys that nobody here knows a process looks up in a second before it has read the body
	// of their requests, when it does not know yet who sends them.
	earlyLookups = 100
)

// StoredKeys are the first key and those that are kept in the store. Each of the latter is read once a second at most,
// by one of all who bring it; [StoredKeys.Run] writes down when they were last used.
type StoredKeys struct {
	options KeysOptions
	loads   singleflight.Group
	early   window

	mu   sync.RWMutex
	keys map[string]*storedKey
}

// storedKey is what a process knows of a key that somebody brought.
type storedKey struct {
	state atomic.Pointer[keyState]
	used  atomic.Int64 // Unix milliseconds; 0: not here
	noted int64        // the same, as the store has it; Run's alone
}

// keyState is a key as it was read.
type keyState struct {
	read    time.Time // before the store was asked: it was not revoked earlier
	key     *api.Key  // nil: there was none
	hash    string
	expires time.Time
}

// NewStoredKeys returns keys that only Run forgets.
func NewStoredKeys(options KeysOptions) *StoredKeys {
	return &StoredKeys{options: options, early: window{most: earlyLookups}, keys: make(map[string]*storedKey)}
}

// Find implements [Keys].
func (k *StoredKeys) Find(ctx context.Context, token string, from netip.Addr) (*api.Key, error) {
	if key, err := k.options.First.Find(ctx, token, from); err == nil {
		return key, nil
	}
	id, hash, ok := store.ParseKeyToken(token)
	if !ok {
		return nil, api.ErrUnauthorized
	}
	now := time.Now()
	known := k.known(id)
	var state *keyState
	if known != nil {
		state = known.state.Load()
	}
	if state == nil || now.Sub(state.read) >= keyFresh {
		if state == nil || state.key == nil {
			if err := k.admit(ctx, from, now); err != nil {
				return nil, err
			}
		}
		var err error
		if known, err = k.load(ctx, id); err != nil {
			return nil, err
		}
		state = known.state.Load()
	}
	right := subtle.ConstantTimeCompare([]byte(hash), []byte(state.hash)) == 1
	if state.key == nil || !right || !state.expires.IsZero() && !now.Before(state.expires) {
		return nil, api.ErrUnauthorized
	}
	known.used.Store(now.UnixMilli())
	return state.key, nil
}

func (k *StoredKeys) known(id string) *storedKey {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.keys[id]
}

// admit lets a key be looked up that was not good a moment ago: anybody can make up thousands.
func (k *StoredKeys) admit(ctx context.Context, from netip.Addr, now time.Time) error {
	switch {
	case !from.IsValid():
		if !k.early.take(now) {
			return fmt.Errorf("web: keys: %w: too many that nobody knows", store.ErrUnavailable)
		}
	case k.options.Limiter != nil && k.options.Address.Count > 0:
		quota, err := k.options.Limiter.Take(ctx, addressSubject("keys:", from), k.options.Address)
		if err != nil {
			return err
		}
		if !quota.Allowed {
			return &store.LimitError{Policy: "address", RetryAfter: quota.RetryAfter}
		}
	}
	return nil
}

// load reads a key, once for all who ask at the same time.
func (k *StoredKeys) load(ctx context.Context, id string) (*storedKey, error) {
	loaded := k.loads.DoChan(id, func() (any, error) {
		// Of nobody's request: those who wait would share the end of the first. What took longer than it is good for
		// would be of no use.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keyFresh)
		defer cancel()
		state := &keyState{read: time.Now()}
		found, err := k.options.Store.FindKey(ctx, id)
		switch {
		case err == nil:
			state.hash, state.expires = found.Hash, found.ExpiresAt
			state.key = &api.Key{
				ID: found.ID, Name: found.Name, Scopes: found.Scopes, Boards: found.Boards, Limit: found.Limit,
			}
		case !errors.Is(err, store.ErrKeyNotFound):
			return nil, err
		}
		return k.keep(id, state), nil
	})
	select {
	case result := <-loaded:
		known, _ := result.Val.(*storedKey)
		return known, result.Err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (k *StoredKeys) keep(id string, state *keyState) *storedKey {
	k.mu.Lock()
	defer k.mu.Unlock()
	known := k.keys[id]
	if known == nil {
		known = &storedKey{}
		k.keys[id] = known
	}
	known.state.Store(state)
	return known
}

// Run writes down when keys were used and forgets those that nobody brings any more, until the context ends; what is
// not written down then is, before it returns.
func (k *StoredKeys) Run(ctx context.Context) {
	ticks := time.NewTicker(time.Second)
	defer ticks.Stop()
	for {
		select {
		case now := <-ticks.C:
			k.note(ctx, keyNoted)
			k.forget(now)
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			k.note(last, 0)
			return
		}
	}
}

// note writes down uses that are later than what was written down by so much, and first ones.
func (k *StoredKeys) note(ctx context.Context, later time.Duration) {
	for id, known := range k.all() {
		used := known.used.Load()
		if used == known.noted || known.noted > 0 && used-known.noted < later.Milliseconds() {
			continue
		}
		if err := k.options.Store.KeyUsed(ctx, id, time.UnixMilli(used)); err != nil {
			k.options.Log.DebugContext(ctx, "the last use of a key is not written down yet", "key", id, "error", err)
			return // the next tick tries again
		}
		known.noted = used
	}
}

func (k *StoredKeys) all() map[string]*storedKey {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return maps.Clone(k.keys)
}

// forget drops keys that are none, and those that were not used since it was written down when.
func (k *StoredKeys) forget(now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for id, known := range k.keys {
		state := known.state.Load()
		idle := keyFresh
		if state.key != nil {
			idle = 2 * keyNoted
		}
		if now.Sub(state.read) >= idle && known.used.Load() == known.noted {
			delete(k.keys, id)
		}
	}
}

// window counts to a number, and begins anew each second.
type window struct {
	most int

	mu    sync.Mutex
	began time.Time
	count int
}

// take reports whether there was room.
func (w *window) take(now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now.Sub(w.began) >= time.Second {
		w.began, w.count = now, 0
	}
	w.count++
	return w.count <= w.most
}

package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard/handlers/api"
	"leaderboard/store"
)

// keyShelf keeps keys and notes what it is asked.
type keyShelf struct {
	mu    sync.Mutex
	keys  map[string]store.Key
	finds int
	used  []time.Time
	fails error
	takes time.Duration // that a look takes
}

func (s *keyShelf) FindKey(ctx context.Context, id string) (store.Key, error) {
	select {
	case <-time.After(s.takes):
	case <-ctx.Done():
		return store.Key{}, fmt.Errorf("%w: %w", store.ErrUnavailable, ctx.Err())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finds++
	key, ok := s.keys[id]
	switch {
	case s.fails != nil:
		return store.Key{}, s.fails
	case !ok:
		return store.Key{}, fmt.Errorf("tests: %w", store.ErrKeyNotFound)
	}
	return key, nil
}

func (s *keyShelf) KeyUsed(_ context.Context, _ string, at time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fails == nil {
		s.used = append(s.used, at)
	}
	return s.fails
}

// add puts a new key on the shelf and returns its token.
func (s *keyShelf) add(key store.Key) (token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key.ID, token, key.Hash = store.NewKeyToken()
	s.keys[key.ID] = key
	return token
}

func (s *keyShelf) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.keys)
}

func (s *keyShelf) looks() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.finds
}

func newShelf() (*keyShelf, *StoredKeys) {
	shelf := &keyShelf{keys: map[string]store.Key{}}
	return shelf, NewStoredKeys(KeysOptions{First: NewFirstKey(testKey), Store: shelf, Log: slog.New(slog.DiscardHandler)})
}

var somewhere = netip.MustParseAddr("192.0.2.1")

func finds(t *testing.T, keys *StoredKeys, token string) bool {
	t.Helper()
	_, err := keys.Find(t.Context(), token, somewhere)
	if err != nil && !errors.Is(err, api.ErrUnauthorized) {
		t.Fatalf("find: %v", err)
	}
	return err == nil
}

func TestAKeyIsReadOnceASecondAndForgottenWhenRevoked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		shelf, keys := newShelf()
		token := shelf.add(store.Key{Name: "x", Scopes: []store.Scope{store.ScopeScores}, Boards: []store.BoardID{"demo"}})
		for range 30 { // three seconds
			key, err := keys.Find(t.Context(), token, somewhere)
			if err != nil || key.Name != "x" || !key.Has(store.ScopeScores) || key.Has(store.ScopeAdmin) || key.Touches("other") {
				t.Fatalf("got %+v, %v", key, err)
			}
			time.Sleep(100 * time.Millisecond)
		}
		if got := shelf.looks(); got != 3 {
			t.Errorf("thirty calls in three seconds read it %d times, want 3", got)
		}
		finds(t, keys, token)
		shelf.clear()
		time.Sleep(keyFresh - time.Millisecond)
		if !finds(t, keys, token) {
			t.Error("it was read again before its second was over")
		}
		time.Sleep(time.Millisecond)
		if finds(t, keys, token) {
			t.Error("a second after it was revoked it still opens")
		}
		before := shelf.looks()
		for range 5 {
			finds(t, keys, token)
		}
		if got := shelf.looks(); got != before {
			t.Errorf("a key that is none was looked up %d more times within its second", got-before)
		}
	})
}

func TestASlowLookIsNotOlderThanASecondWhenItCounts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		shelf, keys := newShelf()
		token := shelf.add(store.Key{})
		shelf.takes = 2 * time.Second
		_, err := keys.Find(t.Context(), token, somewhere)
		if !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("a look of two seconds answers %v, want that the store is unavailable", err)
		}
		shelf.takes = 600 * time.Millisecond
		if !finds(t, keys, token) {
			t.Error("a look of 600 ms does not find it")
		}
		shelf.clear()
		time.Sleep(400 * time.Millisecond) // a second after the look began
		if finds(t, keys, token) {
			t.Error("what was read a second ago still counts")
		}
	})
}

func TestAllWhoBringAKeyAtOnceShareOneLook(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		shelf, keys := newShelf()
		token := shelf.add(store.Key{})
		shelf.takes = 100 * time.Millisecond
		var callers sync.WaitGroup
		for range 50 {
			callers.Go(func() {
				if !finds(t, keys, token) {
					t.Error("not found")
				}
			})
		}
		impatient, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := keys.Find(impatient, token, somewhere); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("who cannot wait is told %v", err)
		}
		callers.Wait()
		if got := shelf.looks(); got != 1 {
			t.Errorf("%d looks, want one", got)
		}
	})
}

func TestAKeyEndsInTheMiddleOfItsSecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		shelf, keys := newShelf()
		token := shelf.add(store.Key{ExpiresAt: time.Now().Add(500 * time.Millisecond)})
		if !finds(t, keys, token) {
			t.Error("it ended too early")
		}
		time.Sleep(500 * time.Millisecond)
		if finds(t, keys, token) {
			t.Error("it outlived its end")
		}
	})
}

func TestUsesAreWrittenDownOnceAMinuteAndAtTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		shelf, keys := newShelf()
		token := shelf.add(store.Key{})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); keys.Run(ctx) }()
		for range 4 * 180 { // three minutes
			finds(t, keys, token)
			finds(t, keys, token[:len(token)-1]+"z") // another, which is not this one used
			time.Sleep(250 * time.Millisecond)
		}
		if got := len(shelf.used); got < 3 || got > 4 {
			t.Errorf("three minutes of use were written down %d times, want once a minute", got)
		}
		finds(t, keys, token)
		last := time.Now()
		cancel()
		<-ended
		if got := shelf.used[len(shelf.used)-1]; !got.Equal(last) {
			t.Errorf("the last use written down is %v, want %v", got, last)
		}
	})
}

func TestKeysThatNobodyBringsAreForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		shelf, keys := newShelf()
		token := shelf.add(store.Key{})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); keys.Run(ctx) }()
		finds(t, keys, token)
		for range 100 {
			_, stranger, _ := store.NewKeyToken()
			finds(t, keys, stranger)
		}
		time.Sleep(3 * time.Second)
		if got := len(keys.all()); got != 1 {
			t.Errorf("%d keys are known after three seconds, want the one that is one", got)
		}
		time.Sleep(3 * keyNoted)
		if got := len(keys.all()); got != 0 {
			t.Errorf("%d keys are known after three minutes, want none", got)
		}
		cancel()
		<-ended
	})
}

func TestAStoreThatFailsFindsNoKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		shelf, keys := newShelf()
		token := shelf.add(store.Key{})
		finds(t, keys, token)
		shelf.fails = fmt.Errorf("tests: %w", store.ErrUnavailable)
		time.Sleep(keyFresh)
		if _, err := keys.Find(t.Context(), token, somewhere); !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("without the store a key is %v, want unavailable", err)
		}
		if _, err := keys.Find(t.Context(), testKey, somewhere); err != nil {
			t.Errorf("without the store the first key is %v", err)
		}
		shelf.fails = nil
		if !finds(t, keys, token) {
			t.Error("the store is back, but the key is not")
		}
	})
}

// countingLimiter lets a number of calls of each subject through.
type countingLimiter struct {
	mu    sync.Mutex
	calls map[string]int
}

func (l *countingLimiter) Take(_ context.Context, subject string, limit store.Limit) (store.Quota, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls[subject]++
	if l.calls[subject] > limit.Count {
		return store.Quota{RetryAfter: limit.Window}, nil
	}
	return store.Quota{Allowed: true, Left: limit.Count - l.calls[subject]}, nil
}

func TestKeysThatAreMadeUpCostAnAddressItsLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		shelf, keys := newShelf()
		keys.options.Limiter = &countingLimiter{calls: map[string]int{}}
		keys.options.Address = store.Limit{Count: 10, Window: time.Second}
		token := shelf.add(store.Key{})
		finds(t, keys, token)
		stranger := func(from netip.Addr) error {
			_, made, _ := store.NewKeyToken()
			_, err := keys.Find(t.Context(), made, from)
			return err
		}
		for i := range 50 {
			err := stranger(somewhere)
			if limited := isLimited(err); limited != (i >= 9) {
				t.Errorf("made-up key %d: %v", i, err)
			}
		}
		if got := shelf.looks(); got != 10 {
			t.Errorf("%d looks, want the ten of the limit", got)
		}
		time.Sleep(keyFresh)
		if !finds(t, keys, token) {
			t.Error("a key that was good a moment ago is one of many")
		}
		if err := stranger(netip.MustParseAddr("192.0.2.2")); !errors.Is(err, api.ErrUnauthorized) {
			t.Errorf("another address pays for the first: %v", err)
		}
		// Before it is known who sends them, a process looks up so many and no more.
		before := shelf.looks()
		for range 3 * earlyLookups {
			if err := stranger(netip.Addr{}); !errors.Is(err, api.ErrUnauthorized) && !errors.Is(err, store.ErrUnavailable) {
				t.Fatalf("got %v", err)
			}
		}
		if got := shelf.looks() - before; got != earlyLookups {
			t.Errorf("%d looks, want %d", got, earlyLookups)
		}
		time.Sleep(time.Second)
		if err := stranger(netip.Addr{}); !errors.Is(err, api.ErrUnauthorized) {
			t.Errorf("a second later: %v", err)
		}
	})
}

func isLimited(err error) bool {
	_, ok := errors.AsType[*store.LimitError](err)
	return ok
}

package redisstore_test

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"leaderboard/store"
	"leaderboard/store/redisstore"
	"leaderboard/store/storetest"
)

// listener is what a subscription told.
type listener struct {
	changes chan redisstore.Change
	gaps    chan struct{}
}

// listen runs a subscription until the test ends.
func listen(t *testing.T, client redis.UniversalClient, prefix string) (*redisstore.Changes, listener) {
	t.Helper()
	l := listener{changes: make(chan redisstore.Change, 100), gaps: make(chan struct{}, 100)}
	changes := redisstore.NewChanges(client, redisstore.ChangesOptions{
		Prefix:   prefix,
		OnChange: func(c redisstore.Change) { l.changes <- c },
		OnGap:    func() { l.gaps <- struct{}{} },
	})
	run(t, changes)
	return changes, l
}

func run(t *testing.T, changes *redisstore.Changes) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { changes.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
}

func soon(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func next[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(10 * time.Second):
		t.Fatal("nothing came within 10 s")
		panic("unreachable")
	}
}

func publish(t *testing.T, client redis.UniversalClient, channel, payload string) {
	t.Helper()
	if err := client.Publish(soon(t), channel, payload).Err(); err != nil {
		t.Fatal(err)
	}
}

func TestAChangeComesInAsSoonAsWatchHasReturned(t *testing.T) {
	t.Parallel()
	kinds := map[string]func(t *testing.T) redis.UniversalClient{
		"Redis":    func(t *testing.T) redis.UniversalClient { return storetest.Redis(t) },
		"embedded": func(t *testing.T) redis.UniversalClient { return storetest.Embedded(t) },
		"Cluster":  func(t *testing.T) redis.UniversalClient { return storetest.Cluster(t).Client(t) },
	}
	for name, client := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, prefix := client(t), storetest.Prefix(t)
			changes, heard := listen(t, client, prefix)
			for i, board := range []store.BoardID{"a", "b", "c"} {
				if err := changes.Watch(soon(t), board, 7); err != nil {
					t.Fatal(err)
				}
				publish(t, client, prefix+":{"+string(board)+".7}:live", "17 3 1204 9")
				got := next(t, heard.changes)
				want := redisstore.Change{Board: board, Incarnation: 7, Version: 17, Season: 3, Total: 1204, Rev: 9}
				if got != want {
					t.Errorf("board %d: got %+v, want %+v", i, got, want)
				}
			}
		})
	}
}

func TestOnlyWatchedBoardsAreHeard(t *testing.T) {
	t.Parallel()
	client, prefix := storetest.Redis(t), storetest.Prefix(t)
	changes, heard := listen(t, client, prefix)
	for range 20 { // also when a board goes and comes faster than the connection is told
		if err := changes.Watch(soon(t), "gone", 1); err != nil {
			t.Fatal(err)
		}
		changes.Unwatch("gone", 1)
	}
	if err := changes.Watch(soon(t), "kept", 1); err != nil {
		t.Fatal(err)
	}
	publish(t, client, prefix+":{gone.1}:live", "1 1 1 1")
	publish(t, client, prefix+":{kept.2}:live", "2 1 1 1")
	publish(t, client, prefix+":{kept.1}:live", "not a change")
	publish(t, client, prefix+":{kept.1}:live", "3 1 1 1")
	if got := next(t, heard.changes); got.Version != 3 {
		t.Errorf("got %+v, want only version 3", got)
	}
	channels, err := client.PubSubChannels(soon(t), prefix+":*").Result()
	if err != nil || len(channels) != 2 {
		t.Errorf("subscribed to %q (%v), want the board and the probe", channels, err)
	}
}

func TestTheSubscriptionProvesThatItIsAlive(t *testing.T) {
	t.Parallel()
	changes, _ := listen(t, storetest.Redis(t), storetest.Prefix(t))
	if err := changes.Watch(soon(t), "demo", 1); err != nil {
		t.Fatal(err)
	}
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			if err := changes.Alive(soon(t)); err != nil {
				t.Error(err)
			}
		})
	}
	callers.Wait()
}

func TestARestartIsAGapAndTheBoardsAreWatchedAgain(t *testing.T) {
	t.Parallel()
	server := storetest.Server(t)
	client := server.Client(t)
	changes, heard := listen(t, client, "lb")
	if err := changes.Watch(soon(t), "demo", 1); err != nil {
		t.Fatal(err)
	}
	server.Kill(t)
	next(t, heard.gaps) // while the server is still away
	if err := changes.Watch(soon(t), "demo", 1); !errors.Is(err, store.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want unavailable without a long wait", err)
	}
	if err := changes.Alive(soon(t)); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("got %v, want unavailable", err)
	}

	server.Restart(t)
	for deadline := time.Now().Add(10 * time.Second); changes.Watch(t.Context(), "demo", 1) != nil; {
		if time.Now().After(deadline) {
			t.Fatal("not watched again")
		}
		time.Sleep(time.Millisecond)
	}
	publish(t, client, "lb:{demo.1}:live", "5 1 1 1")
	if got := next(t, heard.changes); got.Version != 5 {
		t.Errorf("got %+v, want version 5", got)
	}
}

func TestEveryConnectionThatRedisKillsIsAGap(t *testing.T) {
	t.Parallel()
	client := storetest.Server(t).Client(t)
	changes, heard := listen(t, client, "lb")
	for i := range 5 {
		if err := changes.Watch(soon(t), "demo", 1); err != nil {
			t.Fatal(err)
		}
		if killed, err := client.ClientKillByFilter(soon(t), "TYPE", "pubsub").Result(); err != nil || killed != 1 {
			t.Fatalf("killed %d connections (%v), want 1: there is one subscription", killed, err)
		}
		next(t, heard.gaps)
		if err := changes.Watch(soon(t), "demo", 1); err != nil {
			t.Fatal(err)
		}
		publish(t, client, "lb:{demo.1}:live", "1 1 1 1")
		if next(t, heard.changes); len(heard.gaps) > 0 {
			t.Errorf("kill %d was reported more than once", i)
		}
	}
}

// deaf is a connection that can be cut off without a word: nothing comes in any more, and nothing says so.
type deaf struct {
	net.Conn
	cut *atomic.Bool
}

func (c deaf) Read(p []byte) (int, error) {
	for {
		n, err := c.Conn.Read(p)
		if err != nil || !c.cut.Load() {
			return n, err
		}
	}
}

func TestASilentConnectionIsReplaced(t *testing.T) {
	t.Parallel()
	server := storetest.Server(t)
	var cut atomic.Pointer[atomic.Bool] // of the connection dialed last
	subscriber := redis.NewClient(&redis.Options{
		Addr: server.Addr(),
		Dialer: func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			c := deaf{conn, new(atomic.Bool)}
			cut.Store(c.cut)
			return c, nil
		},
	})
	t.Cleanup(func() { subscriber.Close() })
	changes, heard := listen(t, subscriber, "lb")
	if err := changes.Watch(soon(t), "demo", 1); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	cut.Load().Store(true) // only the subscription has a connection so far
	next(t, heard.gaps)
	if took := time.Since(began); took > 4500*time.Millisecond {
		t.Errorf("the silence was noticed after %v", took)
	}
	if err := changes.Watch(soon(t), "demo", 1); err != nil {
		t.Fatal(err)
	}
	if err := changes.Alive(soon(t)); err != nil {
		t.Error(err)
	}
}

func TestWatchingEndsWithItsContextAndWithTheSubscription(t *testing.T) {
	t.Parallel()
	changes := redisstore.NewChanges(storetest.Redis(t), redisstore.ChangesOptions{Prefix: storetest.Prefix(t)})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := changes.Watch(ctx, "demo", 1); !errors.Is(err, store.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("before the subscription began: got %v, want unavailable and the deadline", err)
	}
	running, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); changes.Run(running) }()
	if err := changes.Watch(soon(t), "demo", 1); err != nil {
		t.Fatal(err)
	}
	stop()
	next(t, ended)
	if err := changes.Watch(soon(t), "demo", 1); !errors.Is(err, store.ErrUnavailable) || strings.Contains(err.Error(), "deadline") {
		t.Errorf("after the subscription ended: got %v, want unavailable at once", err)
	}
}

func TestManyWatchesAtOnce(t *testing.T) {
	t.Parallel()
	client, prefix := storetest.Redis(t), storetest.Prefix(t)
	var heard atomic.Int64
	changes := redisstore.NewChanges(client, redisstore.ChangesOptions{
		Prefix:   prefix,
		OnChange: func(c redisstore.Change) { heard.Add(c.Version) },
	})
	run(t, changes)
	const boards = 200
	var callers sync.WaitGroup
	for i := range int64(boards) {
		callers.Go(func() {
			for round := range 3 { // goes and comes again while others do
				if err := changes.Watch(soon(t), "demo", i); err != nil {
					t.Error(err)
				}
				if round < 2 {
					changes.Unwatch("demo", i)
				}
			}
		})
	}
	callers.Wait()
	for i := range boards {
		publish(t, client, prefix+":{demo."+strconv.Itoa(i)+"}:live", "1 1 1 1")
	}
	for deadline := time.Now().Add(10 * time.Second); heard.Load() < boards; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("heard %d of %d boards", heard.Load(), boards)
		}
	}
}

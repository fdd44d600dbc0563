package redisstore

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	mathrand "math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"leaderboard/store"
)

// Change is what a script publishes when the live top, the settings, the season or the total of a board changed: the
// state that it left.
type Change struct {
	Board       store.BoardID
	Incarnation int64
	Version     int64
	Season      int64
	Total       int64
	Rev         int64
}

// ChangesOptions are the options of [NewChanges]. The two functions are called from the one goroutine that reads the
// subscription: they must not block, or Redis ends the connection as that of a slow subscriber.
type ChangesOptions struct {
	Prefix   string       // of the keys, as in [Options]
	OnChange func(Change) // a board that is watched has changed
	OnGap    func()       // messages may have been lost: nothing known of any board is confirmed any more
	Logger   *slog.Logger
}

// Changes is the one Redis subscription of a process. It begins with [Changes.Run]; boards come and go with
// [Changes.Watch] and [Changes.Unwatch].
//
// It reads the connection itself. ChannelWithSubscriptions of the driver tells of a lost connection only when it has
// subscribed again, drops messages after a minute's stall with no more than a line in the log, and never misses the
// answer to its pings: a connection that died without a word is found when TCP gives up. Here the loss is reported
// before the next connection is tried, a message is handed on in the goroutine that read it, and silence is broken by
// a message of our own that must come back.
type Changes struct {
	client  redis.UniversalClient
	keys    keys
	options ChangesOptions
	probe   string        // a channel of this process alone
	dirty   chan struct{} // has a token when channels came or went

	began time.Time
	heard atomic.Int64 // when the last message came, in nanoseconds since began

	mu      sync.Mutex
	watches map[string]*watch // by channel
	changed []string          // channels that came or went since the connection was last told
	broken  chan struct{}     // closed while the last try to connect has failed
	probing map[string]chan struct{}
}

// watch is a board that somebody wants to hear of.
type watch struct {
	board       store.BoardID
	incarnation int64
	confirmed   chan struct{} // closed when Redis has confirmed, on the present connection
}

// longestPause is how long to wait between tries to connect, at most.
const longestPause = time.Second

// NewChanges returns a subscription that [Changes.Run] begins.
func NewChanges(client redis.UniversalClient, options ChangesOptions) *Changes {
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	k := keys{prefix: options.Prefix}
	return &Changes{
		client: client, keys: k, options: options, probe: k.probe(rand.Text()),
		dirty: make(chan struct{}, 1), began: time.Now(),
		watches: map[string]*watch{}, broken: make(chan struct{}), probing: map[string]chan struct{}{},
	}
}

// Run keeps the subscription until the context ends. After it, nothing is watched any more.
func (c *Changes) Run(ctx context.Context) {
	for pause := time.Duration(0); ctx.Err() == nil; {
		began := time.Now()
		err := c.connection(ctx)
		if ctx.Err() != nil {
			break
		}
		c.options.Logger.Warn("the subscription to Redis is lost", "error", err)
		// A server that takes connections and drops them is not asked faster than one that takes none.
		pause = min(max(2*pause, 20*time.Millisecond), longestPause)
		if time.Since(began) > longestPause {
			pause = 0
		}
		if pause > 0 {
			pause = pause/2 + mathrand.N(pause/2)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
	c.fail()
}

// Watch makes changes of a board known, and returns when Redis has confirmed: whatever is published after that comes
// in, or a gap is reported. It returns [store.ErrUnavailable] when Redis cannot be reached; the board then stays
// watched, and a later call waits for the confirmation. Watching twice is watching once.
func (c *Changes) Watch(ctx context.Context, board store.BoardID, incarnation int64) error {
	channel := c.keys.board(board, incarnation).live()
	c.mu.Lock()
	w := c.watches[channel]
	if w == nil {
		w = &watch{board: board, incarnation: incarnation, confirmed: make(chan struct{})}
		c.watches[channel] = w
		c.tell(channel)
	}
	confirmed, broken := w.confirmed, c.broken
	c.mu.Unlock()

	select {
	case <-confirmed: // also where the connection broke since: that is a gap, and was reported
		return nil
	default:
	}
	select {
	case <-confirmed:
		return nil
	case <-broken:
		return fail("watch", errors.New("no subscription"))
	case <-ctx.Done():
		return fail("watch", ctx.Err())
	}
}

// Unwatch ends what [Changes.Watch] began. A change that is on its way may still be reported.
func (c *Changes) Unwatch(board store.BoardID, incarnation int64) {
	channel := c.keys.board(board, incarnation).live()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.watches[channel] != nil {
		delete(c.watches, channel)
		c.tell(channel)
	}
}

// Alive sends a message of its own through Redis and returns when the subscription has brought it back.
func (c *Changes) Alive(ctx context.Context) error {
	nonce, back := rand.Text(), make(chan struct{})
	c.mu.Lock()
	c.probing[nonce] = back
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.probing, nonce)
		c.mu.Unlock()
	}()
	if err := c.client.Publish(ctx, c.probe, nonce).Err(); err != nil {
		return fail("alive", err)
	}
	select {
	case <-back:
		return nil
	case <-ctx.Done():
		return fail("alive", ctx.Err())
	}
}

// tell has the connection told about a channel. The caller holds mu.
func (c *Changes) tell(channel string) {
	c.changed = append(c.changed, channel)
	select {
	case c.dirty <- struct{}{}:
	default:
	}
}

// take hands on a message.
func (c *Changes) take(message *redis.Message) {
	c.mu.Lock()
	if message.Channel == c.probe {
		if back := c.probing[message.Payload]; back != nil {
			close(back)
			delete(c.probing, message.Payload)
		}
		c.mu.Unlock()
		return
	}
	w := c.watches[message.Channel]
	c.mu.Unlock()
	if w == nil || c.options.OnChange == nil {
		return
	}
	change, ok := parseChange(message.Payload)
	if !ok {
		c.options.Logger.Warn("a message on a board's channel cannot be read", "channel", message.Channel)
		return
	}
	change.Board, change.Incarnation = w.board, w.incarnation
	c.options.OnChange(change)
}

// probe spells the Pub/Sub channel of one process.
func (k keys) probe(process string) string { return k.prefix + ":probe:" + process }

// parseChange reads "version season total rev". A later version of the program may add to it.
func parseChange(payload string) (change Change, ok bool) {
	for _, field := range []*int64{&change.Version, &change.Season, &change.Total, &change.Rev} {
		var text string
		text, payload, _ = strings.Cut(payload, " ")
		value, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return Change{}, false
		}
		*field = value
	}
	return change, true
}

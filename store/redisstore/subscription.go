package redisstore

import (
	"context"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	connectWait = 5 * time.Second
	probeEvery  = time.Second     // of silence
	probeWait   = 2 * time.Second // a message of our own that takes longer means a dead connection
)

// session is one connection from its start to its loss.
type session struct {
	pubsub  *redis.PubSub
	sent    map[string]bool // channels that the connection was told to subscribe to
	pending map[string]int  // commands without an answer yet, by channel
}

// connection runs one connection from its start to its loss, and returns why it ended.
func (c *Changes) connection(ctx context.Context) error {
	pubsub := c.client.Subscribe(ctx) // connects with the first channel
	defer pubsub.Close()
	stop := context.AfterFunc(ctx, func() { pubsub.Close() })
	defer stop()

	s, channels := c.begin(pubsub)
	connecting, cancel := context.WithTimeout(ctx, connectWait)
	err := pubsub.Subscribe(connecting, channels...)
	cancel()
	if err != nil {
		c.fail()
		return err
	}
	c.mend()

	ctx, cancel = context.WithCancel(ctx)
	var helpers sync.WaitGroup
	helpers.Go(func() { c.tend(ctx, s) })
	helpers.Go(func() { c.listenForSilence(ctx, s) })
	err = c.receive(s)
	c.lost()
	cancel()
	pubsub.Close() // frees a helper that is writing
	helpers.Wait()
	return err
}

// over is a context that has ended. The driver looks at it only where it would connect again by itself, which takes
// seconds and holds its lock: with this one it gives up at once, and a loss is known when it happens.
func over() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// receive hands on what comes in, until the connection is lost.
func (c *Changes) receive(s *session) error {
	for ctx := over(); ; {
		message, err := s.pubsub.Receive(ctx)
		if err != nil {
			return err
		}
		c.hear()
		switch message := message.(type) {
		case *redis.Subscription:
			c.confirm(s, message)
		case *redis.Message:
			c.take(message)
		}
	}
}

func (c *Changes) hear() { c.heard.Store(int64(time.Since(c.began))) }

// begin prepares a connection, and returns the channels that it begins with.
func (c *Changes) begin(pubsub *redis.PubSub) (*session, []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &session{pubsub: pubsub, sent: map[string]bool{}, pending: map[string]int{}}
	channels := append(make([]string, 0, len(c.watches)+1), c.probe)
	for channel := range c.watches {
		channels = append(channels, channel)
	}
	for _, channel := range channels {
		s.sent[channel] = true
		s.pending[channel] = 1
	}
	c.changed = nil
	c.hear()
	return s, channels
}

// lost ends what the connection stood for: first nobody counts as confirmed, then the gap is reported. In the other order
// somebody could take an old confirmation for one after the gap.
func (c *Changes) lost() {
	c.mu.Lock()
	for channel, w := range c.watches {
		select {
		case <-w.confirmed:
			c.watches[channel] = &watch{board: w.board, incarnation: w.incarnation, confirmed: make(chan struct{})}
		default:
		}
	}
	c.mu.Unlock()
	if c.options.OnGap != nil {
		c.options.OnGap()
	}
}

// fail sends away who waits for a confirmation, and who will until there is a connection.
func (c *Changes) fail() {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.broken:
	default:
		close(c.broken)
	}
}

func (c *Changes) mend() {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.broken:
		c.broken = make(chan struct{})
	default:
	}
}

// confirm notes an answer of Redis. Answers come in the order of the commands: only the one to the last command about
// a channel says how things stand.
func (c *Changes) confirm(s *session, answer *redis.Subscription) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s.pending[answer.Channel]--
	if s.pending[answer.Channel] > 0 {
		return
	}
	delete(s.pending, answer.Channel)
	if answer.Kind == "subscribe" {
		c.settle(answer.Channel)
	}
}

// settle makes a watch a confirmed one. The caller holds mu.
func (c *Changes) settle(channel string) {
	w := c.watches[channel]
	if w == nil {
		return
	}
	select {
	case <-w.confirmed:
	default:
		close(w.confirmed)
	}
}

// tend tells the connection which channels came and went.
func (c *Changes) tend(ctx context.Context, s *session) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.dirty:
		}
		come, gone := c.due(s)
		var err error
		if len(come) > 0 {
			err = s.pubsub.Subscribe(over(), come...)
		}
		if err == nil && len(gone) > 0 {
			err = s.pubsub.Unsubscribe(over(), gone...)
		}
		if err != nil {
			s.pubsub.Close() // the reader reports the loss
			return
		}
	}
}

// due returns what the connection has to be told, and counts on it being told.
func (c *Changes) due(s *session) (come, gone []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, channel := range c.changed {
		wanted := c.watches[channel] != nil
		switch {
		case wanted && !s.sent[channel]:
			come = append(come, channel)
			s.sent[channel] = true
			s.pending[channel]++
		case wanted && s.pending[channel] == 0: // gone and come before the connection heard of it
			c.settle(channel)
		case !wanted && s.sent[channel]:
			gone = append(gone, channel)
			delete(s.sent, channel)
			s.pending[channel]++
		}
	}
	c.changed = nil
	return come, gone
}

// listenForSilence breaks silence with a message of our own, and the connection when that does not come back. It goes
// the way of every publish, so it also finds a connection to a server that is no longer the one scripts run on.
func (c *Changes) listenForSilence(ctx context.Context, s *session) {
	ticks := time.NewTicker(probeEvery / 2)
	defer ticks.Stop()
	var sent time.Time // of a probe that nothing has followed
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		heard := c.began.Add(time.Duration(c.heard.Load()))
		switch {
		case time.Since(heard) < probeEvery:
			sent = time.Time{}
		case !sent.IsZero() && heard.Before(sent) && time.Since(sent) > probeWait:
			c.options.Logger.Warn("the subscription to Redis is silent")
			s.pubsub.Close()
			return
		default:
			ctx, cancel := context.WithTimeout(ctx, probeEvery)
			if err := c.client.Publish(ctx, c.probe, "").Err(); err == nil && !heard.Before(sent) {
				sent = time.Now()
			}
			cancel()
		}
	}
}

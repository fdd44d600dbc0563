package web

import (
	"context"
	"errors"
	"net/netip"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"leaderboard/handlers/api"
	"leaderboard/store"
)

// Limiter counts the calls of a subject over all processes.
type Limiter interface {
	// Take counts one call. Refused calls are not counted. Without the store it returns [store.ErrUnavailable].
	Take(ctx context.Context, subject string, limit store.Limit) (store.Quota, error)
}

// Limits say how much may be asked of the server. A zero limit is none.
type Limits struct {
	Limiter Limiter     // nil: nothing is limited here
	Key     store.Limit // calls of a key that has no limit of its own
	Address store.Limit // calls of an address without a key
	Player  store.Limit // submissions of a player on a board: the store counts them, here they are only named
}

// limits are Limits as requests meet them.
type limits struct {
	limiter              Limiter
	key, address, player policy
	awayUntil            atomic.Int64 // Unix nanoseconds until which nobody waits for the limiter in vain
}

func newLimits(l Limits) *limits {
	return &limits{
		limiter: l.Limiter,
		key:     newPolicy("key", l.Key), address: newPolicy("address", l.Address), player: newPolicy("player", l.Player),
	}
}

// policy is a limit and what a reply calls it.
type policy struct {
	name  string
	limit store.Limit
	text  string // of RateLimit-Policy
}

func newPolicy(name string, limit store.Limit) policy {
	text := `"` + name + `";q=` + strconv.Itoa(limit.Count) + `;w=` + strconv.FormatInt(seconds(limit.Window), 10)
	return policy{name: name, limit: limit, text: text}
}

// seconds rounds a time up to whole seconds: whoever waits that long has waited long enough.
func seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

// ofKey counts a call of a key. Its own limit counts more than that of the server.
func (l *limits) ofKey(ctx context.Context, c *fiber.Ctx, key *api.Key) error {
	if key.Limit.Count > 0 {
		own := newPolicy(l.key.name, key.Limit)
		return l.take(ctx, c, "key:"+key.ID, &own)
	}
	return l.take(ctx, c, "key:"+key.ID, &l.key)
}

// ofAddress counts a call without a key.
func (l *limits) ofAddress(ctx context.Context, c *fiber.Ctx, address netip.Addr) error {
	if l.address.limit.Count == 0 {
		return nil
	}
	return l.take(ctx, c, addressSubject("address:", address), &l.address)
}

// take counts a call and tells in the reply how many are left.
func (l *limits) take(ctx context.Context, c *fiber.Ctx, subject string, p *policy) error {
	if l.limiter == nil || p.limit.Count == 0 {
		return nil
	}
	quota, err := l.limiter.Take(ctx, subject, p.limit)
	if err != nil {
		return err
	}
	header := &c.Response().Header
	header.Set(policyHeader, p.text)
	if !quota.Allowed {
		return &store.LimitError{Policy: p.name, RetryAfter: quota.RetryAfter}
	}
	setQuota(header, p.name, int64(quota.Left), seconds(quota.Resets))
	return nil
}

// refused tells in a reply which limit it was that has no room, and when there is some.
func (l *limits) refused(header *fasthttp.ResponseHeader, e *store.LimitError) {
	wait := max(1, seconds(e.RetryAfter))
	header.Set(fiber.HeaderRetryAfter, strconv.FormatInt(wait, 10))
	if e.Policy == l.player.name && l.player.limit.Count > 0 {
		text := l.player.text
		if others := header.Peek(policyHeader); len(others) > 0 {
			text = string(others) + ", " + text
		}
		header.Set(policyHeader, text)
	}
	setQuota(header, e.Policy, 0, wait) // also of a limit with a longer window: Retry-After must not come before t
}

// As draft-ietf-httpapi-ratelimit-headers has them.
const (
	policyHeader = "RateLimit-Policy"
	quotaHeader  = "RateLimit"
)

func setQuota(header *fasthttp.ResponseHeader, name string, left, resets int64) {
	var space [64]byte
	text := append(space[:0], '"')
	text = append(text, name...)
	text = append(text, `";r=`...)
	text = strconv.AppendInt(text, left, 10)
	text = append(text, `;t=`...)
	text = strconv.AppendInt(text, resets, 10)
	header.SetBytesV(quotaHeader, text)
}

// read lets a request pass that needs no key: one with a key within the limit of the key, any other within that of its
// address.
func (e *edge) read(c *fiber.Ctx) error {
	if err := e.admitReader(c.UserContext(), c); err != nil {
		return err
	}
	return c.Next()
}

// How long a read that could be answered from memory waits for the limiter, and how long nobody tries again when that
// was in vain.
const (
	limiterPatience = 250 * time.Millisecond
	limiterPause    = time.Second
)

// readKept is read for what may be answered without the store: without it nobody can count, and all may pass.
func (e *edge) readKept(c *fiber.Ctx) error {
	now := time.Now()
	if now.UnixNano() < e.limits.awayUntil.Load() {
		return c.Next()
	}
	patience := newDeadline(now.Add(limiterPatience))
	defer patience.release()
	err := e.admitReader(patience, c)
	switch {
	case errors.Is(err, store.ErrUnavailable), errors.Is(err, context.DeadlineExceeded):
		e.limits.awayUntil.Store(time.Now().Add(limiterPause).UnixNano())
	case err != nil:
		return err
	}
	return c.Next()
}

// admitReader counts a call that needs no key. A key that nobody knows, or that cannot be looked up now, is none.
func (e *edge) admitReader(ctx context.Context, c *fiber.Ctx) error {
	address := e.clientAddress(c)
	key, err := e.findKey(ctx, &c.Request().Header, address)
	if err != nil {
		return e.limits.ofAddress(ctx, c, address)
	}
	api.SetKey(c, key)
	return e.limits.ofKey(ctx, c, key)
}

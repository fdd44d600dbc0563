package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"
	"github.com/valyala/fasthttp"

	"leaderboard/handlers/api"
	"leaderboard/store"
)

// Keys knows API keys.
type Keys interface {
	// Find returns the key that a token is, or [api.ErrUnauthorized]. From is who brings it, the zero Addr where that is
	// not known yet: tokens that nobody knows may cost an address only so much, and then a [store.LimitError] comes back.
	Find(ctx context.Context, token string, from netip.Addr) (*api.Key, error)
}

// FirstKey is the key that was given at the start. Of the token only a hash is kept.
type FirstKey struct {
	hash [sha256.Size]byte
	key  *api.Key // nil: no token was given, so none is right
}

// NewFirstKey returns the key of a token, with every scope. An empty token is no key at all.
func NewFirstKey(token string) *FirstKey {
	if token == "" {
		return &FirstKey{}
	}
	return &FirstKey{hash: sha256.Sum256([]byte(token)), key: &api.Key{
		ID: "first", Name: "first", Scopes: []store.Scope{store.ScopeScores, store.ScopePlayers, store.ScopeAdmin},
	}}
}

// Find implements [Keys].
func (k *FirstKey) Find(_ context.Context, token string, _ netip.Addr) (*api.Key, error) {
	hash := sha256.Sum256([]byte(token))
	if subtle.ConstantTimeCompare(hash[:], k.hash[:]) != 1 || k.key == nil {
		return nil, api.ErrUnauthorized
	}
	return k.key, nil
}

// longestToken bounds what is hashed.
const longestToken = 256

// bearer returns the token that a request carries, or "".
func bearer(header *fasthttp.RequestHeader) string {
	const scheme = "bearer "
	value := header.Peek(fiber.HeaderAuthorization)
	if len(value) < len(scheme) || !bytes.EqualFold(value[:len(scheme)], []byte(scheme)) {
		return ""
	}
	token := bytes.TrimSpace(value[len(scheme):])
	if len(token) > longestToken {
		return ""
	}
	return string(token)
}

// findKey returns the key that a request carries, or [api.ErrUnauthorized].
func (e *edge) findKey(ctx context.Context, header *fasthttp.RequestHeader, from netip.Addr) (*api.Key, error) {
	token := bearer(header)
	if token == "" {
		return nil, api.ErrUnauthorized
	}
	return e.keys.Find(ctx, token, from)
}

// need lets a request pass that carries a key with a scope, for the board in the path. Where none is in the path, what
// is done goes beyond any board, and needs a key for all of them.
func (e *edge) need(scope store.Scope) fiber.Handler {
	return func(c *fiber.Ctx) error {
		key, err := e.admit(c, scope)
		if err != nil {
			return err
		}
		if len(key.Boards) > 0 && !touches(key, c.Params("board")) {
			return &api.ForbiddenError{Detail: "this key is for some boards, and not for this call"}
		}
		return c.Next()
	}
}

// needAny is need for lists that show of what goes beyond one board only what the boards of the key have to do with.
func (e *edge) needAny(scope store.Scope) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if _, err := e.admit(c, scope); err != nil {
			return err
		}
		return c.Next()
	}
}

// admit counts a call that needs a key, and remembers the key.
func (e *edge) admit(c *fiber.Ctx, scope store.Scope) (*api.Key, error) {
	key, err := e.findKey(c.UserContext(), &c.Request().Header, e.clientAddress(c))
	if err != nil {
		return nil, err
	}
	if err := e.limits.ofKey(c.UserContext(), c, key); err != nil {
		return nil, err
	}
	if !key.Has(scope) {
		return nil, &api.ForbiddenError{Detail: "this call needs a key with the scope " + string(scope)}
	}
	api.SetKey(c, key)
	return key, nil
}

// touches reports whether a key that is for some boards only is for the one in the path.
func touches(key *api.Key, raw string) bool {
	id, err := url.PathUnescape(raw)
	return err == nil && slices.Contains(key.Boards, store.BoardID(id))
}

// headerReceived refuses a body that would be read for nothing: one that comes without the key it needs. Fasthttp asks
// here what the limits of a request are, after its header and before its body; one that claims to be larger than any
// limit is not read at all, and fail finds out why.
func (e *edge) headerReceived(header *fasthttp.RequestHeader) fasthttp.RequestConfig {
	const beyondAnyLimit = 1<<31 - 1
	if length := header.ContentLength(); length == 0 || length < -1 || !needsKey(header) {
		return fasthttp.RequestConfig{}
	}
	if e.unauthorized(header) {
		header.SetContentLength(beyondAnyLimit)
	}
	return fasthttp.RequestConfig{}
}

// unauthorized reports whether a request lacks the key it needs. When the keys cannot be asked it does not.
func (e *edge) unauthorized(header *fasthttp.RequestHeader) bool {
	ctx := newDeadline(time.Now().Add(e.limit))
	defer ctx.release()
	_, err := e.findKey(ctx, header, netip.Addr{})
	return errors.Is(err, api.ErrUnauthorized)
}

// needsKey reports whether a call of the API is one of those that nobody may make without a key. It is asked before
// there is a route.
func needsKey(header *fasthttp.RequestHeader) bool {
	if header.IsGet() || header.IsHead() {
		return false
	}
	path, _, _ := strings.Cut(utils.UnsafeString(header.RequestURI()), "?")
	rest, inside := strings.CutPrefix(path, apiPrefix+"/")
	return inside && !strings.HasSuffix(rest, "/lookup") && rest != "me" && !strings.HasPrefix(rest, "me/")
}

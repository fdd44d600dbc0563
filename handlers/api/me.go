package api

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"leaderboard/store"
)

// ErrNoPlayer means that a call needs a player's token and has none that is good now.
var ErrNoPlayer = errors.New("this call needs a player's token")

// Visitor is the player that a request is from, and until when that is known.
type Visitor struct {
	Player store.PlayerID
	Until  time.Time
}

type visitorLocal struct{}

// SetVisitor remembers which player a request is from.
func SetVisitor(c *fiber.Ctx, v Visitor) { c.Context().SetUserValue(visitorLocal{}, v) }

// visitorOf returns the player that a request is from, or [ErrNoPlayer].
func visitorOf(c *fiber.Ctx) (Visitor, error) {
	v, ok := c.Context().UserValue(visitorLocal{}).(Visitor)
	if !ok {
		return Visitor{}, ErrNoPlayer
	}
	return v, nil
}

// InboxStore is where rewards wait for their players.
type InboxStore interface {
	Inbox(ctx context.Context, player store.PlayerID, after int64, limit int) (store.Inbox, error)
	ClaimPrize(ctx context.Context, player store.PlayerID, id int64) (store.Prize, error)
}

// Tickets make what opens a player's own socket, for a moment.
type Tickets interface {
	Ticket(player store.PlayerID, until time.Time) (ticket string, expires time.Time, err error)
}

// Me answers players about themselves.
type Me struct {
	Store   InboxStore
	Tickets Tickets
	// SignIn makes a browser remember a token, or returns [ErrNoPlayer].
	SignIn func(c *fiber.Ctx, token string) error
}

const inboxPage = 20

// Inbox answers GET /me/inbox: rewards, newest first.
func (h Me) Inbox(c *fiber.Ctx) error {
	visitor, err := visitorOf(c)
	if err != nil {
		return err
	}
	limit, err := queryNumber(c, "limit", inboxPage, 1, store.MaxInboxPage)
	if err != nil {
		return err
	}
	after, err := queryNumber(c, "after", 0, 1, maxSeason)
	if err != nil {
		return err
	}
	inbox, err := h.Store.Inbox(c.UserContext(), visitor.Player, after, int(limit))
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderCacheControl, noStore)
	body := append([]byte(nil), `{"items":`...)
	body = appendList(body, inbox.Prizes, appendPrize)
	body = append(body, `,"unclaimed":`...)
	body = appendInt(body, inbox.Unclaimed)
	body = append(body, `,"next":`...)
	next := ""
	if inbox.Next > 0 {
		next = strconv.FormatInt(inbox.Next, 10)
	}
	return sendJSON(c, append(appendTextOrNull(body, next), '}'))
}

// Claim answers POST /me/inbox/{id}/claim. Claiming again gets the same answer.
func (h Me) Claim(c *fiber.Ctx) error {
	visitor, err := visitorOf(c)
	if err != nil {
		return err
	}
	id, err := pathNumber(c, "id", math.MaxInt64)
	if err != nil {
		return err
	}
	prize, err := h.Store.ClaimPrize(c.UserContext(), visitor.Player, id)
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderCacheControl, noStore)
	return sendJSON(c, appendPrize(nil, &prize))
}

// Enter answers POST /me: the token becomes a cookie that scripts cannot read.
func (h Me) Enter(c *fiber.Ctx) error {
	body, err := readBody(c)
	if err != nil {
		return err
	}
	token, err := parseToken(body)
	if err != nil {
		return err
	}
	if err := h.SignIn(c, token); err != nil {
		return err
	}
	c.Set(fiber.HeaderCacheControl, noStore)
	return c.SendStatus(fiber.StatusNoContent)
}

func parseToken(body []byte) (token string, err error) {
	err = read(body, func(r *reader) error {
		return r.object("body", func(name string) error {
			if name != "token" {
				return unknown(name)
			}
			text, err := r.text("token")
			token = strings.Clone(text)
			return err
		})
	})
	if err == nil && token == "" {
		err = store.Invalid("token", "must be given")
	}
	return token, err
}

// Ticket answers POST /me/ticket: what a page says first on its socket. The page cannot read its cookie, and a cookie
// alone must not open a socket: browsers send it along for pages of other sites, too.
func (h Me) Ticket(c *fiber.Ctx) error {
	visitor, err := visitorOf(c)
	if err != nil {
		return err
	}
	ticket, expires, err := h.Tickets.Ticket(visitor.Player, visitor.Until)
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderCacheControl, noStore)
	body := append([]byte(nil), `{"token":`...)
	body = appendString(body, ticket)
	body = append(body, `,"expires_at":`...)
	return sendJSON(c, append(appendTime(body, expires), '}'))
}

// noStore keeps what only one player may see out of every cache.
const noStore = "no-store"

func appendPrize(to []byte, p *store.Prize) []byte {
	to = append(to, `{"id":`...)
	to = appendInt(to, p.ID)
	to = append(to, `,"board":`...)
	to = appendString(to, p.Board)
	to = append(to, `,"season":`...)
	to = appendInt(to, p.Season)
	to = append(to, `,"reward":`...)
	to = appendString(to, p.Reward)
	to = append(to, `,"title":`...)
	to = appendString(to, p.Title)
	to = append(to, `,"data":`...)
	if len(p.Data) == 0 {
		to = append(to, "null"...)
	} else {
		to = append(to, p.Data...)
	}
	to = append(to, `,"at":`...)
	to = appendTime(to, p.At)
	to = append(to, `,"claimed_at":`...)
	return append(appendTimeOrNull(to, p.ClaimedAt), '}')
}

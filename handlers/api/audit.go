package api

import (
	"context"
	"slices"

	"github.com/gofiber/fiber/v2"

	"leaderboard/store"
)

// AuditStore is what [Audit] needs of a store.
type AuditStore interface {
	Acts(ctx context.Context, after string, limit int64) (acts []store.Act, next string, err error)
}

// Audit shows what admins have done.
type Audit struct{ Store AuditStore }

// List answers GET /audit, newest first. A key for some boards sees what was done to those: a page may then hold fewer
// than asked for, and still have a next one.
func (h Audit) List(c *fiber.Ctx) error {
	limit, err := queryLimit(c, 50)
	if err != nil {
		return err
	}
	after, _, err := queryValue(c, "after")
	if err != nil {
		return err
	}
	acts, next, err := h.Store.Acts(c.UserContext(), after, limit)
	if err != nil {
		return err
	}
	key := keyOf(c)
	acts = slices.DeleteFunc(acts, func(a store.Act) bool { return !key.Touches(a.Board) })
	body := append([]byte(nil), `{"items":`...)
	body = appendList(body, acts, appendAct)
	body = append(body, `,"next":`...)
	return sendJSON(c, append(appendTextOrNull(body, next), '}'))
}

func appendAct(to []byte, a *store.Act) []byte {
	to = append(to, `{"at":`...)
	to = appendTime(to, a.At)
	to = append(to, `,"who":`...)
	to = appendString(to, a.Who)
	to = append(to, `,"act":`...)
	to = appendString(to, a.Act)
	to = append(to, `,"board":`...)
	to = appendTextOrNull(to, a.Board)
	to = append(to, `,"player":`...)
	to = appendTextOrNull(to, a.Player)
	to = append(to, `,"details":`...)
	return append(appendTextOrNull(to, a.Details), '}')
}

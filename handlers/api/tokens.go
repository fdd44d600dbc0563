package api

import (
	"time"

	"github.com/gofiber/fiber/v2"

	"leaderboard/store"
)

// Signer makes players' tokens.
type Signer interface {
	Issue(player store.PlayerID) (token string, expires time.Time, err error)
}

// Tokens hands out what a browser proves with which player it is.
type Tokens struct{ Signer Signer }

// Issue answers POST /players/{player}/token. Whether there is such a player is not looked at: whoever has the key says
// who its players are.
func (h Tokens) Issue(c *fiber.Ctx) error {
	player, err := parsePlayer(c)
	if err != nil {
		return err
	}
	token, expires, err := h.Signer.Issue(player)
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	body := append([]byte(nil), `{"token":`...)
	body = appendString(body, token)
	body = append(body, `,"expires_at":`...)
	return sendJSON(c, append(appendTime(body, expires), '}'))
}

package api

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"

	"leaderboard/store"
)

// ModerationStore is what [Moderation] needs of a store.
type ModerationStore interface {
	RemovePlayer(ctx context.Context, board store.BoardID, player store.PlayerID) error
	Ban(ctx context.Context, board store.BoardID, player store.PlayerID, reason string) (total int64, err error)
	Unban(ctx context.Context, board store.BoardID, player store.PlayerID) (total int64, err error)
}

// Moderation takes players off boards.
type Moderation struct {
	Store ModerationStore
	Acts  Acts
}

// Remove answers DELETE /boards/{board}/players/{player}.
func (h Moderation) Remove(c *fiber.Ctx) error {
	board, player, err := parseBoardAndPlayer(c)
	if err != nil {
		return err
	}
	act := store.Act{Act: "player.remove", Board: board, Player: player}
	err = h.Acts.do(c, act, func() error { return h.Store.RemovePlayer(c.UserContext(), board, player) })
	if err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

// Ban answers POST /boards/{board}/players/{player}/ban. A body is not needed; it may give a reason.
func (h Moderation) Ban(c *fiber.Ctx) error {
	board, player, err := parseBoardAndPlayer(c)
	if err != nil {
		return err
	}
	body, err := readBody(c)
	if err != nil {
		return err
	}
	var reason string
	if len(body) > 0 {
		if reason, err = parseBan(body); err != nil {
			return err
		}
	}
	var total int64
	act := store.Act{Act: "player.ban", Board: board, Player: player, Details: reason}
	err = h.Acts.do(c, act, func() (err error) {
		total, err = h.Store.Ban(c.UserContext(), board, player, reason)
		return err
	})
	if err != nil {
		return err
	}
	return sendTotal(c, total)
}

const maxReason = 200

func parseBan(body []byte) (reason string, err error) {
	err = read(body, func(r *reader) error {
		return r.object("body", func(name string) (err error) {
			if name != "reason" {
				return unknown(name)
			}
			reason, err = parseReason(r)
			return err
		})
	})
	return reason, err
}

// parseReason reads why an admin does something.
func parseReason(r *reader) (string, error) {
	text, err := r.text("reason")
	if err == nil && (utf8.RuneCountInString(text) > maxReason || hasControl(text)) {
		err = store.Invalid("reason", "must be at most 200 characters, without control characters")
	}
	return strings.Clone(text), err
}

// hasControl reports whether a text could break a line or move a terminal.
func hasControl(text string) bool { return strings.ContainsFunc(text, unicode.IsControl) }

// Unban answers POST /boards/{board}/players/{player}/unban.
func (h Moderation) Unban(c *fiber.Ctx) error {
	board, player, err := parseBoardAndPlayer(c)
	if err != nil {
		return err
	}
	var total int64
	act := store.Act{Act: "player.unban", Board: board, Player: player}
	err = h.Acts.do(c, act, func() (err error) {
		total, err = h.Store.Unban(c.UserContext(), board, player)
		return err
	})
	if err != nil {
		return err
	}
	return sendTotal(c, total)
}

func sendTotal(c *fiber.Ctx, total int64) error {
	return sendJSON(c, append(appendInt([]byte(`{"total":`), total), '}'))
}

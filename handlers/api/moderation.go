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
type Moderation struct{ Store ModerationStore }

// Remove answers DELETE /boards/{board}/players/{player}.
func (h Moderation) Remove(c *fiber.Ctx) error {
	board, player, err := parseBoardAndPlayer(c)
	if err != nil {
		return err
	}
	if err := h.Store.RemovePlayer(c.UserContext(), board, player); err != nil {
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
		if reason, err = parseReason(body); err != nil {
			return err
		}
	}
	total, err := h.Store.Ban(c.UserContext(), board, player, reason)
	if err != nil {
		return err
	}
	return sendTotal(c, total)
}

const maxReason = 200

func parseReason(body []byte) (reason string, err error) {
	err = read(body, func(r *reader) error {
		return r.object("body", func(name string) error {
			if name != "reason" {
				return unknown(name)
			}
			text, err := r.text("reason")
			if err == nil && (utf8.RuneCountInString(text) > maxReason || hasControl(text)) {
				err = store.Invalid("reason", "must be at most 200 characters, without control characters")
			}
			reason = strings.Clone(text)
			return err
		})
	})
	return reason, err
}

// hasControl reports whether a text could break a line or move a terminal.
func hasControl(text string) bool { return strings.ContainsFunc(text, unicode.IsControl) }

// Unban answers POST /boards/{board}/players/{player}/unban.
func (h Moderation) Unban(c *fiber.Ctx) error {
	board, player, err := parseBoardAndPlayer(c)
	if err != nil {
		return err
	}
	total, err := h.Store.Unban(c.UserContext(), board, player)
	if err != nil {
		return err
	}
	return sendTotal(c, total)
}

func sendTotal(c *fiber.Ctx, total int64) error {
	return sendJSON(c, append(appendInt([]byte(`{"total":`), total), '}'))
}

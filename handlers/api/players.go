package api

import (
	"context"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"

	"leaderboard/store"
)

// PlayerStore is what [Players] needs of a store.
type PlayerStore interface {
	Player(ctx context.Context, look store.Look, player store.PlayerID) (store.Standing, error)
	Around(ctx context.Context, look store.Look, player store.PlayerID, radius int64) (store.Page, error)
	Search(ctx context.Context, look store.Look, prefix string, limit int64) (store.Page, error)
	Activity(ctx context.Context, board store.BoardID, player store.PlayerID, limit int64) ([]store.Activity, error)
}

// Players answers what one asks about one player of a board.
type Players struct{ Store PlayerStore }

// Get answers GET /boards/{board}/players/{player}.
func (h Players) Get(c *fiber.Ctx) error {
	look, player, err := parseLookAtPlayer(c)
	if err != nil {
		return err
	}
	standing, err := h.Store.Player(c.UserContext(), look, player)
	if err != nil {
		return err
	}
	var space [512]byte
	body := appendEntry(append(space[:0], '{'), &standing.Entry, standing.Season.Decimals)
	body = appendShare(append(body, ','), &standing)
	body = append(body, `,"total":`...)
	body = appendInt(body, standing.Total)
	return sendShort(c, append(body, '}'))
}

func parseLookAtPlayer(c *fiber.Ctx) (store.Look, store.PlayerID, error) {
	look, err := parseLook(c)
	if err != nil {
		return look, "", err
	}
	player, err := parsePlayer(c)
	return look, player, err
}

// Around answers GET /boards/{board}/players/{player}/around.
func (h Players) Around(c *fiber.Ctx) error {
	look, player, err := parseLookAtPlayer(c)
	if err != nil {
		return err
	}
	radius, err := queryRadius(c)
	if err != nil {
		return err
	}
	page, err := h.Store.Around(c.UserContext(), look, player, radius)
	if err != nil {
		return err
	}
	body := appendPage([]byte{'{'}, &page, false)
	body = append(body, `,"entries":`...)
	body = appendEntries(body, page.Entries, page.Season.Decimals)
	return sendJSON(c, append(body, '}'))
}

// Search answers GET /boards/{board}/players?name=: players whose name begins so.
func (h Players) Search(c *fiber.Ctx) error {
	look, err := parseLook(c)
	if err != nil {
		return err
	}
	prefix, err := parsePrefix(c)
	if err != nil {
		return err
	}
	limit, err := queryLimit(c, 10)
	if err != nil {
		return err
	}
	page, err := h.Store.Search(c.UserContext(), look, prefix, limit)
	if err != nil {
		return err
	}
	body := append([]byte(nil), `{"entries":`...)
	body = appendEntries(body, page.Entries, page.Season.Decimals)
	return sendJSON(c, append(body, '}'))
}

// parsePrefix returns the beginning of a name. It need not be a name by itself.
func parsePrefix(c *fiber.Ctx) (string, error) {
	text, given, err := queryValue(c, "name")
	switch {
	case err != nil:
		return "", err
	case !given:
		return "", store.Invalid("name", "is missing: this call finds players by the beginning of their name")
	case !utf8.ValidString(text) || utf8.RuneCountInString(text) > store.MaxNameRunes || hasControl(text):
		return "", store.Invalid("name", "must be UTF-8 of at most 64 code points, without control characters")
	}
	return string([]byte(text)), nil
}

// Activity answers GET /boards/{board}/players/{player}/activity, newest first.
func (h Players) Activity(c *fiber.Ctx) error {
	board, player, err := parseBoardAndPlayer(c)
	if err != nil {
		return err
	}
	limit, err := queryLimit(c, 20)
	if err != nil {
		return err
	}
	activity, err := h.Store.Activity(c.UserContext(), board, player, limit)
	if err != nil {
		return err
	}
	body := append([]byte(nil), `{"items":`...)
	return sendJSON(c, append(appendList(body, activity, appendActivity), '}'))
}

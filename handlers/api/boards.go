package api

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"leaderboard/store"
)

// BoardStore is what [Boards] needs of a store.
type BoardStore interface {
	BoardState(ctx context.Context, id store.BoardID) (store.BoardState, error)
	BoardStates(ctx context.Context) ([]store.BoardState, error)
	PutBoard(ctx context.Context, id store.BoardID, change func(*store.Settings) error) (
		state store.BoardState, made bool, err error)
	DeleteBoard(ctx context.Context, id store.BoardID) error
}

// Boards shows, makes, changes and removes boards.
type Boards struct {
	Store BoardStore
	Acts  Acts
}

// List answers GET /boards. A key for some boards sees those.
func (h Boards) List(c *fiber.Ctx) error {
	boards, err := h.Store.BoardStates(c.UserContext())
	if err != nil {
		return err
	}
	boards = slices.DeleteFunc(boards, func(b store.BoardState) bool { return !keyOf(c).Touches(b.ID) })
	body := append([]byte(nil), `{"boards":`...)
	body = appendList(body, boards, func(to []byte, b *store.BoardState) []byte {
		return appendBoard(to, b, isAdmin(c, b.ID))
	})
	return sendJSON(c, append(body, '}'))
}

// Get answers GET /boards/{board}.
func (h Boards) Get(c *fiber.Ctx) error {
	id, err := parseBoard(c)
	if err != nil {
		return err
	}
	board, err := h.Store.BoardState(c.UserContext(), id)
	if err != nil {
		return err
	}
	return sendJSON(c, appendBoard(nil, &board, isAdmin(c, id)))
}

// Put answers PUT /boards/{board}: makes the board or changes it. No body at all means the same as an empty object.
func (h Boards) Put(c *fiber.Ctx) error {
	id, err := parseBoard(c)
	if err != nil {
		return err
	}
	body, err := readBody(c)
	if err != nil {
		return err
	}
	var patch settingsPatch
	if len(body) > 0 {
		if patch, err = parseSettings(body); err != nil {
			return err
		}
	}
	var (
		board store.BoardState
		made  bool
		act   = store.Act{Act: "board.put", Board: id, Details: cmp.Or(strings.Join(patch.fields, ", "), "no settings")}
	)
	err = h.Acts.do(c, act, func() (err error) {
		board, made, err = h.Store.PutBoard(c.UserContext(), id, patch.apply)
		return err
	})
	if err != nil {
		return err
	}
	if made {
		c.Status(fiber.StatusCreated)
	}
	return sendJSON(c, appendBoard(nil, &board, isAdmin(c, id)))
}

// Delete answers DELETE /boards/{board}.
func (h Boards) Delete(c *fiber.Ctx) error {
	id, err := parseBoard(c)
	if err != nil {
		return err
	}
	act := store.Act{Act: "board.delete", Board: id}
	if err := h.Acts.do(c, act, func() error { return h.Store.DeleteBoard(c.UserContext(), id) }); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

package api

import (
	"context"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"leaderboard/store"
)

// HeldStore is what [Held] needs of a store.
type HeldStore interface {
	Held(ctx context.Context, board store.BoardID) ([]store.Held, error)
	AcceptHeld(ctx context.Context, board store.BoardID, id int64) (store.Result, error)
	RejectHeld(ctx context.Context, board store.BoardID, id int64) error
}

// Held decides on scores that gain more than a board's max_step.
type Held struct {
	Store HeldStore
	Acts  Acts
}

// List answers GET /boards/{board}/held, oldest first.
func (h Held) List(c *fiber.Ctx) error {
	board, err := parseBoard(c)
	if err != nil {
		return err
	}
	held, err := h.Store.Held(c.UserContext(), board)
	if err != nil {
		return err
	}
	body := append([]byte(nil), `{"items":`...)
	return sendJSON(c, append(appendList(body, held, appendHeld), '}'))
}

func appendHeld(to []byte, s *store.Held) []byte {
	to = append(to, `{"id":`...)
	to = appendInt(to, s.ID)
	to = append(to, `,"player":`...)
	to = appendString(to, s.Player)
	to = append(to, `,"points":`...)
	to = s.Points.Append(to, s.Decimals)
	to = append(to, `,"present":`...)
	if s.HasPresent {
		to = s.Present.Append(to, s.Decimals)
	} else {
		to = append(to, "null"...)
	}
	to = append(to, `,"at":`...)
	return append(appendTime(to, s.At), '}')
}

// Accept answers POST /boards/{board}/held/{id}/accept: the score counts, with its own time.
func (h Held) Accept(c *fiber.Ctx) error {
	board, id, err := parseHeldID(c)
	if err != nil {
		return err
	}
	var result store.Result
	err = h.Acts.do(c, heldAct("held.accept", board, id), func() (err error) {
		result, err = h.Store.AcceptHeld(c.UserContext(), board, id)
		return err
	})
	if err != nil {
		return err
	}
	return sendJSON(c, append(appendResult([]byte{'{'}, &result), '}'))
}

// Reject answers POST /boards/{board}/held/{id}/reject: the score never was.
func (h Held) Reject(c *fiber.Ctx) error {
	board, id, err := parseHeldID(c)
	if err != nil {
		return err
	}
	err = h.Acts.do(c, heldAct("held.reject", board, id), func() error {
		return h.Store.RejectHeld(c.UserContext(), board, id)
	})
	if err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

func parseHeldID(c *fiber.Ctx) (board store.BoardID, id int64, err error) {
	if board, err = parseBoard(c); err == nil {
		id, err = pathNumber(c, "id", maxHeldID)
	}
	return board, id, err
}

const maxHeldID = 1<<53 - 1

func heldAct(act string, board store.BoardID, id int64) store.Act {
	return store.Act{Act: act, Board: board, Details: "held score " + strconv.FormatInt(id, 10)}
}

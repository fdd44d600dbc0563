package api

import (
	"context"
	"time"

	"github.com/gofiber/fiber/v2"

	"leaderboard/store"
)

// EraseStore is what [Erase] needs of a store.
type EraseStore interface {
	ErasePlayer(ctx context.Context, player store.PlayerID) (done bool, err error)
}

// Erase removes people from everywhere.
type Erase struct {
	Store EraseStore
	Acts  Acts
}

// erasePatience is how long a caller waits for an erasure: well within the time of a request. What takes longer goes on
// without them.
const erasePatience = 3 * time.Second

// Delete answers DELETE /players/{player}. The act stands in the audit about nobody once the erasure is done.
func (h Erase) Delete(c *fiber.Ctx) error {
	player, err := parsePlayer(c)
	if err != nil {
		return err
	}
	done := false
	err = h.Acts.do(c, store.Act{Act: "player.erase", Player: player}, func() (err error) {
		ctx, cancel := context.WithTimeout(c.UserContext(), erasePatience)
		defer cancel()
		done, err = h.Store.ErasePlayer(ctx, player)
		return err
	})
	if err != nil {
		return err
	}
	if done {
		return c.SendStatus(fiber.StatusNoContent)
	}
	c.Status(fiber.StatusAccepted)
	return sendJSON(c, []byte(`{"status":"erasing"}`))
}

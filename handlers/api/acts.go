package api

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"leaderboard/store"
)

// Acts has what admins do written down.
type Acts struct {
	Log     ActLog
	Problem func(error) Problem // what a caller is told of an error
}

// ActLog keeps every admin act.
type ActLog interface {
	Record(ctx context.Context, act store.Act) error
}

// do writes an act down and then does it: what stands in the audit may not have happened, but nothing happens that does
// not stand there. A second entry says that the act failed, unless it was refused: then the caller was told why, and
// nothing was done.
func (a Acts) do(c *fiber.Ctx, act store.Act, do func() error) error {
	act.Who = keyOf(c).Name
	if err := a.Log.Record(c.UserContext(), act); err != nil {
		return err
	}
	err := do()
	if err == nil || a.Problem(err).Status < fiber.StatusInternalServerError {
		return err
	}
	act.Act += " failed"
	act.Details = strings.TrimPrefix(act.Details+"; nobody knows whether it was done", "; ")
	const patience = 2 * time.Second // the request's own time may be up, which is why it failed
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.UserContext()), patience)
	defer cancel()
	return errors.Join(err, a.Log.Record(ctx, act))
}

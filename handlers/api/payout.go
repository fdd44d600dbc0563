package api

import (
	"context"

	"github.com/gofiber/fiber/v2"

	"leaderboard/store"
)

// PayoutStore is what [Payouts] needs of a store.
type PayoutStore interface {
	BoardState(ctx context.Context, board store.BoardID) (store.BoardState, error)
	Payout(ctx context.Context, board store.BoardID) ([]store.RewardPreview, error)
}

// Payouts shows what a close would pay.
type Payouts struct{ Store PayoutStore }

// Get answers GET /boards/{board}/seasons/payout.
func (h Payouts) Get(c *fiber.Ctx) error {
	board, err := parseBoard(c)
	if err != nil {
		return err
	}
	state, err := h.Store.BoardState(c.UserContext(), board)
	if err != nil {
		return err
	}
	previews, err := h.Store.Payout(c.UserContext(), board)
	if err != nil {
		return err
	}
	body := append([]byte(nil), `{"rewards":`...)
	return sendJSON(c, append(appendList(body, previews, func(to []byte, p *store.RewardPreview) []byte {
		return appendPreview(to, p, state.Settings.Decimals)
	}), '}'))
}

func appendPreview(to []byte, p *store.RewardPreview, decimals int) []byte {
	to = append(to, `{"reward":`...)
	to = appendString(to, p.Reward.ID)
	to = append(to, `,"title":`...)
	to = appendString(to, p.Reward.Title)
	to = append(to, `,"count":`...)
	to = appendInt(to, p.Count)
	to = append(to, `,"entries":`...)
	return append(appendList(to, p.Entries, func(to []byte, e *store.Entry) []byte {
		return append(appendEntry(append(to, '{'), e, decimals), '}')
	}), '}')
}

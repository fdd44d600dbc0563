package api

import (
	"context"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"leaderboard/store"
)

// SeasonStore is what [Seasons] needs of a store.
type SeasonStore interface {
	ClosedSeasons(ctx context.Context, board store.BoardID) ([]store.Season, error)
	CloseSeason(ctx context.Context, board store.BoardID, number int64, reason string) (
		state store.BoardState, at time.Time, err error)
	ReopenSeason(ctx context.Context, board store.BoardID, number int64) (store.BoardState, error)
}

// Seasons shows, closes and reopens seasons.
type Seasons struct {
	Store SeasonStore
	Acts  Acts
}

// List answers GET /boards/{board}/seasons: the closed ones, newest first.
func (h Seasons) List(c *fiber.Ctx) error {
	board, err := parseBoard(c)
	if err != nil {
		return err
	}
	seasons, err := h.Store.ClosedSeasons(c.UserContext(), board)
	if err != nil {
		return err
	}
	body := append([]byte(nil), `{"seasons":`...)
	return sendJSON(c, append(appendList(body, seasons, appendSeason), '}'))
}

func appendSeason(to []byte, s *store.Season) []byte {
	to = append(to, `{"season":`...)
	to = appendInt(to, s.Number)
	to = append(to, `,"started_at":`...)
	to = appendTime(to, s.Start)
	to = append(to, `,"ended_at":`...)
	to = appendTime(to, s.End)
	to = append(to, `,"total":`...)
	to = appendInt(to, s.Total)
	to = append(to, `,"reason":`...)
	return append(appendTextOrNull(to, s.Reason), '}')
}

// Close answers POST /boards/{board}/seasons/close. It names the season, so that closing twice is closing once.
func (h Seasons) Close(c *fiber.Ctx) error {
	board, err := parseBoard(c)
	if err != nil {
		return err
	}
	body, err := readBody(c)
	if err != nil {
		return err
	}
	number, reason, err := parseClose(body)
	if err != nil {
		return err
	}
	var (
		state store.BoardState
		at    time.Time
		act   = store.Act{Act: "season.close", Board: board, Details: "season " + strconv.FormatInt(number, 10)}
	)
	if reason != "" {
		act.Details += ": " + reason
	}
	err = h.Acts.do(c, act, func() (err error) {
		state, at, err = h.Store.CloseSeason(c.UserContext(), board, number, reason)
		return err
	})
	if err != nil {
		return err
	}
	reply := appendInt([]byte(`{"closed":`), number)
	reply = append(reply, `,"season":`...)
	reply = appendInt(reply, state.Season.Number)
	reply = append(reply, `,"at":`...)
	return sendJSON(c, append(appendTime(reply, at), '}'))
}

func parseClose(body []byte) (number int64, reason string, err error) {
	err = read(body, func(r *reader) error {
		return r.object("body", func(name string) (err error) {
			switch name {
			case "season":
				number, err = r.integer("season", 1, maxSeason, false)
			case "reason":
				reason, err = parseReason(r)
			default:
				err = unknown(name)
			}
			return err
		})
	})
	if err == nil && number == 0 {
		err = store.Invalid("season", "is missing: a close names the running season")
	}
	return number, reason, err
}

// Reopen answers POST /boards/{board}/seasons/{season}/reopen.
func (h Seasons) Reopen(c *fiber.Ctx) error {
	board, err := parseBoard(c)
	if err != nil {
		return err
	}
	number, err := pathNumber(c, "season", maxSeason)
	if err != nil {
		return err
	}
	var state store.BoardState
	act := store.Act{Act: "season.reopen", Board: board, Details: "season " + strconv.FormatInt(number, 10)}
	err = h.Acts.do(c, act, func() (err error) {
		state, err = h.Store.ReopenSeason(c.UserContext(), board, number)
		return err
	})
	if err != nil {
		return err
	}
	reply := appendInt([]byte(`{"season":`), state.Season.Number)
	reply = append(reply, `,"ends_at":`...)
	return sendJSON(c, append(appendTimeOrNull(reply, state.Season.End), '}'))
}

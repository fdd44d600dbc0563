package api

import (
	"context"

	"github.com/gofiber/fiber/v2"

	"leaderboard/store"
)

// ReadStore is what [Reads] needs of a store.
type ReadStore interface {
	View(ctx context.Context, look store.Look, player store.PlayerID, limit, radius int64) (store.View, error)
	RankOf(ctx context.Context, look store.Look, points store.Decimal) (store.RankOf, error)
	Range(ctx context.Context, look store.Look, lowest, highest *store.Decimal, limit int64) (store.Page, int64, error)
	Lookup(ctx context.Context, look store.Look, players []store.PlayerID) (
		season store.Season, placed []store.Placed, unknown []store.PlayerID, err error)
}

// Reads answers what one asks a board besides its top.
type Reads struct{ Store ReadStore }

// View answers GET /boards/{board}/view: top, player and surroundings from one look.
func (h Reads) View(c *fiber.Ctx) error {
	look, err := parseLook(c)
	if err != nil {
		return err
	}
	var player store.PlayerID
	text, given, err := queryValue(c, "player")
	if err == nil && given {
		player, err = store.ParsePlayerID(text)
	}
	if err != nil {
		return err
	}
	limit, err := queryLimit(c, 10)
	if err != nil {
		return err
	}
	radius, err := queryRadius(c)
	if err != nil {
		return err
	}
	view, err := h.Store.View(c.UserContext(), look, player, limit, radius)
	if err != nil {
		return err
	}
	return sendJSON(c, appendView(nil, &view))
}

func appendView(to []byte, view *store.View) []byte {
	decimals := view.Season.Decimals
	to = appendPage(append(to, '{'), &view.Page, true)
	to = append(to, `,"top":`...)
	to = appendEntries(to, view.Entries, decimals)
	to = append(to, `,"entry":`...)
	if view.Standing == nil {
		to = append(to, "null"...)
	} else {
		to = append(appendEntry(append(to, '{'), &view.Standing.Entry, decimals), '}')
	}
	to = appendShare(append(to, ','), view.Standing)
	to = append(to, `,"around":`...)
	return append(appendEntries(to, view.Around, decimals), '}')
}

// Rank answers GET /boards/{board}/rank: the place that some points would take.
func (h Reads) Rank(c *fiber.Ctx) error {
	look, err := parseLook(c)
	if err != nil {
		return err
	}
	points, err := queryDecimal(c, "points")
	if err != nil {
		return err
	}
	if points == nil {
		return store.Invalid("points", "is missing")
	}
	rank, err := h.Store.RankOf(c.UserContext(), look, *points)
	if err != nil {
		return err
	}
	body := append([]byte(nil), `{"points":`...)
	body = rank.Points.Append(body, rank.Season.Decimals)
	body = append(body, `,"rank":`...)
	body = appendInt(body, rank.Rank)
	body = append(body, `,"total":`...)
	body = appendInt(body, rank.Total)
	return sendJSON(c, append(body, '}'))
}

// Range answers GET /boards/{board}/range: entries whose points lie between two bounds.
func (h Reads) Range(c *fiber.Ctx) error {
	look, err := parseLook(c)
	if err != nil {
		return err
	}
	lowest, err := queryDecimal(c, "min")
	if err != nil {
		return err
	}
	highest, err := queryDecimal(c, "max")
	if err != nil {
		return err
	}
	limit, err := queryLimit(c, 10)
	if err != nil {
		return err
	}
	page, count, err := h.Store.Range(c.UserContext(), look, lowest, highest, limit)
	if err != nil {
		return err
	}
	body := append([]byte(nil), `{"entries":`...)
	body = appendEntries(body, page.Entries, page.Season.Decimals)
	body = append(body, `,"count":`...)
	body = appendInt(body, count)
	return sendJSON(c, append(body, '}'))
}

// Lookup answers POST /boards/{board}/lookup: a group of players, ranked among themselves.
func (h Reads) Lookup(c *fiber.Ctx) error {
	look, err := parseLook(c)
	if err != nil {
		return err
	}
	body, err := readBody(c)
	if err != nil {
		return err
	}
	players, err := parsePlayers(body)
	if err != nil {
		return err
	}
	season, placed, unknown, err := h.Store.Lookup(c.UserContext(), look, players)
	if err != nil {
		return err
	}
	reply := append([]byte(nil), `{"entries":`...)
	reply = appendList(reply, placed, func(to []byte, p *store.Placed) []byte {
		to = appendEntry(append(to, '{'), &p.Entry, season.Decimals)
		to = append(to, `,"place":`...)
		return append(appendInt(to, p.Place), '}')
	})
	reply = append(reply, `,"unknown":`...)
	reply = appendList(reply, unknown, func(to []byte, p *store.PlayerID) []byte { return appendString(to, *p) })
	return sendJSON(c, append(reply, '}'))
}

// maxPlayers is how many players one lookup may name.
const maxPlayers = 1000

// parsePlayers reads whom to look up. A player named twice counts once.
func parsePlayers(body []byte) (players []store.PlayerID, err error) {
	seen := make(map[store.PlayerID]bool)
	err = read(body, func(r *reader) error {
		return r.object("body", func(name string) error {
			if name != "players" {
				return unknown(name)
			}
			return r.array("players", func(i int) error {
				if i == maxPlayers {
					return store.Invalid("players", wantPlayers)
				}
				text, err := r.text("players")
				if err != nil {
					return err
				}
				player, err := store.ParsePlayerID(text)
				if err != nil {
					return store.Invalid("players", "must be ids: 1 to 128 bytes of UTF-8 without controls and outer spaces")
				}
				if !seen[player] {
					seen[player] = true
					players = append(players, player)
				}
				return nil
			})
		})
	})
	if err == nil && len(players) == 0 {
		err = store.Invalid("players", wantPlayers)
	}
	return players, err
}

const wantPlayers = "must be 1 to 1000 ids"

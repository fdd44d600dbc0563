package api

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"

	"leaderboard/store"
)

// Bounds of query parameters.
const (
	maxLimit  = 1000
	maxOffset = 1 << 53
	maxRadius = 500
	maxSeason = 1<<53 - 1
)

// parseBoard returns the board in the path.
func parseBoard(c *fiber.Ctx) (store.BoardID, error) {
	text, err := pathValue(c, "board")
	if err != nil {
		return "", err
	}
	return store.ParseBoardID(text)
}

// parsePlayer returns the player in the path.
func parsePlayer(c *fiber.Ctx) (store.PlayerID, error) {
	text, err := pathValue(c, "player")
	if err != nil {
		return "", err
	}
	return store.ParsePlayerID(text)
}

func parseBoardAndPlayer(c *fiber.Ctx) (store.BoardID, store.PlayerID, error) {
	board, err := parseBoard(c)
	if err != nil {
		return "", "", err
	}
	player, err := parsePlayer(c)
	return board, player, err
}

// pathValue returns a part of the path, decoded exactly once: Fiber hands it out as it came.
func pathValue(c *fiber.Ctx, name string) (string, error) {
	raw := c.Params(name)
	if !strings.Contains(raw, "%") {
		return raw, nil
	}
	text, err := url.PathUnescape(raw)
	if err != nil {
		return "", store.Invalid(name, "must be percent-encoded correctly")
	}
	return text, nil
}

// pathNumber returns a part of the path that is a whole number from 1.
func pathNumber(c *fiber.Ctx, name string, highest int64) (int64, error) {
	text, err := pathValue(c, name)
	if err != nil {
		return 0, err
	}
	number, ok := wholeNumber(text)
	if !ok || number < 1 || number > highest {
		return 0, store.Invalid(name, "must be a whole number from 1 to "+strconv.FormatInt(highest, 10))
	}
	return number, nil
}

// queryValue returns a query parameter and whether it was given. It aliases the request: parse it, do not keep it.
func queryValue(c *fiber.Ctx, name string) (string, bool, error) {
	args := c.Context().QueryArgs()
	if args.Len() == 0 {
		return "", false, nil
	}
	var found []byte
	count := 0
	args.VisitAll(func(key, value []byte) {
		if string(key) == name {
			found = value
			count++
		}
	})
	switch {
	case count > 1:
		return "", false, store.Invalid(name, "must be given once")
	case count == 1 && len(found) == 0:
		return "", false, store.Invalid(name, "must not be empty")
	}
	return utils.UnsafeString(found), count == 1, nil
}

// queryNumber returns a whole number between two bounds, or the fallback where the parameter is absent.
func queryNumber(c *fiber.Ctx, name string, fallback, lowest, highest int64) (int64, error) {
	text, given, err := queryValue(c, name)
	if err != nil || !given {
		return fallback, err
	}
	number, ok := wholeNumber(text)
	if !ok || number < lowest || number > highest {
		return 0, store.Invalid(name, "must be a whole number from "+strconv.FormatInt(lowest, 10)+" to "+
			strconv.FormatInt(highest, 10))
	}
	return number, nil
}

// wholeNumber reads digits and nothing else: no sign, no point, no exponent.
func wholeNumber(text string) (int64, bool) {
	if text == "" || len(text) > 18 {
		return 0, false
	}
	var number int64
	for i := range len(text) {
		digit := text[i] - '0'
		if digit > 9 {
			return 0, false
		}
		number = number*10 + int64(digit)
	}
	return number, true
}

func queryLimit(c *fiber.Ctx, fallback int64) (int64, error) {
	return queryNumber(c, "limit", fallback, 1, maxLimit)
}

func queryRadius(c *fiber.Ctx) (int64, error) { return queryNumber(c, "radius", 5, 0, maxRadius) }

// queryDecimal returns a number of points, or nil where the parameter is absent.
func queryDecimal(c *fiber.Ctx, name string) (*store.Decimal, error) {
	text, given, err := queryValue(c, name)
	if err != nil || !given {
		return nil, err
	}
	number, err := store.ParseDecimal(name, text)
	if err != nil {
		return nil, err
	}
	return &number, nil
}

// queryTies reports whether equal points are to get equal ranks.
func queryTies(c *fiber.Ctx) (bool, error) {
	text, given, err := queryValue(c, "ties")
	if err != nil || !given {
		return false, err
	}
	if text != "shared" {
		return false, store.Invalid("ties", "must be shared")
	}
	return true, nil
}

// parseLook returns what most reads are about: the board in the path, season and ties in the query.
func parseLook(c *fiber.Ctx) (look store.Look, err error) {
	if look.Board, err = parseBoard(c); err != nil {
		return look, err
	}
	if look.Season, err = queryNumber(c, "season", 0, 1, maxSeason); err != nil {
		return look, err
	}
	look.SharedTies, err = queryTies(c)
	return look, err
}

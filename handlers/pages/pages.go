// Package pages answers browsers: a handler a page. Handlers parse, read, and turn what they read into view models;
// templates print those. Errors go up unchanged: the edge makes a page of them with [Pages.Error].
package pages

import (
	"bytes"
	"context"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"leaderboard/store"
)

// Store is what the pages read.
type Store interface {
	BoardState(ctx context.Context, id store.BoardID) (store.BoardState, error)
	BoardStates(ctx context.Context) ([]store.BoardState, error)
	Top(ctx context.Context, look store.Look, offset, limit int64) (store.Page, error)
	View(ctx context.Context, look store.Look, player store.PlayerID, limit, radius int64) (store.View, error)
	Player(ctx context.Context, look store.Look, player store.PlayerID) (store.Standing, error)
	Search(ctx context.Context, look store.Look, prefix string, limit int64) (store.Page, error)
	Activity(ctx context.Context, board store.BoardID, player store.PlayerID, limit int64) ([]store.Activity, error)
}

// Deps is what the pages need.
type Deps struct {
	Store Store
	Live  bool // GET /ws/boards/{board} is served: pages of running seasons connect to it

	Inbox    Inbox    // nil: there are no rewards
	Searches Searches // nil: cookies keep what was looked for

	// Player says in whose browser a page is shown, "" where nobody knows. SignIn makes a browser remember a player's
	// token, SignOut makes it forget.
	Player  func(c *fiber.Ctx) store.PlayerID
	SignIn  func(c *fiber.Ctx, token string) error
	SignOut func(c *fiber.Ctx)
}

// Pages holds the handlers.
type Pages struct {
	store    Store
	live     bool
	inbox    Inbox
	searches Searches
	player   func(*fiber.Ctx) store.PlayerID
	signIn   func(*fiber.Ctx, string) error
	signOut  func(*fiber.Ctx)
}

// New returns the handlers.
func New(deps Deps) *Pages {
	return &Pages{
		store: deps.Store, live: deps.Live, inbox: deps.Inbox, searches: deps.Searches,
		player: deps.Player, signIn: deps.SignIn, signOut: deps.SignOut,
	}
}

// show renders a page. It is rendered whole before a byte is sent: a page never ends in the middle.
func show(c *fiber.Ctx, page templ.Component) error {
	var out bytes.Buffer
	if err := page.Render(c.UserContext(), &out); err != nil {
		return err
	}
	c.Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)
	if len(c.Response().Header.Peek(fiber.HeaderCacheControl)) == 0 {
		c.Set(fiber.HeaderCacheControl, "private, no-cache")
	}
	return c.Send(out.Bytes())
}

// theme returns the colours the reader chose, or nothing.
func theme(c *fiber.Ctx) string {
	switch chosen := c.Cookies("theme"); chosen {
	case "light":
		return "light"
	case "dark":
		return "dark"
	default:
		return ""
	}
}

// boardOf returns the board that the path names. A text that can be no id names no board.
func boardOf(c *fiber.Ctx) (store.BoardID, error) {
	id, err := store.ParseBoardID(c.Params("board"))
	if err != nil {
		return "", store.ErrBoardNotFound
	}
	return id, nil
}

// playerOf returns the player that the path names. Fiber hands the path over as it came: here is where it is decoded,
// once.
func playerOf(c *fiber.Ctx) (store.PlayerID, error) {
	text, err := url.PathUnescape(c.Params("player"))
	if err != nil {
		return "", store.ErrPlayerNotFound
	}
	id, err := store.ParsePlayerID(text)
	if err != nil {
		return "", store.ErrPlayerNotFound
	}
	return id, nil
}

// query returns a parameter of the query, and whether it is there.
func query(c *fiber.Ctx, name string) (string, bool, error) {
	values := c.Context().QueryArgs().PeekMulti(name)
	switch {
	case len(values) == 0:
		return "", false, nil
	case len(values) > 1:
		return "", false, store.Invalid(name, "must be given once")
	}
	text := string(values[0])
	if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
		return "", false, store.Invalid(name, "must be UTF-8 without control characters")
	}
	return text, true, nil
}

// wholeNumber returns a parameter that must lie between lowest and highest, or instead when it is not there.
func wholeNumber(c *fiber.Ctx, name string, instead, lowest, highest int64) (int64, error) {
	text, ok, err := query(c, name)
	if err != nil || !ok {
		return instead, err
	}
	return parseWhole(name, text, lowest, highest)
}

func parseWhole(name, text string, lowest, highest int64) (int64, error) {
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil || number < lowest || number > highest || text != strconv.FormatInt(number, 10) {
		return 0, store.Invalid(name, "must be a whole number from "+count(lowest)+" to "+count(highest))
	}
	return number, nil
}

// pickedPlayer returns the player whose place the reader wants to see, or nothing.
func pickedPlayer(c *fiber.Ctx) (store.PlayerID, error) {
	text, ok, err := query(c, "player")
	if err != nil || !ok {
		return "", err
	}
	return store.ParsePlayerID(text)
}

func boardAddress(board store.BoardID) string { return "/b/" + string(board) }

// seasonAddress returns where a season is shown; 0 is the running one.
func seasonAddress(board store.BoardID, number int64) string {
	if number == 0 {
		return boardAddress(board)
	}
	return boardAddress(board) + "/seasons/" + strconv.FormatInt(number, 10)
}

// playerAddress returns a player's page. Browsers take the path segments . and .. away, escaped or not, so players of
// these names are shown on the board.
func playerAddress(board store.BoardID, player store.PlayerID, season int64) string {
	if player == "." || player == ".." {
		return pickAddress(board, player, season)
	}
	address := boardAddress(board) + "/p/" + url.PathEscape(string(player))
	if season != 0 {
		address += "?season=" + strconv.FormatInt(season, 10)
	}
	return address
}

// pickAddress returns the board with a player picked.
func pickAddress(board store.BoardID, player store.PlayerID, season int64) string {
	return seasonAddress(board, season) + "?player=" + url.QueryEscape(string(player))
}

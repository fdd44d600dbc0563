package web

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"leaderboard/handlers/api"
	"leaderboard/store"
)

// Players know players' tokens, and make the tickets that stand for one on a socket.
type Players interface {
	api.Tickets
	// Player returns the player and when the token expires, or an error for one that is not good now.
	Player(token string) (player store.PlayerID, expires time.Time, err error)
}

// readAsGuest is read where no key is expected: a player's token is not looked up among the keys.
func (e *edge) readAsGuest(c *fiber.Ctx) error {
	if err := e.limits.ofAddress(c.UserContext(), c, e.clientAddress(c)); err != nil {
		return err
	}
	return c.Next()
}

// playerCookie holds a player's token. Scripts cannot read it.
const playerCookie = "player"

// longestPlayerToken bounds what is checked: a token with the longest id fits twice.
const longestPlayerToken = 2048

// needPlayer lets a request pass that carries a player's token: in its header, or in the cookie. Browsers send a cookie
// along whoever asks, so with it a call that changes something must prove to come from a page of ours.
func (e *edge) needPlayer(c *fiber.Ctx) error {
	token, inHeader := bearerOfPlayer(c)
	if !inHeader {
		token = c.Cookies(playerCookie)
	}
	visitor, err := e.visitorWith(token)
	if err != nil {
		return err
	}
	changes := c.Method() != fiber.MethodGet && c.Method() != fiber.MethodHead
	if !inHeader && !e.fromOurPage(c, changes) {
		return errForeignPage
	}
	api.SetVisitor(c, visitor)
	return c.Next()
}

var errForeignPage = &api.ForbiddenError{Detail: "with a cookie this call must come from a page of this site"}

// bearerOfPlayer returns the token in the header, and whether there is such a header at all.
func bearerOfPlayer(c *fiber.Ctx) (token string, given bool) {
	const scheme = "bearer "
	value := c.Request().Header.Peek(fiber.HeaderAuthorization)
	if len(value) < len(scheme) || !bytes.EqualFold(value[:len(scheme)], []byte(scheme)) {
		return "", len(value) > 0
	}
	return string(bytes.TrimSpace(value[len(scheme):])), true
}

// visitorWith returns the player that a token stands for, or [api.ErrNoPlayer].
func (e *edge) visitorWith(token string) (api.Visitor, error) {
	if e.players == nil || token == "" || len(token) > longestPlayerToken {
		return api.Visitor{}, api.ErrNoPlayer
	}
	player, until, err := e.players.Player(token)
	if err != nil {
		return api.Visitor{}, api.ErrNoPlayer
	}
	return api.Visitor{Player: player, Until: until}, nil
}

// pagePlayer returns the player in whose browser a page is shown, or "".
func (e *edge) pagePlayer(c *fiber.Ctx) store.PlayerID {
	visitor, err := e.visitorWith(c.Cookies(playerCookie))
	if err != nil {
		return ""
	}
	return visitor.Player
}

// ourPages lets a form pass that comes from a page of ours.
func (e *edge) ourPages(c *fiber.Ctx) error {
	if !e.fromOurPage(c, true) {
		return errForeignPage
	}
	return c.Next()
}

// notForeign lets programs pass, and pages of ours: another site's page could make its visitors somebody else.
func (e *edge) notForeign(c *fiber.Ctx) error {
	if !e.fromOurPage(c, false) {
		return errForeignPage
	}
	return c.Next()
}

// fromOurPage reports whether a request comes from a page of this site, as the browser tells. Where it tells nothing,
// the answer is no if proof is asked for.
func (e *edge) fromOurPage(c *fiber.Ctx, proof bool) bool {
	header := &c.Request().Header
	proven := false
	for _, site := range header.PeekAll("Sec-Fetch-Site") {
		switch string(site) {
		case "same-origin":
			proven = true
		case "none": // typed by the reader: no page is behind it
		default:
			return false
		}
	}
	// The scheme is not compared with ours: a proxy may speak TLS for us.
	host := string(header.Host())
	ours := append([]string{"http://" + host, "https://" + host}, e.origins...)
	for _, origin := range header.PeekAll(fiber.HeaderOrigin) {
		if !slices.ContainsFunc(ours, func(o string) bool { return strings.EqualFold(o, string(origin)) }) {
			return false
		}
		proven = true
	}
	return proven || !proof
}

// signIn keeps a player's token in a cookie as long as it is good. Lax: whoever comes by a link from the game is still
// the player; what changes something must prove where it comes from.
func (e *edge) signIn(c *fiber.Ctx, token string) error {
	visitor, err := e.visitorWith(token)
	if err != nil {
		return err
	}
	e.setPlayerCookie(c, token, visitor.Until)
	return nil
}

// signOut makes a browser forget its player.
func (e *edge) signOut(c *fiber.Ctx) { e.setPlayerCookie(c, "", time.Unix(1, 0)) }

func (e *edge) setPlayerCookie(c *fiber.Ctx, token string, until time.Time) {
	c.Cookie(&fiber.Cookie{
		Name: playerCookie, Value: token, Path: "/", Expires: until, HTTPOnly: true, SameSite: fiber.CookieSameSiteLaxMode,
		Secure: e.cameByHTTPS(c) || strings.HasPrefix(strings.ToLower(c.Get(fiber.HeaderOrigin)), "https://"),
	})
}

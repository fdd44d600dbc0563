package pages

import (
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/session"
)

// SessionIdle is how long a session lives that nobody uses; the storage of [AdminDeps] ends it.
const SessionIdle = time.Hour

// sessionLife is how long a session lives at most, used or not.
const sessionLife = 12 * time.Hour

const sessionCookie = "admin"

// What a session holds.
const (
	sessionBorn     = "born"     // in seconds
	sessionPassword = "password" // the mark of the password that opened it
	sessionToken    = "token"    // what the forms of this session carry
)

// sessions are those who are logged in. The password is part of each: under another one none is worth anything.
type sessions struct {
	plain, secure *session.Store // they differ in the cookie alone
	mark          string
	now           func() time.Time
}

func newSessions(deps *AdminDeps) sessions {
	config := session.Config{
		Storage: deps.Sessions, Expiration: SessionIdle, KeyLookup: "cookie:" + sessionCookie, CookiePath: "/admin",
		CookieHTTPOnly: true, CookieSameSite: fiber.CookieSameSiteStrictMode,
		CookieSessionOnly: true, // how long it counts is for the storage to say
		KeyGenerator:      rand.Text,
	}
	plain := session.New(config)
	config.CookieSecure = true
	return sessions{plain: plain, secure: session.New(config), mark: markOfPassword(deps.Password), now: deps.Clock}
}

// markOfPassword returns what sessions keep of the password: slow to make, as whoever reads the storage should not find
// the password by trying.
func markOfPassword(password string) string {
	const rounds, length = 20_000, 16
	mark, err := pbkdf2.Key(sha256.New, password, []byte("leaderboard: sessions of the admin pages"), rounds, length)
	if err != nil {
		panic(err) // only for parameters that are forbidden
	}
	return hex.EncodeToString(mark)
}

func (s *sessions) of(secure bool) *session.Store {
	if secure {
		return s.secure
	}
	return s.plain
}

// visit is a request of somebody who is logged in.
type visit struct {
	token   string
	session *session.Session
}

// find returns the visit that a request's cookie proves, or nil.
func (s *sessions) find(c *fiber.Ctx) (*visit, error) {
	if c.Cookies(sessionCookie) == "" {
		return nil, nil
	}
	kept, err := s.plain.Get(c)
	if err != nil || kept.Fresh() {
		return nil, err
	}
	born, _ := kept.Get(sessionBorn).(int64)
	mark, _ := kept.Get(sessionPassword).(string)
	token, _ := kept.Get(sessionToken).(string)
	if !sameText(mark, s.mark) || token == "" || s.now().Sub(time.Unix(born, 0)) > sessionLife {
		return nil, kept.Destroy()
	}
	return &visit{token: token, session: kept}, nil
}

// begin logs somebody in. Whatever session they came with ends: only a name that was made now counts, so nobody can
// know it before.
func (s *sessions) begin(c *fiber.Ctx, secure bool) error {
	fresh, err := s.of(secure).Get(c)
	if err != nil {
		return err
	}
	if err := fresh.Regenerate(); err != nil {
		return err
	}
	fresh.Set(sessionBorn, s.now().Unix())
	fresh.Set(sessionPassword, s.mark)
	fresh.Set(sessionToken, rand.Text())
	return fresh.Save()
}

// sameText compares in a time that does not tell where two texts differ.
func sameText(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

type visitLocal struct{}

// visitOf returns the visit that the guard has found.
func visitOf(c *fiber.Ctx) *visit {
	v, _ := c.Context().UserValue(visitLocal{}).(*visit)
	return v
}

// guarded lets those see a page who are logged in. Others go to the login, and from there back to the page.
func (a *Admin) guarded(page fiber.Handler) fiber.Handler {
	return func(c *fiber.Ctx) error {
		found, err := a.sessions.find(c)
		if err != nil {
			return err
		}
		c.Set(fiber.HeaderCacheControl, "no-store")
		if found == nil {
			a.setReturn(c)
			return c.Redirect("/admin/login", fiber.StatusSeeOther)
		}
		c.Context().SetUserValue(visitLocal{}, found)
		return page(c)
	}
}

// formHandler does what a form asks for.
type formHandler func(c *fiber.Ctx, f form) error

// guardedForm lets those act who are logged in, by a form of ours that belongs to their session.
func (a *Admin) guardedForm(act formHandler) fiber.Handler {
	return func(c *fiber.Ctx) error {
		found, err := a.sessions.find(c)
		if err != nil {
			return err
		}
		c.Set(fiber.HeaderCacheControl, "no-store")
		if found == nil || !a.fromOurPage(c) {
			return fiber.ErrForbidden
		}
		f, err := parseForm(c)
		if err != nil {
			return err
		}
		if !sameText(f.first("csrf"), found.token) {
			return fiber.ErrForbidden
		}
		c.Context().SetUserValue(visitLocal{}, found)
		return act(c, f)
	}
}

// fromOurPage reports whether a request comes from a page of this site, as far as the browser tells. The token in the
// form proves it; this holds where a token has leaked.
func (a *Admin) fromOurPage(c *fiber.Ctx) bool {
	switch c.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
	default:
		return false
	}
	// Browsers leave the usual port out of both. The scheme is not compared with ours: a proxy may speak TLS for us.
	host := string(c.Request().Host())
	ours := append([]string{"http://" + host, "https://" + host}, a.deps.Origins...)
	for _, origin := range c.Request().Header.PeekAll(fiber.HeaderOrigin) {
		if !slices.ContainsFunc(ours, func(o string) bool { return strings.EqualFold(o, string(origin)) }) {
			return false
		}
	}
	return true
}

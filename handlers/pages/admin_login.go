package pages

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"net/netip"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"leaderboard/store"
	"leaderboard/templates"
)

// loginLimit is how often one address may try.
var loginLimit = store.Limit{Count: 10, Window: 5 * time.Minute}

// The form of the login carries what a cookie of its own carries: there is no session yet, and one for everybody who
// looks at the login would fill the storage.
const (
	loginCookie  = "admin-form"
	returnCookie = "admin-return"
	loginPath    = "/admin/login"
)

// LoginPage shows the login.
func (a *Admin) LoginPage(c *fiber.Ctx) error {
	found, err := a.sessions.find(c)
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	if found != nil {
		return c.Redirect("/admin", fiber.StatusSeeOther)
	}
	return a.showLogin(c, "")
}

func (a *Admin) showLogin(c *fiber.Ctx, wrong string) error {
	token := c.Cookies(loginCookie)
	if len(token) != len(rand.Text()) {
		token = rand.Text()
	}
	a.setLoginCookie(c, loginCookie, token, 0)
	return show(c, templates.LoginPage(templates.Login{
		Page: templates.Page{Title: "Log in · Leaderboard", Theme: theme(c)}, Token: token, Wrong: wrong,
	}))
}

// setLoginCookie sets a cookie that only the login sees. An age of 0 lasts as long as the browser runs.
func (a *Admin) setLoginCookie(c *fiber.Ctx, name, value string, age time.Duration) {
	c.Cookie(&fiber.Cookie{
		Name: name, Value: value, Path: loginPath, SessionOnly: age == 0, Expires: time.Now().Add(age),
		HTTPOnly: true, SameSite: fiber.CookieSameSiteStrictMode, Secure: a.secure(c),
	})
}

// Login answers a password. Whatever is wrong, the answer is the same.
func (a *Admin) Login(c *fiber.Ctx) error {
	c.Set(fiber.HeaderCacheControl, "no-store")
	const longest = 4096 // bytes of the form: anybody may send one
	if len(c.Request().Body()) > longest {
		return a.refuseLogin(c)
	}
	// First what costs nobody a try: another site could use up those of its visitors.
	f, err := parseForm(c)
	token := c.Cookies(loginCookie)
	if err != nil || token == "" || !sameText(f.first("csrf"), token) || !a.fromOurPage(c) {
		return a.refuseLogin(c)
	}
	quota, err := a.deps.Limits.Take(c.UserContext(), "login:"+subnet(a.deps.Address(c)), loginLimit)
	if err != nil {
		return err
	}
	if !quota.Allowed {
		return &store.LimitError{Policy: "logins", RetryAfter: quota.RetryAfter}
	}
	if !a.isPassword(f.first("password")) {
		return a.refuseLogin(c)
	}
	act := store.Act{Who: adminName, Act: "login", Details: "from " + a.deps.Address(c).String()}
	if err := a.record(c.UserContext(), act, func() error { return a.sessions.begin(c, a.secure(c)) }); err != nil {
		return err
	}
	return c.Redirect(a.takeReturn(c), fiber.StatusSeeOther)
}

func (a *Admin) refuseLogin(c *fiber.Ctx) error {
	c.Status(fiber.StatusForbidden)
	return a.showLogin(c, "That did not open it. Check the password and try again.")
}

// isPassword compares hashes: they are of one length, whatever was typed.
func (a *Admin) isPassword(typed string) bool {
	got, want := sha256.Sum256([]byte(typed)), sha256.Sum256([]byte(a.deps.Password))
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

// secure reports whether cookies may be kept from unencrypted connections: the request came by https, or the browser
// says that its page did, before a proxy that we know nothing of.
func (a *Admin) secure(c *fiber.Ctx) bool {
	return a.deps.HTTPS(c) || strings.HasPrefix(strings.ToLower(c.Get(fiber.HeaderOrigin)), "https://")
}

// subnet returns what counts as one address: with IPv6 everybody has a /64 to choose from.
func subnet(address netip.Addr) string {
	if address.Is6() {
		prefix, _ := address.WithZone("").Prefix(64) // there are that many bits
		return prefix.String()
	}
	return address.String()
}

// setReturn remembers the page that somebody wanted who has to log in first. It is a cookie and no part of the address:
// a link from elsewhere should not decide where a login leads.
func (a *Admin) setReturn(c *fiber.Ctx) {
	address := c.OriginalURL()
	const longest = 500
	if c.Method() == fiber.MethodGet && len(address) <= longest && isAdminAddress(address) {
		a.setLoginCookie(c, returnCookie, address, 10*time.Minute)
	}
}

// takeReturn returns where a login leads, once.
func (a *Admin) takeReturn(c *fiber.Ctx) string {
	address := c.Cookies(returnCookie)
	if address == "" {
		return "/admin"
	}
	a.setLoginCookie(c, returnCookie, "", -time.Hour)
	if !isAdminAddress(address) {
		return "/admin"
	}
	return strings.Clone(address)
}

// isAdminAddress reports whether an address is a page of ours: /admin or below it, and nothing that a browser takes for
// more.
func isAdminAddress(address string) bool {
	rest, ok := strings.CutPrefix(address, "/admin")
	if !ok || rest != "" && rest[0] != '/' && rest[0] != '?' {
		return false
	}
	return !strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r > '~' || r == '\\' || r == ';' || r == ',' || r == '"' }) &&
		!strings.Contains(rest, "..") && !strings.HasPrefix(rest, "/log")
}

// LogoutPage asks whether somebody wants to leave: the button is on every page, this is for who types the address.
func (a *Admin) LogoutPage(c *fiber.Ctx) error {
	return a.confirm(c, templates.Confirm{
		Admin:  a.frame(c, "Log out", partNone),
		Words:  []string{"This session ends. Nothing else does."},
		Action: "/admin/logout", Button: "Log out", Cancel: "/admin",
	}, nil)
}

// Logout ends the session.
func (a *Admin) Logout(c *fiber.Ctx, _ form) error {
	session := visitOf(c).session
	if err := a.record(c.UserContext(), store.Act{Who: adminName, Act: "logout"}, session.Destroy); err != nil {
		return err
	}
	return c.Redirect(loginPath, fiber.StatusSeeOther)
}

package web

import (
	"net/netip"
	"strings"

	"github.com/gofiber/fiber/v2"

	"leaderboard/handlers/pages"
)

// Admin is what the admin pages need.
type Admin = pages.AdminDeps

// AdminIdle is how long a session of the admin pages lives that nobody uses.
const AdminIdle = pages.SessionIdle

// mountAdmin registers the admin pages, if there are any.
func (e *edge) mountAdmin(app *fiber.App, deps Admin) {
	if deps.Store == nil {
		return
	}
	deps.Address, deps.HTTPS = e.clientAddress, e.cameByHTTPS
	pages.NewAdmin(deps).Mount(app, e.read)
}

// cameByHTTPS reports whether a request came by https, to us or to a proxy that is trusted. Of several proxies the
// nearest says it last.
func (e *edge) cameByHTTPS(c *fiber.Ctx) bool {
	if c.Context().IsTLS() {
		return true
	}
	peer, _ := netip.AddrFromSlice(c.Context().RemoteIP())
	if !e.trusts(peer.Unmap()) {
		return false
	}
	var last string
	for _, header := range c.Request().Header.PeekAll(fiber.HeaderXForwardedProto) {
		protocols := strings.Split(string(header), ",")
		last = strings.TrimSpace(protocols[len(protocols)-1])
	}
	return strings.EqualFold(last, "https")
}

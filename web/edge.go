package web

import (
	"log/slog"
	"net/netip"
	"runtime/debug"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"leaderboard/handlers/pages"
)

// edge is what every request passes.
type edge struct {
	log     *slog.Logger
	keys    Keys
	pages   *pages.Pages
	proxies []netip.Prefix
	players Players // nil: nobody is a player
	origins []string
	metrics *metrics
	limits  *limits
	limit   time.Duration // of the work for a reply
}

// serve is the one middleware around all routes. It is on the way of every top that is read, so it does little.
func (e *edge) serve(c *fiber.Ctx) error {
	began := c.Context().Time()
	deadline := newDeadline(began.Add(e.limit))
	defer deadline.release()
	c.SetUserContext(deadline)
	setSecurityHeaders(c)
	if err := c.Next(); err != nil {
		e.fail(c, err)
	}
	e.metrics.observe(c, time.Since(began))
	return nil
}

// lastResort answers what never reached serve, such as a request that could not be read, and what serve could not
// finish: a panic.
func (e *edge) lastResort(c *fiber.Ctx, err error) error {
	setSecurityHeaders(c)
	e.fail(c, err)
	e.metrics.observe(c, 0)
	return nil
}

// stackLocal is where the stack of a panic waits for the line in the log.
type stackLocal struct{}

func rememberStack(c *fiber.Ctx, _ any) {
	c.Context().SetUserValue(stackLocal{}, string(debug.Stack()))
}

const (
	// Everything a page needs comes from here; nothing runs or is styled that stands inside a page, and nobody puts a
	// page into a frame.
	contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; " +
		"connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
	referrerPolicy = "same-origin"
)

func setSecurityHeaders(c *fiber.Ctx) {
	header := &c.Response().Header
	header.Set(fiber.HeaderXContentTypeOptions, "nosniff")
	if forPrograms(c.Path()) {
		return
	}
	header.Set(fiber.HeaderContentSecurityPolicy, contentPolicy)
	header.Set(fiber.HeaderReferrerPolicy, referrerPolicy)
	header.Set(fiber.HeaderXFrameOptions, "DENY") // for browsers that know no frame-ancestors
}

// forPrograms reports whether programs read what is at a path, and not people.
func forPrograms(path string) bool {
	return strings.HasPrefix(path, "/api/") || strings.HasPrefix(path, "/ws/") ||
		path == "/healthz" || path == "/readyz" || path == "/metrics"
}

// Package web is the edge of the server: Fiber's settings, what happens to every request, the table of routes, and the
// one place where errors become replies.
package web

import (
	"cmp"
	"context"
	"log/slog"
	"net/netip"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/recover"
	"github.com/prometheus/client_golang/prometheus"

	"leaderboard/handlers/api"
	"leaderboard/handlers/pages"
	"leaderboard/store"
)

// Deps is what the server is made of.
type Deps struct {
	Store    store.Store
	Tops     api.Tops
	Keys     Keys
	KeyStore api.KeyStore
	Audit    store.Audit
	Signer   api.Signer
	Players  Players // nil: nobody is a player
	Inbox    api.InboxStore
	Searches pages.Searches
	Jobs     api.JobStore
	Live     Live // nil: nobody can watch
	Limits   Limits
	Log      *slog.Logger

	// Ping and Subscribed say whether the server is ready: whether Redis answers, and whether changes of boards are
	// heard of. Both get a second.
	Ping       func(context.Context) error
	Subscribed func(context.Context) error

	// Queue says how the job queue is: what is wrong with it is told where readiness is, and changes nothing about it.
	// nil: nobody is told.
	Queue func(context.Context) (store.JobCounts, error)

	// Registry is shown under /metrics; New adds its own metrics to it.
	Registry *prometheus.Registry

	// Admin is what the admin pages need; this package adds who a request is from. Without a Store there are none.
	Admin Admin

	// Origins are where pages may come from, besides the host itself.
	Origins []string

	// TrustedProxies are those whose X-Forwarded-For is believed.
	TrustedProxies []netip.Prefix

	Times Times
}

// Live answers those who want to watch a board.
type Live interface {
	// Handler returns what takes GET /ws/boards/:board. Address says who a request is from.
	Handler(address func(*fiber.Ctx) netip.Addr) fiber.Handler
}

// Times bounds how long things may take. The zero Times are the usual ones.
type Times struct {
	Read    time.Duration // a request, from its first byte to the last of its body
	Write   time.Duration // a reply
	Idle    time.Duration // between two requests of a connection
	Request time.Duration // the work for a reply
}

func (t Times) orUsual() Times {
	return Times{
		Read: cmp.Or(t.Read, 10*time.Second), Write: cmp.Or(t.Write, 30*time.Second),
		Idle: cmp.Or(t.Idle, 75*time.Second), Request: cmp.Or(t.Request, 5*time.Second),
	}
}

// New returns the server. It listens on a listener from [Linger]; close it with ShutdownWithContext.
func New(deps Deps) *fiber.App {
	times := deps.Times.orUsual()
	e := &edge{
		log: deps.Log, keys: deps.Keys, players: deps.Players, origins: deps.Origins,
		proxies: deps.TrustedProxies, metrics: newMetrics(deps.Registry),
		limits: newLimits(deps.Limits), limit: times.Request,
	}
	e.pages = pages.New(pages.Deps{
		Store: deps.Store, Live: deps.Live != nil, Inbox: deps.Inbox, Searches: deps.Searches,
		Player: e.pagePlayer, SignIn: e.signIn, SignOut: e.signOut,
	})
	app := fiber.New(fiber.Config{
		AppName:                      "leaderboard",
		BodyLimit:                    api.MaxBody,
		CaseSensitive:                true,
		StrictRouting:                true,
		DisableStartupMessage:        true,
		DisablePreParseMultipartForm: true, // a form would be unpacked to files before anybody asks for a key
		ErrorHandler:                 e.lastResort,
		ReadTimeout:                  times.Read,
		WriteTimeout:                 times.Write,
		IdleTimeout:                  times.Idle,
		ReadBufferSize:               4096,
		// Fiber's own idea of a client's address is not used, see clientAddress: all the same it must believe nobody.
		EnableTrustedProxyCheck: true,
	})
	app.Server().HeaderReceived = e.headerReceived
	app.Use(recover.New(recover.Config{EnableStackTrace: true, StackTraceHandler: rememberStack}))
	app.Use(e.serve)
	e.mount(app, deps)
	return app
}

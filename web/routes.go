package web

import (
	"github.com/gofiber/fiber/v2"

	"leaderboard/handlers/api"
	"leaderboard/handlers/pages"
	"leaderboard/store"
)

const (
	apiPrefix   = "/api/v1"
	boardPath   = apiPrefix + "/boards/:board"
	playersPath = boardPath + "/players"
	playerPath  = playersPath + "/:player"
	personPath  = apiPrefix + "/players/:player"
)

// mount registers every route of the program. What is called most stands first: Fiber looks from the top.
func (e *edge) mount(app *fiber.App, deps Deps) {
	var (
		scores     = api.Scores{Store: deps.Store, Problem: problemOf}
		top        = api.Top{Kept: deps.Tops, Store: deps.Store}
		reads      = api.Reads{Store: deps.Store}
		players    = api.Players{Store: deps.Store}
		acts       = api.Acts{Log: deps.Audit, Problem: problemOf}
		moderation = api.Moderation{Store: deps.Store, Acts: acts}
		boards     = api.Boards{Store: deps.Store, Acts: acts}
		seasons    = api.Seasons{Store: deps.Store, Acts: acts}
		payouts    = api.Payouts{Store: deps.Store}
		held       = api.Held{Store: deps.Store, Acts: acts}
		erase      = api.Erase{Store: deps.Store, Acts: acts}
		export     = api.Export{Store: deps.Store}
		tokens     = api.Tokens{Signer: deps.Signer}
		keys       = api.Keys{Store: deps.KeyStore, Acts: acts}
		audit      = api.Audit{Store: deps.Audit}
		me         = api.Me{Store: deps.Inbox, Tickets: deps.Players, SignIn: e.signIn}
		jobs       = api.Jobs{Store: deps.Jobs, Acts: acts}
		health     = health{ping: deps.Ping, subscribed: deps.Subscribed, queue: deps.Queue}
		write      = e.need(store.ScopeScores)
		sign       = e.need(store.ScopePlayers)
		admin      = e.need(store.ScopeAdmin)
		someAdmin  = e.needAny(store.ScopeAdmin)
	)
	routes := []route{
		{"POST", boardPath + "/scores", with(write, scores.Submit)},
		{"POST", boardPath + "/scores/batch", with(write, scores.SubmitBatch)},

		{"GET", boardPath + "/top", with(e.readKept, top.Get)},
		{"GET", playerPath, with(e.read, players.Get)},
		{"GET", playerPath + "/around", with(e.read, players.Around)},
		{"GET", boardPath + "/view", with(e.read, reads.View)},
		{"GET", boardPath + "/rank", with(e.read, reads.Rank)},
		{"GET", boardPath + "/range", with(e.read, reads.Range)},
		{"POST", boardPath + "/lookup", with(e.read, reads.Lookup)},
		{"GET", playersPath, with(e.read, players.Search)},
		{"GET", playerPath + "/activity", with(e.read, players.Activity)},
		{"GET", boardPath + "/export", with(admin, export.Get)},

		{"GET", apiPrefix + "/boards", with(e.read, boards.List)},
		{"GET", boardPath, with(e.read, boards.Get)},
		{"PUT", boardPath, with(admin, boards.Put)},
		{"DELETE", boardPath, with(admin, boards.Delete)},

		{"DELETE", playerPath, with(admin, moderation.Remove)},
		{"POST", playerPath + "/ban", with(admin, moderation.Ban)},
		{"POST", playerPath + "/unban", with(admin, moderation.Unban)},

		{"GET", boardPath + "/seasons", with(e.read, seasons.List)},
		{"GET", boardPath + "/seasons/payout", with(admin, payouts.Get)},
		{"POST", boardPath + "/seasons/close", with(admin, seasons.Close)},
		{"POST", boardPath + "/seasons/:season/reopen", with(admin, seasons.Reopen)},

		{"GET", boardPath + "/held", with(admin, held.List)},
		{"POST", boardPath + "/held/:id/accept", with(admin, held.Accept)},
		{"POST", boardPath + "/held/:id/reject", with(admin, held.Reject)},

		{"DELETE", personPath, with(admin, erase.Delete)},
		{"POST", personPath + "/token", with(sign, tokens.Issue)},

		{"GET", apiPrefix + "/keys", with(someAdmin, keys.List)},
		{"POST", apiPrefix + "/keys", with(admin, keys.Make)},
		{"DELETE", apiPrefix + "/keys/:id", with(admin, keys.Revoke)},
		{"GET", apiPrefix + "/audit", with(someAdmin, audit.List)},

		{"POST", apiPrefix + "/me", with(e.readAsGuest, e.notForeign, me.Enter)},
		{"POST", apiPrefix + "/me/ticket", with(e.readAsGuest, e.needPlayer, me.Ticket)},
		{"GET", apiPrefix + "/me/inbox", with(e.readAsGuest, e.needPlayer, me.Inbox)},
		{"POST", apiPrefix + "/me/inbox/:id/claim", with(e.readAsGuest, e.needPlayer, me.Claim)},

		{"GET", apiPrefix + "/jobs", with(admin, jobs.List)},
		{"POST", apiPrefix + "/jobs/pause", with(admin, jobs.Pause)},
		{"POST", apiPrefix + "/jobs/resume", with(admin, jobs.Resume)},
		{"POST", apiPrefix + "/jobs/:id/retry", with(admin, jobs.Retry)},
		{"DELETE", apiPrefix + "/jobs/:id", with(admin, jobs.Discard)},

		{"GET", "/api/openapi.yaml", with(api.OpenAPI)},
		{"GET", "/docs", with(pages.Docs(api.Docs))},

		{"GET", "/", with(e.read, e.pages.Home)},
		{"GET", "/b/:board", with(e.read, e.pages.Board)},
		{"GET", "/b/:board/p/:player", with(e.read, e.pages.Player)},
		{"GET", "/b/:board/seasons/:season", with(e.read, e.pages.Season)},
		{"GET", "/inbox", with(e.readAsGuest, e.pages.Inbox)},
		{"POST", "/inbox", with(e.readAsGuest, e.ourPages, e.pages.OpenInbox)},
		{"POST", "/inbox/leave", with(e.readAsGuest, e.ourPages, e.pages.LeaveInbox)},
		{"POST", "/inbox/:id/claim", with(e.readAsGuest, e.ourPages, e.pages.ClaimPrize)},
		{"GET", "/static/:file", with(sendStatic)},

		{"GET", "/healthz", with(health.live)},
		{"GET", "/readyz", with(health.ready)},
		{"GET", "/metrics", with(showMetrics(deps.Registry))},
	}
	if deps.Live != nil {
		routes = append(routes, route{"GET", "/ws/boards/:board", with(deps.Live.Handler(e.clientAddress))})
	}
	before := snapshot(app)
	for _, r := range routes {
		if r.method == fiber.MethodGet {
			app.Get(r.path, r.handlers...) // and HEAD
		} else {
			app.Add(r.method, r.path, r.handlers...)
		}
	}
	e.mountAdmin(app, deps.Admin)
	e.metrics.watch(app, before)
}

// route is a line of the table.
type route struct {
	method, path string
	handlers     []fiber.Handler
}

func with(handlers ...fiber.Handler) []fiber.Handler { return handlers }

// snapshot returns the routes that an app has, by method.
func snapshot(app *fiber.App) [][]*fiber.Route {
	var stack [][]*fiber.Route
	for _, routes := range app.Stack() {
		stack = append(stack, append([]*fiber.Route(nil), routes...))
	}
	return stack
}

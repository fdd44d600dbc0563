package web

import (
	"github.com/gofiber/fiber/v2"

	"leaderboard/handlers/api"
	"leaderboard/handlers/pages"
)

const (
	apiPrefix   = "/api/v1"
	boardPath   = apiPrefix + "/boards/:board"
	playersPath = boardPath + "/players"
	playerPath  = playersPath + "/:player"
)

// mount registers every route of the program. What is called most stands first: Fiber looks from the top.
func (e *edge) mount(app *fiber.App, deps Deps) {
	var (
		scores     = api.Scores{Store: deps.Store, Problem: problemOf}
		top        = api.Top{Kept: deps.Tops, Store: deps.Store}
		reads      = api.Reads{Store: deps.Store}
		players    = api.Players{Store: deps.Store}
		moderation = api.Moderation{Store: deps.Store}
		boards     = api.Boards{Store: deps.Store}
		export     = api.Export{Store: deps.Store}
		health     = health{ping: deps.Ping, subscribed: deps.Subscribed}
		write      = e.need(api.ScopeScores)
		admin      = e.need(api.ScopeAdmin)
	)
	routes := []route{
		{"POST", boardPath + "/scores", with(write, scores.Submit)},
		{"POST", boardPath + "/scores/batch", with(write, scores.SubmitBatch)},

		{"GET", boardPath + "/top", with(top.Get)},
		{"GET", playerPath, with(players.Get)},
		{"GET", playerPath + "/around", with(players.Around)},
		{"GET", boardPath + "/view", with(reads.View)},
		{"GET", boardPath + "/rank", with(reads.Rank)},
		{"GET", boardPath + "/range", with(reads.Range)},
		{"POST", boardPath + "/lookup", with(reads.Lookup)},
		{"GET", playersPath, with(players.Search)},
		{"GET", playerPath + "/activity", with(players.Activity)},
		{"GET", boardPath + "/export", with(admin, export.Get)},

		{"GET", apiPrefix + "/boards", with(e.mayHave, boards.List)},
		{"GET", boardPath, with(e.mayHave, boards.Get)},
		{"PUT", boardPath, with(admin, boards.Put)},
		{"DELETE", boardPath, with(admin, boards.Delete)},

		{"DELETE", playerPath, with(admin, moderation.Remove)},
		{"POST", playerPath + "/ban", with(admin, moderation.Ban)},
		{"POST", playerPath + "/unban", with(admin, moderation.Unban)},

		{"GET", "/api/openapi.yaml", with(api.OpenAPI)},
		{"GET", "/docs", with(pages.Docs(api.Docs))},

		{"GET", "/", with(e.pages.Home)},
		{"GET", "/b/:board", with(e.pages.Board)},
		{"GET", "/b/:board/p/:player", with(e.pages.Player)},
		{"GET", "/b/:board/seasons/:season", with(e.pages.Season)},
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

package pages_test

import (
	"net/http"
	"testing"

	"github.com/gofiber/fiber/v2"

	"leaderboard/handlers/pages"
)

func TestProblemsAreToldInPlainWords(t *testing.T) {
	t.Parallel()
	p := pages.New(pages.Deps{Store: newFake()})
	for _, problem := range []struct {
		address  string
		status   int
		code     string
		detail   string
		has, not []string
	}{
		{"/b/x", 404, "board_not_found", "secret", []string{"No such board", "404", "All boards", "Request id-7"}, []string{"secret", "To the board", "Try again"}},
		{"/b/x/p/y", 404, "player_not_found", "", []string{"Not on this board", `href="/b/x"`}, nil},
		{"/b/x/seasons/9", 404, "season_not_found", "", []string{"This season is gone", `href="/b/x"`}, nil},
		{"/else", 404, "not_found", "", []string{"Nothing here"}, []string{"To the board"}},
		{"/b/x?offset=-1", 422, "invalid", "offset must be <b>", []string{"That did not work", "Offset must be &lt;b&gt;.", `href="/b/x"`}, []string{"Try again"}},
		{"/else", 405, "method_not_allowed", "", []string{"That did not work", "Method Not Allowed."}, nil},
		{"/b/x?player=a", 429, "rate_limited", "", []string{"A little slower", `href="/b/x?player=a"`, "Try again"}, nil},
		{"/b/x", 503, "unavailable", "dial tcp", []string{"Back in a moment", "Try again"}, []string{"dial tcp"}},
		{"/b/x", 500, "internal", "panic", []string{"Something broke"}, []string{"panic"}},
		{"//evil.example/x", 503, "unavailable", "", []string{"All boards"}, []string{"evil.example"}},
		{`/\evil.example/x`, 503, "unavailable", "", []string{"All boards"}, []string{"evil.example"}},
	} {
		app := fiber.New()
		app.Use(func(c *fiber.Ctx) error { return p.Error(c, problem.status, problem.code, problem.detail, "id-7") })
		page := get(t, app, problem.address)
		if page.status != problem.status {
			t.Errorf("%s: got %d, want %d", problem.address, page.status, problem.status)
		}
		page.has(t, problem.has...)
		page.hasNot(t, problem.not...)
	}
}

func TestProblemKeepsTheCachingThatTheEdgeChose(t *testing.T) {
	t.Parallel()
	p := pages.New(pages.Deps{Store: newFake()})
	app := fiber.New()
	app.Use(func(c *fiber.Ctx) error {
		c.Set(fiber.HeaderCacheControl, "no-store")
		return p.Error(c, http.StatusNotFound, "not_found", "", "")
	})
	if got := get(t, app, "/").header.Get("Cache-Control"); got != "no-store" {
		t.Errorf("got %q, want no-store", got)
	}
}

package pages

import (
	"sync"

	"github.com/gofiber/fiber/v2"

	"leaderboard/templates"
)

// Docs shows the description of the API, which is read when the first reader asks for it.
func Docs(read func() (templates.Docs, error)) fiber.Handler {
	read = sync.OnceValues(read)
	return func(c *fiber.Ctx) error {
		docs, err := read()
		if err != nil {
			return err
		}
		docs.Theme = theme(c)
		return show(c, templates.DocsPage(docs))
	}
}

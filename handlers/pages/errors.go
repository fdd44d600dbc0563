package pages

import (
	"net/http"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"leaderboard/store"
	"leaderboard/templates"
)

// fault is what a problem is called on a page, in plain words.
type fault struct{ heading, words string }

// faults are the problems a reader may meet, by code.
func faults(code string) (fault, bool) {
	switch code {
	case "board_not_found":
		return fault{"No such board", "There is no board of this name, or it was taken down."}, true
	case "player_not_found":
		return fault{"Not on this board", "This player has no score here this season, or was taken off."}, true
	case "season_not_found":
		return fault{"This season is gone", "It never was, or it ended so long ago that it is no longer kept."}, true
	case "not_found":
		return fault{"Nothing here", "The address leads nowhere. Perhaps a letter is missing."}, true
	case "rate_limited":
		return fault{"A little slower", "That was more than we can take from one place. Wait a moment, then try again."}, true
	case "unavailable":
		return fault{"Back in a moment", "The scores are out of reach just now. None is lost. Try again in a few seconds."}, true
	case "internal":
		return fault{"Something broke", "The fault is ours and has been written down. Trying again may help."}, true
	default:
		return fault{}, false
	}
}

// Error sends a page that says what went wrong. Detail is shown for faults of the request only; the other words are
// ours. The request id lets an operator find the line in the log.
func (p *Pages) Error(c *fiber.Ctx, status int, code, detail, requestID string) error {
	told, known := faults(code)
	if status == http.StatusForbidden && inAdmin(c) {
		told, known = fault{"Not from there", "Your session has ended, or this form is not one of its own. Nothing was done. Log in and try again."}, true
	}
	if !known {
		told = fault{heading: "That did not work", words: sentence(detail)}
		if told.words == "" {
			told.words = sentence(http.StatusText(status))
		}
	}
	c.Status(status)
	return show(c, templates.ProblemPage(templates.Problem{
		Page:      templates.Page{Title: told.heading + " · Leaderboard", Theme: theme(c)},
		Status:    strconv.Itoa(status),
		Heading:   told.heading,
		Words:     told.words,
		Ways:      waysOn(c, status, code),
		RequestID: requestID,
	}))
}

func inAdmin(c *fiber.Ctx) bool {
	return c.Path() == "/admin" || strings.HasPrefix(c.Path(), "/admin/")
}

// waysOn returns where a reader can go from a problem.
func waysOn(c *fiber.Ctx, status int, code string) []templates.Link {
	var ways []templates.Link
	if status >= http.StatusInternalServerError || status == http.StatusTooManyRequests {
		// Browsers take // and /\ at the front for another server.
		if address := c.OriginalURL(); c.Method() == http.MethodGet && !strings.HasPrefix(strings.ReplaceAll(address, `\`, "/"), "//") {
			ways = append(ways, templates.Link{Address: templ.URL(address), Text: "Try again"})
		}
	}
	rest, ok := strings.CutPrefix(c.Path(), "/b/")
	segment, _, below := strings.Cut(rest, "/")
	if board, err := store.ParseBoardID(segment); ok && err == nil && code != "board_not_found" && (below || status == http.StatusUnprocessableEntity) {
		ways = append(ways, templates.Link{Address: templ.SafeURL(boardAddress(board)), Text: "To the board"})
	}
	if inAdmin(c) {
		return append(ways, templates.Link{Address: "/admin", Text: "Admin pages"})
	}
	return append(ways, templates.Link{Address: "/", Text: "All boards"})
}

// sentence makes a clause one: a capital letter at its front, a stop at its end.
func sentence(clause string) string {
	if clause == "" {
		return ""
	}
	first, size := utf8.DecodeRuneInString(clause)
	return strings.TrimSuffix(string(unicode.ToUpper(first))+clause[size:], ".") + "."
}

package pages

import (
	"errors"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"leaderboard/store"
	"leaderboard/templates"
)

// ledBoards is how many boards show their leaders in the list: each costs a read, mostly of a kept top.
const ledBoards = 12

// Home lists the boards.
func (p *Pages) Home(c *fiber.Ctx) error {
	boards, err := p.store.BoardStates(c.UserContext())
	if err != nil {
		return err
	}
	view := templates.Home{
		Page: templates.Page{Title: "Leaderboard", Description: "Live boards in exact order.", Theme: theme(c)},
		Curl: curlBoard(c.BaseURL()),
	}
	if view.Bell, err = p.bell(c, ""); err != nil {
		return err
	}
	for i := range boards {
		card := boardCard(&boards[i])
		if i < ledBoards {
			if card.Leaders, err = p.leaders(c, &boards[i]); err != nil {
				return err
			}
		}
		view.Boards = append(view.Boards, card)
	}
	return show(c, templates.HomePage(view))
}

// leaders returns the first three of a board. A board that went since the list was read has none.
func (p *Pages) leaders(c *fiber.Ctx, b *store.BoardState) ([]templates.Row, error) {
	top, err := p.store.Top(c.UserContext(), store.Look{Board: b.ID}, 0, 3)
	if errors.Is(err, store.ErrBoardNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	w := &writer{board: b.ID, season: top.Season, now: b.Now}
	return w.rows(top.Entries), nil
}

func boardCard(b *store.BoardState) templates.BoardCard {
	return templates.BoardCard{
		Address: templ.SafeURL(boardAddress(b.ID)),
		Title:   b.Settings.Title,
		Players: count(b.Total),
		Season:  count(b.Season.Number),
		Clock:   clockOf(&b.Season, b.Now),
	}
}

const curlHeaders = " \\\n  -H \"Authorization: Bearer $LEADERBOARD_API_KEY\" \\\n  -H 'Content-Type: application/json' \\\n"

// curlBoard is the command that makes a board.
func curlBoard(base string) string {
	return "curl -X PUT " + base + "/api/v1/boards/arcade" + curlHeaders + "  -d '{\"title\":\"Arcade\"}'"
}

// curlScore is the command that posts a score.
func curlScore(base string, board store.BoardID) string {
	return "curl " + base + "/api/v1/boards/" + string(board) + "/scores" + curlHeaders +
		"  -d '{\"player\":\"ada\",\"name\":\"Ada\",\"points\":100}'"
}

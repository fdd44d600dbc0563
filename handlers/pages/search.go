package pages

import (
	"context"
	"encoding/base64"
	"errors"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"leaderboard/store"
	"leaderboard/templates"
)

const (
	foundRows     = 10                     // players that a search shows
	maxSearch     = 4 * store.MaxNameRunes // bytes: the longest name, and any id
	searchCookie  = "searches"
	maxCookieSize = 1000 // bytes: all headers of a request share 4 KiB
)

// searchedText returns what the reader looks for. A form sent empty is no search.
func searchedText(c *fiber.Ctx) (string, error) {
	text, _, err := query(c, "q")
	if err != nil {
		return "", err
	}
	text = strings.TrimSpace(text)
	if len(text) > maxSearch {
		return "", store.Invalid("q", "must be at most 64 characters")
	}
	return text, nil
}

// search finds players and keeps what was looked for. With a player picked the search is over: it led here.
func (p *Pages) search(c *fiber.Ctx, ask asked, w *writer) (templates.Search, error) {
	found := templates.Search{
		Action: templ.SafeURL(boardAddress(w.board)),
		Query:  ask.query,
		Asked:  ask.query != "" && ask.player == "",
	}
	searches, err := p.lastSearches(c, w.board, ask.query)
	if err != nil {
		return found, err
	}
	for _, text := range searches {
		address := boardAddress(w.board) + "?q=" + url.QueryEscape(text)
		found.Recent = append(found.Recent, templates.Link{Address: templ.SafeURL(address), Text: text})
	}
	if !found.Asked {
		return found, nil
	}
	entries, err := p.find(c, w.board, ask.query, foundRows)
	for _, e := range entries {
		row := w.row(e)
		row.Address = templ.SafeURL(pickAddress(w.board, e.Player, 0) + "&q=" + url.QueryEscape(ask.query))
		found.Found = append(found.Found, row)
	}
	return found, err
}

// Searches keep what players looked for, newest first.
type Searches interface {
	Searches(ctx context.Context, player store.PlayerID) ([]string, error)
	AddSearch(ctx context.Context, player store.PlayerID, text string) error
}

// lastSearches returns what the reader looked for last, a text of now first. A player's searches follow the player,
// those of anybody else stay in a cookie.
func (p *Pages) lastSearches(c *fiber.Ctx, board store.BoardID, text string) ([]string, error) {
	if player := p.me(c); player != "" && p.searches != nil {
		if text != "" {
			if err := p.searches.AddSearch(c.UserContext(), player, text); err != nil {
				return nil, err
			}
		}
		return p.searches.Searches(c.UserContext(), player)
	}
	searches := readSearches(c)
	if text != "" {
		searches = addSearch(searches, text)
		writeSearches(c, board, searches)
	}
	return searches, nil
}

// find returns the player whose whole id the text is, then up to limit whose name begins with it.
func (p *Pages) find(c *fiber.Ctx, board store.BoardID, text string, limit int64) ([]store.Entry, error) {
	look := store.Look{Board: board}
	var entries []store.Entry
	if id, err := store.ParsePlayerID(text); err == nil {
		switch standing, err := p.store.Player(c.UserContext(), look, id); {
		case err == nil:
			entries = append(entries, standing.Entry)
		case !errors.Is(err, store.ErrPlayerNotFound):
			return nil, err
		}
	}
	named, err := p.store.Search(c.UserContext(), look, text, limit)
	if err != nil {
		return nil, err
	}
	for _, e := range named.Entries {
		if len(entries) == 0 || entries[0].Player != e.Player {
			entries = append(entries, e)
		}
	}
	return entries, nil
}

// addSearch puts a text in front of the kept ones, where it stands once.
func addSearch(searches []string, text string) []string {
	same := func(s string) bool { return store.Fold(s) == store.Fold(text) }
	searches = append([]string{text}, slices.DeleteFunc(slices.Clone(searches), same)...)
	return searches[:min(store.KeptSearches, len(searches))]
}

// readSearches returns what the cookie holds. Anybody can write a cookie: what is wrong in it is left out.
func readSearches(c *fiber.Ctx) []string {
	text, err := base64.RawURLEncoding.DecodeString(c.Cookies(searchCookie))
	if err != nil || len(text) == 0 {
		return nil
	}
	searches := slices.DeleteFunc(strings.Split(string(text), "\n"), func(s string) bool {
		return s == "" || len(s) > maxSearch || !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl)
	})
	return searches[:min(store.KeptSearches, len(searches))]
}

func writeSearches(c *fiber.Ctx, board store.BoardID, searches []string) {
	value := encodeSearches(searches)
	for len(value) > maxCookieSize {
		searches = searches[:len(searches)-1]
		value = encodeSearches(searches)
	}
	c.Cookie(&fiber.Cookie{
		Name: searchCookie, Value: value, Path: boardAddress(board), MaxAge: int(store.SearchesKept.Seconds()),
		HTTPOnly: true, SameSite: fiber.CookieSameSiteLaxMode, Secure: c.Secure(),
	})
}

func encodeSearches(searches []string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(strings.Join(searches, "\n")))
}

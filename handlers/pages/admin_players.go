package pages

import (
	"errors"
	"net/url"
	"strconv"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"leaderboard/store"
	"leaderboard/templates"
)

// Players shows who plays on a board: by place or as they are looked for, with one of them picked, and who is banned.
func (a *Admin) Players(c *fiber.Ctx) error {
	state, err := a.state(c)
	if err != nil {
		return err
	}
	ask, err := parseBoard(c)
	if err != nil {
		return err
	}
	page := templates.AdminPlayers{Admin: a.boardFrame(c, &state, "Players")}
	w := &writer{board: state.ID, season: state.Season, now: state.Now, mine: ask.player}
	if ask.player != "" {
		if page.Picked, err = a.picked(c, &state, w, ask.player); err != nil {
			return err
		}
	}
	if err := a.listPlayers(c, &page, w, ask); err != nil {
		return err
	}
	if err := a.listBans(c, &page, &state); err != nil {
		return err
	}
	return show(c, templates.AdminPlayersPage(page))
}

func playersAddress(board store.BoardID, player store.PlayerID) string {
	return adminAddress(board, "/players?player="+url.QueryEscape(string(player)))
}

// listPlayers fills in a page of the board, or what a search finds.
func (a *Admin) listPlayers(c *fiber.Ctx, page *templates.AdminPlayers, w *writer, ask asked) error {
	path := adminAddress(w.board, "/players")
	page.Table = templates.Table{
		Label: "Table of players",
		Columns: []templates.Column{
			{Title: "Place", Number: true, Sorted: "ascending"},
			{Title: "Player"},
			{Title: "Points", Number: true},
			{Title: "Reached", Extra: true},
		},
		Filter: templates.Filter{Action: templ.SafeURL(path), Name: "q", Label: "Name or whole id", Value: ask.query},
	}
	var entries []store.Entry
	if ask.query != "" {
		found, err := a.pages.find(c, w.board, ask.query, pageRows)
		if err != nil {
			return err
		}
		entries = found
		if len(found) == 0 {
			page.Table.Empty = "Nobody on the board has a name that begins like “" + ask.query + "”, or this id."
		}
		page.Table.Columns[0].Sorted = ""
	} else {
		top, err := a.deps.Store.Top(c.UserContext(), ask.look, ask.offset, pageRows)
		if err != nil {
			return err
		}
		entries = top.Entries
		if len(entries) == 0 {
			page.Table.Empty = "Nobody stands here."
		}
		page.Pager = playersPager(path, ask.offset, top.More)
	}
	for _, e := range entries {
		row := w.row(e)
		row.Address = templ.SafeURL(playersAddress(w.board, e.Player))
		if ask.query != "" {
			row.Address += templ.SafeURL("&q=" + url.QueryEscape(ask.query))
		}
		page.Rows = append(page.Rows, templates.AdminPlayerRow{Row: row, Here: row.Mine})
	}
	return nil
}

func playersPager(path string, offset int64, more bool) (pager templates.Pager) {
	at := func(offset int64) templ.SafeURL {
		return templ.SafeURL(path + "?offset=" + strconv.FormatInt(offset, 10))
	}
	if offset > 0 {
		pager.First, pager.Back = at(0), at(max(offset-pageRows, 0))
	}
	if more {
		pager.On = at(offset + pageRows)
	}
	return pager
}

// picked returns the player that somebody looks at: on the board, banned, or nobody that is known.
func (a *Admin) picked(c *fiber.Ctx, state *store.BoardState, w *writer, player store.PlayerID) (*templates.AdminPlayer, error) {
	ctx, at := c.UserContext(), "player="+url.QueryEscape(string(player))
	view, err := a.deps.Store.View(ctx, store.Look{Board: state.ID}, player, 1, 0)
	if err != nil {
		return nil, err
	}
	picked := &templates.AdminPlayer{
		Row: templates.Row{Player: string(player), Name: string(player), Mark: markOf(player, "")}, ID: string(player),
		BanAt:    templ.SafeURL(adminAddress(state.ID, "/players/ban?"+at)),
		UnbanAt:  templ.SafeURL(adminAddress(state.ID, "/players/unban")),
		RemoveAt: templ.SafeURL(adminAddress(state.ID, "/players/remove?"+at)),
	}
	ban, err := a.deps.Store.BanOf(ctx, state.ID, player)
	switch {
	case err == nil:
		picked.Banned, picked.Ban = true, banWords(ban.Reason)
		picked.Name, picked.Mark = shownName(player, ban.Name), markOf(player, ban.Name)
	case !errors.Is(err, store.ErrNotBanned):
		return nil, err
	}
	if s := view.Standing; s != nil {
		picked.Known, picked.Row = true, w.row(s.Entry)
		picked.Facts = []templates.Fact{
			{Label: "Place", Value: ordinal(s.Rank) + " of " + count(s.Total)},
			{Label: "Points", Value: points(s.Points, state.Season.Decimals)},
			{Label: "Reached (UTC)", Value: stamp(s.AchievedAt).Words},
			{Label: "Ahead of", Value: share(s)},
		}
	}
	activity, err := a.deps.Store.Activity(ctx, state.ID, player, activityRows)
	if err != nil && !errors.Is(err, store.ErrPlayerNotFound) {
		return nil, err
	}
	for _, event := range activity {
		picked.Activity = append(picked.Activity, w.event(event))
	}
	return picked, nil
}

func banWords(reason string) string {
	if reason == "" {
		return "Banned, without a reason given."
	}
	return "Banned: " + reason
}

func (a *Admin) listBans(c *fiber.Ctx, page *templates.AdminPlayers, state *store.BoardState) error {
	bans, total, err := a.deps.Store.Bans(c.UserContext(), state.ID)
	if err != nil {
		return err
	}
	list := table[store.Ban]{
		path: adminAddress(state.ID, "/players"), noun: "bans", usual: "player", none: "Nobody is banned here.", field: "bans",
		columns: []column[store.Ban]{
			{title: "Player", name: "player", compare: by(func(b store.Ban) string { return store.Fold(shownName(b.Player, b.Name)) })},
			{title: "Why", name: "why", compare: by(func(b store.Ban) string { return store.Fold(b.Reason) })},
			{},
		},
		words: func(b store.Ban) []string { return []string{string(b.Player), string(b.Name), b.Reason} },
	}
	bans, page.Bans, err = list.view(c, bans)
	if err != nil {
		return err
	}
	if total > store.MaxBans {
		page.Bans.Note = "There are " + count(total) + " bans, of which " + count(store.MaxBans) + " were looked through."
	}
	for _, b := range bans {
		page.Banned = append(page.Banned, templates.AdminBanRow{
			Player: string(b.Player), Name: shownName(b.Player, b.Name), Reason: b.Reason,
			Address: templ.SafeURL(playersAddress(state.ID, b.Player)),
			UnbanAt: templ.SafeURL(adminAddress(state.ID, "/players/unban")),
		})
	}
	return nil
}

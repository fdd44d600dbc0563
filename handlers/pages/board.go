package pages

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"leaderboard/store"
	"leaderboard/templates"
)

const (
	pageRows    = 50            // places on one page
	aroundRows  = 2             // rows above and below one's own in the card
	latestRows  = 5             // events in the side
	longPoints  = 12            // characters
	furthestRow = 1_000_000_000 // beyond what any board holds
)

// asked is what a request for a board's page asks for.
type asked struct {
	look   store.Look
	player store.PlayerID
	offset int64
	query  string // a search
}

// Board shows a board: its top, or the places behind it.
func (p *Pages) Board(c *fiber.Ctx) error {
	ask, err := parseBoard(c)
	if err != nil {
		return err
	}
	return p.board(c, ask)
}

// Season shows one season of a board.
func (p *Pages) Season(c *fiber.Ctx) error {
	ask, err := parseBoard(c)
	if err != nil {
		return err
	}
	ask.look.Season, err = parseWhole("season", c.Params("season"), 1, furthestRow)
	if err != nil {
		return store.ErrSeasonNotFound
	}
	return p.board(c, ask)
}

func parseBoard(c *fiber.Ctx) (ask asked, err error) {
	if ask.look.Board, err = boardOf(c); err != nil {
		return ask, err
	}
	if ask.player, err = pickedPlayer(c); err != nil {
		return ask, err
	}
	if ask.offset, err = wholeNumber(c, "offset", 0, 0, furthestRow); err != nil {
		return ask, err
	}
	ask.query, err = searchedText(c)
	return ask, err
}

func (p *Pages) board(c *fiber.Ctx, ask asked) error {
	ctx := c.UserContext()
	state, err := p.store.BoardState(ctx, ask.look.Board)
	if err != nil {
		return err
	}
	if ask.look.Season == state.Season.Number {
		return c.Redirect(boardAddress(ask.look.Board))
	}
	limit := pageLimit(&state, ask.offset)
	shown := ask // a player sees their own place without picking themselves
	shown.player = cmp.Or(ask.player, p.me(c))
	view, err := p.look(ctx, shown, limit)
	if err != nil {
		return err
	}
	w := &writer{board: ask.look.Board, season: view.Season, now: state.Now, mine: shown.player}
	page := w.boardPage(&state, &view, ask, limit)
	page.Theme = theme(c)
	if p.live && ask.offset == 0 && !view.Season.Closed {
		page.Live = templates.Live{Limit: strconv.FormatInt(limit, 10), Player: string(shown.player)}
	}
	if page.Search, err = p.search(c, ask, w); err != nil {
		return err
	}
	if page.Bell, err = p.bell(c, ask.look.Board); err != nil {
		return err
	}
	if page.Live.Limit != "" || view.Total == 0 && !view.Season.Closed {
		page.Curl = curlScore(c.BaseURL(), ask.look.Board) // a live board may become empty
	}
	return show(c, templates.BoardPage(page))
}

// pageLimit returns how many places a page shows. The first page moves live and so ends with the live top.
func pageLimit(state *store.BoardState, offset int64) int64 {
	if offset == 0 {
		return min(pageRows, int64(state.Settings.LiveTop))
	}
	return pageRows
}

// look reads the places asked for, and where the player picked stands. The first page is one look.
func (p *Pages) look(ctx context.Context, ask asked, limit int64) (view store.View, err error) {
	if ask.offset == 0 {
		return p.store.View(ctx, ask.look, ask.player, limit, aroundRows)
	}
	if ask.player != "" {
		if view, err = p.store.View(ctx, ask.look, ask.player, 1, aroundRows); err != nil {
			return view, err
		}
	}
	view.Page, err = p.store.Top(ctx, ask.look, ask.offset, limit)
	return view, err
}

func (w *writer) boardPage(state *store.BoardState, view *store.View, ask asked, limit int64) templates.Board {
	page := templates.Board{
		Page: templates.Page{
			Title:       isolate(state.Settings.Title) + " · Leaderboard",
			Description: "Who leads on " + isolate(state.Settings.Title) + ", live and in exact order.",
		},
		Head:   w.boardHead(state, view, ask.offset),
		Rows:   w.rows(view.Entries),
		Range:  "Top " + count(limit),
		Pager:  w.pager(view, ask, limit),
		Place:  w.place(view),
		Past:   w.pastSeasons(state),
		Latest: w.latest(view.Entries),
	}
	if view.Season.Closed {
		page.Latest = nil
	}
	page.Long = slices.ContainsFunc(page.Rows, func(r templates.Row) bool { return len(r.Exact) > longPoints })
	if ask.offset > 0 {
		page.Range = "Places " + count(ask.offset+1) + " to " + count(ask.offset+max(int64(len(view.Entries)), 1))
		page.Latest = nil
		if len(view.Entries) == 0 {
			page.Range, page.Beyond = "Place "+count(ask.offset+1), count(ask.offset+1)
		}
	}
	return page
}

func (w *writer) boardHead(state *store.BoardState, view *store.View, offset int64) templates.BoardHead {
	head := templates.BoardHead{
		ID:      string(w.board),
		Title:   state.Settings.Title,
		Address: templ.SafeURL(seasonAddress(w.board, w.linkSeason())),
		Players: count(view.Total),
		Season:  count(w.season.Number),
		Clock:   clockOf(&w.season, w.now),
		AsOf:    w.asOf(),
	}
	if !w.season.Closed {
		return head
	}
	head.Closed = "Final"
	if w.season.Reason != "" && w.season.Reason != "schedule" {
		head.Closed = "Final: " + w.season.Reason
	}
	if offset == 0 && len(view.Entries) > 0 {
		winner := w.row(view.Entries[0])
		head.Winner = &winner
	}
	w.neighbours(&head, state)
	return head
}

// neighbours links the seasons before and after a closed one.
func (w *writer) neighbours(head *templates.BoardHead, state *store.BoardState) {
	head.Running = templ.SafeURL(boardAddress(w.board))
	if older := w.season.Number - 1; older >= oldestSeason(state) {
		head.Older = templ.SafeURL(seasonAddress(w.board, older))
	}
	if newer := w.season.Number + 1; newer < state.Season.Number {
		head.Newer = templ.SafeURL(seasonAddress(w.board, newer))
	}
}

// oldestSeason returns the first season that is still kept.
func oldestSeason(state *store.BoardState) int64 {
	return max(state.Season.Number-int64(state.Settings.KeepSeasons), 1)
}

// keptSeasons returns the closed seasons, newest first: as many as a page lists.
func keptSeasons(state *store.BoardState) (numbers []int64) {
	const listed = 12
	for n := state.Season.Number - 1; n >= oldestSeason(state) && len(numbers) < listed; n-- {
		numbers = append(numbers, n)
	}
	return numbers
}

// pastSeasons links the closed seasons, newest first.
func (w *writer) pastSeasons(state *store.BoardState) (links []templates.Link) {
	for _, n := range keptSeasons(state) {
		address := templ.SafeURL(seasonAddress(w.board, n))
		links = append(links, templates.Link{Address: address, Text: seasonName(n), Here: n == w.season.Number})
	}
	return links
}

func seasonName(number int64) string { return "Season " + count(number) }

// pager links the places around those shown.
func (w *writer) pager(view *store.View, ask asked, limit int64) (pager templates.Pager) {
	at := func(offset int64) templ.SafeURL {
		address, sign := seasonAddress(w.board, w.linkSeason()), "?"
		if ask.player != "" {
			address, sign = pickAddress(w.board, ask.player, w.linkSeason()), "&"
		}
		if offset > 0 {
			address += sign + "offset=" + strconv.FormatInt(offset, 10)
		}
		return templ.SafeURL(address)
	}
	if ask.offset > 0 {
		pager.First, pager.Back = at(0), at(max(ask.offset-pageRows, 0))
	}
	if view.More {
		pager.On = at(ask.offset + limit)
	}
	return pager
}

// latest returns what happened last among the places shown.
func (w *writer) latest(entries []store.Entry) []templates.Event {
	newest := slices.Clone(entries)
	slices.SortStableFunc(newest, func(a, b store.Entry) int { return b.AchievedAt.Compare(a.AchievedAt) })
	var events []templates.Event
	for _, e := range newest[:min(latestRows, len(newest))] {
		text := "reached " + withUnit(e.Points, w.season.Decimals) + ", " + ordinal(e.Rank)
		events = append(events, templates.Event{Row: w.row(e), Text: text})
	}
	return events
}

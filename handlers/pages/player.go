package pages

import (
	"context"
	"errors"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"leaderboard/store"
	"leaderboard/templates"
)

const (
	activityRows = 20  // shown in words
	chartRows    = 100 // drawn
)

// Player shows one player on one board, in the running season or in the one that the query names.
func (p *Pages) Player(c *fiber.Ctx) error {
	look, player, err := parsePlayer(c)
	if err != nil {
		return err
	}
	ctx := c.UserContext()
	state, err := p.store.BoardState(ctx, look.Board)
	if err != nil {
		return err
	}
	view, err := p.store.View(ctx, look, player, 1, aroundRows)
	if err != nil {
		return err
	}
	if view.Standing == nil {
		return store.ErrPlayerNotFound
	}
	activity, err := p.store.Activity(ctx, look.Board, player, chartRows)
	if err != nil {
		return err
	}
	w := &writer{board: look.Board, season: view.Season, now: state.Now, mine: player}
	page := w.playerPage(&state, &view, ofSeason(activity, &view.Season))
	page.Theme = theme(c)
	page.Live = p.live && !view.Season.Closed
	if page.Bell, err = p.bell(c, look.Board); err != nil {
		return err
	}
	if page.Played, err = p.played(ctx, w, &state); err != nil {
		return err
	}
	return show(c, templates.PlayerPage(page))
}

// played returns the closed seasons in which the player has a place, of those that the board's page lists.
func (p *Pages) played(ctx context.Context, w *writer, state *store.BoardState) (played []templates.Played, err error) {
	for _, n := range keptSeasons(state) {
		standing, err := p.store.Player(ctx, store.Look{Board: w.board, Season: n}, w.mine)
		switch {
		case errors.Is(err, store.ErrPlayerNotFound), errors.Is(err, store.ErrSeasonNotFound):
			continue // did not play, or the season has gone meanwhile
		case err != nil:
			return nil, err
		}
		address := templ.SafeURL(playerAddress(w.board, w.mine, n))
		played = append(played, templates.Played{
			Link:    templates.Link{Address: address, Text: seasonName(n), Here: n == w.season.Number},
			Ordinal: ordinal(standing.Rank), Of: "of " + count(standing.Total),
		})
	}
	return played, nil
}

func parsePlayer(c *fiber.Ctx) (look store.Look, player store.PlayerID, err error) {
	if look.Board, err = boardOf(c); err != nil {
		return look, "", err
	}
	if player, err = playerOf(c); err != nil {
		return look, "", err
	}
	look.Season, err = wholeNumber(c, "season", 0, 1, furthestRow)
	return look, player, err
}

// ofSeason keeps what happened in the season: the list goes on through seasons.
func ofSeason(activity []store.Activity, season *store.Season) []store.Activity {
	var kept []store.Activity
	for _, a := range activity {
		if !a.At.Before(season.Start) && (season.End.IsZero() || a.At.Before(season.End)) {
			kept = append(kept, a)
		}
	}
	return kept
}

func (w *writer) playerPage(state *store.BoardState, view *store.View, activity []store.Activity) templates.Player {
	place := w.place(view)
	page := templates.Player{
		Page: templates.Page{
			Title:       isolate(place.Name) + " on " + isolate(state.Settings.Title),
			Description: isolate(place.Name) + " stands " + place.Ordinal + " " + place.Of + ".",
		},
		BoardID: string(w.board),
		Board:   templates.Link{Address: templ.SafeURL(seasonAddress(w.board, w.linkSeason())), Text: state.Settings.Title},
		Row:     place.Row,
		Ordinal: place.Ordinal,
		Share:   place.Share,
		ToNext:  place.ToNext,
		Facts:   w.facts(view.Standing, activity),
		Chart:   w.chart(view.Standing, activity),
		Around:  place.Around,
		AsOf:    w.asOf(),
		Follow:  templ.SafeURL(pickAddress(w.board, w.mine, w.linkSeason())),
	}
	for _, a := range activity[:min(activityRows, len(activity))] {
		page.Activity = append(page.Activity, w.event(a))
	}
	return page
}

func (w *writer) facts(s *store.Standing, activity []store.Activity) []templates.Fact {
	best := s.Rank
	for _, a := range activity {
		if a.Rank > 0 {
			best = min(best, a.Rank)
		}
	}
	return []templates.Fact{
		{Label: "Best place", Value: ordinal(best)},
		{Label: "Reached", Value: ago(w.now, s.AchievedAt)},
		{Label: "Players", Value: count(s.Total)},
		{Label: "Season", Value: count(w.season.Number)},
	}
}

// event says in words what happened.
func (w *writer) event(a store.Activity) templates.Event {
	event := templates.Event{Row: templates.Row{At: since(w.now, a.At)}}
	with, at := " with "+withUnit(a.Points, a.Decimals), ordinal(a.Rank)
	switch {
	case a.Kind == store.RewardReceived:
		event.Text, event.Tone = "received a reward", "up"
	case !a.HadPoints:
		event.Text, event.Tone = "joined in "+at+" place"+with, "up"
	case a.Kind == store.EnteredTop:
		event.Text, event.Tone = "came into the top: from "+ordinal(a.PreviousRank)+" to "+at+with, "up"
	case a.Rank < a.PreviousRank:
		event.Text, event.Tone = "climbed from "+ordinal(a.PreviousRank)+" to "+at+with, "up"
	case a.Rank > a.PreviousRank:
		event.Text, event.Tone = "fell from "+ordinal(a.PreviousRank)+" to "+at+with, "down"
	case a.Kind == store.NewBest:
		event.Text, event.Tone = "improved to "+withUnit(a.Points, a.Decimals)+", still "+at, "up"
	default:
		event.Text = "now has " + withUnit(a.Points, a.Decimals) + ", still " + at
	}
	return event
}

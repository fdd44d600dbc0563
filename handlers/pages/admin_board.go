package pages

import (
	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"leaderboard/store"
	"leaderboard/templates"
)

// Board shows one board: how it is, and its settings.
func (a *Admin) Board(c *fiber.Ctx) error {
	return a.showBoard(c, form{}, nil)
}

func (a *Admin) showBoard(c *fiber.Ctx, sent form, wrong error) error {
	state, err := a.state(c)
	if err != nil {
		return err
	}
	stats, err := a.deps.Store.BoardStats(c.UserContext(), state.ID)
	if err != nil {
		return err
	}
	page := templates.AdminBoard{
		Admin: a.boardFrame(c, &state, "Overview"),
		Facts: []templates.Fact{
			{Label: "Players", Value: count(state.Total)},
			{Label: "Season", Value: count(state.Season.Number)},
			{Label: "Runs since", Value: stampOr(state.Season.Start, "").Words + " UTC"},
			{Label: "Watching here", Value: count(int64(a.deps.Readers(state.ID)))},
			{Label: "Scores last minute", Value: count(stats.LastMinute)},
			{Label: "Players today", Value: "≈ " + count(stats.PlayersDay)},
			{Label: "Memory in Redis", Value: bytesWords(stats.MemoryBytes)},
			{Label: "Time is exact to", Value: spanWords(state.Season.Resolution)},
		},
		Zone:   state.Settings.Timezone,
		Resets: nextResets(&state.Settings, &state.Season, state.Now),
		Form:   settingsForm(sent, &state.Settings, &state),
		Close:  templ.SafeURL(adminAddress(state.ID, "/close")),
		Delete: templ.SafeURL(adminAddress(state.ID, "/delete")),
	}
	page.Form.Action, page.Form.Button = templ.SafeURL(adminAddress(state.ID, "")), "Look at the changes"
	if err := a.tellWrong(c, &page.Admin, &page.Form, wrong); err != nil {
		return err
	}
	return show(c, templates.AdminBoardPage(page))
}

// state returns the board that the path names.
func (a *Admin) state(c *fiber.Ctx) (store.BoardState, error) {
	id, err := boardOf(c)
	if err != nil {
		return store.BoardState{}, err
	}
	return a.deps.Store.BoardState(c.UserContext(), id)
}

// ChangeBoard changes a board, or shows what would change.
func (a *Admin) ChangeBoard(c *fiber.Ctx, f form) error {
	state, err := a.state(c)
	if err != nil {
		return err
	}
	again := func(err error) error { return a.showBoard(c, f, err) }
	wanted := state.Settings
	season, err := changedSettings(f, &state, &wanted)
	if err != nil || f.first("step") == "edit" {
		return again(err)
	}
	list := changes(&state.Settings, &wanted)
	if len(list) == 0 {
		return a.done(c, adminAddress(state.ID, ""), "Everything is as it was.")
	}
	if f.first("step") == "preview" {
		return show(c, templates.PreviewPage(templates.Preview{
			Admin: a.boardFrame(c, &state, "Overview"), Words: plural(int64(len(list)), "setting") + " would change.",
			Changes: list, Facts: seasonFacts(&season, &wanted), Zone: wanted.Timezone,
			Resets: nextResets(&wanted, &season, state.Now),
			Action: templ.SafeURL(adminAddress(state.ID, "")), Fields: f.carried(), Button: "Save it",
		}))
	}
	act := store.Act{Act: "board.put", Board: state.ID, Details: changesWords(list)}
	err = a.record(c.UserContext(), act, func() error {
		_, _, err := a.deps.Store.PutBoard(c.UserContext(), state.ID, func(s *store.Settings) error {
			if s.StartsAt.IsZero() { // as only a board has that is not made: it was deleted meanwhile
				return store.ErrBoardNotFound
			}
			return f.apply(s)
		})
		return err
	})
	if err != nil {
		return again(err)
	}
	return a.done(c, adminAddress(state.ID, ""), "Saved: "+changesWords(list)+".")
}

// changedSettings reads a form into the settings of a board, and returns the running season as it would be.
func changedSettings(f form, state *store.BoardState, settings *store.Settings) (store.Season, error) {
	if err := f.apply(settings); err != nil {
		return store.Season{}, err
	}
	if settings.StartsAt.IsZero() {
		settings.StartsAt = state.Settings.StartsAt
	}
	if settings.StartsAt.After(state.Now) {
		return store.Season{}, store.Invalid("starts_at", "must not be in the future")
	}
	if err := settings.Validate(); err != nil {
		return store.Season{}, err
	}
	from := &state.Settings
	same := from.Order == settings.Order && from.Decimals == settings.Decimals && from.Policy == settings.Policy &&
		from.MaxPoints == settings.MaxPoints && from.StartsAt.Equal(settings.StartsAt) && from.SeasonDays == settings.SeasonDays &&
		from.Schedule == settings.Schedule && from.Timezone == settings.Timezone
	if same {
		return state.Season, nil
	}
	return settings.NewSeason(state.Season.Number, state.Season.Start, state.Now)
}

// DeletePage asks before a board is deleted.
func (a *Admin) DeletePage(c *fiber.Ctx) error { return a.showDelete(c, nil) }

func (a *Admin) showDelete(c *fiber.Ctx, wrong error) error {
	state, err := a.state(c)
	if err != nil {
		return err
	}
	return a.confirm(c, templates.Confirm{
		Admin: a.boardFrame(c, &state, "Overview"),
		Words: []string{
			"The board " + string(state.ID) + " is deleted, with " + plural(state.Total, "player") + " of season " +
				count(state.Season.Number) + ", every closed season, names, bans and held scores.",
			"It cannot be taken back. A board of the same id made later begins empty.",
		},
		ID: string(state.ID), IDLabel: "To delete it, type",
		Action: templ.SafeURL(adminAddress(state.ID, "/delete")), Button: "Delete the board", Danger: true,
		Cancel: templ.SafeURL(adminAddress(state.ID, "")),
	}, wrong)
}

// Delete deletes a board.
func (a *Admin) Delete(c *fiber.Ctx, f form) error {
	state, err := a.state(c)
	if err != nil {
		return err
	}
	if err := f.typed(string(state.ID)); err != nil {
		return a.showDelete(c, err)
	}
	act := store.Act{Act: "board.delete", Board: state.ID, Details: "with " + plural(state.Total, "player")}
	err = a.record(c.UserContext(), act, func() error { return a.deps.Store.DeleteBoard(c.UserContext(), state.ID) })
	if err != nil {
		return err
	}
	return a.done(c, "/admin", "The board "+string(state.ID)+" is deleted.")
}

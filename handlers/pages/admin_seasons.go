package pages

import (
	"strconv"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"leaderboard/store"
	"leaderboard/templates"
)

// leaderRows is how many of the top are shown before a season closes.
const leaderRows = 10

// ClosePage asks before the running season is closed, and shows who is on top and what is won.
func (a *Admin) ClosePage(c *fiber.Ctx) error { return a.showClose(c, form{}, nil) }

func (a *Admin) showClose(c *fiber.Ctx, sent form, wrong error) error {
	state, err := a.state(c)
	if err != nil {
		return err
	}
	top, err := a.deps.Store.Top(c.UserContext(), store.Look{Board: state.ID}, 0, leaderRows)
	if err != nil {
		return err
	}
	payout, err := a.deps.Store.Payout(c.UserContext(), state.ID)
	if err != nil {
		return err
	}
	number := count(state.Season.Number)
	w := &writer{board: state.ID, season: top.Season, now: state.Now}
	return a.confirm(c, templates.Confirm{
		Admin: a.boardFrame(c, &state, "Seasons"),
		Words: []string{
			"Season " + number + " ends now, with " + plural(state.Total, "player") + ", and season " + count(state.Season.Number+1) +
				" begins empty in the same instant. " + nextEnd(&state),
			"The closed season stays readable as long as the board keeps it. It can be reopened while the new one is empty and nothing has been paid.",
		},
		ID: string(state.ID), IDLabel: "To close it, type",
		Reason: templates.Field{
			Name: "reason", Label: "Reason", Hint: "Players see it on the closed season.", Kind: "text",
			Length: strconv.Itoa(maxReason), Needed: true, Value: sent.first("reason"),
		},
		Action:  templ.SafeURL(adminAddress(state.ID, "/close")),
		Fields:  []templates.Hidden{{Name: "season", Value: strconv.FormatInt(state.Season.Number, 10)}},
		Button:  "Close season " + number,
		Danger:  true,
		Cancel:  templ.SafeURL(adminAddress(state.ID, "")),
		Leaders: w.rows(top.Entries),
		Prizes:  prizes(payout, state.Settings.Decimals),
		Closing: true,
	}, wrong)
}

// nextEnd says when the season after the running one would end.
func nextEnd(state *store.BoardState) string {
	schedule, err := store.ParseSchedule(state.Settings.Schedule, state.Settings.Timezone)
	if err != nil || schedule.Never() {
		return "It then runs until somebody closes it."
	}
	return "It then runs until " + stampOr(schedule.Next(state.Now), "").Words + " UTC."
}

// Close closes the running season.
func (a *Admin) Close(c *fiber.Ctx, f form) error {
	id, err := boardOf(c)
	if err != nil {
		return err
	}
	again := func(err error) error { return a.showClose(c, f, err) }
	number, err := f.number("season", 1, furthestRow)
	if err != nil {
		return again(err)
	}
	reason, err := f.reason(true)
	if err != nil {
		return again(err)
	}
	if err := f.typed(string(id)); err != nil {
		return again(err)
	}
	state := store.BoardState{}
	act := store.Act{Act: "season.close", Board: id, Details: "season " + count(number) + ": " + reason}
	err = a.record(c.UserContext(), act, func() (err error) {
		state, _, err = a.deps.Store.CloseSeason(c.UserContext(), id, number, reason)
		return err
	})
	if err != nil {
		return again(err)
	}
	return a.done(c, adminAddress(id, "/seasons"), "Season "+count(number)+" is closed. Season "+count(state.Season.Number)+" runs.")
}

// Seasons lists the closed seasons.
func (a *Admin) Seasons(c *fiber.Ctx) error {
	state, err := a.state(c)
	if err != nil {
		return err
	}
	closed, err := a.deps.Store.ClosedSeasons(c.UserContext(), state.ID)
	if err != nil {
		return err
	}
	type season = store.Season
	list := table[season]{
		path: adminAddress(state.ID, "/seasons"), noun: "seasons", usual: "-season",
		none: "No season was closed yet.",
		columns: []column[season]{
			{title: "Season", name: "season", compare: by(func(s season) int64 { return s.Number }), number: true},
			{title: "Began (UTC)", name: "began", compare: by(func(s season) int64 { return s.Start.UnixMilli() }), extra: true},
			{title: "Ended (UTC)", name: "ended", compare: by(func(s season) int64 { return s.End.UnixMilli() })},
			{title: "Players", name: "players", compare: by(func(s season) int64 { return s.Total }), number: true},
			{title: "Why", name: "why", compare: by(func(s season) string { return store.Fold(s.Reason) })},
			{},
		},
		words: func(s season) []string { return []string{count(s.Number), s.Reason} },
	}
	page := templates.AdminSeasons{
		Admin:   a.boardFrame(c, &state, "Seasons"),
		Running: "Season " + count(state.Season.Number) + " runs, with " + plural(state.Total, "player") + ".",
		Close:   templ.SafeURL(adminAddress(state.ID, "/close")),
	}
	closed, page.Table, err = list.view(c, closed)
	if err != nil {
		return err
	}
	for i := range closed {
		page.Rows = append(page.Rows, seasonRow(&state, &closed[i]))
	}
	return show(c, templates.AdminSeasonsPage(page))
}

func seasonRow(state *store.BoardState, s *store.Season) templates.AdminSeasonRow {
	row := templates.AdminSeasonRow{
		Number: count(s.Number), Address: templ.SafeURL(seasonAddress(state.ID, s.Number)),
		Started: stampOr(s.Start, ""), Ended: stampOr(s.End, ""), Players: count(s.Total), Reason: s.Reason,
	}
	switch {
	case s.Paying:
		row.State = "is paid"
	case s.Number == state.Season.Number-1 && state.Total == 0:
		row.Reopen = templ.SafeURL(adminAddress(state.ID, "/seasons/reopen?season="+strconv.FormatInt(s.Number, 10)))
	}
	return row
}

// ReopenPage asks before a closed season runs again.
func (a *Admin) ReopenPage(c *fiber.Ctx) error {
	number, err := wholeNumber(c, "season", 0, 1, furthestRow)
	if err != nil {
		return err
	}
	return a.showReopen(c, number, nil)
}

func (a *Admin) showReopen(c *fiber.Ctx, number int64, wrong error) error {
	state, err := a.state(c)
	if err != nil {
		return err
	}
	return a.confirm(c, templates.Confirm{
		Admin: a.boardFrame(c, &state, "Seasons"),
		Words: []string{
			"Season " + count(number) + " runs again, with its players and its start, and the empty season " +
				count(state.Season.Number) + " is gone. What it would have paid is not paid now.",
		},
		ID: string(state.ID), IDLabel: "To reopen it, type",
		Action: templ.SafeURL(adminAddress(state.ID, "/seasons/reopen")),
		Fields: []templates.Hidden{{Name: "season", Value: strconv.FormatInt(number, 10)}},
		Button: "Reopen season " + count(number), Danger: true,
		Cancel: templ.SafeURL(adminAddress(state.ID, "/seasons")),
	}, wrong)
}

// Reopen lets a closed season run again.
func (a *Admin) Reopen(c *fiber.Ctx, f form) error {
	id, err := boardOf(c)
	if err != nil {
		return err
	}
	number, err := f.number("season", 1, furthestRow)
	if err != nil {
		return a.refused(c, err, a.Seasons)
	}
	if err := f.typed(string(id)); err != nil {
		return a.showReopen(c, number, err)
	}
	act := store.Act{Act: "season.reopen", Board: id, Details: "season " + count(number)}
	err = a.record(c.UserContext(), act, func() error {
		_, err := a.deps.Store.ReopenSeason(c.UserContext(), id, number)
		return err
	})
	if err != nil {
		return a.refused(c, err, a.Seasons)
	}
	return a.done(c, adminAddress(id, "/seasons"), "Season "+count(number)+" runs again.")
}

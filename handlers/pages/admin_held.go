package pages

import (
	"strconv"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"leaderboard/store"
	"leaderboard/templates"
)

// Held lists the scores that wait for a decision.
func (a *Admin) Held(c *fiber.Ctx) error {
	state, err := a.state(c)
	if err != nil {
		return err
	}
	waiting, err := a.deps.Store.Held(c.UserContext(), state.ID)
	if err != nil {
		return err
	}
	list := table[store.Held]{
		path: adminAddress(state.ID, "/held"), noun: "held scores", usual: "id",
		none: "Nothing waits. " + stepWords(&state.Settings),
		columns: []column[store.Held]{
			{title: "No.", name: "id", compare: by(func(h store.Held) int64 { return h.ID }), number: true, extra: true},
			{title: "Player", name: "player", compare: by(func(h store.Held) string { return store.Fold(shownName(h.Player, h.Name)) })},
			{title: "Points", name: "points", compare: by(func(h store.Held) int64 { return int64(h.Points) }), number: true},
			{title: "Had", name: "had", compare: by(func(h store.Held) int64 { return int64(h.Present) }), number: true, extra: true},
			{title: "Gain", name: "gain", compare: by(func(h store.Held) int64 { return int64(gainOf(&state.Settings, &h)) }), number: true},
			{title: "Season", name: "season", compare: by(func(h store.Held) int64 { return h.Season }), number: true, extra: true},
			{title: "Posted (UTC)", name: "posted", compare: by(func(h store.Held) int64 { return h.At.UnixMilli() }), extra: true},
			{},
		},
		words: func(h store.Held) []string { return []string{string(h.Player), string(h.Name)} },
	}
	page := templates.AdminHeld{Admin: a.boardFrame(c, &state, "Held"), Accept: templ.SafeURL(adminAddress(state.ID, "/held/accept"))}
	waiting, page.Table, err = list.view(c, waiting)
	if err != nil {
		return err
	}
	for i := range waiting {
		page.Rows = append(page.Rows, heldRow(&state, &waiting[i]))
	}
	return show(c, templates.AdminHeldPage(page))
}

func stepWords(s *store.Settings) string {
	if s.MaxStep == "" {
		return "This board holds no scores back: its largest step is open."
	}
	return "Gains beyond " + pointsWords(s.MaxStep, s.Decimals) + " would."
}

// gainOf is by how much a held score is better, as a sum by what it adds.
func gainOf(s *store.Settings, h *store.Held) store.Points {
	gain := h.Points
	if s.Policy != store.Sum && h.HasPresent {
		gain -= h.Present
	}
	if s.Order == store.Asc {
		gain = -gain
	}
	return gain
}

func heldRow(state *store.BoardState, h *store.Held) templates.AdminHeldRow {
	row := templates.AdminHeldRow{
		ID: strconv.FormatInt(h.ID, 10), Player: string(h.Player), Name: shownName(h.Player, h.Name),
		Address: templ.SafeURL(playersAddress(state.ID, h.Player)),
		Points:  points(h.Points, h.Decimals), Present: "none", Gain: points(gainOf(&state.Settings, h), h.Decimals),
		Season: count(h.Season), At: stamp(h.At),
		Reject: templ.SafeURL(adminAddress(state.ID, "/held/reject?held="+strconv.FormatInt(h.ID, 10))),
	}
	if h.HasPresent {
		row.Present = points(h.Present, h.Decimals)
	}
	return row
}

// heldOf returns a score that waits.
func (a *Admin) heldOf(c *fiber.Ctx, board store.BoardID, id int64) (store.Held, error) {
	waiting, err := a.deps.Store.Held(c.UserContext(), board)
	if err != nil {
		return store.Held{}, err
	}
	for _, h := range waiting {
		if h.ID == id {
			return h, nil
		}
	}
	return store.Held{}, store.ErrHeldNotFound
}

// sentHeld returns the score that a form names.
func (a *Admin) sentHeld(c *fiber.Ctx, f form) (held store.Held, err error) {
	board, err := boardOf(c)
	if err != nil {
		return held, err
	}
	id, err := f.number("held", 1, furthestRow)
	if err != nil {
		return held, err
	}
	return a.heldOf(c, board, id)
}

func heldWords(h *store.Held) string {
	return "number " + strconv.FormatInt(h.ID, 10) + ", " + withUnit(h.Points, h.Decimals) + " in season " + count(h.Season)
}

// Accept applies a held score.
func (a *Admin) Accept(c *fiber.Ctx, f form) error {
	h, err := a.sentHeld(c, f)
	if err != nil {
		return a.refused(c, err, a.Held)
	}
	board, _ := boardOf(c)
	act := store.Act{Act: "held.accept", Board: board, Player: h.Player, Details: heldWords(&h)}
	result := store.Result{}
	err = a.record(c.UserContext(), act, func() (err error) {
		result, err = a.deps.Store.AcceptHeld(c.UserContext(), board, h.ID)
		return err
	})
	if err != nil {
		return a.refused(c, err, a.Held)
	}
	return a.done(c, adminAddress(board, "/held"), isolate(string(h.Player))+" has "+withUnit(result.Points, result.Decimals)+" now, "+ordinal(result.Rank)+" place.")
}

// RejectPage asks before a held score is dropped.
func (a *Admin) RejectPage(c *fiber.Ctx) error {
	id, err := wholeNumber(c, "held", 0, 1, furthestRow)
	if err != nil {
		return err
	}
	board, err := boardOf(c)
	if err != nil {
		return err
	}
	h, err := a.heldOf(c, board, id)
	if err != nil {
		return a.refused(c, err, a.Held)
	}
	return a.showReject(c, &h, nil)
}

func (a *Admin) showReject(c *fiber.Ctx, h *store.Held, wrong error) error {
	state, err := a.state(c)
	if err != nil {
		return err
	}
	id := strconv.FormatInt(h.ID, 10)
	return a.confirm(c, templates.Confirm{
		Admin: a.boardFrame(c, &state, "Held"),
		Words: []string{
			"The score of " + isolate(shownName(h.Player, h.Name)) + ", " + withUnit(h.Points, h.Decimals) + ", is dropped. What the player has stays.",
			"It cannot be taken back.",
		},
		ID: id, IDLabel: "To drop it, type its number",
		Action: templ.SafeURL(adminAddress(state.ID, "/held/reject")), Fields: []templates.Hidden{{Name: "held", Value: id}},
		Button: "Drop the score", Danger: true, Cancel: templ.SafeURL(adminAddress(state.ID, "/held")),
	}, wrong)
}

// Reject drops a held score.
func (a *Admin) Reject(c *fiber.Ctx, f form) error {
	h, err := a.sentHeld(c, f)
	if err != nil {
		return a.refused(c, err, a.Held)
	}
	if err := f.typed(strconv.FormatInt(h.ID, 10)); err != nil {
		return a.showReject(c, &h, err)
	}
	board, _ := boardOf(c)
	act := store.Act{Act: "held.reject", Board: board, Player: h.Player, Details: heldWords(&h)}
	err = a.record(c.UserContext(), act, func() error { return a.deps.Store.RejectHeld(c.UserContext(), board, h.ID) })
	if err != nil {
		return a.refused(c, err, a.Held)
	}
	return a.done(c, adminAddress(board, "/held"), "The score of "+isolate(string(h.Player))+" is dropped.")
}

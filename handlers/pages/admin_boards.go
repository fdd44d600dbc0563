package pages

import (
	"errors"
	"strconv"
	"time"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"leaderboard/store"
	"leaderboard/templates"
)

// Boards lists the boards.
func (a *Admin) Boards(c *fiber.Ctx) error {
	states, err := a.deps.Store.BoardStates(c.UserContext())
	if err != nil {
		return err
	}
	type board = store.BoardState
	list := table[board]{
		path: "/admin", noun: "boards", usual: "board", none: "No boards yet. The first one is a form away.",
		columns: []column[board]{
			{title: "Board", name: "board", compare: by(func(b board) string { return store.Fold(b.Settings.Title) + string(b.ID) })},
			{title: "Players", name: "players", compare: by(func(b board) int64 { return b.Total }), number: true},
			{title: "Watching", name: "watching", compare: by(func(b board) int { return a.deps.Readers(b.ID) }), number: true, extra: true},
			{title: "Season", name: "season", compare: by(func(b board) int64 { return b.Season.Number }), number: true},
			{title: "Ends (UTC)", name: "ends", compare: by(endOf)},
			{title: "Schedule", name: "schedule", compare: by(func(b board) string { return b.Settings.Schedule }), extra: true},
			{title: "Rules", extra: true},
		},
		words: func(b board) []string { return []string{string(b.ID), b.Settings.Title, b.Settings.Schedule} },
	}
	page := templates.AdminBoards{Admin: a.frame(c, "Boards", partBoards)}
	states, page.Table, err = list.view(c, states)
	if err != nil {
		return err
	}
	page.Table.More = templates.Link{Address: "/admin/boards", Text: "Make a board"}
	for i := range states {
		page.Rows = append(page.Rows, a.boardRow(&states[i]))
	}
	return show(c, templates.AdminBoardsPage(page))
}

// endOf is when a season ends, for sorting: one without an end comes last.
func endOf(b store.BoardState) int64 {
	if b.Season.End.IsZero() {
		return 1 << 62
	}
	return b.Season.End.UnixMilli()
}

func (a *Admin) boardRow(b *store.BoardState) templates.AdminBoardRow {
	return templates.AdminBoardRow{
		Address:  templ.SafeURL(adminAddress(b.ID, "")),
		Title:    b.Settings.Title,
		ID:       string(b.ID),
		Players:  count(b.Total),
		Readers:  count(int64(a.deps.Readers(b.ID))),
		Season:   count(b.Season.Number),
		Ends:     stampOr(b.Season.End, "open"),
		Schedule: scheduleWords(&b.Settings),
		Rules:    rulesWords(&b.Settings),
	}
}

func scheduleWords(s *store.Settings) string {
	if s.Schedule == store.Manual {
		return "by hand"
	}
	return s.Schedule + ", " + s.Timezone
}

func rulesWords(s *store.Settings) string {
	words := map[store.Order]string{store.Desc: "high", store.Asc: "low"}[s.Order] + " is better, " +
		map[store.Policy]string{store.Best: "best counts", store.Last: "latest counts", store.Sum: "scores add up"}[s.Policy]
	if s.Decimals > 0 {
		words += ", " + plural(int64(s.Decimals), "decimal")
	}
	return words
}

// NewBoard shows the form that makes a board.
func (a *Admin) NewBoard(c *fiber.Ctx) error {
	settings := store.DefaultSettings("")
	return a.showNewBoard(c, form{}, &settings, nil)
}

func (a *Admin) showNewBoard(c *fiber.Ctx, sent form, settings *store.Settings, wrong error) error {
	page := templates.BoardForm{Admin: a.frame(c, "Make a board", partBoards)}
	page.Form = settingsForm(sent, settings, nil)
	page.Form.Action, page.Form.Button = "/admin/boards", "Look at it before it is made"
	id := templates.Field{
		Name: "id", Label: "Id", Kind: "text", Value: sent.first("id"), Needed: true, Length: "63",
		Hint: "In every address of the board: a-z, 0-9, _ and -. It stays.",
	}
	page.Form.Groups[0].Fields = append([]templates.Field{id}, page.Form.Groups[0].Fields...)
	if err := a.tellWrong(c, &page.Admin, &page.Form, wrong); err != nil {
		return err
	}
	return show(c, templates.BoardFormPage(page))
}

// tellWrong marks the field that is wrong. What is not for a reader goes up.
func (a *Admin) tellWrong(c *fiber.Ctx, frame *templates.Admin, f *templates.SettingsForm, wrong error) error {
	if wrong == nil {
		return nil
	}
	words, status, ok := told(wrong)
	if !ok {
		return wrong
	}
	c.Status(status)
	frame.Notice = templates.Notice{Text: words, Bad: true}
	if e, ok := errors.AsType[*store.InvalidError](wrong); ok {
		frame.Notice.Text = markWrong(f, e)
	}
	return nil
}

// MakeBoard makes a board, or shows what it would be.
func (a *Admin) MakeBoard(c *fiber.Ctx, f form) error {
	settings := store.DefaultSettings("")
	again := func(err error) error { return a.showNewBoard(c, f, &settings, err) }
	text, err := f.text("id")
	if err != nil {
		return again(err)
	}
	id, err := store.ParseBoardID(text)
	if err != nil {
		return again(store.Invalid("id", "must be 1 to 63 of a-z, 0-9, _ and -, and begin with a letter or digit"))
	}
	settings = store.DefaultSettings(id)
	switch _, err := a.deps.Store.BoardState(c.UserContext(), id); {
	case err == nil:
		return again(errTaken)
	case !errors.Is(err, store.ErrBoardNotFound):
		return err
	}
	now := a.deps.Clock()
	wanted := settings
	season, err := newSettings(f, &wanted, now)
	if err != nil || f.first("step") == "edit" {
		return again(err)
	}
	if f.first("step") == "preview" {
		return a.previewBoard(c, f, id, &settings, &wanted, &season, now)
	}
	err = a.record(c.UserContext(), store.Act{Act: "board.put", Board: id, Details: "made: " + changesWords(changes(nil, &wanted))}, func() error {
		_, _, err := a.deps.Store.PutBoard(c.UserContext(), id, func(s *store.Settings) error {
			if !s.StartsAt.IsZero() { // only a new board has none yet: somebody was faster
				return errTaken
			}
			return f.apply(s)
		})
		return err
	})
	if err != nil {
		return again(err)
	}
	return a.done(c, adminAddress(id, ""), "The board "+string(id)+" is made. Scores can come.")
}

var errTaken = store.Invalid("id", "is that of another board")

// newSettings reads a form into the settings of a board that is not made yet, and returns its first season.
func newSettings(f form, settings *store.Settings, now time.Time) (store.Season, error) {
	if err := f.apply(settings); err != nil {
		return store.Season{}, err
	}
	start := settings.StartsAt
	if start.IsZero() {
		start = now
	}
	if start.After(now) {
		return store.Season{}, store.Invalid("starts_at", "must not be in the future")
	}
	if err := settings.Validate(); err != nil {
		return store.Season{}, err
	}
	return settings.NewSeason(1, start, now)
}

func (a *Admin) previewBoard(
	c *fiber.Ctx, f form, id store.BoardID, usual, wanted *store.Settings, season *store.Season, now time.Time,
) error {
	return show(c, templates.PreviewPage(templates.Preview{
		Admin:   a.frame(c, "Make "+string(id), partBoards),
		Words:   "The board " + string(id) + " would be made like this. What is not listed is as usual.",
		Changes: changes(usual, wanted),
		Facts:   seasonFacts(season, wanted),
		Zone:    wanted.Timezone,
		Resets:  nextResets(wanted, season, now),
		Action:  "/admin/boards",
		Fields:  f.carried(),
		Button:  "Make the board",
	}))
}

// seasonFacts says what a season takes, and how exactly.
func seasonFacts(season *store.Season, settings *store.Settings) []templates.Fact {
	limit := points(settings.Limit(), settings.Decimals)
	return []templates.Fact{
		{Label: "Points", Value: minusSign + limit + " to " + limit},
		{Label: "Time is exact to", Value: spanWords(season.Resolution)},
	}
}

// nextResets returns the next five ends of seasons.
func nextResets(settings *store.Settings, season *store.Season, now time.Time) []templates.Reset {
	schedule, err := store.ParseSchedule(settings.Schedule, settings.Timezone)
	if err != nil {
		return nil
	}
	zone, err := time.LoadLocation(settings.Timezone)
	if err != nil {
		return nil
	}
	at := season.End
	if at.IsZero() {
		at = schedule.Next(now)
	}
	var resets []templates.Reset
	const shown = 5
	for ; !at.IsZero() && len(resets) < shown; at = schedule.Next(at) {
		resets = append(resets, templates.Reset{
			Local: at.In(zone).Format("Mon 2 Jan 2006, 15:04"), At: moment(at, at.UTC().Format("2 Jan 15:04 UTC")),
		})
	}
	return resets
}

// spanWords says a length of time as people do: 10 ms, 1 s, 1 h.
func spanWords(d time.Duration) string {
	switch {
	case d >= time.Hour && d%time.Hour == 0:
		return count(int64(d/time.Hour)) + " h"
	case d >= time.Minute && d%time.Minute == 0:
		return count(int64(d/time.Minute)) + " min"
	case d >= time.Second && d%time.Second == 0:
		return count(int64(d/time.Second)) + " s"
	case d >= time.Millisecond:
		return count(d.Milliseconds()) + " ms"
	}
	return d.String()
}

// stamp is a moment to the second, for lists where the moment itself counts.
func stamp(t time.Time) templates.Time { return moment(t, t.UTC().Format("2 Jan 2006 15:04:05")) }

// stampOr is stamp, or a word where there is no such moment.
func stampOr(t time.Time, word string) templates.Time {
	if t.IsZero() {
		return templates.Time{Words: word}
	}
	return moment(t, t.UTC().Format("2 Jan 2006 15:04"))
}

// lengthWords says about how long something takes.
func lengthWords(d time.Duration) string {
	switch {
	case d < time.Minute:
		return whole(d, time.Second) + " s"
	case d < 2*time.Hour:
		return whole(d, time.Minute) + " min"
	case d < 48*time.Hour:
		return whole(d, time.Hour) + " h"
	}
	return whole(d, 24*time.Hour) + " days"
}

func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return count(n) + " " + noun + "s"
}

func bytesWords(n int64) string {
	switch {
	case n == 0:
		return "unknown"
	case n < 1<<20:
		return strconv.FormatFloat(float64(n)/1024, 'f', 1, 64) + " KiB"
	case n < 1<<30:
		return strconv.FormatFloat(float64(n)/(1<<20), 'f', 1, 64) + " MiB"
	}
	return strconv.FormatFloat(float64(n)/(1<<30), 'f', 2, 64) + " GiB"
}

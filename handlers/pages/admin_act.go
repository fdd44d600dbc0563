package pages

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"leaderboard/store"
	"leaderboard/templates"
)

// adminName is who the audit says did something here.
const adminName = "admin"

// refusals are what may be wrong with an act that the store refuses, in words.
var refusals = [...]struct {
	is     error
	status int
	words  string
}{
	{store.ErrSeasonNotRunning, fiber.StatusConflict, "This is no longer the running season: it was closed a moment ago. Nothing was done."},
	{store.ErrNotReopenable, fiber.StatusConflict, "This season cannot run again: it is not the last one, the season after it has scores or bans, or its rewards are being paid."},
	{store.ErrSeasonClosed, fiber.StatusConflict, "The season that this score was posted in is over, so it can no longer be applied."},
	{store.ErrBoardInUse, fiber.StatusConflict, "Somebody has a score or a ban in the running season, so what its order rests on cannot change. Close the season first."},
	{store.ErrBanned, fiber.StatusConflict, "This player is banned on this board. Lift the ban first."},
	{store.ErrNotBanned, fiber.StatusConflict, "This player is not banned here. Perhaps somebody lifted the ban already."},
	{store.ErrPlayerNotFound, fiber.StatusNotFound, "There is nothing of this player in the running season."},
	{store.ErrSeasonNotFound, fiber.StatusNotFound, "This season never was, or is no longer kept."},
	{store.ErrHeldNotFound, fiber.StatusNotFound, "This score no longer waits. Perhaps somebody has decided on it already."},
	{store.ErrKeyNotFound, fiber.StatusNotFound, "There is no such key. Perhaps somebody revoked it already."},
	{store.ErrJobNotFound, fiber.StatusNotFound, "There is no such job. It is done, or was discarded."},
	{store.ErrJobNotDead, fiber.StatusConflict, "Only a dead job can be tried again, and this one is still on its way."},
}

// told says what is wrong with an act, where that is for its reader to know.
func told(err error) (words string, status int, ok bool) {
	if e, ok := errors.AsType[*store.InvalidError](err); ok {
		return sentence(strings.ReplaceAll(e.Field, "_", " ") + " " + e.Reason), fiber.StatusUnprocessableEntity, true
	}
	for i := range refusals {
		if errors.Is(err, refusals[i].is) {
			return refusals[i].words, refusals[i].status, true
		}
	}
	return "", 0, false
}

// record does something that the audit is to know of. It is written down before it is done: what stands there may not
// have happened, but nothing happens that does not stand there. If it fails, that is written down too.
func (a *Admin) record(ctx context.Context, act store.Act, do func() error) error {
	act.Who, act.Details = adminName, shortened(act.Details)
	if err := a.deps.Store.Record(ctx, act); err != nil {
		return err
	}
	err := do()
	if err == nil {
		return nil
	}
	words, _, known := told(err)
	if !known {
		words = "the store gave no answer, so nobody knows whether it was done"
	}
	act.Act += " failed"
	act.Details = strings.TrimPrefix(act.Details+"; "+words, "; ")
	const patience = 2 * time.Second // the request's own time may be up, which is why it failed
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	return errors.Join(err, a.deps.Store.Record(ctx, act))
}

// shortened bounds what one act may take up in the audit: a board may have a hundred rewards.
func shortened(details string) string {
	const most = 1000 // bytes
	if len(details) <= most {
		return details
	}
	return strings.ToValidUTF8(details[:most], "") + "…"
}

// done leads to a page that says what was done.
func (a *Admin) done(c *fiber.Ctx, to, words string) error {
	a.setNotice(c, words)
	return c.Redirect(to, fiber.StatusSeeOther)
}

type noticeLocal struct{}

// refused shows a page again with what was wrong above it. What is not for its reader goes up.
func (a *Admin) refused(c *fiber.Ctx, err error, page fiber.Handler) error {
	words, status, ok := told(err)
	if !ok {
		return err
	}
	c.Status(status)
	c.Context().SetUserValue(noticeLocal{}, templates.Notice{Text: words, Bad: true})
	return page(c)
}

const (
	noticeCookie = "admin-notice"
	maxNotice    = 600 // bytes
)

// setNotice has the next page say something. It waits in a cookie, as text: who writes one sees their own words.
func (a *Admin) setNotice(c *fiber.Ctx, words string) {
	words = words[:min(len(words), maxNotice)]
	c.Cookie(&fiber.Cookie{
		Name: noticeCookie, Value: base64.RawURLEncoding.EncodeToString([]byte(strings.ToValidUTF8(words, ""))), Path: "/admin",
		Expires: time.Now().Add(time.Minute), HTTPOnly: true, SameSite: fiber.CookieSameSiteStrictMode, Secure: a.secure(c),
	})
}

// notice returns what a page says at its top: what was wrong with this request, or what the one before has done.
func (a *Admin) notice(c *fiber.Ctx) templates.Notice {
	if bad, ok := c.Context().UserValue(noticeLocal{}).(templates.Notice); ok {
		return bad
	}
	value := c.Cookies(noticeCookie)
	if value == "" {
		return templates.Notice{}
	}
	c.Cookie(&fiber.Cookie{Name: noticeCookie, Path: "/admin", Expires: time.Unix(1, 0), HTTPOnly: true, SameSite: fiber.CookieSameSiteStrictMode})
	text, err := base64.RawURLEncoding.DecodeString(value)
	if err != nil || len(text) > maxNotice || !utf8.Valid(text) || strings.ContainsFunc(string(text), unicode.IsControl) {
		return templates.Notice{}
	}
	return templates.Notice{Text: string(text)}
}

// The parts of the admin pages, for the mark in the navigation.
type part int

const (
	partBoards part = iota
	partJobs
	partKeys
	partAudit
	partNone
)

// frame returns what stands around every admin page.
func (a *Admin) frame(c *fiber.Ctx, heading string, here part) templates.Admin {
	frame := templates.Admin{
		Page:    templates.Page{Title: isolate(heading) + " · Admin", Theme: theme(c)},
		Heading: heading,
		Token:   visitOf(c).token,
		Notice:  a.notice(c),
	}
	for i, link := range []templates.Link{
		{Address: "/admin", Text: "Boards"},
		{Address: "/admin/jobs", Text: "Jobs"},
		{Address: "/admin/keys", Text: "Keys"},
		{Address: "/admin/audit", Text: "Audit"},
	} {
		link.Here = part(i) == here
		frame.Parts = append(frame.Parts, link)
	}
	return frame
}

// boardFrame is frame for the pages of one board.
func (a *Admin) boardFrame(c *fiber.Ctx, b *store.BoardState, here string) templates.Admin {
	frame := a.frame(c, b.Settings.Title, partBoards)
	frame.Board = string(b.ID)
	for _, tab := range [...]struct{ text, below string }{
		{"Overview", ""}, {"Players", "/players"}, {"Held", "/held"}, {"Seasons", "/seasons"},
	} {
		frame.Tabs = append(frame.Tabs, templates.Link{
			Address: templ.SafeURL(adminAddress(b.ID, tab.below)), Text: tab.text, Here: tab.text == here,
		})
	}
	frame.Tabs = append(frame.Tabs, templates.Link{Address: templ.SafeURL(boardAddress(b.ID)), Text: "Public page"})
	return frame
}

func adminAddress(board store.BoardID, below string) string {
	return "/admin/boards/" + string(board) + below
}

// confirm shows the second step of an act. What was wrong with the first try stands at its field.
func (a *Admin) confirm(c *fiber.Ctx, page templates.Confirm, wrong error) error {
	if wrong != nil {
		words, status, ok := told(wrong)
		if !ok {
			return wrong
		}
		c.Status(status)
		page.Notice = templates.Notice{Text: words, Bad: true}
		e, invalid := errors.AsType[*store.InvalidError](wrong)
		switch {
		case invalid && e.Field == "id":
			page.Wrong = words
		case invalid && e.Field == page.Reason.Name:
			page.Reason.Wrong = sentence(e.Reason)
		}
	}
	return show(c, templates.ConfirmPage(page))
}

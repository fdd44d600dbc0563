package pages

import (
	"context"
	"strconv"
	"strings"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"leaderboard/store"
	"leaderboard/templates"
)

// Inbox is where rewards wait for their players.
type Inbox interface {
	Inbox(ctx context.Context, player store.PlayerID, after int64, limit int) (store.Inbox, error)
	ClaimPrize(ctx context.Context, player store.PlayerID, id int64) (store.Prize, error)
}

const (
	prizeRows    = 20
	inboxPath    = "/inbox"
	maxPrize     = 1<<53 - 1
	maxTokenForm = 4096 // bytes: anybody may send one
)

// Inbox shows a player's rewards. Who is nobody yet is asked for the code that their game gave them.
func (p *Pages) Inbox(c *fiber.Ctx) error {
	c.Set(fiber.HeaderCacheControl, "no-store")
	player := p.me(c)
	if player == "" {
		return p.showDoor(c, "")
	}
	after, err := wholeNumber(c, "after", 0, 1, maxPrize)
	if err != nil {
		return err
	}
	inbox, err := p.inbox.Inbox(c.UserContext(), player, after, prizeRows)
	if err != nil {
		return err
	}
	page := templates.Inbox{
		Page:   templates.Page{Title: "Rewards · Leaderboard", Theme: theme(c), Bell: p.bellOf(&inbox)},
		Player: string(player), Mark: markOf(player, ""), Unclaimed: unclaimedWords(inbox.Unclaimed), Later: after > 0,
	}
	for i := range inbox.Prizes {
		page.Prizes = append(page.Prizes, prizeOf(&inbox.Prizes[i]))
	}
	if inbox.Next > 0 {
		page.Next = templ.SafeURL(inboxPath + "?after=" + strconv.FormatInt(inbox.Next, 10))
	}
	if p.live && len(inbox.Prizes) > 0 {
		page.Bell.Board = string(inbox.Prizes[0].Board)
	}
	return show(c, templates.InboxPage(page))
}

func unclaimedWords(unclaimed int64) string {
	switch unclaimed {
	case 0:
		return "Nothing waits to be claimed."
	case 1:
		return "One reward waits to be claimed."
	}
	return count(unclaimed) + " rewards wait to be claimed."
}

func prizeOf(p *store.Prize) templates.Prize {
	id := strconv.FormatInt(p.ID, 10)
	prize := templates.Prize{
		ID: id, Title: p.Title, From: "Season " + count(p.Season) + " of " + string(p.Board),
		Season: templ.SafeURL(seasonAddress(p.Board, p.Season)), At: moment(p.At, p.At.UTC().Format("2 Jan 2006, 15:04 UTC")),
		Claim: templ.SafeURL(inboxPath + "/" + id + "/claim"),
	}
	if !p.ClaimedAt.IsZero() {
		prize.Claimed = moment(p.ClaimedAt, p.ClaimedAt.UTC().Format("2 Jan 2006, 15:04 UTC"))
	}
	return prize
}

// ClaimPrize claims a reward by the form of the page.
func (p *Pages) ClaimPrize(c *fiber.Ctx) error {
	player := p.me(c)
	if player == "" {
		return c.Redirect(inboxPath, fiber.StatusSeeOther)
	}
	id, err := parseWhole("id", c.Params("id"), 1, maxPrize)
	if err != nil {
		return store.ErrRewardNotFound
	}
	if _, err := p.inbox.ClaimPrize(c.UserContext(), player, id); err != nil {
		return err
	}
	return c.Redirect(inboxPath+"#prize-"+strconv.FormatInt(id, 10), fiber.StatusSeeOther)
}

// OpenInbox takes the code from the form: the browser is that player from now on.
func (p *Pages) OpenInbox(c *fiber.Ctx) error {
	c.Set(fiber.HeaderCacheControl, "no-store")
	const wrong = "This code opens nothing, or no more. Your game can give you a fresh one."
	if len(c.Request().Body()) > maxTokenForm || p.signIn == nil {
		return p.refuseDoor(c, wrong)
	}
	f, err := parseForm(c)
	if err != nil {
		return p.refuseDoor(c, wrong)
	}
	if err := p.signIn(c, strings.TrimSpace(f.first("token"))); err != nil {
		return p.refuseDoor(c, wrong)
	}
	return c.Redirect(inboxPath, fiber.StatusSeeOther)
}

// LeaveInbox makes the browser forget its player.
func (p *Pages) LeaveInbox(c *fiber.Ctx) error {
	if p.signOut != nil {
		p.signOut(c)
	}
	return c.Redirect(inboxPath, fiber.StatusSeeOther)
}

func (p *Pages) refuseDoor(c *fiber.Ctx, wrong string) error {
	c.Status(fiber.StatusUnauthorized)
	return p.showDoor(c, wrong)
}

func (p *Pages) showDoor(c *fiber.Ctx, wrong string) error {
	return show(c, templates.InboxDoorPage(templates.InboxDoor{
		Page: templates.Page{Title: "Rewards · Leaderboard", Theme: theme(c)}, Wrong: wrong,
	}))
}

// me returns the player in whose browser a page is shown, or "".
func (p *Pages) me(c *fiber.Ctx) store.PlayerID {
	if p.player == nil || p.inbox == nil {
		return ""
	}
	return p.player(c)
}

// bell returns the bell of a page that moves with a board, or of one that stands still; nil where nobody is known.
func (p *Pages) bell(c *fiber.Ctx, board store.BoardID) (*templates.Bell, error) {
	player := p.me(c)
	if player == "" {
		return nil, nil
	}
	inbox, err := p.inbox.Inbox(c.UserContext(), player, 0, 1)
	if err != nil {
		return nil, err
	}
	bell := p.bellOf(&inbox)
	if p.live {
		bell.Board = string(board)
	}
	return bell, nil
}

func (p *Pages) bellOf(inbox *store.Inbox) *templates.Bell {
	bell := &templates.Bell{Words: unclaimedWords(inbox.Unclaimed)}
	if inbox.Unclaimed > 0 {
		bell.Count = bellCount(inbox.Unclaimed)
	}
	return bell
}

// bellCount is a number that fits on a bell.
func bellCount(unclaimed int64) string {
	if unclaimed > 99 {
		return "99+"
	}
	return count(unclaimed)
}

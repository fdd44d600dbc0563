package pages

import (
	"strconv"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"leaderboard/store"
	"leaderboard/templates"
)

// moderated is what an act on a player is about.
type moderated struct {
	state  store.BoardState
	player store.PlayerID
}

// askedPlayer returns the player that the query names.
func (a *Admin) askedPlayer(c *fiber.Ctx) (m moderated, err error) {
	if m.player, err = pickedPlayer(c); err != nil {
		return m, err
	}
	if m.player == "" {
		return m, store.Invalid("player", "must be given")
	}
	m.state, err = a.state(c)
	return m, err
}

func (m *moderated) hidden() []templates.Hidden {
	return []templates.Hidden{{Name: "player", Value: string(m.player)}}
}

// BanPage asks for the reason of a ban.
func (a *Admin) BanPage(c *fiber.Ctx) error {
	m, err := a.askedPlayer(c)
	if err != nil {
		return err
	}
	return a.showBan(c, &m, form{}, nil)
}

func (a *Admin) showBan(c *fiber.Ctx, m *moderated, sent form, wrong error) error {
	return a.confirm(c, templates.Confirm{
		Admin: a.boardFrame(c, &m.state, "Players"),
		Words: []string{
			isolate(string(m.player)) + " leaves every view of this board at once, in this season and in the closed ones, and can post no more scores. " +
				"Everybody behind moves up.",
			"Points and time are kept. When the ban is lifted they are back in their old places.",
		},
		Reason: templates.Field{
			Name: "reason", Label: "Reason", Kind: "text", Length: strconv.Itoa(maxReason), Value: sent.first("reason"),
			Hint: "For admins; players do not see it.",
		},
		Action: templ.SafeURL(adminAddress(m.state.ID, "/players/ban")), Fields: m.hidden(), Button: "Ban the player", Danger: true,
		Cancel: templ.SafeURL(playersAddress(m.state.ID, m.player)),
	}, wrong)
}

// Ban bans a player.
func (a *Admin) Ban(c *fiber.Ctx, f form) error {
	m, err := a.sentPlayer(c, f)
	if err != nil {
		return a.refused(c, err, a.Players)
	}
	reason, err := f.reason(false)
	if err != nil {
		return a.showBan(c, &m, f, err)
	}
	act := store.Act{Act: "player.ban", Board: m.state.ID, Player: m.player, Details: reason}
	err = a.record(c.UserContext(), act, func() error {
		_, err := a.deps.Store.Ban(c.UserContext(), m.state.ID, m.player, reason)
		return err
	})
	return a.moderationDone(c, &m, err, "is banned.")
}

// sentPlayer returns the player that a form names.
func (a *Admin) sentPlayer(c *fiber.Ctx, f form) (m moderated, err error) {
	if m.state, err = a.state(c); err != nil {
		return m, err
	}
	m.player, err = f.player()
	return m, err
}

func (a *Admin) moderationDone(c *fiber.Ctx, m *moderated, err error, words string) error {
	if err != nil {
		return a.refused(c, err, a.Players)
	}
	return a.done(c, playersAddress(m.state.ID, m.player), isolate(string(m.player))+" "+words)
}

// Unban lifts a ban.
func (a *Admin) Unban(c *fiber.Ctx, f form) error {
	m, err := a.sentPlayer(c, f)
	if err != nil {
		return a.refused(c, err, a.Players)
	}
	act := store.Act{Act: "player.unban", Board: m.state.ID, Player: m.player}
	err = a.record(c.UserContext(), act, func() error {
		_, err := a.deps.Store.Unban(c.UserContext(), m.state.ID, m.player)
		return err
	})
	return a.moderationDone(c, &m, err, "is no longer banned, and back in the old place.")
}

// RemovePage asks before a player is removed.
func (a *Admin) RemovePage(c *fiber.Ctx) error {
	m, err := a.askedPlayer(c)
	if err != nil {
		return err
	}
	return a.showRemove(c, &m, nil)
}

func (a *Admin) showRemove(c *fiber.Ctx, m *moderated, wrong error) error {
	return a.confirm(c, templates.Confirm{
		Admin: a.boardFrame(c, &m.state, "Players"),
		Words: []string{
			isolate(string(m.player)) + " is taken off season " + count(m.state.Season.Number) + ", with points, name and activity. Closed seasons stay as they are.",
			"It cannot be taken back. A new score puts the player on the board again; a ban keeps them off.",
		},
		ID: string(m.player), IDLabel: "To remove the player, type",
		Action: templ.SafeURL(adminAddress(m.state.ID, "/players/remove")), Fields: m.hidden(), Button: "Remove the player", Danger: true,
		Cancel: templ.SafeURL(playersAddress(m.state.ID, m.player)),
	}, wrong)
}

// Remove takes a player off the running season.
func (a *Admin) Remove(c *fiber.Ctx, f form) error {
	m, err := a.sentPlayer(c, f)
	if err != nil {
		return a.refused(c, err, a.Players)
	}
	if err := f.typed(string(m.player)); err != nil {
		return a.showRemove(c, &m, err)
	}
	act := store.Act{Act: "player.remove", Board: m.state.ID, Player: m.player, Details: "season " + count(m.state.Season.Number)}
	err = a.record(c.UserContext(), act, func() error {
		return a.deps.Store.RemovePlayer(c.UserContext(), m.state.ID, m.player)
	})
	return a.moderationDone(c, &m, err, "is off the season.")
}

package pages

import (
	"net/url"
	"strings"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"leaderboard/store"
	"leaderboard/templates"
)

const (
	actRows     = 50
	actsLooked  = 200  // acts read at once by a search
	mostLooked  = 2000 // acts that one search looks at
	auditPath   = "/admin/audit"
	failedEnd   = " failed"
	auditFilter = "filter"
)

// Audit shows what admins did, newest first.
func (a *Admin) Audit(c *fiber.Ctx) error {
	text, _, err := query(c, auditFilter)
	if err != nil {
		return err
	}
	text = strings.TrimSpace(text)
	after, _, err := query(c, "after")
	if err != nil {
		return err
	}
	acts, next, looked, err := a.acts(c, after, text)
	if err != nil {
		return err
	}
	page := templates.AdminAudit{Admin: a.frame(c, "Audit", partAudit), Table: templates.Table{
		Label: "Table of acts",
		Columns: []templates.Column{
			{Title: "When (UTC)", Sorted: "descending"}, {Title: "Who", Extra: true}, {Title: "Act"}, {Title: "Board"}, {Title: "Player"}, {Title: "Details"},
		},
		Filter: templates.Filter{Action: auditPath, Name: auditFilter, Label: "Filter acts", Value: text},
	}}
	for _, act := range acts {
		page.Rows = append(page.Rows, templates.AdminActRow{
			At: stamp(act.At), Who: act.Who, Act: act.Act, Failed: strings.HasSuffix(act.Act, failedEnd), Board: string(act.Board),
			Player: string(act.Player), Details: act.Details,
		})
	}
	if len(acts) == 0 {
		page.Table.Empty = "Nothing was done yet."
		if text != "" {
			page.Table.Empty = "Nothing fits “" + text + "” among " + plural(looked, "act") + "."
		}
	}
	if after != "" {
		page.Turn = append(page.Turn, templates.Link{Address: auditAddress("", text), Text: "Newest"})
	}
	if next != "" {
		page.Turn = append(page.Turn, templates.Link{Address: auditAddress(next, text), Text: "Older →"})
	}
	return show(c, templates.AdminAuditPage(page))
}

func auditAddress(after, text string) templ.SafeURL {
	values := url.Values{}
	if text != "" {
		values.Set(auditFilter, text)
	}
	if after != "" {
		values.Set("after", after)
	}
	if len(values) == 0 {
		return auditPath
	}
	return templ.SafeURL(auditPath + "?" + values.Encode())
}

// acts returns a page of acts. With a text it looks through older ones until some fit, or until it has looked at many:
// the next page goes on there.
func (a *Admin) acts(c *fiber.Ctx, after, text string) (found []store.Act, next string, looked int64, err error) {
	if text == "" {
		found, next, err = a.deps.Store.Acts(c.UserContext(), after, actRows)
		return found, next, int64(len(found)), err
	}
	next = after
	for looked < mostLooked && len(found) < actRows {
		acts, further, err := a.deps.Store.Acts(c.UserContext(), next, actsLooked)
		if err != nil {
			return nil, "", looked, err
		}
		looked += int64(len(acts))
		for _, act := range acts {
			if hasText([]string{act.Who, act.Act, string(act.Board), string(act.Player), act.Details}, text) {
				found = append(found, act)
			}
		}
		if next = further; next == "" {
			break
		}
	}
	return found, next, looked, nil
}

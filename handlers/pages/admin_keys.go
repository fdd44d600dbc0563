package pages

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"leaderboard/store"
	"leaderboard/templates"
)

// scopes are what a key may be allowed, in words.
var scopes = [...]templates.Option{
	{Value: string(store.ScopeScores), Label: "post scores (scores:write)"},
	{Value: string(store.ScopePlayers), Label: "sign tokens for players (players:token)"},
	{Value: string(store.ScopeAdmin), Label: "everything an admin does by the API (admin)"},
}

// Keys lists the API keys.
func (a *Admin) Keys(c *fiber.Ctx) error { return a.showKeys(c, form{}, nil, nil) }

func (a *Admin) showKeys(c *fiber.Ctx, sent form, made *templates.MadeKey, wrong error) error {
	all, err := a.deps.Store.Keys(c.UserContext())
	if err != nil {
		return err
	}
	states, err := a.deps.Store.BoardStates(c.UserContext())
	if err != nil {
		return err
	}
	now := a.deps.Clock()
	list := table[store.Key]{
		path: "/admin/keys", noun: "keys", usual: "name", none: "No keys but the one that the server was started with, if there is one.",
		columns: []column[store.Key]{
			{title: "Name", name: "name", compare: by(func(k store.Key) string { return store.Fold(k.Name) })},
			{title: "May", name: "may", compare: by(func(k store.Key) string { return joined(k.Scopes) })},
			{title: "Boards", extra: true},
			{title: "Limit", extra: true},
			{title: "Expires (UTC)", name: "expires", compare: by(func(k store.Key) int64 { return expiryOf(k) })},
			{title: "Last used", name: "used", compare: by(func(k store.Key) int64 { return k.LastUsedAt.UnixMilli() })},
			{},
		},
		words: func(k store.Key) []string { return []string{k.Name, k.ID, joined(k.Scopes), joined(k.Boards)} },
	}
	page := templates.AdminKeys{Admin: a.frame(c, "API keys", partKeys), Made: made}
	all, page.Table, err = list.view(c, all)
	if err != nil {
		return err
	}
	for i := range all {
		page.Rows = append(page.Rows, keyRow(&all[i], now))
	}
	fillKeyForm(&page, sent, states)
	if wrong != nil {
		words, status, ok := told(wrong)
		if !ok {
			return wrong
		}
		c.Status(status)
		page.Notice = templates.Notice{Text: words, Bad: true}
		markKeyForm(&page, wrong)
	}
	return show(c, templates.AdminKeysPage(page))
}

func expiryOf(k store.Key) int64 {
	if k.ExpiresAt.IsZero() {
		return 1 << 62
	}
	return k.ExpiresAt.UnixMilli()
}

func joined[T ~string](list []T) string {
	words := make([]string, len(list))
	for i, item := range list {
		words[i] = string(item)
	}
	return strings.Join(words, ", ")
}

func keyRow(k *store.Key, now time.Time) templates.AdminKeyRow {
	row := templates.AdminKeyRow{
		Name: k.Name, ID: k.ID, Scopes: joined(k.Scopes), Boards: joined(k.Boards), Limit: "usual",
		Expires: stampOr(k.ExpiresAt, "never"), Expired: !k.ExpiresAt.IsZero() && !now.Before(k.ExpiresAt),
		Used: templates.Time{Words: "never"}, Revoke: templ.SafeURL("/admin/keys/revoke?key=" + k.ID),
	}
	if row.Boards == "" {
		row.Boards = "all"
	}
	if k.Limit.Count > 0 {
		row.Limit = k.Limit.String()
	}
	if !k.LastUsedAt.IsZero() {
		row.Used = since(now, k.LastUsedAt)
	}
	return row
}

func fillKeyForm(page *templates.AdminKeys, sent form, states []store.BoardState) {
	page.Fields = []templates.Field{
		{Name: "name", Label: "Name", Kind: "text", Length: "100", Value: sent.first("name"), Needed: true, Hint: "Who or what uses it."},
		{Name: "expires_at", Label: "Expires (UTC)", Kind: "datetime-local", Value: sent.first("expires_at"), Hint: "Empty: never."},
		{Name: "limit", Label: "Limit", Kind: "text", Length: "40", Value: sent.first("limit"), Hint: "Calls in a window, such as 6000/1s. Empty: the usual one."},
	}
	for _, o := range scopes {
		o.Chosen = slices.Contains(sent.all("scope"), o.Value)
		page.Scopes = append(page.Scopes, o)
	}
	for i := range states {
		id := string(states[i].ID)
		page.Boards = append(page.Boards, templates.Option{Value: id, Label: id, Chosen: slices.Contains(sent.all("board"), id)})
	}
}

func markKeyForm(page *templates.AdminKeys, wrong error) {
	e, ok := errors.AsType[*store.InvalidError](wrong)
	if !ok {
		return
	}
	for i := range page.Fields {
		if page.Fields[i].Name == e.Field {
			page.Fields[i].Wrong = sentence(e.Reason)
			return
		}
	}
	page.Wrong = sentence(e.Field + " " + e.Reason)
}

// MakeKey makes a key and shows it, this once.
func (a *Admin) MakeKey(c *fiber.Ctx, f form) error {
	key, err := a.parseKey(f)
	if err != nil {
		return a.showKeys(c, f, nil, err)
	}
	var token string
	key.ID, token, key.Hash = store.NewKeyToken()
	act := store.Act{Act: "key.make", Details: key.Name + " (" + key.ID + "): " + joined(key.Scopes)}
	if len(key.Boards) > 0 {
		act.Details += " on " + joined(key.Boards)
	}
	if err := a.record(c.UserContext(), act, func() error { return a.deps.Store.AddKey(c.UserContext(), key) }); err != nil {
		return err
	}
	made := &templates.MadeKey{
		Name: key.Name, Token: token, Curl: "export LEADERBOARD_API_KEY=" + token,
	}
	c.Status(fiber.StatusCreated)
	return a.showKeys(c, form{}, made, nil)
}

func (a *Admin) parseKey(f form) (key store.Key, err error) {
	if key.Name, err = f.text("name"); err != nil {
		return key, err
	}
	if key.Name, err = store.ParseKeyName(key.Name); err != nil {
		return key, err
	}
	if key.Scopes, err = parseScopes(f.all("scope")); err != nil {
		return key, err
	}
	for _, text := range f.all("board") {
		id, err := store.ParseBoardID(text)
		if err != nil {
			return key, err
		}
		if !slices.Contains(key.Boards, id) {
			key.Boards = append(key.Boards, id)
		}
	}
	text, err := f.text("expires_at")
	if err != nil {
		return key, err
	}
	if key.ExpiresAt, err = parseLocalTime("expires_at", text); err != nil {
		return key, err
	}
	if !key.ExpiresAt.IsZero() && !key.ExpiresAt.After(a.deps.Clock()) {
		return key, store.Invalid("expires_at", "must be in the future")
	}
	if text, err = f.text("limit"); err != nil || text == "" {
		return key, err
	}
	key.Limit, err = store.ParseLimit(text)
	return key, err
}

func parseScopes(texts []string) ([]store.Scope, error) {
	var asked []store.Scope
	for _, o := range scopes {
		if slices.Contains(texts, o.Value) {
			asked = append(asked, store.Scope(o.Value))
		}
	}
	switch {
	case len(texts) == 0:
		return nil, store.Invalid("scope", "must be one at least: a key that may do nothing is no key")
	case len(asked) != len(texts):
		return nil, store.Invalid("scope", "must be scores:write, players:token or admin, each once")
	}
	return asked, nil
}

// RevokePage asks before a key is revoked.
func (a *Admin) RevokePage(c *fiber.Ctx) error {
	id, _, err := query(c, "key")
	if err != nil {
		return err
	}
	return a.showRevoke(c, strings.Clone(id), nil)
}

func (a *Admin) showRevoke(c *fiber.Ctx, id string, wrong error) error {
	key, err := a.deps.Store.FindKey(c.UserContext(), id)
	if err != nil {
		return a.refused(c, err, a.Keys)
	}
	return a.confirm(c, templates.Confirm{
		Admin: a.frame(c, "Revoke a key", partKeys),
		Words: []string{
			"The key " + isolate(key.Name) + " opens nothing any more, in a second at the latest. Whoever uses it is refused with 401.",
			"It cannot be taken back. A new key is another one.",
		},
		ID: key.ID, IDLabel: "To revoke it, type its id", Action: "/admin/keys/revoke", Fields: []templates.Hidden{{Name: "key", Value: key.ID}},
		Button: "Revoke the key", Danger: true, Cancel: "/admin/keys",
	}, wrong)
}

// Revoke revokes a key.
func (a *Admin) Revoke(c *fiber.Ctx, f form) error {
	id, err := f.text("key")
	if err != nil {
		return a.refused(c, err, a.Keys)
	}
	key, err := a.deps.Store.FindKey(c.UserContext(), id)
	if err != nil {
		return a.refused(c, err, a.Keys)
	}
	if err := f.typed(key.ID); err != nil {
		return a.showRevoke(c, key.ID, err)
	}
	act := store.Act{Act: "key.revoke", Details: key.Name + " (" + key.ID + ")"}
	if err := a.record(c.UserContext(), act, func() error { return a.deps.Store.RevokeKey(c.UserContext(), id) }); err != nil {
		return a.refused(c, err, a.Keys)
	}
	return a.done(c, "/admin/keys", "The key "+isolate(key.Name)+" is revoked.")
}

package pages

import (
	"bytes"
	"mime"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"

	"leaderboard/store"
)

// form is a form as it was sent.
type form url.Values

// parseForm reads the body of a request. It is neither inflated nor taken for anything else than a form.
func parseForm(c *fiber.Ctx) (form, error) {
	kind, _, err := mime.ParseMediaType(c.Get(fiber.HeaderContentType))
	if err != nil || kind != fiber.MIMEApplicationForm || c.Get(fiber.HeaderContentEncoding) != "" {
		return nil, fiber.ErrUnsupportedMediaType
	}
	body := c.Request().Body()
	const mostFields = 1000
	if bytes.Count(body, []byte("&")) >= mostFields {
		return nil, store.Invalid("form", "must have fewer fields")
	}
	values, err := url.ParseQuery(string(body)) // a copy: what is read from it stays when the request is gone
	if err != nil {
		return nil, store.Invalid("form", "must be encoded as a form")
	}
	return form(values), nil
}

// first returns a field as it was sent, or "".
func (f form) first(name string) string { return url.Values(f).Get(name) }

// has reports whether a field was sent.
func (f form) has(name string) bool { return url.Values(f).Has(name) }

// text returns a field of one line without its outer spaces; one that was not sent is empty.
func (f form) text(name string) (string, error) {
	text, err := f.lines(name)
	if err == nil && strings.ContainsFunc(text, unicode.IsControl) {
		err = store.Invalid(name, "must be without control characters")
	}
	return text, err
}

// lines returns a field that may have several lines.
func (f form) lines(name string) (string, error) {
	values := f[name]
	switch {
	case len(values) == 0:
		return "", nil
	case len(values) > 1:
		return "", store.Invalid(name, "must be given once")
	case !utf8.ValidString(values[0]):
		return "", store.Invalid(name, "must be UTF-8")
	}
	return strings.TrimSpace(strings.ReplaceAll(values[0], "\r\n", "\n")), nil
}

// all returns a field that may stand several times.
func (f form) all(name string) []string { return slices.Clone(f[name]) }

// maxReason is how long a reason may be, as in the API.
const maxReason = 200

func (f form) reason(needed bool) (string, error) {
	reason, err := f.text("reason")
	switch {
	case err != nil:
		return "", err
	case needed && reason == "":
		return "", store.Invalid("reason", "must say why, for the audit")
	case utf8.RuneCountInString(reason) > maxReason:
		return "", store.Invalid("reason", "must be at most 200 characters")
	}
	return reason, nil
}

// number returns a field that must be a whole number.
func (f form) number(name string, lowest, highest int64) (int64, error) {
	text, err := f.text(name)
	if err != nil {
		return 0, err
	}
	return parseWhole(name, text, lowest, highest)
}

// player returns the player that a form names.
func (f form) player() (store.PlayerID, error) {
	text, err := f.text("player")
	if err != nil {
		return "", err
	}
	return store.ParsePlayerID(text)
}

// typed checks that the id was typed which a dangerous act asks for.
func (f form) typed(want string) error {
	got, err := f.text("id")
	if err != nil {
		return err
	}
	if got != want {
		// An id may come back from a keyboard in another normal form than the one it is kept in.
		if player, err := store.ParsePlayerID(got); err != nil || string(player) != want {
			return store.Invalid("id", "must be typed exactly as it stands above; nothing was done")
		}
	}
	return nil
}

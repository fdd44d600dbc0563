package api

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"leaderboard/store"
)

// KeyStore is what [Keys] needs of a store.
type KeyStore interface {
	Keys(ctx context.Context) ([]store.Key, error)
	FindKey(ctx context.Context, id string) (store.Key, error)
	AddKey(ctx context.Context, key store.Key) error
	RevokeKey(ctx context.Context, id string) error
}

// Keys shows, makes and revokes API keys.
type Keys struct {
	Store KeyStore
	Acts  Acts
}

// List answers GET /keys, by name. A key for some boards sees those that are for no others.
func (h Keys) List(c *fiber.Ctx) error {
	keys, err := h.Store.Keys(c.UserContext())
	if err != nil {
		return err
	}
	mine := keyOf(c)
	keys = slices.DeleteFunc(keys, func(k store.Key) bool { return !within(k.Boards, mine) })
	body := append([]byte(nil), `{"keys":`...)
	body = appendList(body, keys, func(to []byte, k *store.Key) []byte { return append(appendKey(append(to, '{'), k), '}') })
	return sendJSON(c, append(body, '}'))
}

// within reports whether a key may touch all of the boards, of which none at all means every one.
func within(boards []store.BoardID, key *Key) bool {
	if len(boards) == 0 {
		return len(key.Boards) == 0
	}
	return !slices.ContainsFunc(boards, func(b store.BoardID) bool { return !key.Touches(b) })
}

// appendKey writes the members of a key, without the braces.
func appendKey(to []byte, k *store.Key) []byte {
	to = append(to, `"id":`...)
	to = appendString(to, k.ID)
	to = append(to, `,"name":`...)
	to = appendString(to, k.Name)
	to = append(to, `,"scopes":`...)
	to = appendList(to, k.Scopes, func(to []byte, s *store.Scope) []byte { return appendString(to, *s) })
	to = append(to, `,"boards":`...)
	to = appendList(to, k.Boards, func(to []byte, b *store.BoardID) []byte { return appendString(to, *b) })
	to = append(to, `,"limit":`...)
	if k.Limit.Count == 0 {
		to = append(to, "null"...)
	} else {
		to = appendString(to, k.Limit.String())
	}
	to = append(to, `,"expires_at":`...)
	to = appendTimeOrNull(to, k.ExpiresAt)
	to = append(to, `,"last_used_at":`...)
	return appendTimeOrNull(to, k.LastUsedAt)
}

// Make answers POST /keys. The reply is the only time that the key is shown.
func (h Keys) Make(c *fiber.Ctx) error {
	body, err := readBody(c)
	if err != nil {
		return err
	}
	key, err := parseKey(body, time.Now())
	if err != nil {
		return err
	}
	var token string
	key.ID, token, key.Hash = store.NewKeyToken()
	act := store.Act{Act: "key.make", Details: keyWords(&key)}
	if err := h.Acts.do(c, act, func() error { return h.Store.AddKey(c.UserContext(), key) }); err != nil {
		return err
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	c.Status(fiber.StatusCreated)
	reply := appendKey([]byte{'{'}, &key)
	reply = append(reply, `,"key":`...)
	return sendJSON(c, append(appendString(reply, token), '}'))
}

func keyWords(k *store.Key) string {
	words := k.Name + " (" + k.ID + "): " + joined(k.Scopes)
	if len(k.Boards) > 0 {
		words += " on " + joined(k.Boards)
	}
	return words
}

func joined[T ~string](list []T) string {
	words := make([]string, len(list))
	for i, item := range list {
		words[i] = string(item)
	}
	return strings.Join(words, ", ")
}

// maxKeyBoards bounds the boards of one key.
const maxKeyBoards = 100

func parseKey(body []byte, now time.Time) (key store.Key, err error) {
	err = read(body, func(r *reader) error {
		return r.object("body", func(name string) (err error) {
			switch name {
			case "name":
				return setKeyName(r, &key)
			case "scopes":
				key.Scopes, err = parseScopes(r)
				return err
			}
			if name != "boards" && name != "expires_at" && name != "limit" {
				return unknown(name)
			}
			if r.null() { // as a list of keys shows it
				return nil
			}
			switch name {
			case "boards":
				key.Boards, err = parseKeyBoards(r)
			case "expires_at":
				key.ExpiresAt, err = r.instant("expires_at")
				if err == nil && !key.ExpiresAt.After(now) {
					err = store.Invalid("expires_at", "must be in the future")
				}
			case "limit":
				key.Limit, err = parseKeyLimit(r)
			}
			return err
		})
	})
	switch {
	case err != nil:
		return key, err
	case key.Name == "":
		return key, store.Invalid("name", "is missing")
	case len(key.Scopes) == 0:
		return key, store.Invalid("scopes", "is missing")
	}
	return key, nil
}

func setKeyName(r *reader, key *store.Key) error {
	text, err := r.text("name")
	if err != nil {
		return err
	}
	key.Name, err = store.ParseKeyName(text)
	return err
}

func parseScopes(r *reader) (scopes []store.Scope, err error) {
	const want = "must be one or more of scores:write, players:token and admin, each once"
	err = r.array("scopes", func(int) error {
		text, err := r.text("scopes")
		if err != nil {
			return err
		}
		scope := store.Scope(strings.Clone(text))
		known := scope == store.ScopeScores || scope == store.ScopePlayers || scope == store.ScopeAdmin
		if !known || slices.Contains(scopes, scope) {
			return store.Invalid("scopes", want)
		}
		scopes = append(scopes, scope)
		return nil
	})
	if err == nil && len(scopes) == 0 {
		err = store.Invalid("scopes", want)
	}
	return scopes, err
}

// parseKeyBoards reads for which boards a key is. An empty list is refused: whoever works one out and finds no board
// does not mean every one.
func parseKeyBoards(r *reader) (boards []store.BoardID, err error) {
	want := "must be 1 to " + strconv.Itoa(maxKeyBoards) + " boards; left out, the key is for every one"
	err = r.array("boards", func(i int) error {
		if i == maxKeyBoards {
			return store.Invalid("boards", want)
		}
		text, err := r.text("boards")
		if err != nil {
			return err
		}
		board, err := store.ParseBoardID(text)
		if err != nil {
			return store.Invalid("boards", "must be ids of boards")
		}
		if !slices.Contains(boards, board) {
			boards = append(boards, board)
		}
		return nil
	})
	if err == nil && len(boards) == 0 {
		err = store.Invalid("boards", want)
	}
	return boards, err
}

func parseKeyLimit(r *reader) (store.Limit, error) {
	text, err := r.text("limit")
	if err != nil {
		return store.Limit{}, err
	}
	limit, err := store.ParseLimit(text)
	if err == nil && limit.Count == 0 {
		err = store.Invalid("limit", "must be a count and a window of 1s to 24h, such as 120/10s; left out, that of the server counts")
	}
	return limit, err
}

// Revoke answers DELETE /keys/{id}.
func (h Keys) Revoke(c *fiber.Ctx) error {
	id, err := pathValue(c, "id")
	if err != nil {
		return err
	}
	key, err := h.Store.FindKey(c.UserContext(), id)
	if err != nil {
		return err
	}
	act := store.Act{Act: "key.revoke", Details: key.Name + " (" + key.ID + ")"}
	if err := h.Acts.do(c, act, func() error { return h.Store.RevokeKey(c.UserContext(), key.ID) }); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

package redisstore

import (
	"bytes"
	"encoding/json"
	"slices"

	"leaderboard/store"
)

// mention is what a JSON text has to do with a person.
type mention int

const (
	silent mention = iota // nothing
	named                 // names them among others
	about                 // is theirs: it would not exist without them
)

// erasedName stands where an erased person stood in a text that is kept for its other parts.
const erasedName = "erased"

// mentionOf reads a JSON text of ours: a payload of a job, an event, something owed. Whoever such a text is about stands
// under "player", of the text itself or of the event or data in it. What cannot be read is about everybody whom it
// quotes.
func mentionOf(text []byte, player store.PlayerID) mention {
	value, ok := parseLoosely(text)
	switch {
	case !ok && bytes.Contains(text, []byte(encodeAsIs(string(player)))):
		return about
	case !ok:
		return silent
	case isAbout(value, string(player)):
		return about
	case player != erasedName && names(value, string(player)):
		return named
	}
	return silent
}

func parseLoosely(text []byte) (value any, ok bool) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber() // numbers leave as they came
	err := decoder.Decode(&value)
	return value, err == nil && !decoder.More()
}

func isAbout(value any, player string) bool {
	object, ok := value.(map[string]any)
	if !ok {
		return false
	}
	return object["player"] == player || isAbout(object["event"], player) || isAbout(object["data"], player)
}

// names reports whether a player is named anywhere in a value: under "player", or in a list under "players".
func names(value any, player string) bool {
	switch value := value.(type) {
	case []any:
		return slices.ContainsFunc(value, func(item any) bool { return names(item, player) })
	case map[string]any:
		if list, ok := value["players"].([]any); ok && slices.Contains(list, any(player)) {
			return true
		}
		if value["player"] == player {
			return true
		}
		for _, part := range value {
			if names(part, player) {
				return true
			}
		}
	}
	return false
}

// withoutPerson returns a JSON text that is kept for its other parts, with nobody in the player's places.
func withoutPerson(text []byte, player store.PlayerID) string {
	value, _ := parseLoosely(text)
	blot(value, string(player))
	return encodeAsIs(value)
}

func blot(value any, player string) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			blot(item, player)
		}
	case map[string]any:
		if list, ok := value["players"].([]any); ok {
			for i := range list {
				if list[i] == player {
					list[i] = erasedName
				}
			}
		}
		if value["player"] == player {
			value["player"] = erasedName
			if _, ok := value["name"]; ok {
				value["name"] = nil
			}
		}
		for _, part := range value {
			blot(part, player)
		}
	}
}

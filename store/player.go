package store

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Bounds of player ids and names.
const (
	MaxPlayerIDBytes = 128
	MaxNameRunes     = 64
)

// PlayerID names a player: 1 to 128 bytes of UTF-8 in normal form C, without control characters or outer spaces.
type PlayerID string

// ParsePlayerID returns s, normalised to NFC, as an id, or an [InvalidError] for the field player.
// The result shares no memory with s.
func ParsePlayerID(s string) (PlayerID, error) {
	if !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) {
		return "", Invalid("player", "must be UTF-8 without control characters")
	}
	if len(s) > 4*MaxPlayerIDBytes { // normalising shortens a string to a third at most: no need to try
		return "", Invalid("player", "must be 1 to 128 bytes without outer spaces")
	}
	s = norm.NFC.String(strings.Clone(s)) // cloned: s may alias a buffer that the web server reuses
	if s == "" || len(s) > MaxPlayerIDBytes || s != strings.TrimSpace(s) {
		return "", Invalid("player", "must be 1 to 128 bytes without outer spaces")
	}
	return PlayerID(s), nil
}

// Name is what a player is called on the board, kept and shown as it was sent. The empty Name means none was given.
type Name string

// ParseName returns s as a name, or an [InvalidError] for the field name. The limit counts code points, so that it is
// the same for every script, and nothing is ever cut.
func ParseName(s string) (Name, error) {
	if !utf8.ValidString(s) || strings.ContainsFunc(s, forbiddenInName) {
		return "", Invalid("name", "must be UTF-8 without control characters and without U+202D and U+202E")
	}
	if utf8.RuneCountInString(s) > MaxNameRunes {
		return "", Invalid("name", "must be at most 64 code points long")
	}
	if !strings.ContainsFunc(s, visible) {
		return "", Invalid("name", "must have something visible in it")
	}
	return Name(strings.Clone(s)), nil
}

// forbiddenInName reports controls, line breaks of Unicode, and the two overrides that turn the text after a name round.
func forbiddenInName(r rune) bool {
	return unicode.IsControl(r) || r == '\u202d' || r == '\u202e' || r == '\u2028' || r == '\u2029'
}

// blank lists characters that Unicode files under letters and symbols though they show nothing.
const blank = "\u115f\u1160\u3164\uffa0\u2800\U0001d159\U00013441\U00013442"

func visible(r rune) bool {
	if strings.ContainsRune(blank, r) {
		return false
	}
	return unicode.In(r, unicode.L, unicode.N, unicode.P, unicode.S)
}

// Fold returns the form of a name by which it is searched: case and compatibility differences removed.
func Fold(name string) string {
	if isASCII(name) {
		return strings.ToLower(name)
	}
	// Upper case first: folding alone exchanges the two cases of Cherokee.
	return norm.NFKC.String(cases.Fold().String(strings.ToUpper(norm.NFKC.String(name))))
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

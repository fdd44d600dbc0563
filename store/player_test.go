package store

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

func TestNamesAreKeptAsSent(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"a", " Ann ", "M&M's", "<img src=x onerror=alert(1)>", "</script><script>alert(1)</script>", "{{7*7}}",
		`" onmouseover="alert(1)`, "&lt;b&gt;",
		"javascript:alert(1)", "שלום עולם", "\u061c\u061c19", "\u2066a\u2069", "🩸", "🧙🏽‍♂️",
		strings.Repeat("👨‍👩‍👧‍👦", 8), "𝙍𝙖𝙣𝙠", "ᕕ( ཀ ʖ̯ ཀ)ᕗ", "Z" + strings.Repeat("\u0301", 60),
		"✨Multi✨", "Ива́н", "玩家", "dɹǝᗡ", "e\u0301", "\u00e9", "-", "¡", "0", "null",
		strings.Repeat("a", 64), strings.Repeat("é", 64), strings.Repeat("玩", 64), strings.Repeat("𝙍", 64),
	} {
		if got, err := ParseName(name); err != nil || string(got) != name {
			t.Errorf("%q: got %q, %v, want it unchanged", name, got, err)
		}
	}
}

func TestNamesThatHideOrTurnTextAreRefused(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"", " ", "\u00a0", "\u3000", "\u200b\u2060", "\ufeff", "\u00ad", "\u200d", "\ufe0f", "\u0301", "\u115f",
		"\u1160", "\u3164", "\uffa0", "\u2800", "\U000e0041", "\U0001d159",
		"Rabbit\u202e", "\u202dRabbit", "a\x00", "a\nb", "a\r\nb", "a\u001b[31mred", "a\x7f", "a\u0085b",
		"a\u2028b", "a\u2029b", "\xff", "a\xc3", "\xed\xa0\x80",
		strings.Repeat("a", 65), strings.Repeat("é", 65), strings.Repeat("𝙍", 65), strings.Repeat("a", 10_000), strings.Repeat("a", 1<<20),
	} {
		if got, err := ParseName(name); !isInvalid(err, "name") {
			t.Errorf("%.40q: got %.40q, %v, want an InvalidError for name", name, got, err)
		}
	}
}

func TestPlayerIDsTakeEveryPrintableText(t *testing.T) {
	t.Parallel()
	for _, id := range []string{
		"p1", "a:b", "a:b:c", ":", "{x}", "}{", "{", "*", "?", "[a]", "lb:B:meta", "123", "00123", "-inf", "+inf",
		"(5", "__proto__", "constructor", "..", "a/b", "%00", "a b",
		"<script>", "Ünïcode", "玩家", "🩸", "\u00e9", strings.Repeat("a", 128), strings.Repeat("玩", 42) + "aa",
	} {
		if got, err := ParsePlayerID(id); err != nil || string(got) != id {
			t.Errorf("%q: got %q, %v, want it unchanged", id, got, err)
		}
	}
}

func TestPlayerIDsThatNoPathOrLogCouldCarryAreRefused(t *testing.T) {
	t.Parallel()
	for _, id := range []string{
		"", " ", " a", "a ", "\ta", "a\u00a0", "\u3000a", "a\u2003", "a\u2000", "a\x00b", "a\nb", "a\x7f",
		"a\u0085", "a\u001b[31m", "\xff", "a\xc3", "\xed\xa0\x80",
		strings.Repeat("a", 129), strings.Repeat("玩", 43), strings.Repeat("a", 1<<20),
		strings.Repeat("\u0958", 43), // 129 bytes, and normal form C makes it longer
	} {
		if got, err := ParsePlayerID(id); !isInvalid(err, "player") {
			t.Errorf("%.40q: got %.40q, %v, want an InvalidError for player", id, got, err)
		}
	}
}

func TestPlayerIDsThatLookTheSameAreTheSame(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"e\u0301": "\u00e9", "\u212b": "\u00c5", "A\u030a": "\u00c5",
		strings.Repeat("\u1112\u1161\u11ab", 42): strings.Repeat("\ud55c", 42), // 378 bytes; 126 when composed
	} {
		if got, err := ParsePlayerID(given); err != nil || string(got) != want {
			t.Errorf("%+q: got %+q, %v, want %+q", given, got, err, want)
		}
	}
}

func TestFoldRemovesCaseAndCompatibility(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Ann": "ann", "ANN": "ann", "STRASSE": "strasse", "Straße": "strasse", "ΣΊΣΥΦΟΣ": "σίσυφοσ", "𝙍𝙖𝙣𝙠": "rank",
		"Ｆｕｌｌ": "full", "ﬁn": "fin", "Ꮒ": "ꮒ", "ꮒ": "ꮒ", "玩家": "玩家", "": "",
	} {
		if got := Fold(name); got != want {
			t.Errorf("Fold(%q): got %q, want %q", name, got, want)
		}
	}
}

func TestFoldingTwiceIsFoldingOnce(t *testing.T) {
	t.Parallel()
	for r := range unicode.MaxRune + 1 {
		if !unicode.IsGraphic(r) || unicode.In(r, unicode.Han, unicode.Hangul) {
			continue // without case, and most of all
		}
		if folded := Fold(string(r)); Fold(folded) != folded || folded != Fold(strings.ToUpper(folded)) || folded == "" {
			t.Errorf("%+q folds to %+q, and that to %+q", r, folded, Fold(folded))
		}
	}
}

func FuzzPlayerID(f *testing.F) {
	for _, seed := range []string{"a", "e\u0301", " a", "a\x00", "\xff", strings.Repeat("\u1112\u1161\u11ab", 42), "\u0958", "{x}:*"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		id, err := ParsePlayerID(text)
		if err != nil {
			if !isInvalid(err, "player") {
				t.Fatalf("%q: got %v, want an InvalidError", text, err)
			}
			return
		}
		if again, err := ParsePlayerID(string(id)); err != nil || again != id {
			t.Fatalf("%q gave %q, which gives %q, %v", text, id, again, err)
		}
		got := string(id)
		if got == "" || len(got) > MaxPlayerIDBytes || !utf8.ValidString(got) || !norm.NFC.IsNormalString(got) ||
			strings.TrimSpace(got) != got {
			t.Fatalf("%q gave %q", text, id)
		}
	})
}

func FuzzName(f *testing.F) {
	for _, seed := range []string{"a", "\u202e", "\u200b", "\xff", "Z\u0301", "🧙🏽‍♂️"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		name, err := ParseName(text)
		if err != nil {
			if !isInvalid(err, "name") {
				t.Fatalf("%q: got %v, want an InvalidError", text, err)
			}
			return
		}
		if string(name) != text || !utf8.ValidString(text) || utf8.RuneCountInString(text) > MaxNameRunes || strings.TrimSpace(text) == "" {
			t.Fatalf("%q gave %q", text, name)
		}
		if folded := Fold(text); folded == "" || Fold(folded) != folded || !utf8.ValidString(folded) {
			t.Fatalf("%q folds to %q, and that to %q", text, folded, Fold(folded))
		}
	})
}

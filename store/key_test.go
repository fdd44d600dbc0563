package store_test

import (
	"strings"
	"testing"

	"leaderboard/store"
)

func TestAKeyTokenComesBackAsItsIDAndHash(t *testing.T) {
	t.Parallel()
	id, token, hash := store.NewKeyToken()
	gotID, gotHash, ok := store.ParseKeyToken(token)
	if !ok || gotID != id || gotHash != hash {
		t.Errorf("%s: got %s, %s, %v, want %s, %s", token, gotID, gotHash, ok, id, hash)
	}
	if len(token) != len("lb_")+10+1+26 || token != strings.ToLower(token) || len(hash) != 64 || strings.Contains(token, hash) {
		t.Errorf("got the token %s and the hash %s", token, hash)
	}
	if _, other, _ := store.NewKeyToken(); other == token {
		t.Error("two tokens are the same")
	}
}

func TestWhatIsNoKeyTokenIsRefused(t *testing.T) {
	t.Parallel()
	_, token, _ := store.NewKeyToken()
	for _, text := range []string{
		"", "lb_", "lb__", token[1:], token + "a", token[:len(token)-1], strings.ToUpper(token), " " + token,
		strings.Replace(token, "_", "-", 2), token[:4] + "0" + token[5:], token[:4] + "é" + token[6:], token[:len(token)-1] + "\x00",
		"lb_aaaaaaaaa_aaaaaaaaaaaaaaaaaaaaaaaaaaa", "lb_aaaaaaaaaa_aaaaaaaaaaaaa_aaaaaaaaaaaa",
	} {
		if id, _, ok := store.ParseKeyToken(text); ok {
			t.Errorf("%q: taken for the token of %s", text, id)
		}
	}
}

func TestKeyNamesAreShortAndVisible(t *testing.T) {
	t.Parallel()
	for name, fine := range map[string]bool{
		"game server": true, strings.Repeat("é", 100): true, "<b>": true,
		"": false, " ": false, "a\nb": false, "a\u202eb": false, "\xff": false, strings.Repeat("a", 101): false,
	} {
		if got, err := store.ParseKeyName(name); (err == nil) != fine || fine && got != name {
			t.Errorf("%q: got %q, %v", name, got, err)
		}
	}
}

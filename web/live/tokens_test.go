package live

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"leaderboard/store"
)

var (
	keyA = bytes.Repeat([]byte("a"), MinKeyBytes)
	keyB = bytes.Repeat([]byte("b"), MinKeyBytes)
)

// tokensAt returns tokens at a moment, which the test may move.
func tokensAt(t *testing.T, now *time.Time, keys ...[]byte) *PlayerTokens {
	t.Helper()
	tokens, err := NewPlayerTokens(func() time.Time { return *now }, keys...)
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

func TestATokenStandsForItsPlayer(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 30, 12, 0, 0, 123_456_789, time.UTC)
	tokens := tokensAt(t, &now, keyA)
	for _, player := range []store.PlayerID{"p1", "玩家", "a:b/{c}", `"quoted"`, "Ива\u0301н", store.PlayerID(strings.Repeat("x", 128))} {
		token, expires, err := tokens.Issue(player)
		if err != nil {
			t.Fatal(err)
		}
		got, until, err := tokens.Player(token)
		if err != nil {
			t.Fatal(err)
		}
		want, _ := store.ParsePlayerID(string(player))
		if got != want || !until.Equal(expires) || !expires.Equal(now.Truncate(time.Second).Add(TokenLife)) {
			t.Errorf("got %q until %v, want %q until %v", got, until, want, expires)
		}
		if len(`{"type":"auth","token":""}`)+len(token) > maxMessage {
			t.Errorf("a token of %d bytes does not fit in a frame", len(token))
		}
	}
}

func TestATokenEndsAndOutlivesAChangeOfKeys(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	token, _, err := tokensAt(t, &now, keyA).Issue("p1")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := tokensAt(t, &now, keyB, keyA).Player(token); err != nil {
		t.Errorf("with the old key second: %v", err)
	}
	if _, _, err := tokensAt(t, &now, keyB).Player(token); err == nil {
		t.Error("good without its key")
	}
	now = now.Add(TokenLife - time.Second)
	if _, _, err := tokensAt(t, &now, keyA).Player(token); err != nil {
		t.Errorf("a second before its end: %v", err)
	}
	now = now.Add(time.Second)
	if _, _, err := tokensAt(t, &now, keyA).Player(token); err == nil {
		t.Error("good after its end")
	}
}

func TestForgedTokensAreRefused(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	tokens := tokensAt(t, &now, keyA)
	good, _, err := tokens.Issue("p1")
	if err != nil {
		t.Fatal(err)
	}
	claims := func(change func(jwt.MapClaims)) jwt.MapClaims {
		c := jwt.MapClaims{"iss": "leaderboard", "aud": "player", "sub": "p1", "exp": now.Add(time.Hour).Unix()}
		change(c)
		return c
	}
	sign := func(method jwt.SigningMethod, key any, c jwt.MapClaims) string {
		token, err := jwt.NewWithClaims(method, c).SignedString(key)
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	with := func(change func(jwt.MapClaims)) string { return sign(jwt.SigningMethodHS256, keyA, claims(change)) }
	if _, _, err := tokens.Player(with(func(jwt.MapClaims) {})); err != nil {
		t.Fatalf("the base of this test is refused: %v", err)
	}
	parts := strings.Split(good, ".")
	other := base64.RawURLEncoding.EncodeToString([]byte(`{"iss":"leaderboard","sub":"p2","aud":["player"],"exp":1796126400}`))
	for name, token := range map[string]string{
		"nothing":             "",
		"no token":            "x",
		"two parts":           parts[0] + "." + parts[1],
		"another player":      parts[0] + "." + other + "." + parts[2],
		"no signature":        parts[0] + "." + parts[1] + ".",
		"a cut signature":     good[:len(good)-1],
		"algorithm none":      sign(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, claims(func(jwt.MapClaims) {})),
		"another algorithm":   sign(jwt.SigningMethodHS512, keyA, claims(func(jwt.MapClaims) {})),
		"another key":         sign(jwt.SigningMethodHS256, keyB, claims(func(jwt.MapClaims) {})),
		"no end":              with(func(c jwt.MapClaims) { delete(c, "exp") }),
		"past its end":        with(func(c jwt.MapClaims) { c["exp"] = now.Add(-time.Second).Unix() }),
		"an end in words":     with(func(c jwt.MapClaims) { c["exp"] = "tomorrow" }),
		"not yet good":        with(func(c jwt.MapClaims) { c["nbf"] = now.Add(time.Hour).Unix() }),
		"another issuer":      with(func(c jwt.MapClaims) { c["iss"] = "somebody" }),
		"for something else":  with(func(c jwt.MapClaims) { c["aud"] = "session" }),
		"no player":           with(func(c jwt.MapClaims) { delete(c, "sub") }),
		"no possible player":  with(func(c jwt.MapClaims) { c["sub"] = "a\x00b" }),
		"a player in a list":  with(func(c jwt.MapClaims) { c["sub"] = []string{"p1"} }),
		"more than a token":   good + ".x",
		"a token in brackets": "Bearer " + good,
	} {
		player, _, err := tokens.Player(token)
		if err == nil || player != "" {
			t.Errorf("%s: got %q, want a refusal", name, player)
		}
		if err != nil && token != "" && strings.Contains(err.Error(), token) {
			t.Errorf("%s: the error repeats the token", name)
		}
	}
}

func TestWeakKeysAreRefused(t *testing.T) {
	t.Parallel()
	for _, keys := range [][][]byte{nil, {keyA[1:]}, {keyA, nil}} {
		if _, err := NewPlayerTokens(time.Now, keys...); err == nil {
			t.Errorf("keys %q were taken", keys)
		}
	}
}

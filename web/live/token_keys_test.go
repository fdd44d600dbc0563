package live

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestKeysOfTokensAreReadFromText(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", MinKeyBytes)
	for text, want := range map[string]int{
		long: 1, long + "," + long: 2, " " + long + " , b" + long: 2, NewTokenKey(): 1, NewTokenKey() + "," + NewTokenKey(): 2,
		"": 0, "short": 0, long + ",": 0, long + ",short": 0, long + " b": 0, strings.Repeat("é", MinKeyBytes): 0,
		strings.Repeat(long+",", 4) + long: 0,
	} {
		keys, err := ParseTokenKeys(text)
		if len(keys) != want || (err == nil) != (want > 0) {
			t.Errorf("%q is %d keys (%v), want %d", text, len(keys), err, want)
		}
		if err != nil && strings.Contains(err.Error(), "aaaa") {
			t.Errorf("the error shows a key: %v", err)
		}
	}
	if one, other := NewTokenKey(), NewTokenKey(); one == other {
		t.Error("two new keys are one")
	}
}

func TestProcessesFollowAChangeOfTheKeysOfTokens(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tokens, err := NewPlayerTokens(time.Now, keyA)
		if err != nil {
			t.Fatal(err)
		}
		before, _, err := tokens.Issue("p1")
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		text, failing := string(keyA), errors.New("away")
		say := func(to string, err error) {
			mu.Lock()
			defer mu.Unlock()
			text, failing = to, err
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go tokens.Follow(ctx, func(context.Context) (string, error) {
			mu.Lock()
			defer mu.Unlock()
			return text, failing
		}, slog.New(slog.DiscardHandler))

		good := func(token string) bool {
			time.Sleep(TokenKeysEvery)
			synctest.Wait()
			_, _, err := tokens.Player(token)
			return err == nil
		}
		if !good(before) {
			t.Error("a store that is away ends tokens")
		}
		if say("", nil); !good(before) {
			t.Error("keys that cannot be read end tokens")
		}
		if say(string(keyB)+","+string(keyA), nil); !good(before) {
			t.Error("the old key is not good beside the new one")
		}
		after, _, err := tokens.Issue("p1")
		if err != nil {
			t.Fatal(err)
		}
		if say(string(keyB), nil); good(before) || !good(after) {
			t.Error("with the new key alone, want tokens of the old one refused and others not")
		}
	})
}

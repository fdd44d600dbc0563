package live

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"
)

// maxTokenKeys is how many keys may be good at once: a change of keys needs two.
const maxTokenKeys = 4

// NewTokenKey makes a key for players' tokens, as [ParseTokenKeys] reads it.
func NewTokenKey() string { return rand.Text() + rand.Text() }

// ParseTokenKeys reads keys for players' tokens: texts of 32 visible ASCII characters or more, with commas between them.
// The first one signs. The error never repeats a key.
func ParseTokenKeys(text string) ([][]byte, error) {
	var keys [][]byte
	for part := range strings.SplitSeq(text, ",") {
		key := []byte(strings.TrimSpace(part))
		if len(key) < MinKeyBytes || bytes.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return nil, fmt.Errorf("must be keys of %d visible ASCII characters or more, with commas between them", MinKeyBytes)
		}
		keys = append(keys, key)
	}
	if len(keys) > maxTokenKeys {
		return nil, errors.New("must be four keys at most")
	}
	return keys, nil
}

// TokenKeysEvery is how often processes look at the keys that they share: as long after a change all of them know it.
const TokenKeysEvery = 10 * time.Second

// Follow goes by the keys that read returns, looked at again and again until the context ends. When there are none, or
// none that can be read, the present ones stay.
func (t *PlayerTokens) Follow(ctx context.Context, read func(context.Context) (string, error), log *slog.Logger) {
	ticks := time.NewTicker(TokenKeysEvery)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		if err := t.reread(ctx, read); err != nil && ctx.Err() == nil {
			log.WarnContext(ctx, "the keys of players' tokens stay as they are", "error", err)
		}
	}
}

func (t *PlayerTokens) reread(ctx context.Context, read func(context.Context) (string, error)) error {
	ctx, cancel := context.WithTimeout(ctx, TokenKeysEvery/2)
	defer cancel()
	text, err := read(ctx)
	if err != nil {
		return err
	}
	keys, err := ParseTokenKeys(text)
	if err != nil {
		return err
	}
	return t.Replace(keys...)
}

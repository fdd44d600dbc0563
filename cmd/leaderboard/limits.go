package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"leaderboard/store"
	"leaderboard/store/redisstore"
	"leaderboard/web/live"
)

// limitFlags are the settings of how much may be asked of the server, and of the keys of players' tokens.
type limitFlags struct {
	RateLimitPlayer  string `env:"LEADERBOARD_RATE_LIMIT_PLAYER" default:"120/10s" help:"Submissions of a player on a board; 0: no limit."`
	RateLimitKey     string `env:"LEADERBOARD_RATE_LIMIT_KEY" default:"6000/1s" help:"Calls of an API key that has no limit of its own; 0: no limit."`
	RateLimitAddress string `env:"LEADERBOARD_RATE_LIMIT_ADDRESS" default:"300/10s" help:"Reads without a key of an address; 0: no limit."`
	TokenKey         string `env:"LEADERBOARD_TOKEN_KEY" help:"Key that signs players' tokens, and behind a comma the one before, which is still good. Made and kept in the store if not given."`

	player, key, address store.Limit
	tokenKeys            [][]byte
}

// parse reads the flags that are texts.
func (f *limitFlags) parse() error {
	for _, flag := range []struct {
		name, text string
		to         *store.Limit
	}{
		{"--rate-limit-player", f.RateLimitPlayer, &f.player},
		{"--rate-limit-key", f.RateLimitKey, &f.key},
		{"--rate-limit-address", f.RateLimitAddress, &f.address},
	} {
		limit, err := store.ParseLimit(flag.text)
		if err != nil {
			return fmt.Errorf("%s must be a count and a window of 1s to 24h, such as 120/10s, or 0 for none", flag.name)
		}
		*flag.to = limit
	}
	if f.TokenKey == "" {
		return nil
	}
	keys, err := live.ParseTokenKeys(f.TokenKey)
	if err != nil {
		return fmt.Errorf("--token-key %w", err)
	}
	f.tokenKeys = keys
	return nil
}

// tokens returns what signs and checks players' tokens, and what keeps it going by the keys that all processes share.
func (f *limitFlags) tokens(
	ctx context.Context, kept *redisstore.Store, log *slog.Logger,
) (tokens *live.PlayerTokens, follow func(context.Context), err error) {
	if f.tokenKeys != nil {
		tokens, err := live.NewPlayerTokens(time.Now, f.tokenKeys...)
		return tokens, func(context.Context) {}, err
	}
	read := func(ctx context.Context) (string, error) { return kept.TokenKeys(ctx, live.NewTokenKey()) }
	text, err := read(ctx)
	if err != nil {
		return nil, nil, err
	}
	keys, err := live.ParseTokenKeys(text)
	if err != nil {
		return nil, nil, fmt.Errorf("the keys of players' tokens in the store %w", err)
	}
	tokens, err = live.NewPlayerTokens(time.Now, keys...)
	return tokens, func(ctx context.Context) { tokens.Follow(ctx, read, log) }, err
}

package live

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"leaderboard/store"
)

// Tokens tell which player a token stands for.
type Tokens interface {
	// Player returns the player and when the token expires, or an error for one that is forged, expired or of another
	// make. The error never repeats the token.
	Player(token string) (player store.PlayerID, expires time.Time, err error)
}

const (
	// TokenLife is how long a player's token is good for.
	TokenLife = 24 * time.Hour
	// MinKeyBytes is how long a signing key must be: HMAC-SHA256 is no stronger than its key.
	MinKeyBytes = 32

	tokenIssuer = "leaderboard"
	tokenFor    = "player"
)

// PlayerTokens signs and checks players' tokens: JWT with HMAC-SHA256. A token names the player as its subject and says
// that it is for a player, so that no other token signed with the same key can pass for one.
type PlayerTokens struct {
	keys   atomic.Pointer[[][]byte]
	now    func() time.Time
	parser *jwt.Parser
}

// NewPlayerTokens returns tokens that the first key signs. Those that any of the keys signed are good: to change keys,
// the new one is put first and the old one goes when its last token has expired.
func NewPlayerTokens(now func() time.Time, keys ...[]byte) (*PlayerTokens, error) {
	t := &PlayerTokens{now: now, parser: jwt.NewParser(
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), // first of all: the token must not choose
		jwt.WithIssuer(tokenIssuer), jwt.WithAudience(tokenFor),
		jwt.WithExpirationRequired(), jwt.WithTimeFunc(now),
	)}
	return t, t.Replace(keys...)
}

// Replace changes the keys, those of [NewPlayerTokens] for others of the same kind.
func (t *PlayerTokens) Replace(keys ...[]byte) error {
	if len(keys) == 0 {
		return errors.New("live: player tokens: no key")
	}
	for _, key := range keys {
		if len(key) < MinKeyBytes {
			return fmt.Errorf("live: player tokens: a key has %d bytes, must have at least %d", len(key), MinKeyBytes)
		}
	}
	t.keys.Store(&keys)
	return nil
}

// Issue returns a token with which its bearer is the player, and when it expires.
func (t *PlayerTokens) Issue(player store.PlayerID) (token string, expires time.Time, err error) {
	now := t.now().UTC().Truncate(time.Second) // the format has no finer time
	expires = now.Add(TokenLife)
	token, err = jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.RegisteredClaims{
		Issuer: tokenIssuer, Audience: jwt.ClaimStrings{tokenFor}, Subject: string(player),
		IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(expires),
	}).SignedString((*t.keys.Load())[0])
	if err != nil {
		return "", time.Time{}, fmt.Errorf("live: sign a player's token: %w", err)
	}
	return token, expires, nil
}

// errToken is all that is said about a bad token.
var errToken = errors.New("live: the player's token is not valid")

// Player implements [Tokens].
func (t *PlayerTokens) Player(token string) (store.PlayerID, time.Time, error) {
	for _, key := range *t.keys.Load() {
		var claims jwt.RegisteredClaims
		_, err := t.parser.ParseWithClaims(token, &claims, func(*jwt.Token) (any, error) { return key, nil })
		if err != nil {
			continue
		}
		player, err := store.ParsePlayerID(claims.Subject)
		if err != nil {
			break
		}
		return player, claims.ExpiresAt.Time, nil
	}
	return "", time.Time{}, errToken
}

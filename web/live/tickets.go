package live

import (
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"leaderboard/store"
)

// TicketLife is how long a ticket opens a socket: a page fetches one and says it at once.
const TicketLife = time.Minute

const ticketFor = "socket"

// ticketClaims are what a ticket says. Until is when the token ends for which it stands: so long the socket may stay,
// while the ticket itself opens no other after its minute.
type ticketClaims struct {
	jwt.RegisteredClaims
	Until *jwt.NumericDate `json:"until"`
}

// Ticket returns what opens a player's own socket for a minute, and nothing else: pages get it in place of the token,
// which stands in a cookie that they cannot read.
func (t *PlayerTokens) Ticket(player store.PlayerID, until time.Time) (ticket string, expires time.Time, err error) {
	now := t.now().UTC().Truncate(time.Second)
	expires = now.Add(TicketLife)
	if until.Before(expires) {
		expires = until.UTC()
	}
	ticket, err = jwt.NewWithClaims(jwt.SigningMethodHS256, ticketClaims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer: tokenIssuer, Audience: jwt.ClaimStrings{ticketFor}, Subject: string(player),
			IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(expires),
		},
		Until: jwt.NewNumericDate(until),
	}).SignedString((*t.keys.Load())[0])
	if err != nil {
		return "", time.Time{}, fmt.Errorf("live: sign a ticket: %w", err)
	}
	return ticket, expires, nil
}

// ForSockets returns the tokens as sockets take them: a ticket does as well.
func (t *PlayerTokens) ForSockets() Tokens {
	return socketTokens{t, jwt.NewParser(
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}),
		jwt.WithIssuer(tokenIssuer), jwt.WithAudience(ticketFor),
		jwt.WithExpirationRequired(), jwt.WithTimeFunc(t.now),
	)}
}

type socketTokens struct {
	tokens  *PlayerTokens
	tickets *jwt.Parser
}

// Player implements [Tokens].
func (s socketTokens) Player(token string) (store.PlayerID, time.Time, error) {
	if player, expires, err := s.tokens.Player(token); err == nil {
		return player, expires, nil
	}
	for _, key := range *s.tokens.keys.Load() {
		var claims ticketClaims
		_, err := s.tickets.ParseWithClaims(token, &claims, func(*jwt.Token) (any, error) { return key, nil })
		if err != nil {
			continue
		}
		player, err := store.ParsePlayerID(claims.Subject)
		if err != nil || claims.Until == nil {
			break
		}
		return player, claims.Until.Time, nil
	}
	return "", time.Time{}, errToken
}

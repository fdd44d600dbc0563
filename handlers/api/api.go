// Package api answers the JSON API. Its handlers do three things: parse a request into domain values, act by one call
// of a store, present the outcome. They return errors as they are; what a caller sees of an error is decided in
// package web.
//
// What is answered often (results of scores, entries, whole pages of the top) is written by hand into byte slices,
// without reflection.
package api

import (
	"slices"

	"github.com/gofiber/fiber/v2"

	"leaderboard/store"
)

// Problem is what a caller is told of an error: the body of a problem reply, or an item of a batch's.
type Problem struct {
	Status int
	Code   string // stable, for programs
	Detail string // for people
	Field  string // at fault; empty where none is
}

// Key is an API key as far as a request needs it: never the key itself.
type Key struct {
	ID     string
	Name   string
	Scopes []store.Scope
	Boards []store.BoardID // that it may touch; empty: all
	Limit  store.Limit     // of its calls; zero: that of the server
}

// Has reports whether the key carries a scope.
func (k *Key) Has(scope store.Scope) bool { return slices.Contains(k.Scopes, scope) }

// Touches reports whether the key may touch a board.
func (k *Key) Touches(board store.BoardID) bool {
	return len(k.Boards) == 0 || slices.Contains(k.Boards, board)
}

type keyLocal struct{}

// SetKey remembers with whose key a request came.
func SetKey(c *fiber.Ctx, key *Key) { c.Context().SetUserValue(keyLocal{}, key) }

// keyOf returns the key that a request came with, or an empty one without any scope.
func keyOf(c *fiber.Ctx) *Key {
	if key, ok := c.Context().UserValue(keyLocal{}).(*Key); ok {
		return key
	}
	return &Key{}
}

// isAdmin reports whether a request may see and do on a board what only admins may.
func isAdmin(c *fiber.Ctx, board store.BoardID) bool {
	key := keyOf(c)
	return key.Has(store.ScopeAdmin) && key.Touches(board)
}

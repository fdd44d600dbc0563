// Package api answers the JSON API. Its handlers do three things: parse a request into domain values, act by one call
// of a store, present the outcome. They return errors as they are; what a caller sees of an error is decided in
// package web.
//
// What is answered often (results of scores, entries, whole pages of the top) is written by hand into byte slices,
// without reflection.
package api

import (
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

// Scope is a right that an API key may carry.
type Scope string

// The scopes.
const (
	ScopeScores  Scope = "scores:write"
	ScopePlayers Scope = "players:token"
	ScopeAdmin   Scope = "admin"
)

// Key is an API key as far as handlers need it: never the key itself.
type Key struct {
	ID     string
	Name   string
	Scopes []Scope
	Boards []store.BoardID // that it may touch; empty: all
}

// Has reports whether the key carries a scope.
func (k *Key) Has(scope Scope) bool {
	for _, s := range k.Scopes {
		if s == scope {
			return true
		}
	}
	return false
}

// Touches reports whether the key may touch a board.
func (k *Key) Touches(board store.BoardID) bool {
	for _, b := range k.Boards {
		if b == board {
			return true
		}
	}
	return len(k.Boards) == 0
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
	return key.Has(ScopeAdmin) && key.Touches(board)
}

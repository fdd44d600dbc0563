package redisstore

import (
	"context"
	"embed"
	"fmt"

	"github.com/redis/go-redis/v9"
)

//go:embed lua/*.lua
var sources embed.FS

// script is a file under lua/. Reads tells that it changes nothing.
type script struct {
	run   *redis.Script
	name  string
	reads bool
}

// scripts are all scripts of a store, each behind the prelude.
type scripts struct {
	activity, audit, ban, board, close, create, delete, erase, eraseKept, lease, lookup, prune, rank, ranges, register, remove, renewEpoch, reopen,
	revokeKey, search, submit, unban, unindex, update, useKey, view script

	jobs   jobScripts
	inbox  inboxScripts
	outbox outboxScripts
	payout payoutScripts
}

// newScripts panics when a file is missing: the files are part of the program.
func newScripts() scripts {
	prelude := source("prelude")
	writes := func(name string) script { return newScript(prelude, name) }
	owing := func(name string) script { return newScript(prelude+source("owed_prelude"), name) }
	reads := func(name string) script {
		s := writes(name)
		s.reads = true
		return s
	}
	return scripts{
		activity: reads("activity"), audit: writes("audit"), ban: writes("ban"), board: reads("board"),
		close: owing("close"), create: writes("create"), delete: writes("delete"), erase: writes("erase"),
		eraseKept: writes("erase_kept"), lease: writes("lease"), lookup: reads("lookup"), prune: writes("prune"), rank: reads("rank"), ranges: reads("range"),
		register: writes("register"), remove: writes("remove"), renewEpoch: writes("renew_epoch"), reopen: writes("reopen"),
		revokeKey: writes("key_revoke"), search: reads("search"), submit: owing("submit"), unban: writes("unban"),
		unindex: writes("unindex"), update: writes("update"), useKey: writes("key_used"),
		view: reads("view"), jobs: newJobScripts(), inbox: newInboxScripts(), outbox: newOutboxScripts(), payout: newPayoutScripts(),
	}
}

// newScript returns the script of a name, with what stands before it.
func newScript(before, name string) script {
	return script{run: redis.NewScript(before + source(name)), name: name}
}

func source(name string) string {
	text, err := sources.ReadFile("lua/" + name + ".lua")
	if err != nil {
		panic(err)
	}
	return string(text)
}

// call runs a script and returns its reply, a list for each of ours but the ones that count. It is never repeated:
// nobody knows what a call whose reply is lost has done.
func (s *Store) call(ctx context.Context, sc script, keys []string, args ...any) (any, error) {
	reply, err := sc.run.Run(ctx, s.client, keys, args...).Result()
	if !sc.reads {
		s.afterWrite()
	}
	if err != nil {
		return nil, fail(sc.name, err)
	}
	return reply, nil
}

// list is call for scripts that answer with a list headed by a word.
func (s *Store) list(ctx context.Context, sc script, keys []string, args ...any) (word string, reply []any, err error) {
	raw, err := s.call(ctx, sc, keys, args...)
	if err != nil {
		return "", nil, err
	}
	reply, _ = raw.([]any)
	if len(reply) == 0 {
		return "", nil, fmt.Errorf("redisstore: %s: reply %v", sc.name, raw)
	}
	word, _ = reply[0].(string)
	return word, reply[1:], nil
}

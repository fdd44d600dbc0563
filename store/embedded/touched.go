package embedded

import (
	"slices"
	"sync"

	"github.com/alicebob/miniredis/v2/server"
)

// touched remembers which keys may have changed since the last snapshot, so that the next one reads only those: nobody
// is served while it reads.
//
// A command is seen before it is done. Inside a script that makes no difference: a snapshot comes before the script or
// after it. The keys of a client's command count as touched until the client sends its next one, and those of a
// transaction until it is over: a BLMOVE may take effect long after it was sent.
type touched struct {
	mu      sync.Mutex
	keys    map[string]struct{}
	clients map[*server.Peer]*flight
}

// flight is what a client has on its way.
type flight struct {
	keys        []string
	transaction bool
}

// begin notes a client.
func (t *touched) begin(peer *server.Peer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clients[peer] = &flight{}
}

// end forgets a client whose last command is over.
func (t *touched) end(peer *server.Peer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.add(t.clients[peer].keys)
	delete(t.clients, peer)
}

// see notes a command that may write keys, and reports whether a client sent it, as opposed to a script.
func (t *touched) see(peer *server.Peer, command string, keys []string) (client bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f, client := t.clients[peer]
	if !client {
		t.add(keys)
		return false
	}
	if !f.transaction {
		t.add(f.keys) // the command before this one is over
		f.keys = f.keys[:0]
	}
	f.keys = append(f.keys, keys...)
	switch command {
	case "MULTI":
		f.transaction = true
	case "EXEC", "DISCARD":
		f.transaction = false // what it did is added with the next command
	}
	return true
}

// add notes keys. The caller holds the lock.
func (t *touched) add(keys []string) {
	for _, key := range keys {
		t.keys[key] = struct{}{}
	}
}

// take returns what was touched since the last call. It is called from a script.
func (t *touched) take() map[string]struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	taken := t.keys
	t.keys = make(map[string]struct{})
	for _, f := range t.clients {
		for _, key := range f.keys {
			taken[key] = struct{}{}
		}
	}
	return taken
}

// keysOf returns the keys that a command may write, and maybe other words: a key too many costs a moment, one too few
// would be missing from the disk.
func keysOf(srv *server.Server, command string, args []string) []string {
	switch {
	case len(args) == 0 || slices.Contains(writeNothing, command) || srv.IsReadOnlyCommand(command):
		return nil
	case slices.Contains(writeFirst, command):
		return args[:1]
	}
	return args
}

var (
	// writeNothing are commands that write no key by themselves; those that miniredis knows as such are not listed.
	writeNothing = []string{
		"EVALSHA", "EVAL", "SCRIPT", "PUBLISH", "SUBSCRIBE", "PSUBSCRIBE", "UNSUBSCRIBE", "PING", "HELLO", "TIME", "INFO",
		"ZRANK", "ZREVRANK", "ZRANGEBYSCORE", "ZREVRANGEBYSCORE", "ZRANGEBYLEX", "ZREVRANGEBYLEX",
	}
	// writeFirst are commands that write one key, the first argument, and come often.
	writeFirst = []string{
		"ZADD", "ZREM", "HSET", "HDEL", "HINCRBY", "SET", "LPUSH", "LTRIM", "PEXPIRE", "PFADD", "SADD", "SREM",
		"RPUSH", "LREM", "LPOP", "RPOP", "INCR", "INCRBY", "EXPIRE", "PEXPIREAT", "ZREMRANGEBYRANK", "ZREMRANGEBYSCORE",
	}
)

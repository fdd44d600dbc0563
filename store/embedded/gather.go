package embedded

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2/server"
)

// gatherCommand is a command that only this package sends, from a script: there it sees the store at one moment.
const gatherCommand = "LEADERBOARD.GATHER"

// moment is the store at one time.
type moment struct {
	at      time.Time
	keys    []string          // all of them, sorted
	records map[string]record // of the keys that were asked for
}

// record is a key as miniredis tells it.
type record struct {
	key, kind string
	expires   time.Time // zero: never
	reply     string    // its value, as it goes over the wire
}

// readers are the commands that read a whole value.
var readers = map[string][]string{
	"string": {"GET"},
	"hash":   {"HGETALL"},
	"list":   {"LRANGE", "0", "-1"},
	"set":    {"SMEMBERS"},
	"zset":   {"ZRANGE", "0", "-1", "WITHSCORES"},
}

// gather looks at the store at one moment, and at the keys that have changed since the last time or are not known. Nothing else is
// done meanwhile, so whatever can wait waits: replies are kept as they come.
func (s *Server) gather(known func(key string) bool) (moment, error) {
	var now moment
	var err error
	look := func(script *server.Peer) { now, err = s.read(script, known) }
	s.look.Store(&look)
	s.hook.clock.walking.Lock() // what is left of a time to live and what it counts from belong together
	defer s.hook.clock.walking.Unlock()
	reply := send(s.srv, nil, bare, []string{"EVAL", "return redis.call('" + gatherCommand + "')", "0"})
	if err == nil && reply != "+OK\r\n" {
		err = fmt.Errorf("miniredis answers %q", strings.TrimSpace(reply))
	}
	return now, err
}

// onGather is what the command does.
func (s *Server) onGather(script *server.Peer, _ string, _ []string) {
	if look := s.look.Swap(nil); look != nil {
		(*look)(script)
	}
	script.WriteOK()
}

// read looks at the store in the name of a script.
func (s *Server) read(script *server.Peer, known func(key string) bool) (moment, error) {
	touched := s.hook.touched.take()
	keys, err := values(ask(s.srv, script, "KEYS", "*"))
	if err != nil {
		return moment{}, err
	}
	now := moment{at: time.Now(), keys: keys, records: make(map[string]record, len(touched))}
	for _, key := range keys {
		if _, fresh := touched[key]; !fresh && known(key) {
			continue
		}
		if now.records[key], err = s.record(script, key); err != nil {
			return moment{}, fmt.Errorf("key %q: %w", key, err)
		}
	}
	return now, nil
}

func (s *Server) record(script *server.Peer, key string) (record, error) {
	r := record{key: key, kind: strings.Trim(ask(s.srv, script, "TYPE", key), "+\r\n")}
	left, err := strconv.ParseInt(strings.Trim(ask(s.srv, script, "PTTL", key), ":\r\n"), 10, 64)
	if err != nil {
		return record{}, fmt.Errorf("when it expires: %w", err)
	}
	if left >= 0 {
		r.expires = s.hook.clock.counted().Add(time.Duration(left) * time.Millisecond)
	}
	if read, ok := readers[r.kind]; ok {
		r.reply = ask(s.srv, script, append([]string{read[0], key}, read[1:]...)...)
	} else if r.kind != "hll" {
		return record{}, fmt.Errorf("its type is %s, which cannot be kept", r.kind)
	}
	return r, nil
}

// values reads a reply that is a string or a list of them.
func values(reply string) ([]string, error) {
	got, err := server.ParseReply(bufio.NewReader(strings.NewReader(reply)))
	if err != nil {
		return nil, err
	}
	switch got := got.(type) {
	case string:
		return []string{got}, nil
	case []any:
		texts := make([]string, len(got))
		for i, text := range got {
			texts[i], _ = text.(string)
		}
		return texts, nil
	}
	return nil, fmt.Errorf("unexpected reply %.40q", reply)
}

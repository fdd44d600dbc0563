package embedded

import (
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
)

// walkShare bounds what expiry costs: after a walk through the keys, nothing expires for this many times as long as
// the walk took.
const walkShare = 20

// farthest is the longest time to live in milliseconds, 200 years: miniredis counts in nanoseconds, and its count
// overflows not much later.
const farthest = 200 * 365 * 24 * 3600 * 1000

// clock lets keys expire. miniredis can do it by itself (ClockTTL), but then it walks through all keys, sorted, before
// each command of each script: at ten thousand players that makes a submission five times as slow. Here the walk is
// done between scripts, and less often the longer it takes. So a key may go a moment late, but never early: what has
// passed since the last walk is added to each new time to live, as the next walk will take it off. Inside one script
// nothing expires, which is as Redis has it.
type clock struct {
	m     *miniredis.Miniredis
	start time.Time
	// walked is the time since the start that has been taken off the times to live. Scripts read it while they hold the
	// lock that a walk waits for, so it has none.
	walked atomic.Int64

	walking sync.Mutex
	quiet   time.Time // no walk before this time
}

func newClock(m *miniredis.Miniredis) *clock { return &clock{m: m, start: time.Now()} }

// tick lets keys expire whose time has come. It must not be called from inside a script.
func (c *clock) tick() {
	if !c.walking.TryLock() {
		return // somebody else does it
	}
	defer c.walking.Unlock()
	begin := time.Now()
	passed := begin.Sub(c.counted()).Truncate(time.Millisecond)
	if passed <= 0 || begin.Before(c.quiet) {
		return
	}
	c.m.FastForward(passed)
	c.walked.Add(int64(passed)) // after the walk: a script between the two may give a key too much time, not too little
	end := time.Now()
	c.quiet = end.Add(walkShare * end.Sub(begin))
}

// counted returns the time that the times to live in miniredis count from.
func (c *clock) counted() time.Time { return c.start.Add(time.Duration(c.walked.Load())) }

// lag returns how many milliseconds have passed since the last walk, rounded up.
func (c *clock) lag() int64 {
	return (time.Since(c.counted()) + time.Millisecond - 1).Milliseconds()
}

// adjust makes a command that sets or reads a time to live mean what it says: its arguments are changed where they
// stand, and go on to miniredis unless the command is done. Arguments that make no sense are left for miniredis to
// refuse. TTL and EXPIRETIME are left as well: they speak of seconds.
func (c *clock) adjust(srv *server.Server, peer *server.Peer, command string, args []string) (done bool) {
	switch command {
	case "PEXPIRE", "PSETEX":
		if len(args) > 1 {
			args[1] = c.stretch(args[1])
		}
	case "EXPIRE", "EXPIREAT", "PEXPIREAT":
		return c.instead(srv, peer, "PEXPIRE", command, args)
	case "SETEX":
		return c.instead(srv, peer, "PSETEX", "EXPIRE", args)
	case "SET":
		c.options(args, 2)
	case "GETEX":
		c.options(args, 1)
	case "PTTL", "PEXPIRETIME":
		return c.read(srv, peer, command, args)
	}
	return false
}

// stretch adds the lag to a time to live in milliseconds.
func (c *clock) stretch(text string) string {
	ms, err := strconv.ParseInt(text, 10, 64)
	if err != nil || ms <= 0 {
		return text
	}
	return strconv.FormatInt(min(ms, farthest)+c.lag(), 10)
}

// instead sends another command, which takes milliseconds, for one that counts in the given way.
func (c *clock) instead(srv *server.Server, peer *server.Peer, other, count string, args []string) (done bool) {
	if len(args) < 2 {
		return false
	}
	ms, ok := milliseconds(count, args[1])
	if !ok {
		return false
	}
	srv.Dispatch(peer, append([]string{other, args[0], ms}, args[2:]...)) // comes back to adjust
	return true
}

// options looks for a time to live among the options of SET and GETEX.
func (c *clock) options(args []string, first int) {
	counts := map[string]string{"EX": "EXPIRE", "PX": "PEXPIRE", "EXAT": "EXPIREAT", "PXAT": "PEXPIREAT"}
	for i := first; i+1 < len(args); i++ {
		count, ok := counts[strings.ToUpper(args[i])]
		if !ok {
			continue
		}
		if ms, ok := milliseconds(count, args[i+1]); ok && !strings.HasPrefix(ms, "-") {
			args[i], args[i+1] = "PX", c.stretch(ms)
		}
		return
	}
}

// milliseconds returns how long a time to live is from now, as the argument of the given command counts it.
func milliseconds(command, text string) (string, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return "", false
	}
	if command == "EXPIRE" || command == "EXPIREAT" {
		n = min(max(n, -farthest), farthest) * 1000
	}
	if strings.HasSuffix(command, "AT") {
		n -= time.Now().UnixMilli()
	}
	return strconv.FormatInt(n, 10), true
}

// read answers with what is left, without the lag.
func (c *clock) read(srv *server.Server, peer *server.Peer, command string, args []string) (done bool) {
	reply := ask(srv, peer, append([]string{command}, args...)...)
	ms, err := strconv.ParseInt(strings.TrimSpace(strings.TrimPrefix(reply, ":")), 10, 64)
	if !strings.HasPrefix(reply, ":") || err != nil || ms < 0 {
		peer.WriteRaw(reply) // an error, no such key, or no time to live
		return true
	}
	peer.WriteInt(int(max(ms-c.lag(), 0)))
	return true
}

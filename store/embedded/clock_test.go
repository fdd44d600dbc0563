package embedded

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
)

// begin starts a server in the bubble of a test. That the bubble ends shows that no goroutine stays behind.
func begin(t *testing.T) *Server {
	t.Helper()
	s, err := start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// expirers give key k a time to live of ten seconds, each in its own way.
func expirers() map[string][]any {
	at := time.Now().Add(10 * time.Second)
	return map[string][]any{
		"EXPIRE":        {"EXPIRE", "k", "10"},
		"PEXPIRE":       {"PEXPIRE", "k", "10000"},
		"EXPIREAT":      {"EXPIREAT", "k", at.Unix()},
		"PEXPIREAT":     {"PEXPIREAT", "k", at.UnixMilli()},
		"SET EX":        {"SET", "k", "v", "EX", "10"},
		"SET PX":        {"SET", "k", "v", "XX", "px", "10000"},
		"SET EXAT":      {"SET", "k", "v", "EXAT", at.Unix()},
		"SET PXAT":      {"SET", "k", "v", "PXAT", at.UnixMilli()},
		"SETEX":         {"SETEX", "k", "10", "v"},
		"PSETEX":        {"PSETEX", "k", "10000", "v"},
		"GETEX":         {"GETEX", "k", "EX", "10"},
		"EXPIRE NX":     {"EXPIRE", "k", "10", "NX"},
		"in a script":   {"EVAL", "return redis.call('PEXPIRE', KEYS[1], ARGV[1])", "1", "k", "10000"},
		"script number": {"EVAL", "return redis.call('SET', KEYS[1], 'v', 'PX', 10000)", "1", "k"},
	}
}

func TestKeysExpireOnTime(t *testing.T) {
	t.Parallel()
	for name := range expirers() {
		for _, walks := range []string{"walks are quick", "walks are slow"} {
			t.Run(name+", "+walks, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					s := begin(t)
					client := s.Client()
					client.Set(t.Context(), "k", "v", 0)
					if walks == "walks are slow" { // as if the last one had taken long
						s.hook.clock.quiet = time.Now().Add(5 * time.Second)
						time.Sleep(4 * time.Second)
					}
					if err := client.Do(t.Context(), expirers()[name]...).Err(); err != nil {
						t.Fatal(err)
					}
					checkLeft(t, client, 10*time.Second)
					time.Sleep(3 * time.Second)
					checkLeft(t, client, 7*time.Second)
					time.Sleep(7*time.Second - 2*time.Millisecond)
					if got := client.Exists(t.Context(), "k").Val(); got != 1 {
						t.Error("the key went before its time")
					}
					time.Sleep(4 * time.Millisecond)
					if got := client.Exists(t.Context(), "k").Val(); got != 0 {
						t.Errorf("the key is there after its time, with %v left", client.PTTL(t.Context(), "k").Val())
					}
				})
			})
		}
	}
}

func checkLeft(t *testing.T, client redis.UniversalClient, want time.Duration) {
	t.Helper()
	const exact = 2 * time.Millisecond
	if got := client.PTTL(t.Context(), "k").Val(); got < want-exact || got > want+exact {
		t.Errorf("PTTL says %v, want %v", got, want)
	}
	at := time.UnixMilli(client.PExpireTime(t.Context(), "k").Val().Milliseconds())
	if got := time.Until(at); got < want-exact || got > want+exact {
		t.Errorf("PEXPIRETIME says in %v, want %v", got, want)
	}
}

func TestOddTimesToLiveAreAnsweredAsByRedis(t *testing.T) {
	t.Parallel()
	s := begin(t)
	client := s.Client()
	farOff := strconv.FormatInt(time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC).UnixMilli(), 10)
	for _, c := range []struct {
		command []any
		there   bool // the key, afterwards
		fails   bool
	}{
		{[]any{"EXPIRE", "k", "-1"}, false, false},
		{[]any{"PEXPIRE", "k", "0"}, false, false},
		{[]any{"PEXPIREAT", "k", "1000"}, false, false},
		{[]any{"PEXPIREAT", "k", farOff}, true, false},
		{[]any{"EXPIRE", "k", "9223372036854"}, true, false},
		{[]any{"SET", "k", "v", "PXAT", farOff}, true, false},
		{[]any{"EXPIRE", "k", "x"}, true, true},
		{[]any{"EXPIRE", "k"}, true, true},
		{[]any{"PEXPIRE", "k", "10", "sideways"}, true, true},
		{[]any{"SET", "k", "v", "EX"}, true, true},
		{[]any{"SET", "k", "v", "EX", "0"}, true, true},
		{[]any{"SET", "k", "v", "PX", "-5"}, true, true},
		{[]any{"SET", "k", "EX"}, true, false},
		{[]any{"SET", "k", "EX", "PX", "1000"}, true, false},
		{[]any{"PTTL"}, true, true},
		{[]any{"GETEX", "k", "PERSIST"}, true, false},
	} {
		client.Set(t.Context(), "k", "v", 0)
		err := client.Do(t.Context(), c.command...).Err()
		if (err != nil) != c.fails {
			t.Errorf("%v: got error %v, want one: %v", c.command, err, c.fails)
		}
		if got := client.Exists(t.Context(), "k").Val() == 1; got != c.there {
			t.Errorf("%v: the key is there: %v, want %v", c.command, got, c.there)
		}
	}
	if got := client.PTTL(t.Context(), "nowhere").Val(); got != -2 {
		t.Errorf("PTTL of a key that is not there: got %d, want -2", got)
	}
	client.Set(t.Context(), "k", "v", 0)
	if got := client.PTTL(t.Context(), "k").Val(); got != -1 {
		t.Errorf("PTTL of a key that stays: got %d, want -1", got)
	}
}

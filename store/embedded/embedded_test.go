package embedded_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"leaderboard/store/embedded"
	"leaderboard/store/storetest"
)

var quiet = slog.New(slog.DiscardHandler)

func open(tb testing.TB, dir string) *embedded.Server {
	tb.Helper()
	s, err := embedded.Open(dir, quiet)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { s.Close() })
	return s
}

func closeNow(tb testing.TB, s *embedded.Server) {
	tb.Helper()
	if err := s.Close(); err != nil {
		tb.Fatal(err)
	}
}

// odd are texts that a format could stumble over.
var odd = []string{
	"", " ", "\r\n", "a\r\nb", "\x00", "\xff\xfe", "*2\r\n$4\r\nECHO\r\n", "leaderboard-snapshot sha256:", "🧙🏽‍♂️", "שלום", "玩家 1",
	strings.Repeat("long ", 100_000),
}

// fill writes every type that a snapshot keeps.
func fill(t *testing.T, client redis.UniversalClient) {
	t.Helper()
	ctx := t.Context()
	for i, text := range odd {
		client.Set(ctx, "string:"+strconv.Itoa(i), text, 0)
		client.Set(ctx, "key:"+text, "v", 0)
		client.HSet(ctx, "hash", text, text)
		client.RPush(ctx, "list", text)
		client.SAdd(ctx, "set", text)
		client.ZAdd(ctx, "zset", redis.Z{Score: float64(i), Member: text})
	}
	var many []any // more than one command of a snapshot takes
	for i := range 1000 {
		many = append(many, i)
	}
	client.RPush(ctx, "long list", many...)
	client.HSet(ctx, "long hash", many...)
	client.Do(ctx, append([]any{"ZADD", "long zset"}, many...)...)
	client.SAdd(ctx, "long set", many...)
	for _, score := range []string{
		"9007199254740991", "-9007199254740991", "9007199254740992", "1785600000123456", "0", "0.1", "-1.5", "1e300", "inf", "-inf",
	} {
		client.Do(ctx, "ZADD", "scores", score, "member "+score)
	}
	for i := range 100 {
		client.PFAdd(ctx, "uniques", "player "+strconv.Itoa(i%20)) // so few are counted exactly
	}
	client.Eval(ctx, "redis.call('PFADD', KEYS[1], 'a', 'b')", []string{"uniques of a script"})
	client.Set(ctx, "in a day", "v", 24*time.Hour)
	client.HSet(ctx, "hash in an hour", "f", "v")
	client.PExpire(ctx, "hash in an hour", time.Hour)
	client.Do(ctx, "PEXPIREAT", "string:0", time.Now().Add(90*24*time.Hour).UnixMilli())
	client.PFAdd(ctx, "uniques in a week", "p")
	client.Expire(ctx, "uniques in a week", 7*24*time.Hour)
	client.Set(ctx, "gone soon", "v", time.Millisecond)
	if _, err := client.Ping(ctx).Result(); err != nil {
		t.Fatal(err)
	}
	// A key that is over may be seen a moment longer: what is compared later must not hold it.
	for deadline := time.Now().Add(10 * time.Second); client.Exists(ctx, "gone soon").Val() != 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("a key with a millisecond to live does not go")
		}
	}
}

// contents returns everything in a Redis in words, with what is left of times to live in seconds.
func contents(t *testing.T, client redis.UniversalClient) map[string]any {
	t.Helper()
	ctx := t.Context()
	got := make(map[string]any)
	for _, key := range client.Keys(ctx, "*").Val() {
		var value any
		kind := client.Type(ctx, key).Val()
		switch {
		case strings.HasPrefix(key, "uniques"): // miniredis and Redis call a HyperLogLog by other names
			kind, value = "hll", client.PFCount(ctx, key).Val()
		case kind == "string":
			value = client.Get(ctx, key).Val()
		case kind == "hash":
			value = client.HGetAll(ctx, key).Val()
		case kind == "list":
			value = client.LRange(ctx, key, 0, -1).Val()
		case kind == "set":
			value = client.SMembersMap(ctx, key).Val()
		case kind == "zset":
			value = client.ZRangeWithScores(ctx, key, 0, -1).Val()
		}
		if kind == "none" {
			continue // over since it was listed
		}
		left := client.PTTL(ctx, key).Val()
		got[key] = fmt.Sprintf("%s %s %v", kind, left.Round(time.Minute), value)
	}
	return got
}

func TestASnapshotBringsEverythingBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := open(t, dir)
	if first.Loaded() {
		t.Error("an empty folder counts as a snapshot")
	}
	fill(t, first.Client())
	want := contents(t, first.Client())
	closeNow(t, first)

	for range 2 { // the second time from what the first one wrote
		again := open(t, dir)
		if !again.Loaded() {
			t.Error("the snapshot was not read")
		}
		if diff := cmp.Diff(want, contents(t, again.Client())); diff != "" {
			t.Errorf("after the restart (-want +got):\n%.2000s", diff)
		}
		closeNow(t, again)
	}
	if len(want) < 30 {
		t.Errorf("only %d keys were compared", len(want))
	}
}

func TestASnapshotMovesIntoARealRedisByPipe(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("redis-cli"); err != nil {
		storetest.Require(t, "redis")
	}
	server := storetest.Server(t)
	dir := t.TempDir()
	s := open(t, dir)
	fill(t, s.Client())
	want := contents(t, s.Client())
	closeNow(t, s)

	_, port, _ := strings.Cut(server.Addr(), ":")
	real := server.Client(t)
	for range 2 { // a second time changes nothing
		snapshot, err := os.Open(filepath.Join(dir, "leaderboard.resp"))
		if err != nil {
			t.Fatal(err)
		}
		pipe := exec.Command("redis-cli", "-p", port, "--pipe")
		pipe.Stdin = snapshot
		out, err := pipe.CombinedOutput()
		snapshot.Close()
		if err != nil || !bytes.Contains(out, []byte("errors: 0,")) {
			t.Fatalf("redis-cli --pipe: %v\n%s", err, out)
		}
		if diff := cmp.Diff(want, contents(t, real)); diff != "" {
			t.Errorf("in the real Redis (-want +got):\n%.2000s", diff)
		}
	}
}

func TestADamagedSnapshotIsRefusedAndKept(t *testing.T) {
	t.Parallel()
	good := t.TempDir()
	s := open(t, good)
	s.Client().Set(t.Context(), "k", "v", 0)
	closeNow(t, s)
	whole, err := os.ReadFile(filepath.Join(good, "leaderboard.resp"))
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"empty":         {},
		"cut short":     whole[:len(whole)-1],
		"cut in half":   whole[:len(whole)/2],
		"with a tail":   append(bytes.Clone(whole), "\r\n"...),
		"one byte off":  bytes.Replace(whole, []byte("\r\nv\r\n"), []byte("\r\nw\r\n"), 1),
		"a text":        []byte("hello\n"),
		"an RDB file":   []byte("REDIS0011\xfa\x09redis-ver"),
		"other's pipes": []byte("*1\r\n$8\r\nFLUSHALL\r\n"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file := filepath.Join(dir, "leaderboard.resp")
			if err := os.WriteFile(file, content, 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := embedded.Open(dir, quiet)
			if err == nil {
				s.Close()
				t.Fatal("it was read")
			}
			if !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), "damaged") {
				t.Errorf("the error does not say what is wrong with which file: %v", err)
			}
			if left, err := os.ReadFile(file); err != nil || !bytes.Equal(left, content) {
				t.Errorf("the file is no longer what it was: %q, %v", left, err)
			}
			if err := os.WriteFile(file, whole, 0o600); err != nil { // the operator puts a good one there
				t.Fatal(err)
			}
			if !open(t, dir).Loaded() {
				t.Error("the good one was not read")
			}
		})
	}
}

func TestAFolderIsForOneProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := open(t, dir)
	first.Client().Set(t.Context(), "k", "v", 0)
	s, err := embedded.Open(dir, quiet)
	if err == nil {
		s.Close()
		t.Fatal("a second one has the same folder")
	}
	if !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "in use by another process") {
		t.Errorf("the error does not say who has which folder: %v", err)
	}
	closeNow(t, first)
	if got := open(t, dir).Client().Get(t.Context(), "k").Val(); got != "v" {
		t.Errorf("after the first has ended: got %q, want v", got)
	}
}

func TestWithoutAFolderNothingIsKept(t *testing.T) {
	t.Parallel()
	s := open(t, "")
	s.Client().Set(t.Context(), "k", "v", 0)
	s.Changed()
	if s.Loaded() {
		t.Error("something was read")
	}
	closeNow(t, s)
	closeNow(t, s)
	if err := s.Client().Ping(t.Context()).Err(); err == nil {
		t.Error("a closed server answers")
	}
}

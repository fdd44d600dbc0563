package embedded_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"leaderboard/store/embedded"
)

// The child counts, says so, and is killed in the middle of it.
func TestAKillLosesAtMostTheLastSecond(t *testing.T) {
	t.Parallel()
	if dir := os.Getenv("EMBEDDED_CHILD"); dir != "" {
		count(dir)
	}
	dir := t.TempDir()
	child := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
	child.Env = append(os.Environ(), "EMBEDDED_CHILD="+dir)
	said, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	type word struct {
		n  int
		at time.Time
	}
	var words []word
	var first time.Time
	for {
		var n int
		if _, err := fmt.Fscan(said, &n); err != nil {
			break
		}
		words = append(words, word{n, time.Now()})
		if first.IsZero() {
			first = time.Now()
		}
		if time.Since(first) > 2500*time.Millisecond {
			child.Process.Kill()
		}
	}
	child.Wait()
	killed := words[len(words)-1].at
	got, err := open(t, dir).Client().Get(t.Context(), "count").Int()
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range words {
		if killed.Sub(w.at) > time.Second && w.n > got {
			t.Fatalf("%d was acknowledged %v before the kill, and only %d came back", w.n, killed.Sub(w.at), got)
		}
	}
}

// count runs in the child, until it is killed.
func count(dir string) {
	s, err := embedded.Open(dir, quiet)
	if err != nil {
		panic(err)
	}
	for {
		n, err := s.Client().Incr(context.Background(), "count").Result()
		if err != nil {
			panic(err)
		}
		s.Changed()
		fmt.Println(n)
	}
}

func TestASnapshotShowsOneMoment(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	ctx, stop := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	for i := range 4 {
		writers.Go(func() {
			// Both keys are moved by one script, so they are equal at every moment.
			for ctx.Err() == nil {
				s.Client().Eval(ctx, "redis.call('INCR', KEYS[1]) redis.call('LPUSH', KEYS[2], 'x')",
					[]string{fmt.Sprintf("n%d", i), fmt.Sprintf("l%d", i)})
				s.Changed()
			}
		})
	}
	defer writers.Wait()
	defer stop()
	file := filepath.Join(dir, "leaderboard.resp")
	var last []byte
	for range 4 {
		copied := next(t, file, last)
		last = copied
		other := t.TempDir()
		if err := os.WriteFile(filepath.Join(other, "leaderboard.resp"), copied, 0o600); err != nil {
			t.Fatal(err)
		}
		restored := open(t, other)
		for i := range 4 {
			n, _ := restored.Client().Get(t.Context(), fmt.Sprintf("n%d", i)).Int64()
			l := restored.Client().LLen(t.Context(), fmt.Sprintf("l%d", i)).Val()
			if n != l || n == 0 {
				t.Errorf("a snapshot has %d and %d, want two equal ones", n, l)
			}
		}
	}
}

// next waits for a snapshot that is not the last one.
func next(t *testing.T, file string, last []byte) []byte {
	t.Helper()
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	for deadline := time.After(10 * time.Second); ; {
		select {
		case <-deadline:
			t.Fatal("no new snapshot is written")
		case <-poll.C:
		}
		if now, err := os.ReadFile(file); err == nil && !bytes.Equal(now, last) {
			return now
		}
	}
}

func TestATroubledDiskIsSaidAndTriedAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var log syncBuffer
	s, err := embedded.Open(dir, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	inTheWay := filepath.Join(dir, "leaderboard.resp.new")
	if err := os.Mkdir(inTheWay, 0o700); err != nil {
		t.Fatal(err)
	}
	s.Client().Set(t.Context(), "k", "v", 0)
	s.Changed()
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	for deadline := time.After(10 * time.Second); !strings.Contains(log.String(), "level=ERROR"); {
		select {
		case <-deadline:
			t.Fatalf("nothing is said; the log:\n%s", log.String())
		case <-poll.C:
		}
	}
	if err := os.Remove(inTheWay); err != nil {
		t.Fatal(err)
	}
	if got := next(t, filepath.Join(dir, "leaderboard.resp"), nil); !bytes.Contains(got, []byte("\r\nk\r\n")) {
		t.Errorf("the snapshot lacks what was written meanwhile: %q", got)
	}
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

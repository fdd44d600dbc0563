package storetest_test

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard/store/storetest"
)

func TestTestsShareOneRedisUnderPrefixesOfTheirOwn(t *testing.T) {
	t.Parallel()
	one, other, key := storetest.Redis(t), storetest.Redis(t), storetest.Prefix(t)+":k"
	if err := one.Set(t.Context(), key, "v", time.Minute).Err(); err != nil {
		t.Fatal(err)
	}
	if got, err := other.Get(t.Context(), key).Result(); got != "v" || err != nil {
		t.Errorf("the other client got %q, %v", got, err)
	}
	if first, second := storetest.Prefix(t), storetest.Prefix(t); first == second {
		t.Errorf("two prefixes are both %s", first)
	}
}

func TestEmbeddedFollowsTheClockOfABubble(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := storetest.Embedded(t)
		client.Set(t.Context(), "k", "v", time.Hour)
		time.Sleep(59 * time.Minute)
		if got := client.Exists(t.Context(), "k").Val(); got != 1 {
			t.Errorf("after 59 minutes: got %d keys, want 1", got)
		}
		time.Sleep(2 * time.Minute)
		if got := client.Exists(t.Context(), "k").Val(); got != 0 {
			t.Errorf("after 61 minutes: got %d keys, want 0", got)
		}
	})
}

func TestServerComesBackWithWhatItsFlagsKeep(t *testing.T) {
	t.Parallel()
	server := storetest.Server(t, "--appendonly", "yes", "--appendfsync", "always")
	client := server.Client(t)
	if err := client.Set(t.Context(), "k", "v", 0).Err(); err != nil {
		t.Fatal(err)
	}
	server.Kill(t)
	if err := client.Ping(t.Context()).Err(); err == nil {
		t.Error("a killed server answers")
	}
	server.Restart(t)
	if got, err := client.Get(t.Context(), "k").Result(); got != "v" || err != nil {
		t.Errorf("after the restart: got %q, %v", got, err)
	}
}

func TestClusterRefusesKeysOfTwoSlots(t *testing.T) {
	t.Parallel()
	client := storetest.Cluster(t).Client(t)
	if err := client.Set(t.Context(), "{a}", "v", 0).Err(); err != nil {
		t.Fatal(err)
	}
	err := client.Eval(t.Context(), "return 1", []string{"{a}", "{b}"}).Err()
	if err == nil || !strings.Contains(err.Error(), "CROSSSLOT") {
		t.Errorf("got %v, want CROSSSLOT", err)
	}
}

// The child is this test binary: it starts a server, prints its address and dies without any clean-up.
func TestServerEndsWithTheTestProcess(t *testing.T) {
	t.Parallel()
	if os.Getenv("STORETEST_CHILD") != "" {
		t.Log("child")
		os.Stdout.WriteString("url " + storetest.Server(t).URL() + "\n")
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	if _, err := exec.LookPath("redis-server"); err != nil {
		storetest.Require(t, "redis")
	}
	child := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
	child.Env = append(os.Environ(), "STORETEST_CHILD=1")
	out, err := child.Output()
	if exit := (&exec.ExitError{}); !errors.As(err, &exit) {
		t.Fatalf("the child ended with %v, want a kill", err)
	}
	_, url, found := strings.Cut(string(out), "url redis://")
	if !found {
		t.Fatalf("the child said %q", out)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	for poll := time.NewTicker(10 * time.Millisecond); ; {
		if !listening(ctx, strings.TrimSpace(url)) {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatal("the server outlives the process that started it")
		case <-poll.C:
		}
	}
}

func listening(ctx context.Context, address string) bool {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}

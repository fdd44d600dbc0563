package main

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// constantReply runs the constant reply until the test ends, and returns its address.
func constantReply(t *testing.T) string {
	t.Helper()
	in, end := io.Pipe()
	out, said := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- replyCmd{}.Run(t.Context(), streams{in: in, out: said}) }()
	t.Cleanup(func() {
		end.Close()
		if err := <-done; err != nil {
			t.Errorf("constant reply: %v", err)
		}
	})
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(address)
}

func getAnything(int) func([]byte) []byte {
	return func(to []byte) []byte { return append(to, "GET /x HTTP/1.1\r\nHost: x\r\n\r\n"...) }
}

func TestLoadCountsTheRepliesItGot(t *testing.T) {
	t.Parallel()
	l := load{
		address: constantReply(t), connections: 4, next: getAnything,
		warmUp: 50 * time.Millisecond, duration: 200 * time.Millisecond,
	}
	got, err := l.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	half, nearly := got.times.quantile(0.5), got.times.quantile(0.99)
	if got.replies < 100 || got.perSecond() < 500 || half <= 0 || half > nearly || nearly > time.Second {
		t.Errorf("got %d replies, %.0f a second, p50 %s, p99 %s", got.replies, got.perSecond(), half, nearly)
	}
}

func TestLoadTakesNoRefusalForAReply(t *testing.T) {
	t.Parallel()
	replies := map[string]string{
		"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\n\r\nlate": "503 Service Unavailable: late",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n":             "without Content-Length",
		"HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n":                      "invalid syntax",
		"HTTP/1.1 200 OK\r\n": "EOF",
		"HTTP/1.1 429 Too Many Requests\r\nContent-Length: 4\r\n\r\nlate": "--rate-limit-key=0",
	}
	for reply, want := range replies {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { listener.Close() })
			go func() {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				defer conn.Close()
				_, _ = conn.Read(make([]byte, 1000))
				_, _ = io.WriteString(conn, reply)
			}()
			l := load{address: listener.Addr().String(), connections: 1, next: getAnything, duration: 10 * time.Second}
			if _, err := l.run(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q in it", err, want)
			}
		})
	}
}

func TestQuantilesAreWithinASixteenth(t *testing.T) {
	t.Parallel()
	var l latencies
	for us := range 10_000 {
		l.add(time.Duration(us+1) * time.Microsecond)
	}
	for share, want := range map[float64]time.Duration{
		0: time.Microsecond, 0.5: 5 * time.Millisecond, 0.99: 9900 * time.Microsecond,
	} {
		if got := l.quantile(share); got < want || got > want+want/16+2*time.Microsecond {
			t.Errorf("quantile %v: got %s, want %s and at most a sixteenth more", share, got, want)
		}
	}
}

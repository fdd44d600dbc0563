package web

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"

	"leaderboard/handlers/api"
	"leaderboard/store"
)

const testKey = "the-first-key"

// gameStore is a store that says yes to every score. What a test does not ask it for, it does not have.
type gameStore struct {
	store.Store
	submit func(store.Submission) (store.Result, error)      // nil: yes
	states func(context.Context) ([]store.BoardState, error) // nil: none
}

func (g *gameStore) Submit(_ context.Context, board store.BoardID, s store.Submission) (store.Result, error) {
	if g.submit != nil {
		return g.submit(s)
	}
	return store.Result{Board: board, Season: 1, Player: s.Player, Rank: 1, Total: 1, AchievedAt: time.Now()}, nil
}

func (g *gameStore) BoardStates(ctx context.Context) ([]store.BoardState, error) {
	if g.states != nil {
		return g.states(ctx)
	}
	return nil, nil
}

type noTops struct{}

func (noTops) Read(context.Context, store.BoardID, bool) (api.Kept, error) {
	return nil, store.ErrBoardNotFound
}

type testServer struct {
	app     *fiber.App
	store   *gameStore
	log     *lockedBuffer
	address string // where it listens
}

// newServer returns a server that does not listen.
func newServer(t testing.TB, change func(*Deps)) *testServer {
	t.Helper()
	s := &testServer{store: &gameStore{}, log: &lockedBuffer{}}
	fine := func(context.Context) error { return nil }
	deps := Deps{
		Store: s.store, Tops: noTops{}, Keys: NewFirstKey(testKey), Ping: fine, Subscribed: fine, Registry: prometheus.NewRegistry(),
		Log: slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	if change != nil {
		change(&deps)
	}
	s.app = New(deps)
	return s
}

// listen returns a server that listens on a port of its own.
func listen(t testing.TB, change func(*Deps)) *testServer {
	t.Helper()
	s := newServer(t, change)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.address = listener.Addr().String()
	ended := make(chan error, 1)
	go func() { ended <- s.app.Listener(Linger(listener)) }()
	t.Cleanup(func() {
		if err := s.app.ShutdownWithTimeout(5 * time.Second); err != nil {
			t.Errorf("shut down: %v", err)
		}
		<-ended
	})
	return s
}

// dial opens a connection to the server.
func (s *testServer) dial(t testing.TB) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// answer reads one reply from a connection.
func answer(t testing.TB, from *bufio.Reader) (*http.Response, string) {
	t.Helper()
	response, err := http.ReadResponse(from, nil)
	if err != nil {
		t.Fatalf("read a reply: %v", err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("read the body of a reply: %v", err)
	}
	return response, string(body)
}

// send writes text to the server, which may close while it does, and returns the first reply.
func (s *testServer) send(t testing.TB, text string) (*http.Response, string) {
	t.Helper()
	conn := s.dial(t)
	go func() { _, _ = io.Copy(conn, strings.NewReader(text)) }()
	return answer(t, bufio.NewReader(conn))
}

// get makes a call without a listener.
func (s *testServer) call(t testing.TB, method, target string, headers ...string) (*http.Response, string) {
	t.Helper()
	request, err := http.NewRequest(method, target, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		request.Header.Add(name, value)
	}
	response, err := s.app.Test(request, 20_000)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(body)
}

// request writes a call as it goes over the wire.
func request(method, path, body string, headers ...string) string {
	return fmt.Sprintf("%s %s HTTP/1.1\r\nHost: example.test\r\n%s\r\n\r\n%s", method, path, strings.Join(headers, "\r\n"), body)
}

type lockedBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}

func prefixes(t testing.TB, texts ...string) []netip.Prefix {
	t.Helper()
	var all []netip.Prefix
	for _, text := range texts {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, prefix)
	}
	return all
}

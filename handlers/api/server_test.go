package api_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"

	"leaderboard/handlers/api"
	"leaderboard/store"
	"leaderboard/store/redisstore"
	"leaderboard/store/storetest"
	"leaderboard/web"
	"leaderboard/web/live"
)

// The keys that the servers of these tests know.
const (
	adminKey  = "key-of-an-admin"
	writerKey = "key-of-a-game"
	demoKey   = "key-for-board-demo"
	readerKey = "key-without-scopes"
)

type testKeys map[string]*api.Key

func (k testKeys) Find(_ context.Context, token string, _ netip.Addr) (*api.Key, error) {
	if key, ok := k[token]; ok {
		return key, nil
	}
	return nil, api.ErrUnauthorized
}

var allKeys = testKeys{
	adminKey:  {ID: "a", Name: "Ann", Scopes: []store.Scope{store.ScopeScores, store.ScopePlayers, store.ScopeAdmin}},
	writerKey: {ID: "w", Scopes: []store.Scope{store.ScopeScores}},
	demoKey:   {ID: "d", Name: "Demo", Scopes: []store.Scope{store.ScopeScores, store.ScopePlayers, store.ScopeAdmin}, Boards: []store.BoardID{"demo"}},
	readerKey: {ID: "r"},
}

// server is the whole program but its listener, on a store of its own.
type server struct {
	app   *fiber.App
	store *redisstore.Store
	tops  *storeTops
	log   *lockedBuffer
	start sync.Once
}

// newServer returns a server without boards.
func newServer(t testing.TB) *server {
	t.Helper()
	return newServerAt(t, nil)
}

// newServerAt returns a server that goes by a clock of the test's own.
func newServerAt(t testing.TB, clock func() time.Time) *server {
	t.Helper()
	return newServerOn(t, redisstore.New(storetest.Redis(t), redisstore.Options{Prefix: storetest.Prefix(t), Clock: clock}), nil)
}

// newServerOn returns a server on a store, with what it is made of changed.
func newServerOn(t testing.TB, kept *redisstore.Store, change func(*web.Deps)) *server {
	t.Helper()
	s := &server{store: kept, log: &lockedBuffer{}}
	s.tops = &storeTops{store: s.store}
	fine := func(context.Context) error { return nil }
	signer, err := live.NewPlayerTokens(time.Now, []byte(live.NewTokenKey()))
	if err != nil {
		t.Fatal(err)
	}
	deps := web.Deps{
		Store: s.store, Tops: s.tops, Keys: allKeys, KeyStore: s.store, Audit: s.store, Signer: signer,
		Players: signer, Inbox: s.store, Searches: s.store, Jobs: s.store,
		Ping: fine, Subscribed: fine, Registry: prometheus.NewRegistry(),
		Log: slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	if change != nil {
		change(&deps)
	}
	s.app = web.New(deps)
	return s
}

// newBoard returns a server with a board demo of the given settings.
func newBoard(t testing.TB, settings string) *server {
	t.Helper()
	s := newServer(t)
	do(t, s, "PUT", "/api/v1/boards/demo", settings).want(t, 201)
	return s
}

// storeTops are tops that nobody keeps: each read asks the store.
type storeTops struct {
	store *redisstore.Store

	mu    sync.Mutex
	asked []bool // what Read was told of fresh
	kept  *storeKept
	away  error // what the store says to everybody
}

func (s *storeTops) Read(ctx context.Context, id store.BoardID, fresh bool) (api.Kept, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, fresh)
	if s.away != nil {
		if s.kept == nil {
			return nil, s.away
		}
		return &storeKept{page: s.kept.page, stale: true}, nil
	}
	board, err := s.store.Board(ctx, id)
	if err != nil {
		return nil, err
	}
	page, err := s.store.Top(ctx, store.Look{Board: id}, 0, int64(board.Settings.LiveTop))
	if err != nil {
		return nil, err
	}
	s.kept = &storeKept{page: page}
	return s.kept, nil
}

// cut makes the store of the tops unreachable.
func (s *storeTops) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away = fmt.Errorf("tests: %w", store.ErrUnavailable)
}

type storeKept struct {
	page  store.Page
	stale bool

	mu      sync.Mutex
	encoded map[string][]byte
}

func (k *storeKept) Page() *store.Page { return &k.page }

func (k *storeKept) Stale() (time.Duration, bool) { return 90 * time.Second, k.stale }

func (k *storeKept) Encoded(key string, encode func() []byte) []byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.encoded == nil {
		k.encoded = map[string][]byte{}
	}
	if _, ok := k.encoded[strings.Clone(key)]; !ok {
		k.encoded[strings.Clone(key)] = encode()
	}
	return k.encoded[key]
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

// reply is what a call was answered.
type reply struct {
	call   string
	status int
	header http.Header
	body   []byte
}

// adminReads are reads that need a key.
var adminReads = regexp.MustCompile(`^/api/v1/(boards/[^/]*/(export|held|seasons/payout)|keys|audit|jobs)(\?|$)`)

// do makes a call and holds the reply against the description of the API. Calls that need a key carry the admin's
// unless headers ("Name: value") say otherwise.
func do(t testing.TB, s *server, method, target, body string, headers ...string) reply {
	t.Helper()
	header := http.Header{}
	if method != "GET" && !(method == "POST" && strings.HasSuffix(target, "/lookup")) || adminReads.MatchString(target) {
		header.Set("Authorization", "Bearer "+adminKey)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		header.Del(name)
		if value != "" {
			header.Set(name, value)
		}
	}
	response, got := s.serve(t, method, target, body, header)
	if method != "OPTIONS" {
		checkReply(t, method, target, []byte(body), header, response.StatusCode, response.Header, got)
	}
	if response.StatusCode >= 500 && response.StatusCode != 503 {
		t.Errorf("%s %s %.300q answers %d: %s", method, target, body, response.StatusCode, got)
	}
	return reply{fmt.Sprintf("%s %s %.300s", method, target, body), response.StatusCode, response.Header, got}
}

// serve does what app.Test does, but takes any target, and the reply also where the server closes the connection.
func (s *server) serve(t testing.TB, method, target, body string, header http.Header) (*http.Response, []byte) {
	t.Helper()
	conn := new(memoryConn)
	fmt.Fprintf(&conn.in, "%s %s HTTP/1.1\r\nHost: example.test\r\nContent-Length: %d\r\n", method, target, len(body))
	if err := header.Write(&conn.in); err != nil {
		t.Fatal(err)
	}
	conn.in.WriteString("\r\n" + body)
	s.start.Do(func() { s.app.Handler() }) // which makes the tree of routes
	_ = s.app.Server().ServeConn(conn)     // what went wrong stands in the reply
	response, err := http.ReadResponse(bufio.NewReader(&conn.out), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%s %s: %v", method, target, err)
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("%s %s: %v", method, target, err)
	}
	return response, got
}

// memoryConn is a connection on which a request waits and a reply is collected.
type memoryConn struct {
	net.Conn
	in, out bytes.Buffer
}

func (c *memoryConn) Read(p []byte) (int, error)     { return c.in.Read(p) }
func (c *memoryConn) Write(p []byte) (int, error)    { return c.out.Write(p) }
func (*memoryConn) Close() error                     { return nil }
func (*memoryConn) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (*memoryConn) RemoteAddr() net.Addr             { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1)} }
func (*memoryConn) SetDeadline(time.Time) error      { return nil }
func (*memoryConn) SetReadDeadline(time.Time) error  { return nil }
func (*memoryConn) SetWriteDeadline(time.Time) error { return nil }

// post posts a score of a player on board demo.
func post(t testing.TB, s *server, player, points string) reply {
	t.Helper()
	body := fmt.Sprintf(`{"player":%s,"points":%s}`, quote(player), points)
	return do(t, s, "POST", "/api/v1/boards/demo/scores", body)
}

// want ends the test unless the reply has the status.
func (r reply) want(t testing.TB, status int) reply {
	t.Helper()
	if r.status != status {
		t.Fatalf("%s answers %d %s, want %d", r.call, r.status, r.body, status)
	}
	return r
}

// refused fails the test unless the reply is a problem with this status, code and field.
func (r reply) refused(t testing.TB, status int, code, field string) {
	t.Helper()
	var problem struct{ Code, Field string }
	if err := json.Unmarshal(r.body, &problem); err != nil || r.status != status || problem.Code != code || problem.Field != field {
		t.Errorf("%s answers %d %s, want %d with code %q and field %q", r.call, r.status, r.body, status, code, field)
	}
}

// into decodes the reply.
func (r reply) into(t testing.TB, value any) {
	t.Helper()
	if err := json.Unmarshal(r.body, value); err != nil {
		t.Fatalf("%s answers %d %q: %v", r.call, r.status, r.body, err)
	}
}

// entry is a row of a board as a client reads it. Points stay as they are written.
type entry struct {
	Rank       int64
	Player     string
	Name       *string
	Points     json.Number
	AchievedAt time.Time `json:"achieved_at"`
	Place      int64
}

type page struct {
	Board, Epoch           string
	Season, Version, Total int64
	Entries                []entry
	Next                   *string
	Stale                  bool
}

// top reads a page of board demo.
func top(t testing.TB, s *server, query string) page {
	t.Helper()
	var p page
	do(t, s, "GET", "/api/v1/boards/demo/top"+query, "").want(t, 200).into(t, &p)
	return p
}

// lines writes entries as "rank player points", to be compared at a glance.
func lines(entries []entry) string {
	var text []string
	for _, e := range entries {
		text = append(text, fmt.Sprintf("%d %s %s", e.Rank, e.Player, e.Points))
	}
	return strings.Join(text, ", ")
}

func quote(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(quoted)
}

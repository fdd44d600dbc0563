package live

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fasthttp/websocket"
	"github.com/gofiber/fiber/v2"

	"leaderboard/store"
)

// scale is by how much long tests are longer than the short ones that everybody runs.
func scale(t *testing.T) int {
	t.Helper()
	text := os.Getenv("LEADERBOARD_TEST_LONG")
	if text == "" {
		return 1
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("LEADERBOARD_TEST_LONG is %q, want a number", text)
	}
	return n
}

// site is a hub behind a listener.
type site struct {
	hub  *Hub
	addr string
	app  *fiber.App
}

// smallBuffers makes connections that take in little while the other side does not read.
type smallBuffers struct{ net.Listener }

func (l smallBuffers) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err == nil {
		err = conn.(*net.TCPConn).SetWriteBuffer(16 << 10)
	}
	return conn, err
}

func open(t testing.TB, l *ledger, options Options) *site {
	t.Helper()
	h := newTestHub(t, l, options)
	app := fiber.New(fiber.Config{
		DisableStartupMessage: true, CaseSensitive: true, ReadBufferSize: 4096,
		ErrorHandler: func(c *fiber.Ctx, err error) error {
			status := 500
			if e, ok := errors.AsType[*fiber.Error](err); ok {
				status = e.Code
			} else if e, ok := errors.AsType[*store.InvalidError](err); ok {
				status = 422
				c.Set("X-Field", e.Field)
			} else if errors.Is(err, store.ErrBoardNotFound) {
				status = 404
			} else if errors.Is(err, store.ErrUnavailable) {
				status = 503
			}
			return c.Status(status).SendString(err.Error())
		},
	})
	app.Get("/ws/boards/:board", h.Handler(func(c *fiber.Ctx) netip.Addr {
		address, _ := netip.AddrFromSlice(c.Context().RemoteIP())
		return address
	}))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- app.Listener(smallBuffers{listener}) }()
	t.Cleanup(func() {
		if err := app.Shutdown(); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return &site{hub: h, addr: listener.Addr().String(), app: app}
}

// peer is a client's end of a socket.
type peer struct {
	*websocket.Conn
	client client
}

// dial connects to a board, or returns what was answered instead.
func (s *site) dial(t *testing.T, pathAndQuery string, header http.Header) (*peer, *http.Response) {
	t.Helper()
	return s.dialWith(t, net.Dial, pathAndQuery, header)
}

// dialSmall is net.Dial for a connection that takes in little while nobody reads.
func dialSmall(network, addr string) (net.Conn, error) {
	conn, err := net.Dial(network, addr)
	if err == nil {
		err = conn.(*net.TCPConn).SetReadBuffer(16 << 10)
	}
	return conn, err
}

func (s *site) dialWith(
	t *testing.T, dial func(network, addr string) (net.Conn, error), pathAndQuery string, header http.Header,
) (*peer, *http.Response) {
	t.Helper()
	dialer := websocket.Dialer{HandshakeTimeout: 10 * time.Second, ReadBufferSize: 1024, WriteBufferSize: 1024, NetDial: dial}
	conn, response, err := dialer.Dial("ws://"+s.addr+"/ws/boards/"+pathAndQuery, header)
	if err != nil {
		if response == nil {
			t.Fatal(err)
		}
		return nil, response
	}
	t.Cleanup(func() { conn.Close() })
	return &peer{Conn: conn}, response
}

func (s *site) join(t *testing.T, pathAndQuery string) *peer {
	t.Helper()
	p, response := s.dial(t, pathAndQuery, nil)
	if p == nil {
		t.Fatalf("%s: got %s", pathAndQuery, response.Status)
	}
	return p
}

// take reads a frame and applies it.
func (p *peer) take(t *testing.T) string {
	t.Helper()
	_ = p.SetReadDeadline(time.Now().Add(10 * time.Second))
	_, text, err := p.ReadMessage()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.client.apply(text); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return string(text)
}

// takeUntil reads frames until the client is as it should be.
func (p *peer) takeUntil(t *testing.T, what string, is func(*client) bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !is(&p.client); {
		if time.Now().After(deadline) {
			t.Fatalf("not within 10 s: %s", what)
		}
		p.take(t)
	}
}

// takeClose reads until the other side closes, and returns the code.
func (p *peer) takeClose(t *testing.T) int {
	t.Helper()
	_ = p.SetReadDeadline(time.Now().Add(10 * time.Second))
	for {
		_, _, err := p.ReadMessage()
		if closed, ok := errors.AsType[*websocket.CloseError](err); ok {
			return closed.Code
		}
		if err != nil {
			t.Fatalf("the connection ended without a close frame: %v", err)
		}
	}
}

func (p *peer) say(t *testing.T, text string) {
	t.Helper()
	if err := p.WriteMessage(websocket.TextMessage, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

// eventually waits for something that is about to happen.
func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(15 * time.Second); !is(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within 15 s: %s", what)
		}
	}
}

func demoSite(t *testing.T, options Options) (*site, *ledger) {
	t.Helper()
	l := newLedger()
	l.put("demo", 50, 40, 30, 20, 10)
	return open(t, l, options), l
}

func TestWhatIsAnsweredBeforeTheUpgrade(t *testing.T) {
	t.Parallel()
	s, _ := demoSite(t, Options{Origins: []string{"https://scores.example"}})
	for name, c := range map[string]struct {
		path   string
		header http.Header
		status int
		field  string
	}{
		"all is well":            {"demo", nil, 101, ""},
		"a limit":                {"demo?limit=100", nil, 101, ""},
		"an escaped path":        {"d%65mo", nil, 101, ""},
		"a player":               {"demo?player=%E7%8E%A9%E5%AE%B6", nil, 101, ""},
		"its own origin":         {"demo", http.Header{"Origin": {"http://" + s.addr}}, 101, ""},
		"a listed origin":        {"demo", http.Header{"Origin": {"https://scores.example"}}, 101, ""},
		"a foreign origin":       {"demo", http.Header{"Origin": {"https://evil.example"}}, 403, ""},
		"two origins":            {"demo", http.Header{"Origin": {"http://" + s.addr, "https://evil.example"}}, 403, ""},
		"null":                   {"demo", http.Header{"Origin": {"null"}}, 403, ""},
		"a forged host":          {"demo", http.Header{"Origin": {"https://evil.example"}, "X-Forwarded-Host": {"good.example"}}, 403, ""},
		"no such board":          {"other", nil, 404, ""},
		"no possible board":      {"UPPER", nil, 422, "board"},
		"limit 0":                {"demo?limit=0", nil, 422, "limit"},
		"limit beyond live_top":  {"demo?limit=101", nil, 422, "limit"},
		"limit in words":         {"demo?limit=ten", nil, 422, "limit"},
		"limit with a sign":      {"demo?limit=%2B5", nil, 422, "limit"},
		"limit empty":            {"demo?limit=", nil, 422, "limit"},
		"limit twice":            {"demo?limit=5&limit=6", nil, 422, "limit"},
		"limit too long":         {"demo?limit=99999999999999999999", nil, 422, "limit"},
		"player empty":           {"demo?player=", nil, 422, "player"},
		"player twice":           {"demo?player=a&player=b", nil, 422, "player"},
		"player with a control":  {"demo?player=a%00b", nil, 422, "player"},
		"something else unknown": {"demo?color=red", nil, 101, ""},
	} {
		p, response := s.dial(t, c.path, c.header)
		if response.StatusCode != c.status {
			body, _ := io.ReadAll(response.Body)
			t.Errorf("%s: got %d %s, want %d", name, response.StatusCode, body, c.status)
		}
		if got := response.Header.Get("X-Field"); got != c.field {
			t.Errorf("%s: the field is %q, want %q", name, got, c.field)
		}
		if p != nil {
			p.take(t)
			p.Close()
		}
	}

	response, err := http.Get("http://" + s.addr + "/ws/boards/demo")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != 426 || response.Header.Get("Upgrade") != "websocket" {
		t.Errorf("a plain GET: got %d and Upgrade %q, want 426 and websocket", response.StatusCode, response.Header.Get("Upgrade"))
	}
	eventually(t, "all places are free again", func() bool { return s.in() == 0 })
}

// in returns how many places are taken.
func (s *site) in() int {
	s.hub.gate.mu.Lock()
	defer s.hub.gate.mu.Unlock()
	return s.hub.gate.in
}

func TestTooManyReadersGet503WithRetryAfter(t *testing.T) {
	t.Parallel()
	s, _ := demoSite(t, Options{Limits: Limits{Readers: 3}})
	var in []*peer
	for range 3 {
		in = append(in, s.join(t, "demo"))
	}
	for range 3 {
		p, response := s.dial(t, "demo", nil)
		if p != nil || response.StatusCode != 503 {
			t.Fatalf("got %d, want 503", response.StatusCode)
		}
		if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err != nil || seconds < 1 {
			t.Errorf("got Retry-After %q", response.Header.Get("Retry-After"))
		}
	}
	in[1].Close()
	eventually(t, "the place is free again", func() bool { return s.in() == 2 })
	s.join(t, "demo").take(t)
}

func TestAHandshakeThatFailsLateHoldsNoPlace(t *testing.T) {
	t.Parallel()
	s, _ := demoSite(t, Options{})
	for _, headers := range []string{
		"Sec-WebSocket-Version: 13\r\n", // no key
		"Sec-WebSocket-Version: 12\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
	} {
		conn, err := net.Dial("tcp", s.addr)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "GET /ws/boards/demo HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n%s\r\n", headers)
		answer := make([]byte, 12)
		if _, err := io.ReadFull(conn, answer); err != nil || string(answer) != "HTTP/1.1 426" {
			t.Errorf("got %q (%v), want 426", answer, err)
		}
		conn.Close()
	}
	if got := s.in(); got != 0 {
		t.Errorf("%d places are taken", got)
	}
}

func TestFramesArriveOverASocket(t *testing.T) {
	t.Parallel()
	s, l := demoSite(t, Options{})
	p := s.join(t, "demo?limit=3&player=p4")
	if got, want := p.take(t), string(newSnapshot(&l.boards["demo"].page, l.boards["demo"].page.Entries[:3]).text); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if got, want := p.take(t), `{"type":"you","entry":{"rank":5,"player":"p4","name":null,"points":10,"achieved_at":"1970-01-01T00:00:00.004Z"},"total":5}`; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	raise(l, s.hub.tops, "demo", 4)
	if got, want := p.take(t), `{"type":"delta","from":1,"version":2,"total":5,"changed":[{"rank":1,"player":"p4","name":null,"points":51,"achieved_at":"1970-01-01T00:00:00.004Z"}],"removed":["p2"]}`; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if got, want := p.take(t), `{"type":"you","entry":{"rank":1,"player":"p4","name":null,"points":51,"achieved_at":"1970-01-01T00:00:00.004Z"},"total":5}`; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	p.say(t, `{"type":"resync"}`)
	p.takeUntil(t, "a second snapshot", func(c *client) bool { return c.whole == 2 })
	if err := p.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(1000, "bye")); err != nil {
		t.Fatal(err)
	}
	if got := p.takeClose(t); got != 1000 {
		t.Errorf("got close code %d, want 1000", got)
	}
	eventually(t, "the reader is gone", func() bool { return s.hub.Readers("demo") == 0 && s.in() == 0 })
}

func TestWhatIsNoMessageOfOursClosesWith1008(t *testing.T) {
	t.Parallel()
	now := time.Now()
	tokens := tokensAt(t, &now, keyA)
	good, _, err := tokens.Issue("p1")
	if err != nil {
		t.Fatal(err)
	}
	forged, _, err := tokensAt(t, &now, keyB).Issue("p1")
	if err != nil {
		t.Fatal(err)
	}
	past := now.Add(-TokenLife - time.Second)
	expired, _, err := tokensAt(t, &past, keyA).Issue("p1")
	if err != nil {
		t.Fatal(err)
	}
	auth := func(token string) string { return `{"type":"auth","token":"` + token + `"}` }
	s, _ := demoSite(t, Options{Tokens: tokens})
	for name, says := range map[string][]string{
		"nothing":                 {``},
		"no JSON":                 {`resync`},
		"null":                    {`null`},
		"a list":                  {`[]`},
		"an empty object":         {`{}`},
		"an unknown type":         {`{"type":"hello"}`},
		"a type in other case":    {`{"type":"Resync"}`},
		"a member in other case":  {`{"Type":"resync"}`},
		"an unknown member":       {`{"type":"resync","x":1}`},
		"a member twice":          {`{"type":"resync","type":"resync"}`},
		"something behind":        {`{"type":"resync"}{}`},
		"a token where none goes": {`{"type":"resync","token":"x"}`},
		"no token":                {`{"type":"auth"}`},
		"an empty token":          {auth("")},
		"a token that is none":    {auth("x.y.z")},
		"a token in null":         {`{"type":"auth","token":null}`},
		"a forged token":          {auth(forged)},
		"an expired token":        {auth(expired)},
		"a second token":          {auth(good), auth(good)},
		"a token that comes late": {`{"type":"resync"}`, auth(good)},
		"as long as may be":       {`{"type":"` + strings.Repeat("x", maxMessage-11) + `"}`},
		"no UTF-8":                {"{\"type\":\"\xff\"}"},
		"more than anybody needs": strings.Split(strings.Repeat(`{"type":"resync"}|`, maxBurst+2), "|")[:maxBurst+2],
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := s.join(t, "demo")
			for _, text := range says {
				_ = p.WriteMessage(websocket.TextMessage, []byte(text)) // it may be closed by now
			}
			if got := p.takeClose(t); got != policyViolation {
				t.Errorf("got close code %d, want %d", got, policyViolation)
			}
		})
	}
	t.Run("a binary message", func(t *testing.T) {
		t.Parallel()
		p := s.join(t, "demo")
		if err := p.WriteMessage(websocket.BinaryMessage, []byte(`{"type":"resync"}`)); err != nil {
			t.Fatal(err)
		}
		if got := p.takeClose(t); got != policyViolation {
			t.Errorf("got close code %d, want %d", got, policyViolation)
		}
	})
	t.Run("pings without end", func(t *testing.T) {
		t.Parallel()
		p := s.join(t, "demo")
		for range 3 * maxBurst {
			if p.WriteControl(websocket.PingMessage, nil, time.Now().Add(time.Second)) != nil {
				break
			}
		}
		if got := p.takeClose(t); got != policyViolation {
			t.Errorf("got close code %d, want %d", got, policyViolation)
		}
	})
	t.Run("without anybody who knows tokens", func(t *testing.T) {
		t.Parallel()
		plain, _ := demoSite(t, Options{})
		p := plain.join(t, "demo")
		p.say(t, auth(good))
		if got := p.takeClose(t); got != policyViolation {
			t.Errorf("got close code %d, want %d", got, policyViolation)
		}
	})
}

// rawFrame returns the start of a masked frame with a declared length.
func rawFrame(first byte, length uint64, payload string) []byte {
	frame := []byte{first, 0x80 | 127}
	frame = binary.BigEndian.AppendUint64(frame, length)
	frame = append(frame, 0, 0, 0, 0) // a mask that changes nothing
	return append(frame, payload...)
}

func TestHugeFramesCloseWith1009(t *testing.T) {
	t.Parallel()
	s, l := demoSite(t, Options{})
	for name, send := range map[string]func(io.Writer){
		"one byte too long":           func(w io.Writer) { w.Write(rawFrame(0x81, maxMessage+1, strings.Repeat("x", maxMessage+1))) },
		"a length that never comes":   func(w io.Writer) { w.Write(rawFrame(0x81, 1<<34, "")) },
		"a length beyond all numbers": func(w io.Writer) { w.Write(rawFrame(0x81, 1<<63, "")) },
		"64 MB": func(w io.Writer) {
			w.Write(rawFrame(0x81, 64<<20, ""))
			chunk := make([]byte, 64<<10)
			for range 1024 {
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
		},
		"pieces without end": func(w io.Writer) {
			w.Write(rawFrame(0x01, 1, "x"))
			for range 10_000 {
				if _, err := w.Write(rawFrame(0x00, 1, "x")); err != nil {
					return
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := s.join(t, "demo")
			p.take(t)
			go send(p.NetConn())
			if got := p.takeClose(t); got != messageTooBig && !(got == 1006 && name == "a length beyond all numbers") {
				t.Errorf("got close code %d, want %d", got, messageTooBig)
			}
			other := s.join(t, "demo")
			other.take(t)
		})
	}
	_ = l
}

func TestAMessageThatNeverEndsIsGivenUp(t *testing.T) {
	t.Parallel()
	if scale(t) == 1 {
		t.Skip("takes ten seconds: set LEADERBOARD_TEST_LONG")
	}
	s, _ := demoSite(t, Options{})
	p := s.join(t, "demo")
	p.take(t)
	began := time.Now()
	if _, err := p.NetConn().Write(rawFrame(0x01, 1, "x")); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	defer close(stop)
	go func() { // lives, but does not finish
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Second):
				_ = p.WriteControl(websocket.PongMessage, nil, time.Now().Add(time.Second))
			}
		}
	}()
	_ = p.SetReadDeadline(time.Now().Add(2 * messageTime))
	if _, _, err := p.ReadMessage(); err == nil || time.Since(began) > messageTime+5*time.Second {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
}

func TestATokenMakesASocketItsPlayers(t *testing.T) {
	t.Parallel()
	now := time.Now()
	tokens := tokensAt(t, &now, keyA)
	s, l := demoSite(t, Options{Tokens: tokens})
	l.set(func() {
		l.activity["p1"] = []store.Activity{{At: time.UnixMilli(5).UTC(), Kind: store.NewBest, Points: 40, Rank: 2}}
	})
	token, _, err := tokens.Issue("p1")
	if err != nil {
		t.Fatal(err)
	}
	p := s.join(t, "demo?limit=1&player=p0")
	p.say(t, `{"type":"auth","token":"`+token+`"}`)
	p.takeUntil(t, "you is p1", func(c *client) bool { return c.You != nil && c.You.Player == "p1" })
	p.takeUntil(t, "activity", func(c *client) bool { return len(c.Items) == 1 })
	if got, want := string(p.client.Items[0]), `{"at":"1970-01-01T00:00:00.005Z","kind":"best","points":40,"previous_points":null,"rank":2,"previous_rank":null}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	raise(l, s.hub.tops, "demo", 1)
	p.takeUntil(t, "you is first", func(c *client) bool { return c.You.Player == "p1" && c.You.Rank == 1 })
}

func TestAnExpiredTokenEndsTheSocket(t *testing.T) {
	t.Parallel()
	s, _ := demoSite(t, Options{Tokens: shortTokens{}})
	p := s.join(t, "demo")
	p.say(t, `{"type":"auth","token":"p1"}`)
	p.takeUntil(t, "you", func(c *client) bool { return c.You != nil })
	if got := p.takeClose(t); got != policyViolation {
		t.Errorf("got close code %d, want %d", got, policyViolation)
	}
}

// shortTokens are good for a moment, and name their player.
type shortTokens struct{}

func (shortTokens) Player(token string) (store.PlayerID, time.Time, error) {
	if token == "panic" {
		panic("secret words")
	}
	return store.PlayerID(token), time.Now().Add(300 * time.Millisecond), nil
}

func TestAPanicInOneSocketTellsNothingAndHurtsNobody(t *testing.T) {
	t.Parallel()
	s, l := demoSite(t, Options{Tokens: shortTokens{}})
	p, other := s.join(t, "demo"), s.join(t, "demo")
	p.take(t)
	other.take(t)
	p.say(t, `{"type":"auth","token":"panic"}`)
	_ = p.SetReadDeadline(time.Now().Add(10 * time.Second))
	_, text, err := p.ReadMessage()
	if closed, ok := errors.AsType[*websocket.CloseError](err); !ok || closed.Code != internalError || strings.Contains(closed.Text, "secret") {
		t.Errorf("got %s and %v, want close code %d", text, err, internalError)
	}
	eventually(t, "the reader is gone", func() bool { return s.hub.Readers("demo") == 1 && s.in() == 1 })
	raise(l, s.hub.tops, "demo", 4)
	other.takeUntil(t, "version 2", func(c *client) bool { return c.Version == 2 })
}

func TestStoppedReadersSlowNobodyAndSkipToTheNewestState(t *testing.T) {
	alone := scale(t) > 1 // then memory can be looked at
	if !alone {
		t.Parallel()
	}
	l := newLedger()
	points := make([]store.Points, 100)
	for i := range points {
		points[i] = store.Points(1000 - i)
	}
	l.put("demo", points...)
	s := open(t, l, Options{})
	var stopped, quick []*peer
	for range min(10*scale(t), 100) {
		p, _ := s.dialWith(t, dialSmall, "demo?limit=100", nil)
		p.take(t)
		stopped = append(stopped, p)
	}
	for range min(5*scale(t), 50) {
		p := s.join(t, "demo?limit=100")
		p.take(t)
		quick = append(quick, p)
	}
	before := memory()
	var slowest atomic.Int64
	for range 20 { // each changes every row: 13 KB a frame
		l.change("demo", func(s *sheet) {
			for i := range s.page.Entries {
				s.page.Entries[i].Points++
			}
			s.page.Version++
		})
		began := time.Now()
		s.hub.tops.Changed(l.state("demo"))
		version := l.state("demo").Version
		for _, p := range quick {
			p.takeUntil(t, "the newest version", func(c *client) bool { return c.Version == version })
		}
		slowest.Store(max(slowest.Load(), int64(time.Since(began))))
	}
	if got := time.Duration(slowest.Load()); got > 2*time.Second {
		t.Errorf("others waited up to %v", got)
	}
	if grown := memory() - before; alone && grown > int64(len(stopped))*32<<10 {
		t.Errorf("memory grew by %d KiB for each reader that stopped", grown>>10/int64(len(stopped)))
	}
	page := l.boards["demo"].page
	var waking sync.WaitGroup
	for _, p := range stopped {
		waking.Go(func() { // all at once: their connections have become slow
			for p.client.Version != page.Version {
				_ = p.SetReadDeadline(time.Now().Add(10 * time.Second))
				_, text, err := p.ReadMessage()
				if err != nil {
					t.Error(err)
					return
				}
				if err := p.client.apply(text); err != nil {
					t.Error(err)
					return
				}
			}
			if err := p.client.expect(&page, 100); err != nil {
				t.Error(err)
			}
			if p.client.deltas > 15 || p.client.whole < 2 {
				t.Errorf("a stopped reader got %d deltas and %d snapshots, want it to skip", p.client.deltas, p.client.whole)
			}
		})
	}
	waking.Wait()
	if got := counted(t, s.hub.metrics.skipped); got == 0 {
		t.Error("no skipped frames are counted")
	}
}

// memory returns what heap and stacks hold.
func memory() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

func TestReadersComeAndGoAndNothingIsLeft(t *testing.T) {
	now := time.Now()
	tokens := tokensAt(t, &now, keyA)
	s, l := demoSite(t, Options{Tokens: tokens})
	const players = 50
	for i := range players {
		l.stand(store.PlayerID(fmt.Sprint("low", i)), int64(100+i), store.Points(i))
		l.set(func() {
			l.activity[store.PlayerID(fmt.Sprint("low", i))] = []store.Activity{{At: time.UnixMilli(int64(i)).UTC(), Kind: store.NewBest, Points: store.Points(i)}}
		})
	}
	s.join(t, "demo").Close()
	eventually(t, "the first is gone", func() bool { return s.hub.Readers("demo") == 0 })

	stop := make(chan struct{})
	var busy sync.WaitGroup
	busy.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
			}
			raise(l, s.hub.tops, "demo", i%5)
			player := i % players
			l.stand(store.PlayerID(fmt.Sprint("low", player)), int64(100+i), store.Points(player))
			s.hub.Posted("demo", store.PlayerID(fmt.Sprint("low", player)))
		}
	})
	var clients sync.WaitGroup
	for c := range 16 {
		clients.Go(func() {
			for round := range 15 * scale(t) {
				if err := visitOnce(t, s, tokens, (c*31+round)%players, round%5); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	clients.Wait()
	close(stop)
	busy.Wait()
	eventually(t, "all readers are gone", func() bool { return s.hub.Readers("demo") == 0 && s.in() == 0 })
	eventually(t, "no goroutine of ours is left", func() bool { return ours(t) == "" })
	s.hub.mu.RLock()
	defer s.hub.mu.RUnlock()
	if len(s.hub.readers) != 0 || len(s.hub.relays) != 0 {
		t.Errorf("%d readers and %d relays are left", len(s.hub.readers), len(s.hub.relays))
	}
}

// ours returns the goroutines that serve readers. Those of the web server stay for a while, for the next connection.
func ours(t *testing.T) string {
	t.Helper()
	stacks := make([]byte, 4<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	var found []string
	for stack := range strings.SplitSeq(string(stacks), "\n\n") {
		for _, name := range []string{"(*Hub).serve", "(*Hub).run", "(*reader).", "(*players).", "hijackConnHandler"} {
			if strings.Contains(stack, name) {
				found = append(found, stack)
				break
			}
		}
	}
	return strings.Join(found, "\n\n")
}

// visitOnce connects as a player, checks that all private things are that player's, and leaves in one of several ways.
func visitOnce(t *testing.T, s *site, tokens *PlayerTokens, number, way int) error {
	player := fmt.Sprint("low", number)
	query := "demo?limit=5"
	if way == 1 {
		query += "&player=" + url.QueryEscape(player)
	}
	conn, _, err := websocket.DefaultDialer.Dial("ws://"+s.addr+"/ws/boards/"+query, nil)
	if err != nil {
		return err
	}
	defer conn.Close()
	if way != 1 {
		token, _, err := tokens.Issue(store.PlayerID(player))
		if err != nil {
			return err
		}
		if err := conn.WriteMessage(websocket.TextMessage, []byte(`{"type":"auth","token":"`+token+`"}`)); err != nil {
			return err
		}
	}
	if way == 2 {
		return nil // gone before the first frame
	}
	var c client
	for c.Yous < 2 || way != 1 && len(c.Items) == 0 {
		_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
		_, text, err := conn.ReadMessage()
		if err != nil {
			return fmt.Errorf("%s with %d you and %d items: %w", player, c.Yous, len(c.Items), err)
		}
		if err := c.apply(text); err != nil {
			return fmt.Errorf("%w\n%s", err, text)
		}
		if c.You != nil && c.You.Player != player {
			return fmt.Errorf("%s was told of %s", player, c.You.Player)
		}
		for _, item := range c.Items {
			if !strings.Contains(string(item), `"points":`+strconv.Itoa(number)+`,`) {
				return fmt.Errorf("%s was told what another did: %s", player, item)
			}
		}
	}
	switch way {
	case 3:
		return conn.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(1000, ""))
	case 4:
		return conn.NetConn().(*net.TCPConn).SetLinger(0) // the close resets the connection
	}
	return nil
}

func TestDrainedReadersComeBackToAnotherProcess(t *testing.T) {
	t.Parallel()
	l := newLedger()
	l.put("demo", 50, 40, 30)
	first, second := open(t, l, Options{}), open(t, l, Options{})
	var readers []*peer
	for range 50 {
		p := first.join(t, "demo")
		p.take(t)
		readers = append(readers, p)
	}
	ended := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		ended <- first.hub.Close(ctx)
	}()
	for _, p := range readers {
		if got := p.takeClose(t); got != serviceRestart {
			t.Errorf("got close code %d, want %d", got, serviceRestart)
		}
		again := second.join(t, "demo")
		again.take(t)
		page := l.boards["demo"].page
		if err := again.client.expect(&page, 10); err != nil {
			t.Error(err)
		}
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if p, response := first.dial(t, "demo", nil); p != nil || response.StatusCode != 503 {
		t.Error("a process that is going away let somebody in")
	}
}

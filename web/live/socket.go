package live

import (
	"errors"
	"io"
	"log/slog"
	"net/netip"
	"net/url"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	fasthttpsocket "github.com/fasthttp/websocket"
	"github.com/gofiber/contrib/websocket"
	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"leaderboard/store"
)

const (
	// maxMessage is how many bytes a frame of a client may have: a token and what is around it fit.
	maxMessage = 1024
	// messageTime is how long a client may take to finish a message that it has begun.
	messageTime = 10 * time.Second
	// defaultLimit is how many places a reader sees who does not say.
	defaultLimit = 10
	// readBuffer and writeBuffer are what the websocket package keeps for each connection, and for each message that
	// only one reader gets; the latter come from a pool.
	readBuffer, writeBuffer = 128, 512
	// lingerBytes bounds what is read and thrown away of a client that was sent away.
	lingerBytes = 256 << 10
)

// visit is what is known of a reader before the upgrade. Everything in it is a copy: the request's memory is used again
// while the socket lives.
type visit struct {
	kept   *Kept
	limit  int
	player store.PlayerID
	ticket *ticket

	request *fasthttp.RequestCtx // lives as long as the socket's handler
}

// Handler returns what answers GET /ws/boards/:board. Address says who a request is from.
func (h *Hub) Handler(address func(*fiber.Ctx) netip.Addr) fiber.Handler {
	config := websocket.Config{
		ReadBufferSize: readBuffer, WriteBufferSize: writeBuffer, WriteBufferPool: new(sync.Pool),
		RecoverHandler: h.recovered, // the package's own mails the panic to the client
	}
	return func(c *fiber.Ctx) error {
		visit, err := h.receive(c, address)
		if err != nil {
			return err
		}
		visit.request = c.Context()
		travelLight(c)
		if err := websocket.New(func(conn *websocket.Conn) { h.serve(conn, visit) }, config)(c); err != nil {
			visit.ticket.leave()
			return err
		}
		return nil
	}
}

// travelLight takes out of a request what the upgrade does not need: the package keeps a copy of every header, cookie
// and parameter for as long as the socket lives, which is a fifth of what a reader costs.
func travelLight(c *fiber.Ctx) {
	header := &c.Request().Header
	var superfluous []string
	header.VisitAll(func(key, _ []byte) {
		switch name := string(key); name {
		case fiber.HeaderConnection, fiber.HeaderUpgrade, "Sec-Websocket-Key", "Sec-Websocket-Version":
		default:
			superfluous = append(superfluous, name)
		}
	})
	for _, name := range superfluous {
		header.Del(name)
	}
	c.Context().QueryArgs().Reset()
	c.Context().ResetUserValues()
}

// arrive lets go of what is left of the request when its reply has been written. The server takes the request back when
// the handler returns, and fills it anew.
func (v *visit) arrive() {
	v.request.Request.Header = fasthttp.RequestHeader{}
	v.request.Response.Header = fasthttp.ResponseHeader{}
	v.request, v.kept = nil, nil // a reader stays for hours, and a top need not
}

// receive checks all that can be checked before the upgrade.
func (h *Hub) receive(c *fiber.Ctx, address func(*fiber.Ctx) netip.Addr) (*visit, error) {
	if !websocket.IsWebSocketUpgrade(c) {
		c.Set(fiber.HeaderUpgrade, "websocket")
		return nil, fiber.ErrUpgradeRequired
	}
	var from []string
	for _, origin := range c.Request().Header.PeekAll(fiber.HeaderOrigin) {
		from = append(from, string(origin))
	}
	if !h.origins.allow(from, c.Hostname()) {
		h.metrics.refused.WithLabelValues("origin").Inc()
		return nil, fiber.ErrForbidden
	}
	v, err := h.parse(c)
	if err != nil {
		return nil, err
	}
	ticket, refusal := h.gate.enter(address(c))
	if refusal != nil {
		h.metrics.refused.WithLabelValues(refusal.reason).Inc()
		c.Set(fiber.HeaderRetryAfter, strconv.Itoa(int(refusal.after.Seconds())))
		return nil, &BusyError{Reason: refusal.reason, RetryAfter: refusal.after}
	}
	v.ticket = ticket
	return v, nil
}

// parse reads path and query.
func (h *Hub) parse(c *fiber.Ctx) (*visit, error) {
	text, err := url.PathUnescape(c.Params("board"))
	if err != nil {
		return nil, store.Invalid("board", "must be percent-encoded correctly")
	}
	board, err := store.ParseBoardID(text)
	if err != nil {
		return nil, err
	}
	kept, err := h.tops.Read(c.UserContext(), board, false)
	if err != nil {
		return nil, err
	}
	v := &visit{kept: kept, limit: min(defaultLimit, kept.board.Settings.LiveTop)}
	if text, given, err := query(c, "limit"); err != nil {
		return nil, err
	} else if given {
		if v.limit, err = strconv.Atoi(text); err != nil || v.limit < 1 || v.limit > kept.board.Settings.LiveTop ||
			text[0] == '+' {
			return nil, store.Invalid("limit", "must be 1 to "+strconv.Itoa(kept.board.Settings.LiveTop))
		}
	}
	if text, given, err := query(c, "player"); err != nil {
		return nil, err
	} else if given {
		if v.player, err = store.ParsePlayerID(text); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// query returns a parameter that may be given once and not empty.
func query(c *fiber.Ctx, name string) (text string, given bool, err error) {
	values := c.Context().QueryArgs().PeekMulti(name)
	switch {
	case len(values) == 0:
		return "", false, nil
	case len(values) > 1:
		return "", false, store.Invalid(name, "must be given once")
	case len(values[0]) == 0:
		return "", false, store.Invalid(name, "must not be empty")
	}
	return string(values[0]), true, nil
}

// serve is the socket's handler: it reads until the reader goes or is sent away. The package takes the connection back
// and gives it to another as soon as this returns, so whoever writes to it has ended by then.
func (h *Hub) serve(conn *websocket.Conn, v *visit) {
	s := newSocket(conn.Conn)
	if !v.ticket.use() {
		s.dismiss(tryAgainLater)
		return
	}
	defer v.ticket.leave()
	r, ok := h.join(s, v.kept, v.limit)
	if !ok {
		s.dismiss(serviceRestart)
		return
	}
	s.reader = r
	v.arrive()
	code := 0
	defer func() {
		if away := h.leave(r); code == 0 && away != nil {
			code = away.code
		}
		h.metrics.closed(code)
	}()
	if v.player != "" {
		h.watchPlayer(r, v.player, false)
	}
	r.beat()
	if code = h.listen(s); code == policyViolation || code == messageTooBig {
		r.end()
		s.dismiss(code)
	}
}

// recovered takes a panic of the handler. The deferred calls of serve have run by then.
func (h *Hub) recovered(conn *websocket.Conn) {
	if p := recover(); p != nil {
		h.metrics.panics.Inc()
		h.log.Error("live: panic in a socket", "panic", p, slog.String("stack", string(debug.Stack())))
		newSocket(conn.Conn).dismiss(internalError)
	}
}

// socket is the wire of a reader.
type socket struct {
	conn   *fasthttpsocket.Conn
	reader *reader

	// The handler's own.
	inMessage bool
	messages  bucket
}

// newSocket prepares a connection for reading.
func newSocket(conn *fasthttpsocket.Conn) *socket {
	s := &socket{conn: conn, messages: bucket{tokens: maxBurst, at: time.Now()}}
	conn.SetReadLimit(maxMessage)
	conn.SetPongHandler(func(string) error { return s.control() })
	conn.SetPingHandler(func(text string) error {
		if err := s.control(); err != nil {
			return err
		}
		_ = conn.WriteControl(fasthttpsocket.PongMessage, []byte(text), time.Now().Add(time.Second))
		return nil // who does not take the answer is found by our own pings
	})
	s.stopReading(time.Now().Add(pingEvery + pongTime))
	return s
}

// errTooMany ends a connection that sends more than anybody needs to.
var errTooMany = errors.New("live: too many messages")

// control takes a ping or pong. The answer to a ping of ours proves that the reader lives.
func (s *socket) control() error {
	if !s.messages.spend() {
		return errTooMany
	}
	if s.reader != nil && !s.inMessage {
		s.reader.alive(pingEvery + pongTime)
	}
	return nil
}

// read returns the next message. It is the only place that reads.
func (s *socket) read() (kind int, message []byte, err error) {
	kind, from, err := s.conn.NextReader()
	if err != nil {
		return 0, nil, err
	}
	s.inMessage = true
	s.reader.alive(messageTime)
	message, err = io.ReadAll(from)
	s.inMessage = false
	s.reader.alive(pingEvery + pongTime)
	if err == nil && !s.messages.spend() {
		err = errTooMany
	}
	return kind, message, err
}

// listen takes messages until there are no more, and returns the close code that says why; 0 where the reader was sent
// away by somebody else.
func (h *Hub) listen(s *socket) (code int) {
	for first := true; ; first = false {
		kind, message, err := s.read()
		if err != nil {
			return s.codeOf(err)
		}
		if kind != fasthttpsocket.TextMessage || !h.obey(s.reader, message, first) {
			return policyViolation
		}
	}
}

// codeOf returns the close code for the end of reading.
func (s *socket) codeOf(err error) int {
	if s.reader.isLeaving() {
		return 0
	}
	if closed, ok := errors.AsType[*fasthttpsocket.CloseError](err); ok {
		return closed.Code
	}
	switch {
	case errors.Is(err, fasthttpsocket.ErrReadLimit):
		return messageTooBig
	case errors.Is(err, errTooMany):
		return policyViolation
	}
	return lostConnection
}

// send implements wire. What many get was made ready for the wire by the first of them.
func (s *socket) send(f *frame, deadline time.Time) error {
	_ = s.conn.SetWriteDeadline(deadline) // cannot fail: it is only noted
	if !f.shared {
		return s.conn.WriteMessage(fasthttpsocket.TextMessage, f.text)
	}
	f.prepare.Do(func() { f.ready, _ = fasthttpsocket.NewPreparedMessage(fasthttpsocket.TextMessage, f.text) })
	prepared, _ := f.ready.(*fasthttpsocket.PreparedMessage)
	return s.conn.WritePreparedMessage(prepared)
}

// ping implements wire.
func (s *socket) ping(deadline time.Time) error {
	return s.conn.WriteControl(fasthttpsocket.PingMessage, nil, deadline)
}

// goodbye implements wire.
func (s *socket) goodbye(code int, reason string, deadline time.Time) error {
	return s.conn.WriteControl(fasthttpsocket.CloseMessage, fasthttpsocket.FormatCloseMessage(code, reason), deadline)
}

// stopReading implements wire.
func (s *socket) stopReading(at time.Time) { _ = s.conn.SetReadDeadline(at) }

// stopWriting implements wire.
func (s *socket) stopWriting(at time.Time) { _ = s.conn.NetConn().SetWriteDeadline(at) }

// dismiss says goodbye from the handler, when nobody else writes, and waits a moment for the other side to close. A
// connection that is closed while the other side still sends is reset, and what was said last is lost with it.
func (s *socket) dismiss(code int) {
	deadline := time.Now().Add(farewellTime)
	if err := s.goodbye(code, "", deadline); err != nil && !errors.Is(err, fasthttpsocket.ErrCloseSent) {
		return
	}
	raw := s.conn.NetConn()
	_ = raw.SetReadDeadline(deadline)
	_, _ = io.CopyN(io.Discard, onlyReader{raw}, lingerBytes)
}

// onlyReader hides what else a connection can do, so that copying takes a small buffer.
type onlyReader struct{ io.Reader }

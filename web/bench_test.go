package web

import (
	"context"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"leaderboard/handlers/api"
	"leaderboard/store"
	"leaderboard/store/redisstore"
	"leaderboard/store/storetest"
)

// How much of a request is ours: the whole server but the network and the store, beside a Fiber that answers the same
// bytes to everybody.
//
//	go test ./web -run '^$' -bench . -benchmem

func BenchmarkConstantReply(b *testing.B) {
	app := fiber.New(fiber.Config{DisableStartupMessage: true})
	app.Get("/", func(c *fiber.Ctx) error { return c.SendString("hello") })
	serveAgain(b, app, request("GET", "/", "", "Accept: */*"))
}

func BenchmarkTop(b *testing.B) {
	s := newServer(b, func(d *Deps) { d.Tops = newPageTops(10) })
	serveAgain(b, s.app, request("GET", "/api/v1/boards/demo/top?limit=10", "", "Accept: */*"))
}

func BenchmarkTopUnchanged(b *testing.B) {
	s := newServer(b, func(d *Deps) { d.Tops = newPageTops(10) })
	serveAgain(b, s.app, request("GET", "/api/v1/boards/demo/top", "", "Accept: */*", `If-None-Match: "k3v9-17-1204"`))
}

func BenchmarkSubmit(b *testing.B) {
	s := newServer(b, nil)
	const body = `{"player":"player-000017","points":1250}`
	serveAgain(b, s.app, request("POST", scores, body, authorization, "Content-Type: application/json", length(body)))
}

// With a key from the store, and with limits that are never reached: what they cost a call, which is no trip.

func BenchmarkTopWithinALimit(b *testing.B) {
	kept := benchStore(b)
	s := newServer(b, func(d *Deps) {
		d.Tops = newPageTops(10)
		d.Limits = Limits{Limiter: redisstore.NewLimiter(kept), Address: store.Limit{Count: 1e9, Window: time.Second}}
	})
	serveAgain(b, s.app, request("GET", "/api/v1/boards/demo/top?limit=10", "", "Accept: */*"))
}

func BenchmarkSubmitWithAStoredKeyWithinItsLimit(b *testing.B) {
	kept := benchStore(b)
	id, token, hash := store.NewKeyToken()
	key := store.Key{ID: id, Name: "x", Hash: hash, Scopes: []store.Scope{store.ScopeScores}, Boards: []store.BoardID{"demo"}}
	if err := kept.AddKey(b.Context(), key); err != nil {
		b.Fatal(err)
	}
	s := newServer(b, func(d *Deps) {
		d.Keys = NewStoredKeys(KeysOptions{First: NewFirstKey(testKey), Store: kept, Log: slog.New(slog.DiscardHandler)})
		d.Limits = Limits{Limiter: redisstore.NewLimiter(kept), Key: store.Limit{Count: 1e9, Window: time.Second}}
	})
	const body = `{"player":"player-000017","points":1250}`
	bearer := "Authorization: Bearer " + token
	serveAgain(b, s.app, request("POST", scores, body, bearer, "Content-Type: application/json", length(body)))
}

func benchStore(b *testing.B) *redisstore.Store {
	return redisstore.New(storetest.Redis(b), redisstore.Options{Prefix: storetest.Prefix(b)})
}

// serveAgain lets an app answer one request again and again on one connection.
func serveAgain(b *testing.B, app *fiber.App, text string) {
	app.Handler() // makes the tree of routes
	conn := &againConn{text: []byte(text), left: b.N}
	b.ReportAllocs()
	b.ResetTimer()
	_ = app.Server().ServeConn(conn)
	if conn.written < b.N {
		b.Fatalf("%d replies to %d requests", conn.written, b.N)
	}
}

// againConn is a connection whose other side sends the next request when it has the reply to the last.
type againConn struct {
	net.Conn
	text    []byte
	rest    []byte
	left    int
	written int
}

func (c *againConn) Read(p []byte) (int, error) {
	if len(c.rest) == 0 {
		if c.left == 0 {
			return 0, net.ErrClosed
		}
		c.left--
		c.rest = c.text
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

func (c *againConn) Write(p []byte) (int, error) {
	c.written++
	return len(p), nil
}
func (*againConn) Close() error                     { return nil }
func (*againConn) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (*againConn) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (*againConn) SetDeadline(time.Time) error      { return nil }
func (*againConn) SetReadDeadline(time.Time) error  { return nil }
func (*againConn) SetWriteDeadline(time.Time) error { return nil }

// pageTops keeps one page for good.
type pageTops struct{ kept *pageKept }

type pageKept struct {
	page    store.Page
	encoded map[string][]byte
}

func newPageTops(entries int) pageTops {
	page := store.Page{Board: "demo", Season: store.Season{Number: 1}, Epoch: "k3v9", Version: 17, Total: 1204, More: true}
	for i := range entries {
		page.Entries = append(page.Entries, store.Entry{
			Rank: int64(i + 1), Player: "player-000017", Name: "Somebody", Points: 1250, AchievedAt: time.Unix(1_800_000_000, 0),
		})
	}
	return pageTops{&pageKept{page: page, encoded: map[string][]byte{}}}
}

func (p pageTops) Read(context.Context, store.BoardID, bool) (api.Kept, error) { return p.kept, nil }

func (k *pageKept) Page() *store.Page { return &k.page }

func (k *pageKept) Stale() (time.Duration, bool) { return 0, false }

func (k *pageKept) Encoded(key string, encode func() []byte) []byte {
	body, ok := k.encoded[key]
	if !ok {
		body = encode()
		k.encoded[key] = body
	}
	return body
}

package web

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"leaderboard/handlers/api"
	"leaderboard/store"
)

func TestTheFirstKeyKnowsItselfOnly(t *testing.T) {
	t.Parallel()
	key, err := NewFirstKey("secret").Find(t.Context(), "secret", netip.Addr{})
	if err != nil || !key.Has(store.ScopeAdmin) || !key.Has(store.ScopeScores) || !key.Has(store.ScopePlayers) || !key.Touches("any") {
		t.Errorf("the key is %+v (%v), want every scope on every board", key, err)
	}
	for _, wrong := range []string{"", "Secret", "secret ", "secre", "secrets"} {
		if _, err := NewFirstKey("secret").Find(t.Context(), wrong, netip.Addr{}); !errors.Is(err, api.ErrUnauthorized) {
			t.Errorf("%q is taken for the key: %v", wrong, err)
		}
	}
	for _, token := range []string{"", "x"} {
		if _, err := NewFirstKey("").Find(t.Context(), token, netip.Addr{}); !errors.Is(err, api.ErrUnauthorized) {
			t.Errorf("without a key %q is taken for one: %v", token, err)
		}
	}
}

func TestWhichCallsNeedAKeyBeforeTheirBody(t *testing.T) {
	t.Parallel()
	for call, want := range map[[2]string]bool{
		{"POST", "/api/v1/boards/demo/scores"}: true, {"PUT", "/api/v1/boards/demo?x=/lookup"}: true, {"DELETE", "/api/v1/boards/demo"}: true,
		{"POST", "/api/v1/boards/demo/lookup"}: false, {"POST", "/api/v1/boards/demo/lookup?season=1"}: false, {"GET", "/api/v1/boards"}: false,
		{"POST", "/api/v1/me"}: false, {"POST", "/api/v1/me/inbox/7/claim"}: false, {"POST", "/api/v1/menu"}: true, {"POST", "/admin/login"}: false,
		{"HEAD", "/api/v1/boards"}: false,
	} {
		var header fasthttp.RequestHeader
		header.SetMethod(call[0])
		header.SetRequestURI(call[1])
		if got := needsKey(&header); got != want {
			t.Errorf("%s %s needs a key: %v, want %v", call[0], call[1], got, want)
		}
	}
}

func TestForwardedAddressesAreBelievedFromTrustedProxiesOnly(t *testing.T) {
	t.Parallel()
	e := &edge{proxies: prefixes(t, "10.0.0.0/8", "fd00::/8")}
	app := fiber.New()
	for _, c := range []struct {
		peer      string
		forwarded []string
		want      string
	}{
		{"192.0.2.1", nil, "192.0.2.1"},
		{"192.0.2.1", []string{"198.51.100.7"}, "192.0.2.1"}, // forged
		{"10.0.0.1", nil, "10.0.0.1"},
		{"10.0.0.1", []string{"198.51.100.7"}, "198.51.100.7"},
		{"10.0.0.1", []string{"203.0.113.9, 198.51.100.7"}, "198.51.100.7"}, // what stands before was sent by the client
		{"10.0.0.1", []string{"203.0.113.9", "198.51.100.7, 10.2.2.2"}, "198.51.100.7"},
		{"10.0.0.1", []string{"10.9.9.9"}, "10.9.9.9"},
		{"10.0.0.1", []string{"nonsense, 198.51.100.7"}, "198.51.100.7"},
		{"10.0.0.1", []string{"198.51.100.7, nonsense"}, "10.0.0.1"},
		{"10.0.0.1", []string{""}, "10.0.0.1"},
		{"fd00::1", []string{"2001:db8::7"}, "2001:db8::7"},
		{"10.0.0.1", []string{"::ffff:198.51.100.7"}, "198.51.100.7"},
	} {
		var raw fasthttp.RequestCtx
		raw.SetRemoteAddr(&net.TCPAddr{IP: net.ParseIP(c.peer)})
		for _, forwarded := range c.forwarded {
			raw.Request.Header.Add("X-Forwarded-For", forwarded)
		}
		ctx := app.AcquireCtx(&raw)
		if got := e.clientAddress(ctx).String(); got != c.want {
			t.Errorf("%s with %q is %s, want %s", c.peer, c.forwarded, got, c.want)
		}
		app.ReleaseCtx(ctx)
	}
}

func TestTheDeadlineOfARequest(t *testing.T) {
	t.Parallel()
	t.Run("ends who waits for it", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			d := newDeadline(time.Now().Add(time.Second))
			child, cancel := context.WithCancel(d)
			defer cancel()
			<-child.Done()
			if !errors.Is(child.Err(), context.DeadlineExceeded) || !errors.Is(d.Err(), context.DeadlineExceeded) {
				t.Errorf("ended with %v and %v", child.Err(), d.Err())
			}
		})
	})
	t.Run("is over when nobody waited", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			d := newDeadline(time.Now().Add(time.Second))
			if d.Err() != nil {
				t.Errorf("over at once: %v", d.Err())
			}
			time.Sleep(time.Second)
			if !errors.Is(d.Err(), context.DeadlineExceeded) {
				t.Errorf("after its time: %v", d.Err())
			}
		})
	})
	t.Run("ends with its request", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			early, late := newDeadline(time.Now().Add(time.Hour)), newDeadline(time.Now().Add(time.Hour))
			done := early.Done()
			early.release()
			late.release()
			<-done
			<-late.Done()
			if !errors.Is(early.Err(), context.Canceled) || !errors.Is(late.Err(), context.Canceled) {
				t.Errorf("ended with %v and %v", early.Err(), late.Err())
			}
		})
	})
	t.Run("has children without goroutines", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			d := newDeadline(time.Now().Add(time.Hour))
			_, cancel := context.WithTimeout(d, time.Minute)
			defer cancel()
			d.release() // the bubble fails the test if a goroutine is left
		})
	})
}

func TestAGentleCloseLetsTheOtherSideRead(t *testing.T) {
	t.Parallel()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener := Linger(inner)
	defer listener.Close()
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		_, _ = conn.Write([]byte("no"))
		conn.(*lingeringConn).linger.Store(true)
		_ = conn.Close()
	}()
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = conn.Write(make([]byte, 128<<10)) // unread when the server closes
	if got, err := io.ReadAll(conn); string(got) != "no" {
		t.Errorf("read %q (%v), want the whole reply", got, err)
	}
}

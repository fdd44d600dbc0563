package redisconn

import (
	"context"
	"crypto/tls"
	"net"
	"os"
	"syscall"
	"time"
)

// dialer returns a function that connects, over TLS where secure is set. Unlike the client's own it obeys its context
// during the TLS handshake.
func dialer(secure *tls.Config, cluster bool) func(ctx context.Context, network, address string) (net.Conn, error) {
	// A peer that is gone without a word is noticed after 30 + 3 × 5 seconds, also on connections that only listen.
	plain := net.Dialer{KeepAliveConfig: net.KeepAliveConfig{
		Enable: true, Idle: 30 * time.Second, Interval: 5 * time.Second, Count: 3,
	}}
	dial := plain.DialContext
	if secure != nil {
		dial = (&tls.Dialer{NetDialer: &plain, Config: secure}).DialContext
	}
	if !cluster {
		return dial
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err // nothing was sent: the client may well try another node
		}
		return neverTwice(conn), nil
	}
}

// lostError stands for an error of a connection on which something may have been sent. The Cluster client repeats a
// command after an EOF or a timeout whatever MaxRetries says; it does not after an error that it cannot look into, so
// there is no Unwrap.
type lostError struct{ cause error }

func (e *lostError) Error() string { return e.cause.Error() }

// Is lets callers tell a timeout, which the client does not look for in this way.
func (e *lostError) Is(target error) bool {
	netError, ok := e.cause.(net.Error)
	return target == os.ErrDeadlineExceeded && ok && netError.Timeout()
}

func lost(err error) error {
	if err == nil {
		return nil
	}
	return &lostError{err}
}

// neverTwice returns the connection with its errors made opaque.
func neverTwice(conn net.Conn) net.Conn {
	if raw, ok := conn.(syscall.Conn); ok {
		return rawConn{opaqueConn{conn}, raw}
	}
	return opaqueConn{conn}
}

type opaqueConn struct{ net.Conn }

func (c opaqueConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	return n, lost(err)
}

func (c opaqueConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	return n, lost(err)
}

// rawConn also lets the client look whether the other side has hung up before it uses a connection again.
type rawConn struct {
	opaqueConn
	syscall.Conn
}

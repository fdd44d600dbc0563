package web

import (
	"io"
	"net"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"
)

// Linger returns a listener whose connections can close gently. A server that closes a connection while the other side
// still sends makes the kernel throw away what was answered: the sender of a body that was refused unread would see a
// broken connection instead of the reason.
func Linger(listener net.Listener) net.Listener { return lingeringListener{listener} }

type lingeringListener struct{ net.Listener }

// Accept implements [net.Listener].
func (l lingeringListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &lingeringConn{Conn: conn}, nil
}

type lingeringConn struct {
	net.Conn
	linger atomic.Bool
}

// Bounds of what is read and thrown away before a connection closes.
const (
	lingerTime  = 500 * time.Millisecond
	lingerBytes = 256 << 10
)

// Close implements [net.Conn].
func (c *lingeringConn) Close() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok && c.linger.Swap(false) && half.CloseWrite() == nil {
		_ = c.Conn.SetReadDeadline(time.Now().Add(lingerTime))
		_, _ = io.CopyN(io.Discard, c.Conn, lingerBytes)
	}
	return c.Conn.Close()
}

// closeGently has the connection of a request close gently when it closes.
func closeGently(c *fiber.Ctx) {
	if conn, ok := c.Context().Conn().(*lingeringConn); ok {
		conn.linger.Store(true)
	}
}

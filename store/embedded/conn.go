package embedded

import (
	"errors"
	"net"
	"sync"
)

// maxPending is how much may wait for a client that does not read, as Redis bounds it for subscribers.
const maxPending = 32 << 20

var errSlowReader = errors.New("embedded: the client does not read its replies")

// patientConn is the server's end of a connection. Its writes never wait for the other side: a pipe has no buffer, and
// miniredis holds its lock while it hands a published message on, so that one client that is not reading just then
// would stop the store; a client that is still writing a long pipeline would never read at all.
type patientConn struct {
	net.Conn
	flushed sync.WaitGroup

	mu      sync.Mutex
	pending []byte
	flush   bool // a goroutine is writing
	err     error
}

// pipe returns both ends of a connection inside the process.
func pipe() (client net.Conn, server *patientConn) {
	client, end := net.Pipe()
	return client, &patientConn{Conn: end}
}

// Write keeps a copy of b and returns.
func (c *patientConn) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil && len(c.pending) > maxPending {
		c.err = errSlowReader
		c.Conn.Close()
	}
	if c.err != nil {
		return 0, c.err
	}
	c.pending = append(c.pending, b...)
	if !c.flush {
		c.flush = true
		c.flushed.Go(c.drain)
	}
	return len(b), nil
}

// drain writes until nothing is left.
func (c *patientConn) drain() {
	var buffer []byte
	for {
		c.mu.Lock()
		buffer, c.pending = c.pending, buffer[:0]
		if len(buffer) == 0 || c.err != nil {
			c.flush = false
			c.mu.Unlock()
			return
		}
		c.mu.Unlock()
		if _, err := c.Conn.Write(buffer); err != nil {
			c.mu.Lock()
			c.err = err
			c.mu.Unlock()
		}
	}
}

// Close ends the connection and waits until nobody writes any more.
func (c *patientConn) Close() error {
	c.mu.Lock()
	if c.err == nil {
		c.err = net.ErrClosed
	}
	c.mu.Unlock()
	err := c.Conn.Close()
	c.flushed.Wait()
	return err
}

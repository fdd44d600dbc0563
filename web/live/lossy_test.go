package live_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
)

// lossy stands between a process and its Redis and drops what is published on boards' channels, now and then, as a
// network that breaks for a moment does. Everything else passes.
type lossy struct {
	addr    string
	percent atomic.Int64 // of the messages that are dropped
	dropped atomic.Int64
	passed  atomic.Int64

	mu    sync.Mutex
	conns []net.Conn
}

func newLossy(t *testing.T, redis string) *lossy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &lossy{addr: listener.Addr().String()}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", redis)
			if err != nil {
				client.Close()
				continue
			}
			l.mu.Lock()
			l.conns = append(l.conns, client, server)
			l.mu.Unlock()
			running.Go(func() { defer client.Close(); defer server.Close(); _, _ = io.Copy(server, client) })
			running.Go(func() { defer client.Close(); defer server.Close(); l.answer(client, bufio.NewReader(server)) })
		}
	})
	t.Cleanup(func() {
		listener.Close()
		l.cut()
		running.Wait()
	})
	return l
}

// cut breaks all connections.
func (l *lossy) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, conn := range l.conns {
		conn.Close()
	}
	l.conns = nil
}

// answer passes what Redis says, value by value.
func (l *lossy) answer(client io.Writer, server *bufio.Reader) {
	for {
		value, err := readValue(server, nil)
		if err != nil {
			return
		}
		if isChange(value) {
			if rand.Int64N(100) < l.percent.Load() {
				l.dropped.Add(1)
				continue
			}
			l.passed.Add(1)
		}
		if _, err := client.Write(value); err != nil {
			return
		}
	}
}

// isChange reports whether a value is a message on a board's channel.
func isChange(value []byte) bool {
	return (value[0] == '>' || value[0] == '*') && bytes.Contains(value[:min(len(value), 30)], []byte("\r\nmessage\r\n")) &&
		bytes.Contains(value, []byte(":live\r\n"))
}

// readValue reads one value of the Redis protocol (RESP3) as it is.
func readValue(from *bufio.Reader, value []byte) ([]byte, error) {
	line, err := from.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	value = append(value, line...)
	count, _ := strconv.Atoi(string(bytes.TrimSpace(line[1:])))
	switch line[0] {
	case '+', '-', ':', '_', '#', ',', '(':
		return value, nil
	case '$', '=', '!':
		if count < 0 {
			return value, nil
		}
		text := make([]byte, count+2)
		_, err := io.ReadFull(from, text)
		return append(value, text...), err
	case '%':
		count *= 2
	case '|': // attributes, and the value that they belong to
		count = 2*count + 1
	case '*', '~', '>':
	default:
		return nil, fmt.Errorf("no value begins with %q", line)
	}
	for range count {
		if value, err = readValue(from, value); err != nil {
			return nil, err
		}
	}
	return value, nil
}

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// load is a stream of requests over connections that are kept open, one request at a time on each. It shares the
// machine with what it measures, so it does as little as a client can.
type load struct {
	address     string
	connections int
	warmUp      time.Duration // sent, not counted
	duration    time.Duration
	// next returns, for a connection, what appends its next request to a buffer.
	next func(connection int) func(to []byte) []byte
}

// measured is what a load was answered.
type measured struct {
	replies int64
	length  time.Duration
	times   latencies
}

// perSecond returns the replies a second.
func (m *measured) perSecond() float64 { return float64(m.replies) / m.length.Seconds() }

// run sends the load and returns what came of it. Any reply but 200 is an error: it would be measured as a fast one.
func (l *load) run(ctx context.Context) (*measured, error) {
	group, ctx := errgroup.WithContext(ctx)
	var stop atomic.Bool
	begin := time.Now().Add(l.warmUp)
	seen := make([]measured, l.connections)
	for connection := range l.connections {
		group.Go(func() error {
			return l.drive(ctx, l.next(connection), begin, &stop, &seen[connection])
		})
	}
	err := sleepUntil(ctx, begin.Add(l.duration))
	stop.Store(true)
	all := &measured{length: time.Since(begin)}
	if failed := group.Wait(); failed != nil {
		return nil, failed
	}
	for i := range seen {
		all.replies += seen[i].replies
		all.times.merge(&seen[i].times)
	}
	return all, err
}

// drive sends one connection's share.
func (l *load) drive(ctx context.Context, next func([]byte) []byte, begin time.Time, stop *atomic.Bool, seen *measured) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", l.address)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if err := conn.SetDeadline(begin.Add(l.duration + 30*time.Second)); err != nil {
		return err
	}
	replies := bufio.NewReaderSize(conn, 16<<10)
	var out []byte
	for !stop.Load() {
		out = next(out[:0])
		sent := time.Now()
		if _, err := conn.Write(out); err != nil {
			return err
		}
		if err := skipReply(replies); err != nil {
			return err
		}
		if sent.After(begin) && !stop.Load() {
			seen.replies++
			seen.times.add(time.Since(sent))
		}
	}
	return nil
}

// errLimited means that a server has limits, of which a measurement would be one.
var errLimited = errors.New("the server has limits and would be measured by them: " +
	"start it with --rate-limit-player=0 --rate-limit-key=0 --rate-limit-address=0")

// skipReply reads one reply and throws it away.
func skipReply(from *bufio.Reader) error {
	status, err := from.ReadSlice('\n')
	if err != nil {
		return err
	}
	ok := bytes.HasPrefix(status, []byte("HTTP/1.1 200 "))
	first := ""
	if !ok {
		first = string(bytes.TrimSpace(status))
	}
	length := -1
	for {
		line, err := from.ReadSlice('\n')
		if err != nil {
			return err
		}
		if len(line) <= 2 {
			break
		}
		const name = "content-length:"
		if len(line) > len(name) && bytes.EqualFold(line[:len(name)], []byte(name)) {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(line[len(name):]))); err != nil {
				return err
			}
		}
	}
	if length < 0 {
		return errors.New("a reply without Content-Length")
	}
	if strings.Contains(first, " 429 ") {
		return errLimited
	}
	if !ok {
		body, err := io.ReadAll(io.LimitReader(from, int64(min(length, 500))))
		return errors.Join(fmt.Errorf("%s: %s", first, body), err)
	}
	_, err = from.Discard(length)
	return err
}

// latencies counts replies by how long they took, in steps of a sixteenth.
type latencies struct{ counts [64 * 16]int64 }

func (l *latencies) add(took time.Duration) {
	us := uint64(max(took.Microseconds(), 1))
	power := bits.Len64(us) - 1
	l.counts[power*16+int(us<<4>>power)&15]++
}

func (l *latencies) merge(other *latencies) {
	for i, count := range other.counts {
		l.counts[i] += count
	}
}

// quantile returns a time that the given share of the replies did not exceed.
func (l *latencies) quantile(share float64) time.Duration {
	total := int64(0)
	for _, count := range l.counts {
		total += count
	}
	left := int64(share * float64(total))
	for i, count := range l.counts {
		if left -= count; left < 0 {
			return time.Duration((16+uint64(i&15)+1)<<(i>>4)>>4) * time.Microsecond
		}
	}
	return 0
}

package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"leaderboard/store"
)

type benchCmd struct {
	Connections int           `default:"128" help:"Connections that send at the same time."`
	Duration    time.Duration `default:"5s" help:"How long each kind of request is measured."`
	Players     int           `default:"100000" help:"Players on the board. The embedded store is made for ten thousand at most."`
	remote
}

// Validate is called by kong.
func (c *benchCmd) Validate() error {
	switch {
	case c.Connections < 1 || c.Connections > 10_000:
		return errors.New("--connections must be 1 to 10000")
	case c.Duration <= 0:
		return errors.New("--duration must be more than 0")
	case c.Players < c.Connections || c.Players > 10_000_000:
		return errors.New("--players must be at least --connections, and at most 10000000")
	}
	return nil
}

// Run makes a board, fills it, measures, and removes the board. Beside each kind of request stands the same request
// answered by a constant reply of Fiber, from a process of its own, in the same run: the share is what counts, the
// rates are those of this machine.
func (c *benchCmd) Run(ctx context.Context, std streams) (err error) {
	board := "bench-" + strings.ToLower(rand.Text()[:8])
	server, err := c.open(board)
	if err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	if server.base.Scheme != "http" {
		return errors.New("bench: --url must be http: TLS is not what is measured")
	}
	said := newTeller(std.err)
	defer said.clear()
	constant, stop, err := startReply(ctx)
	if err != nil {
		return fmt.Errorf("bench: constant reply: %w", err)
	}
	defer stop()
	b := &bench{benchCmd: c, server: server, board: board, constant: constant, said: said, points: make([]int32, c.Players)}
	defer func() {
		clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		err = errors.Join(err, b.remove(clean))
	}()
	if err := b.fill(ctx); err != nil {
		return fmt.Errorf("bench: %w", explain(err, board))
	}
	lines, err := b.measure(ctx)
	if err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	said.clear()
	return c.report(std.out, lines)
}

// bench is one run.
type bench struct {
	*benchCmd
	server   *server
	board    string
	constant string // address of the constant reply
	said     *teller
	points   []int32 // what each player has; a player belongs to one connection
	made     bool
}

// fill makes the board and its players.
func (b *bench) fill(ctx context.Context) error {
	var made struct{}
	_, err := b.server.call(ctx, request{
		method: http.MethodPut, path: []string{"boards", b.board}, body: []byte("{}"),
	}, &made)
	if err != nil {
		return err
	}
	b.made = true
	for from := 0; from < b.Players; from += store.MaxBatch {
		b.said.progress(fmt.Sprintf("filling the board: %d of %d players", from, b.Players))
		body := []byte(`{"scores":[`)
		for player := from; player < min(from+store.MaxBatch, b.Players); player++ {
			b.points[player] = 1 + mathrand.Int32N(1_000_000)
			body = append(b.appendScore(body, player), ',')
		}
		body = append(body[:len(body)-1], "]}"...)
		var reply struct {
			Results []result `json:"results"`
		}
		tries := retries{patience: time.Minute}
		for {
			_, err := b.server.call(ctx, request{
				method: http.MethodPost, path: []string{"boards", b.board, "scores", "batch"}, body: body,
			}, &reply)
			if err == nil {
				break
			}
			if err := tries.wait(ctx, err, b.said); err != nil {
				return err
			}
		}
		if len(reply.Results) == 0 || reply.Results[0].Status != http.StatusOK {
			return errors.New("the server did not take the players")
		}
	}
	return nil
}

func (b *bench) appendScore(to []byte, player int) []byte {
	to = fmt.Appendf(to, `{"player":"player-%09d","points":`, player) // an id of 16 bytes
	to = strconv.AppendInt(to, int64(b.points[player]), 10)
	return append(to, '}')
}

// remove takes the board away again.
func (b *bench) remove(ctx context.Context) error {
	if !b.made {
		return nil
	}
	reply, err := b.server.send(ctx, request{method: http.MethodDelete, path: []string{"boards", b.board}})
	if err != nil {
		return fmt.Errorf("bench: board %s is left behind: %w", b.board, err)
	}
	return reply.Body.Close()
}

// line is a row of the report.
type line struct {
	what     string
	unit     float64 // what one reply counts for
	got      *measured
	constant *measured // nil: this line is the constant reply
}

// measure sends each kind of load, the constant reply right before what it is compared with.
func (b *bench) measure(ctx context.Context) ([]line, error) {
	host := address(b.server.base)
	submits := func(connection int) func([]byte) []byte {
		return b.submissions(connection, b.Connections, 1, "scores")
	}
	batches := func(connection int) func([]byte) []byte {
		return b.submissions(connection, min(b.Connections, 8), 100, "scores/batch")
	}
	top := func(int) func([]byte) []byte {
		request := b.head("GET", "top?limit=10") + "\r\n"
		return func(to []byte) []byte { return append(to, request...) }
	}
	var lines []line
	for _, kind := range []struct {
		what, rival string
		next        func(int) func([]byte) []byte
		connections int
		unit        float64
	}{
		{"single submissions", "constant reply to the same", submits, b.Connections, 1},
		{"top 10", "constant reply to the same", top, b.Connections, 1},
		{"scores in batches of 100", "constant reply to the same", batches, min(b.Connections, 8), 100},
	} {
		l := load{connections: kind.connections, warmUp: b.Duration / 5, duration: b.Duration, next: kind.next}
		b.said.progress("measuring " + kind.rival + ": " + kind.what)
		l.address = b.constant
		constant, err := l.run(ctx)
		if err != nil {
			return nil, fmt.Errorf("constant reply: %w", err)
		}
		b.said.progress("measuring " + kind.what)
		l.address = host
		got, err := l.run(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", kind.what, err)
		}
		lines = append(lines, line{kind.what, kind.unit, got, constant}, line{kind.rival, kind.unit, constant, nil})
	}
	return lines, nil
}

// submissions returns a stream of requests in which every score is better than the player's last.
func (b *bench) submissions(connection, connections, size int, path string) func([]byte) []byte {
	head := b.head("POST", path) + "Content-Type: application/json\r\nContent-Length: "
	chances := mathrand.New(mathrand.NewPCG(uint64(connection), 2))
	own := (b.Players - connection + connections - 1) / connections
	var body []byte
	return func(to []byte) []byte {
		body = body[:0]
		if size > 1 {
			body = append(body, `{"scores":[`...)
		}
		for i := range size {
			if i > 0 {
				body = append(body, ',')
			}
			player := connection + connections*chances.IntN(own)
			b.points[player] += 1 + chances.Int32N(20)
			body = b.appendScore(body, player)
		}
		if size > 1 {
			body = append(body, "]}"...)
		}
		to = append(to, head...)
		to = strconv.AppendInt(to, int64(len(body)), 10)
		to = append(to, "\r\n\r\n"...)
		return append(to, body...)
	}
}

// head returns a request up to its last header.
func (b *bench) head(method, path string) string {
	target := b.server.base.JoinPath("api", "v1", "boards", b.board).EscapedPath() + "/" + path
	head := method + " " + target + " HTTP/1.1\r\nHost: " + b.server.base.Host + "\r\n"
	if method == http.MethodPost {
		head += "Authorization: Bearer " + b.server.key + "\r\n"
	}
	return head
}

// address returns host and port of a URL.
func address(of *url.URL) string {
	if of.Port() == "" {
		return net.JoinHostPort(of.Hostname(), "80")
	}
	return of.Host
}

// report prints the lines as a table.
func (c *benchCmd) report(to io.Writer, lines []line) error {
	fmt.Fprintf(to, "%d CPUs, which the load generator shares; %d connections, %s each, %d players\n\n",
		runtime.NumCPU(), c.Connections, c.Duration, c.Players)
	table := tabwriter.NewWriter(to, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "\ta second\tp50\tp99\tof the constant reply\t")
	for _, l := range lines {
		share := "100 %"
		if l.constant != nil {
			share = fmt.Sprintf("%.0f %%", 100*l.got.perSecond()/l.constant.perSecond())
		}
		fmt.Fprintf(table, "%s\t%.0f\t%s\t%s\t%s\t\n", l.what, l.got.perSecond()*l.unit,
			l.got.times.quantile(0.5), l.got.times.quantile(0.99), share)
	}
	return table.Flush()
}

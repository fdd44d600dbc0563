package redisconn_test

import (
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"leaderboard/store/redisconn"
	"leaderboard/store/storetest"
)

// proxy stands before a Redis and can lose its replies.
type proxy struct {
	listener net.Listener
	target   atomic.Pointer[string]
	lose     atomic.Pointer[func(client net.Conn)] // what happens to a client instead of the next reply
}

func newProxy(t *testing.T) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	p := &proxy{listener: listener}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go p.serve(client)
		}
	}()
	return p
}

func (p *proxy) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", *p.target.Load())
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		io.Copy(server, client)
		server.Close()
	}()
	buffer := make([]byte, 64<<10)
	for {
		n, err := server.Read(buffer)
		if err != nil {
			return
		}
		// Only the first: a repeat, if there were one, would have to greet the server first.
		if lose := p.lose.Swap(nil); lose != nil {
			(*lose)(client)
			continue
		}
		client.Write(buffer[:n])
	}
}

func TestNothingIsSentTwiceWhenAReplyIsLost(t *testing.T) {
	t.Parallel()
	losses := map[string]func(net.Conn){
		"by a cut":     func(client net.Conn) { client.Close() },
		"by a reset":   func(client net.Conn) { client.(*net.TCPConn).SetLinger(0); client.Close() },
		"by a timeout": func(net.Conn) {},
	}
	for _, kind := range []string{"one server", "a cluster"} {
		for name, lose := range losses {
			t.Run(kind+" "+name, func(t *testing.T) {
				t.Parallel()
				p := newProxy(t)
				_, port, _ := net.SplitHostPort(p.listener.Addr().String())
				var server *storetest.RedisServer
				address := "redis://" + p.listener.Addr().String()
				if kind == "a cluster" {
					server = storetest.Cluster(t, "--cluster-announce-port", port)
					address += "," + p.listener.Addr().String()
				} else {
					server = storetest.Server(t)
				}
				target := server.Addr()
				p.target.Store(&target)

				options, err := redisconn.Parse(address)
				if err != nil {
					t.Fatal(err)
				}
				options.ReadTimeout = 200 * time.Millisecond
				client := redis.NewUniversalClient(options)
				defer client.Close()
				countOnce(t, p, client, lose)
			})
		}
	}
}

// countOnce counts in every way that a store may use, and loses the reply each time.
func countOnce(t *testing.T, p *proxy, client redis.UniversalClient, lose func(net.Conn)) {
	ways := map[string]func() error{
		"command": func() error { return client.Incr(t.Context(), "command").Err() },
		"script": func() error {
			return client.Eval(t.Context(), "return redis.call('INCR', KEYS[1])", []string{"script"}).Err()
		},
		"pipeline": func() error {
			_, err := client.Pipelined(t.Context(), func(pipe redis.Pipeliner) error {
				pipe.Incr(t.Context(), "pipeline")
				return nil
			})
			return err
		},
		"transaction": func() error {
			_, err := client.TxPipelined(t.Context(), func(pipe redis.Pipeliner) error {
				pipe.Incr(t.Context(), "transaction")
				return nil
			})
			return err
		},
	}
	for name, count := range ways {
		if err := client.Set(t.Context(), name, 0, 0).Err(); err != nil {
			t.Fatal(err)
		}
		p.lose.Store(&lose)
		if err := count(); err == nil {
			t.Errorf("%s: a lost reply is no error", name)
		}
		if got, err := client.Get(t.Context(), name).Int(); got != 1 || err != nil {
			t.Errorf("%s: counted %d times (%v), want once", name, got, err)
		}
	}
}

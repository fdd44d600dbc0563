package storetest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// RedisServer is a redis-server on a port of its own on the loopback interface. It never outlives the test process,
// however that ends.
type RedisServer struct {
	dir   string // what it writes to disk, and its log
	port  string
	kind  kind
	flags []string

	keeper *exec.Cmd      // nil while the server is down
	orders io.WriteCloser // to the keeper
}

// kind is what a redis-server is.
type kind string

const (
	alone    kind = "alone"
	cluster  kind = "cluster"
	sentinel kind = "sentinel"
)

// masterName is what Sentinels of tests call their master.
const masterName = "scores"

// Server starts a redis-server for this test alone, to be killed and started again. Flags are those of redis-server and
// win over the default of keeping nothing on disk: Server(t, "--appendonly", "yes", "--appendfsync", "always"). The
// test is skipped where there is no redis-server.
func Server(tb testing.TB, flags ...string) *RedisServer {
	tb.Helper()
	return serverFor(tb, alone, flags)
}

// Cluster starts a Redis Cluster of one node for this test alone. It answers CROSSSLOT where keys of one call lie in
// different slots.
func Cluster(tb testing.TB, flags ...string) *RedisServer {
	tb.Helper()
	return serverFor(tb, cluster, flags)
}

// Sentinel starts a Sentinel for this test alone, which watches the master.
func Sentinel(tb testing.TB, master *RedisServer, flags ...string) *RedisServer {
	tb.Helper()
	return serverFor(tb, sentinel, append([]string{"--sentinel", "monitor", masterName, "127.0.0.1", master.port, "1"}, flags...))
}

func serverFor(tb testing.TB, kind kind, flags []string) *RedisServer {
	tb.Helper()
	if !hasRedisServer() {
		Require(tb, "redis")
	}
	s, err := startServer(kind, flags...)
	if err != nil {
		tb.Fatalf("storetest: start redis-server: %v", err)
	}
	tb.Cleanup(func() {
		s.end("KILL")
		os.RemoveAll(s.dir)
	})
	return s
}

// Addr returns host and port.
func (s *RedisServer) Addr() string { return net.JoinHostPort("127.0.0.1", s.port) }

// URL returns the address as the server's --redis-url takes it.
func (s *RedisServer) URL() string {
	switch s.kind {
	case cluster:
		return "redis://" + s.Addr() + "," + s.Addr() // two addresses make a Cluster, also twice the same
	case sentinel:
		return "redis://" + s.Addr() + "?master_name=" + masterName
	}
	return "redis://" + s.Addr()
}

// Client returns a client that is closed after the test.
func (s *RedisServer) Client(tb testing.TB) redis.UniversalClient {
	tb.Helper()
	return connect(tb, s.URL())
}

// Log returns what the server has logged since it was last started.
func (s *RedisServer) Log() string {
	text, _ := os.ReadFile(filepath.Join(s.dir, "redis.log"))
	return string(text)
}

// Kill ends the server as a power cut would: nothing is saved. It returns when the server is gone.
func (s *RedisServer) Kill(tb testing.TB) {
	tb.Helper()
	if err := s.end("KILL"); err != nil {
		tb.Fatalf("storetest: kill redis-server: %v", err)
	}
}

// Stop ends the server in order: it saves what its flags say. It returns when the server is gone.
func (s *RedisServer) Stop(tb testing.TB) {
	tb.Helper()
	if err := s.end("TERM"); err != nil {
		tb.Fatalf("storetest: stop redis-server: %v", err)
	}
}

// Restart starts a server that was killed or stopped, on the same port and files, and ends one that still runs. It
// returns when the server answers.
func (s *RedisServer) Restart(tb testing.TB) {
	tb.Helper()
	if err := errors.Join(s.end("TERM"), s.start()); err != nil {
		tb.Fatalf("storetest: restart redis-server: %v", err)
	}
}

func startServer(kind kind, flags ...string) (*RedisServer, error) {
	dir, err := os.MkdirTemp("", "leaderboard-redis-")
	if err != nil {
		return nil, err
	}
	s := &RedisServer{dir: dir, kind: kind, flags: flags}
	for range 5 { // another process may take the port between the look and the start
		if s.port, err = freePort(); err != nil {
			break
		}
		if err = s.start(); err == nil {
			return s, nil
		}
	}
	os.RemoveAll(dir)
	return nil, err
}

// freePort returns a port below those that the system hands out to clients: a client that keeps trying to reach a
// killed server could be given the server's own port, and would then talk to itself.
func freePort() (string, error) {
	for range 100 {
		port := strconv.Itoa(12_000 + rand.IntN(10_000)) // a Cluster also listens 10 000 higher
		l, err := net.Listen("tcp", "127.0.0.1:"+port)
		if err != nil {
			continue
		}
		return port, l.Close()
	}
	return "", errors.New("no free port")
}

// keep runs a server as its parent, prints the server's process id, and waits for an order: the signal to end it
// with. When the test process is gone, in whatever way, its end of the pipe closes: no order comes, the server is
// killed and its folder removed. As the keeper is the parent, the process id cannot mean another process meanwhile.
const keep = `
dir=$1; shift
redis-server "$@" >"$dir/redis.log" 2>&1 </dev/null &
server=$!
trap '' HUP INT TERM
echo $server
if read -r signal; then
	kill -"$signal" $server
	wait $server
else
	kill -KILL $server
	wait $server
	rm -rf "$dir"
fi
exit 0
`

func (s *RedisServer) start() error {
	arguments := []string{"-c", keep, "keeper", s.dir}
	if s.kind == sentinel { // wants a file that it can write its findings to
		file := filepath.Join(s.dir, "sentinel.conf")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			return err
		}
		arguments = append(arguments, file, "--sentinel")
	} else {
		arguments = append(arguments, "--save", "", "--appendonly", "no")
	}
	arguments = append(arguments, "--bind", "127.0.0.1", "--port", s.port, "--dir", s.dir)
	if s.kind == cluster {
		arguments = append(arguments, "--cluster-enabled", "yes", "--cluster-announce-ip", "127.0.0.1")
	}
	s.keeper = exec.Command("sh", append(arguments, s.flags...)...)
	var err error
	if s.orders, err = s.keeper.StdinPipe(); err != nil {
		return err
	}
	said, err := s.keeper.StdoutPipe()
	if err != nil {
		return err
	}
	if err := s.keeper.Start(); err != nil {
		s.keeper = nil
		return err
	}
	pid, err := bufio.NewReader(said).ReadString('\n')
	if err == nil {
		err = s.ready(strings.TrimSpace(pid))
	}
	if err != nil {
		err = fmt.Errorf("%w; its log:\n%s", err, s.Log())
		return errors.Join(err, s.end("KILL"))
	}
	return nil
}

// end sends the server a signal and waits until it is gone. A server that is down stays so.
func (s *RedisServer) end(signal string) error {
	if s.keeper == nil {
		return nil
	}
	_, err := io.WriteString(s.orders, signal+"\n")
	err = errors.Join(err, s.keeper.Wait())
	s.keeper = nil
	return err
}

// ready waits until the server of this process id answers, and its cluster works.
func (s *RedisServer) ready(pid string) error {
	client := redis.NewClient(&redis.Options{Addr: s.Addr(), MaxRetries: -1, DialerRetries: 1, DisableIdentity: true})
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()

	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	for {
		info, err := s.info(ctx, client)
		switch log := s.Log(); {
		case redis.HasErrorPrefix(err, "NOAUTH"):
			return nil // it wants a password: then no more can be told
		case err != nil:
			if strings.Contains(log, "FATAL") || strings.Contains(log, "aborting") {
				return errors.New("it gave up")
			}
		case !strings.Contains(info, "process_id:"+pid+"\r\n"):
			return errors.New("another server has the port")
		case strings.Contains(info, "\nloading:1\r\n"):
		case s.kind != cluster:
			return nil
		default:
			if err = s.claimSlots(ctx, client); err == nil {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return errors.Join(errors.New("it does not answer"), err)
		case <-poll.C:
		}
	}
}

// info asks the server about itself once it listens: the client would log each attempt before.
func (s *RedisServer) info(ctx context.Context, client *redis.Client) (string, error) {
	conn, err := net.Dial("tcp", s.Addr())
	if err != nil {
		return "", err
	}
	conn.Close()
	return client.Info(ctx, "server", "persistence").Result()
}

// claimSlots gives the node all slots of the cluster unless it has them, and reports whether the cluster works.
func (s *RedisServer) claimSlots(ctx context.Context, client *redis.Client) error {
	info, err := client.ClusterInfo(ctx).Result()
	if err != nil {
		return err
	}
	if strings.Contains(info, "cluster_slots_assigned:0\r\n") {
		return errors.Join(client.ClusterAddSlotsRange(ctx, 0, 16_383).Err(), errors.New("cluster: slots just assigned"))
	}
	if !strings.Contains(info, "cluster_state:ok\r\n") {
		return errors.New("cluster: " + info)
	}
	return nil
}

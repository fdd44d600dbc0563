package redisstore_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2/server"
	"github.com/redis/go-redis/v9"

	"leaderboard/store/redisstore"
	"leaderboard/store/storetest"
)

// said collects what is logged.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// openRedis opens a Redis and returns what is said about it.
func openRedis(t *testing.T, address string) (redis.UniversalClient, string, error) {
	t.Helper()
	log := &said{}
	client, err := redisstore.Open(t.Context(), address, slog.New(slog.NewTextHandler(log, nil)))
	if err == nil {
		t.Cleanup(func() { client.Close() })
	}
	return client, log.String(), err
}

// works reports an error unless the client keeps what it is given.
func works(t *testing.T, client redis.UniversalClient) {
	t.Helper()
	if err := client.Set(t.Context(), "k", "v", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if got, err := client.Get(t.Context(), "k").Result(); got != "v" || err != nil {
		t.Errorf("got %q, %v, want v", got, err)
	}
}

func TestEveryKindOfRedisIsOpened(t *testing.T) {
	t.Parallel()
	t.Run("with a password and a database", func(t *testing.T) {
		t.Parallel()
		s := storetest.Server(t)
		admin := s.Client(t)
		admin.Do(t.Context(), "ACL", "SETUSER", "game", "on", ">p/w?@:#%", "~*", "&*", "+@all")
		client, _, err := openRedis(t, "redis://game:p%2Fw%3F%40%3A%23%25@"+s.Addr()+"/3")
		if err != nil {
			t.Fatal(err)
		}
		works(t, client)
		if got := admin.Exists(t.Context(), "k").Val(); got != 0 {
			t.Error("the key is in database 0, want it in 3")
		}
	})
	t.Run("through a Unix socket", func(t *testing.T) {
		t.Parallel()
		dir, err := os.MkdirTemp("", "s") // t.TempDir may be longer than a socket's path can be
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		socket := filepath.Join(dir, "redis.sock")
		storetest.Server(t, "--unixsocket", socket)
		client, _, err := openRedis(t, "unix://"+socket+"?db=1")
		if err != nil {
			t.Fatal(err)
		}
		works(t, client)
	})
	t.Run("a Cluster", func(t *testing.T) {
		t.Parallel()
		s := storetest.Cluster(t)
		for _, address := range []string{s.URL(), "redis://" + s.Addr() + "?addr=" + s.Addr()} {
			client, log, err := openRedis(t, address)
			if err != nil {
				t.Fatal(err)
			}
			works(t, client)
			if !strings.Contains(log, "node="+s.Addr()) {
				t.Errorf("the log does not name the node:\n%s", log)
			}
		}
	})
	t.Run("a master of Sentinels", func(t *testing.T) {
		t.Parallel()
		master := storetest.Server(t)
		client, _, err := openRedis(t, storetest.Sentinel(t, master).URL())
		if err != nil {
			t.Fatal(err)
		}
		works(t, client)
		if got := master.Client(t).Exists(t.Context(), "k").Val(); got != 1 {
			t.Error("the key is not on the master")
		}
	})
}

func TestTLSIsTrustedOnlyWhereItIsKnown(t *testing.T) {
	t.Parallel()
	certificate, key := selfSigned(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	_, port, _ := net.SplitHostPort(address)
	listener.Close()
	storetest.Server(t, "--tls-port", port, "--tls-auth-clients", "no",
		"--tls-cert-file", certificate, "--tls-key-file", key, "--tls-ca-cert-file", certificate)

	for option, trusted := range map[string]bool{"?ca_file=" + certificate: true, "?skip_verify=true": true, "": false} {
		client, _, err := openRedis(t, "rediss://"+address+option)
		if (err == nil) != trusted {
			t.Errorf("rediss://%s: got error %v, want none: %v", option, err, trusted)
		}
		if err == nil {
			works(t, client)
		}
	}
}

// selfSigned returns the files of a certificate for 127.0.0.1 and of its key.
func selfSigned(t *testing.T) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, block := range map[string]*pem.Block{
		"cert.pem": {Type: "CERTIFICATE", Bytes: signed}, "key.pem": {Type: "EC PRIVATE KEY", Bytes: encoded},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
}

func TestAnAddressThatLeadsNowhereIsSaidWithoutThePassword(t *testing.T) {
	t.Parallel()
	s := storetest.Server(t, "--requirepass", "right")
	dead := storetest.Server(t)
	dead.Kill(t)
	for address, want := range map[string]string{
		"redis://:s3cret@" + s.Addr():                              "WRONGPASS",
		"redis://" + s.Addr():                                      "NOAUTH",
		"redis://:s3cret@" + dead.Addr():                           "refused",
		"redis://:s3cret@h:port":                                   "port",
		"nonsense://:s3cret@h":                                     "must begin with redis://",
		"unix://:s3cret@/nowhere/redis.sock":                       "no such file",
		"redis://:s3cret@" + dead.Addr() + "," + dead.Addr():       "refused",
		"redis://:s3cret@" + dead.Addr() + "?master_name=s3cretly": "sentinel",
	} {
		start := time.Now()
		_, log, err := openRedis(t, address)
		if err == nil {
			t.Errorf("%s: opened", address)
			continue
		}
		if !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "redisstore: open") {
			t.Errorf("%s: got %q, want a word about %q", address, err, want)
		}
		if strings.Contains(err.Error()+log, "s3cret") && !strings.Contains(address, "s3cretly") {
			t.Errorf("%s: the password is shown: %v\n%s", address, err, log)
		}
		if took := time.Since(start); took > 8*time.Second {
			t.Errorf("%s: refused after %v", address, took)
		}
	}
}

func TestWhatMayLoseScoresIsWarnedAbout(t *testing.T) {
	t.Parallel()
	const evicts, forgets, replica = "drops keys", "writes nothing to disk", "is a replica"
	const cannotTell = "could not check"
	for name, c := range map[string]struct {
		flags    []string
		settings [][]any // commands of an admin
		user     string
		want     []string
	}{
		"AOF":           {flags: []string{"--appendonly", "yes"}},
		"RDB":           {flags: []string{"--save", "60 1"}},
		"nothing":       {want: []string{forgets}},
		"a cache":       {flags: []string{"--maxmemory-policy", "allkeys-lru"}, want: []string{forgets, evicts}},
		"volatile keys": {flags: []string{"--maxmemory-policy", "volatile-ttl", "--appendonly", "yes"}, want: []string{evicts}},
		"a replica":     {flags: []string{"--replicaof", "127.0.0.1 1", "--appendonly", "yes"}, want: []string{replica}},
		"no CONFIG, AOF": {
			flags: []string{"--appendonly", "yes"}, user: "game:pw@",
			settings: [][]any{{"ACL", "SETUSER", "game", "on", ">pw", "~*", "&*", "+@all", "-config"}},
		},
		"no CONFIG": {
			user: "game:pw@", want: []string{cannotTell},
			settings: [][]any{{"ACL", "SETUSER", "game", "on", ">pw", "~*", "&*", "+@all", "-config"}},
		},
		"no INFO": {
			user: "game:pw@", want: []string{forgets, cannotTell},
			settings: [][]any{{"ACL", "SETUSER", "game", "on", ">pw", "~*", "&*", "+@all", "-info"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := storetest.Server(t, c.flags...)
			for _, command := range c.settings {
				if err := s.Client(t).Do(t.Context(), command...).Err(); err != nil {
					t.Fatal(err)
				}
			}
			_, log, err := openRedis(t, "redis://"+c.user+s.Addr())
			if err != nil {
				t.Fatal(err)
			}
			for _, warning := range []string{evicts, forgets, replica, cannotTell} {
				wanted := false
				for _, w := range c.want {
					wanted = wanted || w == warning
				}
				if got := strings.Contains(log, warning); got != wanted {
					t.Errorf("warns %q: %v, want %v; the log:\n%s", warning, got, wanted, log)
				}
			}
		})
	}
}

// pretend starts a server that answers a few commands as it is told.
func pretend(t *testing.T, answers map[string]func(peer *server.Peer)) string {
	t.Helper()
	s, err := server.NewServer("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	for command, answer := range answers {
		if err := s.Register(command, func(peer *server.Peer, _ string, _ []string) { answer(peer) }); err != nil {
			t.Fatal(err)
		}
	}
	return "redis://" + s.Addr().String()
}

func text(words string) func(*server.Peer) { return func(peer *server.Peer) { peer.WriteBulk(words) } }

func TestAnOldRedisIsRefused(t *testing.T) {
	t.Parallel()
	for version, old := range map[string]bool{
		"2.8.0": true, "5.0.14": true, "6.0.20": true, "6.1.240": true,
		"6.2.0": false, "6.2": false, "7.0.15": false, "8.8.0": false, "10.0.0": false, "255.255.255": false, "unstable": false,
	} {
		address := pretend(t, map[string]func(*server.Peer){
			"PING": func(peer *server.Peer) { peer.WriteInline("PONG") },
			"INFO": text("# Server\r\nredis_version:" + version + "\r\nmaxmemory_policy:noeviction\r\naof_enabled:1\r\n"),
		})
		_, _, err := openRedis(t, address)
		if (err != nil) != old {
			t.Errorf("version %s: got error %v, want one: %v", version, err, old)
		}
		if err != nil && (!strings.Contains(err.Error(), version) || !strings.Contains(err.Error(), "6.2")) {
			t.Errorf("version %s: the error does not say what is there and what is needed: %v", version, err)
		}
	}
}

func TestARedisThatTellsNothingIsOpened(t *testing.T) {
	t.Parallel()
	_, log, err := openRedis(t, pretend(t, map[string]func(*server.Peer){
		"PING":   func(peer *server.Peer) { peer.WriteInline("PONG") },
		"CONFIG": func(peer *server.Peer) { peer.WriteError("ERR unknown command 'CONFIG'") },
	}))
	if err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{"version", "drops keys", "writes to disk"} {
		if !strings.Contains(log, "could not check") || !strings.Contains(log, what) {
			t.Errorf("the log does not say that %q is not known:\n%s", what, log)
		}
	}
}

func TestARedisThatStillLoadsIsWaitedFor(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	pings := 0
	address := pretend(t, map[string]func(*server.Peer){
		"PING": func(peer *server.Peer) {
			mu.Lock()
			defer mu.Unlock()
			if pings++; pings < 4 {
				peer.WriteError("LOADING Redis is loading the dataset in memory")
			} else {
				peer.WriteInline("PONG")
			}
		},
		"INFO": text("redis_version:7.0.0\r\nmaxmemory_policy:noeviction\r\naof_enabled:1\r\n"),
	})
	if _, _, err := openRedis(t, address); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	mu.Lock()
	pings = -1000
	mu.Unlock()
	if _, err := redisstore.Open(ctx, address, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("a Redis that never loads was opened")
	}
}

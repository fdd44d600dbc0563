package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"leaderboard/store/redisstore"
	"leaderboard/web"
)

type serveCmd struct {
	Addr              string        `env:"LEADERBOARD_ADDR" default:"127.0.0.1:3000" help:"Address to listen on."`
	RedisURL          string        `env:"LEADERBOARD_REDIS_URL" placeholder:"URL" help:"Redis that keeps the boards: redis:// or rediss://, several addresses for a Cluster, ?master_name= for a Sentinel. Without one an embedded store does."`
	KeyPrefix         string        `env:"LEADERBOARD_KEY_PREFIX" default:"lb" help:"First part of every key in Redis."`
	Data              string        `env:"LEADERBOARD_DATA" default:"data" help:"Folder where the embedded store keeps a snapshot; empty keeps nothing."`
	AdminPassword     string        `env:"LEADERBOARD_ADMIN_PASSWORD" help:"Password of the admin pages; made and printed if not given."`
	APIKey            string        `env:"LEADERBOARD_API_KEY" help:"A first API key, with every scope. With the embedded store one is made and printed if not given."`
	Demo              bool          `env:"LEADERBOARD_DEMO" help:"Add a board demo with simulated players."`
	PublicURL         []string      `env:"LEADERBOARD_PUBLIC_URL" name:"public-url" placeholder:"URL" help:"Origins that browsers may come from, besides the host itself."`
	Readers           int           `env:"LEADERBOARD_READERS" default:"20000" help:"Live readers that this process holds; 0: no limit."`
	ReadersPerAddress int           `env:"LEADERBOARD_READERS_PER_ADDRESS" default:"100" help:"Live readers from one address; 0: no limit."`
	TrustedProxies    []string      `env:"LEADERBOARD_TRUSTED_PROXIES" placeholder:"CIDR" help:"Proxies whose X-Forwarded-For is believed."`
	IdempotencyKeep   time.Duration `env:"LEADERBOARD_IDEMPOTENCY_KEEP" default:"1h" help:"How long a reply is kept for an Idempotency-Key."`

	limitFlags
	workerFlags

	proxies []netip.Prefix
}

// Validate is called by kong.
func (c *serveCmd) Validate() error {
	switch {
	case c.Addr == "":
		return errors.New("--addr must be an address such as 127.0.0.1:3000")
	case !redisstore.IsPrefix(c.KeyPrefix):
		return errors.New("--key-prefix must be 1 to 32 of A-Z, a-z, 0-9, _, ., : and -")
	case c.Readers < 0 || c.ReadersPerAddress < 0:
		return errors.New("--readers and --readers-per-address must be 0 or more")
	case c.IdempotencyKeep < time.Second:
		return errors.New("--idempotency-keep must be 1s or more")
	case strings.ContainsFunc(c.APIKey, func(r rune) bool { return r <= ' ' || r > '~' }) || len(c.APIKey) > 256:
		return errors.New("--api-key must be at most 256 visible ASCII characters")
	}
	for _, text := range c.TrustedProxies {
		proxy, err := parseNetwork(text)
		if err != nil {
			return fmt.Errorf("--trusted-proxies: %q is no address and no network such as 10.0.0.0/8", text)
		}
		c.proxies = append(c.proxies, proxy)
	}
	if err := c.workerFlags.parse(c); err != nil {
		return err
	}
	return c.limitFlags.parse()
}

// parseNetwork reads a network, or one address.
func parseNetwork(text string) (netip.Prefix, error) {
	if address, err := netip.ParseAddr(text); err == nil {
		return netip.PrefixFrom(address, address.BitLen()), nil
	}
	return netip.ParsePrefix(text)
}

// How long requests may go on, and readers may take to go, when the program is told to stop. It is to be gone after ten
// seconds: the store gets the rest.
const (
	graceForRequests = 4 * time.Second
	graceForReaders  = 4 * time.Second
)

// Run serves until the context ends, then stops from the outside in: no new requests, those that run are answered,
// the store closes last.
func (c *serveCmd) Run(ctx context.Context, std streams) error {
	log := slog.New(slog.NewTextHandler(std.err, nil))
	if c.NoWeb {
		return c.work(ctx, log)
	}
	listener, err := listen(ctx, c.Addr)
	if err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	defer listener.Close()
	kept, err := c.openStore(ctx, log)
	if err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	secrets := c.secrets()
	inside, err := build(ctx, kept, c, secrets, log)
	if err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	defer func() {
		if failed := inside.close(); failed != nil {
			log.Error("the store did not close well", "error", failed)
		}
	}()
	c.greet(ctx, std.err, listener.Addr(), kept.words, inside.store, secrets)

	served := make(chan error, 1)
	go func() { served <- inside.app.Listener(web.Linger(listener)) }()
	bots := c.startDemo(ctx, listener.Addr(), secrets.key, log)
	defer bots()
	select {
	case err := <-served:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	log.Info("stopping")
	bots()
	inside.workers.stop() // they take no more work, and end while requests and readers do
	inside.drain(ctx, log)
	listener.Close() // a server that was told to stop before it began would go on to listen
	<-served
	return nil
}

// drain lets requests that run be answered, then sends the readers away.
func (i *inside) drain(ctx context.Context, log *slog.Logger) {
	ctx = context.WithoutCancel(ctx)
	requests, cancel := context.WithTimeout(ctx, graceForRequests)
	defer cancel()
	if err := i.app.ShutdownWithContext(requests); err != nil {
		log.Warn("some requests took too long and were cut off", "error", err)
	}
	readers, cancel := context.WithTimeout(ctx, graceForReaders)
	defer cancel()
	if err := i.hub.Close(readers); err != nil {
		log.Warn("some readers were cut off", "error", err)
	}
}

// listen takes the port before anything else happens.
func listen(ctx context.Context, address string) (net.Listener, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("another program listens on %s already: --addr takes another address", address)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot listen on --addr %s: %w", address, err)
	}
	return listener, nil
}

// secrets are what opens the server, and whether they were made here.
type secrets struct {
	password, key         string
	madePassword, madeKey bool
}

// secrets returns what was given, and makes what was not.
func (c *serveCmd) secrets() secrets {
	s := secrets{password: c.AdminPassword, key: c.APIKey}
	if s.password == "" {
		s.password, s.madePassword = rand.Text(), true
	}
	if s.key == "" && c.RedisURL == "" {
		s.key, s.madeKey = rand.Text(), true
	}
	if s.key == "" && c.Demo {
		s.key = rand.Text() // for the simulated players alone: nobody is told
	}
	return s
}

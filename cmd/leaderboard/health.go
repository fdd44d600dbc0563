package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

type healthCmd struct {
	Addr string `env:"LEADERBOARD_ADDR" default:"127.0.0.1:3000" help:"Address that the server listens on."`
}

// Run asks the server on this machine whether it is ready, for containers that hold no other program which could.
func (c *healthCmd) Run(ctx context.Context) error {
	host, port, err := net.SplitHostPort(c.Addr)
	if err != nil {
		return fmt.Errorf("health: --addr: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+reachable(host, port)+"/readyz", nil)
	if err != nil {
		return fmt.Errorf("health: %w", err)
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("health: %w", err)
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		reason, _ := io.ReadAll(io.LimitReader(reply.Body, 1000))
		return fmt.Errorf("health: not ready: %s", reason)
	}
	return nil
}

// reachable returns where a server that listens on host and port can be reached from this machine.
func reachable(host, port string) string {
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

// Package redisconn says how this program talks to Redis: how an address is read, how long anything may take, and that
// nothing is sent twice. The store, the embedded store and the tests share it.
package redisconn

import (
	"context"
	"net"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// tune sets what is the same for every Redis that we talk to. It fails fast: whoever waits is told "not now" well
// before giving up.
func tune(o *redis.UniversalOptions) {
	// A script whose reply was lost may have run: only its caller knows whether it may run again.
	o.MaxRetries = -1
	o.ContextTimeoutEnabled = true // by default a request's deadline is not looked at

	o.DialTimeout = 2 * time.Second
	o.DialerRetries = 1
	o.ReadTimeout = 3 * time.Second
	o.WriteTimeout = 3 * time.Second
	o.PoolTimeout = 3 * time.Second
	o.ConnMaxIdleTime = 5 * time.Minute // less than what load balancers and Redis' own timeout usually allow

	// Redis works off one command at a time: more connections only mean more waiting on its side of them. Pipelines use
	// the same ones, not ten further connections with 256 KiB of buffers each.
	o.PoolSize = 16
	o.PipelinePoolSize = -1

	o.Dialer = dialer(o.TLSConfig, o.IsClusterMode)

	// Both greet each new connection with commands that a managed Redis may refuse; the second also asks a name server
	// for the address, on a goroutine of its own.
	o.DisableIdentity = true
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
}

// InProcess returns the options for a server inside this process, which is reached through the given dialer.
func InProcess(dial func() (net.Conn, error)) *redis.UniversalOptions {
	o := &redis.UniversalOptions{Addrs: []string{"in-process:0"}}
	tune(o)
	// Connections cost next to nothing here, and nobody should wait for one: go-redis hands the timers of those who wait
	// round the whole process, also between the bubbles of testing/synctest, where that is fatal.
	o.PoolSize = 1024
	o.Dialer = func(context.Context, string, string) (net.Conn, error) { return dial() }
	return o
}

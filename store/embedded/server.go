// Package embedded is a Redis inside the process, so that the program runs with nothing beside it. It is made for up to
// about ten thousand players: it sorts a board anew at every look.
//
// What it promises:
//
//   - One moment. A snapshot holds everything as it was between two scripts.
//   - A second. What was done before [Server.Changed] is called is on disk a second later, or after a [Server.Close].
//   - Whole or refused. A snapshot that is not exactly what was written is never read, and never overwritten.
//   - Alone. One process has a folder at a time.
//
// A snapshot keeps strings, hashes, lists, sets, sorted sets and HyperLogLogs of database 0, each with the time when it
// expires. Scripts and subscriptions are not kept.
package embedded

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
	"github.com/redis/go-redis/v9"

	"leaderboard/store/redisconn"
)

// Server is a Redis inside this process.
type Server struct {
	m      *miniredis.Miniredis
	srv    *server.Server
	hook   *hook
	client redis.UniversalClient
	saver  *saver                                    // nil: nothing is kept
	look   atomic.Pointer[func(script *server.Peer)] // what the next gatherCommand does
	close  func() error

	mu     sync.RWMutex
	closed bool // no connection is let in
}

// Open starts a server. It reads the snapshot in dir when there is one, and keeps a new one there from then on; with
// an empty dir it keeps nothing. It fails, and changes nothing on disk, when the snapshot is damaged or another process
// has dir. The caller closes the server.
func Open(dir string, log *slog.Logger) (*Server, error) {
	redisconn.LogTo(log)
	s, err := start()
	if err != nil {
		return nil, fmt.Errorf("embedded: start: %w", err)
	}
	if dir == "" {
		log.Info("scores are kept in this process and end with it: made for up to about ten thousand players")
		return s, nil
	}
	if s.saver, err = openSaver(dir, s, log); err != nil {
		return nil, errors.Join(fmt.Errorf("embedded: %w", err), s.Close())
	}
	log.Info("scores are kept in this process, with a snapshot on disk: made for up to about ten thousand players",
		"file", s.saver.folder.file(), "found", s.saver.loaded)
	return s, nil
}

// start returns an empty server that keeps nothing.
func start() (*Server, error) {
	m := miniredis.NewMiniRedis()
	conn, err := m.Dial() // starts it without a port
	if err != nil {
		return nil, err
	}
	s := &Server{m: m, srv: m.Server(), hook: newHook(m)}
	s.srv.SetPreHook(s.hook.before)
	if err := s.srv.Register(gatherCommand, s.onGather); err != nil {
		return nil, err
	}
	s.client = redis.NewUniversalClient(redisconn.InProcess(s.Dial))
	s.close = sync.OnceValue(s.shut)
	return s, conn.Close()
}

// Dial connects to the server, for a client that is not [Server.Client].
func (s *Server) Dial() (net.Conn, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return nil, net.ErrClosed
	}
	client, end := pipe()
	s.srv.ServeConn(end)
	return client, nil
}

// Client returns the client of this server. It is closed with the server.
func (s *Server) Client() redis.UniversalClient { return s.client }

// Loaded reports whether a snapshot was read. Whoever hands out version numbers then begins anew: the last ones before
// a crash may not have been kept.
func (s *Server) Loaded() bool { return s.saver != nil && s.saver.loaded }

// Changed says that something was changed, which is to be on disk within a second. It does not wait for that.
func (s *Server) Changed() {
	if s.saver != nil {
		s.saver.changed()
	}
}

// Close writes a last snapshot and ends the server. Calls after the first return what that one did.
func (s *Server) Close() error { return s.close() }

func (s *Server) shut() error {
	var err error
	if s.saver != nil {
		if err = s.saver.close(); err != nil {
			err = fmt.Errorf("embedded: write the last snapshot: %w", err)
		}
	}
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	err = errors.Join(err, s.client.Close())
	s.m.Close()
	return err
}

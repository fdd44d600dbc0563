package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"
)

const (
	// promise is how long a change may be missing on disk.
	promise = time.Second
	// patience is how long a change waits for others at most, so that they share a snapshot.
	patience = promise * 6 / 10
	// retryAfter is how long after a failure the next attempt is made.
	retryAfter = time.Second
)

// waitFor returns how long a change waits for others when a snapshot takes so long. One that was missed by a snapshot
// on its way waits for that one, then this long, then for its own: together less than promised.
func waitFor(cost time.Duration) time.Duration {
	return min(max(promise*8/10-2*cost, promise/20), patience)
}

// saver keeps a snapshot of a server on disk.
type saver struct {
	server *Server
	log    *slog.Logger
	folder *folder
	loaded bool

	kept map[string]kept // what the last snapshot holds, by key

	dirty chan struct{} // holds one when something changed since the last snapshot was begun
	stop  context.CancelFunc
	done  sync.WaitGroup
}

// kept is a key as it stands in a snapshot.
type kept struct {
	commands []byte
	expires  time.Time // zero: never
}

// openSaver reads the snapshot in dir into the server, and keeps it up to date from then on.
func openSaver(dir string, into *Server, log *slog.Logger) (*saver, error) {
	folder, err := openFolder(dir)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", dir, err)
	}
	s := &saver{server: into, log: log, folder: folder, dirty: make(chan struct{}, 1)}
	into.hook.keeps = true // nobody is connected yet
	if err := s.load(); err != nil {
		err = fmt.Errorf("read snapshot: %s was left as it is: %w", folder.file(), err)
		return nil, errors.Join(err, folder.close())
	}
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.done.Go(func() { s.run(ctx) })
	return s, nil
}

// load reads the snapshot, if there is one.
func (s *saver) load() error {
	snapshot, err := s.folder.read()
	if err != nil || snapshot == nil {
		return err
	}
	err = decode(snapshot, func(words []string) error {
		if reply := send(s.server.srv, nil, "", words); strings.HasPrefix(reply, "-") {
			return fmt.Errorf("%s %.40q: %s", words[0], words[1], strings.TrimSpace(reply[1:]))
		}
		return nil
	})
	s.loaded = err == nil
	return err
}

func (s *saver) changed() {
	select {
	case s.dirty <- struct{}{}:
	default:
	}
}

// run writes a snapshot after each change until it is stopped.
func (s *saver) run(ctx context.Context) {
	for wait := patience; ; {
		select {
		case <-ctx.Done():
			return
		case <-s.dirty:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		// What changes from here on is for the next snapshot, or in both.
		select {
		case <-s.dirty:
		default:
		}
		begin := time.Now()
		if err := s.save(); err != nil {
			s.log.Error("the snapshot cannot be written: scores of this moment would be lost in a crash", "error", err)
			s.changed()
			wait = retryAfter
			continue
		}
		wait = waitFor(time.Since(begin))
	}
}

// save writes a snapshot.
func (s *saver) save() error {
	now, err := s.server.gather(func(key string) bool { _, ok := s.kept[key]; return ok })
	if err != nil {
		s.kept = nil // what has changed is forgotten: next time everything is read
		return fmt.Errorf("gather: %w", err)
	}
	keep := make(map[string]kept, len(now.keys))
	var commands [][]byte
	for _, key := range now.keys {
		k := s.kept[key]
		if r, ok := now.records[key]; ok {
			k.expires = r.expires
			if k.commands, err = r.encode(s.server.hook.uniques.elements); err != nil {
				s.kept = nil
				return fmt.Errorf("encode: %w", err)
			}
		}
		keep[key] = k
		if k.expires.IsZero() || k.expires.After(now.at) { // otherwise it is overdue
			commands = append(commands, k.commands)
		}
	}
	s.kept = keep
	s.server.hook.uniques.forget(func(key string) bool { _, ok := keep[key]; return ok })
	return s.folder.write(seal(commands))
}

// close writes a last snapshot, and lets go of the folder.
func (s *saver) close() error {
	s.stop()
	s.done.Wait()
	return errors.Join(s.save(), s.folder.close())
}

package embedded

import (
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
)

// Between the steps a snapshot is written: each must notice what only the step before it has changed.
func TestASnapshotNoticesEveryChange(t *testing.T) {
	t.Parallel()
	blocked := make(chan error, 1)
	for name, steps := range map[string][]func(t *testing.T, c redis.UniversalClient){
		"a command": {
			func(t *testing.T, c redis.UniversalClient) { c.Set(t.Context(), "k", 1, 0) },
			func(t *testing.T, c redis.UniversalClient) { c.Incr(t.Context(), "k") },
			func(t *testing.T, c redis.UniversalClient) { c.Append(t.Context(), "k", "5") },
			func(t *testing.T, c redis.UniversalClient) { c.Del(t.Context(), "k") },
			func(t *testing.T, c redis.UniversalClient) { c.Set(t.Context(), "k", 1, 0) },
		},
		"several keys": {
			func(t *testing.T, c redis.UniversalClient) { c.MSet(t.Context(), "a", 1, "b", 2) },
			func(t *testing.T, c redis.UniversalClient) { c.MSet(t.Context(), "a", 3, "b", 4) },
			func(t *testing.T, c redis.UniversalClient) { c.Rename(t.Context(), "a", "b") },
			func(t *testing.T, c redis.UniversalClient) { c.ZAdd(t.Context(), "z1", redis.Z{Score: 1, Member: "m"}) },
			func(t *testing.T, c redis.UniversalClient) {
				c.ZUnionStore(t.Context(), "z2", &redis.ZStore{Keys: []string{"z1"}})
			},
			func(t *testing.T, c redis.UniversalClient) { c.ZPopMin(t.Context(), "z2") },
		},
		"a script": {
			func(t *testing.T, c redis.UniversalClient) {
				c.Eval(t.Context(), "redis.call('HSET', KEYS[1], 'f', 1) redis.call('LPUSH', KEYS[2], 'x')", []string{"h", "l"})
			},
			func(t *testing.T, c redis.UniversalClient) {
				c.Eval(t.Context(), "redis.call('HINCRBY', KEYS[1], 'f', 1) redis.call('LTRIM', KEYS[2], 1, 0)", []string{"h", "l"})
			},
		},
		"a time to live": {
			func(t *testing.T, c redis.UniversalClient) { c.Set(t.Context(), "k", 1, 0) },
			func(t *testing.T, c redis.UniversalClient) { c.PExpire(t.Context(), "k", time.Hour) },
			func(t *testing.T, c redis.UniversalClient) { c.Persist(t.Context(), "k") },
			func(t *testing.T, c redis.UniversalClient) { c.Expire(t.Context(), "k", time.Second) },
			func(t *testing.T, c redis.UniversalClient) { time.Sleep(2 * time.Second) },
		},
		"a HyperLogLog": {
			func(t *testing.T, c redis.UniversalClient) { c.PFAdd(t.Context(), "u", "a") },
			func(t *testing.T, c redis.UniversalClient) { c.PFAdd(t.Context(), "u", "b") },
			func(t *testing.T, c redis.UniversalClient) { c.PFMerge(t.Context(), "v", "u") },
			func(t *testing.T, c redis.UniversalClient) { c.Del(t.Context(), "u"); c.PFAdd(t.Context(), "u", "c") },
		},
		"a transaction": {
			func(t *testing.T, c redis.UniversalClient) {
				c.TxPipelined(t.Context(), func(pipe redis.Pipeliner) error {
					pipe.Set(t.Context(), "k", 1, 0)
					return nil
				})
			},
			func(t *testing.T, c redis.UniversalClient) {
				c.TxPipelined(t.Context(), func(pipe redis.Pipeliner) error {
					pipe.Incr(t.Context(), "k")
					pipe.Incr(t.Context(), "n")
					return nil
				})
			},
		},
		"a command that waits": {
			func(t *testing.T, c redis.UniversalClient) { c.RPush(t.Context(), "to", "y") },
			func(t *testing.T, c redis.UniversalClient) {
				go func() { blocked <- c.BLMove(t.Context(), "from", "to", "LEFT", "RIGHT", time.Minute).Err() }()
				synctest.Wait()
			},
			func(t *testing.T, c redis.UniversalClient) { time.Sleep(time.Second) },
			func(t *testing.T, c redis.UniversalClient) {
				c.RPush(t.Context(), "from", "x")
				if err := <-blocked; err != nil {
					t.Error(err)
				}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				s, err := Open(dir, slog.New(slog.DiscardHandler))
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				for i, step := range steps {
					s.Client().Ping(t.Context()) // what the step before touched is over,
					snapshot(t, s)               // and known
					step(t, s.Client())
					kept := snapshot(t, s)
					s.saver.kept = nil // everything is read anew
					if whole := snapshot(t, s); kept != whole {
						t.Errorf("after step %d a snapshot holds\n%q\nwant\n%q", i+1, kept, whole)
					}
				}
			})
		})
	}
}

func snapshot(t *testing.T, s *Server) string {
	t.Helper()
	if err := s.saver.save(); err != nil {
		t.Fatal(err)
	}
	content, err := s.saver.folder.read()
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

package embedded

import (
	"fmt"
	"log/slog"
	"testing"

	"github.com/redis/go-redis/v9"
)

// fill makes what a board of so many players is in Redis: a score, a name, and some activity each.
func fill(b *testing.B, s *Server, players int) {
	b.Helper()
	for i := range players {
		submit(b, s, i)
	}
}

func submit(b *testing.B, s *Server, i int) {
	b.Helper()
	player := fmt.Sprintf("player-%07d", i)
	activity := "lb:{demo.1}:activity:" + player
	_, err := s.Client().Pipelined(b.Context(), func(pipe redis.Pipeliner) error {
		pipe.ZAdd(b.Context(), "lb:{demo.1}:s1:scores", redis.Z{Score: float64(i * 7919 % 1_000_003), Member: player})
		pipe.HSet(b.Context(), "lb:{demo.1}:names", player, "Player "+player)
		for range 5 {
			pipe.LPush(b.Context(), activity, "1785600000123 best 12345 12000 17 42")
		}
		pipe.LTrim(b.Context(), activity, 0, 4)
		pipe.Do(b.Context(), "PEXPIRE", activity, "2592000000")
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}

// BenchmarkSnapshot tells what a snapshot costs; while it gathers, nobody else is served.
func BenchmarkSnapshot(b *testing.B) {
	for _, players := range []int{1_000, 10_000} {
		s, err := Open(b.TempDir(), slog.New(slog.DiscardHandler))
		if err != nil {
			b.Fatal(err)
		}
		fill(b, s, players)
		none := func(string) bool { return false }
		all := func(string) bool { return true }
		for name, known := range map[string]func(string) bool{"first": none, "nothing changed": all, "one submission": all} {
			b.Run(fmt.Sprintf("gather/%d/%s", players, name), func(b *testing.B) {
				for b.Loop() {
					if name == "one submission" {
						submit(b, s, 17)
					}
					if _, err := s.gather(known); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		b.Run(fmt.Sprintf("whole/%d", players), func(b *testing.B) {
			for b.Loop() {
				submit(b, s, 17)
				if err := s.saver.save(); err != nil {
					b.Fatal(err)
				}
			}
		})
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

package redisstore_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync/atomic"
	"testing"

	"leaderboard/store"
	"leaderboard/store/redisstore"
	"leaderboard/store/storetest"
)

// filled returns a store with a board of so many players, whose ids are 16 bytes long.
func filled(b *testing.B, players int) *redisstore.Store {
	b.Helper()
	s := redisstore.New(storetest.Redis(b), redisstore.Options{Prefix: storetest.Prefix(b)})
	_, _, err := s.PutBoard(b.Context(), "bench", func(to *store.Settings) error {
		to.ActivityCap = 0
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	for start := 0; start < players; start += store.MaxBatch {
		batch := make([]store.Submission, 0, store.MaxBatch)
		for i := start; i < min(start+store.MaxBatch, players); i++ {
			batch = append(batch, store.Submission{Player: playerNumber(i), Points: store.Whole(rand.Int64N(1_000_000))})
		}
		if _, _, err := s.SubmitBatch(b.Context(), "bench", batch, store.Once{}); err != nil {
			b.Fatal(err)
		}
	}
	b.Cleanup(func() {
		if err := s.DeleteBoard(context.WithoutCancel(b.Context()), "bench"); err != nil {
			b.Error(err)
		}
	})
	return s
}

func playerNumber(i int) store.PlayerID { return store.PlayerID(fmt.Sprintf("player-%09d", i)) }

// BenchmarkSubmitBatch measures the submission script by size of the call and of the board; every submission improves.
// One operation is one submission.
func BenchmarkSubmitBatch(b *testing.B) {
	for _, players := range []int{10_000, 100_000, 1_000_000} {
		b.Run("players="+strconv.Itoa(players), func(b *testing.B) {
			s := filled(b, players)
			better := int64(1_000_000)
			for _, size := range []int{1, 16, 128} {
				b.Run("call="+strconv.Itoa(size), func(b *testing.B) {
					batch := make([]store.Submission, size)
					for done := 0; done < b.N; done += size {
						for i := range batch {
							better++
							batch[i] = store.Submission{
								Player: playerNumber(rand.IntN(players)), Points: store.Whole(better % 10_000_000),
							}
						}
						if _, _, err := s.SubmitBatch(b.Context(), "bench", batch, store.Once{}); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		})
	}
}

// BenchmarkSubmit measures single submissions of many goroutines, which share calls. Few improve, as in a game.
func BenchmarkSubmit(b *testing.B) {
	for _, players := range []int{10_000, 100_000, 1_000_000} {
		b.Run("players="+strconv.Itoa(players), func(b *testing.B) {
			s := filled(b, players)
			for _, callers := range []int{1, 64, 128} {
				b.Run("callers="+strconv.Itoa(2*callers), func(b *testing.B) {
					b.SetParallelism(callers)
					var failed atomic.Value
					b.RunParallel(func(pb *testing.PB) {
						for pb.Next() {
							_, err := s.Submit(b.Context(), "bench", store.Submission{
								Player: playerNumber(rand.IntN(players)), Points: store.Whole(rand.Int64N(1_000_000)),
							})
							if err != nil {
								failed.Store(err)
							}
						}
					})
					if err := failed.Load(); err != nil {
						b.Fatal(err)
					}
				})
			}
		})
	}
}

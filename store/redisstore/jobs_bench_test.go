package redisstore_test

import (
	"strconv"
	"testing"

	"leaderboard/store"
	"leaderboard/store/redisstore"
	"leaderboard/store/storetest"
)

// BenchmarkJobs measures one client that claims jobs and finishes them with the next claim, by size of the claim. One
// operation is one job; adding them is not measured.
func BenchmarkJobs(b *testing.B) {
	for _, size := range []int{1, 16, 64, 128} {
		b.Run("claim="+strconv.Itoa(size), func(b *testing.B) {
			s := redisstore.New(storetest.Redis(b), redisstore.Options{Prefix: storetest.Prefix(b)})
			addMany(b, s, b.N)
			b.ResetTimer()
			claim := store.Claim{Most: size, Lease: store.JobLease}
			for done := 0; done < b.N; done += len(claim.Finished) {
				claimed, err := s.ClaimJobs(b.Context(), claim)
				if err != nil {
					b.Fatal(err)
				}
				claim.Finished = claim.Finished[:0]
				for i := range claimed.Deliveries {
					claim.Finished = append(claim.Finished, claimed.Deliveries[i].Receipt())
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
		})
	}
}

// BenchmarkAddJobs measures adding, 128 in a call. One operation is one job.
func BenchmarkAddJobs(b *testing.B) {
	s := redisstore.New(storetest.Redis(b), redisstore.Options{Prefix: storetest.Prefix(b)})
	addMany(b, s, b.N)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
}

func addMany(b *testing.B, s *redisstore.Store, many int) {
	b.Helper()
	jobs := make([]store.Job, 0, store.MaxJobBatch)
	for i := range many {
		jobs = append(jobs, store.Job{
			ID: "pay demo.1 season 3.1 gold player-" + strconv.Itoa(i), Kind: "pay", Priority: i % 3,
			Payload: []byte(`{"board":"demo","incarnation":1,"season":3,"reward":"gold","player":"player-000000"}`),
		})
		if len(jobs) == cap(jobs) || i == many-1 {
			if _, err := s.AddJobs(b.Context(), jobs...); err != nil {
				b.Fatal(err)
			}
			jobs = jobs[:0]
		}
	}
}

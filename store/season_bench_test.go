package store

import (
	"testing"
	"time"
)

// BenchmarkPack measures one score from its text to the packed score and back.
func BenchmarkPack(b *testing.B) {
	season := Season{Start: start, Order: Asc, Decimals: 3, TimeBits: 29, Resolution: time.Second}
	season.Lasts(3650 * day)
	slot := season.Tick(start.Add(time.Hour))
	for b.Loop() {
		number, err := ParseDecimal("points", "84.125")
		if err != nil {
			b.Fatal(err)
		}
		points, err := number.Points("points", season.Decimals, 10_000_000)
		if err != nil {
			b.Fatal(err)
		}
		if back, _ := season.Unpack(season.Pack(points, slot)); back != points {
			b.Fatalf("got %d, want %d", back, points)
		}
	}
}

// BenchmarkPoints measures how points are written.
func BenchmarkPoints(b *testing.B) {
	var to [32]byte
	for b.Loop() {
		if got := Points(84_125).Append(to[:0], 3); len(got) != len("84.125") {
			b.Fatal(got)
		}
	}
}

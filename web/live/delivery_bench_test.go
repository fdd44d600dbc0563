package live

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/fasthttp/websocket"

	"leaderboard/store"
)

// BenchmarkDelivery measures what it takes to bring a change of one row among a hundred to all readers, who read in
// this process: their work counts in the CPU time, too.
func BenchmarkDelivery(b *testing.B) {
	for _, c := range []struct{ readers, stopped int }{{2000, 0}, {1000, 0}, {1000, 100}} {
		b.Run(fmt.Sprintf("readers=%d/stopped=%d", c.readers, c.stopped), func(b *testing.B) {
			benchmarkDelivery(b, c.readers, c.stopped)
		})
	}
}

func benchmarkDelivery(b *testing.B, readers, stopped int) {
	l := newLedger()
	points := make([]store.Points, 100)
	for i := range points {
		points[i] = store.Points(1000 - i)
	}
	l.put("demo", points...)
	s := open(b, l, Options{})
	var arrived atomic.Int64
	var began atomic.Int64
	delays := make([][]time.Duration, readers)
	var reading sync.WaitGroup
	for i := range readers {
		conn, _, err := websocket.DefaultDialer.Dial("ws://"+s.addr+"/ws/boards/demo?limit=100", nil)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { conn.Close() })
		if i < stopped {
			continue
		}
		reading.Go(func() {
			for {
				if _, _, err := conn.ReadMessage(); err != nil {
					return
				}
				if at := began.Load(); at > 0 {
					delays[i] = append(delays[i], time.Duration(time.Now().UnixNano()-at))
				}
				arrived.Add(1)
			}
		})
	}
	eager := int64(readers - stopped)
	eventually(b, "all have a snapshot", func() bool { return arrived.Load() == eager })
	used := processTime(b)
	b.ResetTimer()
	for n := 1; b.Loop(); n++ {
		time.Sleep(frameGap) // as fast as a board goes
		began.Store(time.Now().UnixNano())
		raise(l, s.hub.tops, "demo", 50)
		for arrived.Load() < eager*int64(n+1) {
			time.Sleep(time.Millisecond)
		}
	}
	b.StopTimer()
	deliveries := time.Duration(b.N) * time.Duration(eager)
	b.ReportMetric(float64((processTime(b)-used)/deliveries), "cpu-ns/delivery")
	s.hub.mu.RLock()
	for r := range s.hub.readers {
		r.sendAway(serviceRestart, "")
	}
	s.hub.mu.RUnlock()
	reading.Wait()
	var all []time.Duration
	for _, d := range delays {
		all = append(all, d...)
	}
	slices.Sort(all)
	if len(all) > 0 {
		b.ReportMetric(float64(all[len(all)*99/100].Microseconds())/1000, "p99-ms")
		b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, "p50-ms")
	}
}

// processTime returns how much processor time the process has used.
func processTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

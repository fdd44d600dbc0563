package live

import (
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestTheGateCountsReaders(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate(Limits{Readers: 4, PerAddress: 2})
		enter := func(address string) (*ticket, string) {
			ticket, refusal := g.enter(netip.MustParseAddr(address))
			if refusal != nil {
				if refusal.after < time.Second {
					t.Errorf("told to come back after %v", refusal.after)
				}
				return nil, refusal.reason
			}
			ticket.use()
			return ticket, ""
		}
		var in []*ticket
		for i, c := range []struct{ address, reason string }{
			{"192.0.2.1", ""},
			{"::ffff:192.0.2.1", ""}, // the same, written as IPv6
			{"192.0.2.1", "address"},
			{"2001:db8::1", ""},
			{"2001:db8::ffff:2", ""},
			{"2001:db8:0:0:3::", "readers"},
			{"192.0.2.9", "readers"},
		} {
			ticket, reason := enter(c.address)
			if reason != c.reason {
				t.Errorf("%d, %s: got %q, want %q", i, c.address, reason, c.reason)
			}
			if ticket != nil {
				in = append(in, ticket)
			}
		}
		in[0].leave()
		in[0].leave() // counts once
		if _, reason := enter("2001:db8:0:0:3::"); reason != "address" {
			t.Errorf("another address of one /64: got %q, want address", reason)
		}
		if _, reason := enter("2001:db8:0:1::1"); reason != "" {
			t.Errorf("got %q, want to be let in", reason)
		}
		g.close()
		if _, reason := enter("192.0.2.1"); reason != "closing" {
			t.Errorf("got %q, want closing", reason)
		}
		for _, ticket := range in {
			ticket.leave()
		}
	})
}

func TestAPlaceOfWhoNeverComesIsFreeAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate(Limits{Readers: 1})
		address := netip.MustParseAddr("192.0.2.1")
		first, _ := g.enter(address)
		time.Sleep(unusedFor - time.Second)
		if _, refusal := g.enter(address); refusal == nil {
			t.Error("two have the one place")
		}
		time.Sleep(2 * time.Second)
		second, refusal := g.enter(address)
		if refusal != nil {
			t.Fatal("the place is lost")
		}
		if first.use() {
			t.Error("the place was used that another has")
		}
		first.leave()
		if !second.use() {
			t.Error("a place that is held could not be used")
		}
		time.Sleep(time.Hour)
		if _, refusal := g.enter(address); refusal == nil {
			t.Error("a place that is used was given away")
		}
		second.leave()
		if g.in != 0 || len(g.from) != 0 {
			t.Errorf("%d in from %v, want nobody", g.in, g.from)
		}
	})
}

func TestNewcomersASecondAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate(Limits{PerSecond: 50})
		in := 0
		for range 1000 { // ten seconds
			for range 3 {
				if ticket, refusal := g.enter(netip.Addr{}); refusal == nil {
					in++
					ticket.leave()
				} else if refusal.reason != "rate" {
					t.Fatalf("got %q", refusal.reason)
				}
			}
			time.Sleep(10 * time.Millisecond)
		}
		if in < 540 || in > 551 {
			t.Errorf("%d came in within ten seconds, want 550: a second's worth at once, then 50 a second", in)
		}
	})
}

func TestPlacesAreNeverLostOrDoubled(t *testing.T) {
	t.Parallel()
	g := newGate(Limits{Readers: 50, PerAddress: 20})
	var visitors sync.WaitGroup
	for i := range 100 {
		address := netip.MustParseAddr(fmt.Sprintf("192.0.2.%d", i%7))
		visitors.Go(func() {
			for range 100 {
				ticket, refusal := g.enter(address)
				if refusal != nil {
					continue
				}
				g.mu.Lock()
				if g.in > 50 || g.from[ticket.from] > 20 {
					t.Errorf("%d in, %d from one address", g.in, g.from[ticket.from])
				}
				g.mu.Unlock()
				ticket.use()
				ticket.leave()
			}
		})
	}
	visitors.Wait()
	if g.in != 0 || len(g.from) != 0 {
		t.Errorf("%d in from %v, want nobody", g.in, g.from)
	}
}

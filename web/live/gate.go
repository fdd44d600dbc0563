package live

import (
	"math"
	"math/rand/v2"
	"net/netip"
	"sync"
	"time"

	"leaderboard/store"
)

// Limits bound who watches. A zero is no limit.
type Limits struct {
	Readers    int // of the process
	PerAddress int // of one address; of one /64 where it is an IPv6 address
	PerSecond  int // that come, of the process
}

// BusyError means that there is no room for another reader now.
type BusyError struct {
	Reason     string // readers, address, rate or closing
	RetryAfter time.Duration
}

func (e *BusyError) Error() string { return "live: no room for another reader: " + e.Reason }

// Unwrap lets the error count as [store.ErrUnavailable]: not now.
func (e *BusyError) Unwrap() error { return store.ErrUnavailable }

// refusal is why somebody may not come in, and when to try again.
type refusal struct {
	reason string
	after  time.Duration
}

// gate counts who is in.
type gate struct {
	limits Limits

	mu     sync.Mutex
	shut   bool
	in     int
	from   map[netip.Prefix]int
	tokens float64 // who may still come in this moment
	at     time.Time
}

func newGate(limits Limits) *gate {
	return &gate{limits: limits, from: map[netip.Prefix]int{}, tokens: float64(limits.PerSecond), at: time.Now()}
}

// ticket is a place inside.
type ticket struct {
	gate   *gate
	from   netip.Prefix
	unused *time.Timer // nil when the place is used or given back; the gate's lock guards it
	left   bool
}

// unusedFor is how long a place is held for somebody who was let in and does not come: the connection may break between
// the answer and the first moment of the socket, and then nobody says so.
const unusedFor = 10 * time.Second

// enter takes a place for somebody from an address, or says why there is none.
func (g *gate) enter(address netip.Addr) (*ticket, *refusal) {
	from := subnet(address)
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.shut:
		return nil, &refusal{"closing", time.Second}
	case g.limits.Readers > 0 && g.in >= g.limits.Readers:
		// Spread: who was refused together does not come back together.
		return nil, &refusal{"readers", time.Duration(5+rand.N(10)) * time.Second}
	case g.limits.PerAddress > 0 && g.from[from] >= g.limits.PerAddress:
		return nil, &refusal{"address", 10 * time.Second}
	case !g.spend():
		return nil, &refusal{"rate", time.Duration(1+rand.N(3)) * time.Second}
	}
	g.in++
	g.from[from]++
	t := &ticket{gate: g, from: from}
	t.unused = time.AfterFunc(unusedFor, t.expire)
	return t, nil
}

// spend takes from a second's worth of newcomers. The caller holds mu.
func (g *gate) spend() bool {
	rate := float64(g.limits.PerSecond)
	if rate == 0 {
		return true
	}
	now := time.Now()
	g.tokens = math.Min(rate, g.tokens+now.Sub(g.at).Seconds()*rate)
	g.at = now
	if g.tokens < 1 {
		return false
	}
	g.tokens--
	return true
}

// close lets nobody in any more.
func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = true
}

// use reports whether the place is still held, and holds it until leave.
func (t *ticket) use() bool {
	t.gate.mu.Lock()
	defer t.gate.mu.Unlock()
	if t.left {
		return false
	}
	t.unused.Stop()
	t.unused = nil
	return true
}

// leave gives the place back. Only the first call counts.
func (t *ticket) leave() {
	t.gate.mu.Lock()
	defer t.gate.mu.Unlock()
	t.giveBack()
}

// expire gives the place back unless it is used.
func (t *ticket) expire() {
	t.gate.mu.Lock()
	defer t.gate.mu.Unlock()
	if t.unused != nil {
		t.giveBack()
	}
}

// giveBack is leave for callers who hold the gate's lock.
func (t *ticket) giveBack() {
	if t.left {
		return
	}
	t.left = true
	if t.unused != nil {
		t.unused.Stop()
		t.unused = nil
	}
	t.gate.in--
	if t.gate.from[t.from]--; t.gate.from[t.from] == 0 {
		delete(t.gate.from, t.from)
	}
}

// subnet returns what counts as one address: with IPv6 everybody has a /64 to choose from. All whose address is not
// known share one.
func subnet(address netip.Addr) netip.Prefix {
	address = address.Unmap().WithZone("")
	bits := 32
	if address.Is6() {
		bits = 64
	}
	prefix, _ := address.Prefix(bits) // fails for more bits than there are
	return prefix
}

package embedded

import (
	"bufio"
	"bytes"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
)

// bare is the client name of a connection whose commands go to miniredis as they are.
const bare = "bare"

// hook stands before every command, those inside scripts too.
type hook struct {
	srv     *server.Server
	clock   *clock
	uniques *uniques
	touched *touched
	keeps   bool // snapshots are written
}

func newHook(m *miniredis.Miniredis) *hook {
	return &hook{
		srv: m.Server(), clock: newClock(m),
		uniques: &uniques{added: make(map[string]*unique)},
		touched: &touched{keys: make(map[string]struct{}), clients: make(map[*server.Peer]*flight)},
	}
}

// before is called with a command before miniredis sees it, and reports whether it is done.
func (h *hook) before(peer *server.Peer, command string, args ...string) (done bool) {
	if peer.ClientName == bare {
		return false
	}
	if command == "HELLO" { // so begins every client of ours, and no script can
		h.touched.begin(peer)
		peer.OnDisconnect(func() { h.touched.end(peer) })
	}
	var keys []string
	if h.keeps {
		keys = keysOf(h.srv, command, args)
		h.uniques.watch(command, args)
	}
	if client := h.touched.see(peer, command, keys); client {
		h.clock.tick()
	}
	return h.clock.adjust(h.srv, peer, command, args)
}

// ask sends a command past the hook, in the name of a peer: inside its script or transaction, if it is in one. It
// returns the reply as it goes over the wire.
func ask(srv *server.Server, peer *server.Peer, command ...string) string {
	return send(srv, peer.Ctx, bare, command)
}

// send sends a command without a connection.
func send(srv *server.Server, script any, name string, command []string) string {
	var reply bytes.Buffer
	out := bufio.NewWriter(&reply)
	peer := server.NewPeer(out)
	peer.Ctx, peer.ClientName = script, name
	srv.Dispatch(peer, command)
	peer.Flush()
	return reply.String()
}

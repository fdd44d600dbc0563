package web

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// clientAddress returns who a request is from. Behind proxies that are trusted it is the last address in
// X-Forwarded-For that is not one of theirs: what stands before it, anybody can write.
func (e *edge) clientAddress(c *fiber.Ctx) netip.Addr {
	peer, _ := netip.AddrFromSlice(c.Context().RemoteIP())
	peer = peer.Unmap()
	if !e.trusts(peer) {
		return peer
	}
	var hops []string
	for _, header := range c.Request().Header.PeekAll(fiber.HeaderXForwardedFor) {
		hops = append(hops, strings.Split(string(header), ",")...)
	}
	for _, hop := range slices.Backward(hops) {
		address, err := netip.ParseAddr(strings.TrimSpace(hop))
		if err != nil {
			break // a proxy of ours writes no such thing
		}
		peer = address.Unmap().WithZone("")
		if !e.trusts(peer) {
			break
		}
	}
	return peer
}

// addressSubject is what an address is counted as, behind a word for what is counted. With IPv6 everybody has a /64 to
// choose from.
func addressSubject(word string, address netip.Addr) string {
	if address.Is6() {
		prefix, _ := address.WithZone("").Prefix(64) // there are that many bits
		return word + prefix.String()
	}
	var space [64]byte
	return string(address.AppendTo(append(space[:0], word...)))
}

func (e *edge) trusts(address netip.Addr) bool {
	return slices.ContainsFunc(e.proxies, func(p netip.Prefix) bool { return p.Contains(address) })
}

package worker

import (
	"fmt"
	"net/netip"
	"strings"
	"syscall"

	"leaderboard/store"
)

// ParseNetworks reads networks as an operator writes them, such as 10.0.0.0/8 or ::1/128; a single address stands for
// itself.
func ParseNetworks(texts []string) ([]netip.Prefix, error) {
	var networks []netip.Prefix
	for _, text := range texts {
		text = strings.TrimSpace(text)
		network, err := netip.ParsePrefix(text)
		if err != nil {
			address, errAddress := netip.ParseAddr(text)
			if errAddress != nil || address.Zone() != "" {
				return nil, store.Invalid("webhook-allow", "must be networks such as 10.0.0.0/8")
			}
			network = netip.PrefixFrom(address, address.BitLen())
		}
		if network.Addr().Is4In6() {
			return nil, store.Invalid("webhook-allow", "must name IPv4 networks as such")
		}
		networks = append(networks, network.Masked())
	}
	return networks, nil
}

// reserved are networks of global form that lead into a private one, to nobody, or to an address hidden in another.
var reserved = parseReserved(
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24",
	"203.0.113.0/24", "240.0.0.0/4",
	"64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16",
	"fec0::/10", "::/96",
)

func parseReserved(texts ...string) []netip.Prefix {
	networks := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		networks[i] = netip.MustParsePrefix(text)
	}
	return networks
}

// public reports whether an address belongs to somebody on the Internet.
func public(address netip.Addr) bool {
	if !address.IsGlobalUnicast() || address.IsPrivate() {
		return false
	}
	for _, network := range reserved {
		if network.Contains(address) {
			return false
		}
	}
	return true
}

// guard refuses connections to addresses that no stranger should make this server talk to. It looks at the address that
// is about to be connected to: a name may mean another one each time it is asked for.
type guard struct{ allowed []netip.Prefix }

func (g guard) control(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("worker: connect to %q: %w", address, err)
	}
	ip := to.Addr().Unmap().WithZone("")
	for _, network := range g.allowed {
		if network.Contains(ip) {
			return nil
		}
	}
	if !public(ip) {
		return fmt.Errorf("worker: %v is not a public address", ip)
	}
	return nil
}

package worker

import (
	"net/netip"
	"testing"
	"time"
)

func TestOnlyPublicAddressesAreReached(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{
		"8.8.8.8": true, "1.1.1.1": true, "2606:4700::1111": true, "::ffff:8.8.8.8": true,

		"127.0.0.1": false, "127.255.0.1": false, "0.0.0.0": false, "0.1.2.3": false, "10.1.2.3": false,
		"172.16.0.1": false, "172.31.255.255": false, "192.168.1.1": false, "169.254.169.254": false, "100.64.0.1": false,
		"192.0.0.1": false, "192.0.2.1": false, "198.18.0.1": false, "224.0.0.1": false, "240.0.0.1": false,
		"255.255.255.255": false, "::1": false, "::": false, "::ffff:127.0.0.1": false, "::ffff:10.0.0.1": false,
		"::127.0.0.1": false, "fe80::1": false, "fc00::1": false, "fd12:3456::1": false, "fec0::1": false, "ff02::1": false,
		"64:ff9b::7f00:1": false, "64:ff9b:1::1": false, "2002:7f00:1::": false, "2001::1": false, "2001:db8::1": false,
	}
	for address, want := range tests {
		hostport := netip.AddrPortFrom(netip.MustParseAddr(address), 443).String()
		if err := (guard{}).control("tcp", hostport, nil); (err == nil) != want {
			t.Errorf("%s: got %v, want allowed %v", address, err, want)
		}
	}
}

func TestAnOperatorAllowsNetworks(t *testing.T) {
	t.Parallel()
	networks, err := ParseNetworks([]string{"10.1.0.0/16", " 127.0.0.1", "fd00::/8", "192.168.5.7/24"})
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]bool{
		"10.1.2.3": true, "::ffff:10.1.2.3": true, "127.0.0.1": true, "fd00::1": true, "192.168.5.200": true,
		"10.2.0.1": false, "127.0.0.2": false, "fe80::1": false, "8.8.8.8": true,
	}
	for address, want := range tests {
		hostport := netip.AddrPortFrom(netip.MustParseAddr(address), 80).String()
		if err := (guard{networks}).control("tcp", hostport, nil); (err == nil) != want {
			t.Errorf("%s: got %v, want allowed %v", address, err, want)
		}
	}
	for _, bad := range []string{"", "10.0.0.0/33", "example.com", "10.0.0", "::ffff:10.0.0.0/104", "fe80::1%eth0"} {
		if networks, err := ParseNetworks([]string{bad}); err == nil {
			t.Errorf("%q is taken for %v", bad, networks)
		}
	}
}

func TestRetryAfterIsReadAsSecondsOrAsADate(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	tests := map[string]time.Duration{
		"":                              0,
		"5":                             5 * time.Second,
		"0":                             0,
		"-5":                            0,
		"1.5":                           0,
		"soon":                          0,
		"4000000000":                    longestDefer,
		"99999999999999999999":          0,
		"Mon, 02 Mar 2026 12:01:00 GMT": time.Minute,
		"Mon, 02 Mar 2026 11:00:00 GMT": 0,
		"Mon, 02 Mar 2099 11:00:00 GMT": longestDefer,
	}
	for header, want := range tests {
		if got := retryAfter(header, now); got != want {
			t.Errorf("%q: got %v, want %v", header, got, want)
		}
	}
}

package live

import (
	"fmt"
	"net"
	"net/url"
	"strings"
)

// origins are where pages may come from that open a socket, besides the host itself.
type origins map[string]bool

// newOrigins reads origins such as https://scores.example or http://127.0.0.1:3000.
func newOrigins(list []string) (origins, error) {
	o := make(origins, len(list))
	for _, text := range list {
		scheme, host, ok := splitOrigin(text)
		if !ok {
			return nil, fmt.Errorf("live: %q is not an origin such as https://scores.example", text)
		}
		o[scheme+"://"+host] = true
	}
	return o, nil
}

// allow reports whether a page of the given origin may open a socket to the host, as the request names it. No Origin
// comes from programs, which could send any: they are let in. The page's scheme is not compared with the server's,
// which does not see its own where a proxy speaks TLS for it.
func (o origins) allow(given []string, host string) bool {
	if len(given) == 0 {
		return true
	}
	if len(given) > 1 {
		return false
	}
	scheme, from, ok := splitOrigin(given[0])
	if !ok {
		return false
	}
	if o[scheme+"://"+from] {
		return true
	}
	own, ok := splitHost(host, scheme)
	return ok && own == from
}

// splitOrigin returns scheme and host of an origin, in lower case and without the scheme's own port. Anything that is
// not exactly an http or https origin is refused, the word null too.
func splitOrigin(text string) (scheme, host string, ok bool) {
	u, err := url.Parse(text)
	if err != nil || u.User != nil || u.Path != "" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || u.Opaque != "" {
		return "", "", false
	}
	scheme = strings.ToLower(u.Scheme)
	if scheme != "http" && scheme != "https" || strings.HasSuffix(text, "#") {
		return "", "", false
	}
	host, ok = splitHost(u.Host, scheme)
	return scheme, host, ok
}

// splitHost returns a host in lower case, without the port that the scheme has anyway.
func splitHost(host, scheme string) (string, bool) {
	u, err := url.Parse("//" + host)
	if err != nil || u.Host != host || u.Hostname() == "" {
		return "", false
	}
	name, port := strings.ToLower(u.Hostname()), u.Port()
	if port == "" || scheme == "http" && port == "80" || scheme == "https" && port == "443" {
		if strings.Contains(name, ":") { // an IPv6 address goes back into its brackets
			name = "[" + name + "]"
		}
		return name, !strings.HasSuffix(host, ":")
	}
	return net.JoinHostPort(name, port), true
}

package redisconn

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

const (
	serverPort   = "6379"
	sentinelPort = "26379"
)

// Parse returns the options for the Redis at an address as an operator writes it, ready for
// [redis.NewUniversalClient]:
//
//	redis://user:password@host:6379/2               one server, database 2
//	rediss://host                                   the same over TLS
//	unix:///run/redis.sock?db=2                     a Unix socket
//	redis://a:7000,b:7000,c:7000                    a Cluster; so does redis://a:7000?addr=b:7000&addr=c:7000
//	redis://s1,s2:26379/0?master_name=scores        Sentinels, and the master that they watch
//
// Further options are db, sentinel_username, sentinel_password, ca_file (a PEM file of who may sign the server's
// certificate) and skip_verify=true (TLS without looking who answers). User, password, socket path and options are
// percent-decoded.
//
// The error is a clause that follows "the address of Redis". It repeats no part of the address: where that is broken, a
// password may stand anywhere in it.
func Parse(address string) (*redis.UniversalOptions, error) {
	scheme, rest, _ := strings.Cut(address, "://")
	rest, query, _ := strings.Cut(rest, "?")
	options := &redis.UniversalOptions{}

	more, err := parseQuery(options, query)
	if err != nil {
		return nil, err
	}
	if options.TLSConfig != nil && scheme != "rediss" {
		return nil, errors.New("has an option for TLS (ca_file, skip_verify): they go with rediss:// only")
	}
	rest, err = parseLogin(options, rest)
	if err != nil {
		return nil, err
	}
	switch scheme {
	case "redis", "rediss":
		err = parseHosts(options, rest, more)
	case "unix":
		err = parseSocket(options, rest, more)
	default:
		err = errors.New("must begin with redis://, rediss:// or unix://")
	}
	if err != nil {
		return nil, err
	}
	if scheme == "rediss" {
		secure(options)
	}
	tune(options)
	return options, nil
}

// parseQuery reads what stands behind the question mark and returns the further addresses in it.
func parseQuery(o *redis.UniversalOptions, query string) (more []string, err error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, errors.New("has options that cannot be read: write name=value&name=value, percent-encoded")
	}
	for name, given := range values {
		last := given[len(given)-1]
		if last == "" {
			return nil, errors.New("has an option without a value")
		}
		switch name {
		case "addr":
			more = given
		case "db":
			if o.DB, err = parseDatabase(last); err != nil {
				return nil, err
			}
		case "master_name":
			o.MasterName = last
		case "sentinel_username":
			o.SentinelUsername = last
		case "sentinel_password":
			o.SentinelPassword = last
		case "ca_file", "skip_verify":
			if err := parseTrust(o, name, last); err != nil {
				return nil, err
			}
		default:
			return nil, errors.New("has an unknown option; " +
				"there are addr, db, master_name, sentinel_username, sentinel_password, ca_file and skip_verify")
		}
	}
	return more, nil
}

// parseTrust reads whose certificates are believed.
func parseTrust(o *redis.UniversalOptions, name, value string) error {
	if o.TLSConfig == nil {
		o.TLSConfig = &tls.Config{}
	}
	if name == "skip_verify" {
		skip, err := strconv.ParseBool(value)
		if err != nil {
			return errors.New("has a skip_verify that is neither true nor false")
		}
		o.TLSConfig.InsecureSkipVerify = skip
		return nil
	}
	pem, err := os.ReadFile(value)
	o.TLSConfig.RootCAs = x509.NewCertPool()
	if err != nil || !o.TLSConfig.RootCAs.AppendCertsFromPEM(pem) {
		return errors.New("names a ca_file that cannot be read as PEM certificates")
	}
	return nil
}

// parseLogin takes user and password off the front.
func parseLogin(o *redis.UniversalOptions, rest string) (string, error) {
	authority, path, slash := strings.Cut(rest, "/")
	// The last @: a host has none, while a password may have been left unencoded.
	at := strings.LastIndexByte(authority, '@')
	if at < 0 {
		return rest, nil
	}
	user, password, _ := strings.Cut(authority[:at], ":")
	var errUser, errPassword error
	o.Username, errUser = url.PathUnescape(user)
	o.Password, errPassword = url.PathUnescape(password)
	if errUser != nil || errPassword != nil {
		return "", errors.New("has a user or password that is not percent-encoded: write % as %25, / as %2F, ? as %3F")
	}
	if slash {
		path = "/" + path
	}
	return authority[at+1:] + path, nil
}

func parseHosts(o *redis.UniversalOptions, rest string, more []string) error {
	authority, path, _ := strings.Cut(rest, "/")
	if path = strings.TrimSuffix(path, "/"); path != "" {
		var err error
		if o.DB, err = parseDatabase(path); err != nil {
			return err
		}
	}
	port := serverPort
	if o.MasterName != "" {
		port = sentinelPort
	}
	for _, host := range slices.Concat(strings.Split(authority, ","), more) {
		address, err := parseHost(host, port)
		if err != nil {
			return err
		}
		o.Addrs = append(o.Addrs, address)
	}
	o.IsClusterMode = len(o.Addrs) > 1 && o.MasterName == ""
	if o.IsClusterMode && o.DB != 0 {
		return errors.New("names a database, but a Cluster has only database 0")
	}
	return nil
}

// parseHost reads host, host:port, [IPv6]:port, or nothing.
func parseHost(text, port string) (string, error) {
	u := url.URL{Host: text} // knows where an IPv6 address ends
	host := cmp.Or(u.Hostname(), "localhost")
	switch {
	case u.Port() != "":
		port = u.Port()
	case strings.Count(text, ":") == 1: // with nothing behind it, or no number
		return "", errPort
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", errPort
	}
	if strings.ContainsAny(host, ":@ %\\") && net.ParseIP(host) == nil {
		return "", errors.New("has a host that cannot be one; an IPv6 address goes in brackets, a password is percent-encoded")
	}
	return net.JoinHostPort(host, port), nil
}

var errPort = errors.New("has a port that is not 1 to 65535; a password is percent-encoded: write / as %2F, ? as %3F")

func parseSocket(o *redis.UniversalOptions, rest string, more []string) error {
	path, err := url.PathUnescape(rest)
	if err != nil || !strings.HasPrefix(path, "/") || path == "/" {
		return errors.New("must name the socket by its whole path: unix:///run/redis.sock")
	}
	if more != nil || o.MasterName != "" {
		return errors.New("names a socket: neither a Cluster nor Sentinels can be reached through one")
	}
	o.Addrs = []string{path} // the client takes an address that begins with a slash for a socket
	return nil
}

func parseDatabase(text string) (int, error) {
	db, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0, errors.New("has a database that is no number from 0: a path is /0, and a password is percent-encoded")
	}
	return int(db), nil
}

// secure makes the connections use TLS. Each checks the certificate against the host that it reaches.
func secure(o *redis.UniversalOptions) {
	if o.TLSConfig == nil {
		o.TLSConfig = &tls.Config{}
	}
	o.TLSConfig.MinVersion = tls.VersionTLS12
}

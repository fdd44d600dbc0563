package redisconn_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"leaderboard/store/redisconn"
)

// reach is what an address decides.
type reach struct {
	Addrs                    []string
	Cluster, TLS, SkipVerify bool
	DB                       int
	User, Password           string
	Master                   string
	SentinelUser, SentinelPW string
}

func reachOf(o *redis.UniversalOptions) reach {
	return reach{
		Addrs: o.Addrs, Cluster: o.IsClusterMode, TLS: o.TLSConfig != nil,
		SkipVerify: o.TLSConfig != nil && o.TLSConfig.InsecureSkipVerify,
		DB:         o.DB, User: o.Username, Password: o.Password, Master: o.MasterName,
		SentinelUser: o.SentinelUsername, SentinelPW: o.SentinelPassword,
	}
}

func TestAddressesAreRead(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]reach{
		"redis://h":                     {Addrs: []string{"h:6379"}},
		"redis://h:1/":                  {Addrs: []string{"h:1"}},
		"redis://":                      {Addrs: []string{"localhost:6379"}},
		"redis://h:7000/3":              {Addrs: []string{"h:7000"}, DB: 3},
		"redis://h:7000?db=4":           {Addrs: []string{"h:7000"}, DB: 4},
		"redis://[::1]:7000":            {Addrs: []string{"[::1]:7000"}},
		"redis://[::1]":                 {Addrs: []string{"[::1]:6379"}},
		"redis://secret@h":              {Addrs: []string{"h:6379"}, User: "secret"},
		"redis://:pass@h":               {Addrs: []string{"h:6379"}, Password: "pass"},
		"redis://u:p%2Fq%3F%40+:@h/1":   {Addrs: []string{"h:6379"}, User: "u", Password: "p/q?@+:", DB: 1},
		"redis://u:p@q@h":               {Addrs: []string{"h:6379"}, User: "u", Password: "p@q"},
		"rediss://u:p@h":                {Addrs: []string{"h:6379"}, User: "u", Password: "p", TLS: true},
		"rediss://h?skip_verify=true":   {Addrs: []string{"h:6379"}, TLS: true, SkipVerify: true},
		"redis://a,b:1,[::1]:2":         {Addrs: []string{"a:6379", "b:1", "[::1]:2"}, Cluster: true},
		"redis://a:1,a:1":               {Addrs: []string{"a:1", "a:1"}, Cluster: true},
		"redis://a:1?addr=b:2&addr=c:3": {Addrs: []string{"a:1", "b:2", "c:3"}, Cluster: true},
		"rediss://:p@a,b":               {Addrs: []string{"a:6379", "b:6379"}, Cluster: true, TLS: true, Password: "p"},
		"redis://a/2?master_name=m":     {Addrs: []string{"a:26379"}, Master: "m", DB: 2},
		"redis://:p@a,b:7?master_name=m&sentinel_username=su&sentinel_password=s%26p": {
			Addrs: []string{"a:26379", "b:7"}, Master: "m", Password: "p", SentinelUser: "su", SentinelPW: "s&p",
		},
		"unix:///run/redis.sock":                {Addrs: []string{"/run/redis.sock"}},
		"unix://u:p@/run/my%20redis.sock?db=12": {Addrs: []string{"/run/my redis.sock"}, User: "u", Password: "p", DB: 12},
	} {
		options, err := redisconn.Parse(address)
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		if diff := cmp.Diff(want, reachOf(options)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", address, diff)
		}
		if options.MaxRetries != -1 || !options.ContextTimeoutEnabled {
			t.Errorf("%s: a command may be sent twice, or outlive its caller", address)
		}
	}
}

// Wherever an address is broken, "s3cret" stands for a password that must not be repeated.
func TestWrongAddressesAreRefusedWithoutRepeatingThem(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"":                                  "must begin with",
		"h:6379":                            "must begin with",
		"s3cret@h:6379":                     "must begin with",
		"http://:s3cret@h":                  "must begin with",
		"redis:/h":                          "must begin with",
		"redis://:s3cret@h:0":               "port",
		"redis://:s3cret@h:65536":           "port",
		"redis://:s3cret@h:":                "port",
		"redis://:s3cret@h:abc":             "port",
		"redis://:s3cret/x@h:6379":          "database",
		"redis://:a/s3cret@h:6379":          "database",
		"redis://:a?s3cret@h:6379":          "without a value",
		"redis://:a?s3cret=@h:6379":         "unknown option",
		"redis://:s3%zzcret@h":              "percent-encoded",
		"redis://h/s3cret":                  "database",
		"redis://:s3cret@h/-1":              "database",
		"redis://:s3cret@h/1/2":             "database",
		"redis://:s3cret@h?db=x":            "database",
		"redis://:s3cret@h/99999999999":     "database",
		"redis://:s3cret@a,b/1":             "only database 0",
		"redis://:s3cret@h?max_retries=5":   "unknown option",
		"redis://:s3cret@h?db=1;x":          "cannot be read",
		"redis://:s3cret@h?skip_verify=1":   "rediss://",
		"rediss://h?skip_verify=s3cret":     "skip_verify",
		"rediss://h?ca_file=/s3cret":        "ca_file",
		"redis://s3cret:6379:6379":          "host",
		"redis://a b":                       "host",
		"redis://::1":                       "host",
		"unix://:s3cret@":                   "whole path",
		"unix://s3cret":                     "whole path",
		"unix:///s3cret?master_name=m":      "socket",
		"unix:///s3cret?addr=h":             "socket",
		"redis://:s3cret@h?master_name=":    "without a value",
		"redis://:s3cret@h?addr=x:s3cret":   "port",
		"redis://h?sentinel_password=s3%zz": "cannot be read",
	} {
		options, err := redisconn.Parse(address)
		if err == nil {
			t.Errorf("%s: accepted as %+v", address, reachOf(options))
			continue
		}
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %q, want a word about %q", address, err, want)
		}
		if strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: the error shows the password: %v", address, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"redis://u:p@h:1/2?db=3", "redis://a,b", "unix:///s?db=1", "rediss://[::1]:1", "redis://%"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, address string) {
		options, err := redisconn.Parse(address)
		if err == nil && len(options.Addrs) == 0 {
			t.Errorf("%q: read as nowhere", address)
		}
	})
}

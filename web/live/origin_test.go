package live

import "testing"

func TestOrigins(t *testing.T) {
	t.Parallel()
	allowed, err := newOrigins([]string{"https://Scores.example", "http://localhost:5173", "https://[2001:db8::1]:8443"})
	if err != nil {
		t.Fatal(err)
	}
	const own = "own.example:3000"
	for name, c := range map[string]struct {
		origins []string
		host    string
		let     bool
	}{
		"none":                             {nil, own, true},
		"its own":                          {[]string{"http://own.example:3000"}, own, true},
		"its own behind TLS":               {[]string{"https://own.example"}, "own.example", true},
		"its own with TLS's port":          {[]string{"https://own.example"}, "own.example:443", true},
		"its own in upper case":            {[]string{"HTTP://OWN.EXAMPLE:3000"}, own, true},
		"its own address":                  {[]string{"http://127.0.0.1:3000"}, "127.0.0.1:3000", true},
		"its own IPv6 address":             {[]string{"http://[::1]:3000"}, "[::1]:3000", true},
		"its own IPv6 address, plain":      {[]string{"http://[::1]"}, "[::1]", true},
		"one of the list":                  {[]string{"https://scores.example"}, own, true},
		"one of the list with port":        {[]string{"https://scores.example:443"}, own, true},
		"one of the list, IPv6":            {[]string{"https://[2001:db8::1]:8443"}, own, true},
		"foreign":                          {[]string{"https://evil.example"}, own, false},
		"null":                             {[]string{"null"}, own, false},
		"empty":                            {[]string{""}, own, false},
		"its own with another port":        {[]string{"http://own.example:3001"}, own, false},
		"its own without its port":         {[]string{"http://own.example"}, own, false},
		"ends with its own":                {[]string{"https://evilown.example:3000"}, own, false},
		"begins with its own":              {[]string{"https://own.example.evil.example:3000"}, own, false},
		"its own as a user":                {[]string{"http://own.example:3000@evil.example"}, own, false},
		"with a path":                      {[]string{"http://own.example:3000/"}, own, false},
		"with a query":                     {[]string{"http://own.example:3000?x"}, own, false},
		"with a fragment":                  {[]string{"http://own.example:3000#"}, own, false},
		"another scheme":                   {[]string{"ftp://own.example:3000"}, own, false},
		"no scheme":                        {[]string{"own.example:3000"}, own, false},
		"a file":                           {[]string{"file://"}, own, false},
		"two, one of them its own":         {[]string{"http://own.example:3000", "https://evil.example"}, own, false},
		"two, both its own":                {[]string{"http://own.example:3000", "http://own.example:3000"}, own, false},
		"a listed host with other scheme":  {[]string{"http://scores.example"}, own, false},
		"a listed host with another port":  {[]string{"https://scores.example:8443"}, own, false},
		"no host to compare with":          {[]string{"http://own.example:3000"}, "", false},
		"a port without a number":          {[]string{"http://own.example:"}, "own.example", false},
		"broken":                           {[]string{"http://[::1"}, own, false},
		"a host as long as its own, other": {[]string{"http://owm.example:3000"}, own, false},
	} {
		if got := allowed.allow(c.origins, c.host); got != c.let {
			t.Errorf("%s: got %v, want %v", name, got, c.let)
		}
	}
	for _, bad := range []string{"", "scores.example", "https://", "https://scores.example/", "https://a b", "*", "null"} {
		if _, err := newOrigins([]string{bad}); err == nil {
			t.Errorf("%q was taken for an origin", bad)
		}
	}
}

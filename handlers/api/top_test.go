package api_test

import (
	"slices"
	"strings"
	"testing"
)

func TestATopThatDidNotChangeIsNotSentAgain(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{"live_top":5}`)
	fill(t, s, 9)
	path := "/api/v1/boards/demo/top?limit=3"
	first := do(t, s, "GET", path, "").want(t, 200)
	tag := first.header.Get("ETag")
	if tag == "" {
		t.Fatal("no ETag")
	}
	for _, match := range []string{tag, "W/" + tag, `"other", ` + tag, "*"} {
		r := do(t, s, "GET", path, "", "If-None-Match: "+match).want(t, 304)
		if len(r.body) != 0 || r.header.Get("ETag") != tag {
			t.Errorf("304 with body %q and ETag %q", r.body, r.header.Get("ETag"))
		}
	}
	do(t, s, "GET", path, "", `If-None-Match: "other"`).want(t, 200)
	do(t, s, "HEAD", path, "", "If-None-Match: "+tag).want(t, 304)

	tags := []string{tag}
	for what, change := range map[string]func(){
		"a score in the top":  func() { post(t, s, "p3", "500").want(t, 200) },
		"a name in the top":   func() { named(t, s, "p1", "Renamed", "1").want(t, 200) },
		"a ban":               func() { do(t, s, "POST", "/api/v1/boards/demo/players/p2/ban", "").want(t, 200) },
		"a player at the end": func() { post(t, s, "newcomer", "0").want(t, 200) }, // the total
	} {
		change()
		now := do(t, s, "GET", path, "", "If-None-Match: "+tags[len(tags)-1]).want(t, 200).header.Get("ETag")
		if slices.Contains(tags, now) {
			t.Errorf("%s left the ETag %s", what, now)
		}
		tags = append(tags, now)
	}
	for _, beyond := range []string{"?season=1", "?limit=3&offset=3", "?after=" + *top(t, s, "?limit=3").Next} {
		if r := do(t, s, "GET", "/api/v1/boards/demo/top"+beyond, "").want(t, 200); r.header.Get("ETag") != "" {
			t.Errorf("top%s has the ETag %s", beyond, r.header.Get("ETag"))
		}
	}
}

func TestNoCacheAsksTheStore(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{}`)
	for _, control := range []string{"", "no-cache", "max-age=0, No-Cache", "max-age=0"} {
		do(t, s, "GET", "/api/v1/boards/demo/top", "", "Cache-Control: "+control).want(t, 200)
	}
	if want := []bool{false, true, true, false}; !slices.Equal(s.tops.asked, want) {
		t.Errorf("fresh was %v, want %v", s.tops.asked, want)
	}
}

func TestWithoutTheStoreOnlyTheKeptTopIsAnswered(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{"live_top":5}`)
	fill(t, s, 9)
	fresh := do(t, s, "GET", "/api/v1/boards/demo/top?limit=3", "").want(t, 200)
	s.tops.cut()
	stale := do(t, s, "GET", "/api/v1/boards/demo/top?limit=3", "").want(t, 200)
	if stale.header.Get("Age") != "90" || stale.header.Get("ETag") != "" {
		t.Errorf("stale with Age %q and ETag %q, want 90 and none", stale.header.Get("Age"), stale.header.Get("ETag"))
	}
	if want := strings.TrimSuffix(string(fresh.body), "}") + `,"stale":true}`; string(stale.body) != want {
		t.Errorf("stale is %s, want %s", stale.body, want)
	}
	do(t, s, "GET", "/api/v1/boards/demo/top?limit=3", "", "If-None-Match: "+fresh.header.Get("ETag")).want(t, 200)
}

func TestATopThatWasNeverKeptIsNotAnsweredWithoutTheStore(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{}`)
	s.tops.cut()
	r := do(t, s, "GET", "/api/v1/boards/demo/top", "")
	r.refused(t, 503, "unavailable", "")
	if r.header.Get("Retry-After") == "" || r.header.Get("Cache-Control") != "no-store" {
		t.Errorf("503 with header %v", r.header)
	}
}

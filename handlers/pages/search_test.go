package pages_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"leaderboard/store"
)

func TestSearchFindsByTheBeginningOfANameOrTheWholeId(t *testing.T) {
	t.Parallel()
	app := serve(arcade())
	page := get(t, app, "/b/arcade?q=pLAYER+12")
	page.has(t, "Found for", `href="/b/arcade?player=p12&amp;q=pLAYER+12"`, "Player 120<", `value="pLAYER 12"`)
	page = get(t, app, "/b/arcade?q=p77")
	page.has(t, `href="/b/arcade?player=p77&amp;q=p77"`)
	get(t, app, "/b/arcade?q=zoe").has(t, "Nobody found for")
	get(t, app, "/b/arcade?q=p77&player=p77").hasNot(t, "Found for")
}

func TestSearchFindsNobodyTwice(t *testing.T) {
	t.Parallel()
	f := newFake()
	f.add("b", now, store.Season{Number: 1, Start: start}, entry("ada", "Ada", 2, 0), entry("x", "Adam", 1, 0))
	page := get(t, serve(f), "/b/b?q=ada")
	if got := strings.Count(page.body, "?player=ada&amp;q=ada"); got != 1 {
		t.Errorf("got %d, want 1", got)
	}
	page.has(t, "?player=x&amp;q=ada")
}

// search makes a search and returns the page and the cookie that it left.
func search(t *testing.T, f *fake, text string, cookie *http.Cookie) (reply, *http.Cookie) {
	t.Helper()
	var sent []*http.Cookie
	if cookie != nil {
		sent = append(sent, cookie)
	}
	page := get(t, serve(f), "/b/arcade?q="+text, sent...)
	if len(page.cookies) != 1 {
		t.Fatalf("search for %s: got %d cookies, want 1", text, len(page.cookies))
	}
	return page, page.cookies[0]
}

func TestLastTenSearchesAreKeptNewestFirst(t *testing.T) {
	t.Parallel()
	f := arcade()
	var cookie *http.Cookie
	for i := range 12 {
		_, cookie = search(t, f, fmt.Sprint("name", i), cookie)
	}
	page, cookie := search(t, f, "NAME5", cookie)
	page.has(t, `<bdi>NAME5</bdi></a></li><li><a href="/b/arcade?q=name11">`, "name2<")
	page.hasNot(t, "name5<", "name0<", "name1<")
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode || cookie.Path != "/b/arcade" {
		t.Errorf("cookie: got %+v, want HttpOnly, Lax, and for the board only", cookie)
	}
	get(t, serve(f), "/b/arcade", cookie).has(t, "Last searches", "NAME5<")
}

func TestSearchCookieStaysSmall(t *testing.T) {
	t.Parallel()
	f := arcade()
	var cookie *http.Cookie
	for i := range 10 {
		_, cookie = search(t, f, fmt.Sprintf("%d%s", i, strings.Repeat("%F0%9F%A9%B8", 60)), cookie)
		if len(cookie.Value) > 1000 {
			t.Fatalf("after %d searches: got %d bytes, want at most 1000", i+1, len(cookie.Value))
		}
	}
}

func TestForgedSearchCookieShowsNothingOfIt(t *testing.T) {
	t.Parallel()
	app := serve(arcade())
	for _, value := range []string{
		"%%%", "====", base64.RawURLEncoding.EncodeToString([]byte("a\x00b\n\xff\n" + strings.Repeat("x", 300))),
	} {
		get(t, app, "/b/arcade", &http.Cookie{Name: "searches", Value: value}).hasNot(t, "Last searches")
	}
	forged := base64.RawURLEncoding.EncodeToString([]byte(strings.Repeat("<script>\n", 50)))
	page := get(t, app, "/b/arcade", &http.Cookie{Name: "searches", Value: forged})
	page.hasNot(t, "<script>")
	if got := strings.Count(page.body, "&lt;script&gt;"); got != 10 {
		t.Errorf("got %d searches, want 10", got)
	}
}

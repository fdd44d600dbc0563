package main

import (
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fasthttp/websocket"
)

// watch opens a socket on a board, as a page of the given origin would.
func (p *process) watch(t *testing.T, board, origin string) (*websocket.Conn, *http.Response, error) {
	t.Helper()
	header := http.Header{}
	if origin != "" {
		header.Set("Origin", origin)
	}
	conn, reply, err := websocket.DefaultDialer.DialContext(t.Context(),
		"ws"+strings.TrimPrefix(p.url, "http")+"/ws/boards/"+board+"?player=p1", header)
	if err == nil {
		t.Cleanup(func() { conn.Close() })
	}
	return conn, reply, err
}

// await reads until a frame comes that has all the words in it.
func await(t *testing.T, conn *websocket.Conn, words ...string) {
	t.Helper()
	if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	for {
		_, text, err := conn.ReadMessage()
		if err != nil {
			t.Fatalf("no frame with %q: %v", words, err)
		}
		if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(string(text), word) }) {
			return
		}
	}
}

func TestReadersSeeScoresAndAreSentAwayAtTheEnd(t *testing.T) {
	t.Parallel()
	server := serving(t, append(storeFlags(t), "--public-url=https://scores.example")...)
	server.board(t, "watched", `{}`)
	conn, _, err := server.watch(t, "watched", "https://scores.example")
	if err != nil {
		t.Fatal(err)
	}
	await(t, conn, `"snapshot"`)
	server.call(t, http.StatusOK, "POST", "/boards/watched/scores", `{"player":"p1","points":7}`, nil)
	await(t, conn, `"you"`, `"points":7`) // before or after the delta, which tells the same
	server.call(t, http.StatusOK, "POST", "/boards/watched/scores", `{"player":"p2","points":6}`, nil)
	await(t, conn, `"delta"`, `"p2"`)
	server.call(t, http.StatusOK, "POST", "/boards/watched/scores/batch", `{"scores":[{"player":"p1","points":8}]}`, nil)
	await(t, conn, `"you"`, `"points":8`)

	for origin, want := range map[string]int{"https://evil.example": http.StatusForbidden, server.url: http.StatusSwitchingProtocols} {
		other, reply, err := server.watch(t, "watched", origin)
		if reply == nil || reply.StatusCode != want {
			t.Errorf("%s: got %v, %v", origin, reply, err)
		}
		if err == nil {
			other.Close()
		}
	}

	begun := time.Now()
	if status := server.stop(t, syscall.SIGTERM); status != 0 {
		t.Errorf("got status %d:\n%s", status, &server.err)
	}
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("took %s", took)
	}
	for err == nil {
		_, _, err = conn.ReadMessage()
	}
	if !websocket.IsCloseError(err, websocket.CloseServiceRestart) {
		t.Errorf("the reader was told %v, want 1012", err)
	}
}

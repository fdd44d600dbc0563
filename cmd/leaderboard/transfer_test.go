package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// between puts a proxy before a server that may answer a call in its own way, and returns a server behind it. Meddle
// answers and returns true, or returns false to let the call through.
func (p *process) between(t *testing.T, meddle func(w http.ResponseWriter, r *http.Request, forward http.Handler) bool) *process {
	t.Helper()
	target, err := url.Parse(p.url)
	if err != nil {
		t.Fatal(err)
	}
	forward := httputil.NewSingleHostReverseProxy(target)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !meddle(w, r, forward) {
			forward.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(proxy.Close)
	return &process{url: proxy.URL, key: p.key}
}

func (p *process) board(t *testing.T, id, settings string) {
	t.Helper()
	p.call(t, http.StatusCreated, "PUT", "/boards/"+id, settings, nil)
}

func TestImport(t *testing.T) {
	t.Parallel()
	server := serving(t, storeFlags(t)...)

	t.Run("names the line of every refused row and goes on", func(t *testing.T) {
		t.Parallel()
		server.board(t, "refused", `{"decimals":1,"max_points":100}`)
		file := "player,name,points,achieved_at\n" +
			"p1,Ada,1.5,\n" +
			"p2,Bob,1.55,\n" +
			",Cid,1,\n" +
			"p4,Dee\n" +
			"p5,Eve,101,\n" +
			"p6,\u202eFay,1,\n" +
			"p7,Gus,1,2999-01-01T00:00:00Z\n" +
			"p8,Hal,1,yesterday\n" +
			"p9,Ida,NaN,\n" +
			"p10,Jo,100,\n"
		status, out, said := command(t, file, server.at("import", "-", "--board=refused")...)
		if status != 1 || out != "2 rows taken, 8 refused\n" {
			t.Errorf("got status %d, %s", status, out)
		}
		for line, field := range map[int]string{
			3: "points", 4: "player", 5: "has 2 fields", 6: "points", 7: "name", 8: "achieved_at", 9: "achieved_at", 10: "points",
		} {
			if !strings.Contains(said, fmt.Sprintf("line %d: %s", line, field)) {
				t.Errorf("line %d is not named with %q:\n%s", line, field, said)
			}
		}
		if lines := strings.Count(said, "\n"); lines != 8 {
			t.Errorf("got %d lines:\n%s", lines, said)
		}
		if got := server.walk(t, "refused"); len(got) != 2 || got[0].Player != "p10" || string(got[1].Points) != "1.5" {
			t.Errorf("got %v", got)
		}
	})

	t.Run("sends more rows than a call takes, in their order", func(t *testing.T) {
		t.Parallel()
		server.board(t, "long", `{}`)
		var file strings.Builder
		file.WriteString("player,points\n")
		for i := range 2500 {
			fmt.Fprintf(&file, "p%04d,7\n", i)
		}
		status, out, said := command(t, file.String(), server.at("import", "-", "--board=long")...)
		if status != 0 || out != "2500 rows taken, 0 refused\n" {
			t.Fatalf("got status %d, %s%s", status, out, said)
		}
		for i, entry := range server.walk(t, "long") {
			if want := fmt.Sprintf("p%04d", i); entry.Player != want {
				t.Fatalf("place %d: got %s, want %s", i+1, entry.Player, want)
			}
		}
	})

	t.Run("takes one board out of a file of several", func(t *testing.T) {
		t.Parallel()
		server.board(t, "some", `{}`)
		status, out, _ := command(t, "board,who,score\na,p1,1\nb,p2,2\na,p3,3\n",
			server.at("import", "-", "--board=some", "--where=board=a", "--column=player=who")...)
		if status != 0 || out != "2 rows taken, 0 refused\n" {
			t.Errorf("got status %d, %s", status, out)
		}
	})

	t.Run("of the same file counts once, and once more when told so", func(t *testing.T) {
		t.Parallel()
		server.board(t, "sum", `{"policy":"sum"}`)
		file := "player,points\np1,5\np1,5\n"
		for _, step := range []struct{ flag, want, points string }{
			{"--again=false", "2 rows taken, 0 refused\n", "10"},
			{"--again=false", "2 rows taken, 0 refused; 2 had been taken", "10"},
			{"--again", "2 rows taken, 0 refused\n", "20"},
		} {
			status, out, said := command(t, file, server.at("import", "-", "--board=sum", step.flag)...)
			if status != 0 || !strings.HasPrefix(out, step.want) {
				t.Fatalf("got status %d, %s%s, want %s", status, out, said, step.want)
			}
			if got := server.walk(t, "sum"); string(got[0].Points) != step.points {
				t.Errorf("got %s points, want %s", got[0].Points, step.points)
			}
		}
	})

	t.Run("tries again while the server is away, and nothing counts twice", func(t *testing.T) {
		t.Parallel()
		server.board(t, "away", `{"policy":"sum"}`)
		var calls atomic.Int32
		proxy := server.between(t, func(w http.ResponseWriter, r *http.Request, forward http.Handler) bool {
			if r.Method != "POST" {
				return false
			}
			switch calls.Add(1) {
			case 1:
				w.Header().Set("Retry-After", "1")
				w.WriteHeader(http.StatusServiceUnavailable)
			case 2: // taken, and the reply is lost
				forward.ServeHTTP(httptest.NewRecorder(), r)
				hangUp(w)
			case 3:
				w.WriteHeader(http.StatusTooManyRequests)
			default:
				return false
			}
			return true
		})
		begun := time.Now()
		status, out, said := command(t, "player,points\np1,5\np2,7\n", proxy.at("import", "-", "--board=away")...)
		if status != 0 || out != "2 rows taken, 0 refused\n" {
			t.Errorf("got status %d, %s%s", status, out, said)
		}
		if took := time.Since(begun); took < time.Second {
			t.Errorf("took %s, though it was told to wait for 1 s", took)
		}
		if got := server.walk(t, "away"); len(got) != 2 || string(got[0].Points) != "7" || string(got[1].Points) != "5" {
			t.Errorf("got %v", got)
		}
	})

	t.Run("gives up in the end", func(t *testing.T) {
		t.Parallel()
		server.board(t, "given-up", `{}`)
		proxy := server.between(t, func(w http.ResponseWriter, r *http.Request, _ http.Handler) bool {
			if r.Method == "POST" {
				hangUp(w)
			}
			return r.Method == "POST"
		})
		status, out, said := command(t, "player,points\np1,5\n", proxy.at("import", "-", "--board=given-up", "--patience=300ms")...)
		if status != 1 || out != "0 rows taken, 0 refused\n" || !strings.Contains(said, "given up after") {
			t.Errorf("got status %d, %s%s", status, out, said)
		}
	})

	t.Run("stops when told to", func(t *testing.T) {
		t.Parallel()
		server.board(t, "stopped", `{}`)
		sent := make(chan struct{}, 1)
		proxy := server.between(t, func(_ http.ResponseWriter, r *http.Request, _ http.Handler) bool {
			if r.Method != "POST" {
				return false
			}
			_, _ = io.Copy(io.Discard, r.Body) // only then is a hung up connection noticed
			sent <- struct{}{}
			<-r.Context().Done()
			return true
		})
		file := filepath.Join(t.TempDir(), "board.csv")
		if err := os.WriteFile(file, []byte("player,points\np1,5\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		p := program(t, nil, proxy.at("import", file, "--board=stopped")...)
		<-sent
		if status := p.stop(t, syscall.SIGINT); status != 1 || !strings.Contains(p.err.String(), "the same command goes on from here") {
			t.Errorf("got status %d, %s%s", status, &p.out, &p.err)
		}
	})

	t.Run("says what is wrong before it sends anything", func(t *testing.T) {
		t.Parallel()
		server.board(t, "fine", `{}`)
		missing := filepath.Join(t.TempDir(), "missing.csv")
		for want, args := range map[string][]string{
			"no such file":                        server.at("import", missing, "--board=fine"),
			"there is no column for player":       server.at("import", "-", "--board=fine"),
			`there is no board "nowhere"`:         server.at("import", "-", "--board=nowhere"),
			"--board must be":                     server.at("import", "-", "--board=No Board"),
			"does not take this API key":          {"import", "-", "--board=fine", "--url=" + server.url, "--api-key=wrong", "--column=player=who"},
			"is not an address such as":           {"import", "-", "--board=fine", "--url=localhost"},
			"no answer from http://127.0.0.1:9: ": {"import", "-", "--board=fine", "--url=http://127.0.0.1:9"},
		} {
			status, out, said := command(t, "who,points\np1,5\n", args...)
			if status != 1 || !strings.Contains(said, want) || strings.Count(said, "\n") != 1 {
				t.Errorf("got status %d, %s%s, want %q", status, out, said, want)
			}
		}
	})
}

// hangUp ends a connection without a reply.
func hangUp(w http.ResponseWriter) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		conn.Close()
	}
}

func TestABoardSurvivesTheRoundTrip(t *testing.T) {
	t.Parallel()
	server := serving(t, storeFlags(t)...)
	// Thirty days leave room for ticks of a millisecond.
	settings := fmt.Sprintf(`{"decimals":2,"max_points":10000,"season_days":30,"starts_at":%q}`,
		time.Now().Add(-time.Hour).UTC().Format(time.RFC3339))
	server.board(t, "first", settings)
	// 3 000 players tied in a burst, whose slots run ahead of the clock, and some with names that CSV and JSON escape.
	for batch := range 3 {
		var scores []string
		for i := range 1000 {
			scores = append(scores, fmt.Sprintf(`{"player":"p%d","points":7}`, (i*7919+batch)%1000*3+batch))
		}
		server.call(t, http.StatusOK, "POST", "/boards/first/scores/batch", `{"scores":[`+strings.Join(scores, ",")+`]}`, nil)
	}
	for i, name := range []string{`a "b", c`, `x\ty`, "=1+1", "שלום", " 🦊 ", "<b>"} {
		server.call(t, http.StatusOK, "POST", "/boards/first/scores",
			fmt.Sprintf(`{"player":"n,%d\"","name":%q,"points":"-%d.5"}`, i, name, i), nil)
	}

	export := func(board string) string {
		status, out, said := command(t, "", server.at("export", "--board="+board)...)
		if status != 0 || said != "" {
			t.Fatalf("export: status %d, %s", status, said)
		}
		return out
	}
	ahead := export("first") // its last slots are still to come
	if !strings.HasPrefix(ahead, "player,name,points,achieved_at,slot\n") || strings.Count(ahead, "\n") != 3007 {
		t.Fatalf("got %d lines: %.200s", strings.Count(ahead, "\n"), ahead)
	}
	server.board(t, "second", settings)
	status, out, said := command(t, ahead, server.at("import", "-", "--board=second")...)
	if status != 0 || out != "3006 rows taken, 0 refused\n" || said != "" {
		t.Fatalf("import: status %d, %s%s", status, out, said)
	}
	var first, second string
	within(t, time.Minute, "no slot is ahead of the clock", func() bool {
		first, second = export("first"), export("second")
		return first == second
	})
	if diff := cmp.Diff(strings.Split(second, "\n"), strings.Split(first, "\n")); diff != "" {
		t.Errorf("the boards differ (-second +first):\n%s", diff)
	}

	t.Run("and goes by time where the clock is another", func(t *testing.T) {
		server.board(t, "other", `{"decimals":2,"starts_at":"2025-12-31T23:59:59Z"}`)
		status, out, said := command(t, first, server.at("import", "-", "--board=other")...)
		if status != 0 || !strings.Contains(said, "column slot is not used") || !strings.Contains(said, "another board's clock") {
			t.Errorf("import: status %d, %s%s", status, out, said)
		}
	})
}

func TestAnExportThatBreaksOffIsAnError(t *testing.T) {
	t.Parallel()
	server := serving(t, storeFlags(t)...)
	server.board(t, "cut", `{}`)
	var scores []string
	for i := range 1000 {
		scores = append(scores, fmt.Sprintf(`{"player":"p%d","points":%d}`, i, i))
	}
	server.call(t, http.StatusOK, "POST", "/boards/cut/scores/batch", `{"scores":[`+strings.Join(scores, ",")+`]}`, nil)
	proxy := server.between(t, func(w http.ResponseWriter, r *http.Request, forward http.Handler) bool {
		if !strings.HasSuffix(r.URL.Path, "/export") {
			return false
		}
		whole := httptest.NewRecorder()
		forward.ServeHTTP(whole, r)
		_, _ = w.Write(whole.Body.Bytes()[:whole.Body.Len()/2])
		panic(http.ErrAbortHandler)
	})
	status, out, said := command(t, "", proxy.at("export", "--board=cut")...)
	if status != 1 || !strings.Contains(said, "broken off") || !strings.Contains(out, "p999,") {
		t.Errorf("got status %d, %d bytes, %s", status, len(out), said)
	}

	for want, args := range map[string][]string{
		`no board "nowhere"`:         server.at("export", "--board=nowhere"),
		"never was such a season":    server.at("export", "--board=cut", "--season=7"),
		"--season must be 1 or more": server.at("export", "--board=cut", "--season=-1"),
		"does not take this API key": {"export", "--board=cut", "--url=" + server.url, "--api-key=wrong"},
	} {
		status, out, said := command(t, "", args...)
		if status != 1 || out != "" || !strings.Contains(said, want) {
			t.Errorf("got status %d, %s%s, want %q", status, out, said, want)
		}
	}
}

func TestAPipeIsPutAsideAndTakenAwayAgain(t *testing.T) {
	t.Parallel()
	file, discard, err := openFile("-", strings.NewReader("some text"))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(file); err != nil || !bytes.Equal(got, []byte("some text")) {
			t.Errorf("got %q, %v", got, err)
		}
	}
	discard()
	if _, err := os.Stat(file.Name()); !os.IsNotExist(err) {
		t.Errorf("the file is left behind: %v", err)
	}
}

package main

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"leaderboard/store"
	"leaderboard/store/embedded"
	"leaderboard/store/redisstore"
)

// embeddedServer starts a server on the embedded store, with its snapshot in the given folder.
func embeddedServer(t testing.TB, data string, flags ...string) *process {
	t.Helper()
	return serving(t, append([]string{"--data=" + data}, flags...)...)
}

func TestANewcomerPostsAScoreWithWhatIsPrinted(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("there is no curl here")
	}
	p := program(t, nil, "--addr=127.0.0.1:0")
	p.ready(t)
	greeting := p.err.String()
	for _, want := range []string{"embedded, with a snapshot in data", "admin password  ", "API key         "} {
		if !strings.Contains(greeting, want) {
			t.Errorf("the greeting lacks %q:\n%s", want, greeting)
		}
	}
	var lines []string
	for line := range strings.Lines(greeting) {
		if strings.HasPrefix(line, "curl ") {
			lines = append(lines, line)
		}
	}
	if len(lines) != 2 {
		t.Fatalf("got %d curl lines, want one that makes a board and one that posts:\n%s", len(lines), greeting)
	}
	for _, line := range lines {
		out, err := exec.CommandContext(t.Context(), "sh", "-c", line).Output()
		if err != nil || bytes.Contains(out, []byte(`"code"`)) {
			t.Errorf("%s: %v: %s", line, err, out)
		}
	}
	page := regexp.MustCompile(`see it at (\S+):\n`).FindStringSubmatch(greeting)
	if page == nil {
		t.Fatalf("the greeting names no page:\n%s", greeting)
	}
	reply, err := http.Get(page[1])
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	var text bytes.Buffer
	if _, err := text.ReadFrom(reply.Body); err != nil || reply.StatusCode != http.StatusOK || !strings.Contains(text.String(), "Ada") {
		t.Errorf("%s: got %s without Ada (%v)", page[1], reply.Status, err)
	}

	t.Run("and gets other secrets at the next start", func(t *testing.T) {
		t.Parallel()
		next := program(t, nil, "--addr=127.0.0.1:0", "--data=")
		next.ready(t)
		secret := regexp.MustCompile(`(?:password|key) +([A-Z2-7]{26})`)
		first, second := secret.FindAllStringSubmatch(greeting, -1), secret.FindAllStringSubmatch(next.err.String(), -1)
		if len(first) != 2 || len(second) != 2 || first[0][1] == first[1][1] || first[0][1] == second[0][1] || first[1][1] == second[1][1] {
			t.Errorf("got %v, then %v", first, second)
		}
	})
}

func TestSecretsThatWereGivenAreNotPrinted(t *testing.T) {
	t.Parallel()
	p := program(t, []string{"LEADERBOARD_API_KEY=" + testKey, "LEADERBOARD_ADMIN_PASSWORD=open-sesame", "LEADERBOARD_ADDR=127.0.0.1:0"}, "--data=")
	p.ready(t)
	p.board(t, "any", `{}`) // the key from the environment works
	if status := p.stop(t, syscall.SIGTERM); status != 0 {
		t.Errorf("got status %d", status)
	}
	for _, secret := range []string{testKey, "open-sesame"} {
		if strings.Contains(p.err.String()+p.out.String(), secret) {
			t.Errorf("%s was printed:\n%s", secret, &p.err)
		}
	}
}

func TestSignalsEndTheServerWell(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			p := embeddedServer(t, "")
			// One connection that is idle, one that has begun a request, one that says nothing.
			p.board(t, "any", `{}`)
			for _, begun := range []string{"", "POST /api/v1/boards/any/scores HTTP/1.1\r\n"} {
				conn, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { conn.Close() })
				if _, err := conn.Write([]byte(begun)); err != nil {
					t.Fatal(err)
				}
			}
			begun := time.Now()
			if status := p.stop(t, signal); status != 0 {
				t.Errorf("got status %d:\n%s", status, &p.err)
			}
			if took := time.Since(begun); took > 10*time.Second {
				t.Errorf("took %s", took)
			}
		})
	}
}

func TestASnapshotSurvivesARestart(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	first := embeddedServer(t, data)
	first.board(t, "kept", `{"decimals":2,"policy":"sum","max_points":10000,"season_days":30}`)
	first.call(t, http.StatusOK, "POST", "/boards/kept/scores/batch",
		`{"scores":[{"player":"a","name":"Ä","points":"1.25"},{"player":"b","points":7},{"player":"c","points":7}]}`, nil)
	before := first.walk(t, "kept")
	if status := first.stop(t, syscall.SIGTERM); status != 0 {
		t.Fatalf("got status %d:\n%s", status, &first.err)
	}
	second := embeddedServer(t, data)
	if got := second.walk(t, "kept"); fmt.Sprint(got) != fmt.Sprint(before) || len(got) != 3 {
		t.Errorf("got %v, want %v", got, before)
	}
	second.call(t, http.StatusOK, "POST", "/boards/kept/scores", `{"player":"a","points":10}`, nil)
	if got := second.walk(t, "kept"); string(got[0].Points) != "11.25" {
		t.Errorf("got %v", got)
	}
}

func TestASeasonThatEndedWhileTheServerWasDownIsClosedAtItsEnd(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	yesterday := time.Now().Add(-24 * time.Hour).Truncate(time.Millisecond)
	server, err := embedded.Open(data, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	boards := redisstore.New(server.Client(), redisstore.Options{
		Clock: func() time.Time { return yesterday }, AfterWrite: server.Changed,
	})
	_, _, err = boards.PutBoard(t.Context(), "hourly", func(s *store.Settings) error { s.Schedule = "0 * * * *"; return nil })
	if err == nil {
		_, err = boards.Submit(t.Context(), "hourly", store.Submission{Player: "a", Points: store.Whole(5)})
	}
	if err := errors.Join(err, server.Close()); err != nil {
		t.Fatal(err)
	}

	p := embeddedServer(t, data)
	var closed struct {
		Seasons []struct {
			EndedAt time.Time `json:"ended_at"`
			Total   int64     `json:"total"`
		} `json:"seasons"`
	}
	p.call(t, http.StatusOK, "GET", "/boards/hourly/seasons", "", &closed)
	want := yesterday.Truncate(time.Hour).Add(time.Hour)
	if len(closed.Seasons) != 1 || closed.Seasons[0].Total != 1 || !closed.Seasons[0].EndedAt.Equal(want) {
		t.Errorf("got %+v, want one season that ended at %v", closed, want)
	}
}

func TestADamagedSnapshotIsRefusedAndKept(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	first := embeddedServer(t, data)
	first.board(t, "kept", `{}`)
	first.call(t, http.StatusOK, "POST", "/boards/kept/scores", `{"player":"a","points":10}`, nil)
	first.stop(t, syscall.SIGTERM)

	snapshot := largestFile(t, data)
	whole, err := os.ReadFile(snapshot)
	if err != nil {
		t.Fatal(err)
	}
	damaged := whole[:len(whole)*2/3]
	if err := os.WriteFile(snapshot, damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	p := program(t, nil, "serve", "--addr=127.0.0.1:0", "--data="+data)
	if status := p.status(t); status != 1 {
		t.Errorf("got status %d, want 1", status)
	}
	if said := p.err.String(); !strings.Contains(said, filepath.Base(snapshot)) || strings.Contains(said, "goroutine ") {
		t.Errorf("it said:\n%s", said)
	}
	if kept, err := os.ReadFile(snapshot); err != nil || !bytes.Equal(kept, damaged) {
		t.Errorf("the file was touched: %v", err)
	}
}

func largestFile(t *testing.T, folder string) string {
	t.Helper()
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	largest, size := "", int64(-1)
	for _, file := range files {
		if about, err := file.Info(); err == nil && about.Size() > size {
			largest, size = file.Name(), about.Size()
		}
	}
	return filepath.Join(folder, largest)
}

func TestWrongArgumentsAreRefusedInWords(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { taken.Close() }) // after the subtests
	tests := map[string]struct {
		args   []string
		status int
		want   string
	}{
		"unknown flag":         {[]string{"--colour=red"}, 80, "unknown flag --colour"},
		"unknown command":      {[]string{"dance"}, 80, "unexpected argument dance"},
		"no board":             {[]string{"import", "file.csv"}, 80, "--board"},
		"no file":              {[]string{"import", "--board=a"}, 80, `"<file>"`},
		"no number":            {[]string{"bots", "--players=many"}, 80, "--players"},
		"too few players":      {[]string{"bots", "--players=0"}, 80, "--players must be 1"},
		"no rate":              {[]string{"bots", "--rate=NaN"}, 80, "--rate must be"},
		"more connections":     {[]string{"bench", "--players=1"}, 80, "--players must be at least --connections"},
		"part of a score":      {[]string{"import", "f", "--board=a", "--column=points"}, 80, "<key>=<value>"},
		"no address":           {[]string{"--addr="}, 80, "--addr must be"},
		"key prefix":           {[]string{"--key-prefix={a}"}, 80, "--key-prefix must be"},
		"proxy":                {[]string{"--trusted-proxies=10.0.0.0/8,home"}, 80, `"home" is no address`},
		"readers":              {[]string{"--readers=-1"}, 80, "--readers and"},
		"public address":       {[]string{"--addr=127.0.0.1:0", "--data=", "--public-url=here"}, 1, "is not an origin such as"},
		"limit":                {[]string{"--rate-limit-key=many"}, 80, "--rate-limit-key must be"},
		"token key":            {[]string{"--token-key=short"}, 80, "--token-key must be keys of 32"},
		"short keep":           {[]string{"--idempotency-keep=1ms"}, 80, "--idempotency-keep must be"},
		"API key":              {[]string{"--api-key=a b"}, 80, "--api-key must be"},
		"port that is taken":   {[]string{"--addr=" + taken.Addr().String(), "--data="}, 1, "another program listens on"},
		"port that is none":    {[]string{"--addr=127.0.0.1:http3", "--data="}, 1, "cannot listen on --addr"},
		"Redis that is none":   {[]string{"--addr=127.0.0.1:0", "--redis-url=http://x"}, 1, "must begin with redis://"},
		"Redis that is away":   {[]string{"--addr=127.0.0.1:0", "--redis-url=redis://127.0.0.1:9"}, 1, "connection refused"},
		"no health":            {[]string{"health", "--addr=" + "127.0.0.1:9"}, 1, "connection refused"},
		"health of no address": {[]string{"health", "--addr=here"}, 1, "missing port"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, out, said := command(t, "", test.args...)
			if status != test.status || out != "" || !strings.Contains(said, test.want) {
				t.Errorf("got status %d, %s%s, want %d and %q", status, out, said, test.status, test.want)
			}
		})
	}
}

func TestTheProgramTellsAboutItself(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"leaderboard ":              {"version"},
		"Serve boards.":             {"--help"},
		"$LEADERBOARD_REDIS_URL":    {"serve", "--help"},
		"PART=HEADER":               {"import", "--help"},
		"Board to play on":          {"bots", "--help"},
		"The embedded store is mad": {"bench", "--help"},
	} {
		status, out, said := command(t, "", args...)
		if status != 0 || said != "" || !strings.Contains(out, want) {
			t.Errorf("%v: got status %d, %s%s, want %q", args, status, out, said, want)
		}
	}
}

func TestTwoServersDoNotShareAFolder(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	embeddedServer(t, data)
	p := program(t, nil, "--addr=127.0.0.1:0", "--data="+data)
	if status := p.status(t); status != 1 {
		t.Errorf("got status %d:\n%s", status, &p.err)
	}
}

func TestHealthAsksTheServer(t *testing.T) {
	t.Parallel()
	p := embeddedServer(t, "")
	if status, _, said := command(t, "", "health", "--addr="+strings.TrimPrefix(p.url, "http://")); status != 0 {
		t.Errorf("got status %d, %s", status, said)
	}
}

func TestTheDemoLives(t *testing.T) {
	t.Parallel()
	p := embeddedServer(t, "", "--demo")
	version := func() (v int64) {
		var top struct {
			Version int64 `json:"version"`
			Total   int64 `json:"total"`
		}
		status, text, err := p.try(t.Context(), "GET", "/boards/demo/top", "")
		if err == nil && status == http.StatusOK && json.Unmarshal(text, &top) == nil && top.Total > 50 {
			return top.Version
		}
		return 0
	}
	within(t, 10*time.Second, "there are players", func() bool { return version() > 0 })
	before := version()
	within(t, 20*time.Second, "something happens", func() bool { return version() > before })
	if status := p.stop(t, syscall.SIGTERM); status != 0 || strings.Contains(p.err.String(), "level=WARN") {
		t.Errorf("got status %d:\n%s", status, &p.err)
	}
}

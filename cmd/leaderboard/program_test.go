package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"leaderboard/store/storetest"
)

// programVariable makes the test binary the program itself, so that tests can start it, and kill it, as a process.
const programVariable = "LEADERBOARD_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(programVariable) != "" {
		os.Exit(start())
	}
	status := m.Run()
	chromium.end()
	os.Exit(status)
}

// testKey is the API key of the servers that tests start.
const testKey = "test-key-of-this-machine"

// patience is how long a test waits for what comes soon.
const patience = 20 * time.Second

// process is the program, started for a test.
type process struct {
	*exec.Cmd
	out, err said
	ended    chan error
	url      string // of a server
	key      string
}

// said collects what a process prints.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// program starts the program in a folder of its own, without settings from outside. It never outlives the test.
func program(t testing.TB, settings []string, args ...string) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{Cmd: exec.Command(self, args...), ended: make(chan error, 1), key: testKey}
	p.Dir = t.TempDir()
	p.Env = append(settings, programVariable+"=1")
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "LEADERBOARD_") {
			p.Env = append(p.Env, variable)
		}
	}
	p.Stdout, p.Stderr = &p.out, &p.err
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		p.ended <- p.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		_ = p.Process.Kill()
		<-ended
	})
	return p
}

// status waits for the process and returns its exit status.
func (p *process) status(t testing.TB) int {
	t.Helper()
	select {
	case err := <-p.ended:
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			return exit.ExitCode()
		}
		if err != nil {
			t.Fatal(err)
		}
		return 0
	case <-time.After(30 * time.Second):
		t.Fatalf("the program goes on:\n%s%s", &p.out, &p.err)
		return -1
	}
}

// stop asks the process to end and returns its exit status.
func (p *process) stop(t testing.TB, signal syscall.Signal) int {
	t.Helper()
	if err := p.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	return p.status(t)
}

var served = regexp.MustCompile(`http://\S+:\d+`)

// serving starts a server on a free port and waits until it answers.
func serving(t testing.TB, flags ...string) *process {
	t.Helper()
	args := append([]string{"serve", "--addr=127.0.0.1:0", "--api-key=" + testKey}, flags...)
	p := program(t, nil, args...)
	p.ready(t)
	return p
}

// ready waits until a server says where it is, and answers there.
func (p *process) ready(t testing.TB) {
	t.Helper()
	within(t, patience, "the server answers", func() bool {
		select {
		case err := <-p.ended:
			t.Fatalf("the server ended: %v\n%s%s", err, &p.out, &p.err)
		default:
		}
		if p.url = served.FindString(p.err.String()); p.url == "" {
			return false
		}
		reply, err := http.Get(p.url + "/readyz")
		if err != nil {
			return false
		}
		reply.Body.Close()
		return reply.StatusCode == http.StatusOK
	})
}

// within polls until the condition holds.
func within(t testing.TB, limit time.Duration, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); !holds(); {
		if time.Now().After(deadline) {
			t.Fatalf("within %s: not yet so that %s", limit, what)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// storeFlags make a server keep its boards where the tests of this machine keep theirs.
func storeFlags(t testing.TB) []string {
	t.Helper()
	_, err := exec.LookPath("redis-server")
	if err != nil && os.Getenv("LEADERBOARD_TEST_REDIS_URL") == "" {
		return []string{"--data="}
	}
	return []string{"--redis-url=" + storetest.URL(t), "--key-prefix=" + storetest.Prefix(t)}
}

// command runs a command in this process and returns its exit status and what it printed.
func command(t testing.TB, in string, args ...string) (status int, out, err string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var said, wrong said
	status = run(ctx, args, streams{in: strings.NewReader(in), out: &said, err: &wrong})
	return status, said.String(), wrong.String()
}

// at gives a command the server and its key.
func (p *process) at(args ...string) []string {
	return append(args, "--url="+p.url, "--api-key="+p.key)
}

// call sends a request to the API and reads the reply. It fails the test unless the status is the wanted one.
func (p *process) call(t testing.TB, want int, method, path, body string, into any) {
	t.Helper()
	status, text, err := p.try(t.Context(), method, path, body)
	if err != nil {
		t.Fatal(err)
	}
	if status != want {
		t.Fatalf("%s %s: got %d %s, want %d", method, path, status, text, want)
	}
	if into == nil {
		return
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%s %s: %v: %s", method, path, err, text)
	}
}

// try is call without a test to fail.
func (p *process) try(ctx context.Context, method, path, body string) (int, []byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, p.url+"/api/v1"+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Authorization", "Bearer "+p.key)
	request.Header.Set("Content-Type", "application/json")
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	return reply.StatusCode, text, err
}

// placed is an entry of the top.
type placed struct {
	Rank       int64          `json:"rank"`
	Player     string         `json:"player"`
	Name       string         `json:"name"`
	Points     jsontext.Value `json:"points"`
	AchievedAt time.Time      `json:"achieved_at"`
}

// walk returns all entries of a board, page by page.
func (p *process) walk(t testing.TB, board string) []placed {
	t.Helper()
	var all []placed
	for after := ""; ; {
		var page struct {
			Entries []placed `json:"entries"`
			Next    *string  `json:"next"`
		}
		p.call(t, http.StatusOK, "GET", fmt.Sprintf("/boards/%s/top?limit=1000%s", board, after), "", &page)
		all = append(all, page.Entries...)
		if page.Next == nil {
			return all
		}
		after = "&after=" + *page.Next
	}
}

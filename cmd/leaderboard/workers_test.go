package main

import (
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/go-json-experiment/json"
)

func TestAnotherProcessPaysTheRewards(t *testing.T) {
	t.Parallel()
	flags := storeFlags(t)
	if !strings.Contains(strings.Join(flags, " "), "--redis-url") {
		t.Skip("there is no Redis that two processes could share")
	}
	front := serving(t, append(flags, "--no-workers")...)
	front.board(t, "arcade", `{"rewards":[{"id":"gold","title":"Gold chest","ranks":[1,1]}]}`)
	front.call(t, 200, "POST", "/boards/arcade/scores", `{"player":"mira","points":5}`, nil)
	front.call(t, 200, "POST", "/boards/arcade/seasons/close", `{"season":1}`, nil)
	var token struct {
		Token string `json:"token"`
	}
	front.call(t, 200, "POST", "/players/mira/token", ``, &token)
	inbox := func() (got struct{ Items []struct{ Reward string } }) {
		request, err := http.NewRequestWithContext(t.Context(), "GET", front.url+"/api/v1/me/inbox", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+token.Token)
		reply, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer reply.Body.Close()
		text, err := io.ReadAll(reply.Body)
		if err == nil {
			err = json.Unmarshal(text, &got, json.MatchCaseInsensitiveNames(true))
		}
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return got
	}
	if got := inbox(); len(got.Items) != 0 {
		t.Fatalf("a server without workers has paid %v", got)
	}
	back := program(t, nil, append([]string{"serve", "--no-web"}, flags...)...)
	within(t, patience, "the reward is in the inbox", func() bool { return len(inbox().Items) == 1 })
	if status := back.stop(t, syscall.SIGTERM); status != 0 {
		t.Errorf("got status %d: %s", status, &back.err)
	}
	if served.MatchString(back.err.String()) {
		t.Errorf("a process without a web side says where it is: %s", &back.err)
	}
	within(t, patience, "the queue is counted", func() bool {
		reply, err := http.Get(front.url + "/metrics")
		if err != nil {
			return false
		}
		defer reply.Body.Close()
		text, _ := io.ReadAll(reply.Body)
		return strings.Contains(string(text), `leaderboard_jobs{state="dead"} 0`)
	})
}

func TestWorkersCannotBeAskedForWhatMakesNoSense(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"nothing at all":              {[]string{"--no-web", "--no-workers", "--redis-url=redis://127.0.0.1:1"}, "nothing to do"},
		"workers alone in one memory": {[]string{"--no-web"}, "--redis-url"},
		"players whom nobody serves":  {[]string{"--no-web", "--demo", "--redis-url=redis://127.0.0.1:1"}, "--demo"},
		"no network":                  {[]string{"--webhook-allow=here"}, "--webhook-allow"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, _, said := command(t, "", append([]string{"serve"}, c.args...)...)
			if status != 80 || !strings.Contains(said, c.says) {
				t.Errorf("got status %d and %q, want words about %s", status, said, c.says)
			}
		})
	}
}

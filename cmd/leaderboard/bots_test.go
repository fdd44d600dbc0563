package main

import (
	"net/http"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

func TestBotsPlayOnAnyServer(t *testing.T) {
	t.Parallel()
	server := serving(t, storeFlags(t)...)

	t.Run("for as long as they are told", func(t *testing.T) {
		t.Parallel()
		status, out, said := command(t, "", server.at("bots", "--players=30", "--rate=200", "--duration=1s")...)
		if status != 0 || !regexp.MustCompile(`^[1-9]\d+ scores posted, [1-9]\d* of them better`).MatchString(out) {
			t.Errorf("got status %d, %s%s", status, out, said)
		}
		if got := server.walk(t, "demo"); len(got) < 20 || len(got) > 30 || got[0].Name == "" {
			t.Errorf("got %d players: %v", len(got), got)
		}
	})

	t.Run("on boards of every kind", func(t *testing.T) {
		t.Parallel()
		for board, settings := range map[string]string{
			"times": `{"order":"asc","decimals":3,"max_points":600}`,
			"sums":  `{"policy":"sum"}`,
			"last":  `{"policy":"last","decimals":1}`,
		} {
			server.board(t, board, settings)
			status, out, said := command(t, "",
				server.at("bots", "--board="+board, "--players=9", "--rate=100", "--duration=300ms")...)
			if status != 0 || len(server.walk(t, board)) < 6 {
				t.Errorf("%s: got status %d, %s%s", board, status, out, said)
			}
		}
	})

	t.Run("until they are stopped", func(t *testing.T) {
		t.Parallel()
		p := program(t, nil, server.at("bots", "--board=stopped", "--rate=50")...)
		within(t, patience, "they play", func() bool {
			status, text, err := server.try(t.Context(), "GET", "/boards/stopped/top", "")
			return err == nil && status == http.StatusOK && strings.Contains(string(text), "bot-")
		})
		if status := p.stop(t, syscall.SIGINT); status != 0 || !strings.Contains(p.out.String(), "scores posted") {
			t.Errorf("got status %d, %s%s", status, &p.out, &p.err)
		}
	})

	t.Run("and leave when they may not", func(t *testing.T) {
		t.Parallel()
		status, _, said := command(t, "", "bots", "--board=forbidden", "--url="+server.url, "--api-key=wrong")
		if status != 1 || !strings.Contains(said, "does not take this API key") {
			t.Errorf("got status %d, %s", status, said)
		}
	})
}

func TestBenchMeasuresAServerBesideAConstantReply(t *testing.T) {
	t.Parallel()
	limits := []string{"--rate-limit-player=0", "--rate-limit-key=0", "--rate-limit-address=0"}
	server := serving(t, append(limits, storeFlags(t)...)...)
	p := program(t, nil, server.at("bench", "--duration=150ms", "--connections=4", "--players=200")...)
	if status := p.status(t); status != 0 {
		t.Fatalf("got status %d:\n%s", status, &p.err)
	}
	for _, want := range []string{"single submissions", "top 10", "in batches of 100", "constant reply", "100 %"} {
		if !strings.Contains(p.out.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, &p.out)
		}
	}
	var boards struct {
		Boards []struct{} `json:"boards"`
	}
	server.call(t, http.StatusOK, "GET", "/boards", "", &boards)
	if len(boards.Boards) != 0 {
		t.Errorf("the board was left behind")
	}
}

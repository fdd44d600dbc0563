package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"

	"leaderboard/store"
)

// firstBoard is the board that the greeting of an empty server proposes.
const firstBoard = "first"

// greet tells whoever starts the program what there is and how to post a first score. Secrets that were made are shown
// here and nowhere else; those that were given are not shown at all.
func (c *serveCmd) greet(
	ctx context.Context, to io.Writer, address net.Addr, words string, boards boardLister, secrets secrets,
) {
	url := "http://" + own(address)
	fmt.Fprintf(to, "\nleaderboard %s is at %s\n\n", buildVersion(), url)
	fmt.Fprintf(to, "  store           %s\n", words)
	if secrets.madePassword {
		fmt.Fprintf(to, "  admin password  %s   made for this run; --admin-password keeps one\n", secrets.password)
	}
	bearer := `"Authorization: Bearer $LEADERBOARD_API_KEY"`
	switch {
	case secrets.madeKey:
		fmt.Fprintf(to, "  API key         %s   made for this run; --api-key keeps one\n", secrets.key)
		bearer = `"Authorization: Bearer ` + secrets.key + `"`
	case c.APIKey == "":
		fmt.Fprint(to, "  API key         none yet: --api-key or LEADERBOARD_API_KEY gives a first one\n\n")
		return
	}
	board, there := c.boardToShow(ctx, boards)
	api := url + "/api/v1/boards/" + board
	fmt.Fprintf(to, "\nPost a score, and see it at %s/b/%s:\n\n", url, board)
	if !there {
		fmt.Fprintf(to, "curl -X PUT %s -H %s\n", api, bearer)
	}
	fmt.Fprintf(to, `curl %s/scores -H %s -H "Content-Type: application/json" -d '{"player":"ada","name":"Ada","points":1200}'`+"\n\n", api, bearer)
}

// boardLister is what the greeting needs of a store.
type boardLister interface {
	BoardStates(ctx context.Context) ([]store.BoardState, error)
}

// boardToShow returns a board for a first try, and whether it is there already.
func (c *serveCmd) boardToShow(ctx context.Context, boards boardLister) (id string, there bool) {
	if c.Demo {
		return demoBoard, true // in a moment
	}
	if all, err := boards.BoardStates(ctx); err == nil && len(all) > 0 {
		return string(all[0].ID), true
	}
	return firstBoard, false
}

// own returns how this machine reaches a listener.
func own(address net.Addr) string {
	host, port, err := net.SplitHostPort(address.String())
	if err != nil {
		return address.String()
	}
	return reachable(host, port)
}

// demoBoard is the board that --demo makes.
const demoBoard = "demo"

// startDemo lets simulated players loose on the server itself, through its own address. The function that it returns
// takes them off and waits until they are gone.
func (c *serveCmd) startDemo(ctx context.Context, address net.Addr, key string, log *slog.Logger) (stop func()) {
	if !c.Demo {
		return func() {}
	}
	bots := botsCmd{
		Board: demoBoard, Players: 160, Rate: 5, settings: `{"title":"Demo","schedule":"daily"}`,
		remote: remote{URL: "http://" + own(address), APIKey: key},
	}
	ctx, cancel := context.WithCancel(ctx)
	var playing sync.WaitGroup
	playing.Go(func() {
		if _, err := bots.play(ctx, newTeller(io.Discard)); err != nil {
			log.Warn("the simulated players have left", "error", err)
		}
	})
	return func() {
		cancel()
		playing.Wait()
	}
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/sync/errgroup"

	"leaderboard/store"
)

type botsCmd struct {
	Board    string        `default:"demo" help:"Board to play on; made if there is none."`
	Players  int           `default:"160" help:"Number of players."`
	Rate     float64       `default:"5" help:"Scores a second, of all players together."`
	Duration time.Duration `help:"How long to play; 0 until stopped."`
	remote

	settings string // of a board that has to be made; empty: the usual ones
}

// Run plays until it is told to stop, or the duration is over.
func (c *botsCmd) Run(ctx context.Context, std streams) error {
	said := newTeller(std.err)
	counts, err := c.play(ctx, said)
	if err != nil {
		return fmt.Errorf("bots: %w", err)
	}
	_, err = fmt.Fprintf(std.out, "%d scores posted, %d of them better than before\n", counts.posted.Load(), counts.improved.Load())
	return err
}

// botCounts is what the bots got done.
type botCounts struct{ posted, improved atomic.Int64 }

// Validate is called by kong.
func (c *botsCmd) Validate() error {
	switch {
	case c.Players < 1 || c.Players > 1_000_000:
		return errors.New("--players must be 1 to 1000000")
	case !(c.Rate > 0 && c.Rate <= 100_000): // also not NaN
		return errors.New("--rate must be more than 0, and at most 100000")
	case c.Duration < 0:
		return errors.New("--duration must not be negative")
	}
	return nil
}

// play sends the players in.
func (c *botsCmd) play(ctx context.Context, said *teller) (*botCounts, error) {
	counts := &botCounts{}
	server, err := c.open(c.Board)
	if err != nil {
		return counts, err
	}
	if c.Duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.Duration)
		defer cancel()
	}
	game, empty, err := c.enter(ctx, server, said)
	if err != nil {
		return counts, quiet(ctx, err)
	}
	said.say(fmt.Sprintf("%d simulated players on board %s, %g scores a second", c.Players, c.Board, c.Rate))
	crews := min(max(1, int(c.Rate/20)), 32, c.Players) // a crew posts one score after the other
	group, ctx := errgroup.WithContext(ctx)
	for first := range crews {
		group.Go(func() error {
			playing := &playing{
				server: server, board: c.Board, crew: newCrew(game, first, crews, c.Players), said: said, counts: counts,
			}
			if empty {
				if err := playing.open(ctx); err != nil {
					return err
				}
			}
			return playing.on(ctx, c.Rate/float64(crews))
		})
	}
	return counts, quiet(ctx, group.Wait())
}

// quiet drops an error that only says that it was time to stop.
func quiet(ctx context.Context, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil {
		return nil
	}
	return err
}

// enter finds out what is played on the board, and makes one where there is none.
func (c *botsCmd) enter(ctx context.Context, server *server, said *teller) (g game, empty bool, err error) {
	board, err := server.board(ctx, c.Board)
	if p, ok := errors.AsType[*problem](err); ok && p.Code == "board_not_found" {
		_, err = server.call(ctx, request{
			method: http.MethodPut, path: []string{"boards", c.Board}, body: []byte(cmp.Or(c.settings, "{}")),
		}, &board)
		if err == nil {
			said.say("made board " + c.Board)
		}
	}
	if err != nil {
		return g, false, explain(err, c.Board)
	}
	var top struct {
		Entries []struct {
			Points float64 `json:"points"`
		} `json:"entries"`
	}
	_, err = server.call(ctx, request{
		method: http.MethodGet, path: []string{"boards", c.Board, "top"}, query: url.Values{"limit": {"1"}},
	}, &top)
	if err != nil {
		return g, false, err
	}
	leader := 0.0
	if len(top.Entries) > 0 {
		leader = top.Entries[0].Points
	}
	return newGame(board, leader), len(top.Entries) == 0, nil
}

// playing is one crew at its games.
type playing struct {
	server *server
	board  string
	crew   *crew
	said   *teller
	counts *botCounts
}

// open posts the first scores of two in three players at once, so that nobody looks at an empty board.
func (p *playing) open(ctx context.Context) error {
	var first struct {
		Scores []score `json:"scores"`
	}
	for at, bot := range p.crew.bots {
		if at%3 == 2 || len(first.Scores) == store.MaxBatch {
			continue
		}
		bot.named = true
		first.Scores = append(first.Scores, score{Player: bot.id, Name: bot.name, Points: p.crew.finish(bot)})
	}
	body, err := json.Marshal(first)
	if err != nil {
		return err
	}
	var reply struct {
		Results []result `json:"results"`
	}
	if err := p.post(ctx, []string{"boards", p.board, "scores", "batch"}, body, &reply); err != nil {
		return err
	}
	p.counts.posted.Add(int64(len(reply.Results)))
	p.counts.improved.Add(int64(len(reply.Results)))
	return nil
}

// on plays game after game, at random moments, until the context ends.
func (p *playing) on(ctx context.Context, rate float64) error {
	next := time.Now()
	for {
		pause := time.Duration(rand.ExpFloat64() / rate * float64(time.Second))
		// Whoever falls behind, because the server was away, does not catch up in a burst.
		next = latest(next.Add(pause), time.Now().Add(-time.Second))
		if err := sleepUntil(ctx, next); err != nil {
			return err
		}
		bot, points := p.crew.play()
		s := score{Player: bot.id, Points: points}
		if !bot.named {
			s.Name = bot.name
		}
		body, err := json.Marshal(s)
		if err != nil {
			return err
		}
		var reply struct {
			Improved bool `json:"improved"`
		}
		if err := p.post(ctx, []string{"boards", p.board, "scores"}, body, &reply); err != nil {
			return err
		}
		bot.named = true
		p.counts.posted.Add(1)
		if reply.Improved {
			p.counts.improved.Add(1)
		}
	}
}

// post sends a body, and goes on trying while the server is away. What is about one player only is let pass: a bot
// that an admin has banned still tries.
func (p *playing) post(ctx context.Context, path []string, body []byte, into any) error {
	tries := retries{patience: 10 * 365 * 24 * time.Hour}
	calls, cancel := outlast(ctx, 2*time.Second)
	defer cancel()
	for {
		_, err := p.server.call(calls, request{method: http.MethodPost, path: path, body: body}, into)
		if refusal, ok := errors.AsType[*problem](err); ok && (refusal.Code == "player_banned" || refusal.Field == "points") {
			return nil
		}
		if err == nil {
			return nil
		}
		if err := tries.wait(ctx, err, p.said); err != nil {
			return cmp.Or(ctx.Err(), explain(err, p.board))
		}
	}
}

// outlast returns a context that ends a little later than the given one: a call on its way may finish.
func outlast(ctx context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })
	return longer, func() {
		stop()
		cancel()
	}
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// sleepUntil returns at the given time, or earlier with the context's error.
func sleepUntil(ctx context.Context, moment time.Time) error {
	timer := time.NewTimer(time.Until(moment))
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

package redisstore_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"leaderboard/store"
)

// tally counts the points that replies acknowledged, by season and player.
type tally map[int64]map[store.PlayerID]store.Points

func (t tally) add(season int64, player store.PlayerID) {
	if t[season] == nil {
		t[season] = make(map[store.PlayerID]store.Points)
	}
	t[season][player]++
}

// kept returns the points that stand in all seasons of a board where points are added.
func (s seasonsOn) kept() tally {
	s.t.Helper()
	kept := make(tally)
	for number := int64(1); number <= s.state().Season.Number; number++ {
		for row, err := range s.processes[1].Export(s.t.Context(), store.Look{Board: "demo", Season: number}) {
			s.do("export", err)
			if kept[number] == nil {
				kept[number] = make(map[store.PlayerID]store.Points)
			}
			kept[number][row.Player] = row.Points
		}
	}
	return kept
}

// crowd is a number of players who add a point again and again, each counting what was acknowledged.
type crowd struct {
	stop    func()
	senders sync.WaitGroup
	sent    atomic.Int64
	mine    []tally
}

// start has players submit in every way, until the crowd is stopped.
func (s seasonsOn) start(players int) *crowd {
	stopped := make(chan struct{})
	c := &crowd{stop: sync.OnceFunc(func() { close(stopped) }), mine: make([]tally, players)}
	s.t.Cleanup(func() {
		c.stop()
		c.senders.Wait()
	})
	for i := range players {
		c.mine[i] = make(tally)
		c.senders.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stopped:
					return
				default:
				}
				s.sendOne(c.mine[i], i, n)
				c.sent.Add(1)
			}
		})
	}
	return c
}

// sendOne submits alone, in a batch, or for a season that it names and that may be over.
func (s seasonsOn) sendOne(mine tally, sender, n int) {
	process := s.processes[(sender+n)%2]
	player := store.PlayerID(fmt.Sprint("p", sender))
	one := store.Submission{Player: player, Points: store.Whole(1)}
	switch n % 4 {
	case 0:
		outcomes, _, err := process.SubmitBatch(s.t.Context(), "demo", []store.Submission{one, one, one}, store.Once{})
		if err != nil {
			s.t.Errorf("batch: %v", err)
			return
		}
		for _, outcome := range outcomes {
			if outcome.Err != nil {
				s.t.Errorf("batch: %v", outcome.Err)
				return
			}
			mine.add(outcome.Result.Season, player)
		}
		return
	case 1:
		board, err := process.Board(s.t.Context(), "demo")
		if err != nil {
			s.t.Errorf("board: %v", err)
			return
		}
		one.Season = board.Season.Number
	}
	result, err := process.Submit(s.t.Context(), "demo", one)
	switch {
	case one.Season != 0 && errors.Is(err, store.ErrSeasonClosed):
	case err != nil:
		if _, invalid := errors.AsType[*store.InvalidError](err); !invalid || one.Season == 0 { // a reopening took it back
			s.t.Errorf("submit: %v", err)
		}
	case one.Season != 0 && result.Season != one.Season:
		s.t.Errorf("got season %d, want %d as it was named", result.Season, one.Season)
	default:
		mine.add(result.Season, player)
	}
}

// await returns when the crowd has sent some more.
func (c *crowd) await(t *testing.T, more int64) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for from := c.sent.Load(); c.sent.Load() < from+more; time.Sleep(100 * time.Microsecond) {
		if t.Failed() || time.Now().After(deadline) {
			t.Fatal("nobody submits any more")
		}
	}
}

// end stops the crowd and returns what was acknowledged.
func (c *crowd) end() tally {
	c.stop()
	c.senders.Wait()
	all := make(tally)
	for _, mine := range c.mine {
		for season, points := range mine {
			for player, n := range points {
				for range n {
					all.add(season, player)
				}
			}
		}
	}
	return all
}

func (s seasonsOn) compare(kept, acknowledged tally) {
	s.t.Helper()
	if diff := gocmp.Diff(acknowledged, kept, cmpopts.EquateEmpty()); diff != "" {
		s.t.Errorf("points by season (-acknowledged +kept):\n%.4000s", diff)
	}
}

// scoresAreWhereTheySay closes many seasons, by hand and by schedule in turn, while 16 players submit. Four try each
// close by hand at once; the schedule's are made by whoever looks first.
func scoresAreWhereTheySay(s seasonsOn) {
	began := s.put(func(settings *store.Settings) { settings.Schedule, settings.Policy = "* * * * *", store.Sum })
	players := s.start(16)
	var ends []time.Time
	for number := int64(1); number <= s.closes; number++ {
		players.await(s.t, 16)
		if number%2 == 0 {
			boundary := s.clock.Now().Truncate(time.Minute).Add(time.Minute)
			s.clock.Set(boundary.Add(10 * time.Second))
			ends = append(ends, boundary)
			players.await(s.t, 32) // somebody has looked
			continue
		}
		ends = append(ends, s.clock.Step(time.Second))
		var closed atomic.Int64
		var admins sync.WaitGroup
		for i := range 4 {
			admins.Go(func() {
				_, _, err := s.processes[i%2].CloseSeason(s.t.Context(), "demo", number, "by hand")
				if err == nil {
					closed.Add(1)
				} else if !errors.Is(err, store.ErrSeasonNotRunning) {
					s.t.Errorf("close %d: %v", number, err)
				}
			})
		}
		admins.Wait()
		if closed.Load() != 1 {
			s.t.Errorf("season %d was closed %d times", number, closed.Load())
		}
	}
	players.await(s.t, 16)
	acknowledged := players.end()
	s.compare(s.kept(), acknowledged)

	seasons, err := s.processes[0].ClosedSeasons(s.t.Context(), "demo")
	s.do("seasons", err)
	if len(seasons) != len(ends) {
		s.t.Fatalf("got %d closed seasons, want %d", len(seasons), len(ends))
	}
	start := began.Season.Start
	for i, end := range ends {
		season := seasons[len(seasons)-1-i]
		if season.Number != int64(i+1) || !season.Start.Equal(start) || !season.End.Equal(end) || season.Closes != 1 {
			s.t.Errorf("got %+v, want season %d from %v to %v", season, i+1, start, end)
		}
		start = end
	}
}

func reopeningsLoseNoScore(s seasonsOn) {
	s.put(func(settings *store.Settings) { settings.Policy = store.Sum })
	players := s.start(4)
	reopened, refused := 0, 0
	for range s.closes / 4 {
		players.await(s.t, 4)
		number := s.state().Season.Number
		s.clock.Step(time.Second)
		s.close(number)
		switch _, err := s.processes[1].ReopenSeason(s.t.Context(), "demo", number); {
		case err == nil:
			reopened++
		case errors.Is(err, store.ErrNotReopenable):
			refused++
		default:
			s.t.Errorf("reopen %d: %v", number, err)
		}
	}
	acknowledged := players.end()
	s.compare(s.kept(), acknowledged)
	s.t.Logf("reopened %d times, refused %d times", reopened, refused)
}

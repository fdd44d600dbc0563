package redisstore_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/redis/go-redis/v9"

	"leaderboard/store"
	"leaderboard/store/redisstore"
	"leaderboard/store/storetest"
)

var seasonRules = map[string]func(s seasonsOn){
	"every score is in the season that its reply names":             scoresAreWhereTheySay,
	"a reopening and a score at once do not lose the score":         reopeningsLoseNoScore,
	"a payout that has begun wins over a reopening":                 payoutsWinOverReopenings,
	"a season of other rules is not reopened":                       otherRulesAreNotReopened,
	"a season ends after its start, also when a clock was set back": seasonsEndAfterTheirStart,
	"a banned first is gone from every read of every season":        bannedFirstIsGone,
	"a schedule that changes moves the end for every process":       schedulesMoveTheEnd,
	"every kind of call closes what is over":                        changesCloseWhatIsOver,
}

func TestSeasonsOnRedis(t *testing.T) {
	t.Parallel()
	checkSeasons(t, 200, func(t *testing.T) redis.UniversalClient { return storetest.Redis(t) })
}

func TestSeasonsOnTheEmbeddedRedis(t *testing.T) {
	t.Parallel()
	checkSeasons(t, 40, func(t *testing.T) redis.UniversalClient { return storetest.Embedded(t) })
}

// seasonsOn is a store seen by two processes, on some Redis.
type seasonsOn struct {
	t         *testing.T
	client    redis.UniversalClient
	prefix    string
	clock     *storetest.Clock
	processes [2]*redisstore.Store
	closes    int64 // of seasons, where many are needed
}

func checkSeasons(t *testing.T, closes int64, connect func(t *testing.T) redis.UniversalClient) {
	t.Helper()
	for name, rule := range seasonRules {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSeasons(t, connect(t))
			s.closes = closes
			rule(s)
		})
	}
}

func newSeasons(t *testing.T, client redis.UniversalClient) seasonsOn {
	t.Helper()
	s := seasonsOn{t: t, client: client, prefix: storetest.Prefix(t), clock: storetest.NewClock()}
	for i := range s.processes {
		s.processes[i] = redisstore.New(client, redisstore.Options{Prefix: s.prefix, Clock: s.clock.Now})
	}
	return s
}

func (s seasonsOn) put(change func(*store.Settings)) store.BoardState {
	s.t.Helper()
	state, _, err := s.processes[0].PutBoard(s.t.Context(), "demo", func(settings *store.Settings) error {
		settings.KeepSeasons = 1000
		change(settings)
		return nil
	})
	s.do("put", err)
	return state
}

func (s seasonsOn) do(what string, err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatalf("%s: %v", what, err)
	}
}

func (s seasonsOn) state() store.BoardState {
	s.t.Helper()
	state, err := s.processes[1].BoardState(s.t.Context(), "demo")
	s.do("state", err)
	return state
}

func (s seasonsOn) submit(player store.PlayerID, points int64) store.Result {
	s.t.Helper()
	result, err := s.processes[0].Submit(s.t.Context(), "demo", store.Submission{Player: player, Points: store.Whole(points)})
	s.do("submit", err)
	return result
}

func (s seasonsOn) close(number int64) {
	s.t.Helper()
	_, _, err := s.processes[0].CloseSeason(s.t.Context(), "demo", number, "by hand")
	s.do("close", err)
}

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

func payoutsWinOverReopenings(s seasonsOn) {
	s.put(func(settings *store.Settings) {
		settings.Rewards = []store.Reward{{ID: "gold", Title: "Gold", Ranks: []int64{1, 1}}}
	})
	s.submit("p", 1)
	for number := int64(1); number <= 20; number++ {
		s.close(number)
		key, field := s.prefix+":{demo.1}:seasons", fmt.Sprint(number)
		var marked, reopened bool
		var both sync.WaitGroup
		both.Go(func() { // as the first step of a payout does
			record, err := s.client.HGet(s.t.Context(), key, field).Result()
			if err != nil || !strings.Contains(record, `"closed":true`) {
				return
			}
			paying := strings.Replace(record, `"closed":true`, `"closed":true,"paying":true`, 1)
			const mark = `if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
				return redis.call('HSET', KEYS[1], ARGV[1], ARGV[3]) + 1`
			n, err := s.client.Eval(s.t.Context(), mark, []string{key}, field, record, paying).Int()
			marked = n == 1 && err == nil
		})
		both.Go(func() {
			_, err := s.processes[0].ReopenSeason(s.t.Context(), "demo", number)
			reopened = err == nil
			if err != nil && !errors.Is(err, store.ErrNotReopenable) {
				s.t.Errorf("reopen: %v", err)
			}
		})
		both.Wait()
		if marked == reopened {
			s.t.Fatalf("season %d: paying %v and reopened %v, want one of them", number, marked, reopened)
		}
		if reopened {
			s.close(number)
		} else if _, err := s.processes[1].ReopenSeason(s.t.Context(), "demo", number); !errors.Is(err, store.ErrNotReopenable) {
			s.t.Errorf("reopening a season that is being paid: got %v", err)
		}
	}
}

func otherRulesAreNotReopened(s seasonsOn) {
	s.put(func(settings *store.Settings) { settings.Decimals, settings.MaxPoints = 2, 100 })
	s.submit("p", 99)
	s.close(1)
	for name, change := range map[string]func(*store.Settings){
		"order":      func(settings *store.Settings) { settings.Order = store.Asc },
		"policy":     func(settings *store.Settings) { settings.Policy = store.Sum },
		"decimals":   func(settings *store.Settings) { settings.Decimals = 0 },
		"max_points": func(settings *store.Settings) { settings.MaxPoints = 10_000_000 },
	} {
		before := s.state().Settings
		s.put(change)
		if _, err := s.processes[1].ReopenSeason(s.t.Context(), "demo", 1); !errors.Is(err, store.ErrNotReopenable) {
			s.t.Errorf("with another %s: got %v, want a refusal", name, err)
		}
		s.put(func(settings *store.Settings) { *settings = before })
	}
	state, err := s.processes[1].ReopenSeason(s.t.Context(), "demo", 1)
	if err != nil || state.Season.Decimals != 2 || state.Total != 1 {
		s.t.Errorf("with the old rules again: got %+v, %v", state, err)
	}
	if got := s.submit("q", 100); got.Rank != 1 || got.Points != 10_000 {
		s.t.Errorf("got %+v, want the first place", got)
	}
}

func seasonsEndAfterTheirStart(s seasonsOn) {
	began := s.put(func(*store.Settings) {})
	s.close(1)
	s.clock.Step(-time.Hour)
	s.close(2)
	s.close(3)
	now := s.clock.Step(2 * time.Hour)
	s.close(4)
	closed, err := s.processes[0].ClosedSeasons(s.t.Context(), "demo")
	s.do("seasons", err)
	start := began.Season.Start
	for i, end := range []time.Time{start, start, start, now} {
		if season := closed[3-i]; !season.Start.Equal(start) || !season.End.Equal(end) {
			s.t.Errorf("got %+v, want it from %v to %v", season, start, end)
		}
	}
}

func schedulesMoveTheEnd(s seasonsOn) {
	s.put(func(settings *store.Settings) { settings.Schedule, settings.SeasonDays = store.Weekly, 1 })
	s.submit("p", 1)
	if _, err := s.processes[1].Board(s.t.Context(), "demo"); err != nil { // remembers the old end
		s.t.Fatal(err)
	}
	noon := s.clock.Now()
	for _, tt := range []struct {
		schedule, zone string
		end            time.Time
	}{
		{store.Daily, "UTC", noon.Add(12 * time.Hour)},
		{store.Daily, "America/New_York", noon.Add(17 * time.Hour)},
		{"30 12 * * *", "UTC", noon.Add(30 * time.Minute)},
	} {
		state := s.put(func(settings *store.Settings) { settings.Schedule, settings.Timezone = tt.schedule, tt.zone })
		if !state.Season.End.Equal(tt.end) || state.Season.Number != 1 || state.Total != 1 {
			s.t.Errorf("%s in %s: got %+v, want an end at %v", tt.schedule, tt.zone, state.Season, tt.end)
		}
	}
	s.clock.Set(noon.Add(30 * time.Minute))
	result, err := s.processes[1].Submit(s.t.Context(), "demo", store.Submission{Player: "p", Points: store.Whole(2)})
	if err != nil || result.Season != 2 || result.PreviousRank != 0 {
		s.t.Errorf("at the new end, by a process that knew the old one: got %+v, %v, want season 2", result, err)
	}
	s.clock.Step(time.Minute)
	if state := s.put(func(settings *store.Settings) { settings.Schedule = store.Manual }); !state.Season.End.IsZero() {
		s.t.Errorf("manual: got an end at %v", state.Season.End)
	}
	s.clock.Step(400 * 24 * time.Hour)
	if got := s.state().Season.Number; got != 2 {
		s.t.Errorf("a manual board: got season %d, want 2 for ever", got)
	}
}

package redisstore_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

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

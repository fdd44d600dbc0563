package redisstore_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"leaderboard/store"
	"leaderboard/store/storetest"
)

var heldRules = map[string]func(s seasonsOn){
	"only so many submissions are held":                  onlySoManyAreHeld,
	"of an accept and a reject at once one wins":         acceptOrReject,
	"held points come back digit for digit":              heldPointsComeBack,
	"a board that changed takes what it can keep":        changedBoardTakesWhatItCan,
	"what is held can be accepted in a reopened season":  heldInAReopenedSeason,
	"one that a player has overtaken changes nothing":    overtakenChangesNothing,
	"accepting is not limited by what the player may do": acceptingIsNotLimited,
}

func TestHeldSubmissionsOnRedis(t *testing.T) {
	t.Parallel()
	checkHeld(t, func(t *testing.T) redis.UniversalClient { return storetest.Redis(t) })
}

func TestHeldSubmissionsOnTheEmbeddedRedis(t *testing.T) {
	t.Parallel()
	checkHeld(t, func(t *testing.T) redis.UniversalClient { return storetest.Embedded(t) })
}

func checkHeld(t *testing.T, connect func(t *testing.T) redis.UniversalClient) {
	t.Helper()
	for name, rule := range heldRules {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSeasons(t, connect(t))
			s.put(func(settings *store.Settings) { settings.MaxStep = "10" })
			rule(s)
		})
	}
}

// hold submits points that are held, and returns the id by which they wait.
func (s seasonsOn) hold(player store.PlayerID, points string) int64 {
	s.t.Helper()
	number, err := store.ParseDecimal("points", points)
	s.do("points", err)
	result, err := s.processes[0].Submit(s.t.Context(), "demo", store.Submission{Player: player, Points: number})
	s.do("submit", err)
	list := s.held()
	if !result.Held || len(list) == 0 {
		s.t.Fatalf("got %+v and %v, want it held", result, list)
	}
	return list[len(list)-1].ID
}

func (s seasonsOn) held() []store.Held {
	s.t.Helper()
	list, err := s.processes[1].Held(s.t.Context(), "demo")
	s.do("held", err)
	return list
}

func (s seasonsOn) accept(id int64) (store.Result, error) {
	return s.processes[1].AcceptHeld(s.t.Context(), "demo", id)
}

func onlySoManyAreHeld(s seasonsOn) {
	s.hold("p", "11")
	text, err := s.client.HGet(s.t.Context(), s.prefix+":{demo.1}:held", "1").Result()
	s.do("held", err)
	for from := 2; from <= 10_000; from += 1000 {
		fields := make([]any, 0, 2000)
		for id := from; id < from+1000 && id <= 10_000; id++ {
			fields = append(fields, fmt.Sprint(1000+id), text)
		}
		s.do("fill", s.client.HSet(s.t.Context(), s.prefix+":{demo.1}:held", fields...).Err())
	}
	submit := func() (store.Result, error) {
		return s.processes[0].Submit(s.t.Context(), "demo", store.Submission{Player: "q", Points: store.Whole(11)})
	}
	_, err = submit()
	if e, ok := errors.AsType[*store.InvalidError](err); !ok || e.Field != "points" {
		s.t.Errorf("with ten thousand held: got %v, want a refusal of the points", err)
	}
	s.submit("q", 10) // what needs no admin goes on
	s.do("reject", s.processes[1].RejectHeld(s.t.Context(), "demo", 1))
	if result, err := s.processes[0].Submit(s.t.Context(), "demo", store.Submission{Player: "q", Points: store.Whole(21)}); err != nil || !result.Held {
		s.t.Errorf("with room for one: got %+v, %v, want it held", result, err)
	}
}

func acceptOrReject(s seasonsOn) {
	for range 20 {
		player := store.PlayerID(fmt.Sprint("p", len(s.held()), s.clock.Step(time.Second).Unix()))
		id := s.hold(player, "99")
		var both sync.WaitGroup
		var accepted, rejected error
		both.Go(func() { _, accepted = s.accept(id) })
		both.Go(func() { rejected = s.processes[0].RejectHeld(s.t.Context(), "demo", id) })
		both.Wait()
		_, err := s.processes[0].Player(s.t.Context(), store.Look{Board: "demo"}, player)
		stands := err == nil
		if (accepted == nil) != stands || (rejected == nil) == stands {
			s.t.Fatalf("accepting: %v, rejecting: %v, and the player stands there: %v", accepted, rejected, stands)
		}
		for _, err := range []error{accepted, rejected} {
			if err != nil && !errors.Is(err, store.ErrHeldNotFound) {
				s.t.Fatal(err)
			}
		}
		if list := s.held(); len(list) != 0 {
			s.t.Fatalf("got %+v, want nothing held", list)
		}
	}
}

func heldPointsComeBack(s seasonsOn) {
	for _, tt := range []struct {
		max      int64
		decimals int
		policy   store.Policy
		first    string
		points   string
	}{
		{68_719_476_735, 0, store.Best, "", "68719476735"},
		{68, 9, store.Last, "-67.999999999", "67.123456789"},
		{1_000_000, 2, store.Sum, "-5", "999999.99"},
	} {
		s.put(func(settings *store.Settings) {
			settings.MaxPoints, settings.Decimals, settings.Policy, settings.SeasonDays = tt.max, tt.decimals, tt.policy, 1
		})
		want := tt.points
		if tt.first != "" {
			first, err := store.ParseDecimal("points", tt.first)
			s.do("points", err)
			_, err = s.processes[0].Submit(s.t.Context(), "demo", store.Submission{Player: "p", Points: first})
			s.do("submit", err)
		}
		id := s.hold("p", tt.points)
		if held := s.held()[0]; held.Points.Text(held.Decimals) != want || held.HasPresent != (tt.first != "") {
			s.t.Errorf("got %+v, want %s", held, want)
		}
		result, err := s.accept(id)
		if tt.policy == store.Sum {
			want = "999994.99"
		}
		if err != nil || result.Points.Text(result.Decimals) != want {
			s.t.Errorf("accepted as %+v, %v, want %s", result, err, want)
		}
		s.close(s.state().Season.Number)
	}
}

func changedBoardTakesWhatItCan(s seasonsOn) {
	s.put(func(settings *store.Settings) { settings.Decimals = 2 })
	fraction, whole := s.hold("p", "20.50"), s.hold("q", "30.00")
	s.put(func(settings *store.Settings) { settings.Decimals = 0 })
	_, err := s.accept(fraction)
	if e, ok := errors.AsType[*store.InvalidError](err); !ok || e.Field != "points" {
		s.t.Errorf("half a point on a board without decimals: got %v", err)
	}
	if result, err := s.accept(whole); err != nil || result.Points != 30 || result.Decimals != 0 {
		s.t.Errorf("got %+v, %v, want 30 points", result, err)
	}
	if list := s.held(); len(list) != 1 || list[0].ID != fraction || list[0].Points.Text(list[0].Decimals) != "20.50" {
		s.t.Errorf("got %+v, want the half point to wait as it was sent", list)
	}
}

func heldInAReopenedSeason(s seasonsOn) {
	sent := s.clock.Now()
	id := s.hold("p", "20")
	s.clock.Step(time.Hour)
	s.close(1)
	if _, err := s.accept(id); !errors.Is(err, store.ErrSeasonClosed) {
		s.t.Errorf("in a closed season: got %v", err)
	}
	_, err := s.processes[0].ReopenSeason(s.t.Context(), "demo", 1)
	s.do("reopen", err)
	if result, err := s.accept(id); err != nil || result.Season != 1 || !result.AchievedAt.Equal(sent) {
		s.t.Errorf("got %+v, %v, want it in season 1 at %v", result, err, sent)
	}
}

func overtakenChangesNothing(s seasonsOn) {
	id := s.hold("p", "20")
	for points := int64(10); points <= 30; points += 10 {
		s.clock.Step(time.Minute)
		s.submit("p", points)
	}
	before := s.state()
	result, err := s.accept(id)
	if after := s.state(); err != nil || result.Improved || result.Points != 30 || after.Version != before.Version {
		s.t.Errorf("got %+v, %v and version %d, want nothing to change", result, err, after.Version)
	}
	if list := s.held(); len(list) != 0 {
		s.t.Errorf("got %+v, want nothing held", list)
	}
}

func acceptingIsNotLimited(s seasonsOn) {
	processes, _ := limited(s.t, s.client, store.Limit{Count: 3, Window: time.Minute})
	if _, _, err := processes[0].PutBoard(s.t.Context(), "demo", func(settings *store.Settings) error {
		settings.MaxStep = "10"
		return nil
	}); err != nil {
		s.t.Fatal(err)
	}
	for i := range int64(3) {
		if _, err := processes[i].Submit(s.t.Context(), "demo", store.Submission{Player: "p", Points: store.Whole(20 + i)}); err != nil {
			s.t.Fatal(err)
		}
	}
	list, err := processes[0].Held(s.t.Context(), "demo")
	s.do("held", err)
	for i, held := range list {
		if result, err := processes[i].AcceptHeld(s.t.Context(), "demo", held.ID); err != nil || int64(result.Points) != 20+int64(i) {
			s.t.Errorf("got %+v, %v, want it applied", result, err)
		}
	}
}

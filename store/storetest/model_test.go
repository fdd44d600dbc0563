package storetest

import (
	"fmt"
	"testing"
	"time"

	"leaderboard/store"
)

// The suite asks of every store what the model says. What the model says is checked here by hand.

func newTestModel(t *testing.T, change func(*store.Settings)) *Model {
	t.Helper()
	settings := store.DefaultSettings("demo")
	change(&settings)
	now := NewClock().Now()
	season, err := settings.NewSeason(1, now, now)
	if err != nil {
		t.Fatal(err)
	}
	return NewModel(store.BoardState{Board: store.Board{ID: "demo", Settings: settings, Season: season}})
}

func TestModelOrdersByPointsAndThenByArrival(t *testing.T) {
	t.Parallel()
	for order, want := range map[store.Order]string{store.Desc: "[d b a c e]", store.Asc: "[e c b a d]"} {
		model, clock := newTestModel(t, func(s *store.Settings) { s.Order = order }), NewClock()
		for _, s := range []struct {
			player store.PlayerID
			points string
			step   time.Duration
		}{{"c", "5", 0}, {"b", "7", time.Hour}, {"a", "7", -2 * time.Hour}, {"e", "-1", 0}, {"d", "9", 0}} {
			if _, err := model.Submit("demo", sub(s.player, s.points), clock.Step(s.step)); err != nil {
				t.Fatal(err)
			}
		}
		if got := fmt.Sprint(model.Players()); got != want || fmt.Sprint(model.FirstCome()) != want {
			t.Errorf("%s: got %s and %v, want %s", order, got, model.FirstCome(), want)
		}
	}
}

func TestModelPutsTheUnbannedBack(t *testing.T) {
	t.Parallel()
	model, clock := newTestModel(t, func(*store.Settings) {}), NewClock()
	submit := func(player store.PlayerID) {
		t.Helper()
		if _, err := model.Submit("demo", sub(player, "5"), clock.Now()); err != nil {
			t.Fatal(err)
		}
	}
	submit("a")
	submit("b")
	model.Ban("b")
	submit("c")
	if got := fmt.Sprint(model.Players()); got != "[a c]" {
		t.Errorf("while b is away: got %s", got)
	}
	if err := model.Unban("b"); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(model.Players()); got != "[a b c]" {
		t.Errorf("got %s, want b in the old place", got)
	}
}

func TestModelOfAGroup(t *testing.T) {
	t.Parallel()
	model, clock := newTestModel(t, func(*store.Settings) {}), NewClock()
	for player, points := range map[store.PlayerID]string{"a": "101", "b": "100", "c": "99", "d": "98"} {
		if _, err := model.Submit("demo", sub(player, points, named("N")), clock.Now()); err != nil {
			t.Fatal(err)
		}
	}
	entries := model.Entries(clock.Now(), true)
	for player, want := range map[store.PlayerID]string{"a": "[a b c]", "c": "[b c d]", "d": "[b c d]"} {
		if got := fmt.Sprint(players(Around(entries, player, 1))); got != want {
			t.Errorf("around %s: got %s, want %s", player, got, want)
		}
	}
	if got := Standing(entries, model.Season, "b"); got.Rank != 2 || got.ToNext != 1 || int(got.Percentile) != 66 {
		t.Errorf("standing: got %+v", got)
	}
	placed, unknown := Lookup(entries, []store.PlayerID{"d", "x", "b"}, false)
	if len(placed) != 2 || placed[0].Player != "b" || placed[1].Place != 2 || placed[1].Rank != 4 || len(unknown) != 1 {
		t.Errorf("lookup: got %+v and %v", placed, unknown)
	}
	if got := model.RankOf(100, false); got != 3 {
		t.Errorf("rank of 100: got %d, want 3", got)
	}
	if got := model.RankOf(100, true); got != 2 {
		t.Errorf("shared rank of 100: got %d, want 2", got)
	}
}

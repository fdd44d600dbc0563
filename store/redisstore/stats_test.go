package redisstore_test

import (
	"cmp"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"leaderboard/store"
	"leaderboard/store/redisstore"
	"leaderboard/store/storetest"
)

func theStatsCountTheLastMinuteAndTheDay(t *testing.T, client redis.UniversalClient, prefix string) {
	clock := storetest.NewClock()
	s := redisstore.New(client, redisstore.Options{Prefix: prefix, Clock: clock.Now})
	makeBoard(t, s, "b")
	empty := boardStats(t, s)
	for i, player := range []store.PlayerID{"a", "b", "a"} {
		submit(t, s, player, int64(i+1))
	}
	if got := boardStats(t, s); got.LastMinute != 0 || got.PlayersDay != 2 || got.MemoryBytes <= empty.MemoryBytes {
		t.Errorf("in the same minute: got %+v, want 0, 2 and more than %d", got, empty.MemoryBytes)
	}
	clock.Step(time.Minute)
	if got := boardStats(t, s); got.LastMinute != 3 {
		t.Errorf("in the next minute: got %d submissions, want 3", got.LastMinute)
	}
	clock.Step(24 * time.Hour)
	if got := boardStats(t, s); got.LastMinute != 0 || got.PlayersDay != 0 {
		t.Errorf("on the next day: got %+v, want nobody", got)
	}
	if _, err := s.BoardStats(t.Context(), "none"); !errors.Is(err, store.ErrBoardNotFound) {
		t.Errorf("no board: got %v", err)
	}
}

func bansAreListedWithNameAndReason(t *testing.T, client redis.UniversalClient, prefix string) {
	s := redisstore.New(client, redisstore.Options{Prefix: prefix})
	makeBoard(t, s, "b")
	for player, reason := range map[store.PlayerID]string{"a": "aimbot", "玩家": "", "..": "<b>"} {
		if _, err := s.Ban(t.Context(), "b", player, reason); err != nil {
			t.Fatal(err)
		}
	}
	submit(t, s, "c", 5)
	if _, err := s.Ban(t.Context(), "b", "c", "speed"); err != nil {
		t.Fatal(err)
	}
	bans, total, err := s.Bans(t.Context(), "b")
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(bans, func(a, b store.Ban) int { return cmp.Compare(a.Player, b.Player) })
	want := []store.Ban{{Player: "..", Reason: "<b>"}, {Player: "a", Reason: "aimbot"}, {Player: "c", Name: "C", Reason: "speed"}, {Player: "玩家"}}
	if !slices.Equal(bans, want) || total != 4 {
		t.Errorf("got %v of %d, want %v", bans, total, want)
	}
	if ban, err := s.BanOf(t.Context(), "b", "c"); err != nil || ban != want[2] {
		t.Errorf("one: got %v, %v, want %v", ban, err, want[2])
	}
	if _, err := s.BanOf(t.Context(), "b", "d"); !errors.Is(err, store.ErrNotBanned) {
		t.Errorf("somebody else: got %v", err)
	}
}

func moreBansThanAreListedAreCounted(t *testing.T, client redis.UniversalClient, prefix string) {
	s := redisstore.New(client, redisstore.Options{Prefix: prefix})
	makeBoard(t, s, "b")
	reasons := make([]any, 0, 2*store.MaxBans+20)
	for i := range store.MaxBans + 10 {
		reasons = append(reasons, i, "why")
	}
	if err := client.HSet(t.Context(), prefix+":{b.1}:bans", reasons...).Err(); err != nil {
		t.Fatal(err)
	}
	bans, total, err := s.Bans(t.Context(), "b")
	if err != nil || len(bans) != store.MaxBans || total != store.MaxBans+10 {
		t.Errorf("got %d of %d, %v, want %d of %d", len(bans), total, err, store.MaxBans, store.MaxBans+10)
	}
}

func boardStats(t *testing.T, s *redisstore.Store) store.BoardStats {
	t.Helper()
	stats, err := s.BoardStats(t.Context(), "b")
	if err != nil {
		t.Fatal(err)
	}
	return stats
}

func makeBoard(t *testing.T, s *redisstore.Store, id store.BoardID) {
	t.Helper()
	if _, _, err := s.PutBoard(t.Context(), id, func(*store.Settings) error { return nil }); err != nil {
		t.Fatal(err)
	}
}

func submit(t *testing.T, s *redisstore.Store, player store.PlayerID, points int64) {
	t.Helper()
	if _, err := s.Submit(t.Context(), "b", store.Submission{Player: player, Points: store.Whole(points), Name: "C"}); err != nil {
		t.Fatal(err)
	}
}

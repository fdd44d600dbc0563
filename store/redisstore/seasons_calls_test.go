package redisstore_test

import (
	"errors"
	"fmt"
	"strings"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"leaderboard/store"
)

// changesCloseWhatIsOver lets every kind of call be the first after a season's end.
func changesCloseWhatIsOver(s seasonsOn) {
	s.put(func(settings *store.Settings) { settings.Schedule, settings.MaxStep = "0 * * * *", "50" })
	one, ctx := s.processes[0], s.t.Context()
	look := store.Look{Board: "demo"}
	number := int64(1)
	for name, call := range map[string]func() error{
		"put":    func() error { s.put(func(settings *store.Settings) { settings.Title = "New" }); return nil },
		"ban":    func() error { _, err := one.Ban(ctx, "demo", "x", ""); return err },
		"unban":  func() error { _, err := one.Unban(ctx, "demo", "nobody"); return ignore(err, store.ErrNotBanned) },
		"remove": func() error { return ignore(one.RemovePlayer(ctx, "demo", "nobody"), store.ErrPlayerNotFound) },
		"erase":  func() error { _, err := one.ErasePlayer(ctx, "y"); return err },
		"submit": func() error {
			_, err := one.Submit(ctx, "demo", store.Submission{Player: "p", Points: store.Whole(1)})
			return err
		},
		"held": func() error {
			_, err := one.Submit(ctx, "demo", store.Submission{Player: "p", Points: store.Whole(99)})
			return err
		},
		"close":   func() error { return ignore(s.closeOf(number), store.ErrSeasonNotRunning) },
		"seasons": func() error { _, err := one.ClosedSeasons(ctx, "demo"); return err },
		"top":     func() error { _, err := one.Top(ctx, look, 0, 1); return err },
		"rank":    func() error { _, err := one.RankOf(ctx, look, store.Whole(1)); return err },
		"search":  func() error { _, err := one.Search(ctx, look, "a", 1); return err },
		"player":  func() error { _, err := one.Player(ctx, look, "q"); return ignore(err, store.ErrPlayerNotFound) },
		"lookup":  func() error { _, _, _, err := one.Lookup(ctx, look, []store.PlayerID{"q"}); return err },
		"range":   func() error { _, _, err := one.Range(ctx, look, nil, nil, 1); return err },
		"state":   func() error { _, err := one.BoardState(ctx, "demo"); return err },
		"states":  func() error { _, err := one.BoardStates(ctx); return err },
	} {
		boundary := s.clock.Now().Truncate(time.Hour).Add(time.Hour)
		s.clock.Set(boundary.Add(7 * time.Minute))
		s.do(name, call())
		number++
		kept, err := s.client.HGet(ctx, s.prefix+":{demo.1}:board", "season").Int64()
		if err != nil || kept != number {
			s.t.Errorf("after %s: got season %d, %v, want %d", name, kept, err, number)
		}
		number = kept
		if start := s.state().Season.Start; !start.Equal(boundary) {
			s.t.Errorf("after %s: got a start at %v, want %v", name, start, boundary)
		}
	}
}

func (s seasonsOn) closeOf(number int64) error {
	_, _, err := s.processes[0].CloseSeason(s.t.Context(), "demo", number, "")
	return err
}

// ignore returns an error unless it is the one that is right.
func ignore(err, right error) error {
	if errors.Is(err, right) {
		return nil
	}
	return err
}

// bannedFirstIsGone compares all that can be read of a running and a closed season before a ban and after its end.
func bannedFirstIsGone(s seasonsOn) {
	s.put(func(*store.Settings) {})
	for season := int64(1); season <= 2; season++ {
		for i, player := range []store.PlayerID{"zoe", "max", "ann", "tom"} {
			_, err := s.processes[0].Submit(s.t.Context(), "demo", store.Submission{
				Player: player, Points: store.Whole(10 - int64(i/2)), Name: "N " + store.Name(player),
			})
			s.do("submit", err)
			s.clock.Step(time.Second)
		}
		if season == 1 {
			s.close(1)
		}
	}
	s.clock.Step(time.Hour)
	for _, banned := range []store.PlayerID{"zoe", "ann"} { // the first alone, and one who is tied behind another
		before := s.allReads(banned)
		total, err := s.processes[0].Ban(s.t.Context(), "demo", banned, "")
		s.do("ban", err)
		if total != 3 {
			s.t.Errorf("got a total of %d, want 3", total)
		}
		for name, read := range s.allReads(banned) {
			if strings.HasPrefix(read, "error") && strings.Contains(read, store.ErrPlayerNotFound.Error()) {
				continue
			}
			if name := strings.Split(name, " ")[0]; name == "player" || name == "around" || name == "activity" {
				s.t.Errorf("%s of a banned player answers %s", name, read)
			}
			if strings.Contains(strings.ReplaceAll(read, "unknown:"+string(banned), ""), string(banned)) {
				s.t.Errorf("%s still shows the banned player: %s", name, read)
			}
		}
		_, err = s.processes[0].Unban(s.t.Context(), "demo", banned)
		s.do("unban", err)
		if diff := gocmp.Diff(before, s.allReads(banned)); diff != "" {
			s.t.Errorf("after the unban (-before +after):\n%s", diff)
		}
	}
}

// allReads returns what each kind of read says of each season, as text.
func (s seasonsOn) allReads(player store.PlayerID) map[string]string {
	s.t.Helper()
	ctx, process := s.t.Context(), s.processes[1]
	reads := make(map[string]string)
	for season := int64(0); season <= 2; season++ {
		note := func(name string, err error, parts ...any) {
			text := "error " + fmt.Sprint(err)
			if err == nil {
				text = fmt.Sprintf("%+v", parts)
			}
			reads[fmt.Sprint(name, " in ", season)] = text
		}
		look := store.Look{Board: "demo", Season: season}
		top, err := process.Top(ctx, look, 0, 10)
		note("top", err, top.Total, top.Entries)
		rest, err := process.After(ctx, look, store.Position{Packed: 1 << 52, Player: "a"}, 10)
		note("after", err, rest.Entries)
		standing, err := process.Player(ctx, look, player)
		note("player", err, standing.Entry, standing.Percentile, standing.ToNext)
		around, err := process.Around(ctx, look, player, 1)
		note("around", err, around.Entries)
		view, err := process.View(ctx, look, player, 10, 1)
		note("view", err, view.Entries, view.Standing != nil, view.Around)
		rank, err := process.RankOf(ctx, look, store.Whole(9))
		note("rank", err, rank.Rank, rank.Total)
		found, count, err := process.Range(ctx, look, nil, nil, 10)
		note("range", err, found.Entries, count)
		_, placed, unknown, err := process.Lookup(ctx, look, []store.PlayerID{player, "max"})
		for i := range unknown {
			unknown[i] = "unknown:" + unknown[i]
		}
		note("lookup", err, placed, unknown)
		var rows []store.ExportRow
		for row, failed := range process.Export(ctx, look) {
			rows, err = append(rows, row), failed
		}
		note("export", err, rows)
		shared, err := process.Top(ctx, store.Look{Board: "demo", Season: season, SharedTies: true}, 0, 10)
		note("ties", err, shared.Entries)
	}
	found, err := process.Search(ctx, store.Look{Board: "demo"}, "n ", 10)
	reads["search"] = fmt.Sprintf("%+v %v", found.Entries, err)
	activity, err := process.Activity(ctx, "demo", player, 10)
	reads["activity"] = fmt.Sprintf("%+v", activity)
	if err != nil {
		reads["activity"] = "error " + err.Error()
	}
	return reads
}

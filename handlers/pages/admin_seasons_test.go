package pages_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"leaderboard/store"
)

func TestASeasonIsClosedInTwoSteps(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.board("demo", func(s *store.Settings) {
		s.Schedule = "daily"
		s.Rewards = []store.Reward{
			{ID: "gold", Title: "Gold <b>", Ranks: []int64{1, 1}, Delay: 10e9},
			{ID: "some", Title: "Some", Ranks: []int64{2, 10}},
			{ID: "pct", Title: "Percent", Percent: 0.5},
			{ID: "k", Title: "Thousand", Points: "1000", Hold: 3600e9},
			{ID: "king", Title: "King", ReachRank: 1},
		}
	})
	d.score("demo", "ada", "<img src=x onerror=alert(1)>", 50)
	d.score("demo", "bo", "Bo", 40)
	d.login()
	d.get("/admin/boards/demo").has(t, `href="/admin/boards/demo/close"`)

	page := d.get("/admin/boards/demo/close").wants(t, 200)
	page.has(t, "Season 1 ends now, with 2 players, and season 2 begins", "It then runs until", "&lt;img src=x onerror=alert(1)&gt;", "Bo</bdi>",
		"Gold &lt;b&gt; (gold) for the 1st, after 10 s", "1 player: \u2068&lt;img", "Some (some) for the 2nd to the 10th", "1 player: \u2068Bo\u2069",
		"Percent (pct) for the best 0.5", "paid as it is reached, nothing at the close",
		"Thousand (k) for whoever reaches 1\u202f000 points and holds it for 1 h", "King (king) for whoever reaches the 1st place",
		`name="season" value="1"`)
	page.hasNot(t, "<img")

	before := d.acts()
	for _, c := range []struct {
		fields []string
		says   string
	}{
		{[]string{"season", "1", "id", "demo"}, "Reason must say why"},
		{[]string{"season", "1", "id", "demo", "reason", strings.Repeat("é", 201)}, "at most 200 characters"},
		{[]string{"season", "1", "id", "demo", "reason", "a\x1bb"}, "without control characters"},
		{[]string{"season", "1", "reason", "why <i>"}, "must be typed exactly"},
		{[]string{"season", "1", "id", "arcade", "reason", "why <i>"}, "must be typed exactly"},
		{[]string{"season", "0", "id", "demo", "reason", "why"}, "Season must be a whole number"},
		{[]string{"season", "1e0", "id", "demo", "reason", "why"}, "Season must be a whole number"},
		{[]string{"id", "demo", "reason", "why"}, "Season must be a whole number"},
		{[]string{"season", "1", "season", "2", "id", "demo", "reason", "why"}, "must be given once"},
	} {
		r := d.post("/admin/boards/demo/close", c.fields...).wants(t, 422)
		r.has(t, `role="alert"`, c.says, "What will happen")
		if slices.Contains(c.fields, "why <i>") {
			r.has(t, `value="why &lt;i&gt;"`)
		}
	}
	if after := d.acts(); !slices.Equal(before, after) || d.state("demo").Season.Number != 1 {
		t.Errorf("something was done: %q", after[len(before):])
	}

	d.follow(d.post("/admin/boards/demo/close", "season", "1", "id", "demo", "reason", "The <b>end</b>")).wants(t, 200).
		has(t, "Season 1 is closed. Season 2 runs.", "The &lt;b&gt;end&lt;/b&gt;", `href="/b/demo/seasons/1"`, "Reopen…")
	if s := d.state("demo"); s.Season.Number != 2 || s.Total != 0 {
		t.Errorf("got %+v", s)
	}
	acts := d.acts()
	if last := acts[len(acts)-1]; last != "admin|season.close|demo||season 1: The <b>end</b>" {
		t.Errorf("the audit has %q", last)
	}

	// Twice is once: the form of the closed season says so.
	d.post("/admin/boards/demo/close", "season", "1", "id", "demo", "reason", "again").wants(t, 409).has(t, "no longer the running season")
	if s := d.state("demo"); s.Season.Number != 2 {
		t.Errorf("season %d runs", s.Season.Number)
	}
	acts = d.acts()
	if last := acts[len(acts)-1]; !strings.HasPrefix(last, "admin|season.close failed|demo||season 1: again; This is no longer") {
		t.Errorf("the audit has %q", last)
	}
}

func TestManyWinnersAreCountedAndSomeNamed(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.board("demo", func(s *store.Settings) {
		s.Rewards = []store.Reward{
			{ID: "ten", Title: "Ten", Ranks: []int64{1, 10}},
			{ID: "far", Title: "Far", Ranks: []int64{100, 200}},
			{ID: "late", Title: "Late", Points: "1000000", Hold: 3600e9},
		}
	})
	for i := range 12 {
		d.score("demo", fmt.Sprint("p", i), fmt.Sprint("Player ", i), int64(100-i))
	}
	d.login()
	page := d.get("/admin/boards/demo/close").wants(t, 200)
	page.has(t, "10 players: \u2068Player 0\u2069, ", "\u2068Player 4\u2069 and 5 more", "Far (far) for the 100th to the 200th", "nobody")
}

func TestAClosedSeasonIsReopenedWhileTheNewOneIsEmpty(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.board("demo", nil)
	d.login()
	d.get("/admin/boards/demo/seasons").wants(t, 200).has(t, "No season was closed yet")
	d.get("/admin/boards/demo/close").has(t, "Nobody has scored this season", "Nothing: the board has no rewards", "until somebody closes it")
	d.score("demo", "ada", "Ada", 5)
	d.post("/admin/boards/demo/close", "season", "1", "id", "demo", "reason", "too early").wants(t, 303)
	d.get("/admin/boards/demo/seasons/reopen?season=1").wants(t, 200).has(t, "Season 1 runs again", `name="season" value="1"`)
	d.post("/admin/boards/demo/seasons/reopen", "season", "1", "id", "dem").wants(t, 422)
	d.follow(d.post("/admin/boards/demo/seasons/reopen", "season", "1", "id", "demo")).has(t, "Season 1 runs again.")
	if s := d.state("demo"); s.Season.Number != 1 || s.Total != 1 {
		t.Errorf("got %+v", s)
	}

	d.post("/admin/boards/demo/close", "season", "1", "id", "demo", "reason", "now").wants(t, 303)
	d.score("demo", "bo", "Bo", 5)
	d.get("/admin/boards/demo/seasons").hasNot(t, "Reopen…")
	d.post("/admin/boards/demo/seasons/reopen", "season", "1", "id", "demo").wants(t, 409).has(t, "This season cannot run again", "Closed seasons")
	d.post("/admin/boards/demo/seasons/reopen", "season", "7", "id", "demo").wants(t, 404).has(t, "This season never was")
	d.post("/admin/boards/demo/seasons/reopen", "season", "x", "id", "demo").wants(t, 422)
	d.get("/admin/boards/demo/seasons/reopen").wants(t, 200)
	if s := d.state("demo"); s.Season.Number != 2 {
		t.Errorf("season %d runs", s.Season.Number)
	}
}

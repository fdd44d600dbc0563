package api_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestABoardIsMadeWithDefaultsAndChangedFieldByField(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	type settings struct {
		ID, Title, Order, Policy, Schedule, Timezone string
		Decimals                                     int
		MaxPoints                                    int64 `json:"max_points"`
		SeasonDays                                   int   `json:"season_days"`
		LiveTop                                      int   `json:"live_top"`
		ActivityCap                                  int   `json:"activity_cap"`
		KeepSeasons                                  int   `json:"keep_seasons"`
	}
	want := settings{
		ID: "demo", Title: "demo", Order: "desc", Policy: "best", Schedule: "manual", Timezone: "UTC", MaxPoints: 10_000_000,
		SeasonDays: 3650, LiveTop: 100, ActivityCap: 50, KeepSeasons: 12,
	}
	var got settings
	do(t, s, "PUT", "/api/v1/boards/demo", `{}`).want(t, 201).into(t, &got)
	if got != want {
		t.Errorf("made with %+v, want %+v", got, want)
	}
	do(t, s, "PUT", "/api/v1/boards/demo", `{"title":"Fastest lap","order":"asc","decimals":3,"max_points":3.6e3}`).
		want(t, 200).into(t, &got)
	want.Title, want.Order, want.Decimals, want.MaxPoints = "Fastest lap", "asc", 3, 3600
	if got != want {
		t.Errorf("changed to %+v, want %+v", got, want)
	}
	do(t, s, "PUT", "/api/v1/boards/demo", ``).want(t, 200)
	do(t, s, "GET", "/api/v1/boards/demo", "").want(t, 200).into(t, &got)
	if got != want {
		t.Errorf("reads %+v, want %+v", got, want)
	}
	do(t, s, "PUT", "/api/v1/boards/another", `{}`).want(t, 201)
	var list struct{ Boards []settings }
	do(t, s, "GET", "/api/v1/boards", "").want(t, 200).into(t, &list)
	if len(list.Boards) != 2 || list.Boards[0].ID != "another" || list.Boards[1] != want {
		t.Errorf("the list is %+v", list.Boards)
	}
	do(t, s, "DELETE", "/api/v1/boards/demo", "").want(t, 204)
	do(t, s, "GET", "/api/v1/boards/demo", "").refused(t, 404, "board_not_found", "")
	do(t, s, "DELETE", "/api/v1/boards/demo", "").refused(t, 404, "board_not_found", "")
	do(t, s, "POST", scoresPath, `{"player":"a","points":1}`).refused(t, 404, "board_not_found", "")
}

func TestAListOfNoBoardsIsAList(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	if got := do(t, s, "GET", "/api/v1/boards", "").want(t, 200); string(got.body) != `{"boards":[]}` {
		t.Errorf("no boards are %s", got.body)
	}
}

func TestWrongSettingsAreRefusedByField(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for body, field := range map[string]string{
		`{"title":null}`: "title", `{"title":""}`: "title", `{"title":5}`: "title", `{"title":"` + strings.Repeat("a", 101) + `"}`: "title",
		`{"title":"a\nb"}`: "title", `{"order":"up"}`: "order", `{"order":null}`: "order", `{"policy":"worst"}`: "policy",
		`{"decimals":10}`: "decimals", `{"decimals":-1}`: "decimals", `{"decimals":1.5}`: "decimals", `{"decimals":"2"}`: "decimals",
		`{"decimals":null}`: "decimals", `{"max_points":0}`: "max_points", `{"max_points":-5}`: "max_points",
		`{"max_points":1e99}`: "max_points", `{"schedule":"sometimes"}`: "schedule", `{"schedule":"61 * * * *"}`: "schedule",
		`{"schedule":"* * * * * *"}`: "schedule", `{"schedule":"0 0 30 2 *"}`: "schedule", `{"timezone":"Mars/Base"}`: "timezone",
		`{"timezone":"Local"}`: "timezone", `{"timezone":"../etc/passwd"}`: "timezone", `{"timezone":""}`: "timezone",
		`{"starts_at":"yesterday"}`: "starts_at", `{"starts_at":"2999-01-01T00:00:00Z"}`: "starts_at",
		`{"starts_at":"2026-01-01"}`: "starts_at", `{"starts_at":null}`: "starts_at", `{"starts_at":"0001-01-01T00:00:00Z"}`: "starts_at", `{"season_days":0}`: "season_days",
		`{"live_top":0}`: "live_top", `{"live_top":1001}`: "live_top", `{"activity_cap":1001}`: "activity_cap",
		`{"activity_cap":-1}`: "activity_cap", `{"keep_seasons":1e9}`: "keep_seasons", `{"colour":"red"}`: "colour", `{"id":"demo"}`: "id",
		`{"Title":"x"}`: "Title", `{"title":"a","title":"b"}`: "title", `{"max_step":"x"}`: "max_step", `{"max_step":0}`: "max_step",
		`{"max_step":-1}`: "max_step", `{"max_step":1.5}`: "max_step", `{"max_step":[]}`: "max_step", `{"rewards":{}}`: "rewards",
		`{"webhook":"http://x"}`: "webhook", `{"webhook":{"url":"ftp://example.org/","secret":"0123456789abcdef"}}`: "webhook.url",
		`{"webhook":{"url":"https://example.org/","secret":"short"}}`: "webhook.secret", `{"webhook":{"url":"https://example.org/"}}`: "webhook.secret",
		`{"webhook":{"url":"https://example.org/","secret":"0123456789abcdef","x":1}}`: "x", `null`: "body", `[]`: "body",
		`{"rewards":[5]}`: "rewards[0]", `{"rewards":[{"id":"a","title":"A","ranks":[1,1],"colour":1}]}`: "rewards[0].colour",
		`{"rewards":[{"id":"a","title":"A"}]}`:                                                          "rewards[0]",
		`{"rewards":[{"id":"a","title":"A","ranks":[3,1]}]}`:                                            "rewards[0].ranks",
		`{"rewards":[{"id":"a","title":"A","ranks":[1,1],"delay":"-5s"}]}`:                              "rewards[0].delay",
		`{"rewards":[{"id":"a","title":"A","ranks":[1,1],"delay":5}]}`:                                  "rewards[0].delay",
		`{"rewards":[{"id":"a","title":"A","ranks":[1,1],"priority":10}]}`:                              "rewards[0].priority",
		`{"rewards":[{"id":"a","title":"A","percent":101}]}`:                                            "rewards[0].percent",
		`{"rewards":[{"id":"a","title":"A","percent":0}]}`:                                              "rewards[0].percent",
		`{"rewards":[{"id":"a","title":"A","points":"many"}]}`:                                          "rewards[0].points",
		`{"rewards":[{"id":"a","title":"A","reach_rank":0}]}`:                                           "rewards[0].reach_rank",
		`{"rewards":[{"id":"a","title":"A","reach_rank":1,"hold":"x"}]}`:                                "rewards[0].hold",
		`{"rewards":[{"id":null,"title":"A","ranks":[1,1]}]}`:                                           "rewards[0].id",
		`{"rewards":[{"id":"a","title":"A","ranks":[1,1],"data":` + nested(40) + `}]}`:                  "rewards[0].data",
		`{"rewards":[{"id":"a","title":"A","ranks":[1,1],"data":"` + strings.Repeat("x", 5000) + `"}]}`: "rewards[0].data",
	} {
		t.Run(fmt.Sprintf("%.60s", body), func(t *testing.T) {
			do(t, s, "PUT", "/api/v1/boards/demo", body).refused(t, 422, "invalid", field)
		})
	}
	do(t, s, "GET", "/api/v1/boards/demo", "").refused(t, 404, "board_not_found", "")
}

func nested(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }

func TestRewardsComeBackAsTheyWereSent(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	sent := `[{"id":"gold","title":"Gold chest","ranks":[1,1],"percent":null,"points":null,"reach_rank":null,"hold":"0s","delay":"10s","priority":0,"data":{"chest":[1,"😀"]}},` +
		`{"id":"top1pct","title":"Best of a hundred","ranks":null,"percent":1.5,"points":null,"reach_rank":null,"hold":"0s","delay":"24h","priority":9,"data":null},` +
		`{"id":"million","title":"Million","ranks":null,"percent":null,"points":1000000.00,"reach_rank":null,"hold":"1h30m","delay":"0s","priority":3,"data":` + nested(32) + `},` +
		`{"id":"king","title":"King","ranks":null,"percent":null,"points":null,"reach_rank":1,"hold":"24h","delay":"0s","priority":0,"data":"x"}]`
	for range 2 { // what a GET shows can be sent back
		r := do(t, s, "PUT", "/api/v1/boards/demo", `{"decimals":2,"rewards":`+sent+`,"max_step":"2.5e3"}`)
		if !strings.Contains(string(r.body), `"rewards":`+sent+`,"max_step":2500.00,`) {
			t.Fatalf("sent %s\ngot %s", sent, r.body)
		}
	}
	r := do(t, s, "PUT", "/api/v1/boards/demo", `{"rewards":null,"max_step":null}`).want(t, 200)
	if !strings.Contains(string(r.body), `"rewards":[],"max_step":null,`) {
		t.Errorf("without rewards: %s", r.body)
	}
}

func TestTheWebhookIsShownToAdminsAndItsSecretToNobody(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	const secret = "0123456789abcdef-secret"
	do(t, s, "PUT", "/api/v1/boards/demo", `{"webhook":{"url":"https://example.org/hook","secret":"`+secret+`"}}`).want(t, 201)
	for _, path := range []string{"/api/v1/boards/demo", "/api/v1/boards"} {
		for key, shown := range map[string]bool{"": false, writerKey: false, "no-such-key": false, adminKey: true, demoKey: true} {
			r := do(t, s, "GET", path, "", "Authorization: Bearer "+key).want(t, 200)
			if strings.Contains(string(r.body), `"webhook":{"url":"https://example.org/hook"}`) != shown {
				t.Errorf("%s with key %q shows %s", path, key, r.body)
			}
			if strings.Contains(string(r.body), secret) {
				t.Errorf("%s with key %q shows the secret", path, key)
			}
		}
	}
	// Another address under the same secret, as a GET shows it; then none.
	do(t, s, "PUT", "/api/v1/boards/demo", `{"webhook":{"url":"https://example.org/other"}}`).want(t, 200)
	board, err := s.store.BoardState(t.Context(), "demo")
	if err != nil || board.Settings.Webhook == nil || board.Settings.Webhook.Secret != secret {
		t.Errorf("the webhook is %+v (%v), want the secret kept", board.Settings.Webhook, err)
	}
	r := do(t, s, "PUT", "/api/v1/boards/demo", `{"webhook":null}`).want(t, 200)
	if !strings.Contains(string(r.body), `"webhook":null`) {
		t.Errorf("without a webhook an admin sees %s", r.body)
	}
}

func TestWhatTheOrderRestsOnIsFrozenWhileSomebodyHasAScore(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{}`)
	post(t, s, "a", "1").want(t, 200)
	for _, body := range []string{
		`{"order":"asc"}`, `{"decimals":1}`, `{"policy":"sum"}`, `{"max_points":5}`, `{"season_days":10}`,
		`{"starts_at":"2026-01-01T00:00:00Z"}`,
	} {
		do(t, s, "PUT", "/api/v1/boards/demo", body).refused(t, 409, "board_in_use", "")
	}
	do(t, s, "PUT", "/api/v1/boards/demo", `{"title":"Still fine","live_top":5,"order":"desc"}`).want(t, 200)
	do(t, s, "POST", "/api/v1/boards/demo/players/a/ban", "").want(t, 200)
	do(t, s, "PUT", "/api/v1/boards/demo", `{"order":"asc"}`).refused(t, 409, "board_in_use", "")
	do(t, s, "POST", "/api/v1/boards/demo/players/a/unban", "").want(t, 200)
	do(t, s, "DELETE", "/api/v1/boards/demo/players/a", "").want(t, 204)
	do(t, s, "PUT", "/api/v1/boards/demo", `{"order":"asc","decimals":1}`).want(t, 200)
}

func TestBackdatedScoresStandByTheirTime(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{"starts_at":"2024-01-01T00:00:00Z"}`)
	score := func(player, at string) string {
		return fmt.Sprintf(`{"player":%q,"points":7,"achieved_at":%q}`, player, at)
	}
	do(t, s, "POST", scoresPath, score("late", "2024-03-01T12:00:00+02:00")).want(t, 200)
	do(t, s, "POST", scoresPath, score("early", "2024-02-01T12:00:00.5Z")).want(t, 200)
	got := top(t, s, "")
	if order(got.Entries) != "early late" || got.Entries[1].AchievedAt.Format("2006-01-02T15:04") != "2024-03-01T10:00" {
		t.Errorf("board %+v", got.Entries)
	}
	do(t, s, "POST", scoresPath, score("x", "2023-12-31T23:59:59Z")).refused(t, 422, "invalid", "achieved_at")
	do(t, s, "POST", scoresPath, score("x", "2999-01-01T00:00:00Z")).refused(t, 422, "invalid", "achieved_at")
	do(t, s, "POST", scoresPath, score("x", "0001-01-01T00:00:00Z")).refused(t, 422, "invalid", "achieved_at")
	do(t, s, "POST", scoresPath, score("x", "2024-02-01T12:00:00Z"), "Authorization: Bearer "+writerKey).
		refused(t, 403, "forbidden", "achieved_at")
}

func TestSeasonsThatAreOverTakeNoScoresAndStayReadable(t *testing.T) {
	t.Parallel()
	var clock atomic.Pointer[time.Time]
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	clock.Store(&at)
	s := newServerAt(t, func() time.Time { return *clock.Load() })
	do(t, s, "PUT", "/api/v1/boards/demo", `{"schedule":"daily","live_top":2}`).want(t, 201)
	fill(t, s, 5)
	next := *top(t, s, "?limit=2").Next
	do(t, s, "POST", scoresPath, `{"player":"a","points":1,"season":1}`).want(t, 200)
	do(t, s, "POST", scoresPath, `{"player":"a","points":2,"season":2}`).refused(t, 422, "invalid", "season")

	tomorrow := at.AddDate(0, 0, 1)
	clock.Store(&tomorrow)
	do(t, s, "POST", scoresPath, `{"player":"a","points":2,"season":1}`).refused(t, 409, "season_closed", "season")
	do(t, s, "POST", scoresPath, `{"player":"a","points":2,"season":2}`).want(t, 200)
	if got := top(t, s, ""); got.Season != 2 || lines(got.Entries) != "1 a 2" {
		t.Errorf("season %d is %s, want season 2 with 1 a 2", got.Season, lines(got.Entries))
	}
	for query, want := range map[string]string{
		"?season=1&limit=1": "1 p1 5", "?limit=2&after=" + next: "3 p3 3, 4 p4 2", // a walk stays in its season
	} {
		if got := top(t, s, query); got.Season != 1 || lines(got.Entries) != want {
			t.Errorf("top%s is season %d: %s, want season 1: %s", query, got.Season, lines(got.Entries), want)
		}
	}
	for path, want := range map[string]string{
		"/players/p2?season=1": `"rank":2,`, "/players/p2/around?season=1": `"season":1,`, "/view?season=1&player=p2": `"season":1,`,
		"/rank?season=1&points=4": `"rank":3,`, "/range?season=1&min=4": `"count":2}`,
	} {
		if r := do(t, s, "GET", "/api/v1/boards/demo"+path, "").want(t, 200); !strings.Contains(string(r.body), want) {
			t.Errorf("%s is %s, want %s in it", path, r.body, want)
		}
	}
	do(t, s, "GET", "/api/v1/boards/demo/players/p2", "").refused(t, 404, "player_not_found", "")
	if rows := export(t, s, "?season=1"); len(rows) != 6 || rows[0][0] != "p1" {
		t.Errorf("the export of season 1 is %v", rows)
	}
}

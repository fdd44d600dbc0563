package api_test

import (
	"strings"
	"testing"
)

func TestABanTakesAPlayerOutOfEveryViewAndAnUnbanPutsThemBack(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{}`)
	for _, player := range []string{"a", "b", "c"} {
		post(t, s, player, "10").want(t, 200) // tied, so that the place shows whether the time survived
	}
	players := "/api/v1/boards/demo/players/"
	if r := do(t, s, "POST", players+"a/ban", `{"reason":"speed hack"}`).want(t, 200); string(r.body) != `{"total":2}` {
		t.Errorf("ban answers %s, want total 2", r.body)
	}
	do(t, s, "POST", players+"a/ban", ``).want(t, 200) // again changes nothing
	if got := lines(top(t, s, "").Entries); got != "1 b 10, 2 c 10" {
		t.Errorf("board %s without a", got)
	}
	do(t, s, "GET", players+"a", "").refused(t, 404, "player_not_found", "")
	do(t, s, "GET", players+"a/around", "").refused(t, 404, "player_not_found", "")
	for path, body := range map[string]string{
		"/view?player=a": "", "/range": "", "/lookup": `{"players":["a","b"]}`, "/top?ties=shared": "", "/players/b/around": "",
	} {
		method := "GET"
		if body != "" {
			method = "POST"
		}
		r := do(t, s, method, "/api/v1/boards/demo"+path, body).want(t, 200)
		if strings.Contains(string(r.body), `"player":"a"`) {
			t.Errorf("%s shows a banned player: %s", path, r.body)
		}
	}
	post(t, s, "a", "99").refused(t, 403, "player_banned", "")
	post(t, s, "d", "10").want(t, 200) // tied meanwhile
	if r := do(t, s, "POST", players+"a/unban", "").want(t, 200); string(r.body) != `{"total":4}` {
		t.Errorf("unban answers %s, want total 4", r.body)
	}
	if got := lines(top(t, s, "").Entries); got != "1 a 10, 2 b 10, 3 c 10, 4 d 10" {
		t.Errorf("board %s, want a in the old place", got)
	}
	do(t, s, "POST", players+"a/unban", "").refused(t, 409, "not_banned", "")
}

func TestAPlayerWithoutAScoreCanBeBanned(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{}`)
	do(t, s, "POST", "/api/v1/boards/demo/players/ghost/ban", "").want(t, 200)
	post(t, s, "ghost", "1").refused(t, 403, "player_banned", "")
	do(t, s, "POST", "/api/v1/boards/demo/players/ghost/unban", "").want(t, 200)
	post(t, s, "ghost", "1").want(t, 200)
}

func TestReasonsOfBansAreChecked(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{}`)
	path := "/api/v1/boards/demo/players/a/ban"
	for body, field := range map[string]string{
		`{"reason":5}`: "reason", `{"reason":null}`: "reason", `{"reason":"a\nb"}`: "reason", `{"why":"x"}`: "why",
		`{"reason":"` + strings.Repeat("x", 201) + `"}`: "reason", `[]`: "body",
	} {
		do(t, s, "POST", path, body).refused(t, 422, "invalid", field)
	}
	post(t, s, "a", "1").want(t, 200)
}

func TestARemovedPlayerIsGoneWithNameAndActivity(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{}`)
	named(t, s, "a", "Ann", "5").want(t, 200)
	path := "/api/v1/boards/demo/players/a"
	do(t, s, "DELETE", path, "").want(t, 204)
	do(t, s, "GET", path, "").refused(t, 404, "player_not_found", "")
	do(t, s, "DELETE", path, "").refused(t, 404, "player_not_found", "")
	do(t, s, "GET", path+"/activity", "").refused(t, 404, "player_not_found", "")
	if r := do(t, s, "GET", "/api/v1/boards/demo/players?name=a", "").want(t, 200); string(r.body) != `{"entries":[]}` {
		t.Errorf("the name still finds %s", r.body)
	}
	post(t, s, "a", "1").want(t, 200)
	var got entry
	do(t, s, "GET", path, "").want(t, 200).into(t, &got)
	if got.Name != nil || got.Points != "1" {
		t.Errorf("back as %+v, want no name and 1 point", got)
	}
}

func TestActivityTellsWhatChanged(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{"decimals":1,"live_top":2,"policy":"last","activity_cap":3}`)
	post(t, s, "x", "50").want(t, 200)
	post(t, s, "y", "40").want(t, 200)
	for _, points := range []string{"10", "20", "45", "60", "30"} {
		post(t, s, "a", points).want(t, 200)
	}
	r := do(t, s, "GET", "/api/v1/boards/demo/players/a/activity?limit=1000", "").want(t, 200)
	for _, want := range []string{
		`"kind":"score","points":30.0,"previous_points":60.0,"rank":3,"previous_rank":1}`,
		`"kind":"best","points":60.0,"previous_points":45.0,"rank":1,"previous_rank":2}`,
		`"kind":"entered_top","points":45.0,"previous_points":20.0,"rank":2,"previous_rank":3}`,
	} {
		if !strings.Contains(string(r.body), want) {
			t.Errorf("activity %s lacks %s", r.body, want)
		}
	}
	if got := strings.Count(string(r.body), `"kind"`); got != 3 {
		t.Errorf("%d items, want as many as the cap: 3", got)
	}
	one := do(t, s, "GET", "/api/v1/boards/demo/players/a/activity?limit=1", "").want(t, 200)
	if got := strings.Count(string(one.body), `"kind"`); got != 1 {
		t.Errorf("%d items, want 1", got)
	}
	do(t, s, "GET", "/api/v1/boards/nowhere/players/a/activity", "").refused(t, 404, "board_not_found", "")
}

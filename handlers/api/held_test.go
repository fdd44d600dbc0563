package api_test

import (
	"strings"
	"testing"
	"time"
)

const heldPath = "/api/v1/boards/demo/held"

func TestAHeldScoreCountsWithItsOwnTimeOnceAccepted(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{"max_step":10.5,"decimals":1}`)
	post(t, s, "a", "3.5").want(t, 200)
	for _, player := range []string{"a", "b"} {
		if r := post(t, s, player, "20").want(t, 200); !strings.Contains(string(r.body), `"held":true`) {
			t.Errorf("a gain beyond max_step answers %s", r.body)
		}
	}
	post(t, s, "c", "9").want(t, 200)
	var list struct {
		Items []struct {
			ID     int64
			Player string
			At     time.Time
		}
	}
	r := do(t, s, "GET", heldPath, "").want(t, 200)
	r.into(t, &list)
	if len(list.Items) != 2 || list.Items[0].Player != "a" || list.Items[1].Player != "b" {
		t.Fatalf("%s, want a and b, in the order in which they came", r.body)
	}
	for _, want := range []string{`"points":20.0,"present":3.5`, `"points":20.0,"present":null`} {
		if !strings.Contains(string(r.body), want) {
			t.Errorf("the list lacks %s: %s", want, r.body)
		}
	}

	accept := heldPath + "/" + number(list.Items[0].ID) + "/accept"
	var result struct {
		Points     float64
		Rank       int64
		AchievedAt time.Time `json:"achieved_at"`
	}
	do(t, s, "POST", accept, "").want(t, 200).into(t, &result)
	if result.Points != 20 || result.Rank != 1 || result.AchievedAt.After(list.Items[0].At.Add(time.Second)) {
		t.Errorf("accepting answers %+v, want 20 points on the first place, reached at %v", result, list.Items[0].At)
	}
	do(t, s, "POST", accept, "").refused(t, 404, "held_not_found", "")
	do(t, s, "POST", heldPath+"/"+number(list.Items[1].ID)+"/reject", "").want(t, 204)
	do(t, s, "POST", heldPath+"/"+number(list.Items[1].ID)+"/reject", "").refused(t, 404, "held_not_found", "")
	if got := lines(top(t, s, "").Entries); got != "1 a 20.0, 2 c 9.0" {
		t.Errorf("board %s", got)
	}
	if r := do(t, s, "GET", heldPath, "").want(t, 200); string(r.body) != `{"items":[]}` {
		t.Errorf("nothing waits any more, yet %s", r.body)
	}
}

func TestWhatCannotCountGoesOnWaiting(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{"max_step":1}`)
	for _, player := range []string{"a", "b"} {
		post(t, s, player, "5").want(t, 200)
	}
	do(t, s, "POST", "/api/v1/boards/demo/players/a/ban", "").want(t, 200)
	do(t, s, "POST", heldPath+"/1/accept", "").refused(t, 403, "player_banned", "")
	do(t, s, "POST", seasonsPath+"/close", `{"season":1}`).want(t, 200)
	do(t, s, "POST", heldPath+"/2/accept", "").refused(t, 409, "season_closed", "season")
	do(t, s, "POST", heldPath+"/1/reject", "").want(t, 204)
	do(t, s, "POST", heldPath+"/2/reject", "").want(t, 204)
}

func TestHeldScoresAreNamedByWholeNumbers(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{}`)
	for _, id := range []string{"0", "-1", "x", "1.0", "1e3", "%00", "9007199254740992", "99999999999999999999"} {
		do(t, s, "POST", heldPath+"/"+id+"/accept", "").refused(t, 422, "invalid", "id")
		do(t, s, "POST", heldPath+"/"+id+"/reject", "").refused(t, 422, "invalid", "id")
	}
	do(t, s, "POST", "/api/v1/boards/nowhere/held/1/accept", "").refused(t, 404, "board_not_found", "")
	do(t, s, "GET", "/api/v1/boards/nowhere/held", "").refused(t, 404, "board_not_found", "")
}

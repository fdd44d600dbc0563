package api_test

import (
	"net/url"
	"strings"
	"testing"

	"leaderboard/store"
)

func TestAPersonIsErasedEverywhere(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{}`)
	do(t, s, "PUT", "/api/v1/boards/other", `{}`).want(t, 201)
	const zoe = `zoe/ä 1`
	path := url.PathEscape(zoe)
	for _, board := range []string{"demo", "other"} {
		for _, player := range []string{zoe, "max"} {
			do(t, s, "POST", "/api/v1/boards/"+board+"/scores", `{"player":"`+player+`","name":"Name","points":5}`).want(t, 200)
		}
	}
	if _, _, err := s.store.CloseSeason(t.Context(), "other", 1, ""); err != nil {
		t.Fatal(err)
	}
	do(t, s, "DELETE", "/api/v1/players/"+path, "").want(t, 204)
	for _, player := range []string{"/api/v1/boards/demo/players/" + path, "/api/v1/boards/demo/players/" + path + "/activity"} {
		do(t, s, "GET", player, "").refused(t, 404, "player_not_found", "")
	}
	for _, page := range []string{"demo/top", "other/top?season=1", "demo/players?name=n"} {
		r := do(t, s, "GET", "/api/v1/boards/"+page, "").want(t, 200)
		if body := string(r.body); strings.Contains(body, "zoe") || !strings.Contains(body, `"max"`) {
			t.Errorf("%s: got %s, want max alone", page, body)
		}
	}
	do(t, s, "DELETE", "/api/v1/players/"+path, "").want(t, 204) // again finds nothing
	do(t, s, "DELETE", "/api/v1/players/nobody", "").want(t, 204)
	acts, _, err := s.store.Acts(t.Context(), "", 10)
	if err != nil || len(acts) == 0 {
		t.Fatalf("got the acts %v, %v", acts, err)
	}
	for _, act := range acts {
		if act.Act == "player.erase" && act.Player != "erased" {
			t.Errorf("the audit says %+v, want nobody's name", act)
		}
	}
}

func TestAnErasureThatMustWaitGoesOnByItself(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{}`)
	post(t, s, "zoe", "5").want(t, 200)
	// A job that began before may hold what it is about to write.
	if _, err := s.store.AddJobs(t.Context(), store.Job{ID: "page", Kind: "payout"}); err != nil {
		t.Fatal(err)
	}
	claimed, err := s.store.ClaimJobs(t.Context(), store.Claim{Most: 1, Lease: store.JobLease})
	if err != nil || len(claimed.Deliveries) != 1 {
		t.Fatalf("got %+v, %v", claimed, err)
	}
	r := do(t, s, "DELETE", "/api/v1/players/zoe", "").want(t, 202)
	if string(r.body) != `{"status":"erasing"}` {
		t.Errorf("got %s", r.body)
	}
	do(t, s, "GET", "/api/v1/boards/demo/players/zoe", "").refused(t, 404, "player_not_found", "")
	if err := s.store.DiscardJob(t.Context(), "page"); err != nil {
		t.Fatal(err)
	}
	do(t, s, "DELETE", "/api/v1/players/zoe", "").want(t, 204)
}

func TestErasureNeedsAnAdminOfAllBoards(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{}`)
	post(t, s, "zoe", "5").want(t, 200)
	do(t, s, "DELETE", "/api/v1/players/zoe", "", "Authorization: ").refused(t, 401, "unauthorized", "")
	for _, key := range []string{writerKey, readerKey, demoKey} {
		do(t, s, "DELETE", "/api/v1/players/zoe", "", "Authorization: Bearer "+key).refused(t, 403, "forbidden", "")
	}
	for _, id := range []string{"%00", "a%0Ab", "%20a", "%ff", "%zz", strings.Repeat("a", 129)} {
		do(t, s, "DELETE", "/api/v1/players/"+id, "").refused(t, 422, "invalid", "player")
	}
	do(t, s, "GET", "/api/v1/boards/demo/players/zoe", "").want(t, 200)
}

package api_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"leaderboard/store/storetest"
)

const seasonsPath = "/api/v1/boards/demo/seasons"

type closedSeason struct {
	Season    int64
	StartedAt time.Time `json:"started_at"`
	EndedAt   time.Time `json:"ended_at"`
	Total     int64
	Reason    *string
}

func closedSeasons(t *testing.T, s *server) []closedSeason {
	t.Helper()
	var list struct{ Seasons []closedSeason }
	do(t, s, "GET", seasonsPath, "").want(t, 200).into(t, &list)
	return list.Seasons
}

func TestAClosedSeasonStaysReadableAndTheNextBeginsEmpty(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{}`)
	if r := do(t, s, "GET", seasonsPath, "").want(t, 200); string(r.body) != `{"seasons":[]}` {
		t.Errorf("no closed seasons are %s", r.body)
	}
	post(t, s, "a", "5").want(t, 200)
	post(t, s, "b", "7").want(t, 200)
	var closed struct {
		Closed, Season int64
		At             time.Time
	}
	do(t, s, "POST", seasonsPath+"/close", `{"season":1,"reason":"finals are over"}`).want(t, 200).into(t, &closed)
	if closed.Closed != 1 || closed.Season != 2 || closed.At.IsZero() {
		t.Errorf("the close answers %+v, want season 1 closed and 2 running", closed)
	}
	post(t, s, "c", "1").want(t, 200)
	if got := lines(top(t, s, "").Entries); got != "1 c 1" {
		t.Errorf("season 2 shows %s, want c alone", got)
	}
	if got := lines(top(t, s, "?season=1").Entries); got != "1 b 7, 2 a 5" {
		t.Errorf("season 1 shows %s", got)
	}
	do(t, s, "POST", seasonsPath+"/close", `{"season":2}`).want(t, 200)
	got := closedSeasons(t, s)
	if len(got) != 2 || got[0].Season != 2 || got[1].Season != 1 {
		t.Fatalf("closed seasons %+v, want 2 and 1", got)
	}
	if got[0].Reason != nil || got[1].Reason == nil || *got[1].Reason != "finals are over" || got[1].Total != 2 || got[0].Total != 1 {
		t.Errorf("closed seasons %+v", got)
	}
	if !got[1].EndedAt.Equal(closed.At) || !got[0].StartedAt.Equal(closed.At) {
		t.Errorf("season 1 ended at %v and 2 began at %v, want both at %v", got[1].EndedAt, got[0].StartedAt, closed.At)
	}
}

func TestClosingTwiceIsClosingOnce(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{}`)
	do(t, s, "POST", seasonsPath+"/close", `{"season":1}`).want(t, 200)
	for _, season := range []string{"1", "3"} {
		do(t, s, "POST", seasonsPath+"/close", `{"season":`+season+`}`).refused(t, 409, "season_not_running", "season")
	}
	if got := closedSeasons(t, s); len(got) != 1 {
		t.Errorf("closed seasons %+v, want one", got)
	}
	do(t, s, "POST", "/api/v1/boards/nowhere/seasons/close", `{"season":1}`).refused(t, 404, "board_not_found", "")
}

func TestACloseSaysWhichSeasonAndWhyInWords(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{}`)
	for body, field := range map[string]string{
		`{}`: "season", `{"season":0}`: "season", `{"season":-1}`: "season", `{"season":1.5}`: "season", `{"season":"1"}`: "season",
		`{"season":null}`: "season", `{"season":1,"season":1}`: "season", `{"Season":1}`: "Season", `{"season":1,"why":"x"}`: "why",
		`{"season":1,"reason":null}`: "reason", `{"season":1,"reason":"a\nb"}`: "reason", `[]`: "body",
		`{"season":1,"reason":"` + strings.Repeat("x", 201) + `"}`: "reason",
	} {
		do(t, s, "POST", seasonsPath+"/close", body).refused(t, 422, "invalid", field)
	}
	for _, body := range []string{``, `{`, `{"season":1}{}`, `{"season":NaN}`} {
		if r := do(t, s, "POST", seasonsPath+"/close", body); r.status != 422 {
			t.Errorf("%s answers %d %s, want 422", r.call, r.status, r.body)
		}
	}
	if got := closedSeasons(t, s); len(got) != 0 {
		t.Errorf("a refused close has closed %+v", got)
	}
}

func TestTheLastSeasonRunsAgainWhileTheNextIsEmpty(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{}`)
	post(t, s, "a", "5").want(t, 200)
	do(t, s, "POST", seasonsPath+"/1/reopen", "").refused(t, 409, "not_reopenable", "") // it runs
	do(t, s, "POST", seasonsPath+"/close", `{"season":1}`).want(t, 200)
	if r := do(t, s, "POST", seasonsPath+"/1/reopen", "").want(t, 200); string(r.body) != `{"season":1,"ends_at":null}` {
		t.Errorf("reopening answers %s", r.body)
	}
	if got := lines(top(t, s, "").Entries); got != "1 a 5" {
		t.Errorf("the reopened season shows %s", got)
	}
	do(t, s, "POST", seasonsPath+"/close", `{"season":1}`).want(t, 200)
	post(t, s, "b", "1").want(t, 200)
	do(t, s, "POST", seasonsPath+"/1/reopen", "").refused(t, 409, "not_reopenable", "")
	do(t, s, "POST", seasonsPath+"/9/reopen", "").refused(t, 404, "season_not_found", "")
	do(t, s, "POST", "/api/v1/boards/nowhere/seasons/1/reopen", "").refused(t, 404, "board_not_found", "")
	for _, season := range []string{"0", "-1", "1.0", "one", "%31x", "9007199254740992"} {
		do(t, s, "POST", seasonsPath+"/"+season+"/reopen", "").refused(t, 422, "invalid", "season")
	}
}

func TestAReopenedSeasonOnAScheduleEndsAtTheNextBoundary(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	s := newServerAt(t, clock.Now)
	do(t, s, "PUT", "/api/v1/boards/demo", `{"schedule":"daily"}`).want(t, 201)
	do(t, s, "POST", seasonsPath+"/close", `{"season":1}`).want(t, 200)
	want := fmt.Sprintf(`{"season":1,"ends_at":"%s"}`, clock.Now().Truncate(24*time.Hour).Add(24*time.Hour).Format(time.RFC3339))
	if r := do(t, s, "POST", seasonsPath+"/1/reopen", "").want(t, 200); string(r.body) != want {
		t.Errorf("reopening answers %s, want %s", r.body, want)
	}
	clock.Step(24 * time.Hour)
	got := closedSeasons(t, s) // which nobody closed: the look does
	if len(got) != 1 || got[0].Reason == nil || *got[0].Reason != "schedule" {
		t.Errorf("closed seasons %+v, want the first, by its schedule", got)
	}
}

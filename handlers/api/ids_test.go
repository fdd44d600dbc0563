package api_test

import (
	"net/url"
	"strings"
	"testing"
)

// strangeIDs are ids that mean something to Redis, to JavaScript or to paths. To us they are ids like any other (F06).
var strangeIDs = []string{
	"a:b", "a:b:c", ":", "{x}", "}{", "{", "}", "*", "?", "[a]", "lb:B:meta", "123", "00123", "-inf", "+inf", "(5", "[5",
	"__proto__", "constructor", "a/b", "a//b", "a b", "a+b", "100%", "%41", "a#b", "a&b=c", "ä", "\u00e9", "🩸", `"`, `\`,
	"scores", "lookup", "players", "me", "ban", "around", "$", "0", "null", "true", "~1", "~0", ",", ";", "'",
}

func TestStrangePlayerIDsWorkLikeAnyOther(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{}`)
	for _, id := range strangeIDs {
		post(t, s, id, "7").want(t, 200)
	}
	if got, want := top(t, s, "").Total, int64(len(strangeIDs)); got != want {
		t.Fatalf("%d players on the board, want %d", got, want)
	}
	for _, id := range strangeIDs {
		path := "/api/v1/boards/demo/players/" + url.PathEscape(id)
		var got entry
		do(t, s, "GET", path, "").want(t, 200).into(t, &got)
		if got.Player != id {
			t.Errorf("asked for %q, got %q", id, got.Player)
		}
		var activity struct{ Items []struct{ Kind string } }
		do(t, s, "GET", path+"/activity", "").want(t, 200).into(t, &activity)
		if len(activity.Items) != 1 {
			t.Errorf("%q has %d activities, want 1", id, len(activity.Items))
		}
	}
	for i, id := range strangeIDs {
		do(t, s, "DELETE", "/api/v1/boards/demo/players/"+url.PathEscape(id), "").want(t, 204)
		if got, want := top(t, s, "").Total, int64(len(strangeIDs)-1-i); got != want {
			t.Fatalf("after removing %q %d players are left, want %d", id, got, want)
		}
	}
}

func TestPathsAreDecodedOnce(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{}`)
	post(t, s, "%41", "1").want(t, 200)
	post(t, s, "A", "2").want(t, 200)
	for path, want := range map[string]string{"%2541": "%41", "%41": "A", "A": "A"} {
		var got entry
		do(t, s, "GET", "/api/v1/boards/demo/players/"+path, "").want(t, 200).into(t, &got)
		if got.Player != want {
			t.Errorf("%s names %q, want %q", path, got.Player, want)
		}
	}
	do(t, s, "GET", "/api/v1/boards/d%65mo/players/A", "").want(t, 200)
	do(t, s, "GET", "/api/v1/boards/demo/players/%zz", "").refused(t, 422, "invalid", "player")
	do(t, s, "GET", "/api/v1/boards/demo/players/%", "").refused(t, 422, "invalid", "player")
}

func TestIDsThatAreNotPlayersAreRefused(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{}`)
	for what, id := range map[string]string{
		"F05 NUL": "a\x00b", "F05 a line break": "a\nb", "F05 a terminal code": "a\x1b[31m", "empty": "",
		"outer spaces": " a", "spaces only": "  ", "129 bytes": strings.Repeat("a", 129), "a C1 control": "a\u009fb",
	} {
		t.Run(what, func(t *testing.T) {
			post(t, s, id, "7").refused(t, 422, "invalid", "player")
			if id != "" {
				do(t, s, "GET", "/api/v1/boards/demo/players/"+url.PathEscape(id), "").refused(t, 422, "invalid", "player")
			}
			do(t, s, "POST", "/api/v1/boards/demo/lookup", `{"players":[`+quote(id)+`]}`).
				refused(t, 422, "invalid", "players")
		})
	}
	post(t, s, strings.Repeat("a", 128), "7").want(t, 200)
}

func TestAPlayerIsOneHoweverTheIDIsComposed(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{}`)
	post(t, s, "e\u0301", "1").want(t, 200)
	post(t, s, "\u00e9", "2").want(t, 200)
	if got := top(t, s, ""); lines(got.Entries) != "1 \u00e9 2" {
		t.Errorf("board %s, want one player", lines(got.Entries))
	}
}

func TestBoardsOfSimilarNamesShareNothing(t *testing.T) { // F06
	t.Parallel()
	s := newServer(t)
	for _, board := range []string{"a", "a-b", "a_b", "boards", "players", "jobs", "demo", "demo1"} {
		do(t, s, "PUT", "/api/v1/boards/"+board, `{}`).want(t, 201)
	}
	do(t, s, "POST", "/api/v1/boards/a/scores", `{"player":"b:c","points":1}`).want(t, 200)
	do(t, s, "POST", "/api/v1/boards/demo/scores", `{"player":"1:x","points":1}`).want(t, 200)
	for _, board := range []string{"a-b", "a_b", "boards", "players", "jobs", "demo1"} {
		var got page
		do(t, s, "GET", "/api/v1/boards/"+board+"/top", "").want(t, 200).into(t, &got)
		if got.Total != 0 || got.Entries == nil {
			t.Errorf("board %s has %d players, want 0 and an empty list", board, got.Total)
		}
	}
}

func TestTextsThatAreNotBoardsAreRefused(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for _, id := range []string{
		"A", "a:b", "-a", "_a", "{x}", "*", "a%00", "a%20b", "%C3%A4", strings.Repeat("a", 64), "a.b", "lb:B:meta", "__proto__",
	} {
		path := "/api/v1/boards/" + strings.NewReplacer("{", "%7B", "}", "%7D").Replace(id)
		do(t, s, "PUT", path, `{}`).refused(t, 422, "invalid", "board")
		do(t, s, "GET", path, "").refused(t, 422, "invalid", "board")
		do(t, s, "GET", path+"/top", "").refused(t, 422, "invalid", "board")
	}
	do(t, s, "PUT", "/api/v1/boards/"+strings.Repeat("a", 63), `{}`).want(t, 201)
}

package api_test

import "testing"

// writes are all calls that need a key, with the scope they need.
var writes = []struct {
	method, path, body string
	admin              bool
}{
	{"POST", "/boards/demo/scores", `{"player":"a","points":1}`, false},
	{"POST", "/boards/demo/scores/batch", `{"scores":[{"player":"a","points":1}]}`, false},
	{"PUT", "/boards/demo", `{}`, true},
	{"GET", "/boards/demo/export", ``, true},
	{"POST", "/boards/demo/players/a/ban", ``, true},
	{"POST", "/boards/demo/players/a/unban", ``, true},
	{"DELETE", "/boards/demo/players/a", ``, true},
	{"POST", "/boards/demo/seasons/close", `{"season":1}`, true},
	{"POST", "/boards/demo/seasons/1/reopen", ``, true},
	{"GET", "/boards/demo/held", ``, true},
	{"POST", "/boards/demo/held/1/accept", ``, true},
	{"POST", "/boards/demo/held/1/reject", ``, true},
	{"GET", "/keys", ``, true},
	{"POST", "/keys", `{"name":"x","scopes":["admin"]}`, true},
	{"DELETE", "/keys/abcdefghij", ``, true},
	{"GET", "/audit", ``, true},
	{"POST", "/players/a/token", ``, true}, // by players:token, which the writer has not either
	{"DELETE", "/players/a", ``, true},
	{"DELETE", "/boards/demo", ``, true},
}

func TestWritesNeedAKeyThatSomebodyKnows(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{}`)
	for _, c := range writes {
		for _, authorization := range []string{
			"", "Bearer", "Bearer ", "Bearer wrong", "Basic " + adminKey, adminKey, "Bearer " + adminKey + "x", "Bearer  x " + adminKey,
		} {
			r := do(t, s, c.method, "/api/v1"+c.path, c.body, "Authorization: "+authorization)
			r.refused(t, 401, "unauthorized", "")
			if got := r.header.Get("WWW-Authenticate"); got == "" {
				t.Errorf("%s: no WWW-Authenticate", r.call)
			}
		}
		// Nothing of a call is looked at before its key: not even whether there is such a board.
		do(t, s, c.method, "/api/v1"+c.path, "{", "Authorization: ").refused(t, 401, "unauthorized", "")
	}
}

func TestKeysDoOnlyWhatTheirScopesSay(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{}`)
	for _, c := range writes {
		do(t, s, c.method, "/api/v1"+c.path, c.body, "Authorization: Bearer "+readerKey).refused(t, 403, "forbidden", "")
		if c.admin {
			do(t, s, c.method, "/api/v1"+c.path, c.body, "Authorization: Bearer "+writerKey).refused(t, 403, "forbidden", "")
		}
	}
	do(t, s, "POST", scoresPath, `{"player":"a","points":1}`, "Authorization: Bearer "+writerKey).want(t, 200)
	do(t, s, "POST", scoresPath, `{"player":"a","points":1}`, "Authorization: bEARER "+writerKey).want(t, 200)
}

func TestKeysOfSomeBoardsTouchNoOthers(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{}`)
	do(t, s, "PUT", "/api/v1/boards/other", `{}`).want(t, 201)
	key := "Authorization: Bearer " + demoKey
	do(t, s, "POST", scoresPath, `{"player":"a","points":1}`, key).want(t, 200)
	do(t, s, "POST", "/api/v1/boards/d%65mo/scores", `{"player":"a","points":1}`, key).want(t, 200)
	for _, board := range []string{"other", "oth%65r", "demo2", "nowhere"} {
		do(t, s, "POST", "/api/v1/boards/"+board+"/scores", `{"player":"a","points":1}`, key).refused(t, 403, "forbidden", "")
		do(t, s, "PUT", "/api/v1/boards/"+board, `{}`, key).refused(t, 403, "forbidden", "")
		do(t, s, "DELETE", "/api/v1/boards/"+board, ``, key).refused(t, 403, "forbidden", "")
	}
}

func TestReadsNeedNoKey(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{}`)
	post(t, s, "a", "1").want(t, 200)
	for _, path := range []string{
		"", "/top", "/view", "/rank?points=1", "/range", "/players/a", "/players/a/around", "/players/a/activity", "/players?name=a",
	} {
		do(t, s, "GET", "/api/v1/boards/demo"+path, "", "Authorization: ").want(t, 200)
		do(t, s, "HEAD", "/api/v1/boards/demo"+path, "", "Authorization: ").want(t, 200)
	}
	do(t, s, "POST", "/api/v1/boards/demo/lookup", `{"players":["a"]}`, "Authorization: ").want(t, 200)
}

package api

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"leaderboard/store"
)

// callersFault fails the test unless an error is one that callers are told of.
func callersFault(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	if _, ok := errors.AsType[*store.InvalidError](err); ok {
		return
	}
	if _, ok := errors.AsType[*MalformedError](err); ok {
		return
	}
	if _, ok := errors.AsType[*ForbiddenError](err); ok {
		return
	}
	t.Errorf("%T is nothing to tell a caller: %v", err, err)
}

func FuzzSubmissionsAreReadOnlyOneWay(f *testing.F) {
	for _, seed := range []string{
		`{"player":"a","points":1}`, `{"player":"a","points":"1e3","name":"Ann","season":3}`, `{"player":"a","points":1,"points":2}`,
		`{"player":"\u00e9\ud83d\ude00","points":-0.50,"achieved_at":"2026-01-01T00:00:00Z","slot":"17"}`, `null`, `{`, `[[[[`, "\ufeff{}",
		`{"player":"a","points":NaN}`, `{"player":"a","points":1}{}`, `{"PLAYER":"a"}`, "{\"player\":\"\xff\"}", `{"points":{"a":[1]}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		sent := strings.Clone(body)
		submission, err := parseSubmission([]byte(body), submitter{admin: true, batch: true})
		callersFault(t, err)
		if body != sent {
			t.Fatal("reading changed the body")
		}
		if err != nil {
			return
		}
		// What we take, a reader that knows nothing of our rules reads the same way.
		var plain map[string]any
		if err := json.Unmarshal([]byte(body), &plain); err != nil {
			t.Fatalf("took %q, which is no JSON: %v", body, err)
		}
		player, ok := plain["player"].(string)
		id, err := store.ParsePlayerID(player)
		if !ok || err != nil || id != submission.Player {
			t.Fatalf("took player %q of %q", submission.Player, body)
		}
		for name := range plain {
			if !strings.Contains(" player points name season achieved_at slot ", " "+name+" ") {
				t.Fatalf("took %q with the field %q", body, name)
			}
		}
		if name, ok := plain["name"].(string); ok != (submission.Name != "") || name != string(submission.Name) {
			t.Fatalf("took name %q of %q", submission.Name, body)
		}
	})
}

func FuzzBatchesAreSplitIntoTheirItems(f *testing.F) {
	for _, seed := range []string{
		`{"scores":[{"player":"a","points":1},{"player":"b"}]}`, `{"scores":[null,1,[],{}]}`, `{"scores":[]}`, `{"scores":[`, `{"scores":[{"a":1,"a":2}]}`,
		"{\"scores\":[\"\xff\"]}", `{"scores":[1],"scores":[2]}`, `[]`, `{"scores":[1],"x":2}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		items, err := parseBatch([]byte(body))
		callersFault(t, err)
		if err != nil {
			return
		}
		if len(items) < 1 || len(items) > store.MaxBatch {
			t.Fatalf("%d items of %q", len(items), body)
		}
		var plain map[string][]json.RawMessage
		if err := json.Unmarshal([]byte(body), &plain); err != nil || len(plain) != 1 || len(plain["scores"]) != len(items) {
			t.Fatalf("split %q into %d items: %v", body, len(items), err)
		}
		for _, item := range items {
			_, err := parseSubmission(item, submitter{batch: true})
			callersFault(t, err)
		}
	})
}

func FuzzSettingsAreTakenOrRefused(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"title":"A","order":"asc","decimals":2,"max_points":1e6,"starts_at":"2026-01-01T00:00:00Z"}`, `{"max_step":"1e3","rewards":null}`,
		`{"rewards":[{"id":"a","title":"A","ranks":[1,3],"data":{"x":[1]},"delay":"10s","hold":"1h"}]}`, `{"webhook":{"url":"https://a/","secret":"s"}}`,
		`{"webhook":null,"title":null}`, `{"rewards":[{"percent":1e-9}]}`, `[`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		patch, err := parseSettings([]byte(body))
		callersFault(t, err)
		if err != nil {
			return
		}
		one, two := store.DefaultSettings("demo"), store.DefaultSettings("demo")
		callersFault(t, patch.apply(&one))
		callersFault(t, patch.apply(&two)) // the store may ask more than once
		if !reflect.DeepEqual(one, two) {
			t.Fatalf("%q changes settings differently each time", body)
		}
		if one.Validate() == nil {
			if board := appendBoard(nil, &store.BoardState{Board: store.Board{ID: "demo", Settings: one}}, true); !json.Valid(board) {
				t.Fatalf("%q makes a board that is no JSON: %s", body, board)
			}
		}
	})
}

func FuzzCursorsComeBackAsTheyWere(f *testing.F) {
	for _, k := range []cursor{
		{season: 1, epoch: "k3v9", at: store.Position{Packed: 17, Player: "a"}},
		{season: 1 << 50, epoch: "", at: store.Position{Packed: -1 << 53, Player: "é"}},
	} {
		f.Add(string(k.append(nil)))
	}
	for _, seed := range []string{"", "AQ", "AQEBAA", "====", "AQEBAGE\n", "////"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		k, err := parseCursor(text)
		callersFault(t, err)
		if err != nil {
			return
		}
		if got := string(k.append(nil)); got != text {
			t.Fatalf("%q came back as %q", text, got)
		}
	})
}

func FuzzTextsAreWrittenAsJSON(f *testing.F) {
	for _, seed := range []string{"", "a", `"\/`, "</script>", "\u2028", "\x00\x1f\x7f", "\xff", "🩸"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var got string
		if err := json.Unmarshal(appendString(nil, text), &got); err != nil {
			t.Fatal(err)
		}
		if utf8.ValidString(text) && got != text {
			t.Fatalf("%q came back as %q", text, got)
		}
	})
}

package api_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

const batchPath = scoresPath + "/batch"

type outcome struct {
	Status              int
	Code, Field, Detail string
	Player              string
	Points              json.Number
	Rank, Season        int64
	Improved            bool
}

// batch posts items and returns what became of each.
func batch(t testing.TB, s *server, items []string, headers ...string) []outcome {
	t.Helper()
	var got struct{ Results []outcome }
	do(t, s, "POST", batchPath, `{"scores":[`+strings.Join(items, ",")+`]}`, headers...).want(t, 200).into(t, &got)
	if len(got.Results) != len(items) {
		t.Fatalf("%d items got %d results", len(items), len(got.Results))
	}
	return got.Results
}

func TestABadItemSpoilsNoOther(t *testing.T) { // F22
	t.Parallel()
	s := newBoard(t, `{"policy":"last"}`)
	do(t, s, "POST", "/api/v1/boards/demo/players/cheat/ban", "").want(t, 200)
	for _, c := range []struct{ item, code, field string }{
		{`{"player":"a","points":1}`, "", ""},
		{`{"player":"b","points":1,"extra":2}`, "invalid", "extra"},
		{`{"player":"b","points":1,"Points":2}`, "invalid", "Points"},
		{`{"player":"b","points":1,"points":2}`, "invalid", "points"},
		{`{"player":"b"}`, "invalid", "points"},
		{`{"points":1}`, "invalid", "player"},
		{`{"player":"b","points":null}`, "invalid", "points"},
		{`{"player":"b","points":1.5}`, "invalid", "points"},
		{`{"player":"b","points":99999999}`, "invalid", "points"},
		{"{\"player\":\"b\xff\",\"points\":1}", "malformed_json", "player"},
		{`{"player":"b\u0000","points":1}`, "invalid", "player"},
		{`{"player":"b","points":1,"name":"\u202e"}`, "invalid", "name"},
		{`null`, "invalid", "body"},
		{`17`, "invalid", "body"},
		{`[]`, "invalid", "body"},
		{`{}`, "invalid", "player"},
		{`{"player":"cheat","points":5}`, "player_banned", ""},
		{`{"player":"b","points":1,"season":9}`, "invalid", "season"}, // has not begun
		{`{"player":"b","points":1,"achieved_at":"2999-01-01T00:00:00Z"}`, "invalid", "achieved_at"},
		{`{"player":"b","points":1,"slot":-1}`, "invalid", "slot"},
		{`{"player":"b","points":1,"slot":1e17}`, "invalid", "slot"},
		{`{"player":"c","points":"3"}`, "", ""},
	} {
		t.Run(fmt.Sprintf("%.60q", c.item), func(t *testing.T) {
			got := batch(t, s, []string{`{"player":"before","points":2}`, c.item, `{"player":"after","points":2}`})
			if got[0].Status != 200 || got[2].Status != 200 || got[0].Player != "before" || got[2].Player != "after" {
				t.Errorf("the neighbours got %+v and %+v", got[0], got[2])
			}
			if got[1].Code != c.code || got[1].Field != c.field || (got[1].Status == 200) != (c.code == "") {
				t.Errorf("the item got %+v, want code %q and field %q", got[1], c.code, c.field)
			}
		})
	}
}

func TestTheFrameOfABatchIsStrict(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{}`)
	item := `{"player":"a","points":1}`
	for body, want := range map[string]struct{ code, field string }{
		`{}`:                              {"invalid", "scores"},
		`{"scores":[]}`:                   {"invalid", "scores"},
		`{"scores":null}`:                 {"invalid", "scores"},
		`{"scores":{}}`:                   {"invalid", "scores"},
		`{"scores":[` + item + `],"x":1}`: {"invalid", "x"},
		`{"Scores":[` + item + `]}`:       {"invalid", "Scores"},
		`{"scores":[` + item + `],"scores":[` + item + `]}`: {"invalid", "scores"},
		`[` + item + `]`:                             {"invalid", "body"},
		`{"scores":[` + item:                         {"malformed_json", "scores"},
		`{"scores":[` + item + `,]}`:                 {"malformed_json", "scores"},
		`{"scores":[{"player":"a","points":NaN}]}`:   {"malformed_json", "scores"},
		`{"scores":[` + item + `]} {}`:               {"malformed_json", ""},
		`{"scores":[` + strings.Repeat("[", 100_000): {"malformed_json", "scores"},
		``: {"malformed_json", ""},
	} {
		do(t, s, "POST", batchPath, body).refused(t, 422, want.code, want.field)
	}
	do(t, s, "POST", "/api/v1/boards/nowhere/scores/batch", `{"scores":[`+item+`]}`).refused(t, 404, "board_not_found", "")
	do(t, s, "POST", "/api/v1/boards/nowhere/scores/batch", `{"scores":[{}]}`).refused(t, 404, "board_not_found", "")
	if got := top(t, s, ""); got.Total != 0 {
		t.Errorf("refused batches left %d players", got.Total)
	}
}

func TestHugeBatchesAreRefusedBeforeAnythingIsWritten(t *testing.T) { // F22
	t.Parallel()
	s := newBoard(t, `{}`)
	for _, n := range []int{1001, 3999, 4000, 7999, 8001, 20_000} {
		items := strings.Repeat(`{"player":"a","points":1},`, n)
		do(t, s, "POST", batchPath, `{"scores":[`+strings.TrimSuffix(items, ",")+`]}`).refused(t, 422, "invalid", "scores")
	}
	items := strings.Repeat(`{"player":"a","points":1},`, 100_000)
	do(t, s, "POST", batchPath, `{"scores":[`+strings.TrimSuffix(items, ",")+`]}`).refused(t, 413, "too_large", "")
	if got := top(t, s, ""); got.Total != 0 {
		t.Errorf("refused batches left %d players", got.Total)
	}
	var all []string
	for i := range 1000 {
		all = append(all, fmt.Sprintf(`{"player":"p%d","points":%d}`, i, i))
	}
	all[500] = `{"player":"p500","points":"bad"}`
	for i, o := range batch(t, s, all) {
		if (o.Status == 200) != (i != 500) {
			t.Errorf("item %d got %+v", i, o)
		}
	}
	if got := top(t, s, ""); got.Total != 999 {
		t.Errorf("%d players after a thousand scores with one bad, want 999", got.Total)
	}
}

func TestOnePlayerMayStandInABatchManyTimes(t *testing.T) { // F22
	t.Parallel()
	s := newBoard(t, `{"policy":"sum"}`)
	var items []string
	for range 500 {
		items = append(items, `{"player":"a","points":2}`)
	}
	for i, o := range batch(t, s, items) {
		if o.Points.String() != fmt.Sprint(2*(i+1)) {
			t.Fatalf("after score %d the sum is %s, want %d", i+1, o.Points, 2*(i+1))
		}
	}
}

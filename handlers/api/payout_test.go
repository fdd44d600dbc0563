package api_test

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestAPreviewSaysWhoWouldGetWhat(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{"decimals":1,"rewards":[
		{"id":"gold","title":"Gold","ranks":[1,1]},
		{"id":"rest","title":"The rest","ranks":[2,500]},
		{"id":"far","title":"Far","ranks":[400,500]},
		{"id":"third","title":"A third","percent":33.4},
		{"id":"ten","title":"Ten","points":10},
		{"id":"eight","title":"Eight","points":8,"hold":"1h"},
		{"id":"king","title":"King","reach_rank":1,"hold":"1h"}]}`)
	path := seasonsPath + "/payout"
	if r := do(t, s, "GET", path, "").want(t, 200); strings.Count(string(r.body), `"count":0,"entries":[]`) != 7 {
		t.Errorf("an empty board would pay %s", r.body)
	}
	post(t, s, "c", "8").want(t, 200)
	post(t, s, "b", "9").want(t, 200)
	post(t, s, "a", "10.5").want(t, 200)
	var got struct {
		Rewards []struct {
			Reward, Title string
			Count         int64
			Entries       []json.RawMessage
		}
	}
	do(t, s, "GET", path, "").want(t, 200).into(t, &got)
	want := []struct {
		reward string
		count  int64
		first  string
	}{
		{"gold", 1, `"player":"a"`},
		{"rest", 2, `"player":"b"`},
		{"far", 0, ""},
		{"third", 2, `"player":"a"`},
		{"ten", 0, ""},
		{"eight", 3, `{"rank":1,"player":"a","name":null,"points":10.5,`},
		{"king", 1, `"player":"a"`},
	}
	if len(got.Rewards) != len(want) {
		t.Fatalf("got %+v", got)
	}
	for i, w := range want {
		g := got.Rewards[i]
		if g.Reward != w.reward || g.Count != w.count || int64(len(g.Entries)) != w.count {
			t.Errorf("got %s for %d with %d entries, want %s for %d", g.Reward, g.Count, len(g.Entries), w.reward, w.count)
		} else if w.first != "" && !strings.Contains(string(g.Entries[0]), w.first) {
			t.Errorf("%s begins with %s, want %s", g.Reward, g.Entries[0], w.first)
		}
	}
	do(t, s, "GET", "/api/v1/boards/none/seasons/payout", "").refused(t, 404, "board_not_found", "")
}

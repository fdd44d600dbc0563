package api_test

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"sync"
	"testing"

	"leaderboard/store"
)

// fill posts players p1 … pn with n … 1 points, so that ranks and names agree.
func fill(t testing.TB, s *server, n int) {
	t.Helper()
	for from := 1; from <= n; from += 500 {
		var scores []string
		for i := from; i <= min(n, from+499); i++ {
			scores = append(scores, fmt.Sprintf(`{"player":"p%d","points":%d}`, i, n-i+1))
		}
		do(t, s, "POST", scoresPath+"/batch", `{"scores":[`+strings.Join(scores, ",")+`]}`).want(t, 200)
	}
}

func TestLimitAndOffsetHaveBounds(t *testing.T) { // F19
	t.Parallel()
	full, empty := newBoard(t, `{"live_top":10}`), newBoard(t, `{}`)
	fill(t, full, 30)
	for _, s := range []*server{full, empty} {
		for query, field := range map[string]string{
			"limit=0": "limit", "limit=-1": "limit", "limit=1001": "limit", "limit=999999": "limit", "limit=1e3": "limit",
			"limit=abc": "limit", "limit=": "limit", "limit=10&limit=-1": "limit", "limit=10&limit=10": "limit",
			"limit=9223372036854775808": "limit", "limit=%2b5": "limit", "limit=5.0": "limit", "limit=0x5": "limit",
			"limit=%20": "limit", "limit=%D9%A3": "limit",
			"offset=-1": "offset", "offset=": "offset", "offset=1.5": "offset", "offset=9223372036854775808": "offset",
			"offset=9007199254740993": "offset", "offset=18446744073709551616": "offset", "offset=0&offset=1": "offset",
			"season=0": "season", "season=-1": "season", "season=abc": "season", "season=": "season",
		} {
			do(t, s, "GET", "/api/v1/boards/demo/top?"+query, "").refused(t, 422, "invalid", field)
		}
		do(t, s, "GET", "/api/v1/boards/demo/top?season=7", "").refused(t, 404, "season_not_found", "")
		do(t, s, "GET", "/api/v1/boards/demo/top?season=9007199254740991", "").refused(t, 404, "season_not_found", "")
	}
	for query, want := range map[string]int{
		"": 10, "?limit=1": 1, "?limit=1000": 30, "?offset=29": 1, "?offset=30": 0, "?offset=31": 0,
		"?offset=2147483648": 0, "?offset=9007199254740992": 0, "?limit=5&offset=8": 5, "?limit=5&offset=28": 2,
		"?limit=5&unknown=7": 5, "?season=1&limit=3": 3, "?season=1&offset=9": 10,
	} {
		got := top(t, full, query)
		if len(got.Entries) != want || got.Total != 30 {
			t.Errorf("top%s has %d entries of %d, want %d of 30", query, len(got.Entries), got.Total, want)
		}
		if at := int64(len(got.Entries)); at > 0 && got.Entries[0].Player != fmt.Sprintf("p%d", got.Entries[0].Rank) {
			t.Errorf("top%s begins with %s at rank %d", query, got.Entries[0].Player, got.Entries[0].Rank)
		}
	}
	r := do(t, empty, "GET", "/api/v1/boards/demo/top?offset=5", "").want(t, 200)
	if !strings.Contains(string(r.body), `"total":0,"entries":[],"next":null`) {
		t.Errorf("an empty board is %s", r.body)
	}
	for query, field := range map[string]string{
		"players/p1/around?radius=501": "radius", "players/p1/around?radius=-1": "radius", "players/p1/activity?limit=1001": "limit",
		"view?limit=0": "limit", "view?radius=x": "radius", "view?player=": "player", "view?player=%00": "player",
		"players?name=a&limit=0": "limit", "range?limit=0": "limit", "players/p1?season=x": "season", "players/p1?ties=x": "ties",
	} {
		do(t, full, "GET", "/api/v1/boards/demo/"+query, "").refused(t, 422, "invalid", field)
	}
	do(t, full, "GET", "/api/v1/boards/nowhere/top", "").refused(t, 404, "board_not_found", "")
	do(t, full, "GET", "/api/v1/boards/demo/players/ghost", "").refused(t, 404, "player_not_found", "")
	do(t, full, "GET", "/api/v1/boards/demo/players/ghost/around", "").refused(t, 404, "player_not_found", "")
}

func TestPagesForwardAndBackHaveTheSameRanksAndNoGap(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{"live_top":20}`)
	fill(t, s, 95)
	var forward []string
	for offset := 0; offset < 100; offset += 15 { // across the edge of the kept top
		for _, e := range top(t, s, fmt.Sprintf("?limit=15&offset=%d", offset)).Entries {
			forward = append(forward, fmt.Sprint(e.Rank, e.Player))
		}
	}
	var back []string
	for offset := 90; offset >= 0; offset -= 15 {
		var page []string
		for _, e := range top(t, s, fmt.Sprintf("?limit=15&offset=%d", offset)).Entries {
			page = append(page, fmt.Sprint(e.Rank, e.Player))
		}
		back = append(page, back...)
	}
	if fmt.Sprint(forward) != fmt.Sprint(back) || len(forward) != 95 {
		t.Errorf("forward %v\nback    %v", forward, back)
	}
}

func TestNextWalksAWholeBoard(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{"live_top":10}`)
	fill(t, s, 95)
	for _, ties := range []string{"", "&ties=shared"} {
		var seen []string
		query := "?limit=7" + ties
		for pages := 0; ; pages++ {
			got := top(t, s, query)
			for _, e := range got.Entries {
				seen = append(seen, e.Player)
				if e.Player != fmt.Sprintf("p%d", e.Rank) {
					t.Errorf("%s at rank %d", e.Player, e.Rank)
				}
			}
			if got.Next == nil {
				break
			}
			if pages > 20 {
				t.Fatal("the walk does not end")
			}
			query = "?limit=7&after=" + url.QueryEscape(*got.Next) + ties
		}
		if len(seen) != 95 {
			t.Errorf("met %d players, want 95", len(seen))
		}
	}
	exact := top(t, s, "?limit=95")
	if exact.Next != nil {
		t.Errorf("the last page has a next: %s", *exact.Next)
	}
}

func TestAWalkMeetsWhoeverStaysWhileOthersMove(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{"live_top":10,"policy":"last"}`)
	const still = 300
	fill(t, s, still) // p1 … p300 keep their places
	stop := make(chan struct{})
	var writers sync.WaitGroup
	for w := range 8 {
		writers.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(w)))
			for {
				select {
				case <-stop:
					return
				default:
					player := store.PlayerID(fmt.Sprintf("mover%d", w))
					move := store.Submission{Player: player, Points: store.Whole(random.Int64N(still))}
					if _, err := s.store.Submit(t.Context(), "demo", move); err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	for range 3 {
		met := map[string]int{}
		query := "?limit=20"
		for {
			got := top(t, s, query)
			for _, e := range got.Entries {
				met[e.Player]++
			}
			if got.Next == nil {
				break
			}
			query = "?limit=20&after=" + url.QueryEscape(*got.Next)
		}
		for i := 1; i <= still; i++ {
			if player := fmt.Sprintf("p%d", i); met[player] != 1 {
				t.Errorf("%s did not move and was met %d times", player, met[player])
			}
		}
	}
	close(stop)
	writers.Wait()
}

func TestNextIsTakenBackUnchangedOnly(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{"live_top":2}`)
	fill(t, s, 9)
	next := *top(t, s, "?limit=2").Next
	path := "/api/v1/boards/demo/top?after="
	for _, bad := range []string{"", "x", "====", next + "A", next[:len(next)-1], strings.ToUpper(next), "%00", "AQ", "AQEBAA", next + "%0A", "null"} {
		do(t, s, "GET", path+bad, "").refused(t, 422, "invalid", "after")
	}
	do(t, s, "GET", path+next+"&after="+next, "").refused(t, 422, "invalid", "after")
	do(t, s, "GET", path+next+"&offset=0", "").refused(t, 422, "invalid", "after")
	do(t, s, "GET", path+next+"&season=2", "").refused(t, 422, "invalid", "after")
	do(t, s, "GET", path+next+"&season=1", "").want(t, 200)

	// A board made anew is another board: a walk through the old one has no next page there.
	do(t, s, "DELETE", "/api/v1/boards/demo", "").want(t, 204)
	do(t, s, "GET", path+next, "").refused(t, 404, "board_not_found", "")
	do(t, s, "PUT", "/api/v1/boards/demo", `{}`).want(t, 201)
	fill(t, s, 9)
	do(t, s, "GET", path+next, "").refused(t, 404, "season_not_found", "")
}

func TestAroundIsCentredAndFilledUpAtTheEdges(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{}`)
	fill(t, s, 120)
	for query, want := range map[string]struct{ first, last int64 }{
		"p100/around?radius=10": {90, 110}, "p1/around?radius=2": {1, 5}, "p2/around?radius=2": {1, 5},
		"p120/around?radius=2": {116, 120}, "p60/around?radius=0": {60, 60}, "p60/around": {55, 65},
		"p60/around?radius=500": {1, 120},
	} {
		var got page
		do(t, s, "GET", "/api/v1/boards/demo/players/"+query, "").want(t, 200).into(t, &got)
		first, last := got.Entries[0].Rank, got.Entries[len(got.Entries)-1].Rank
		if first != want.first || last != want.last || int64(len(got.Entries)) != last-first+1 || got.Total != 120 {
			t.Errorf("%s shows ranks %d to %d (%d entries of %d), want %d to %d", query, first, last, len(got.Entries), got.Total, want.first, want.last)
		}
	}
}

func TestViewIsOneLook(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{}`)
	fill(t, s, 40)
	var got struct {
		page
		Top, Around []entry
		Entry       *entry
		Percentile  *float64
		ToNext      *int64 `json:"to_next"`
	}
	do(t, s, "GET", "/api/v1/boards/demo/view?player=p12&limit=10&radius=3", "").want(t, 200).into(t, &got)
	if len(got.Top) != 10 || got.Entry == nil || got.Entry.Rank != 12 || len(got.Around) != 7 || got.Around[3].Player != "p12" || got.Total != 40 {
		t.Errorf("view %+v", got)
	}
	if got.ToNext == nil || *got.ToNext != 1 || got.Percentile == nil || *got.Percentile < 71 || *got.Percentile > 72 {
		t.Errorf("to_next %v, percentile %v; want 1 and 28 of 39", got.ToNext, got.Percentile)
	}
	for _, query := range []string{"?player=ghost", ""} {
		r := do(t, s, "GET", "/api/v1/boards/demo/view"+query, "").want(t, 200)
		if !strings.Contains(string(r.body), `"entry":null,"percentile":null,"to_next":null,"around":[]}`) {
			t.Errorf("view%s is %s", query, r.body)
		}
	}
}

func TestAStandingTellsWhatIsMissingToTheNextPlace(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{"decimals":2,"order":"asc"}`)
	for _, score := range []string{"first 10.00", "second 12.50", "tied 12.50", "last 20.00"} {
		player, points, _ := strings.Cut(score, " ")
		post(t, s, player, points).want(t, 200)
	}
	for player, want := range map[string]string{
		"first": `"percentile":100,"to_next":null,"total":4}`, "second": `"to_next":2.50,"total":4}`,
		"tied": `"to_next":0.00,"total":4}`, "last": `"percentile":0,"to_next":7.50,"total":4}`,
	} {
		r := do(t, s, "GET", "/api/v1/boards/demo/players/"+player, "").want(t, 200)
		if !strings.HasSuffix(string(r.body), want) {
			t.Errorf("%s is %s, want …%s", player, r.body, want)
		}
	}
	alone := newBoard(t, `{}`)
	post(t, alone, "a", "1").want(t, 200)
	r := do(t, alone, "GET", "/api/v1/boards/demo/players/a", "").want(t, 200)
	if !strings.HasSuffix(string(r.body), `"percentile":100,"to_next":null,"total":1}`) {
		t.Errorf("alone: %s", r.body)
	}
}

func TestAReadAfterTheOwnWriteShowsIt(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{}`)
	for points := 300; points < 310; points++ {
		post(t, s, "p", fmt.Sprint(points)).want(t, 200)
		if got := lines(top(t, s, "").Entries); got != fmt.Sprintf("1 p %d", points) {
			t.Fatalf("posted %d, read %s", points, got)
		}
		var card entry
		do(t, s, "GET", "/api/v1/boards/demo/players/p", "").want(t, 200).into(t, &card)
		if card.Points.String() != fmt.Sprint(points) {
			t.Fatalf("posted %d, the card says %s", points, card.Points)
		}
	}
}

func TestABoardTellsItsNextResets(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{"schedule":"weekly","timezone":"Europe/Berlin"}`)
	var got struct {
		Season struct {
			Number   int64
			EndsAt   string `json:"ends_at"`
			StartsAt string `json:"started_at"`
		}
		NextResets []string `json:"next_resets"`
	}
	do(t, s, "GET", "/api/v1/boards/demo", "").want(t, 200).into(t, &got)
	if len(got.NextResets) != 5 || got.NextResets[0] != got.Season.EndsAt {
		t.Errorf("next resets %v of a season that ends at %s", got.NextResets, got.Season.EndsAt)
	}
}

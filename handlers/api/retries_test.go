package api_test

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

const scoresPath = "/api/v1/boards/demo/scores"

func TestTheSamePostTwiceWithOneKeyCountsOnce(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{"policy":"sum"}`)
	body := `{"player":"a","points":5}`
	first := do(t, s, "POST", scoresPath, body, "Idempotency-Key: game-17").want(t, 200)
	if got := first.header.Get("Idempotent-Replayed"); got != "" {
		t.Errorf("the first reply says Idempotent-Replayed: %s", got)
	}
	again := do(t, s, "POST", scoresPath, body, "Idempotency-Key: game-17").want(t, 200)
	if got := again.header.Get("Idempotent-Replayed"); got != "true" {
		t.Errorf("the repeat says Idempotent-Replayed: %q, want true", got)
	}
	if !bytes.Equal(first.body, again.body) {
		t.Errorf("the repeat is answered %s, want %s", again.body, first.body)
	}
	do(t, s, "POST", scoresPath, `{"player":"a","points":6}`, "Idempotency-Key: game-17").
		refused(t, 409, "idempotency_conflict", "")
	do(t, s, "POST", scoresPath+"/batch", `{"scores":[{"player":"a","points":5}]}`, "Idempotency-Key: game-17").
		refused(t, 409, "idempotency_conflict", "")
	if got := lines(top(t, s, "").Entries); got != "1 a 5" {
		t.Errorf("board %s, want 1 a 5", got)
	}
	// Another API key has idempotency keys of its own.
	do(t, s, "POST", scoresPath, body, "Idempotency-Key: game-17", "Authorization: Bearer "+writerKey).want(t, 200)
	if got := lines(top(t, s, "").Entries); got != "1 a 10" {
		t.Errorf("board %s, want 1 a 10", got)
	}
}

func TestARefusalByTheBoardIsKeptForARepeatToo(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{"policy":"sum","max_points":10}`)
	post(t, s, "a", "8").want(t, 200)
	body := `{"player":"a","points":5}`
	do(t, s, "POST", scoresPath, body, "Idempotency-Key: k1").refused(t, 422, "invalid", "points")
	post(t, s, "a", "-8").want(t, 200) // now there would be room
	again := do(t, s, "POST", scoresPath, body, "Idempotency-Key: k1")
	again.refused(t, 422, "invalid", "points")
	if got := again.header.Get("Idempotent-Replayed"); got != "true" {
		t.Errorf("the repeated refusal says Idempotent-Replayed: %q, want true", got)
	}
	// What could not even be read is not kept: the key is free for what was meant.
	do(t, s, "POST", scoresPath, `{"player":"a","points":"x"}`, "Idempotency-Key: k2").refused(t, 422, "invalid", "points")
	do(t, s, "POST", scoresPath, body, "Idempotency-Key: k2").want(t, 200)
}

func TestTwentyPostsAtOnceWithOneKeyCountOnce(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{"policy":"sum"}`)
	replies := make([]reply, 20)
	var group sync.WaitGroup
	for i := range replies {
		group.Go(func() {
			replies[i] = do(t, s, "POST", scoresPath, `{"player":"a","points":5}`, "Idempotency-Key: once")
		})
	}
	group.Wait()
	replayed := 0
	for _, r := range replies {
		if r.status != 200 || !bytes.Equal(r.body, replies[0].body) {
			t.Errorf("answers %d %s, want 200 %s", r.status, r.body, replies[0].body)
		}
		if r.header.Get("Idempotent-Replayed") == "true" {
			replayed++
		}
	}
	if replayed != 19 {
		t.Errorf("%d replies were repeats, want 19", replayed)
	}
	if got := lines(top(t, s, "").Entries); got != "1 a 5" {
		t.Errorf("board %s, want 1 a 5", got)
	}
}

func TestABatchIsRepeatedWithoutDoingItTwice(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{"policy":"sum"}`)
	body := `{"scores":[{"player":"a","points":5},{"player":"b"},{"player":"b","points":7},{"player":"a","points":1}]}`
	first := do(t, s, "POST", scoresPath+"/batch", body, "Idempotency-Key: b1").want(t, 200)
	again := do(t, s, "POST", scoresPath+"/batch", body, "Idempotency-Key: b1").want(t, 200)
	if !bytes.Equal(first.body, again.body) || again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("the repeat is answered %s (replayed %q), want %s", again.body, again.header.Get("Idempotent-Replayed"), first.body)
	}
	do(t, s, "POST", scoresPath+"/batch", `{"scores":[{"player":"a","points":5}]}`, "Idempotency-Key: b1").
		refused(t, 409, "idempotency_conflict", "")
	if got, want := lines(top(t, s, "").Entries), "1 b 7, 2 a 6"; got != want {
		t.Errorf("board %s, want %s", got, want)
	}
}

func TestManyPostsOfOnePlayerAtOnceLeaveTheBest(t *testing.T) { // F18
	t.Parallel()
	for order, want := range map[string]string{"desc": "1 p 200", "asc": "1 p 1"} {
		t.Run(order, func(t *testing.T) {
			t.Parallel()
			s := newBoard(t, fmt.Sprintf(`{"order":%q,"activity_cap":1000}`, order))
			improved := make([]bool, 201)
			var group sync.WaitGroup
			for worker := range 8 {
				group.Go(func() {
					for points := worker + 1; points <= 200; points += 8 {
						var got struct {
							Improved bool
							Rank     int64
						}
						post(t, s, "p", fmt.Sprint(points)).want(t, 200).into(t, &got)
						improved[points] = got.Improved
						if got.Rank != 1 {
							t.Errorf("rank %d of the only player, want 1", got.Rank)
						}
					}
				})
			}
			group.Wait()
			if got := lines(top(t, s, "").Entries); got != want {
				t.Errorf("board %s, want %s", got, want)
			}
			var activity struct{ Items []struct{ Kind string } }
			do(t, s, "GET", "/api/v1/boards/demo/players/p/activity?limit=1000", "").want(t, 200).into(t, &activity)
			improvements := strings.Count(fmt.Sprint(improved), "true")
			if len(activity.Items) != improvements {
				t.Errorf("%d activities for %d improvements", len(activity.Items), improvements)
			}
		})
	}
}

func TestALateRetryOfALowerScoreChangesNothing(t *testing.T) { // F18
	t.Parallel()
	s := newBoard(t, `{}`)
	post(t, s, "p", "10").want(t, 200)
	post(t, s, "p", "20").want(t, 200)
	before := top(t, s, "")
	var got struct {
		Points, Submitted int64
		Improved          bool
		Rank              int64
		PreviousRank      *int64 `json:"previous_rank"`
	}
	post(t, s, "p", "10").want(t, 200).into(t, &got)
	if got.Points != 20 || got.Submitted != 10 || got.Improved || got.Rank != 1 || got.PreviousRank == nil || *got.PreviousRank != 1 {
		t.Errorf("the retry is answered %+v", got)
	}
	if after := top(t, s, ""); after.Version != before.Version || !after.Entries[0].AchievedAt.Equal(before.Entries[0].AchievedAt) {
		t.Errorf("the retry changed %+v to %+v", before, after)
	}
}

func TestAPlayerHasOneRow(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{"policy":"last"}`)
	for points := range 8 { // one game over, sent eight times
		post(t, s, "p", fmt.Sprint(points%2)).want(t, 200)
	}
	if got := top(t, s, ""); got.Total != 1 || len(got.Entries) != 1 {
		t.Errorf("one player has %d rows", got.Total)
	}
	do(t, s, "POST", scoresPath, `{"player":"p","points":999}`, "Authorization: ").refused(t, 401, "unauthorized", "")
}

func TestConnectionsCutAfterSendingSpoilNothing(t *testing.T) { // F18
	t.Parallel()
	s := newBoard(t, `{"activity_cap":1000}`)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.app.Listener(listener) }()
	defer func() {
		_ = s.app.ShutdownWithTimeout(5 * time.Second)
		<-ended
	}()
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for points := worker + 1; points <= 100; points += 4 {
				conn, err := net.Dial("tcp", listener.Addr().String())
				if err != nil {
					t.Error(err)
					return
				}
				body := fmt.Sprintf(`{"player":"p","points":%d}`, points)
				fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s",
					scoresPath, adminKey, len(body), body)
				if points%2 == 0 { // the other half does not wait for the reply
					response, err := http.ReadResponse(bufio.NewReader(conn), nil)
					if err != nil || response.StatusCode != 200 {
						t.Errorf("answers %v (%v)", response, err)
					}
				}
				_ = conn.Close()
			}
		})
	}
	group.Wait()
	if got := lines(top(t, s, "").Entries); got != "1 p 100" { // a hundred is even: its reply was read
		t.Errorf("board %s, want 1 p 100", got)
	}
}

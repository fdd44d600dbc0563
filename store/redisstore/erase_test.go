package redisstore_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"leaderboard/store"
	"leaderboard/store/redisstore"
	"leaderboard/store/storetest"
)

var erasureRules = map[string]func(e erasureOn){
	"every trace of a person goes, and none of anybody else":  everyTraceGoes,
	"an erased person leaves the live top at once":            erasedLeaveTheTop,
	"an erased person begins anew":                            erasedBeginAnew,
	"erasing somebody unknown is done at once":                erasingTheUnknown,
	"an erasure that breaks off anywhere is resumed":          brokenErasuresAreResumed,
	"an erasure is left to its caller for ten seconds":        erasuresAreLeftToTheirCaller,
	"what a worker may still hold is waited for":              runningJobsAreWaitedFor,
	"a job that has a person as its mark is waited for":       marksAreWaitedFor,
	"a payout that stands at a person is waited for":          payoutsAreWaitedFor,
	"an event in a sender's hands is waited for":              sendersAreWaitedFor,
	"what names others too is kept without the erased person": othersKeepWhatIsTheirs,
	"acts of the audit stay, about nobody":                    actsStayAboutNobody,
	"somebody called erased can be erased":                    somebodyCalledErased,
}

func TestErasureOnRedis(t *testing.T) {
	t.Parallel()
	checkErasure(t, func(t *testing.T) redis.UniversalClient { return storetest.Redis(t) })
}

func TestErasureOnTheEmbeddedRedis(t *testing.T) {
	t.Parallel()
	checkErasure(t, func(t *testing.T) redis.UniversalClient { return storetest.Embedded(t) })
}

func TestErasureOnACluster(t *testing.T) {
	t.Parallel()
	server := storetest.Cluster(t)
	checkErasure(t, func(t *testing.T) redis.UniversalClient { return server.Client(t) })
}

// erasureOn is a store of its own on some Redis, with the boards demo and other.
type erasureOn struct {
	queueOn
	outbox *redisstore.Outbox
}

func checkErasure(t *testing.T, connect func(t *testing.T) redis.UniversalClient) {
	t.Helper()
	for name, rule := range erasureRules {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := queueOn{t: t, client: connect(t), prefix: storetest.Prefix(t), clock: storetest.NewClock()}
			q.Store = redisstore.New(q.client, redisstore.Options{
				Prefix: q.prefix, Clock: q.clock.Now, Player: store.Limit{Count: 100, Window: time.Hour},
			})
			e := erasureOn{q, q.Outbox(q.client)}
			for _, board := range []store.BoardID{"demo", "other"} {
				e.put(board, func(s *store.Settings) {
					s.MaxStep, s.LiveTop = "1000", 2
					s.Rewards = []store.Reward{
						{ID: "gold", Title: "Gold", Ranks: []int64{1, 1}},
						{ID: "five", Title: "Five", Points: "5"},
						{ID: "king", Title: "King", ReachRank: 3, Hold: time.Hour},
					}
				})
			}
			rule(e)
		})
	}
}

func (e erasureOn) put(board store.BoardID, change func(*store.Settings)) store.BoardState {
	e.t.Helper()
	state, _, err := e.PutBoard(e.t.Context(), board, func(s *store.Settings) error {
		change(s)
		return nil
	})
	if err != nil {
		e.t.Fatal(err)
	}
	return state
}

func (e erasureOn) submit(board store.BoardID, s store.Submission) store.Result {
	e.t.Helper()
	result, err := e.Submit(e.t.Context(), board, s)
	if err != nil {
		e.t.Fatalf("submit: %v", err)
	}
	return result
}

func (e erasureOn) do(what string, err error) {
	e.t.Helper()
	if err != nil {
		e.t.Fatalf("%s: %v", what, err)
	}
}

// leaveTraces has a person do, and suffer, all that is kept of people.
func (e erasureOn) leaveTraces(player store.PlayerID) {
	e.t.Helper()
	ctx := e.t.Context()
	post := func(board store.BoardID, points int64, name store.Name, key string) store.Submission {
		return store.Submission{
			Player: player, Points: store.Whole(points), Name: name, Once: store.Once{Key: key + string(player), Fingerprint: "f"},
		}
	}
	e.submit("demo", post("demo", 5, "Name of "+store.Name(player[:1]), "a"))
	e.submit("demo", post("demo", 7, "Other name", "b"))
	e.submit("demo", post("demo", 5000, "", "c")) // held
	batch := []store.Submission{post("demo", 8, "", ""), post("demo", 1, "", "")}
	_, _, err := e.SubmitBatch(ctx, "demo", batch, store.Once{Key: "batch", Fingerprint: fmt.Sprint("of ", len(player))})
	if err != nil && !errors.Is(err, store.ErrOnceConflict) {
		e.t.Fatal(err)
	}
	e.submit("other", post("other", 5, "", "a"))
	_, err = e.Ban(ctx, "other", player, "cheats")
	e.do("ban", err)

	job := func(id string, payload any) store.Job {
		return store.Job{ID: id + " " + string(player), Kind: "reward", Payload: jsonOf(e.t, payload)}
	}
	event := store.Event{
		ID: "reward " + string(player), Kind: store.EventReward, Board: "demo", Incarnation: 1, Season: 1,
		At: e.clock.Now(), Data: jsonOf(e.t, map[string]any{"player": player, "reward": "gold"}),
	}
	later := job("later", map[string]any{"player": player})
	later.Wait = time.Hour
	e.add(job("reward", map[string]any{"player": player, "reward": "gold"}), later,
		job("webhook 1.0", map[string]any{"event": event, "attempts": 1}))
	e.do("send", e.outbox.Send(ctx, store.Parcel{Event: event}))
	dead := event
	dead.ID = "dead " + event.ID
	e.do("beat", e.outbox.Beat(ctx, "sender"))
	e.do("send", e.outbox.Send(ctx, store.Parcel{Event: dead}))
	counts, err := e.outbox.Counts(ctx)
	e.do("counts", err)
	for range counts.Queued {
		parcel, _, err := e.outbox.Take(ctx, "sender", time.Second)
		e.do("take", err)
		if parcel.Event.ID == dead.ID {
			e.do("bury", e.outbox.Bury(ctx, "sender", parcel, "it said {no}"))
		}
	}
	e.do("leave", e.outbox.Leave(ctx, "sender"))
	for n := range 2 {
		e.deliver(deliveredTo(player, fmt.Sprintf("job %d of %s", n, player)))
	}
	_, err = e.ClaimPrize(ctx, player, 1)
	e.do("claim", err)
	e.do("searches", e.client.LPush(ctx, e.prefix+":{p:"+url.QueryEscape(string(player))+"}:searches", "ann").Err())
	e.do("owed", e.client.HSet(ctx, e.prefix+":{demo.1}:owed", "reward for "+string(player),
		jsonOf(e.t, map[string]any{"player": player})).Err())
	e.do("audit", e.Record(ctx, store.Act{Who: "admin", Act: "player.ban", Board: "other", Player: player, Details: "as " + string(player)}))
}

func jsonOf(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// erase erases a person and expects it to be done.
func (e erasureOn) erase(player store.PlayerID) {
	e.t.Helper()
	if done, err := e.ErasePlayer(e.t.Context(), player); err != nil || !done {
		e.t.Fatalf("erase %q: got done %v, %v", player, done, err)
	}
}

func (e erasureOn) resume(want int) {
	e.t.Helper()
	e.clock.Step(10 * time.Second)
	if left, err := e.ResumeErasures(e.t.Context()); err != nil || left != want {
		e.t.Fatalf("resume: got %d left, %v, want %d", left, err, want)
	}
}

// traces returns every line of the store that names a person, as it is, in JSON or in a key.
func (e erasureOn) traces(player store.PlayerID) []string {
	e.t.Helper()
	quoted := string(jsonOf(e.t, player))
	spellings := []string{string(player), quoted[1 : len(quoted)-1], url.QueryEscape(string(player))}
	return slices.DeleteFunc(e.dump(), func(line string) bool {
		return !slices.ContainsFunc(spellings, func(spelling string) bool { return strings.Contains(line, spelling) })
	})
}

// dump returns all that the store holds, a line for each item.
func (e erasureOn) dump() []string {
	e.t.Helper()
	ctx := e.t.Context()
	var lines []string
	keys, err := e.client.Keys(ctx, e.prefix+":*").Result()
	e.do("keys", err)
	for _, key := range keys {
		kind, err := e.client.Type(ctx, key).Result()
		e.do("type", err)
		var items []string
		switch kind {
		case "string":
			var text string
			if text, err = e.client.Get(ctx, key).Result(); strings.Contains(key, ":uniques:") {
				text = "" // a HyperLogLog names nobody
			}
			items = []string{text}
		case "hash":
			var pairs map[string]string
			pairs, err = e.client.HGetAll(ctx, key).Result()
			for field, value := range pairs {
				items = append(items, field+" = "+value)
			}
		case "list":
			items, err = e.client.LRange(ctx, key, 0, -1).Result()
		case "zset":
			items, err = e.client.ZRange(ctx, key, 0, -1).Result()
		}
		e.do(kind, err)
		for _, item := range items {
			lines = append(lines, strings.TrimPrefix(key, e.prefix)+" "+item)
		}
	}
	slices.Sort(lines)
	return lines
}

func everyTraceGoes(e erasureOn) {
	twin := store.PlayerID("twin:{of}*")
	for _, player := range []store.PlayerID{"zoe.87", `*[z]o\Eë" <i>&:{q}`, "🩸 zoe 88", "zoe-89 and " + twin} {
		e.leaveTraces(player)
		e.leaveTraces(twin)
		_, _, err := e.CloseSeason(e.t.Context(), "demo", e.state("demo").Season.Number, "")
		e.do("close", err)
		e.leaveTraces(player)
		e.do("a former name", e.client.ZAdd(e.t.Context(), e.prefix+":{demo.1}:name-index", redis.Z{Member: "old\x00" + string(player)}).Err())
		e.do("delete", e.DeleteBoard(e.t.Context(), "other")) // leaves activity behind
		e.put("other", func(*store.Settings) {})
		mine, others := e.traces(player), without(e.traces(twin), player)
		if len(mine) < 25 || len(others) < 15 {
			e.t.Fatalf("%q: only %d traces, and %d of the twin:\n%s", player, len(mine), len(others), strings.Join(mine, "\n"))
		}
		e.erase(player)
		if left := e.traces(player); len(left) > 0 {
			e.t.Errorf("%q left\n%s", player, strings.Join(left, "\n"))
		}
		if diff := gocmp.Diff(others, without(e.traces(twin), player)); diff != "" {
			e.t.Errorf("%q: the twin's (-want +got):\n%s", player, diff)
		}
	}
}

// without leaves out lines that name a player.
func without(lines []string, player store.PlayerID) []string {
	return slices.DeleteFunc(lines, func(line string) bool {
		return strings.Contains(line, string(player)) || strings.Contains(line, url.QueryEscape(string(player)))
	})
}

func (e erasureOn) state(board store.BoardID) store.BoardState {
	e.t.Helper()
	state, err := e.BoardState(e.t.Context(), board)
	e.do("state", err)
	return state
}

func erasedLeaveTheTop(e erasureOn) {
	for i, player := range []store.PlayerID{"first", "second", "third", "fourth"} {
		e.submit("demo", store.Submission{Player: player, Points: store.Whole(int64(10 - i))})
	}
	live := e.client.Subscribe(e.t.Context(), e.prefix+":{demo.1}:live")
	defer live.Close()
	_, err := live.Receive(e.t.Context())
	e.do("subscribe", err)
	for _, tt := range []struct {
		player store.PlayerID
		change int64 // of the version: the live top has two places
	}{{"third", 0}, {"first", 1}} {
		before := e.state("demo")
		e.erase(tt.player)
		after := e.state("demo")
		if after.Version != before.Version+tt.change || after.Total != before.Total-1 {
			e.t.Errorf("%s: got version %d and %d players after %d and %d", tt.player, after.Version, after.Total, before.Version, before.Total)
		}
		message, err := live.ReceiveTimeout(e.t.Context(), 5*time.Second)
		e.do("message", err)
		want := fmt.Sprintf("%d 1 %d %d", after.Version, after.Total, after.Rev)
		if m, ok := message.(*redis.Message); !ok || m.Payload != want {
			e.t.Errorf("%s: got %v, want %q", tt.player, message, want)
		}
	}
	page, err := e.Top(e.t.Context(), store.Look{Board: "demo"}, 0, 10)
	e.do("top", err)
	if len(page.Entries) != 2 || page.Entries[0].Player != "second" || page.Entries[1].Rank != 2 {
		e.t.Errorf("got %+v, want second and fourth", page.Entries)
	}
}

func erasedBeginAnew(e erasureOn) {
	e.leaveTraces("zoe")
	e.erase("zoe")
	for _, board := range []store.BoardID{"demo", "other"} {
		first := store.Submission{Player: "zoe", Points: store.Whole(1), Once: store.Once{Key: "azoe", Fingerprint: "other"}}
		got := e.submit(board, first)
		if got.PreviousRank != 0 || got.Replayed || got.Season != 1 {
			e.t.Errorf("%s: got %+v, want a first score", board, got)
		}
		standing, err := e.Player(e.t.Context(), store.Look{Board: board}, "zoe")
		if err != nil || standing.Name != "" || standing.Points != 1 {
			e.t.Errorf("%s: got %+v, %v, want 1 point and no name", board, standing, err)
		}
		if again := e.submit(board, first); !again.Replayed || again.Points != got.Points || again.Rank != got.Rank {
			e.t.Errorf("%s: a repeat got %+v, want the reply %+v", board, again, got)
		}
	}
}

func erasingTheUnknown(e erasureOn) {
	e.leaveTraces("twin")
	before := e.dump()
	e.erase("nobody")
	if diff := gocmp.Diff(before, e.dump()); diff != "" {
		e.t.Errorf("erasing nobody changed (-before +after):\n%s", diff)
	}
}

func othersKeepWhatIsTheirs(e erasureOn) {
	closed := store.Event{ID: "closed", Kind: store.EventSeasonClosed, Board: "demo", Season: 1, Data: []byte(
		`{"top":[{"rank":1,"player":"zoe","name":"Zoe","points":1.50},{"rank":2,"player":"max","name":"Max","points":1.00}]}`)}
	e.do("send", e.outbox.Send(e.t.Context(), store.Parcel{Event: closed, Attempts: 3}))
	e.add(store.Job{ID: "again", Kind: "webhook", Payload: jsonOf(e.t, map[string]any{"event": closed, "attempts": 4})})
	e.do("owed", e.client.HSet(e.t.Context(), e.prefix+":{demo.1}:owed", "id", `{"pay":{"players":["max","zoe"]}}`).Err())
	e.erase("zoe")
	if left := e.traces("zoe"); len(left) > 0 {
		e.t.Errorf("got %v, want nothing", left)
	}
	e.do("beat", e.outbox.Beat(e.t.Context(), "sender"))
	parcel, ok, err := e.outbox.Take(e.t.Context(), "sender", time.Second)
	want := `{"top":[{"name":null,"player":"erased","points":1.50,"rank":1},{"name":"Max","player":"max","points":1.00,"rank":2}]}`
	if err != nil || !ok || parcel.Attempts != 3 || string(parcel.Event.Data) != want {
		e.t.Errorf("got %+v with %s, %v, want %s", parcel, parcel.Event.Data, err, want)
	}
	if jobs := e.claim(10); len(jobs) != 1 || !strings.Contains(string(jobs[0].Payload), want) {
		e.t.Errorf("got the jobs %+v, want the event without zoe", jobs)
	}
	owed, err := e.client.HGet(e.t.Context(), e.prefix+":{demo.1}:owed", "id").Result()
	if want := `{"pay":{"players":["max","erased"]}}`; err != nil || owed != want {
		e.t.Errorf("got owed %s, %v, want %s", owed, err, want)
	}
}

func actsStayAboutNobody(e erasureOn) {
	for _, act := range []store.Act{
		{Act: "board.put", Board: "demo", Details: "zoe is a word here"},
		{Act: "player.ban", Board: "demo", Player: "zoe", Details: "shouted"},
		{Act: "player.unban", Board: "demo", Player: "zoe"},
		{Act: "player.ban", Board: "demo", Player: "zoe2", Details: "zoe2 too"},
		{Act: "job.retry", Details: "demo.1 3 gold zoe"},
		{Act: "job.retry", Details: "demo.1 3 gold zoezoe2"},
	} {
		act.Who = "admin"
		e.do("record", e.Record(e.t.Context(), act))
		e.clock.Step(time.Second)
	}
	before, _, err := e.Acts(e.t.Context(), "", 100)
	e.do("acts", err)
	want := slices.Clone(before)
	want[1].Details = "erased"
	want[3].Player = "erased"
	want[4].Player, want[4].Details = "erased", "erased"
	e.erase("zoe")
	after, _, err := e.Acts(e.t.Context(), "", 100)
	e.do("acts", err)
	if diff := gocmp.Diff(want, after); diff != "" {
		e.t.Errorf("acts (-want +got):\n%s", diff)
	}
}

func somebodyCalledErased(e erasureOn) {
	e.leaveTraces("erased")
	e.do("send", e.outbox.Send(e.t.Context(), store.Parcel{Event: store.Event{
		ID: "closed", Kind: store.EventSeasonClosed, Board: "demo", Data: []byte(`{"top":[{"player":"zoe"},{"player":"max"}]}`),
	}}))
	e.erase("zoe")
	e.erase("erased")
	for _, line := range e.traces("erased") {
		if !strings.Contains(line, `{"top":[{"player":"erased"},`) && !strings.Contains(line, `"player":"erased","details":"erased"`) {
			e.t.Errorf("got %s", line)
		}
	}
}

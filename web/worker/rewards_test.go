package worker_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"leaderboard/store"
	"leaderboard/store/redisstore"
	"leaderboard/store/storetest"
	"leaderboard/web/worker"
)

// paymaster is a bench with boards, and all that pays rewards.
type paymaster struct {
	bench
	outbox *redisstore.Outbox
}

func newPaymaster(b bench) paymaster { return paymaster{b, b.Outbox(b.client)} }

// inPayBubble runs a test on a fake clock, with the embedded store.
func inPayBubble(t *testing.T, test func(t *testing.T, p paymaster)) {
	t.Helper()
	inBubble(t, func(t *testing.T, b bench) { test(t, newPaymaster(b)) })
}

// inPayBubbleNow does so without a turn of its own among the parallel tests.
func inPayBubbleNow(t *testing.T, test func(t *testing.T, p paymaster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		client, prefix := storetest.Embedded(t), storetest.Prefix(t)
		test(t, newPaymaster(bench{redisstore.New(client, redisstore.Options{Prefix: prefix}), t, client, prefix}))
	})
}

func onRedis(t *testing.T) paymaster {
	t.Helper()
	client, prefix := storetest.Redis(t), storetest.Prefix(t)
	return newPaymaster(bench{redisstore.New(client, redisstore.Options{Prefix: prefix}), t, client, prefix})
}

// payHandlers are those of a server, on a treasury of the test's choice.
func payHandlers(treasury worker.Treasury, rewards worker.Rewards, outbox worker.Outbox) map[string]worker.Handler {
	return map[string]worker.Handler{
		store.PayoutJob: worker.PayOut(treasury), store.RewardJob: worker.BringReward(rewards, outbox),
		store.HoldJob: worker.CheckHold(rewards), store.ClosedJob: worker.TellOfClose(outbox),
		worker.WebhookJob: worker.SendAgain(outbox),
	}
}

// start pays rewards until the returned function is called.
func (p paymaster) start() (stop func()) {
	ctx, cancel := context.WithCancel(p.t.Context())
	var running sync.WaitGroup
	running.Go(func() { worker.NewRelay(p.Store, nil).Run(ctx) })
	end := p.run(worker.PoolOptions{Handlers: payHandlers(p.Store, p.Store, p.outbox)})
	return func() {
		p.t.Helper()
		cancel()
		running.Wait()
		p.ok(end())
	}
}

func (p paymaster) put(rewards ...store.Reward) {
	p.t.Helper()
	p.putWith(func(s *store.Settings) { s.Rewards = rewards })
}

func (p paymaster) putWith(change func(*store.Settings)) {
	p.t.Helper()
	_, _, err := p.PutBoard(p.t.Context(), "demo", func(s *store.Settings) error {
		change(s)
		for i := range s.Rewards {
			if s.Rewards[i].Title == "" {
				s.Rewards[i].Title = s.Rewards[i].ID
			}
		}
		return nil
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p paymaster) submit(player store.PlayerID, points string) {
	p.t.Helper()
	number, err := store.ParseDecimal("points", points)
	if err == nil {
		_, err = p.Submit(p.t.Context(), "demo", store.Submission{Player: player, Points: number})
	}
	if err != nil {
		p.t.Fatalf("submit %s %s: %v", player, points, err)
	}
}

func (p paymaster) closeSeason(number int64) {
	p.t.Helper()
	if _, _, err := p.CloseSeason(p.t.Context(), "demo", number, "by hand"); err != nil {
		p.t.Fatalf("close: %v", err)
	}
}

// fill gives n players points, the first of them the most: p001, p002, …
func (p paymaster) fill(n int) {
	p.t.Helper()
	for start := 0; start < n; start += store.MaxBatch {
		var batch []store.Submission
		for i := start; i < min(start+store.MaxBatch, n); i++ {
			number, err := store.ParseDecimal("points", fmt.Sprint(n-i))
			if err != nil {
				p.t.Fatal(err)
			}
			batch = append(batch, store.Submission{Player: numbered(i + 1), Points: number})
		}
		if _, _, err := p.SubmitBatch(p.t.Context(), "demo", batch, store.Once{}); err != nil {
			p.t.Fatal(err)
		}
	}
}

func numbered(i int) store.PlayerID { return store.PlayerID(fmt.Sprintf("p%03d", i)) }

// won returns the rewards in a player's inbox, by id.
func (p paymaster) won(player store.PlayerID) []string {
	p.t.Helper()
	inbox, err := p.Inbox(p.t.Context(), player, 0, store.MaxInboxPage)
	if err != nil {
		p.t.Fatal(err)
	}
	list := []string{}
	for _, prize := range inbox.Prizes {
		list = append(list, prize.Reward)
	}
	slices.Sort(list)
	return list
}

func (p paymaster) wantWon(want map[store.PlayerID][]string) {
	p.t.Helper()
	for player, rewards := range want {
		if diff := cmp.Diff(rewards, p.won(player)); diff != "" {
			p.t.Errorf("%s got other rewards than wanted (-want +got):\n%s", player, diff)
		}
	}
}

func (p paymaster) season(number int64) store.Season {
	p.t.Helper()
	seasons, err := p.ClosedSeasons(p.t.Context(), "demo")
	if err != nil {
		p.t.Fatal(err)
	}
	for _, s := range seasons {
		if s.Number == number {
			return s
		}
	}
	p.t.Fatalf("there is no closed season %d", number)
	return store.Season{}
}

func (p paymaster) quiet() bool {
	c := p.counts()
	owed, err := p.client.HLen(p.t.Context(), p.prefix+":{demo.1}:owed").Result()
	return err == nil && owed == 0 && c.Scheduled+c.Ready+c.Running == 0
}

var (
	gold   = store.Reward{ID: "gold", Ranks: []int64{1, 1}}
	silver = store.Reward{ID: "silver", Ranks: []int64{2, 3}}
	top10  = store.Reward{ID: "top10", Percent: 10}
)

func TestAClosedSeasonPaysItsWinnersOnce(t *testing.T) {
	inPayBubble(t, func(t *testing.T, p paymaster) {
		rewards := []store.Reward{gold, silver, top10}
		rewards[0].Data = json.RawMessage(`{"coins":5,"of":"<b>"}`)
		p.put(rewards...)
		p.fill(21)
		stop := p.start()
		p.closeSeason(1)
		time.Sleep(5 * time.Second)
		p.wantWon(map[store.PlayerID][]string{
			"p001": {"gold", "top10"}, "p002": {"silver", "top10"}, "p003": {"silver", "top10"}, "p004": {},
		})
		inbox, err := p.Inbox(t.Context(), "p001", 0, 10)
		p.ok(err)
		for _, prize := range inbox.Prizes {
			if prize.Season != 1 || prize.Reward == "gold" && string(prize.Data) != `{"coins":5,"of":"<b>"}` {
				t.Errorf("got %+v with %s", prize, prize.Data)
			}
		}
		if s := p.season(1); !s.Paying || !s.Paid {
			t.Errorf("got %+v, want it paid", s)
		}
		activity, err := p.Activity(t.Context(), "demo", "p001", 1)
		if err != nil || activity[0].Kind != store.RewardReceived || activity[0].Rank != 1 || activity[0].Points != 21 {
			t.Errorf("got %+v, %v", activity, err)
		}
		if !p.quiet() {
			t.Errorf("something is left: %+v", p.counts())
		}
		stop()
	})
}

func TestRewardsWaitForTheirDelay(t *testing.T) {
	inPayBubble(t, func(t *testing.T, p paymaster) {
		late := silver
		late.Delay = 2 * time.Minute
		p.put(gold, late)
		p.fill(5)
		stop := p.start()
		p.closeSeason(1)
		time.Sleep(2*time.Minute - time.Second)
		p.wantWon(map[store.PlayerID][]string{"p001": {"gold"}, "p002": {}})
		if p.season(1).Paid {
			t.Error("the season is paid before its last payout")
		}
		time.Sleep(2 * time.Second)
		p.wantWon(map[store.PlayerID][]string{"p001": {"gold"}, "p002": {"silver"}})
		if !p.season(1).Paid {
			t.Error("the season is not paid")
		}
		stop()
	})
}

func TestBansAfterTheMarkMoveNobody(t *testing.T) {
	inPayBubble(t, func(t *testing.T, p paymaster) {
		late := silver
		late.Delay = 2 * time.Minute
		p.put(gold, late)
		p.fill(6)
		_, err := p.Ban(t.Context(), "demo", "p001", "before the close")
		p.ok(err)
		stop := p.start()
		p.closeSeason(1)
		time.Sleep(time.Minute)
		_, err = p.Ban(t.Context(), "demo", "p002", "after the mark")
		p.ok(err)
		_, err = p.Ban(t.Context(), "demo", "p003", "after the mark, and not paid yet")
		p.ok(err)
		_, err = p.ErasePlayer(t.Context(), "p002")
		p.ok(err)
		time.Sleep(2 * time.Minute)
		// Two was first, three and four are second and third.
		p.wantWon(map[store.PlayerID][]string{"p001": {}, "p003": {}, "p004": {"silver"}, "p005": {}})
		stop()
	})
}

// rules are stories of what is won during a season.
var reachStories = map[string]struct {
	rewards []store.Reward
	story   func(p paymaster)
	want    map[store.PlayerID][]string
}{
	"points are reached once": {
		[]store.Reward{{ID: "ten", Points: "10"}},
		func(p paymaster) {
			p.submit("a", "9")
			p.submit("b", "10")
			p.submit("b", "11")
		},
		map[store.PlayerID][]string{"a": {}, "b": {"ten"}},
	},
	"a place is reached once": {
		[]store.Reward{{ID: "king", ReachRank: 1}},
		func(p paymaster) {
			p.submit("a", "1")
			p.submit("b", "2")
			p.submit("a", "3")
		},
		map[store.PlayerID][]string{"a": {"king"}, "b": {"king"}},
	},
	"what is held is paid after its time": {
		[]store.Reward{{ID: "ten", Points: "10", Hold: time.Minute}},
		func(p paymaster) {
			p.submit("a", "10")
			time.Sleep(59 * time.Second)
			p.wantWon(map[store.PlayerID][]string{"a": {}})
			time.Sleep(2 * time.Second)
		},
		map[store.PlayerID][]string{"a": {"ten"}},
	},
	"who is pushed out before the time is not paid, and may reach it again": {
		[]store.Reward{{ID: "king", ReachRank: 1, Hold: time.Minute}},
		func(p paymaster) {
			p.submit("a", "10")
			time.Sleep(30 * time.Second)
			p.submit("b", "20")
			time.Sleep(10 * time.Second)
			p.submit("a", "30")
			time.Sleep(59 * time.Second)
			p.wantWon(map[store.PlayerID][]string{"a": {}, "b": {}})
			time.Sleep(2 * time.Second)
		},
		map[store.PlayerID][]string{"a": {"king"}, "b": {}},
	},
	"who was pushed out by somebody who then is banned is not paid for the time between": {
		[]store.Reward{{ID: "king", ReachRank: 1, Hold: time.Minute}},
		func(p paymaster) {
			p.submit("a", "10")
			p.submit("b", "20")
			_, err := p.Ban(p.t.Context(), "demo", "b", "")
			p.ok(err)
			time.Sleep(2 * time.Minute)
		},
		map[store.PlayerID][]string{"a": {}, "b": {}},
	},
	"who is banned when the time is over is not paid": {
		[]store.Reward{{ID: "ten", Points: "10", Hold: time.Minute}},
		func(p paymaster) {
			p.submit("a", "10")
			_, err := p.Ban(p.t.Context(), "demo", "a", "")
			p.ok(err)
			time.Sleep(2 * time.Minute)
		},
		map[store.PlayerID][]string{"a": {}},
	},
	"what is held at the close is paid then": {
		[]store.Reward{{ID: "king", ReachRank: 1, Hold: 3 * time.Minute}, {ID: "ten", Points: "10", Hold: 3 * time.Minute, Delay: time.Minute}},
		func(p paymaster) {
			p.submit("a", "10")
			p.submit("b", "20")
			p.closeSeason(1)
			time.Sleep(time.Second)
			p.wantWon(map[store.PlayerID][]string{"a": {}, "b": {"king"}})
			time.Sleep(4 * time.Minute)
			if !p.season(1).Paid {
				p.t.Error("the season is not paid")
			}
		},
		map[store.PlayerID][]string{"a": {"ten"}, "b": {"king", "ten"}},
	},
	"a season that paid all as it ran is paid at its close": {
		[]store.Reward{{ID: "ten", Points: "10"}},
		func(p paymaster) {
			p.submit("a", "10")
			p.closeSeason(1)
			if !p.season(1).Paid {
				p.t.Error("the season is not paid")
			}
			p.submit("a", "10")
		},
		map[store.PlayerID][]string{"a": {"ten", "ten"}},
	},
}

func TestWhatIsReachedDuringASeason(t *testing.T) {
	t.Parallel()
	for name, c := range reachStories {
		t.Run(name, func(t *testing.T) {
			inPayBubble(t, func(t *testing.T, p paymaster) {
				p.put(c.rewards...)
				stop := p.start()
				c.story(p)
				time.Sleep(3 * time.Second)
				p.wantWon(c.want)
				if !p.quiet() {
					t.Errorf("something is left: %+v", p.counts())
				}
				stop()
			})
		})
	}
}

func TestWhoFallsBelowMayReachItAgain(t *testing.T) {
	inPayBubble(t, func(t *testing.T, p paymaster) {
		p.putWith(func(s *store.Settings) {
			s.Policy = store.Last
			s.Rewards = []store.Reward{{ID: "ten", Points: "10", Hold: time.Minute}, {ID: "king", ReachRank: 1, Hold: time.Minute}}
		})
		stop := p.start()
		p.submit("b", "5")
		p.submit("a", "10")
		time.Sleep(30 * time.Second)
		p.submit("a", "3") // b moves up
		time.Sleep(59 * time.Second)
		p.wantWon(map[store.PlayerID][]string{"a": {}, "b": {}})
		time.Sleep(2 * time.Second)
		p.wantWon(map[store.PlayerID][]string{"a": {}, "b": {"king"}})
		p.submit("a", "11")
		time.Sleep(61 * time.Second)
		if got := p.won("a"); len(got) != 2 {
			t.Errorf("got %v, want both", got)
		}
		stop()
	})
}

func TestLowIsBetterForRewardsToo(t *testing.T) {
	inPayBubble(t, func(t *testing.T, p paymaster) {
		p.putWith(func(s *store.Settings) {
			s.Order, s.Decimals = store.Asc, 2
			s.Rewards = []store.Reward{{ID: "fast", Points: "10.5"}, {ID: "steady", Points: "10.5", Hold: time.Minute}, gold}
		})
		stop := p.start()
		p.submit("a", "10.51")
		p.submit("b", "10.50")
		time.Sleep(2 * time.Minute)
		p.closeSeason(1)
		time.Sleep(2 * time.Second)
		p.wantWon(map[store.PlayerID][]string{"a": {}, "b": {"fast", "gold", "steady"}})
		stop()
	})
}

func TestTiesGoByExactRank(t *testing.T) {
	inPayBubble(t, func(t *testing.T, p paymaster) {
		p.put(gold, top10)
		for _, player := range []store.PlayerID{"zoe", "adam", "émile"} {
			p.submit(player, "100")
		}
		stop := p.start()
		p.closeSeason(1)
		time.Sleep(2 * time.Second)
		p.wantWon(map[store.PlayerID][]string{"zoe": {"gold", "top10"}, "adam": {}, "émile": {}})
		stop()
	})
}

// TestWinnersWithOnePackedScore gives many players the same slot, as backdated scores have: a page ends among them.
func TestWinnersWithOnePackedScoreArePaidOnce(t *testing.T) {
	inPayBubble(t, func(t *testing.T, p paymaster) {
		half := store.Reward{ID: "half", Percent: 50}
		p.put(half)
		at := time.Now()
		time.Sleep(time.Minute)
		points, err := store.ParseDecimal("points", "5")
		p.ok(err)
		for start := 0; start < 600; start += 100 {
			var batch []store.Submission
			for i := range 100 {
				batch = append(batch, store.Submission{Player: numbered(start + i), Points: points, AchievedAt: at.Add(time.Second)})
			}
			_, _, err := p.SubmitBatch(t.Context(), "demo", batch, store.Once{})
			p.ok(err)
		}
		page, err := p.Top(t.Context(), store.Look{Board: "demo"}, 0, 600)
		p.ok(err)
		stop := p.start()
		p.closeSeason(1)
		time.Sleep(5 * time.Second)
		for i, e := range page.Entries {
			want := 0
			if i < 300 {
				want = 1
			}
			if got := len(p.won(e.Player)); got != want {
				t.Errorf("%s at place %d got %d rewards, want %d", e.Player, i+1, got, want)
			}
		}
		stop()
	})
}

func TestAReopenedSeasonPaysWhenItIsClosedAgain(t *testing.T) {
	inPayBubble(t, func(t *testing.T, p paymaster) {
		late := gold
		late.Delay = time.Minute
		p.put(late, store.Reward{ID: "ten", Points: "10", Hold: time.Hour})
		p.submit("a", "5")
		stop := p.start()
		p.closeSeason(1)
		_, err := p.ReopenSeason(t.Context(), "demo", 1)
		p.ok(err)
		p.submit("b", "6")
		time.Sleep(2 * time.Minute)
		p.wantWon(map[store.PlayerID][]string{"a": {}, "b": {}})
		p.closeSeason(1)
		time.Sleep(2 * time.Minute)
		p.wantWon(map[store.PlayerID][]string{"a": {}, "b": {"gold"}})
		if _, err := p.ReopenSeason(t.Context(), "demo", 1); err == nil {
			t.Error("a season that is paid was reopened")
		}
		stop()
	})
}

func TestWebhooksTellOfRewardsAndCloses(t *testing.T) {
	inPayBubble(t, func(t *testing.T, p paymaster) {
		p.putWith(func(s *store.Settings) {
			s.Rewards = []store.Reward{gold}
			s.Webhook = &store.Webhook{URL: "http://192.0.2.1/", Secret: secret}
		})
		p.submit("a", "5")
		stop := p.start()
		p.closeSeason(1)
		time.Sleep(2 * time.Second)
		p.ok(p.outbox.Beat(t.Context(), "test"))
		var got []string
		for range 2 {
			parcel, ok, err := p.outbox.Take(t.Context(), "test", time.Second)
			if err != nil || !ok {
				t.Fatalf("no event: %v", err)
			}
			got = append(got, parcel.Event.ID+" "+string(parcel.Event.Data))
		}
		slices.Sort(got)
		if !strings.HasPrefix(got[0], `reward demo.1.1.1 gold a {"player":"a","reward":"gold","title":"gold","points":5,"rank":1,"data":null}`) ||
			!strings.HasPrefix(got[1], `season_closed demo.1.1.1 {"started_at":"`) || !strings.HasSuffix(got[1], `"total":1,"reason":"by hand"}`) {
			t.Errorf("got %q", got)
		}
		stop()
	})
}

func TestAPayoutPausesWhileEnoughOfItWaits(t *testing.T) {
	inPayBubble(t, func(t *testing.T, p paymaster) {
		var jobs []store.Job
		for i := range store.MaxPayoutWait {
			jobs = append(jobs, store.Job{ID: fmt.Sprint(i), Kind: store.RewardJob, Payload: []byte(`{}`)})
		}
		p.add(jobs...)
		handler := worker.PayOut(p.Store)
		p.put(gold)
		p.submit("a", "5")
		p.closeSeason(1)
		payload, err := json.Marshal(store.Payout{Board: "demo", Incarnation: 1, Season: 1, Close: 1, Reward: "gold"})
		p.ok(err)
		err = handler(t.Context(), store.Delivery{Job: store.Job{Kind: store.PayoutJob, Payload: payload}})
		if err == nil || !strings.Contains(err.Error(), "goes on in") {
			t.Errorf("got %v, want a pause", err)
		}
		if c := p.counts(); c.Ready != store.MaxPayoutWait {
			t.Errorf("%d wait, want no more than before", c.Ready)
		}
		p.add(store.Job{ID: "low", Kind: store.RewardJob, Priority: 9})
		if n, err := p.WaitingJobs(t.Context(), 0); n != store.MaxPayoutWait || err != nil {
			t.Errorf("%d (%v) come first, want those of its own priority only", n, err)
		}
		synctest.Wait()
	})
}

func TestASeasonPaysOnEveryKindOfRedis(t *testing.T) {
	t.Parallel()
	cluster := storetest.Cluster(t)
	for name, client := range map[string]redis.UniversalClient{"alone": storetest.Redis(t), "cluster": cluster.Client(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			prefix := storetest.Prefix(t)
			p := newPaymaster(bench{redisstore.New(client, redisstore.Options{Prefix: prefix}), t, client, prefix})
			const many = 700
			p.put(gold, store.Reward{ID: "most", Percent: 60, Delay: 300 * time.Millisecond},
				store.Reward{ID: "five", Points: "5", Hold: 100 * time.Millisecond}, store.Reward{ID: "king", ReachRank: 1, Hold: time.Hour})
			stop := p.start()
			p.fill(many)
			eventually(t, 30*time.Second, "what was held is paid", func() bool { return len(p.won("p001")) == 1 })
			p.closeSeason(1)
			eventually(t, 30*time.Second, "the season is paid", func() bool { return p.season(1).Paid })
			eventually(t, 30*time.Second, "all is brought", func() bool {
				c := p.counts()
				return c.Ready+c.Running == 0
			})
			stop()
			for i := 1; i <= many; i++ {
				var want []string
				if i <= many-4 {
					want = append(want, "five")
				}
				if i == 1 {
					want = append(want, "gold", "king")
				}
				if i <= many*60/100 {
					want = append(want, "most")
				}
				if got := p.won(numbered(i)); !slices.Equal(got, want) {
					t.Errorf("%s got %v, want %v", numbered(i), got, want)
				}
			}
			if c := p.counts(); c.Dead > 0 {
				t.Errorf("dead are %v", p.dead())
			}
		})
	}
}

func TestASeasonThatNobodyPlayedIsPaid(t *testing.T) {
	inPayBubble(t, func(t *testing.T, p paymaster) {
		p.put(gold, top10)
		stop := p.start()
		p.closeSeason(1)
		time.Sleep(2 * time.Second)
		if !p.season(1).Paid || !p.quiet() {
			t.Errorf("got %+v, %+v", p.season(1), p.counts())
		}
		stop()
	})
}

func TestAPayoutOfABoardThatIsGoneEndsSilently(t *testing.T) {
	inPayBubble(t, func(t *testing.T, p paymaster) {
		late := gold
		late.Delay = time.Minute
		p.put(late, store.Reward{ID: "king", ReachRank: 1, Hold: time.Minute})
		p.submit("a", "5")
		stop := p.start()
		p.closeSeason(1)
		time.Sleep(10 * time.Second)
		p.ok(p.DeleteBoard(t.Context(), "demo"))
		p.put(gold)
		time.Sleep(2 * time.Minute)
		p.wantWon(map[store.PlayerID][]string{"a": {"king"}})
		if c := p.counts(); c.Dead+c.Scheduled+c.Ready+c.Running > 0 {
			t.Errorf("something is left: %+v", c)
		}
		stop()
	})
}

func TestWhatABoardOwesThatIsNoneOfOursEndsAmongTheDead(t *testing.T) {
	inPayBubble(t, func(t *testing.T, p paymaster) {
		p.put(store.Reward{ID: "ten", Points: "10"})
		p.ok(p.client.HSet(t.Context(), p.prefix+":{demo.1}:owed", "x", `{`, "y", `{"kind":"NO"}`, "z", `{"kind":"reward","payload":[]}`).Err())
		stop := p.start()
		p.submit("a", "10")
		time.Sleep(time.Minute)
		p.wantWon(map[store.PlayerID][]string{"a": {"ten"}})
		if dead := p.dead(); len(dead) != 3 {
			t.Errorf("dead are %v, want three", dead)
		}
		stop()
	})
}

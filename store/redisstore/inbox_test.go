package redisstore_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"leaderboard/store"
	"leaderboard/store/storetest"
)

var inboxRules = map[string]func(q queueOn){
	"a job delivers once, however often it runs":                aJobDeliversOnce,
	"pages go from the newest to the oldest":                    inboxPagesGoFromTheNewestToTheOldest,
	"a prize is claimed once, by however many at once":          aPrizeIsClaimedOnce,
	"unclaimed prizes are never trimmed":                        unclaimedPrizesAreNeverTrimmed,
	"marks outlive dead jobs and then go":                       marksOutliveDeadJobsAndThenGo,
	"players with odd ids have inboxes of their own":            playersWithOddIDsHaveInboxesOfTheirOwn,
	"every process hears of what arrives and is claimed":        everyProcessHearsOfPrizes,
	"an inbox that never got anything is an empty one":          anInboxThatNeverGotAnythingIsEmpty,
	"a prize that is not there can be neither read nor claimed": aPrizeThatIsNotThere,
}

func TestTheInboxOnRedis(t *testing.T) {
	t.Parallel()
	checkRules(t, inboxRules, func(t *testing.T) redis.UniversalClient { return storetest.Redis(t) })
}

func TestTheInboxOnTheEmbeddedRedis(t *testing.T) {
	t.Parallel()
	checkRules(t, inboxRules, func(t *testing.T) redis.UniversalClient { return storetest.Embedded(t) })
}

func TestTheInboxOnACluster(t *testing.T) {
	t.Parallel()
	server := storetest.Cluster(t)
	checkRules(t, inboxRules, func(t *testing.T) redis.UniversalClient { return server.Client(t) })
}

func deliveredTo(player store.PlayerID, job string) store.Delivered {
	return store.Delivered{Player: player, Job: job, Prize: store.Prize{
		Board: "demo", Season: 3, Reward: "gold", Title: "Gold chest", Data: json.RawMessage(`{"coins":5,"of":"<b>"}`),
	}}
}

func (q queueOn) deliver(d store.Delivered) bool {
	q.t.Helper()
	fresh, err := q.Deliver(q.t.Context(), d)
	if err != nil {
		q.t.Fatal(err)
	}
	return fresh
}

func (q queueOn) inbox(player store.PlayerID, after int64, limit int) store.Inbox {
	q.t.Helper()
	inbox, err := q.Inbox(q.t.Context(), player, after, limit)
	if err != nil {
		q.t.Fatal(err)
	}
	return inbox
}

func aJobDeliversOnce(q queueOn) {
	var runs sync.WaitGroup
	for range 20 {
		runs.Go(func() { q.deliver(deliveredTo("zoe", "job 1")) })
	}
	runs.Wait()
	want := deliveredTo("zoe", "").Prize
	want.ID, want.At = 1, q.clock.Now()
	got := q.inbox("zoe", 0, 10)
	if diff := gocmp.Diff(store.Inbox{Prizes: []store.Prize{want}, Unclaimed: 1}, got); diff != "" {
		q.t.Errorf("want −, got +\n%s", diff)
	}
	if !q.deliver(deliveredTo("zoe", "job 2")) || q.deliver(deliveredTo("zoe", "job 2")) {
		q.t.Error("another job delivers once too")
	}
}

func inboxPagesGoFromTheNewestToTheOldest(q queueOn) {
	for i := range 25 {
		q.deliver(deliveredTo("zoe", fmt.Sprint(i)))
	}
	var ids []int64
	for after := int64(0); ; {
		page := q.inbox("zoe", after, 10)
		for _, p := range page.Prizes {
			ids = append(ids, p.ID)
		}
		if len(ids) == 10 { // what arrives meanwhile moves nothing
			q.deliver(deliveredTo("zoe", "meanwhile"))
		}
		if after = page.Next; after == 0 {
			break
		}
	}
	for i, id := range ids {
		if id != int64(25-i) {
			q.t.Fatalf("got %v, want 25 down to 1", ids)
		}
	}
	if len(ids) != 25 {
		q.t.Errorf("got %d prizes, want 25", len(ids))
	}
}

func aPrizeIsClaimedOnce(q queueOn) {
	q.deliver(deliveredTo("zoe", "a"))
	q.deliver(deliveredTo("zoe", "b"))
	first, err := q.ClaimPrize(q.t.Context(), "zoe", 1)
	q.ok(err)
	if !first.ClaimedAt.Equal(q.clock.Now()) {
		q.t.Errorf("claimed at %v, want %v", first.ClaimedAt, q.clock.Now())
	}
	q.clock.Step(time.Hour)
	var claims sync.WaitGroup
	for range 10 {
		claims.Go(func() {
			again, err := q.ClaimPrize(q.t.Context(), "zoe", 1)
			if diff := gocmp.Diff(first, again); err != nil || diff != "" {
				q.t.Errorf("%v; want −, got +\n%s", err, diff)
			}
		})
	}
	claims.Wait()
	if inbox := q.inbox("zoe", 0, 10); inbox.Unclaimed != 1 || !inbox.Prizes[0].ClaimedAt.IsZero() {
		q.t.Errorf("got %+v, want the other one unclaimed", inbox)
	}
}

func unclaimedPrizesAreNeverTrimmed(q queueOn) {
	const unclaimed, more = 30, 20
	for i := range store.MaxClaimedKept + unclaimed + more {
		q.deliver(deliveredTo("zoe", fmt.Sprint(i)))
	}
	for id := range store.MaxClaimedKept + more { // the oldest 30 stay unclaimed
		q.clock.Step(time.Millisecond)
		q.ok(errOf(q.ClaimPrize(q.t.Context(), "zoe", int64(unclaimed+id+1))))
	}
	counts := map[bool]int{}
	for after := int64(0); ; {
		page := q.inbox("zoe", after, 1000)
		if len(page.Prizes) > store.MaxInboxPage || page.Unclaimed != unclaimed {
			q.t.Fatalf("a page of %d prizes, %d unclaimed", len(page.Prizes), page.Unclaimed)
		}
		for _, p := range page.Prizes {
			counts[!p.ClaimedAt.IsZero()]++
		}
		if after = page.Next; after == 0 {
			break
		}
	}
	if counts[true] != store.MaxClaimedKept || counts[false] != unclaimed {
		q.t.Errorf("%d claimed and %d unclaimed, want %d and %d", counts[true], counts[false], store.MaxClaimedKept, unclaimed)
	}
	if _, err := q.ClaimPrize(q.t.Context(), "zoe", unclaimed+1); !errors.Is(err, store.ErrRewardNotFound) {
		q.t.Errorf("the one claimed first is still there: %v", err)
	}
	if !q.deliver(deliveredTo("zoe", "new")) || q.inbox("zoe", 0, 1).Prizes[0].ID != store.MaxClaimedKept+unclaimed+more+1 {
		q.t.Error("a new prize takes a number that was used before")
	}
}

func marksOutliveDeadJobsAndThenGo(q queueOn) {
	q.deliver(deliveredTo("zoe", "short"))
	long := deliveredTo("zoe", "long")
	long.Keep = 100 * 24 * time.Hour
	q.deliver(long)
	q.clock.Step(store.DeadJobsKept + time.Hour)
	if q.deliver(deliveredTo("zoe", "short")) {
		q.t.Error("the mark is gone while a dead job may still be retried")
	}
	q.clock.Step(30 * 24 * time.Hour)
	q.deliver(deliveredTo("zoe", "other"))
	marks, err := q.client.ZRange(q.t.Context(), q.prefix+":{p:zoe}:effects", 0, -1).Result()
	if diff := gocmp.Diff([]string{"other", "long"}, marks); err != nil || diff != "" {
		q.t.Errorf("%v; marks: want −, got +\n%s", err, diff)
	}
	ttl, err := q.client.PTTL(q.t.Context(), q.prefix+":{p:zoe}:effects").Result()
	if err != nil || ttl <= 0 {
		q.t.Errorf("the marks stay for ever: %v (%v)", ttl, err)
	}
}

func playersWithOddIDsHaveInboxesOfTheirOwn(q queueOn) {
	players := []store.PlayerID{"a", "a:inbox", "{a}", "}{", "*", "a b", "שלום", "🏆", "a}:inbox", "%7Ba%7D"}
	for i, player := range players {
		for n := range i + 1 {
			q.deliver(deliveredTo(player, fmt.Sprint(n)))
		}
	}
	for i, player := range players {
		if got := q.inbox(player, 0, 100); len(got.Prizes) != i+1 {
			q.t.Errorf("%q has %d prizes, want %d", player, len(got.Prizes), i+1)
		}
	}
}

func everyProcessHearsOfPrizes(q queueOn) {
	ctx, cancel := context.WithCancel(q.t.Context())
	var listening sync.WaitGroup
	defer listening.Wait()
	defer cancel()
	gaps, news := make(chan struct{}, 10), make(chan store.PlayerNews, 10)
	listening.Go(func() {
		q.ListenForPlayers(ctx, func(n store.PlayerNews) { news <- n }, func() { gaps <- struct{}{} })
	})
	next(q.t, gaps)
	player := store.PlayerID("two  words")
	q.deliver(deliveredTo(player, "a"))
	q.deliver(deliveredTo(player, "a"))
	q.ok(errOf(q.ClaimPrize(q.t.Context(), player, 1)))
	q.ok(errOf(q.ClaimPrize(q.t.Context(), player, 1)))
	q.deliver(deliveredTo(player, "b"))
	for _, want := range []store.PlayerNews{
		{Player: player, What: store.NewsReward, Prize: 1},
		{Player: player, What: store.NewsClaimed, Prize: 1},
		{Player: player, What: store.NewsReward, Prize: 2},
	} {
		if got := next(q.t, news); got != want {
			q.t.Errorf("heard %+v, want %+v", got, want)
		}
	}
}

func anInboxThatNeverGotAnythingIsEmpty(q queueOn) {
	if got := q.inbox("nobody", 0, 10); got.Prizes == nil || len(got.Prizes) != 0 || got.Unclaimed != 0 || got.Next != 0 {
		q.t.Errorf("got %+v", got)
	}
}

func aPrizeThatIsNotThere(q queueOn) {
	q.deliver(deliveredTo("zoe", "a"))
	prize, unclaimed, err := q.Prize(q.t.Context(), "zoe", 1)
	if err != nil || prize.Title != "Gold chest" || unclaimed != 1 {
		q.t.Errorf("got %+v, %d unclaimed (%v)", prize, unclaimed, err)
	}
	for _, id := range []int64{0, -1, 2, 1 << 62} {
		if _, _, err := q.Prize(q.t.Context(), "zoe", id); !errors.Is(err, store.ErrRewardNotFound) {
			q.t.Errorf("read %d: %v", id, err)
		}
		if _, err := q.ClaimPrize(q.t.Context(), "zoe", id); !errors.Is(err, store.ErrRewardNotFound) {
			q.t.Errorf("claim %d: %v", id, err)
		}
	}
	if _, err := q.ClaimPrize(q.t.Context(), "adam", 1); !errors.Is(err, store.ErrRewardNotFound) {
		q.t.Errorf("claimed another's prize: %v", err)
	}
}

package live

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard/store"
)

// prizes are an inbox that has every prize of everybody but number 13.
type prizes struct{ gate chan struct{} }

func (p prizes) Prize(_ context.Context, player store.PlayerID, id int64) (store.Prize, int64, error) {
	if p.gate != nil {
		<-p.gate
	}
	if id == 13 {
		return store.Prize{}, 0, store.ErrRewardNotFound
	}
	if id == 666 {
		panic("boom")
	}
	prize := store.Prize{
		ID: id, Board: "demo", Season: 3, Reward: "gold", Title: "Gold for " + string(player), Data: []byte(`{"coins":5}`),
		At: time.UnixMilli(1).UTC(),
	}
	if id%2 == 0 {
		prize.Data, prize.ClaimedAt = nil, time.UnixMilli(2000).UTC()
	}
	return prize, id + 1, nil
}

func TestRewardsReachOnlyTheSocketsOfTheirPlayer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		l.put("demo", 50, 40)
		l.put("other", 50, 40)
		h := newTestHub(t, l, Options{Inbox: prizes{}})
		mine, elsewhere := watchBoard(t, h, "demo", 2), watchBoard(t, h, "other", 2)
		public, another, nobody := watchBoard(t, h, "demo", 2), watchBoard(t, h, "demo", 2), watchBoard(t, h, "demo", 2)
		h.watchPlayer(mine.reader, "me", true)
		h.watchPlayer(elsewhere.reader, "me", true)
		h.watchPlayer(public.reader, "me", false)
		h.watchPlayer(another.reader, "you", true)
		for _, id := range []int64{1, 13, 666, 2} {
			h.News(store.PlayerNews{Player: "me", What: store.NewsReward, Prize: id})
			synctest.Wait()
		}
		h.News(store.PlayerNews{Player: "stranger", What: store.NewsReward, Prize: 1})
		synctest.Wait()
		want := []string{
			`{"type":"reward","id":1,"board":"demo","season":3,"reward":"gold","title":"Gold for me","data":{"coins":5},"at":"1970-01-01T00:00:00.001Z","claimed_at":null,"unclaimed":2}`,
			`{"type":"reward","id":2,"board":"demo","season":3,"reward":"gold","title":"Gold for me","data":null,"at":"1970-01-01T00:00:00.001Z","claimed_at":"1970-01-01T00:00:02Z","unclaimed":3}`,
		}
		for _, w := range []watcherOf{mine, elsewhere} {
			if got := strings.Join(w.client(t).Rewards, "\n"); got != strings.Join(want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
			}
		}
		for _, w := range []watcherOf{public, another, nobody} {
			if got := w.client(t).Rewards; len(got) > 0 {
				t.Errorf("somebody else got %s", got)
			}
		}
		h.leave(mine.reader)
		h.leave(elsewhere.reader)
		if h.News(store.PlayerNews{Player: "me", Prize: 1}); h.mail.works {
			t.Error("a reward is read for nobody")
		}
		if len(h.mail.owners) != 1 {
			t.Errorf("%d players have sockets, want 1", len(h.mail.owners))
		}
	})
}

func TestARewardIsToldAsActivityOfItsBoard(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		l.put("demo", 50, 40)
		h := newTestHub(t, l, Options{Inbox: prizes{}})
		mine, public := watchBoard(t, h, "demo", 2), watchBoard(t, h, "demo", 2)
		h.watchPlayer(mine.reader, "me", true)
		h.watchPlayer(public.reader, "me", false)
		time.Sleep(2 * time.Second)
		l.set(func() {
			l.activity["me"] = []store.Activity{{At: time.UnixMilli(5).UTC(), Kind: store.RewardReceived, Points: 40, Rank: 2}}
		})
		h.News(store.PlayerNews{Player: "me", What: store.NewsClaimed, Prize: 2})
		time.Sleep(2 * time.Second)
		if got := mine.client(t).Items; len(got) != 0 {
			t.Errorf("a claim is told as %s", got)
		}
		h.News(store.PlayerNews{Player: "me", What: store.NewsReward, Prize: 1})
		time.Sleep(2 * time.Second)
		if got := mine.client(t).Items; len(got) != 1 || !strings.Contains(string(got[0]), `"kind":"reward"`) {
			t.Errorf("got %s, want the reward", got)
		}
		if got := public.client(t).Items; len(got) != 0 {
			t.Errorf("somebody without the token was told %s", got)
		}
	})
}

func TestRewardsThatWaitAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLedger()
		l.put("demo", 50)
		gate := make(chan struct{})
		h := newTestHub(t, l, Options{Inbox: prizes{gate}})
		w := watchBoard(t, h, "demo", 2)
		h.watchPlayer(w.reader, "me", true)
		for i := range int64(5000) {
			h.News(store.PlayerNews{Player: "me", Prize: 1001 + 2*i})
		}
		h.mail.mu.Lock()
		waiting := len(h.mail.queue)
		h.mail.mu.Unlock()
		if waiting != maxMail {
			t.Errorf("%d rewards wait, want %d", waiting, maxMail)
		}
		close(gate)
		time.Sleep(time.Second)
		rewards := w.client(t).Rewards
		if last := rewards[len(rewards)-1]; !strings.Contains(last, fmt.Sprint(`"id":`, 1001+2*4999)) {
			t.Errorf("the last reward is %s, want the newest", last)
		}
	})
}

package main

import (
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"leaderboard/store"
	"leaderboard/store/redisstore"
	"leaderboard/store/storetest"
)

// rewarding is a server, and the store behind it, through which a test plays the worker that brings rewards.
type rewarding struct {
	*process
	store *redisstore.Store
}

func withRewards(t *testing.T) *rewarding {
	t.Helper()
	address, prefix := storetest.URL(t), storetest.Prefix(t)
	client, err := redisstore.Open(t.Context(), address, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	server := serving(t, "--redis-url="+address, "--key-prefix="+prefix)
	return &rewarding{server, redisstore.New(client, redisstore.Options{Prefix: prefix})}
}

// bring puts a reward into an inbox, as a worker does.
func (r *rewarding) bring(t *testing.T, player store.PlayerID, title string) {
	t.Helper()
	_, err := r.store.Deliver(t.Context(), store.Delivered{
		Player: player, Job: title, Prize: store.Prize{Board: "cup", Season: 1, Reward: "gold", Title: title},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// token returns a token as a game gets it.
func (p *process) token(t *testing.T, player string) string {
	t.Helper()
	var reply struct {
		Token string `json:"token"`
	}
	p.call(t, http.StatusOK, "POST", "/players/"+player+"/token", "", &reply)
	return reply.Token
}

// become makes the tab's browser a player's, as a page of a game does it, and goes to a path.
func (b *tab) become(token, path string) {
	b.t.Helper()
	body := js(map[string]string{"token": token})
	if status := ask[int](b, `fetch("/api/v1/me", {
		method: "POST", headers: {"Content-Type": "application/json"}, body: `+js(body)+`,
	}).then(reply => reply.status)`); status != http.StatusNoContent {
		b.t.Fatalf("POST /me answers %d", status)
	}
	b.visit(path)
	if cookies := ask[string](b, "document.cookie"); strings.Contains(cookies, "player") {
		b.t.Errorf("scripts see the cookies %q", cookies)
	}
}

// owns waits until the tab hears of its player's rewards: by then a first look at the inbox has followed.
func (b *tab) owns() {
	b.t.Helper()
	b.until("the socket is the player's", `performance.getEntriesByName(location.origin + "/api/v1/me/inbox?limit=20").length > 0`)
}

const bellCount = `[document.querySelector("#bell-count")].filter(count => !count.hidden).map(count => count.textContent).join()`

// untilRings waits until the bell says how many rewards wait; "" is none.
func (b *tab) untilRings(count string) {
	b.t.Helper()
	b.until("the bell says "+count, bellCount+" === "+js(count))
}

func TestARewardReachesOpenPagesWithinASecondAndIsClaimedOnceFromTwoTabs(t *testing.T) {
	t.Parallel()
	server := withRewards(t)
	server.board(t, "cup", `{}`)
	server.post(t, "cup", "ada", "Ada", "100")
	token := server.token(t, "ada")
	one, two := server.open(t, "/b/cup"), server.open(t, "/b/cup", phone)
	stranger := server.open(t, "/b/cup")
	for _, b := range []*tab{one, two} {
		b.become(token, "/b/cup?player=ada")
		b.owns()
		b.untilRings("")
	}
	var took []time.Duration
	for i := range 5 {
		began := time.Now()
		server.bring(t, "ada", fmt.Sprintf("<b>Chest</b> %d", i+1))
		one.untilRings(fmt.Sprint(i + 1))
		took = append(took, time.Since(began))
		one.until("the reward is shown", `!document.querySelector("#toast").hidden &&
			document.querySelector("#toast .prize-title").textContent === `+js(fmt.Sprintf("<b>Chest</b> %d", i+1)))
		two.untilRings(fmt.Sprint(i + 1))
	}
	slices.Sort(took)
	if took[len(took)/2] > time.Second {
		t.Errorf("rewards were shown after %v, want within a second", took)
	}

	// Both press at the same moment, by the page's own clock.
	at := time.Now().Add(500 * time.Millisecond).UnixMilli()
	press := fmt.Sprintf(`new Promise(pressed => setTimeout(() => {
		document.querySelector("#toast button").click();
		pressed(true);
	}, %d - Date.now()))`, at)
	done := make(chan error, 1)
	go func() {
		_, err := tryAsk[bool](two, press)
		done <- err
	}()
	ask[bool](one, press)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	for _, b := range []*tab{one, two} {
		b.untilRings("4")
		b.until("the reward is greyed", `document.querySelector("#toast .prize.claimed .prize-claimed:not([hidden])")`)
	}

	// In the drawer it stays, greyed; another is claimed there, and greys in the other tab.
	for _, b := range []*tab{one, two} {
		b.do(chromedp.Click("#bell"))
		b.until("the drawer shows all", `document.querySelector("#drawer").open && document.querySelectorAll("#drawer .prize").length === 5`)
	}
	claimed := `[...document.querySelectorAll("#drawer .prize.claimed")].map(prize => prize.dataset.prize).join()`
	one.until("the claimed one is greyed", claimed+` === "5"`)
	one.do(chromedp.Click(`#drawer .prize:not(.claimed) button`))
	for _, b := range []*tab{one, two} {
		b.until("two are greyed", claimed+` === "5,4"`)
		b.untilRings("3")
	}
	one.visit("/inbox")
	one.until("both are greyed on the page", `document.querySelectorAll("main .prize.claimed").length === 2`)
	if got := stranger.text("header nav"); ask[bool](stranger, `document.querySelector("#bell") !== null`) {
		t.Errorf("whom nobody knows sees a bell: %q", got)
	}
}

func TestASeasonClosesAndTheWinnersOpenPageShowsTheReward(t *testing.T) {
	t.Parallel()
	server := serving(t, storeFlags(t)...)
	const delay = time.Second
	server.board(t, "cup", `{"rewards":[
		{"id":"gold","title":"Gold chest","ranks":[1,1],"delay":"`+delay.String()+`","data":{"coins":500}},
		{"id":"silver","title":"Silver chest","ranks":[2,2],"delay":"`+delay.String()+`"}
	]}`)
	winner, third := server.open(t, "/b/cup"), server.open(t, "/b/cup")
	winner.become(server.token(t, "ada"), "/b/cup?player=ada")
	third.become(server.token(t, "cy"), "/b/cup?player=cy")
	for _, b := range []*tab{winner, third} {
		b.owns()
		b.untilRings("")
	}
	// A machine that is busy with other tests may stumble, but not most of the time.
	var late []time.Duration
	for season := 1; season <= 3; season++ {
		server.post(t, "cup", "ada", "Ada", "200")
		server.post(t, "cup", "bo", "Bo", "100")
		server.post(t, "cup", "cy", "Cy", "50")
		closing := time.Now()
		server.call(t, http.StatusOK, "POST", "/boards/cup/seasons/close", fmt.Sprintf(`{"season":%d}`, season), nil)
		winner.untilRings(fmt.Sprint(season))
		shown := time.Since(closing) - delay
		if shown < 0 {
			t.Errorf("the reward of season %d was shown %v before its time", season, -shown)
		}
		late = append(late, shown)
	}
	slices.Sort(late)
	if late[1] > time.Second {
		t.Errorf("rewards were shown %v after their time, want within a second", late)
	}
	winner.until("the reward is shown", `document.querySelector("#toast .prize-title")?.textContent === "Gold chest"`)
	winner.do(chromedp.Click("#toast button"))
	winner.untilRings("2")
	winner.until("the reward is greyed", `document.querySelector("#toast .prize.claimed")`)
	third.untilRings("")
	if got := third.text("#toast"); got != "" {
		t.Errorf("who won nothing is shown %q", got)
	}
}

func TestTheInboxIsWholeWithoutAScript(t *testing.T) {
	t.Parallel()
	server := withRewards(t)
	server.board(t, "cup", `{}`)
	server.bring(t, "ada", "<img src=x onerror=alert(1)>")
	server.bring(t, "ada", "Gold chest")
	b := server.open(t, "/inbox", scriptless, phone)
	b.fill("#token", server.token(t, "ada"))
	b.press("Open")
	b.until("both are shown", `document.querySelectorAll(".prize").length === 2`)
	if got := b.text(".prize:last-child .prize-title"); got != "<img src=x onerror=alert(1)>" {
		t.Errorf("got the title %q", got)
	}
	b.do(chromedp.Click(".prize:last-child button"))
	b.until("it is claimed", `document.querySelectorAll(".prize.claimed").length === 1`)
	b.untilRings("1")
	if wide := ask[bool](b, "document.documentElement.scrollWidth > innerWidth"); wide {
		t.Error("the page is wider than a phone")
	}
	b.press("This is not me")
	b.until("the door is shown", `document.querySelector("#token")`)
}

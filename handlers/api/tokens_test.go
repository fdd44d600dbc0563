package api_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"leaderboard/store"
	"leaderboard/store/redisstore"
	"leaderboard/store/storetest"
	"leaderboard/web"
	"leaderboard/web/live"
)

func TestATokenMakesABrowserThatPlayerForADay(t *testing.T) {
	t.Parallel()
	signer, err := live.NewPlayerTokens(time.Now, []byte(live.NewTokenKey()))
	if err != nil {
		t.Fatal(err)
	}
	kept := redisstore.New(storetest.Redis(t), redisstore.Options{Prefix: storetest.Prefix(t)})
	s := newServerOn(t, kept, func(d *web.Deps) { d.Signer = signer })
	for _, player := range []string{"mira", "玩家", "a/b c%", "Ива\u0301н"} {
		var token struct {
			Token     string
			ExpiresAt time.Time `json:"expires_at"`
		}
		r := do(t, s, "POST", "/api/v1/players/"+url.PathEscape(player)+"/token", "").want(t, 200)
		r.into(t, &token)
		got, expires, err := signer.Player(token.Token)
		want, _ := store.ParsePlayerID(player)
		if err != nil || got != want || !expires.Equal(token.ExpiresAt) {
			t.Errorf("the token is of %q until %v (%v), want %q until %v", got, expires, err, want, token.ExpiresAt)
		}
		if left := time.Until(token.ExpiresAt); left < 24*time.Hour-10*time.Second || left > 24*time.Hour {
			t.Errorf("the token is good for %v, want a day", left)
		}
		if r.header.Get("Cache-Control") != "no-store" {
			t.Errorf("a token may be kept on its way: %v", r.header)
		}
	}
	for _, player := range []string{"%00", "%20a", "%ff", "%zz", strings.Repeat("a", 129)} {
		do(t, s, "POST", "/api/v1/players/"+player+"/token", "").refused(t, 422, "invalid", "player")
	}
	// A token is good on all boards, so a key for some of them cannot have it signed.
	do(t, s, "POST", "/api/v1/players/mira/token", "", "Authorization: Bearer "+demoKey).refused(t, 403, "forbidden", "")
}

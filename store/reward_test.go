package store

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

// gold is a reward that is right.
func gold(change func(*Reward)) Reward {
	reward := Reward{ID: "gold", Title: "Gold chest", Ranks: []int64{1, 1}}
	change(&reward)
	return reward
}

// byRule is a right reward with another rule than ranks.
func byRule(change func(*Reward)) Reward {
	return gold(func(r *Reward) {
		r.Ranks = nil
		change(r)
	})
}

func TestRewardsAreTakenUpToTheirBounds(t *testing.T) {
	t.Parallel()
	for name, reward := range map[string]Reward{
		"the winner":             gold(func(*Reward) {}),
		"a run of places":        gold(func(r *Reward) { r.Ranks = []int64{2, math.MaxInt64} }),
		"a share":                byRule(func(r *Reward) { r.Percent = 0.1 }),
		"everybody":              byRule(func(r *Reward) { r.Percent = 100 }),
		"points":                 byRule(func(r *Reward) { r.Points = "1e6" }),
		"points with decimals":   byRule(func(r *Reward) { r.Points = "-12.50" }),
		"zero points":            byRule(func(r *Reward) { r.Points = "0" }),
		"a place held for a day": byRule(func(r *Reward) { r.ReachRank, r.Hold = 1, 24*time.Hour }),
		"points held":            byRule(func(r *Reward) { r.Points, r.Hold = "5", MaxRewardWait }),
		"a year later":           gold(func(r *Reward) { r.Delay = MaxRewardWait }),
		"last of all":            gold(func(r *Reward) { r.Priority = 9 }),
		"free data":              gold(func(r *Reward) { r.Data = json.RawMessage(`{"item":"chest","n":[1,2,null]}`) }),
		"null data":              gold(func(r *Reward) { r.Data = json.RawMessage(`null`) }),
		"long data":              gold(func(r *Reward) { r.Data = json.RawMessage(`"` + strings.Repeat("a", 4094) + `"`) }),
		"long id":                gold(func(r *Reward) { r.ID = "a" + strings.Repeat("_", 62) }),
		"long title":             gold(func(r *Reward) { r.Title = strings.Repeat("🏆", 100) }),
	} {
		settings := DefaultSettings("demo")
		settings.Decimals, settings.Rewards = 2, []Reward{reward}
		if err := settings.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWrongRewardsAreRefusedByThePlaceOfTheFault(t *testing.T) {
	t.Parallel()
	tests := []struct {
		field  string
		reward Reward
	}{
		{"id", gold(func(r *Reward) { r.ID = "" })},
		{"id", gold(func(r *Reward) { r.ID = "Gold" })},
		{"id", gold(func(r *Reward) { r.ID = "-gold" })},
		{"id", gold(func(r *Reward) { r.ID = "gold\n" })},
		{"id", gold(func(r *Reward) { r.ID = strings.Repeat("a", 64) })},
		{"id", gold(func(r *Reward) { r.ID = "first" })}, // stands twice
		{"title", gold(func(r *Reward) { r.Title = "" })},
		{"title", gold(func(r *Reward) { r.Title = "\u200b" })},
		{"title", gold(func(r *Reward) { r.Title = "a\x00" })},
		{"title", gold(func(r *Reward) { r.Title = strings.Repeat("a", 101) })},
		{"", byRule(func(*Reward) {})},
		{"", gold(func(r *Reward) { r.Percent = 1 })},
		{"", gold(func(r *Reward) { r.Points = "1" })},
		{"", gold(func(r *Reward) { r.ReachRank = 1 })},
		{"", byRule(func(r *Reward) { r.Points, r.ReachRank = "1", 1 })},
		{"ranks", gold(func(r *Reward) { r.Ranks = []int64{} })},
		{"ranks", gold(func(r *Reward) { r.Ranks = []int64{1} })},
		{"ranks", gold(func(r *Reward) { r.Ranks = []int64{1, 2, 3} })},
		{"ranks", gold(func(r *Reward) { r.Ranks = []int64{0, 1} })},
		{"ranks", gold(func(r *Reward) { r.Ranks = []int64{2, 1} })},
		{"percent", byRule(func(r *Reward) { r.Percent = -1 })},
		{"percent", byRule(func(r *Reward) { r.Percent = 100.1 })},
		{"percent", byRule(func(r *Reward) { r.Percent = math.NaN() })},
		{"percent", byRule(func(r *Reward) { r.Percent = math.Inf(1) })},
		{"points", byRule(func(r *Reward) { r.Points = "many" })},
		{"points", byRule(func(r *Reward) { r.Points = "1.005" })},
		{"points", byRule(func(r *Reward) { r.Points = "10000001" })},
		{"reach_rank", byRule(func(r *Reward) { r.ReachRank = -1 })},
		{"hold", byRule(func(r *Reward) { r.Points, r.Hold = "1", -1 })},
		{"hold", byRule(func(r *Reward) { r.Points, r.Hold = "1", MaxRewardWait+1 })},
		{"hold", gold(func(r *Reward) { r.Hold = time.Hour })},
		{"hold", byRule(func(r *Reward) { r.Percent, r.Hold = 1, time.Hour })},
		{"delay", gold(func(r *Reward) { r.Delay = -1 })},
		{"delay", gold(func(r *Reward) { r.Delay = MaxRewardWait + 1 })},
		{"priority", gold(func(r *Reward) { r.Priority = -1 })},
		{"priority", gold(func(r *Reward) { r.Priority = 10 })},
		{"data", gold(func(r *Reward) { r.Data = json.RawMessage(`"` + strings.Repeat("a", 4095) + `"`) })},
		{"data", gold(func(r *Reward) { r.Data = json.RawMessage(``) })},
		{"data", gold(func(r *Reward) { r.Data = json.RawMessage(`{`) })},
		{"data", gold(func(r *Reward) { r.Data = json.RawMessage(`{} {}`) })},
		{"data", gold(func(r *Reward) { r.Data = json.RawMessage("\"\xff\"") })},
		{"data", gold(func(r *Reward) { r.Data = json.RawMessage(`NaN`) })},
	}
	for _, tt := range tests {
		settings := DefaultSettings("demo")
		settings.Decimals = 2
		settings.Rewards = []Reward{gold(func(r *Reward) { r.ID = "first" }), gold(func(r *Reward) { r.ID = "second" }), tt.reward}
		want := strings.TrimSuffix("rewards[2]."+tt.field, ".")
		if err := settings.Validate(); !isInvalid(err, want) {
			t.Errorf("%.200s: got %v, want an InvalidError for %s", fmt.Sprintf("%+v", tt.reward), err, want)
		}
	}
}

func TestABoardHasAtMostAHundredRewards(t *testing.T) {
	t.Parallel()
	settings := DefaultSettings("demo")
	for i := range MaxRewards {
		settings.Rewards = append(settings.Rewards, gold(func(r *Reward) { r.ID = fmt.Sprint(i) }))
	}
	if err := settings.Validate(); err != nil {
		t.Errorf("a hundred: %v", err)
	}
	settings.Rewards = append(settings.Rewards, gold(func(*Reward) {}))
	if err := settings.Validate(); !isInvalid(err, "rewards") {
		t.Errorf("a hundred and one: got %v, want an InvalidError for rewards", err)
	}
}

func TestWebhooks(t *testing.T) {
	t.Parallel()
	const secret = "0123456789abcdef"
	long := "https://example.com/" + strings.Repeat("a", MaxWebhookURL-len("https://example.com/"))
	tests := []struct {
		url, secret, field string
	}{
		{"https://example.com", secret, ""},
		{"http://example.com:8080/hook?a=b", secret, ""},
		{"https://[::1]:443/hook", secret, ""},
		{"HTTPS://example.com/hook", strings.Repeat("a", 256), ""},
		{"https://bücher.example/", secret, ""},
		{long, secret, ""},
		{long + "a", secret, "webhook.url"},
		{"", secret, "webhook.url"},
		{"example.com/hook", secret, "webhook.url"},
		{"/hook", secret, "webhook.url"},
		{"//example.com/hook", secret, "webhook.url"},
		{"ftp://example.com/hook", secret, "webhook.url"},
		{"javascript:alert(1)", secret, "webhook.url"},
		{"https:example.com", secret, "webhook.url"},
		{"https://", secret, "webhook.url"},
		{"https:///hook", secret, "webhook.url"},
		{"https://:443/hook", secret, "webhook.url"},
		{"https://me@example.com/", secret, "webhook.url"},
		{"https://me:secret@example.com/", secret, "webhook.url"},
		{"https://@example.com/", secret, "webhook.url"},
		{"https://example.com/#part", secret, "webhook.url"},
		{"https://example.com/#", secret, "webhook.url"},
		{"https://example.com:0/", secret, "webhook.url"},
		{"https://example.com:65536/", secret, "webhook.url"},
		{"https://example.com:port/", secret, "webhook.url"},
		{"https://exa mple.com/", secret, "webhook.url"},
		{"https://example.com/\r\nHost: evil", secret, "webhook.url"},
		{"https://example.com/%zz", secret, "webhook.url"},
		{"https://example.com/\xff", secret, "webhook.url"},
		{"https://example.com", "", "webhook.secret"},
		{"https://example.com", secret[1:], "webhook.secret"},
		{"https://example.com", strings.Repeat("a", 257), "webhook.secret"},
	}
	for _, tt := range tests {
		settings := DefaultSettings("demo")
		settings.Webhook = &Webhook{URL: tt.url, Secret: tt.secret}
		if err := settings.Validate(); tt.field == "" && err != nil || tt.field != "" && !isInvalid(err, tt.field) {
			t.Errorf("%.60q with a secret of %d bytes: got %v, want a fault of %q", tt.url, len(tt.secret), err, tt.field)
		}
	}
}

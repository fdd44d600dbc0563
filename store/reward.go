package store

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Bounds of rewards and webhooks.
const (
	MaxRewards       = 100
	MaxRewardData    = 4096 // bytes
	MaxRewardWait    = 366 * 24 * time.Hour
	LowestPriority   = 9
	MaxWebhookURL    = 2048 // bytes
	MinWebhookSecret = 16   // bytes
	MaxWebhookSecret = 256
)

// Reward is a rule by which players win something: by final place, by final share, for points reached, or for a place
// reached during the season. Exactly one of Ranks, Percent, Points and ReachRank is set.
type Reward struct {
	ID        string          `json:"id"`
	Title     string          `json:"title"`
	Ranks     []int64         `json:"ranks,omitempty"`      // first and last final place
	Percent   float64         `json:"percent,omitempty"`    // final share of the players, rounded up
	Points    string          `json:"points,omitempty"`     // points to reach, exact decimal text
	ReachRank int64           `json:"reach_rank,omitempty"` // place to reach during the season
	Hold      time.Duration   `json:"hold,omitempty"`       // how long it must stay true
	Delay     time.Duration   `json:"delay,omitempty"`      // how long after the cause it is due
	Priority  int             `json:"priority"`             // 0 is first, 9 last
	Data      json.RawMessage `json:"data,omitempty"`       // free, handed on as it is
}

// Webhook is where events of a board are sent. The secret is never shown.
type Webhook struct {
	URL    string `json:"url"`
	Secret string `json:"secret"`
}

var rewardID = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,62}$`)

// validateRewards returns an [InvalidError] for the first wrong part of the rewards or the webhook. Its field names
// the place, such as rewards[2].percent.
func (s *Settings) validateRewards() error {
	if len(s.Rewards) > MaxRewards {
		return Invalid("rewards", "must be at most "+strconv.Itoa(MaxRewards))
	}
	seen := make(map[string]bool, len(s.Rewards))
	for i := range s.Rewards {
		reward, at := &s.Rewards[i], fmt.Sprintf("rewards[%d].", i)
		if err := reward.validate(at, s); err != nil {
			return err
		}
		if seen[reward.ID] {
			return Invalid(at+"id", "must not stand twice")
		}
		seen[reward.ID] = true
	}
	return s.Webhook.validate()
}

// validate checks one reward for a board of the given settings; at is the path that precedes its fields.
func (r *Reward) validate(at string, s *Settings) error {
	if err := r.validateRule(at, s); err != nil {
		return err
	}
	reaching := r.Points != "" || r.ReachRank != 0
	switch {
	case !rewardID.MatchString(r.ID):
		return Invalid(at+"id", "must be 1 to 63 of a-z, 0-9, _ and -, and begin with a letter or digit")
	case !validTitle(r.Title):
		return Invalid(at+"title", wantTitle)
	case r.Hold < 0 || r.Hold > MaxRewardWait:
		return Invalid(at+"hold", "must be 0 to 366 days")
	case r.Hold > 0 && !reaching:
		return Invalid(at+"hold", "goes only with points or reach_rank")
	case r.Delay < 0 || r.Delay > MaxRewardWait:
		return Invalid(at+"delay", "must be 0 to 366 days")
	case r.Priority < 0 || r.Priority > LowestPriority:
		return Invalid(at+"priority", "must be 0 to 9")
	case len(r.Data) > MaxRewardData:
		return Invalid(at+"data", "must be at most 4096 bytes")
	case r.Data != nil && !jsontext.Value(r.Data).IsValid():
		return Invalid(at+"data", "must be JSON")
	}
	return nil
}

// validateRule checks by what the reward is won: exactly one way.
func (r *Reward) validateRule(at string, s *Settings) error {
	rules := 0
	for _, given := range [...]bool{r.Ranks != nil, r.Percent != 0, r.Points != "", r.ReachRank != 0} {
		if given {
			rules++
		}
	}
	switch {
	case rules != 1:
		return Invalid(strings.TrimSuffix(at, "."), "must have exactly one of ranks, percent, points and reach_rank")
	case r.Ranks != nil && (len(r.Ranks) != 2 || r.Ranks[0] < 1 || r.Ranks[1] < r.Ranks[0]):
		return Invalid(at+"ranks", "must be two places from 1, the better first")
	case r.Percent != 0 && !(r.Percent > 0 && r.Percent <= 100): // so written that NaN is refused
		return Invalid(at+"percent", "must be more than 0 and at most 100")
	case r.ReachRank < 0:
		return Invalid(at+"reach_rank", "must be a place from 1")
	case r.Points == "":
		return nil
	}
	points, err := ParseDecimal(at+"points", r.Points)
	if err != nil {
		return err
	}
	_, err = points.Points(at+"points", s.Decimals, s.Limit())
	return err
}

// validate checks where events are sent. A nil Webhook sends none.
func (w *Webhook) validate() error {
	if w == nil {
		return nil
	}
	const wantURL = "must be an absolute http or https address of at most 2048 bytes, without user name and fragment"
	if len(w.URL) > MaxWebhookURL || strings.Contains(w.URL, "#") || !utf8.ValidString(w.URL) {
		return Invalid("webhook.url", wantURL)
	}
	address, err := url.Parse(w.URL)
	if err != nil || address.Scheme != "http" && address.Scheme != "https" || address.Hostname() == "" || address.User != nil {
		return Invalid("webhook.url", wantURL)
	}
	if port := address.Port(); port != "" {
		if number, err := strconv.ParseUint(port, 10, 16); err != nil || number == 0 {
			return Invalid("webhook.url", "must have a port from 1 to 65535")
		}
	}
	if len(w.Secret) < MinWebhookSecret || len(w.Secret) > MaxWebhookSecret {
		return Invalid("webhook.secret", "must be 16 to 256 bytes long")
	}
	return nil
}

const wantTitle = "must be 1 to 100 characters, something visible among them, without control characters"

const maxTitleRunes = 100

// validTitle reports whether a board or a reward may be called so.
func validTitle(s string) bool {
	return utf8.ValidString(s) && utf8.RuneCountInString(s) <= maxTitleRunes &&
		strings.ContainsFunc(s, visible) && !strings.ContainsFunc(s, forbiddenInName)
}

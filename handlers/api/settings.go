package api

import (
	"strconv"
	"strings"

	"leaderboard/store"
)

// settingsPatch is what a PUT of a board asks for: a change for each field that came.
type settingsPatch struct {
	fields  []string
	changes []func(*store.Settings) error
}

// apply makes the changes. Whether the outcome is a board is for the store to say.
func (p settingsPatch) apply(s *store.Settings) error {
	for _, change := range p.changes {
		if err := change(s); err != nil {
			return err
		}
	}
	return nil
}

// parseSettings reads the body of a PUT. Fields that are absent change nothing; null stands for none where a board may
// have none of something. Long for being flat: one case a field.
func parseSettings(body []byte) (patch settingsPatch, err error) {
	set := func(change func(*store.Settings)) {
		patch.changes = append(patch.changes, func(s *store.Settings) error { change(s); return nil })
	}
	err = read(body, func(r *reader) error {
		return r.object("body", func(name string) error {
			patch.fields = append(patch.fields, strings.Clone(name))
			switch name {
			case "title":
				return setText(r, "title", func(text string) { set(func(s *store.Settings) { s.Title = text }) })
			case "order":
				return setText(r, "order", func(text string) { set(func(s *store.Settings) { s.Order = store.Order(text) }) })
			case "policy":
				return setText(r, "policy", func(text string) { set(func(s *store.Settings) { s.Policy = store.Policy(text) }) })
			case "schedule":
				return setText(r, "schedule", func(text string) { set(func(s *store.Settings) { s.Schedule = text }) })
			case "timezone":
				return setText(r, "timezone", func(text string) { set(func(s *store.Settings) { s.Timezone = text }) })
			case "decimals":
				return setInt(r, "decimals", 0, store.MaxDecimals, func(n int) { set(func(s *store.Settings) { s.Decimals = n }) })
			case "season_days":
				return setInt(r, "season_days", 1, store.MaxSeasonDays, func(n int) { set(func(s *store.Settings) { s.SeasonDays = n }) })
			case "live_top":
				return setInt(r, "live_top", 1, store.MaxLiveTop, func(n int) { set(func(s *store.Settings) { s.LiveTop = n }) })
			case "activity_cap":
				return setInt(r, "activity_cap", 0, store.MaxActivityCap, func(n int) { set(func(s *store.Settings) { s.ActivityCap = n }) })
			case "keep_seasons":
				return setInt(r, "keep_seasons", 0, store.MaxKeepSeasons, func(n int) { set(func(s *store.Settings) { s.KeepSeasons = n }) })
			case "max_points":
				points, err := r.integer("max_points", 1, store.MaxUnits, false)
				set(func(s *store.Settings) { s.MaxPoints = points })
				return err
			case "starts_at":
				at, err := r.instant("starts_at")
				set(func(s *store.Settings) { s.StartsAt = at })
				return err
			case "rewards":
				rewards, err := parseRewards(r)
				set(func(s *store.Settings) { s.Rewards = rewards })
				return err
			case "max_step":
				step, err := parseMaxStep(r)
				set(func(s *store.Settings) { s.MaxStep = step })
				return err
			case "webhook":
				change, err := parseWebhook(r)
				patch.changes = append(patch.changes, change)
				return err
			}
			return unknown(name)
		})
	})
	return patch, err
}

func setText(r *reader, field string, set func(string)) error {
	text, err := r.text(field)
	if err != nil {
		return err
	}
	set(strings.Clone(text)) // the reader goes on and writes over it
	return nil
}

func setInt(r *reader, field string, lowest, highest int64, set func(int)) error {
	number, err := r.integer(field, lowest, highest, false)
	if err != nil {
		return err
	}
	set(int(number))
	return nil
}

// parseMaxStep reads a number of points and keeps it as exact text, "" for null.
func parseMaxStep(r *reader) (string, error) {
	if r.null() {
		return "", nil
	}
	text, err := r.number("max_step", true)
	if err != nil {
		return "", err
	}
	if _, err := store.ParseDecimal("max_step", text); err != nil {
		return "", err
	}
	return strings.Clone(text), nil
}

// parseWebhook reads where events go. Without a secret the board's present one stays, so that what a GET showed can
// be sent back.
func parseWebhook(r *reader) (func(*store.Settings) error, error) {
	if r.null() {
		return func(s *store.Settings) error { s.Webhook = nil; return nil }, nil
	}
	var url, secret string
	err := r.object("webhook", func(name string) error {
		switch name {
		case "url":
			return setText(r, "webhook.url", func(text string) { url = text })
		case "secret":
			return setText(r, "webhook.secret", func(text string) { secret = text })
		}
		return unknown(name)
	})
	return func(s *store.Settings) error {
		next := store.Webhook{URL: url, Secret: secret}
		if secret == "" && s.Webhook != nil {
			next.Secret = s.Webhook.Secret
		}
		s.Webhook = &next
		return nil
	}, err
}

// Bounds of the data of a reward.
const (
	maxDataDepth = 32
	maxRewards   = 1000 // more than any board takes: the store says how many that is
)

func parseRewards(r *reader) ([]store.Reward, error) {
	if r.null() {
		return nil, nil
	}
	var rewards []store.Reward
	err := r.array("rewards", func(i int) error {
		if i == maxRewards {
			return store.Invalid("rewards", "are too many")
		}
		reward, err := parseReward(r, "rewards["+strconv.Itoa(i)+"]")
		rewards = append(rewards, reward)
		return err
	})
	return rewards, err
}

// parseReward reads a reward. Null means the same as absent, so that what a GET showed can be sent back.
func parseReward(r *reader, at string) (reward store.Reward, err error) {
	err = r.object(at, func(name string) (err error) {
		field := at + "." + shown(name)
		switch name {
		case "id":
			return setText(r, field, func(text string) { reward.ID = text })
		case "title":
			return setText(r, field, func(text string) { reward.Title = text })
		case "priority":
			return setInt(r, field, 0, store.MaxPriority, func(n int) { reward.Priority = n })
		case "ranks", "percent", "points", "reach_rank", "hold", "delay", "data":
			if r.null() {
				return nil
			}
		default:
			return store.Invalid(field, "is not a field of a reward")
		}
		switch name {
		case "ranks":
			err = r.array(field, func(int) error {
				rank, err := r.integer(field, 1, maxSeason, false)
				reward.Ranks = append(reward.Ranks, rank)
				return err
			})
		case "percent":
			reward.Percent, err = parsePercent(r, field)
		case "points":
			var text string
			text, err = r.number(field, true)
			reward.Points = strings.Clone(text)
		case "reach_rank":
			reward.ReachRank, err = r.integer(field, 1, maxSeason, false)
		case "hold":
			reward.Hold, err = r.duration(field)
		case "delay":
			reward.Delay, err = r.duration(field)
		case "data":
			reward.Data, err = r.raw(field, maxDataDepth, store.MaxRewardData)
		}
		return err
	})
	return reward, err
}

func parsePercent(r *reader, field string) (float64, error) {
	text, err := r.number(field, false)
	if err != nil {
		return 0, err
	}
	percent, err := strconv.ParseFloat(text, 64)
	if err != nil || !(percent > 0 && percent <= 100) {
		return 0, store.Invalid(field, "must be more than 0 and at most 100")
	}
	return percent, nil
}

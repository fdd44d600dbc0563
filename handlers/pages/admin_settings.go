package pages

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"leaderboard/store"
	"leaderboard/templates"
)

// setting is a setting of a board as a field of a form.
type setting struct {
	name, label, hint string
	kind              string // as [templates.Field] has it
	options           []templates.Option
	min, max, length  string
	frozen            bool // changes only while nobody has a score

	get  func(*store.Settings) string
	set  func(*store.Settings, string) error
	tell func(*store.Settings) string // in a list of changes; nil: what get returns
}

// settingGroups are all settings, in the order of the form. A board's webhook comes as an address, then a secret.
var settingGroups = [...]struct {
	title    string
	settings []setting
}{
	{"Board", []setting{
		{
			name: "title", label: "Title", kind: "text", length: "100", hint: "Empty: the id.",
			get: func(s *store.Settings) string { return s.Title },
			set: func(s *store.Settings, text string) error {
				if text != "" {
					s.Title = text
				}
				return nil
			},
		},
		choice("order", "Better is", func(s *store.Settings) *store.Order { return &s.Order },
			templates.Option{Value: "desc", Label: "high points"}, templates.Option{Value: "asc", Label: "low points"}),
		choice("policy", "A further score", func(s *store.Settings) *store.Policy { return &s.Policy },
			templates.Option{Value: "best", Label: "counts if it is better"}, templates.Option{Value: "last", Label: "counts instead"},
			templates.Option{Value: "sum", Label: "is added"}),
	}},
	{"Points", []setting{
		number("decimals", "Decimals", "", "0", "9", true, func(s *store.Settings) *int { return &s.Decimals }),
		number("max_points", "Largest points", "Either sign. Fewer leave more room for exact time.", "1", "9007199254740991", true,
			func(s *store.Settings) *int64 { return &s.MaxPoints }),
		{
			name: "max_step", label: "Largest step", kind: "text", length: "40",
			hint: "A gain beyond it waits for an admin. Empty: none waits.",
			get:  func(s *store.Settings) string { return s.MaxStep },
			set:  func(s *store.Settings, text string) error { s.MaxStep = text; return nil },
		},
	}},
	{"Seasons", []setting{
		{
			name: "schedule", label: "Schedule", kind: "text", length: "200",
			hint: "manual, daily, weekly (Monday), monthly, or cron: minute hour day month weekday.",
			options: []templates.Option{
				{Value: "manual", Label: "closed by hand"},
				{Value: "daily", Label: "at midnight"},
				{Value: "weekly", Label: "Monday at midnight"},
				{Value: "monthly", Label: "on the first at midnight"},
				{Value: "0 18 * * 5", Label: "Friday at six"},
			},
			get: func(s *store.Settings) string { return s.Schedule },
			set: func(s *store.Settings, text string) error { s.Schedule = text; return nil },
		},
		{
			name: "timezone", label: "Time zone", kind: "text", length: "64", hint: "Whose clock the schedule goes by.",
			options: zones("UTC", "Europe/London", "Europe/Berlin", "America/New_York", "America/Los_Angeles", "America/Sao_Paulo",
				"Asia/Kolkata", "Asia/Shanghai", "Asia/Tokyo", "Australia/Sydney"),
			get: func(s *store.Settings) string { return s.Timezone },
			set: func(s *store.Settings, text string) error { s.Timezone = text; return nil },
		},
		{
			name: "starts_at", label: "First season began (UTC)", kind: "datetime-local", frozen: true, hint: "Empty: now. Not in the future.",
			get: func(s *store.Settings) string { return localTime(s.StartsAt) },
			set: func(s *store.Settings, text string) (err error) {
				s.StartsAt, err = parseLocalTime("starts_at", text)
				return err
			},
		},
		number("season_days", "Longest season in days", "Of a board that is closed by hand.", "1", "36500", true,
			func(s *store.Settings) *int { return &s.SeasonDays }),
		number("keep_seasons", "Closed seasons kept", "", "0", "1000", false, func(s *store.Settings) *int { return &s.KeepSeasons }),
	}},
	{"Watching", []setting{
		number("live_top", "Places that move live", "", "1", "1000", false, func(s *store.Settings) *int { return &s.LiveTop }),
		number("activity_cap", "Events kept of a player", "", "0", "1000", false, func(s *store.Settings) *int { return &s.ActivityCap }),
	}},
	{"Rewards and webhook", []setting{
		{
			name: "rewards", label: "Rewards", kind: "area", hint: `A list as the API takes it, such as [{"id":"gold","title":"Gold chest","ranks":[1,1]}].`,
			get: func(s *store.Settings) string { return rewardsText(s.Rewards) },
			set: func(s *store.Settings, text string) (err error) {
				s.Rewards, err = parseRewards(text)
				return err
			},
			tell: func(s *store.Settings) string { return strings.Join(rewardWords(s), "; ") },
		},
		{
			name: "webhook.url", label: "Webhook", kind: "text", length: "2048", hint: "Where events of this board are sent. Empty: nowhere.",
			get: func(s *store.Settings) string {
				if s.Webhook == nil {
					return ""
				}
				return s.Webhook.URL
			},
			set: func(s *store.Settings, text string) error {
				if text == "" {
					s.Webhook = nil
					return nil
				}
				next := store.Webhook{URL: text}
				if s.Webhook != nil {
					next.Secret = s.Webhook.Secret
				}
				s.Webhook = &next // a new one: others may hold what was there
				return nil
			},
		},
		{
			name: "webhook.secret", label: "Webhook secret", kind: "password", length: "256",
			hint: "16 bytes or more, with which events are signed. Empty: as it was; it is never shown.",
			get:  func(*store.Settings) string { return "" },
			set: func(s *store.Settings, text string) error {
				if text == "" {
					return nil
				}
				if s.Webhook == nil {
					return store.Invalid("webhook.secret", "goes only with an address")
				}
				s.Webhook = &store.Webhook{URL: s.Webhook.URL, Secret: text}
				return nil
			},
		},
	}},
}

// choice is a setting of a few words.
func choice[T ~string](name, label string, of func(*store.Settings) *T, options ...templates.Option) setting {
	word := func(s *store.Settings) string { return string(*of(s)) }
	return setting{
		name: name, label: label, kind: "choice", options: options, frozen: true, get: word,
		set: func(s *store.Settings, text string) error { *of(s) = T(text); return nil },
		tell: func(s *store.Settings) string {
			i := slices.IndexFunc(options, func(o templates.Option) bool { return o.Value == word(s) })
			if i < 0 {
				return word(s)
			}
			return options[i].Label
		},
	}
}

// number is a setting that is a whole number. A field left empty changes nothing.
func number[T int | int64](name, label, hint, low, high string, frozen bool, of func(*store.Settings) *T) setting {
	return setting{
		name: name, label: label, hint: hint, kind: "number", min: low, max: high, frozen: frozen,
		get: func(s *store.Settings) string { return strconv.FormatInt(int64(*of(s)), 10) },
		set: func(s *store.Settings, text string) error {
			if text == "" {
				return nil
			}
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil || int64(T(n)) != n {
				return store.Invalid(name, "must be a whole number from "+low+" to "+high)
			}
			*of(s) = T(n)
			return nil
		},
		tell: func(s *store.Settings) string { return count(int64(*of(s))) },
	}
}

func zones(names ...string) []templates.Option {
	var options []templates.Option
	for _, name := range names {
		options = append(options, templates.Option{Value: name, Label: strings.ReplaceAll(name, "_", " ")})
	}
	return options
}

// localTime writes a moment in UTC as a field for date and time takes it.
func localTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.999")
}

func parseLocalTime(field, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range [...]string{"2006-01-02T15:04", "2006-01-02T15:04:05.999", "2006-01-02 15:04", time.RFC3339} {
		if t, err := time.Parse(layout, text); err == nil && t.Nanosecond()%int(time.Millisecond) == 0 {
			return t.UTC(), nil
		}
	}
	return time.Time{}, store.Invalid(field, "must be a date and a time in UTC, such as 2026-05-03T14:00")
}

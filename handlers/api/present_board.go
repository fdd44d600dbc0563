package api

import (
	"strconv"
	"strings"
	"time"

	"leaderboard/store"
)

// nextResets is how many ends of seasons a board announces.
const nextResets = 5

// appendBoard writes a board. The webhook is shown to admins only, its secret to nobody.
func appendBoard(to []byte, b *store.BoardState, admin bool) []byte {
	to = append(to, `{"id":`...)
	to = appendString(to, b.ID)
	to = appendSettings(to, &b.Settings)
	if admin {
		to = append(to, `,"webhook":`...)
		to = appendWebhook(to, b.Settings.Webhook)
	}
	to = append(to, `,"season":{"number":`...)
	to = appendInt(to, b.Season.Number)
	to = append(to, `,"started_at":`...)
	to = appendTime(to, b.Season.Start)
	to = append(to, `,"ends_at":`...)
	to = appendTimeOrNull(to, b.Season.End)
	to = append(to, `},"next_resets":`...)
	to = appendResets(to, b)
	to = append(to, `,"tie_resolution_ms":`...)
	to = appendInt(to, b.Season.Resolution.Milliseconds())
	to = append(to, `,"total":`...)
	to = appendInt(to, b.Total)
	return append(to, '}')
}

func appendSettings(to []byte, s *store.Settings) []byte {
	to = append(to, `,"title":`...)
	to = appendString(to, s.Title)
	to = append(to, `,"order":`...)
	to = appendString(to, s.Order)
	to = append(to, `,"policy":`...)
	to = appendString(to, s.Policy)
	to = append(to, `,"decimals":`...)
	to = appendInt(to, int64(s.Decimals))
	to = append(to, `,"max_points":`...)
	to = appendInt(to, s.MaxPoints)
	to = append(to, `,"schedule":`...)
	to = appendString(to, s.Schedule)
	to = append(to, `,"timezone":`...)
	to = appendString(to, s.Timezone)
	to = append(to, `,"starts_at":`...)
	to = appendTime(to, s.StartsAt)
	to = append(to, `,"season_days":`...)
	to = appendInt(to, int64(s.SeasonDays))
	to = append(to, `,"live_top":`...)
	to = appendInt(to, int64(s.LiveTop))
	to = append(to, `,"activity_cap":`...)
	to = appendInt(to, int64(s.ActivityCap))
	to = append(to, `,"keep_seasons":`...)
	to = appendInt(to, int64(s.KeepSeasons))
	to = append(to, `,"rewards":`...)
	to = appendList(to, s.Rewards, func(to []byte, r *store.Reward) []byte { return appendReward(to, r, s.Decimals) })
	to = append(to, `,"max_step":`...)
	return appendDecimalText(to, s.MaxStep, s.Decimals)
}

// appendDecimalText writes the number that a setting holds as text with the board's decimals, null where it is empty.
func appendDecimalText(to []byte, text string, decimals int) []byte {
	number, err := store.ParseDecimal("", text)
	if err != nil {
		return append(to, "null"...)
	}
	points, err := number.Points("", decimals, store.MaxUnits)
	if err != nil {
		return append(to, "null"...)
	}
	return points.Append(to, decimals)
}

func appendWebhook(to []byte, w *store.Webhook) []byte {
	if w == nil {
		return append(to, "null"...)
	}
	to = append(to, `{"url":`...)
	return append(appendString(to, w.URL), '}')
}

func appendReward(to []byte, r *store.Reward, decimals int) []byte {
	to = append(to, `{"id":`...)
	to = appendString(to, r.ID)
	to = append(to, `,"title":`...)
	to = appendString(to, r.Title)
	to = append(to, `,"ranks":`...)
	if len(r.Ranks) == 0 {
		to = append(to, "null"...)
	} else {
		to = appendList(to, r.Ranks, func(to []byte, rank *int64) []byte { return appendInt(to, *rank) })
	}
	to = append(to, `,"percent":`...)
	if r.Percent == 0 {
		to = append(to, "null"...)
	} else {
		to = strconv.AppendFloat(to, r.Percent, 'f', -1, 64)
	}
	to = append(to, `,"points":`...)
	to = appendDecimalText(to, r.Points, decimals)
	to = append(to, `,"reach_rank":`...)
	to = appendPositive(to, r.ReachRank)
	to = append(to, `,"hold":`...)
	to = appendString(to, durationText(r.Hold))
	to = append(to, `,"delay":`...)
	to = appendString(to, durationText(r.Delay))
	to = append(to, `,"priority":`...)
	to = appendInt(to, int64(r.Priority))
	to = append(to, `,"data":`...)
	if len(r.Data) == 0 {
		to = append(to, "null"...)
	} else {
		to = append(to, r.Data...)
	}
	return append(to, '}')
}

// durationText writes a time span as people do: 24h, not 24h0m0s.
func durationText(d time.Duration) string {
	text := d.String()
	if short, ok := strings.CutSuffix(text, "m0s"); ok {
		text = short + "m"
	}
	if short, ok := strings.CutSuffix(text, "h0m"); ok {
		text = short + "h"
	}
	return text
}

// appendResets writes when the running season and those behind it end.
func appendResets(to []byte, b *store.BoardState) []byte {
	var ends []time.Time
	schedule, err := store.ParseSchedule(b.Settings.Schedule, b.Settings.Timezone)
	for at := b.Season.End; err == nil && !at.IsZero() && len(ends) < nextResets; at = schedule.Next(at) {
		ends = append(ends, at)
	}
	return appendList(to, ends, func(to []byte, at *time.Time) []byte { return appendTime(to, *at) })
}

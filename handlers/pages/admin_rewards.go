package pages

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	strict "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"leaderboard/store"
	"leaderboard/templates"
)

// rewardText is a reward as the API writes it.
type rewardText struct {
	ID        string         `json:"id"`
	Title     string         `json:"title"`
	Ranks     []int64        `json:"ranks,omitempty"`
	Percent   float64        `json:"percent,omitzero"`
	Points    jsontext.Value `json:"points,omitzero"`
	ReachRank int64          `json:"reach_rank,omitzero"`
	Hold      string         `json:"hold,omitempty"`
	Delay     string         `json:"delay,omitempty"`
	Priority  int            `json:"priority,omitzero"`
	Data      jsontext.Value `json:"data,omitzero"`
}

// rewardsText writes rewards for the form.
func rewardsText(rewards []store.Reward) string {
	if len(rewards) == 0 {
		return ""
	}
	lines := make([]string, len(rewards))
	for i, r := range rewards {
		line, err := strict.Marshal(rewardText{
			ID: r.ID, Title: r.Title, Ranks: r.Ranks, Percent: r.Percent, Points: valueOf(r.Points), ReachRank: r.ReachRank,
			Hold: spanText(r.Hold), Delay: spanText(r.Delay), Priority: r.Priority, Data: valueOf(string(r.Data)),
		})
		if err != nil {
			panic(err) // rewards of a board always encode: they were checked when they came
		}
		lines[i] = "  " + string(line)
	}
	return "[\n" + strings.Join(lines, ",\n") + "\n]"
}

// valueOf returns a text that is JSON already, and nothing for nothing.
func valueOf(text string) jsontext.Value {
	if text == "" {
		return nil
	}
	return jsontext.Value(text)
}

// spanText writes a time span as the API reads it, none as nothing.
func spanText(d time.Duration) string {
	if d == 0 {
		return ""
	}
	text := strings.TrimSuffix(d.String(), "0s")
	if text == "" || !strings.HasSuffix(text, "m") {
		return d.String()
	}
	if short, ok := strings.CutSuffix(text, "h0m"); ok {
		return short + "h"
	}
	return text
}

// deepestReward bounds the data of a reward, as in the API, within the list and the reward.
const deepestReward = 32 + 2

// parseRewards reads rewards from the form. Nothing is none.
func parseRewards(text string) ([]store.Reward, error) {
	if text == "" {
		return nil, nil
	}
	value := jsontext.Value(text)
	if depth(value) > deepestReward {
		return nil, store.Invalid("rewards", "must be at most 32 levels deep")
	}
	var texts []rewardText
	if err := strict.Unmarshal(value, &texts, strict.RejectUnknownMembers(true)); err != nil {
		return nil, store.Invalid("rewards", "must be a list of rewards in JSON"+whereOf(err))
	}
	rewards := make([]store.Reward, len(texts))
	for i, t := range texts {
		at := "rewards[" + strconv.Itoa(i) + "]."
		rewards[i] = store.Reward{
			ID: t.ID, Title: t.Title, Ranks: t.Ranks, Percent: t.Percent, ReachRank: t.ReachRank, Priority: t.Priority, Data: json.RawMessage(t.Data),
		}
		var err error
		if rewards[i].Points, err = parsePointsText(at+"points", t.Points); err != nil {
			return nil, err
		}
		if rewards[i].Hold, err = parseSpan(at+"hold", t.Hold); err != nil {
			return nil, err
		}
		if rewards[i].Delay, err = parseSpan(at+"delay", t.Delay); err != nil {
			return nil, err
		}
	}
	return rewards, nil
}

// whereOf says where a text is no JSON, or not the JSON that it should be.
func whereOf(err error) string {
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return ": see character " + strconv.FormatInt(e.ByteOffset+1, 10)
	}
	if e, ok := errors.AsType[*strict.SemanticError](err); ok && e.JSONPointer != "" {
		return ": see " + string(e.JSONPointer)
	}
	return ""
}

// depth returns how deep a text is nested; what is no JSON ends where it stops to be.
func depth(value jsontext.Value) int {
	decoder, deepest := jsontext.NewDecoder(bytes.NewReader(value)), 0
	for {
		if _, err := decoder.ReadToken(); err != nil {
			return deepest
		}
		deepest = max(deepest, decoder.StackDepth())
	}
}

// parsePointsText takes points as a number, or as one in quotes, and keeps the number's own text.
func parsePointsText(field string, raw jsontext.Value) (string, error) {
	text := string(raw)
	if text == "" || text == "null" {
		return "", nil
	}
	if text[0] == '"' {
		if err := json.Unmarshal(raw, &text); err != nil {
			return "", store.Invalid(field, "must be a number")
		}
	}
	if _, err := store.ParseDecimal(field, text); err != nil {
		return "", err
	}
	return text, nil
}

func parseSpan(field, text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	span, err := time.ParseDuration(text)
	if err != nil || span < 0 {
		return 0, store.Invalid(field, "must be a time span such as 90s or 24h")
	}
	return span, nil
}

// rewardWords says each reward of a board in words.
func rewardWords(s *store.Settings) []string {
	var list []string
	for i := range s.Rewards {
		list = append(list, rewardSentence(&s.Rewards[i], s.Decimals))
	}
	return list
}

func rewardSentence(r *store.Reward, decimals int) string {
	words := r.Title + " (" + r.ID + ") for "
	switch {
	case r.Ranks != nil && r.Ranks[0] == r.Ranks[1]:
		words += "the " + ordinal(r.Ranks[0])
	case r.Ranks != nil:
		words += "the " + ordinal(r.Ranks[0]) + " to the " + ordinal(r.Ranks[1])
	case r.Percent != 0:
		words += "the best " + strconv.FormatFloat(r.Percent, 'f', -1, 64) + thinSpace + "%"
	case r.Points != "":
		words += "whoever reaches " + pointsWords(r.Points, decimals)
	default:
		words += "whoever reaches the " + ordinal(r.ReachRank) + " place"
	}
	if r.Hold > 0 {
		words += " and holds it for " + spanWords(r.Hold)
	}
	if r.Delay > 0 {
		words += ", after " + spanWords(r.Delay)
	}
	return words
}

// namedWinners is how many who would win a reward are named.
const namedWinners = 5

// prizes says who would win what if the season closed now.
func prizes(previews []store.RewardPreview, decimals int) []templates.Won {
	var list []templates.Won
	for i := range previews {
		p := &previews[i]
		list = append(list, templates.Won{Text: rewardSentence(&p.Reward, decimals), Winners: winnersWords(p)})
	}
	return list
}

func winnersWords(p *store.RewardPreview) string {
	switch {
	case p.Reward.Reaching() && p.Reward.Hold == 0:
		return "paid as it is reached, nothing at the close"
	case p.Count == 0:
		return "nobody"
	}
	var names []string
	for _, e := range p.Entries[:min(len(p.Entries), namedWinners)] {
		names = append(names, isolate(shownName(e.Player, e.Name)))
	}
	words := plural(p.Count, "player") + ": " + strings.Join(names, ", ")
	if more := p.Count - int64(len(names)); more > 0 {
		words += " and " + count(more) + " more"
	}
	return words
}

func pointsWords(text string, decimals int) string {
	number, err := store.ParseDecimal("points", text)
	if err != nil {
		return text + " points"
	}
	p, err := number.Points("points", decimals, store.MaxUnits)
	if err != nil {
		return text + " points"
	}
	return withUnit(p, decimals)
}

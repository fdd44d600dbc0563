package pages

import (
	"strconv"
	"strings"
	"time"

	"leaderboard/store"
	"leaderboard/templates"
)

// thinSpace groups digits: narrow, unbreakable, and no reader takes it for a decimal point.
const thinSpace = "\u202f"

const minusSign = "\u2212"

// group sets a plain decimal number in groups of three: "-1240.50" becomes "−1 240.50".
func group(plain string) string {
	size, negative := strings.CutPrefix(plain, "-")
	whole, fraction, hasFraction := strings.Cut(size, ".")
	var out strings.Builder
	if negative {
		out.WriteString(minusSign)
	}
	for i, digit := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			out.WriteString(thinSpace)
		}
		out.WriteRune(digit)
	}
	if hasFraction {
		out.WriteString("." + fraction)
	}
	return out.String()
}

func count(n int64) string { return group(strconv.FormatInt(n, 10)) }

func points(p store.Points, decimals int) string { return group(p.Text(decimals)) }

// withUnit says points with their unit: "1 point", "1 240 points".
func withUnit(p store.Points, decimals int) string {
	if p == 1 && decimals == 0 {
		return "1 point"
	}
	return points(p, decimals) + " points"
}

// ordinal says a place: 1st, 2nd, 11th.
func ordinal(n int64) string {
	ending := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			ending = "st"
		case 2:
			ending = "nd"
		case 3:
			ending = "rd"
		}
	}
	return count(n) + ending
}

// share says which part of the others is behind. It is rounded down, so that only who leads them all is ahead of all.
func share(s *store.Standing) string {
	if s.Total <= 1 {
		return "nobody yet"
	}
	tenths := int64(s.Percentile * 10)
	text := strconv.FormatInt(tenths/10, 10)
	if tenths%10 != 0 {
		text += "." + strconv.FormatInt(tenths%10, 10)
	}
	return text + thinSpace + "%"
}

// toNext says what is missing to the place above.
func toNext(s *store.Standing) string {
	switch above := ordinal(s.Rank - 1); {
	case s.Rank == 1 && s.Total == 1:
		return "First, and alone so far"
	case s.Rank == 1:
		return "In the lead"
	case s.ToNext == 0:
		return "Level with " + above + ", who got there first"
	default:
		return withUnit(s.ToNext, s.Season.Decimals) + " behind " + above
	}
}

// ago says how long ago a moment was.
func ago(now, then time.Time) string {
	switch d := now.Sub(then); {
	case d < 10*time.Second:
		return "just now"
	case d < time.Minute:
		return whole(d, time.Second) + " s ago"
	case d < time.Hour:
		return whole(d, time.Minute) + " min ago"
	case d < 48*time.Hour:
		return whole(d, time.Hour) + " h ago"
	case d < 60*24*time.Hour:
		return whole(d, 24*time.Hour) + " days ago"
	default:
		return day(then)
	}
}

func whole(d, unit time.Duration) string { return count(int64(d / unit)) }

func day(t time.Time) string { return t.UTC().Format("2 Jan 2006") }

// moment returns a time in the given words.
func moment(t time.Time, words string) templates.Time {
	t = t.UTC().Truncate(time.Millisecond)
	return templates.Time{Machine: t.Format(time.RFC3339Nano), Exact: t.Format("2 January 2006, 15:04:05 UTC"), Words: words}
}

// since returns a time by how long ago it was.
func since(now, t time.Time) templates.Time { return moment(t, ago(now, t)) }

// clockOf returns the time to a season's end, as the page's module counts it down.
func clockOf(season *store.Season, now time.Time) templates.Clock {
	switch {
	case season.Closed:
		return templates.Clock{Label: "Ended", Value: day(season.End)}
	case season.End.IsZero():
		return templates.Clock{Label: "Ends", Value: "open"}
	}
	left := max(season.End.Sub(now), 0)
	return templates.Clock{Label: "Ends in", Value: countdown(left), End: moment(season.End, "")}
}

func countdown(left time.Duration) string {
	hours := int64(left / time.Hour)
	if hours >= 24 {
		return count(hours/24) + " d " + twoDigits(hours%24) + " h"
	}
	return twoDigits(hours) + ":" + twoDigits(int64(left/time.Minute)%60) + ":" + twoDigits(int64(left/time.Second)%60)
}

func twoDigits(n int64) string {
	if n < 10 {
		return "0" + strconv.FormatInt(n, 10)
	}
	return strconv.FormatInt(n, 10)
}

// bidiControls turn the direction of text around them.
const bidiControls = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"

// isolate returns a name for text without markup, such as a title, where it must not turn round what follows it.
func isolate(name string) string {
	kept := strings.Map(func(r rune) rune {
		if strings.ContainsRune(bidiControls, r) {
			return -1
		}
		return r
	}, name)
	return "\u2068" + kept + "\u2069"
}

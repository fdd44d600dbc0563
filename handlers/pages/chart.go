package pages

import (
	"strconv"
	"strings"
	"time"

	"leaderboard/store"
	"leaderboard/templates"
)

const (
	box        = 1000.0 // the drawing's box is this wide and high
	margin     = 0.1    // kept free above the highest and below the lowest value
	maxDots    = 40     // more would touch each other, and each is a stop for the Tab key
	dateFormat = "2 Jan 15:04"
)

// value is the points a player had from a moment on.
type value struct {
	at     time.Time
	points store.Points
}

// chart draws points over time, better ones higher. One value alone is no line.
func (w *writer) chart(s *store.Standing, activity []store.Activity) *templates.Chart {
	values := w.values(activity)
	if len(values) < 2 {
		return nil
	}
	low, high := values[0].points, values[0].points
	for _, v := range values {
		low, high = min(low, v.points), max(high, v.points)
	}
	top, bottom := high, low
	if w.season.Order == store.Asc {
		top, bottom = low, high
	}
	end := w.now
	if w.season.Closed {
		end = w.season.End
	}
	d := drawing{from: values[0].at, to: end, top: top, bottom: bottom}
	first, last := values[0], values[len(values)-1]
	line := d.line(values)
	return &templates.Chart{
		Title: "Points of " + isolate(shownName(s.Player, s.Name)) + " over time",
		Text: "From " + points(first.points, w.season.Decimals) + " to " + withUnit(last.points, w.season.Decimals) + " in " +
			count(int64(len(values))) + " scores.",
		Line:   line,
		Area:   line + "V1000H" + d.x(first.at, box) + "Z",
		High:   points(top, w.season.Decimals),
		Low:    points(bottom, w.season.Decimals),
		HighAt: d.y(top, 100) + "%", LowAt: d.y(bottom, 100) + "%",
		From: moment(d.from, d.from.UTC().Format(dateFormat)),
		To:   moment(d.to, endWord(&w.season)),
		Dots: w.dots(d, values),
	}
}

func endWord(season *store.Season) string {
	if season.Closed {
		return "the close"
	}
	return "now"
}

// values returns the points over time, oldest first.
func (w *writer) values(activity []store.Activity) []value {
	var values []value
	for i := len(activity) - 1; i >= 0; i-- {
		if a := activity[i]; a.Kind != store.RewardReceived && a.Decimals == w.season.Decimals {
			values = append(values, value{at: a.At, points: a.Points})
		}
	}
	return values
}

// drawing places values in a box.
type drawing struct {
	from, to    time.Time
	top, bottom store.Points
}

func (d *drawing) x(t time.Time, width float64) string {
	span := max(d.to.Sub(d.from), time.Second)
	part := float64(t.Sub(d.from)) / float64(span)
	return strconv.FormatFloat(min(max(part, 0), 1)*width, 'f', 2, 64)
}

func (d *drawing) y(p store.Points, height float64) string {
	return strconv.FormatFloat(d.depth(p)*height, 'f', 2, 64)
}

// depth returns how far below the upper edge points stand, 0 to 1.
func (d *drawing) depth(p store.Points) float64 {
	if d.top == d.bottom {
		return 0.5
	}
	part := float64(d.top-p) / float64(d.top-d.bottom)
	return margin + part*(1-2*margin)
}

// line goes in steps: points stand until they change.
func (d *drawing) line(values []value) string {
	var path strings.Builder
	path.WriteString("M" + d.x(values[0].at, box) + " " + d.y(values[0].points, box))
	for _, v := range values[1:] {
		path.WriteString("H" + d.x(v.at, box) + "V" + d.y(v.points, box))
	}
	path.WriteString("H" + d.x(d.to, box))
	return path.String()
}

// dots marks the values, the latest ones when there are many.
func (w *writer) dots(d drawing, values []value) []templates.Dot {
	var dots []templates.Dot
	for _, v := range values[max(len(values)-maxDots, 0):] {
		amount, when := withUnit(v.points, w.season.Decimals), v.at.UTC().Format(dateFormat)
		dots = append(dots, templates.Dot{
			X: d.x(v.at, 100) + "%", Y: d.y(v.points, 100) + "%",
			Value: amount, When: when, Label: amount + ", " + when + " UTC",
			Anchor: d.anchor(v.at), Lift: d.lift(v.points),
		})
	}
	return dots
}

// anchor keeps a label inside the drawing.
func (d *drawing) anchor(t time.Time) string {
	switch part := float64(t.Sub(d.from)) / float64(max(d.to.Sub(d.from), time.Second)); {
	case part < 0.3:
		return "start"
	case part > 0.7:
		return "end"
	default:
		return "middle"
	}
}

func (d *drawing) lift(p store.Points) string {
	if d.depth(p) < 0.25 {
		return "24"
	}
	return "-14"
}

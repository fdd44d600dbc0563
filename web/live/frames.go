package live

import (
	"strconv"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"leaderboard/store"
)

// frameKind says what a frame is, for those who count them.
type frameKind int

const (
	snapshotFrame frameKind = iota
	deltaFrame
	seasonFrame
	youFrame
	activityFrame
	rewardFrame
	frameKinds
)

// String returns the kind as it stands in the frame's type.
func (k frameKind) String() string {
	return [frameKinds]string{"snapshot", "delta", "season", "you", "activity", "reward"}[k]
}

// frame is a text frame. It never changes, so all who get it share it.
type frame struct {
	kind frameKind
	text []byte

	shared  bool // many get it: worth preparing for the wire once
	prepare sync.Once
	ready   any // as socket.go prepared it
}

// appendEntry writes an entry as the API does.
func appendEntry(to []byte, e *store.Entry, decimals int) []byte {
	to = append(to, `{"rank":`...)
	to = strconv.AppendInt(to, e.Rank, 10)
	to = append(to, `,"player":`...)
	to = appendText(to, string(e.Player))
	to = append(to, `,"name":`...)
	if e.Name == "" {
		to = append(to, "null"...)
	} else {
		to = appendText(to, string(e.Name))
	}
	to = append(to, `,"points":`...)
	to = e.Points.Append(to, decimals)
	to = append(to, `,"achieved_at":`...)
	return append(appendTime(to, e.AchievedAt), '}')
}

func appendTime(to []byte, at time.Time) []byte {
	to = append(to, '"')
	to = at.UTC().Truncate(time.Millisecond).AppendFormat(to, time.RFC3339Nano)
	return append(to, '"')
}

func appendText(to []byte, text string) []byte {
	to, _ = jsontext.AppendQuote(to, text) // fails for invalid UTF-8 only, and then replaces it
	return to
}

// entryBytes is about what an entry takes on the wire.
const entryBytes = 128

func newSnapshot(page *store.Page, rows []store.Entry) *frame {
	to := make([]byte, 0, 128+entryBytes*len(rows))
	to = append(to, `{"type":"snapshot","board":`...)
	to = appendText(to, string(page.Board))
	to = append(to, `,"season":`...)
	to = strconv.AppendInt(to, page.Season.Number, 10)
	to = append(to, `,"epoch":`...)
	to = appendText(to, page.Epoch)
	to = append(to, `,"version":`...)
	to = strconv.AppendInt(to, page.Version, 10)
	to = append(to, `,"total":`...)
	to = strconv.AppendInt(to, page.Total, 10)
	to = append(to, `,"entries":[`...)
	for i := range rows {
		to = appendComma(to, i)
		to = appendEntry(to, &rows[i], page.Season.Decimals)
	}
	return &frame{kind: snapshotFrame, text: append(to, "]}"...), shared: true}
}

// newDelta tells how to get from the rows of one version to those of a page.
func newDelta(from int64, page *store.Page, rows []store.Entry, d difference) *frame {
	to := make([]byte, 0, 96+entryBytes*len(d.changed)+32*len(d.removed))
	to = append(to, `{"type":"delta","from":`...)
	to = strconv.AppendInt(to, from, 10)
	to = append(to, `,"version":`...)
	to = strconv.AppendInt(to, page.Version, 10)
	to = append(to, `,"total":`...)
	to = strconv.AppendInt(to, page.Total, 10)
	to = append(to, `,"changed":[`...)
	for n, i := range d.changed {
		to = appendComma(to, n)
		to = appendEntry(to, &rows[i], page.Season.Decimals)
	}
	to = append(to, `],"removed":[`...)
	for n, player := range d.removed {
		to = appendComma(to, n)
		to = appendText(to, string(player))
	}
	return &frame{kind: deltaFrame, text: append(to, "]}"...), shared: true}
}

func newSeason(number int64) *frame {
	to := strconv.AppendInt([]byte(`{"type":"season","season":`), number, 10)
	return &frame{kind: seasonFrame, text: append(to, '}'), shared: true}
}

// newYou tells where a player stands; entry is nil for one who has none.
func newYou(entry *store.Entry, total int64, decimals int) *frame {
	to := append(make([]byte, 0, 2*entryBytes), `{"type":"you","entry":`...)
	if entry == nil {
		to = append(to, "null"...)
	} else {
		to = appendEntry(to, entry, decimals)
	}
	to = append(to, `,"total":`...)
	to = strconv.AppendInt(to, total, 10)
	return &frame{kind: youFrame, text: append(to, '}')}
}

// newActivity tells a player what they did, newest first.
func newActivity(items []store.Activity) *frame {
	to := append(make([]byte, 0, 32+entryBytes*len(items)), `{"type":"activity","items":[`...)
	for i := range items {
		to = appendComma(to, i)
		to = appendActivity(to, &items[i])
	}
	return &frame{kind: activityFrame, text: append(to, "]}"...)}
}

// appendActivity writes an activity as the API does.
func appendActivity(to []byte, a *store.Activity) []byte {
	to = append(to, `{"at":`...)
	to = appendTime(to, a.At)
	to = append(to, `,"kind":`...)
	to = appendText(to, string(a.Kind))
	to = append(to, `,"points":`...)
	to = a.Points.Append(to, a.Decimals)
	to = append(to, `,"previous_points":`...)
	if a.HadPoints {
		to = a.PreviousPoints.Append(to, a.Decimals)
	} else {
		to = append(to, "null"...)
	}
	to = append(to, `,"rank":`...)
	to = appendRank(to, a.Rank)
	to = append(to, `,"previous_rank":`...)
	return append(appendRank(to, a.PreviousRank), '}')
}

// appendRank writes a rank, null for none.
func appendRank(to []byte, rank int64) []byte {
	if rank == 0 {
		return append(to, "null"...)
	}
	return strconv.AppendInt(to, rank, 10)
}

// appendComma writes what stands before an element of a list.
func appendComma(to []byte, n int) []byte {
	if n > 0 {
		to = append(to, ',')
	}
	return to
}

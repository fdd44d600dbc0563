package api

import (
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/gofiber/fiber/v2"

	"leaderboard/store"
)

// sendJSON answers with JSON. The slice is given away: nobody changes it any more.
func sendJSON(c *fiber.Ctx, body []byte) error {
	response := c.Response()
	response.Header.SetContentType(fiber.MIMEApplicationJSON)
	response.SetBodyRaw(body)
	return nil
}

// sendShort answers with JSON that is copied, so that the slice may live on the stack.
func sendShort(c *fiber.Ctx, body []byte) error {
	response := c.Response()
	response.Header.SetContentType(fiber.MIMEApplicationJSON)
	response.SetBody(body)
	return nil
}

// appendString writes text as a JSON string.
func appendString[T ~string](to []byte, text T) []byte {
	to, _ = jsontext.AppendQuote(to, string(text)) // fails for invalid UTF-8 only, and then replaces it
	return to
}

// appendTextOrNull writes text as a JSON string, null where there is none.
func appendTextOrNull[T ~string](to []byte, text T) []byte {
	if text == "" {
		return append(to, "null"...)
	}
	return appendString(to, text)
}

// appendTime writes a time in UTC with as many digits of its milliseconds as it needs.
func appendTime(to []byte, at time.Time) []byte {
	to = append(to, '"')
	to = at.UTC().Truncate(time.Millisecond).AppendFormat(to, time.RFC3339Nano)
	return append(to, '"')
}

// appendTimeOrNull writes a time, null for the zero time.
func appendTimeOrNull(to []byte, at time.Time) []byte {
	if at.IsZero() {
		return append(to, "null"...)
	}
	return appendTime(to, at)
}

func appendInt(to []byte, number int64) []byte { return strconv.AppendInt(to, number, 10) }

// appendPositive writes a number from 1, null for 0, which means that there is none.
func appendPositive(to []byte, number int64) []byte {
	if number == 0 {
		return append(to, "null"...)
	}
	return appendInt(to, number)
}

// appendList writes a JSON list, one element by a call of element.
func appendList[T any](to []byte, list []T, element func([]byte, *T) []byte) []byte {
	to = append(to, '[')
	for i := range list {
		if i > 0 {
			to = append(to, ',')
		}
		to = element(to, &list[i])
	}
	return append(to, ']')
}

// appendResult writes the members of what a submission did, without the braces.
func appendResult(to []byte, r *store.Result) []byte {
	to = append(to, `"board":`...)
	to = appendString(to, r.Board)
	to = append(to, `,"season":`...)
	to = appendInt(to, r.Season)
	to = append(to, `,"player":`...)
	to = appendString(to, r.Player)
	to = append(to, `,"points":`...)
	if r.Held && !r.HasPoints {
		to = append(to, "null"...)
	} else {
		to = r.Points.Append(to, r.Decimals)
	}
	to = append(to, `,"submitted":`...)
	to = r.Submitted.Append(to, r.Decimals)
	to = append(to, `,"improved":`...)
	to = strconv.AppendBool(to, r.Improved)
	if r.Held {
		to = append(to, `,"held":true,"rank":null,"previous_rank":null,"total":`...)
		to = appendInt(to, r.Total)
		return append(to, `,"achieved_at":null`...)
	}
	to = append(to, `,"rank":`...)
	to = appendInt(to, r.Rank)
	to = append(to, `,"previous_rank":`...)
	to = appendPositive(to, r.PreviousRank)
	to = append(to, `,"total":`...)
	to = appendInt(to, r.Total)
	to = append(to, `,"achieved_at":`...)
	return appendTime(to, r.AchievedAt)
}

// appendEntry writes the members of an entry, without the braces.
func appendEntry(to []byte, e *store.Entry, decimals int) []byte {
	to = append(to, `"rank":`...)
	to = appendInt(to, e.Rank)
	to = append(to, `,"player":`...)
	to = appendString(to, e.Player)
	to = append(to, `,"name":`...)
	to = appendTextOrNull(to, e.Name)
	to = append(to, `,"points":`...)
	to = e.Points.Append(to, decimals)
	to = append(to, `,"achieved_at":`...)
	return appendTime(to, e.AchievedAt)
}

func appendEntries(to []byte, entries []store.Entry, decimals int) []byte {
	return appendList(to, entries, func(to []byte, e *store.Entry) []byte {
		return append(appendEntry(append(to, '{'), e, decimals), '}')
	})
}

// appendPage writes the members that say what a reply is about: board, season and, where the reply can be compared
// with others, epoch and version.
func appendPage(to []byte, page *store.Page, versions bool) []byte {
	to = append(to, `"board":`...)
	to = appendString(to, page.Board)
	to = append(to, `,"season":`...)
	to = appendInt(to, page.Season.Number)
	if versions {
		to = append(to, `,"epoch":`...)
		to = appendString(to, page.Epoch)
		to = append(to, `,"version":`...)
		to = appendInt(to, page.Version)
	}
	to = append(to, `,"total":`...)
	return appendInt(to, page.Total)
}

// appendTop writes a page of the top. Next is the cursor behind it.
func appendTop(to []byte, page *store.Page, stale bool) []byte {
	to = appendPage(append(to, '{'), page, true)
	to = append(to, `,"entries":`...)
	to = appendEntries(to, page.Entries, page.Season.Decimals)
	to = append(to, `,"next":`...)
	if last := len(page.Entries) - 1; page.More && last >= 0 {
		at := store.Position{Packed: page.Entries[last].Packed, Player: page.Entries[last].Player}
		next := cursor{season: page.Season.Number, epoch: page.Epoch, at: at}
		to = append(next.append(append(to, '"')), '"')
	} else {
		to = append(to, "null"...)
	}
	if stale {
		to = append(to, `,"stale":true`...)
	}
	return append(to, '}')
}

// appendShare writes a player's percentile and the points to the next place; null for nobody.
func appendShare(to []byte, s *store.Standing) []byte {
	to = append(to, `"percentile":`...)
	if s == nil {
		return append(to, `null,"to_next":null`...)
	}
	to = strconv.AppendFloat(to, s.Percentile, 'f', -1, 64)
	to = append(to, `,"to_next":`...)
	if s.Rank == 1 {
		return append(to, "null"...)
	}
	return s.ToNext.Append(to, s.Season.Decimals)
}

func appendActivity(to []byte, a *store.Activity) []byte {
	to = append(to, `{"at":`...)
	to = appendTime(to, a.At)
	to = append(to, `,"kind":`...)
	to = appendString(to, a.Kind)
	to = append(to, `,"points":`...)
	to = a.Points.Append(to, a.Decimals)
	to = append(to, `,"previous_points":`...)
	if a.HadPoints {
		to = a.PreviousPoints.Append(to, a.Decimals)
	} else {
		to = append(to, "null"...)
	}
	to = append(to, `,"rank":`...)
	to = appendPositive(to, a.Rank)
	to = append(to, `,"previous_rank":`...)
	to = appendPositive(to, a.PreviousRank)
	return append(to, '}')
}

package pages

import (
	"cmp"
	"hash/fnv"
	"strings"
	"time"
	"unicode"

	"github.com/a-h/templ"

	"leaderboard/store"
	"leaderboard/templates"
)

// hues is how many colours the marks have.
const hues = 12

// writer turns entries of one season into rows.
type writer struct {
	board  store.BoardID
	season store.Season
	now    time.Time
	mine   store.PlayerID
}

// linkSeason is the season that links name: the running one goes without.
func (w *writer) linkSeason() int64 {
	if w.season.Closed {
		return w.season.Number
	}
	return 0
}

func (w *writer) row(e store.Entry) templates.Row {
	return templates.Row{
		Player:  string(e.Player),
		Rank:    count(e.Rank),
		Name:    shownName(e.Player, e.Name),
		Points:  points(e.Points, w.season.Decimals),
		Exact:   e.Points.Text(w.season.Decimals),
		Address: templ.SafeURL(playerAddress(w.board, e.Player, w.linkSeason())),
		Mark:    markOf(e.Player, e.Name),
		Mine:    e.Player == w.mine,
		At:      since(w.now, e.AchievedAt),
	}
}

func (w *writer) rows(entries []store.Entry) []templates.Row {
	rows := make([]templates.Row, len(entries))
	for i, e := range entries {
		rows[i] = w.row(e)
	}
	return rows
}

func shownName(player store.PlayerID, name store.Name) string {
	return cmp.Or(string(name), string(player))
}

// markOf returns a player's sign: the hue comes from the id, so it stays when the name changes. The page's module does
// the same for rows that arrive live.
func markOf(player store.PlayerID, name store.Name) templates.Mark {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(player)) // a hash takes everything
	return templates.Mark{
		Initials: cmp.Or(initials(string(name)), initials(string(player)), "•"),
		Hue:      "hue-" + count(int64(hash.Sum32()%hues)),
	}
}

// initials returns the first letter or digit of the first word, and of the last.
func initials(name string) string {
	words := strings.Fields(name)
	if len(words) > 2 {
		words = []string{words[0], words[len(words)-1]}
	}
	var out strings.Builder
	for _, word := range words {
		if i := strings.IndexFunc(word, func(r rune) bool { return unicode.In(r, unicode.L, unicode.N) }); i >= 0 {
			first := []rune(word[i:])[0]
			out.WriteRune(unicode.ToUpper(first))
		}
	}
	return out.String()
}

// asOf is when the page was made.
func (w *writer) asOf() templates.Time { return moment(w.now, w.now.UTC().Format("15:04:05 UTC")) }

// place returns the card of the player picked.
func (w *writer) place(view *store.View) *templates.Place {
	if w.mine == "" {
		return nil
	}
	if view.Standing == nil {
		row := templates.Row{Player: string(w.mine), Name: string(w.mine), Mark: markOf(w.mine, "")}
		return &templates.Place{Row: row, Absent: true}
	}
	return &templates.Place{
		Row:     w.row(view.Standing.Entry),
		Ordinal: ordinal(view.Standing.Rank),
		Of:      "of " + count(view.Standing.Total),
		Share:   share(view.Standing),
		ToNext:  toNext(view.Standing),
		Around:  w.rows(view.Around),
	}
}

package pages

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"leaderboard/store"
	"leaderboard/templates"
)

// mostRows is how many rows one page shows.
const mostRows = 500

// column is a column of a table of T.
type column[T any] struct {
	title   string
	name    string // in the query; empty: the table is not sorted by it
	compare func(a, b T) int
	number  bool
	extra   bool // left out on phones
}

// table is a list of rows that the query sorts and narrows down: sort=players, sort=-players, filter=text.
type table[T any] struct {
	path    string
	noun    string // what the rows are, many of them
	columns []column[T]
	words   func(T) []string // what the filter looks into
	none    string           // what to say when there is nothing at all
	usual   string           // how it is sorted when the query does not say
	field   string           // name of the filter in the query; empty: filter
	keep    []templates.Hidden
}

// view returns the rows that are to be shown, in order, and the table's frame.
func (t *table[T]) view(c *fiber.Ctx, rows []T) ([]T, templates.Table, error) {
	field := cmp.Or(t.field, "filter")
	asked, _, err := query(c, "sort")
	if err != nil {
		return nil, templates.Table{}, err
	}
	text, _, err := query(c, field)
	if err != nil {
		return nil, templates.Table{}, err
	}
	text = strings.TrimSpace(text)
	name, down := strings.CutPrefix(cmp.Or(asked, t.usual), "-")
	i := slices.IndexFunc(t.columns, func(k column[T]) bool { return k.name != "" && k.name == name })
	if i < 0 && asked != "" {
		return nil, templates.Table{}, store.Invalid("sort", "must be a column of this table")
	}
	frame := templates.Table{Label: "Table of " + t.noun, Filter: templates.Filter{
		Action: templ.SafeURL(t.path), Name: field, Label: "Filter " + t.noun, Value: text,
		Keep: slices.Clone(t.keep),
	}}
	if asked != "" {
		frame.Filter.Keep = append(frame.Filter.Keep, templates.Hidden{Name: "sort", Value: asked})
	}
	for j, k := range t.columns {
		head := templates.Column{Title: k.title, Number: k.number, Extra: k.extra}
		if k.name != "" {
			head.Sort = templ.SafeURL(t.address(field, text, k.name, j == i && !down))
		}
		if j == i {
			head.Sorted = "ascending"
			if down {
				head.Sorted = "descending"
			}
		}
		frame.Columns = append(frame.Columns, head)
	}
	kept := slices.DeleteFunc(slices.Clone(rows), func(row T) bool { return !hasText(t.words(row), text) })
	switch {
	case len(rows) == 0:
		frame.Empty, frame.Filter.Action = t.none, ""
	case len(kept) == 0:
		frame.Empty = "Nothing fits “" + text + "”."
	}
	if i >= 0 {
		slices.SortStableFunc(kept, func(a, b T) int {
			if down {
				a, b = b, a
			}
			return t.columns[i].compare(a, b)
		})
	}
	if len(kept) > mostRows {
		frame.Note = "The first " + count(mostRows) + " of " + count(int64(len(kept))) + ". A filter narrows them down."
		kept = kept[:mostRows]
	}
	return kept, frame, nil
}

func (t *table[T]) address(field, text, name string, down bool) string {
	if down {
		name = "-" + name
	}
	values := url.Values{"sort": {name}}
	for _, k := range t.keep {
		values.Set(k.Name, k.Value)
	}
	if text != "" {
		values.Set(field, text)
	}
	return t.path + "?" + values.Encode()
}

// hasText reports whether one of the words has a text in it, whatever its case.
func hasText(words []string, text string) bool {
	if text == "" {
		return true
	}
	text = store.Fold(text)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(store.Fold(w), text) })
}

// by compares rows by one of their parts.
func by[T any, P cmp.Ordered](part func(T) P) func(a, b T) int {
	return func(a, b T) int { return cmp.Compare(part(a), part(b)) }
}

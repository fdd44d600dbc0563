package templates_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/a-h/templ"
	"github.com/google/go-cmp/cmp"

	"leaderboard/templates"
)

var update = flag.Bool("update", false, "write what is rendered to testdata")

// hash is the part of an address that changes with every change of a file.
var hash = regexp.MustCompile(`(/static/[a-z]+)\.[0-9a-f]{10}\.`)

func render(t *testing.T, page templ.Component) string {
	t.Helper()
	var out bytes.Buffer
	if err := page.Render(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// golden returns a page with a tag on each line, so that a difference is one of lines.
func golden(page string) string {
	return hash.ReplaceAllString(strings.ReplaceAll(page, "><", ">\n<"), "$1.HASH.") + "\n"
}

var pages = map[string]func() templ.Component{
	"home": func() templ.Component { return templates.HomePage(home()) },
	"home-empty": func() templ.Component {
		return templates.HomePage(templates.Home{Page: page("Leaderboard"), Curl: "curl …"})
	},
	"board":        func() templ.Component { return templates.BoardPage(board()) },
	"board-empty":  func() templ.Component { return templates.BoardPage(emptyBoard()) },
	"board-search": func() templ.Component { return templates.BoardPage(searchedBoard()) },
	"board-beyond": func() templ.Component { return templates.BoardPage(boardBeyond()) },
	"season":       func() templ.Component { return templates.BoardPage(season()) },
	"player":       func() templ.Component { return templates.PlayerPage(player()) },
	"problem":      func() templ.Component { return templates.ProblemPage(problem()) },
}

func TestPagesLookAsBefore(t *testing.T) {
	t.Parallel()
	for name, page := range pages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join("testdata", name+".html")
			got := golden(render(t, page()))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("page differs from testdata (-want +got); -update takes it over:\n%s", diff)
			}
		})
	}
}

func TestPagesHaveNothingInline(t *testing.T) {
	t.Parallel()
	inline := regexp.MustCompile(`(?i)<style|\sstyle=|\son[a-z]+="|<script(?:>| [^>]*>)[^<]|javascript:`)
	for name, page := range pages {
		if found := inline.FindString(render(t, page())); found != "" {
			t.Errorf("%s: got %q, which the content policy forbids", name, found)
		}
	}
}

func TestIdsStandOnceOnAPage(t *testing.T) {
	t.Parallel()
	id := regexp.MustCompile(`\sid="([^"]+)"`)
	reference := regexp.MustCompile(`\s(?:aria-labelledby|for)="([^"]+)"`)
	for name, page := range pages {
		text := render(t, page())
		seen := map[string]bool{}
		for _, found := range id.FindAllStringSubmatch(text, -1) {
			if seen[found[1]] {
				t.Errorf("%s: id %s stands twice", name, found[1])
			}
			seen[found[1]] = true
		}
		for _, found := range reference.FindAllStringSubmatch(text, -1) {
			for _, id := range strings.Fields(found[1]) {
				if !seen[id] {
					t.Errorf("%s: nothing has the id %s", name, id)
				}
			}
		}
	}
}

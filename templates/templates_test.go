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

	"inbox":       func() templ.Component { return templates.InboxPage(inbox()) },
	"inbox-empty": func() templ.Component { return templates.InboxPage(emptyInbox()) },
	"inbox-door":  func() templ.Component { return templates.InboxDoorPage(inboxDoor()) },
	"board-bell":  func() templ.Component { return templates.BoardPage(boardWithBell()) },

	"admin-login":   func() templ.Component { return templates.LoginPage(login()) },
	"admin-boards":  func() templ.Component { return templates.AdminBoardsPage(adminBoards()) },
	"admin-none":    func() templ.Component { return templates.AdminBoardsPage(noAdminBoards()) },
	"admin-new":     func() templ.Component { return templates.BoardFormPage(boardForm()) },
	"admin-preview": func() templ.Component { return templates.PreviewPage(preview()) },
	"admin-board":   func() templ.Component { return templates.AdminBoardPage(adminBoard()) },
	"admin-confirm": func() templ.Component { return templates.ConfirmPage(confirm()) },
	"admin-close":   func() templ.Component { return templates.ConfirmPage(closing()) },
	"admin-players": func() templ.Component { return templates.AdminPlayersPage(adminPlayers()) },
	"admin-held":    func() templ.Component { return templates.AdminHeldPage(adminHeld()) },
	"admin-seasons": func() templ.Component { return templates.AdminSeasonsPage(adminSeasons()) },
	"admin-keys":    func() templ.Component { return templates.AdminKeysPage(adminKeys()) },
	"admin-jobs":    func() templ.Component { return templates.AdminJobsPage(adminJobs()) },
	"admin-audit":   func() templ.Component { return templates.AdminAuditPage(adminAudit()) },
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

func TestHostileWordsAreInert(t *testing.T) {
	t.Parallel()
	markup := regexp.MustCompile(`(?i)<img|<script>|\sonmouseover="`)
	for name, page := range pages {
		if found := markup.FindString(render(t, page())); found != "" {
			t.Errorf("%s: got %q", name, found)
		}
	}
}

func TestEveryFormOfAnAdminCarriesTheToken(t *testing.T) {
	t.Parallel()
	forms := regexp.MustCompile(`(?s)<form[^>]*method="post"[^>]*>(.{0,60})`)
	for name, page := range pages {
		if !strings.HasPrefix(name, "admin-") {
			continue // forms of players are known by where they come from
		}
		for _, form := range forms.FindAllStringSubmatch(render(t, page()), -1) {
			if !strings.HasPrefix(form[1], `<input type="hidden" name="csrf" value="`) {
				t.Errorf("%s: a form begins with %q", name, form[1])
			}
		}
	}
}

func TestIdsStandOnceOnAPage(t *testing.T) {
	t.Parallel()
	id := regexp.MustCompile(`\sid="([^"]+)"`)
	reference := regexp.MustCompile(`\s(?:aria-labelledby|aria-describedby|for|list)="([^"]+)"`)
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
			for id := range strings.FieldsSeq(found[1]) {
				if !seen[id] {
					t.Errorf("%s: nothing has the id %s", name, id)
				}
			}
		}
	}
}

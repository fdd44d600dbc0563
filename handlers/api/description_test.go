package api_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/gofiber/fiber/v2"
	"github.com/google/go-cmp/cmp"

	"leaderboard/handlers/api"
	"leaderboard/templates"
)

func describedForTest(t *testing.T) *openapi3.T {
	t.Helper()
	doc, err := described()
	if err != nil {
		t.Fatalf("load the description: %v", err)
	}
	return doc
}

func TestDescriptionIsValidAndSoAreItsExamples(t *testing.T) {
	t.Parallel()
	if err := describedForTest(t).Validate(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestDescriptionIsServedAsItIsWritten(t *testing.T) {
	t.Parallel()
	app := fiber.New()
	app.Get("/api/openapi.yaml", api.OpenAPI)
	reply, err := app.Test(httptest.NewRequest(http.MethodGet, "/api/openapi.yaml", nil))
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(body, api.OpenAPIYAML()) {
		t.Error("the body differs from the file")
	}
	checkReply(t, http.MethodGet, "/api/openapi.yaml", nil, nil, reply.StatusCode, reply.Header, body)
}

func TestRefusalsListOnlyCodesThatAreExplained(t *testing.T) {
	t.Parallel()
	explained := map[string]bool{}
	for _, code := range describedForTest(t).Components.Schemas["Code"].Value.OneOf {
		explained[code.Value.Const.(string)] = true
	}
	for name, response := range describedForTest(t).Components.Responses {
		schema := response.Value.Content["application/problem+json"].Schema.Value
		for _, part := range schema.AllOf {
			for _, code := range part.Value.Properties["code"].Value.Enum {
				if !explained[code.(string)] {
					t.Errorf("response %s lists the code %s, which nothing explains", name, code)
				}
			}
		}
	}
}

func TestEveryCallListsWhatItMayRefuse(t *testing.T) {
	t.Parallel()
	for path, item := range describedForTest(t).Paths.Map() {
		for method, operation := range item.Operations() {
			var want []string
			if operation.OperationID != "getDescription" { // which costs nothing
				want = append(want, "429", "500", "503")
			}
			if operation.Security != nil && len(*operation.Security) > 0 && len((*operation.Security)[0]) > 0 {
				want = append(want, "401", "403")
			}
			if operation.RequestBody != nil {
				want = append(want, "413", "415", "422")
			}
			if strings.Contains(path, "{board}") {
				want = append(want, "422")
			}
			for _, status := range want {
				if operation.Responses.Value(status) == nil {
					t.Errorf("%s %s does not list the status %s", method, path, status)
				}
			}
		}
	}
}

func renderDocs(t *testing.T) string {
	t.Helper()
	docs, err := api.Docs()
	if err != nil {
		t.Fatal(err)
	}
	var page bytes.Buffer
	if err := templates.DocsPage(docs).Render(t.Context(), &page); err != nil {
		t.Fatal(err)
	}
	return page.String()
}

func TestDocsPageShowsEveryCallShapeAndCode(t *testing.T) {
	t.Parallel()
	page, doc := renderDocs(t), describedForTest(t)
	var want []string
	for path, item := range doc.Paths.Map() {
		for method, operation := range item.Operations() {
			want = append(want, `id="`+operation.OperationID+`"`, "<b>"+method+"</b> "+path)
		}
	}
	for _, code := range doc.Components.Schemas["Code"].Value.OneOf {
		want = append(want, `id="code-`+code.Value.Const.(string)+`"`)
	}
	for name := range doc.Components.Schemas {
		if strings.HasSuffix(name, "Fields") && strings.Contains(page, `id="`+name+`"`) {
			t.Errorf("the page shows %s, which only lends its fields", name)
		}
	}
	for _, words := range append(want, `id="Entry"`, `id="Board"`, `id="BatchSubmission"`, `&#34;points&#34;: 1250`) {
		if !strings.Contains(page, words) {
			t.Errorf("the page lacks %s", words)
		}
	}
}

func TestDocsPageLinksOnlyToWhatIsThere(t *testing.T) {
	t.Parallel()
	page := renderDocs(t)
	there := map[string]int{}
	for _, id := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		there[id[1]]++
	}
	for id, times := range there {
		if times > 1 {
			t.Errorf("the id %s stands %d times", id, times)
		}
	}
	for _, link := range regexp.MustCompile(` href="#([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if there[link[1]] == 0 {
			t.Errorf("a link leads to #%s, which is not there", link[1])
		}
	}
}

func TestDocsPageTakesNothingFromOutside(t *testing.T) {
	t.Parallel()
	page := renderDocs(t)
	for _, outside := range []string{`src="http`, `href="http`, `href="//`, `src="//`, "@import", "<style", " style=", "onclick="} {
		if strings.Contains(page, outside) {
			t.Errorf("the page has %s", outside)
		}
	}
	if curl := regexp.MustCompile(`\$URL[^&]*[{}]`).FindString(page); curl != "" {
		t.Errorf("a command has a gap: %s", curl)
	}
}

func TestCheckReplyNoticesWhatIsNotDescribed(t *testing.T) {
	t.Parallel()
	const (
		top    = "/api/v1/boards/demo/top"
		scores = "/api/v1/boards/demo/scores"
		ok     = `{"board":"demo","season":1,"epoch":"e","version":0,"total":0,"entries":[],"next":null}`
		noSuch = `{"status":404,"title":"Not Found","detail":"no such board","code":"board_not_found"}`
	)
	for name, c := range map[string]struct {
		method, target, sent string
		status               int
		body                 string
		wrong                bool
	}{
		"a reply as described":                {"GET", top, "", 200, ok, false},
		"a refusal as described":              {"GET", top, "", 404, noSuch, false},
		"a field too many":                    {"GET", top, "", 200, strings.Replace(ok, "{", `{"extra":1,`, 1), true},
		"a field too few":                     {"GET", top, "", 200, strings.Replace(ok, `,"next":null`, "", 1), true},
		"a list that is null":                 {"GET", top, "", 200, strings.Replace(ok, "[]", "null", 1), true},
		"a number in exponent form":           {"GET", top, "", 200, strings.Replace(ok, `"total":0`, `"total":1e3`, 1), true},
		"a status that is not listed":         {"GET", top, "", 409, strings.Replace(noSuch, "404", "409", 1), true},
		"a code that is not listed":           {"GET", top, "", 404, strings.Replace(noSuch, "board_", "player_", 1), true},
		"a body with another status":          {"GET", top, "", 404, strings.Replace(noSuch, "404", "422", 1), true},
		"a query accepted against the rules":  {"GET", top + "?limit=0", "", 200, ok, true},
		"a query that nobody knows":           {"GET", top + "?color=red", "", 200, ok, false},
		"a body accepted against the rules":   {"POST", scores, `{"player":"a"}`, 200, `{}`, true},
		"an unknown call that is found":       {"GET", "/api/v1/nothing", "", 200, ok, true},
		"an unknown call":                     {"GET", "/api/v1/nothing", "", 404, strings.Replace(noSuch, "board_", "", 1), false},
		"a method that a path does not have":  {"PATCH", top, "", 405, `{"status":405,"code":"method_not_allowed"}`, false},
		"a body that no call takes":           {"GET", top, "", 413, `{"status":413,"code":"too_large"}`, false},
		"a method that should not be there":   {"PATCH", top, "", 200, ok, true},
		"not modified":                        {"GET", top, "", 304, "", false},
		"not modified where nothing is named": {"GET", "/api/v1/boards", "", 304, "", true},
		"a page outside of the API":           {"GET", "/b/demo", "", 200, "<!doctype html>", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kind := "application/json"
			if c.status >= 400 {
				kind = "application/problem+json"
			}
			notices := &notebook{TB: t}
			checkReply(notices, c.method, c.target, []byte(c.sent), nil, c.status,
				http.Header{"Content-Type": {kind}, "Allow": {"GET"}}, []byte(c.body))
			if noticed := notices.text != ""; noticed != c.wrong {
				t.Errorf("noticed %v (%s), want %v", noticed, notices.text, c.wrong)
			}
		})
	}
}

// notebook is a test that only writes down that it failed.
type notebook struct {
	testing.TB
	text string
}

func (n *notebook) Errorf(format string, values ...any) { n.text += format }

func TestEveryCallIsDescribedAndWhatIsDescribedIsACall(t *testing.T) {
	t.Parallel()
	var routed, told []string
	parameter := regexp.MustCompile(`:(\w+)`)
	for _, route := range newServer(t).app.GetRoutes(true) {
		if strings.HasPrefix(route.Path, "/api/") && route.Method != http.MethodHead {
			routed = append(routed, route.Method+" "+parameter.ReplaceAllString(route.Path, "{$1}"))
		}
	}
	for path, item := range describedForTest(t).Paths.Map() {
		for method := range item.Operations() {
			told = append(told, method+" "+path)
		}
	}
	slices.Sort(routed)
	slices.Sort(told)
	if diff := cmp.Diff(told, slices.Compact(routed)); diff != "" {
		t.Errorf("described (-) and routed (+) differ:\n%s", diff)
	}
}

package static_test

import (
	"bytes"
	"compress/gzip"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"leaderboard/static"
)

var names = []string{
	"app.css", "favicon.svg", "theme.js", "leaderboard.js", "words.js", "rows.js", "search.js", "board.js", "inbox.js",
}

func TestFilesAreKeptForAYearUnderAHashedAddress(t *testing.T) {
	t.Parallel()
	hashed := regexp.MustCompile(`^/static/[a-z]+\.[0-9a-f]{10}\.(css|js|svg)$`)
	for _, name := range names {
		address := static.Address(name)
		if !hashed.MatchString(address) {
			t.Errorf("address of %s: got %s", name, address)
		}
		file, ok := static.Find(address)
		if !ok || len(file.Body) == 0 || file.Type == "" {
			t.Errorf("nothing, or nothing whole, is served at %s", address)
		}
		if want := "public, max-age=31536000, immutable"; file.CacheControl != want || file.Public {
			t.Errorf("%s: got %q, public %v, want %q, public false", name, file.CacheControl, file.Public, want)
		}
	}
}

func TestOnlyTheClientHasAPlainAddress(t *testing.T) {
	t.Parallel()
	for _, name := range names {
		file, ok := static.Find(static.Prefix + name)
		if want := name == "leaderboard.js"; ok != want {
			t.Errorf("%s under its plain name: got %v, want %v", name, ok, want)
		}
		if ok && (file.CacheControl != "public, max-age=300" || !file.Public) {
			t.Errorf("%s: got %q, public %v", name, file.CacheControl, file.Public)
		}
	}
	for _, address := range []string{"", "/", "/static/", "/static/../static.go", "/static/static.go", "/static/leaderboard.test.mjs"} {
		if _, ok := static.Find(address); ok {
			t.Errorf("something is served at %q", address)
		}
	}
}

func TestModulesImportHashedAddresses(t *testing.T) {
	t.Parallel()
	for _, name := range names {
		file, _ := static.Find(static.Address(name))
		for _, imported := range regexp.MustCompile(`from "([^"]+)"`).FindAllSubmatch(file.Body, -1) {
			address := string(imported[1])
			if _, ok := static.Find(address); !ok && !strings.HasPrefix(address, "https://boards.example") {
				t.Errorf("%s imports %s, which is not served", name, address)
			}
		}
	}
}

func TestBrowsersLoadLessThan40KB(t *testing.T) {
	t.Parallel()
	total := 0
	for _, name := range names {
		file, _ := static.Find(static.Address(name))
		total += len(file.Gzipped)
		reader, err := gzip.NewReader(bytes.NewReader(file.Gzipped))
		if err != nil {
			t.Fatal(err)
		}
		var body bytes.Buffer
		if _, err := body.ReadFrom(reader); err != nil || !bytes.Equal(body.Bytes(), file.Body) {
			t.Errorf("%s: compressed it is another file (%v)", name, err)
		}
	}
	if total > 40_000 {
		t.Errorf("got %d bytes compressed, want at most 40000", total)
	}
	t.Logf("%d bytes compressed", total)
}

func TestNoModuleRunsTextAsCodeOrMarkup(t *testing.T) {
	t.Parallel()
	forbidden := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|setAttribute\("(on|style)`)
	for _, name := range names {
		file, _ := static.Find(static.Address(name))
		if strings.HasSuffix(name, ".js") && !bytes.HasPrefix(file.Body, []byte("// @ts-check\n")) {
			t.Errorf("%s does not begin with // @ts-check", name)
		}
		if found := forbidden.Find(file.Body); found != nil {
			t.Errorf("%s has %s", name, found)
		}
	}
}

func TestTheClientFollowsEveryHistory(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not on PATH")
	}
	version, err := exec.Command(node, "-p", "const [a, b] = process.versions.node.split('.'); a > 20 || a == 20 && b > 18").Output()
	if err != nil || strings.TrimSpace(string(version)) != "true" {
		t.Skip("node is older than 20.19")
	}
	out, err := exec.Command(node, "--test", "leaderboard.test.mjs").CombinedOutput()
	if err != nil {
		t.Errorf("node --test: %v\n%s", err, out)
	}
}

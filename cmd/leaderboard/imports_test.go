package main_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Libraries that talk to the world, or that a whole program hangs on. Each is named at the packages that may use it.
const (
	fiber      = "github.com/gofiber/fiber/v2"
	sockets    = "github.com/gofiber/contrib/websocket"
	rawSockets = "github.com/fasthttp/websocket"
	fasthttp   = "github.com/valyala/fasthttp"
	redis      = "github.com/redis/go-redis/v9"
	miniredis  = "github.com/alicebob/miniredis/v2"
	templ      = "github.com/a-h/templ"
	kong       = "github.com/alecthomas/kong"
	prometheus = "github.com/prometheus/client_golang"
	flock      = "github.com/gofrs/flock"
)

// small are libraries without I/O. Every package may use them.
var small = []string{
	"github.com/go-json-experiment/json",
	"github.com/golang-jwt/jwt/v5",
	"github.com/google/go-cmp",
	"github.com/mattn/go-isatty",
	"github.com/netresearch/go-cron",
	"go.yaml.in/yaml/v4",
	"golang.org/x/sync",
	"golang.org/x/text",
	"pgregory.net/rapid",
}

// imports says what a package may use beside the standard library and what is small. Arrows point inward, to store.
// A name ending in /... stands for the packages below it.
var imports = map[string][]string{
	"store":            {},
	"static":           {},
	"store/redisconn":  {redis},
	"store/redisstore": {"store", "store/redisconn", redis},
	"store/embedded":   {"store", "store/redisconn", redis, miniredis, flock},
	"store/storetest":  {"store", "store/redisconn", "store/embedded", redis, miniredis}, // starts the Redis of the tests
	"templates":        {"store", "static", templ},
	"handlers/...":     {"store", "templates", fiber, templ},
	"web/live":         {"store", fiber, fasthttp, sockets, rawSockets, prometheus},
	"web/worker":       {"store", prometheus},
	"web": {
		"store", "handlers/api", "handlers/pages", "web/live", "web/worker", "templates", "static",
		fiber, fasthttp, templ, prometheus,
	},
	"cmd/leaderboard": {
		"store", "store/redisconn", "store/redisstore", "store/embedded", "web", "web/live", "web/worker",
		fiber, fasthttp, redis, kong, prometheus,
	},
}

// onlyIn names files that alone may use a library within their package.
var onlyIn = map[string]string{
	"web/live " + fiber:      "socket.go",
	"web/live " + fasthttp:   "socket.go",
	"web/live " + sockets:    "socket.go",
	"web/live " + rawSockets: "socket.go",
}

func TestPackagesImportOnlyWhatTheyMay(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		switch {
		case entry.IsDir() && file != root && (strings.HasPrefix(name, ".") || name == "node_modules" || name == "data"):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil // tests may import more
		}
		within, err := filepath.Rel(root, filepath.Dir(file))
		if err != nil {
			return err
		}
		checkImports(t, filepath.ToSlash(within), file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func checkImports(t *testing.T, within, file string) {
	t.Helper()
	allowed, ok := imports[within]
	if !ok {
		allowed, ok = imports[path.Dir(within)+"/..."]
	}
	if !ok {
		t.Errorf("%s: the package %s is not in the table of this test, nor in ARCHITECTURE.md", file, within)
		return
	}
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), file, source, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range parsed.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		if reason := refusal(within, filepath.Base(file), imported, allowed); reason != "" {
			t.Errorf("%s imports %s: %s", file, imported, reason)
		}
	}
}

// refusal says why a file may not import a package; empty, it may.
func refusal(within, file, imported string, allowed []string) string {
	if ours, ok := strings.CutPrefix(imported, "leaderboard/"); ok {
		if slices.Contains(allowed, ours) {
			return ""
		}
		return "arrows point inward, to store; the table says what this package may use"
	}
	first, _, _ := strings.Cut(imported, "/")
	if !strings.Contains(first, ".") {
		return "" // the standard library
	}
	of := func(library string) bool { return imported == library || strings.HasPrefix(imported, library+"/") }
	at := slices.IndexFunc(allowed, of)
	switch {
	case slices.ContainsFunc(small, of):
		return ""
	case at < 0:
		return "not one of its libraries; the table says which those are"
	}
	if only, ok := onlyIn[within+" "+allowed[at]]; ok && file != only {
		return "in this package only " + only + " may"
	}
	return ""
}

func TestImportTableRefusesWhatItShould(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		within, file, imported string
		refused                bool
	}{
		"the words of the game without Redis":  {"store", "board.go", redis, true},
		"the words of the game without Fiber":  {"store", "board.go", fiber, true},
		"handlers without Redis":               {"handlers/...", "scores.go", redis, true},
		"handlers without the adapter":         {"handlers/...", "scores.go", "leaderboard/store/redisstore", true},
		"the hub without sockets":              {"web/live", "hub.go", sockets, true},
		"the socket file with sockets":         {"web/live", "socket.go", sockets, false},
		"a part of an allowed library":         {"handlers/...", "scores.go", fiber + "/utils", false},
		"a library whose name only begins so":  {"handlers/...", "scores.go", fiber + "x", true},
		"the standard library":                 {"store", "board.go", "encoding/json", false},
		"a library that nobody thought about":  {"web", "app.go", "example.org/new", true},
		"a small library":                      {"store", "player.go", "golang.org/x/text/unicode/norm", false},
		"a package of ours that is not listed": {"templates", "rows.go", "leaderboard/web", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reason := refusal(c.within, c.file, c.imported, imports[c.within])
			if refused := reason != ""; refused != c.refused {
				t.Errorf("%s/%s importing %s: refused %v (%s), want %v", c.within, c.file, c.imported, refused, reason, c.refused)
			}
		})
	}
}

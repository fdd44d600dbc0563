package main

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/go-json-experiment/json"

	"leaderboard/store/storetest"
)

// chromium is the one browser that all tests of this process share. It starts with the first test that needs it.
var chromium browser

type browser struct {
	once  sync.Once
	ctx   context.Context
	err   error
	close func() // nil: nothing to close
}

// start returns the context in which tabs open.
func (b *browser) start(t testing.TB) context.Context {
	t.Helper()
	if _, err := exec.LookPath("chromium"); err != nil {
		storetest.Require(t, "browser")
	}
	b.once.Do(func() {
		// The folder of its profile is a new one, and goes when the browser does. Whatever happens to this process,
		// the browser ends with it.
		flags := append(chromedp.DefaultExecAllocatorOptions[:],
			chromedp.ExecPath("chromium"), chromedp.NoSandbox, chromedp.DisableGPU,
			chromedp.Flag("disable-component-update", true), chromedp.Flag("lang", "en-US"),
		)
		ctx, end := chromedp.NewExecAllocator(context.Background(), flags...)
		b.ctx, _ = chromedp.NewContext(ctx)
		b.err = chromedp.Do(b.ctx)
		b.close = end
	})
	if b.err != nil {
		t.Fatalf("chromium does not start: %v", b.err)
	}
	return b.ctx
}

// end closes the browser, if there is one. Nobody may start it after that.
func (b *browser) end() {
	b.once.Do(func() {})
	if b.close != nil {
		b.close()
	}
}

// tab is a page in front of a reader who comes for the first time: no cookies, nothing kept. A test fails when its page
// complains on the console, does what the content policy forbids, or loads anything from elsewhere.
type tab struct {
	t    *testing.T
	ctx  context.Context
	home string // where everything comes from

	mu         sync.Mutex
	complaints []string
	forgiven   *regexp.Regexp // complaints that belong to the test
	frames     []string       // that came through sockets
}

// look is how a reader sees pages.
type look func(t *tab) error

// open starts a tab at a path of a server.
func (p *process) open(t *testing.T, path string, looks ...look) *tab {
	t.Helper()
	b := &tab{t: t, home: p.url}
	parent := chromium.start(t)
	var cancel context.CancelFunc
	b.ctx, cancel = chromedp.NewContext(parent, chromedp.WithNewBrowserContext(), chromedp.WithListener(b.hear))
	t.Cleanup(func() {
		cancel()
		b.judge()
	})
	if err := chromedp.Do(b.ctx); err != nil { // without a deadline: the tab would end with it
		t.Fatalf("no tab opens: %v", err)
	}
	for _, look := range append([]look{wide}, looks...) {
		if err := look(b); err != nil {
			t.Fatal(err)
		}
	}
	b.visit(path)
	return b
}

// How readers see pages.
var (
	wide  = sized(1280, 900)
	phone = sized(360, 740)
	calm  = preferring("prefers-reduced-motion", "reduce")
)

func sized(width, height int64) look {
	return func(b *tab) error {
		return chromedp.Do(b.ctx, chromedp.EmulateViewport(width, height))
	}
}

// preferring takes names and values of media features, by turns.
func preferring(wishes ...string) look {
	return func(b *tab) error {
		var params emulation.SetEmulatedMediaParams
		for wish := range slices.Chunk(wishes, 2) {
			params.Features = append(params.Features, &emulation.MediaFeature{Name: wish[0], Value: wish[1]})
		}
		_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, params)
		return err
	}
}

// scriptless is a browser with JavaScript off.
func scriptless(b *tab) error {
	_, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	return err
}

// before runs a script in every page before its own.
func before(script string) look {
	return func(b *tab) error {
		_, err := chromedp.Call(b.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
		return err
	}
}

// hear takes down what a page should not do. It runs between the messages of the browser, so it does nothing else.
func (b *tab) hear(event any) {
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		if kind := string(e.Type); kind == "error" || kind == "warning" || kind == "assert" {
			var words []string
			for _, arg := range e.Args {
				words = append(words, string(arg.Value)+arg.Description)
			}
			b.complain("the console: %s %s", kind, strings.Join(words, " "))
		}
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			text += " " + e.ExceptionDetails.Exception.Description
		}
		b.complain("an exception: %s", text)
	case *log.EventEntryAdded: // also what the content policy stopped, and what could not be loaded
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			b.complain("the log: %s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL)
		}
	case *network.EventRequestWillBeSent:
		if e.Request != nil && !strings.HasPrefix(e.Request.URL, b.home+"/") && !strings.HasPrefix(e.Request.URL, "data:") {
			b.complain("a request to %s", e.Request.URL)
		}
	case *network.EventWebSocketCreated:
		if !strings.HasPrefix(e.URL, "ws"+strings.TrimPrefix(b.home, "http")+"/") {
			b.complain("a socket to %s", e.URL)
		}
	case *network.EventWebSocketFrameReceived:
		b.mu.Lock()
		defer b.mu.Unlock()
		b.frames = append(b.frames, string(e.Response.PayloadData))
	}
}

// heard waits until a frame has come that has these words in it.
func (b *tab) heard(words string) {
	b.t.Helper()
	within(b.t, patience, "a frame has "+words, func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return slices.ContainsFunc(b.frames, func(frame string) bool { return strings.Contains(frame, words) })
	})
}

func (b *tab) complain(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.complaints = append(b.complaints, fmt.Sprintf(format, args...))
}

// forgive lets complaints pass that match the pattern.
func (b *tab) forgive(pattern string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.forgiven = regexp.MustCompile(pattern)
}

func (b *tab) judge() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, complaint := range b.complaints {
		if b.forgiven == nil || !b.forgiven.MatchString(complaint) {
			b.t.Errorf("the page was to be quiet; got %s", complaint)
		}
	}
}

// do has the browser act.
func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// visit goes to a path and waits until everything is loaded.
func (b *tab) visit(path string) {
	b.t.Helper()
	b.do(chromedp.Navigate(b.home + path))
}

// ask evaluates an expression in the page, and waits if it is a promise.
func ask[T any](b *tab, expression string) T {
	b.t.Helper()
	value, err := tryAsk[T](b, expression)
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return value
}

func tryAsk[T any](b *tab, expression string) (T, error) {
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// until waits until an expression is true in the page, also in the next one. What it names is not there yet or no
// longer counts as false.
func (b *tab) until(what, expression string) {
	b.t.Helper()
	var holds bool
	var err error
	for deadline := time.Now().Add(patience); !holds; {
		if time.Now().After(deadline) {
			shown, _ := tryAsk[string](b, "document.body.innerText")
			b.t.Fatalf("not yet so that %s: %s: %v; the page says:\n%s", what, expression, err, shown)
		}
		if holds, err = tryAsk[bool](b, "Boolean("+expression+")"); !holds {
			time.Sleep(20 * time.Millisecond)
		}
	}
}

// live waits until the page shows that it is.
func (b *tab) live() {
	b.t.Helper()
	b.until("the page is live", `document.querySelector("#pill").dataset.state === "live"`)
}

// text returns what is written in an element.
func (b *tab) text(selector string) string {
	b.t.Helper()
	return ask[string](b, "document.querySelector("+js(selector)+").textContent.trim()")
}

// ranked is an expression for the players in the order of the list.
const ranked = `[...document.querySelectorAll("#rows:not([hidden]) > .row")].map(row => row.dataset.player).join()`

// untilRanked waits until the list shows these players in this order.
func (b *tab) untilRanked(players string) {
	b.t.Helper()
	b.until("the order is "+players, ranked+" === "+js(players))
}

// js writes a value as an expression.
func js(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // no test has such values
	}
	return string(text)
}

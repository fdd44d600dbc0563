package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"leaderboard/handlers/api"
	"leaderboard/store"
)

func TestErrorsBecomeProblems(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err    error
		status int
		code   string
		field  string
	}{
		{store.Invalid("points", "must be a number"), 422, "invalid", "points"},
		{&api.MalformedError{Detail: "x", Field: "name"}, 422, "malformed_json", "name"},
		{api.ErrUnauthorized, 401, "unauthorized", ""},
		{&api.ForbiddenError{Detail: "x", Field: "slot"}, 403, "forbidden", "slot"},
		{store.ErrBanned, 403, "player_banned", ""},
		{store.ErrBoardNotFound, 404, "board_not_found", ""},
		{store.ErrPlayerNotFound, 404, "player_not_found", ""},
		{store.ErrSeasonNotFound, 404, "season_not_found", ""},
		{fiber.ErrNotFound, 404, "not_found", ""},
		{fiber.ErrMethodNotAllowed, 405, "method_not_allowed", ""},
		{fiber.ErrRequestTimeout, 408, "request_timeout", ""},
		{store.ErrSeasonClosed, 409, "season_closed", "season"},
		{store.ErrBoardInUse, 409, "board_in_use", ""},
		{store.ErrOnceConflict, 409, "idempotency_conflict", ""},
		{store.ErrNotBanned, 409, "not_banned", ""},
		{api.ErrTooLarge, 413, "too_large", ""},
		{fiber.ErrRequestEntityTooLarge, 413, "too_large", ""},
		{api.ErrMediaType, 415, "unsupported_media_type", ""},
		{fiber.ErrForbidden, 403, "forbidden", ""},
		{fiber.ErrUpgradeRequired, 426, "upgrade_required", ""},
		{fiber.ErrTeapot, 418, "refused", ""},
		{&store.LimitError{Policy: "player", RetryAfter: time.Second}, 429, "rate_limited", ""},
		{fiber.ErrRequestHeaderFieldsTooLarge, 431, "headers_too_large", ""},
		{fiber.NewError(400, "secret words"), 400, "bad_request", ""},
		{fiber.NewError(500, "secret words"), 500, "internal", ""},
		{errors.New("secret words"), 500, "internal", ""},
		{store.ErrUnavailable, 503, "unavailable", ""},
		{context.DeadlineExceeded, 503, "unavailable", ""},
	} {
		for _, err := range []error{c.err, fmt.Errorf("api: submit: %w", c.err)} {
			got := problemOf(err)
			if got.Status != c.status || got.Code != c.code || got.Field != c.field || got.Detail == "" || strings.Contains(got.Detail, "secret") {
				t.Errorf("%v becomes %+v, want %d %s %q", err, got, c.status, c.code, c.field)
			}
		}
	}
}

func TestAPanicIsAnErrorOfOursWithoutItsWords(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	s.store.states = func(context.Context) ([]store.BoardState, error) { panic("secret\nwords") }
	for path, want := range map[string]string{"/api/v1/boards": `"code":"internal"`, "/": "<!doctype html>"} {
		response, body := s.call(t, "GET", path)
		if response.StatusCode != 500 || !strings.Contains(body, want) || strings.Contains(body, "secret") {
			t.Errorf("%s answers %d %s", path, response.StatusCode, body)
		}
	}
	log := s.log.String()
	if strings.Count(log, "\n") != 2 || !strings.Contains(log, `secret\nwords`) || !strings.Contains(log, "edge_test.go") {
		t.Errorf("two panics are logged as\n%s\nwant a line each, with the stack", log)
	}
}

func TestAPageThatTookTooLongIsAnsweredWithAPage(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(d *Deps) { d.Times.Request = 20 * time.Millisecond })
	s.store.states = func(ctx context.Context) ([]store.BoardState, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	response, body := s.call(t, "GET", "/")
	if response.StatusCode != 503 || !strings.Contains(body, "<!doctype html>") {
		t.Errorf("answers %d %.200s, want a page with 503", response.StatusCode, body)
	}
}

func TestOneLineIsLoggedForAFailureAndNoneForTheRest(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	s.call(t, "GET", "/api/v1/boards")
	if log := s.log.String(); log != "" {
		t.Errorf("a request that went well is logged: %s", log)
	}
	s.store.states = func(context.Context) ([]store.BoardState, error) {
		return nil, fmt.Errorf("redisstore: boards: %w: dial tcp: refused\nlevel=ERROR forged", store.ErrUnavailable)
	}
	response, body := s.call(t, "GET", "/api/v1/boards")
	wantProblem(t, response.StatusCode, body, 503, "unavailable")
	log := s.log.String()
	for _, want := range []string{
		"level=ERROR", "status=503", "code=unavailable", "method=GET", "route=/api/v1/boards", "redisstore: boards:",
		"request=" + response.Header.Get("X-Request-Id"),
	} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %s: %s", want, log)
		}
	}
	if strings.Count(log, "\n") != 1 {
		t.Errorf("more than a line: %s", log)
	}
	if strings.Contains(body, "dial tcp") {
		t.Errorf("our insides are shown: %s", body)
	}
}

func TestFailuresAreCalledAsTheirSenderCalledThem(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	for given, kept := range map[string]bool{"abc-123_X.y": true, "bad id": false, "<b>": false, strings.Repeat("x", 65): false} {
		response, _ := s.call(t, "GET", "/nowhere", "X-Request-Id: "+given)
		if got := response.Header.Get("X-Request-Id"); (got == given) != kept || got == "" {
			t.Errorf("%q is called %q", given, got)
		}
	}
}

func TestAddressesAreTakenLiterally(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	for _, path := range []string{"/API/v1/boards", "/api/v1/Boards", "/api/v1/boards/", "/api//v1/boards", "/api/v1/boards/a/top/", "/api/v2/boards", "/healthz/"} {
		if response, body := s.call(t, "GET", path); response.StatusCode != 404 {
			t.Errorf("%s answers %d %.80s, want 404", path, response.StatusCode, body)
		}
	}
}

func TestMethodsThatAreNotThere(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	for _, c := range []struct {
		method, path string
		status       int
		allow        string
	}{
		{"PATCH", "/api/v1/boards", 405, "GET, HEAD"},
		{"DELETE", "/api/v1/boards", 405, "GET, HEAD"},
		{"GET", "/api/v1/boards/demo/scores", 405, "POST"},
		{"POST", "/api/v1/boards/demo", 405, "GET, HEAD, PUT, DELETE"},
		{"OPTIONS", "/api/v1/boards/demo", 204, "GET, HEAD, PUT, DELETE"},
		{"OPTIONS", "/", 204, "GET, HEAD"},
		{"OPTIONS", "/nowhere", 404, ""},
		{"HEAD", "/api/v1/boards", 200, ""},
		{"POST", "/healthz", 405, "GET, HEAD"},
	} {
		response, body := s.call(t, c.method, c.path)
		if got := response.Header.Get("Allow"); response.StatusCode != c.status || got != c.allow {
			t.Errorf("%s %s answers %d %s, Allow %q; want %d, %q", c.method, c.path, response.StatusCode, body, got, c.status, c.allow)
		}
	}
}

func TestSecurityHeaders(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	for path, page := range map[string]bool{
		"/": true, "/nowhere": true, "/b/demo/nowhere": true, "/api/v1/boards": false, "/api/nowhere": false, "/healthz": false, "/metrics": false,
	} {
		response, _ := s.call(t, "GET", path)
		if got := response.Header.Get("X-Content-Type-Options"); got != "nosniff" {
			t.Errorf("%s: X-Content-Type-Options %q", path, got)
		}
		policy := response.Header.Get("Content-Security-Policy")
		if page != strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: Content-Security-Policy %q", path, policy)
		}
		if page != (response.Header.Get("Referrer-Policy") == "same-origin") {
			t.Errorf("%s: Referrer-Policy %q", path, response.Header.Get("Referrer-Policy"))
		}
		if got := response.Header.Get("Server"); got != "" {
			t.Errorf("%s: Server %q", path, got)
		}
	}
}

func TestPeopleGetPagesAndProgramsGetProblems(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	for path, want := range map[string]string{
		"/nowhere": "text/html; charset=utf-8", "/b/demo/x/y": "text/html; charset=utf-8", "/static/none.css": "text/html; charset=utf-8",
		"/api/nowhere": "application/problem+json", "/api/v1/boards/demo/top": "application/problem+json",
	} {
		response, body := s.call(t, "GET", path)
		if got := response.Header.Get("Content-Type"); got != want || response.StatusCode != 404 {
			t.Errorf("%s answers %d %s: %.80s", path, response.StatusCode, got, body)
		}
	}
}

func TestALimitSaysWhenToComeBack(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	for wait, want := range map[time.Duration]string{
		0: "1", time.Millisecond: "1", time.Second: "1", 1001 * time.Millisecond: "2", 90 * time.Second: "90",
	} {
		s.store.states = func(context.Context) ([]store.BoardState, error) {
			return nil, fmt.Errorf("x: %w", &store.LimitError{Policy: "address", RetryAfter: wait})
		}
		response, body := s.call(t, "GET", "/api/v1/boards")
		wantProblem(t, response.StatusCode, body, 429, "rate_limited")
		if got := response.Header.Get("Retry-After"); got != want {
			t.Errorf("after %v: Retry-After %s, want %s", wait, got, want)
		}
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	var ping, subscribed error
	s := newServer(t, func(d *Deps) {
		d.Ping = func(context.Context) error { return ping }
		d.Subscribed = func(context.Context) error { return subscribed }
	})
	down := errors.New("down")
	for _, c := range []struct {
		ping, subscribed error
		ready            int
	}{{nil, nil, 200}, {down, nil, 503}, {nil, down, 503}} {
		ping, subscribed = c.ping, c.subscribed
		if response, body := s.call(t, "GET", "/readyz"); response.StatusCode != c.ready {
			t.Errorf("ping %v, subscribed %v: ready answers %d %s, want %d", c.ping, c.subscribed, response.StatusCode, body, c.ready)
		}
		if response, body := s.call(t, "GET", "/healthz"); response.StatusCode != 200 {
			t.Errorf("ping %v, subscribed %v: healthz answers %d %s", c.ping, c.subscribed, response.StatusCode, body)
		}
	}
}

func TestReadinessWaitsASecondAtMost(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(d *Deps) {
		d.Ping = func(ctx context.Context) error {
			deadline, ok := ctx.Deadline()
			if left := time.Until(deadline); !ok || left > time.Second {
				t.Errorf("the ping has %v", left)
			}
			return nil
		}
	})
	s.call(t, "GET", "/readyz")
}

func TestMetricsCountByRouteAndNeverByAddress(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	for i := range 20 {
		s.call(t, "GET", fmt.Sprintf("/api/v1/boards/b%d/top", i))
		s.call(t, "GET", fmt.Sprintf("/nowhere/%d", i))
		s.call(t, "PATCH", fmt.Sprintf("/api/v1/boards/b%d", i))
	}
	s.call(t, "HEAD", "/api/v1/boards")
	response, body := s.call(t, "GET", "/metrics")
	if response.StatusCode != http.StatusOK {
		t.Fatalf("answers %d", response.StatusCode)
	}
	for _, want := range []string{
		`leaderboard_http_request_seconds_count{method="GET",route="/api/v1/boards/:board/top",status="4xx"} 20`,
		`leaderboard_http_request_seconds_count{method="other",route="other",status="4xx"} 40`,
		`leaderboard_http_request_seconds_count{method="HEAD",route="/api/v1/boards",status="2xx"} 1`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("lacks %s", want)
		}
	}
	if got := strings.Count(body, "leaderboard_http_request_seconds_count"); got != 3 {
		t.Errorf("%d series, want 3", got)
	}
}

func TestStaticFilesAreKeptForAYear(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	_, page := s.call(t, "GET", "/")
	at := strings.Index(page, "/static/app.")
	if at < 0 {
		t.Fatalf("the page names no stylesheet: %.300s", page)
	}
	address, _, _ := strings.Cut(page[at:], `"`)
	response, body := s.call(t, "GET", address)
	if response.StatusCode != 200 || !strings.Contains(response.Header.Get("Cache-Control"), "immutable") || body == "" {
		t.Errorf("%s answers %d %v", address, response.StatusCode, response.Header)
	}
	if response, _ := s.call(t, "GET", address, "If-None-Match: "+response.Header.Get("ETag")); response.StatusCode != 304 {
		t.Errorf("%s answers %d to its own ETag, want 304", address, response.StatusCode)
	}
	if response, _ := s.call(t, "GET", address, "Accept-Encoding: gzip"); response.Header.Get("Content-Encoding") != "gzip" {
		t.Errorf("%s comes uncompressed", address)
	}
}

package web

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/gofiber/fiber/v2"

	"leaderboard/handlers/api"
	"leaderboard/store"
)

// failures are the errors that callers are told apart, and what they are told. The first that fits counts.
var failures = [...]struct {
	is      error
	problem api.Problem
}{
	{api.ErrUnauthorized, api.Problem{Status: 401, Code: "unauthorized", Detail: "This call needs a key: Authorization: Bearer KEY."}},
	{api.ErrTooLarge, api.Problem{Status: 413, Code: "too_large", Detail: "A body may be up to 1 MiB, also after inflating."}},
	{api.ErrMediaType, api.Problem{Status: 415, Code: "unsupported_media_type", Detail: "The body must be application/json in UTF-8, plain or with Content-Encoding: gzip."}},
	{api.ErrNoPlayer, api.Problem{Status: 401, Code: "unauthorized", Detail: "This needs a player's token that is still good: Authorization: Bearer TOKEN, or the cookie of POST /api/v1/me."}},
	{store.ErrBanned, api.Problem{Status: 403, Code: "player_banned", Detail: "The player is banned on this board."}},
	{store.ErrBoardNotFound, api.Problem{Status: 404, Code: "board_not_found", Detail: "There is no such board."}},
	{store.ErrPlayerNotFound, api.Problem{Status: 404, Code: "player_not_found", Detail: "There is no such player on this board."}},
	{store.ErrSeasonNotFound, api.Problem{Status: 404, Code: "season_not_found", Detail: "There never was such a season, or it is no longer kept."}},
	{store.ErrKeyNotFound, api.Problem{Status: 404, Code: "key_not_found", Detail: "There is no such key, or no more."}},
	{store.ErrHeldNotFound, api.Problem{Status: 404, Code: "held_not_found", Detail: "No such score waits on this board, or no more."}},
	{store.ErrJobNotFound, api.Problem{Status: 404, Code: "job_not_found", Detail: "There is no such job: it never was, is done, or was discarded."}},
	{store.ErrRewardNotFound, api.Problem{Status: 404, Code: "reward_not_found", Detail: "There is no such reward in this inbox, or no more."}},
	{store.ErrJobNotDead, api.Problem{Status: 409, Code: "job_not_dead", Detail: "Only a dead job can be tried again: this one is still on its way."}},
	{store.ErrSeasonNotRunning, api.Problem{Status: 409, Code: "season_not_running", Detail: "This is not the running season.", Field: "season"}},
	{store.ErrNotReopenable, api.Problem{Status: 409, Code: "not_reopenable", Detail: "The season cannot run again: it is not the last one, the one after it has scores or bans, or its rewards are being paid."}},
	{store.ErrSeasonClosed, api.Problem{Status: 409, Code: "season_closed", Detail: "The season is closed.", Field: "season"}},
	{store.ErrNotBanned, api.Problem{Status: 409, Code: "not_banned", Detail: "The player is not banned on this board."}},
	{store.ErrBoardInUse, api.Problem{Status: 409, Code: "board_in_use", Detail: "The running season has scores or bans, so what its order rests on cannot change."}},
	{store.ErrOnceConflict, api.Problem{Status: 409, Code: "idempotency_conflict", Detail: "This Idempotency-Key was used with another body."}},
	{store.ErrUnavailable, unavailable},
	{context.DeadlineExceeded, unavailable},
	{context.Canceled, unavailable},
}

var unavailable = api.Problem{Status: 503, Code: "unavailable", Detail: "The store does not answer. Try again."}

// problemOf says what a caller is told of an error. Of errors that are not meant for callers that is nothing.
func problemOf(err error) api.Problem {
	if e, ok := errors.AsType[*store.InvalidError](err); ok {
		return api.Problem{Status: 422, Code: "invalid", Detail: e.Reason, Field: e.Field}
	}
	if e, ok := errors.AsType[*api.MalformedError](err); ok {
		return api.Problem{Status: 422, Code: "malformed_json", Detail: e.Detail, Field: e.Field}
	}
	if e, ok := errors.AsType[*api.ForbiddenError](err); ok {
		return api.Problem{Status: 403, Code: "forbidden", Detail: e.Detail, Field: e.Field}
	}
	if e, ok := errors.AsType[*store.LimitError](err); ok {
		return api.Problem{Status: 429, Code: "rate_limited", Detail: limitWords(e)}
	}
	for i := range failures {
		if errors.Is(err, failures[i].is) {
			return failures[i].problem
		}
	}
	if e, ok := errors.AsType[*fiber.Error](err); ok {
		return problemOfFiber(e)
	}
	return api.Problem{Status: 500, Code: "internal", Detail: "Something went wrong on our side. It is in the log."}
}

// limitWords tells of a limit also where no header can: in a batch each score has its own.
func limitWords(e *store.LimitError) string {
	return "Too many requests: the limit of the " + e.Policy + " is reached. Try again in " +
		strconv.FormatInt(max(1, seconds(e.RetryAfter)), 10) + " s."
}

// problemOfFiber says what is told of the errors of Fiber and of the server below it. Their own words are not shown.
func problemOfFiber(e *fiber.Error) api.Problem {
	switch e.Code {
	case fiber.StatusForbidden: // a page of another site that asks for a socket
		return api.Problem{Status: e.Code, Code: "forbidden", Detail: "Other sites may not do this."}
	case fiber.StatusUpgradeRequired:
		return api.Problem{Status: e.Code, Code: "upgrade_required", Detail: "This address is for WebSockets."}
	case fiber.StatusNotFound:
		return api.Problem{Status: e.Code, Code: "not_found", Detail: "There is nothing at this address."}
	case fiber.StatusMethodNotAllowed:
		return api.Problem{Status: e.Code, Code: "method_not_allowed", Detail: "This address does not take this method; Allow says which."}
	case fiber.StatusRequestTimeout:
		return api.Problem{Status: e.Code, Code: "request_timeout", Detail: "The request took too long to arrive."}
	case fiber.StatusRequestEntityTooLarge:
		return failures[1].problem
	case fiber.StatusRequestHeaderFieldsTooLarge:
		return api.Problem{Status: e.Code, Code: "headers_too_large", Detail: "The header of the request is over 4 KiB."}
	case fiber.StatusBadRequest, fiber.StatusBadGateway: // the latter is how Fiber calls a connection that broke
		return api.Problem{Status: fiber.StatusBadRequest, Code: "bad_request", Detail: "The request is not HTTP as it should be."}
	}
	if e.Code >= 400 && e.Code < 500 {
		return api.Problem{Status: e.Code, Code: "refused", Detail: http.StatusText(e.Code) + "."}
	}
	return api.Problem{Status: 500, Code: "internal", Detail: "Something went wrong on our side. It is in the log."}
}

// failing marks a request whose failure is being answered.
type failing struct{}

// fail answers a request that failed, and writes the one line about it. Everything that goes wrong ends here.
func (e *edge) fail(c *fiber.Ctx, err error) {
	routed := len(c.Route().Handlers) > 0 // otherwise the request could not be read
	if !routed {
		closeGently(c)
		if header := &c.Request().Header; errors.Is(err, fiber.ErrRequestEntityTooLarge) && needsKey(header) && e.unauthorized(header) {
			err = api.ErrUnauthorized // see headerReceived
		}
	}
	if c.Method() == fiber.MethodOptions && errors.Is(err, fiber.ErrMethodNotAllowed) {
		c.Status(fiber.StatusNoContent)
		return
	}
	problem := problemOf(err)
	id := requestID(c)
	e.logFailure(c, problem, id, err)
	e.setFailureHeaders(c, problem, err, id)
	again := c.Context().UserValue(failing{}) != nil // making the page is what failed
	c.Context().SetUserValue(failing{}, true)
	if routed && !again && !forPrograms(c.Path()) {
		// The page has time of its own: that of the request may be up, which is why it failed.
		deadline := newDeadline(time.Now().Add(e.limit))
		defer deadline.release()
		c.SetUserContext(deadline)
		pageErr := e.pages.Error(c, problem.Status, problem.Code, problem.Detail, id)
		if pageErr == nil {
			return
		}
		e.logFailure(c, problem, id, pageErr)
	}
	sendProblem(c, problem)
}

func (e *edge) setFailureHeaders(c *fiber.Ctx, problem api.Problem, err error, id string) {
	c.Set(fiber.HeaderXRequestID, id)
	c.Set(fiber.HeaderCacheControl, "no-store")
	switch problem.Status {
	case fiber.StatusUnauthorized:
		c.Set(fiber.HeaderWWWAuthenticate, `Bearer realm="leaderboard"`)
	case fiber.StatusTooManyRequests:
		if limit, ok := errors.AsType[*store.LimitError](err); ok {
			e.limits.refused(&c.Response().Header, limit)
			e.metrics.limited.WithLabelValues(limit.Policy).Inc()
		}
	case fiber.StatusServiceUnavailable:
		if len(c.Response().Header.Peek(fiber.HeaderRetryAfter)) == 0 { // whoever refused may know better
			c.Set(fiber.HeaderRetryAfter, "1")
		}
	}
}

// sendProblem answers with application/problem+json (RFC 9457).
func sendProblem(c *fiber.Ctx, p api.Problem) {
	body := append([]byte(nil), `{"status":`...)
	body = strconv.AppendInt(body, int64(p.Status), 10)
	member := func(name, value string) {
		body = append(append(append(body, `,"`...), name...), `":`...)
		body, _ = jsontext.AppendQuote(body, value) // fails for invalid UTF-8 only, and then replaces it
	}
	member("title", http.StatusText(p.Status))
	member("detail", p.Detail)
	member("code", p.Code)
	if p.Field != "" {
		member("field", p.Field)
	}
	c.Status(p.Status)
	c.Response().Header.SetContentType("application/problem+json")
	c.Response().SetBody(append(body, '}'))
}

// logFailure writes a line for a request that failed: faults of ours for all to see, refusals for who looks closely.
func (e *edge) logFailure(c *fiber.Ctx, problem api.Problem, id string, err error) {
	level := slog.LevelDebug
	if problem.Status >= http.StatusInternalServerError {
		level = slog.LevelError
	}
	if !e.log.Enabled(c.UserContext(), level) {
		return
	}
	attributes := []slog.Attr{
		slog.Int("status", problem.Status), slog.String("code", problem.Code), slog.String("method", c.Method()),
		slog.String("route", c.Route().Path), slog.String("path", c.Path()), slog.String("address", e.clientAddress(c).String()),
		slog.String("request", id), slog.String("error", err.Error()),
	}
	if stack, ok := c.Context().UserValue(stackLocal{}).(string); ok {
		attributes = append(attributes, slog.String("stack", stack))
	}
	e.log.LogAttrs(c.UserContext(), level, "request failed", attributes...)
}

// requestID returns what a failed request is called in its reply and in the log: as its sender called it, if that is
// fit to be shown, else a name of our own.
func requestID(c *fiber.Ctx) string {
	const longest = 64
	given := c.Request().Header.Peek(fiber.HeaderXRequestID)
	if len(given) >= 1 && len(given) <= longest && isPlain(given) {
		return string(given)
	}
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails
	return hex.EncodeToString(id[:])
}

func isPlain(text []byte) bool {
	for _, b := range text {
		if (b < '0' || b > '9') && (b < 'a' || b > 'z') && (b < 'A' || b > 'Z') && b != '-' && b != '_' && b != '.' {
			return false
		}
	}
	return true
}

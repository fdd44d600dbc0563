package api_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"leaderboard/handlers/api"
)

// described is the API description, loaded once for all tests.
var described = sync.OnceValues(func() (*openapi3.T, error) {
	return openapi3.NewLoader().LoadFromData(api.OpenAPIYAML())
})

// checkReply fails the test where a call and its reply are not as the description of the API has them: a status or a
// code that is not listed, a field too many or too few, a call that was accepted though the description refuses it.
// What lies outside of /api is left alone.
func checkReply(
	t testing.TB, method, target string, sent []byte, sentHeader http.Header, status int, header http.Header, body []byte,
) {
	t.Helper()
	path, _, _ := strings.Cut(target, "?")
	if !strings.HasPrefix(path, "/api/") {
		return
	}
	doc, err := described()
	if err != nil {
		t.Fatalf("load the description: %v", err)
	}
	if err := followsDescription(doc, call{method, target, sent, sentHeader}, status, header, body); err != nil {
		t.Errorf("%s %s answers %d %.2000s\nwhich is not as described: %.2000v", method, target, status, body, err)
	}
}

// call is a request as it was sent.
type call struct {
	method, target string
	body           []byte
	header         http.Header
}

// anyCall is how any call may be refused, before it is known which one it is.
var anyCall = map[int]string{
	http.StatusBadRequest:                  "bad_request",
	http.StatusRequestTimeout:              "request_timeout",
	http.StatusRequestEntityTooLarge:       "too_large",
	http.StatusRequestHeaderFieldsTooLarge: "headers_too_large",
}

func followsDescription(doc *openapi3.T, sent call, status int, header http.Header, body []byte) error {
	if code, ok := anyCall[status]; ok {
		return isProblem(status, header, body, status, code)
	}
	path, _, _ := strings.Cut(sent.target, "?")
	item, parameters := describedPath(doc, path)
	method := sent.method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	switch {
	case item == nil:
		return isProblem(status, header, body, http.StatusNotFound, "not_found")
	case method == http.MethodOptions && status == http.StatusNoContent && header.Get("Allow") != "":
		return nil
	case item.GetOperation(method) == nil && header.Get("Allow") == "":
		return errors.New("the methods that it has are not named")
	case item.GetOperation(method) == nil:
		return isProblem(status, header, body, http.StatusMethodNotAllowed, "method_not_allowed")
	}
	request := sent.request()
	input := &openapi3filter.RequestValidationInput{
		Request: request, PathParams: parameters,
		Route: &routers.Route{Spec: doc, Method: method, PathItem: item, Operation: item.GetOperation(method)},
		Options: &openapi3filter.Options{
			AuthenticationFunc: openapi3filter.NoopAuthenticationFunc,
			// The validator cannot inflate. And a batch is accepted whatever its items are: each is judged alone.
			ExcludeRequestBody: request.Header.Get("Content-Encoding") != "" || strings.HasSuffix(path, "/batch"),
		},
	}
	if status < 300 {
		if err := openapi3filter.ValidateRequest(request.Context(), input); err != nil {
			return fmt.Errorf("the request was accepted: %w", err)
		}
	}
	return followsOperation(input, status, header, body)
}

// followsOperation checks the reply to a call that the description knows.
func followsOperation(
	input *openapi3filter.RequestValidationInput, status int, header http.Header, body []byte,
) error {
	reply := input.Route.Operation.Responses.Status(status)
	switch {
	case reply == nil:
		return errors.New("the status is not listed")
	case input.Request.Method == http.MethodHead:
		return nil
	case len(reply.Value.Content) == 0 && len(body) > 0:
		return errors.New("the reply has no body in the description")
	case status >= 400:
		if err := isProblem(status, header, body, status, ""); err != nil {
			return err
		}
	}
	if strings.HasPrefix(header.Get("Content-Type"), "application/json") && exponent.Match(body) {
		return errors.New("a number is in exponent form")
	}
	err := openapi3filter.ValidateResponse(input.Request.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: status, Header: header, Body: io.NopCloser(bytes.NewReader(body)),
		Options: &openapi3filter.Options{IncludeResponseStatus: true},
	})
	if err != nil {
		return fmt.Errorf("the reply: %w", err)
	}
	return nil
}

// exponent finds a number in exponent form that stands as a value.
var exponent = regexp.MustCompile(`[:,\[]\s*-?[0-9][0-9.]*[eE]`)

// isProblem checks a refusal: how it is labelled, its status, and its code unless that is empty.
func isProblem(status int, header http.Header, body []byte, wantStatus int, wantCode string) error {
	var problem struct {
		Status int    `json:"status"`
		Code   string `json:"code"`
	}
	switch err := json.Unmarshal(body, &problem); {
	case status != wantStatus:
		return fmt.Errorf("the status should be %d", wantStatus)
	case header.Get("Content-Type") != "application/problem+json":
		return fmt.Errorf("a refusal is application/problem+json, not %q", header.Get("Content-Type"))
	case err != nil:
		return fmt.Errorf("a refusal is JSON: %w", err)
	case problem.Status != status:
		return errors.New("the body names another status")
	case wantCode != "" && problem.Code != wantCode:
		return fmt.Errorf("the code should be %s", wantCode)
	}
	return nil
}

// describedPath returns the description of a path as it stands in an address, and what its parameters are.
func describedPath(doc *openapi3.T, path string) (*openapi3.PathItem, map[string]string) {
	given := strings.Split(path, "/")
	for _, template := range doc.Paths.InMatchingOrder() {
		if parameters, ok := matchPath(strings.Split(template, "/"), given); ok {
			return doc.Paths.Value(template), parameters
		}
	}
	return nil, nil
}

func matchPath(template, given []string) (map[string]string, bool) {
	if len(template) != len(given) {
		return nil, false
	}
	parameters := map[string]string{}
	for i, part := range template {
		if name, ok := strings.CutPrefix(part, "{"); ok && given[i] != "" {
			value, err := url.PathUnescape(given[i])
			if err != nil {
				value = given[i] // the server refuses it
			}
			parameters[strings.TrimSuffix(name, "}")] = value
		} else if part != given[i] {
			return nil, false
		}
	}
	return parameters, true
}

// request returns the call as the validator takes it. Without a type a body is JSON.
func (c call) request() *http.Request {
	if _, err := url.ParseRequestURI(c.target); err != nil {
		c.target = "/" // no address at all: only how it was refused is checked
	}
	request := httptest.NewRequest(c.method, c.target, bytes.NewReader(c.body))
	for name, values := range c.header {
		request.Header[http.CanonicalHeaderKey(name)] = values
	}
	if len(c.body) > 0 && request.Header.Get("Content-Type") == "" {
		request.Header.Set("Content-Type", "application/json")
	}
	return request
}

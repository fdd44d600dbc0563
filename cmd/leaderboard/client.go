package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// remote says which server a command works with.
type remote struct {
	URL    string `name:"url" env:"LEADERBOARD_URL" default:"http://127.0.0.1:3000" help:"Server to work with."`
	APIKey string `env:"LEADERBOARD_API_KEY" help:"API key; serve prints the one it made."`
}

// server is a leaderboard server, seen through its API.
type server struct {
	base *url.URL
	key  string
	http *http.Client
}

// server checks the address and returns the server behind it. Nothing is sent yet.
func (r remote) server() (*server, error) {
	base, err := url.Parse(r.URL)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, fmt.Errorf("--url %q is not an address such as http://127.0.0.1:3000", r.URL)
	}
	base = base.JoinPath("/") // without it, what is joined later does not begin with a slash
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 64 // the bots keep that many busy
	transport.ResponseHeaderTimeout = 30 * time.Second
	return &server{base: base, key: r.APIKey, http: &http.Client{Transport: transport}}, nil
}

func (s *server) String() string { return strings.TrimSuffix(s.base.String(), "/") }

// request is one call of the API.
type request struct {
	method string
	path   []string // below /api/v1, not yet escaped
	query  url.Values
	body   []byte // JSON, or nil
	once   string // Idempotency-Key, or empty
}

// send returns the reply when its status is 2xx, else a [problem], or an [unreachable] error. The caller closes the
// body.
func (s *server) send(ctx context.Context, r request) (*http.Response, error) {
	address := s.base.JoinPath("api", "v1")
	for _, part := range r.path {
		address = address.JoinPath(url.PathEscape(part))
	}
	address.RawQuery = r.query.Encode()
	call, err := http.NewRequestWithContext(ctx, r.method, address.String(), bytes.NewReader(r.body))
	if err != nil {
		return nil, err
	}
	if s.key != "" {
		call.Header.Set("Authorization", "Bearer "+s.key)
	}
	if r.body != nil {
		call.Header.Set("Content-Type", "application/json")
	}
	if r.once != "" {
		call.Header.Set("Idempotency-Key", r.once)
	}
	reply, err := s.http.Do(call)
	if err != nil {
		return nil, &unreachable{server: s.String(), cause: err}
	}
	if reply.StatusCode/100 != 2 {
		defer reply.Body.Close()
		return nil, readProblem(reply)
	}
	return reply, nil
}

// call sends a request and reads the reply into the given value. It returns the reply's header.
func (s *server) call(ctx context.Context, r request, into any) (http.Header, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	reply, err := s.send(ctx, r)
	if err != nil {
		return nil, err
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		return nil, &unreachable{server: s.String(), cause: err}
	}
	if err := json.Unmarshal(text, into); err != nil {
		return nil, fmt.Errorf("%s answered what no leaderboard answers: %w", s, err)
	}
	return reply.Header, nil
}

// boardReply is what a command needs to know of a board.
type boardReply struct {
	Order     string `json:"order"`
	Policy    string `json:"policy"`
	Decimals  int    `json:"decimals"`
	MaxPoints int64  `json:"max_points"`
	Season    struct {
		Number    int64     `json:"number"`
		StartedAt time.Time `json:"started_at"`
	} `json:"season"`
	TieResolution int64 `json:"tie_resolution_ms"`
	Total         int64 `json:"total"`
}

// board returns a board.
func (s *server) board(ctx context.Context, id string) (boardReply, error) {
	var reply boardReply
	_, err := s.call(ctx, request{method: http.MethodGet, path: []string{"boards", id}}, &reply)
	return reply, err
}

// unreachable means that no whole reply came: the call may or may not have been done.
type unreachable struct {
	server string
	cause  error
}

func (u *unreachable) Error() string {
	cause := u.cause
	if outer, ok := errors.AsType[*url.Error](cause); ok {
		cause = outer.Err // without the method and the address once more
	}
	return fmt.Sprintf("no answer from %s: %v", u.server, cause)
}

func (u *unreachable) Unwrap() error { return u.cause }

// problem is a refusal as the API words it.
type problem struct {
	Status     int           `json:"status"`
	Title      string        `json:"title"`
	Detail     string        `json:"detail"`
	Code       string        `json:"code"`
	Field      string        `json:"field"`
	RetryAfter time.Duration `json:"-"`
}

func (p *problem) Error() string {
	words := cmp.Or(p.Detail, p.Title, http.StatusText(p.Status))
	if p.Field != "" && !strings.HasPrefix(words, p.Field) {
		words = p.Field + " " + words
	}
	return words
}

// passing reports whether the same call may succeed later.
func (p *problem) passing() bool {
	return p.Status == http.StatusTooManyRequests || p.Status >= 500 && p.Status != http.StatusNotImplemented
}

// readProblem makes sense of a refusal, also of one that a proxy on the way wrote.
func readProblem(reply *http.Response) *problem {
	p := &problem{}
	text, _ := io.ReadAll(io.LimitReader(reply.Body, 64<<10))
	if err := json.Unmarshal(text, p); err != nil {
		*p = problem{Title: reply.Status}
	}
	p.Status = reply.StatusCode
	p.RetryAfter = retryAfter(reply.Header.Get("Retry-After"))
	return p
}

// retryAfter reads the header of that name: seconds or a date.
func retryAfter(value string) time.Duration {
	if seconds, err := strconv.ParseInt(value, 10, 32); err == nil {
		return max(0, time.Duration(seconds)*time.Second)
	}
	if date, err := http.ParseTime(value); err == nil {
		return max(0, time.Until(date))
	}
	return 0
}

// explain adds to an error of a command's first call what its reader can do about it.
func explain(err error, board string) error {
	p, ok := errors.AsType[*problem](err)
	switch {
	case ok && p.Code == "board_not_found":
		return fmt.Errorf("there is no board %q: make it with PUT /api/v1/boards/%s", board, url.PathEscape(board))
	case ok && p.Status == http.StatusUnauthorized:
		return errors.New("the server does not take this API key: give it with --api-key or LEADERBOARD_API_KEY")
	case ok && p.Status == http.StatusForbidden:
		return fmt.Errorf("the API key does not allow this: %w", err)
	}
	return err
}

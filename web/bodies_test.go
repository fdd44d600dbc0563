package web

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"leaderboard/handlers/api"
)

const (
	scores        = "/api/v1/boards/demo/scores"
	score         = `{"player":"a","points":1}`
	authorization = "Authorization: Bearer " + testKey
)

func length(body string) string { return fmt.Sprintf("Content-Length: %d", len(body)) }

func zipped(t testing.TB, plain io.Reader) string {
	t.Helper()
	var out bytes.Buffer
	writer := gzip.NewWriter(&out)
	if _, err := io.Copy(writer, plain); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// bomb returns a small body that inflates to many megabytes: members of one file, each a megabyte of zeros.
func bomb(t testing.TB, megabytes int) string {
	t.Helper()
	return strings.Repeat(zipped(t, bytes.NewReader(make([]byte, 1<<20))), megabytes)
}

// wantProblem fails the test unless a reply is a problem with a status and a code.
func wantProblem(t testing.TB, status int, body string, wantStatus int, wantCode string) {
	t.Helper()
	if status != wantStatus || !strings.Contains(body, `"code":"`+wantCode+`"`) {
		t.Errorf("answers %d %s, want %d with code %s", status, body, wantStatus, wantCode)
	}
}

func TestCompressedBodiesAreReadUpToTheLimit(t *testing.T) { // F20
	t.Parallel()
	s := listen(t, nil)
	for name, c := range map[string]struct {
		body   string
		status int
		code   string
	}{
		"small":                  {zipped(t, strings.NewReader(score)), 200, ""},
		"two members":            {zipped(t, strings.NewReader(score[:5])) + zipped(t, strings.NewReader(score[5:])), 200, ""},
		"a bomb":                 {bomb(t, 512), 413, "too_large"},
		"one byte over":          {zipped(t, bytes.NewReader(make([]byte, api.MaxBody+1))), 413, "too_large"},
		"as large as may be":     {zipped(t, strings.NewReader(score+strings.Repeat(" ", api.MaxBody-len(score)))), 200, ""},
		"cut off":                {zipped(t, strings.NewReader(score))[:30], 422, "invalid"},
		"damaged":                {strings.Replace(zipped(t, strings.NewReader(score)), "\x1f\x8b", "\x1f\x8c", 1), 422, "invalid"},
		"a forged size":          {zipped(t, strings.NewReader(score))[:len(zipped(t, strings.NewReader(score)))-4] + "\x00\x00\x00\x00", 422, "invalid"},
		"something behind":       {zipped(t, strings.NewReader(score)) + "behind", 422, "invalid"},
		"empty":                  {"", 422, "invalid"},
		"compressed once more":   {zipped(t, strings.NewReader(zipped(t, strings.NewReader(score)))), 422, "malformed_json"},
		"a bomb with a bad tail": {bomb(t, 4) + "x", 413, "too_large"},
	} {
		t.Run(name, func(t *testing.T) {
			response, body := s.send(t, request("POST", scores, c.body, authorization, length(c.body), "Content-Encoding: gzip"))
			if c.status == 200 {
				if response.StatusCode != 200 {
					t.Errorf("answers %d %s, want 200", response.StatusCode, body)
				}
				return
			}
			wantProblem(t, response.StatusCode, body, c.status, c.code)
		})
	}
}

func TestABombCostsNoMemory(t *testing.T) { // F20; not parallel: it looks at the memory of the process
	s := listen(t, nil)
	bomb := bomb(t, 512)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 10 {
		response, body := s.send(t, request("POST", scores, bomb, authorization, length(bomb), "Content-Encoding: gzip"))
		wantProblem(t, response.StatusCode, body, 413, "too_large")
	}
	runtime.ReadMemStats(&after)
	if grown := (after.TotalAlloc - before.TotalAlloc) / 10; grown > 16<<20 {
		t.Errorf("a bomb made the process allocate %d bytes", grown)
	}
}

func TestTooLargeBodiesAreRefusedEarlyAndSaySo(t *testing.T) { // F20
	t.Parallel()
	s := listen(t, nil)
	// Half a megabyte is on its way when the reply comes: it must be readable all the same.
	half := strings.Repeat("x", 512<<10)
	response, body := s.send(t, request("POST", scores, half, authorization, "Content-Length: 104857600"))
	wantProblem(t, response.StatusCode, body, 413, "too_large")
	if !response.Close {
		t.Error("the connection stays open though a body is on its way")
	}
	chunk := fmt.Sprintf("%x\r\n%s\r\n", len(half), half)
	response, body = s.send(t, request("POST", scores, strings.Repeat(chunk, 200), authorization, "Transfer-Encoding: chunked"))
	wantProblem(t, response.StatusCode, body, 413, "too_large")
	if got := response.Header.Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("content type %q", got)
	}
}

func TestABodyWithoutItsKeyIsNotRead(t *testing.T) {
	t.Parallel()
	s := listen(t, nil)
	for name, header := range map[string]string{
		"of known length": "Content-Length: 100", "large": "Content-Length: 1000000", "too large": "Content-Length: 104857600",
		"in chunks": "Transfer-Encoding: chunked",
	} {
		for _, key := range []string{"X-None: 1", "Authorization: Bearer wrong", "Authorization: Basic " + testKey} {
			t.Run(name+", "+key, func(t *testing.T) {
				t.Parallel()
				// Nothing follows the header: whoever waits for the body waits for good.
				response, body := s.send(t, request("POST", scores, "", key, header))
				wantProblem(t, response.StatusCode, body, 401, "unauthorized")
				if response.Header.Get("WWW-Authenticate") == "" || response.Header.Get("X-Content-Type-Options") != "nosniff" || !response.Close {
					t.Errorf("the header is %v, closing %v", response.Header, response.Close)
				}
			})
		}
	}
}

func TestAnExpectedContinueIsAnsweredWithARefusal(t *testing.T) {
	t.Parallel()
	s := listen(t, nil)
	conn := s.dial(t)
	fmt.Fprint(conn, request("POST", scores, "", "Content-Length: 100", "Expect: 100-continue"))
	reader := bufio.NewReader(conn)
	response, body := answer(t, reader)
	if response.StatusCode == 100 {
		response, body = answer(t, reader)
	}
	wantProblem(t, response.StatusCode, body, 401, "unauthorized")
}

func TestAnExpectedContinueWithAKeyIsGiven(t *testing.T) {
	t.Parallel()
	s := listen(t, nil)
	conn := s.dial(t)
	fmt.Fprint(conn, request("POST", scores, "", authorization, length(score), "Expect: 100-continue"))
	reader := bufio.NewReader(conn)
	if response, body := answer(t, reader); response.StatusCode != 100 {
		t.Fatalf("answers %d %s, want 100", response.StatusCode, body)
	}
	fmt.Fprint(conn, score)
	if response, body := answer(t, reader); response.StatusCode != 200 {
		t.Errorf("answers %d %s, want 200", response.StatusCode, body)
	}
}

func TestReadsThatCarryABodyNeedNoKey(t *testing.T) {
	t.Parallel()
	s := listen(t, nil)
	response, body := s.send(t, request("GET", "/api/v1/boards", score, length(score)))
	if response.StatusCode != 200 {
		t.Errorf("answers %d %s, want 200", response.StatusCode, body)
	}
}

func TestABodyIsAsLongAsItsHeaderSays(t *testing.T) { // F20: Content-Length: 5 with a longer body
	t.Parallel()
	s := listen(t, func(d *Deps) { d.Times.Read = 300 * time.Millisecond })
	conn := s.dial(t)
	fmt.Fprint(conn, request("POST", scores, score, authorization, "Content-Length: 5"))
	reader := bufio.NewReader(conn)
	response, body := answer(t, reader)
	wantProblem(t, response.StatusCode, body, 422, "malformed_json")
	response, body = answer(t, reader) // the rest is no request
	if response.StatusCode < 400 || response.StatusCode >= 500 {
		t.Errorf("the rest of the body is answered %d %s, want a refusal", response.StatusCode, body)
	}
}

func TestOneConnectionTakesManyRequests(t *testing.T) {
	t.Parallel()
	s := listen(t, nil)
	conn := s.dial(t)
	reader := bufio.NewReader(conn)
	for _, c := range []struct {
		text   string
		status int
	}{
		{request("POST", scores, score, authorization, length(score)), 200},
		{request("POST", scores, "{", authorization, "Content-Length: 1"), 422},
		{request("POST", scores, "", "Content-Length: 0"), 401},
		{request("POST", scores, fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(score), score), authorization, "Transfer-Encoding: chunked"), 200},
		{request("GET", "/nowhere", "", "Accept: */*"), 404},
		{request("PATCH", scores, "{}", authorization, "Content-Length: 2"), 405},
		{request("GET", "/healthz", "", "Accept: */*"), 200},
	} {
		fmt.Fprint(conn, c.text)
		if response, body := answer(t, reader); response.StatusCode != c.status {
			t.Errorf("%.40q answers %d %s, want %d", c.text, response.StatusCode, body, c.status)
		}
	}
}

func TestASlowBodyEndsByTimeout(t *testing.T) { // F20
	t.Parallel()
	s := listen(t, func(d *Deps) { d.Times.Read = 300 * time.Millisecond })
	conn := s.dial(t)
	fmt.Fprint(conn, request("POST", scores, "", authorization, length(score)))
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		ticks := time.NewTicker(50 * time.Millisecond)
		defer ticks.Stop()
		for i := range len(score) { // a byte now and then
			select {
			case <-ticks.C:
				_, _ = conn.Write([]byte{score[i]})
			case <-stop:
				return
			}
		}
	}()
	began := time.Now()
	response, body := answer(t, bufio.NewReader(conn))
	wantProblem(t, response.StatusCode, body, 408, "request_timeout")
	if took := time.Since(began); took > 5*time.Second || !response.Close {
		t.Errorf("ended after %v, closing %v", took, response.Close)
	}
}

func TestHeadersHaveALimit(t *testing.T) {
	t.Parallel()
	s := listen(t, nil)
	response, body := s.send(t, request("GET", "/api/v1/boards", "", "X-Long: "+strings.Repeat("x", 8000)))
	wantProblem(t, response.StatusCode, body, 431, "headers_too_large")
	response, body = s.send(t, "this is not HTTP\r\n\r\n")
	wantProblem(t, response.StatusCode, body, 400, "bad_request")
	if strings.Contains(body, "this is not") {
		t.Errorf("the words of the server below are shown: %s", body)
	}
}

func TestAFormIsNotUnpacked(t *testing.T) {
	t.Parallel()
	s := listen(t, nil)
	form := "--x\r\nContent-Disposition: form-data; name=\"f\"; filename=\"f\"\r\n\r\nhello\r\n--x--\r\n"
	response, body := s.send(t, request("POST", scores, form, authorization, length(form), "Content-Type: multipart/form-data; boundary=x"))
	wantProblem(t, response.StatusCode, body, 415, "unsupported_media_type")
}

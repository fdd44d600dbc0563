package api_test

import (
	"fmt"
	"strings"
	"testing"
)

func TestJSONThatTwoReadersWouldReadDifferentlyIsRefused(t *testing.T) { // F14
	t.Parallel()
	s := newBoard(t, `{}`)
	for body, want := range map[string]struct{ code, field string }{
		`{"player":"a","points":1,"points":999}`:             {"invalid", "points"},
		`{"player":"a","player":"b","points":1}`:             {"invalid", "player"},
		`{"player":"a","points":1,"p\u006fints":999}`:        {"invalid", "points"},
		`{"player":"a","points":1,"POINTS":999}`:             {"invalid", "POINTS"},
		`{"player":"a","\u017fcore":7}`:                      {"invalid", "ſcore"},
		`{"player":"a","points":1,"admin":true}`:             {"invalid", "admin"},
		`{"player":"a","points":1,"slot":3}`:                 {"invalid", "slot"}, // in batches only
		`{"player":"a","points":1}{"points":2}`:              {"malformed_json", ""},
		`{"player":"a","points":1}]`:                         {"malformed_json", ""},
		`{"player":"a","points":1,}`:                         {"malformed_json", ""},
		`{'player':'a','points':1}`:                          {"malformed_json", ""},
		`{"player":"a","points":1} // done`:                  {"malformed_json", ""},
		`{player:"a"}`:                                       {"malformed_json", ""},
		`{"player":"a" "points":1}`:                          {"malformed_json", ""},
		"\ufeff" + `{"player":"a","points":1}`:               {"malformed_json", ""}, // F20
		`{"player":"a`:                                       {"malformed_json", "player"},
		`{"player":"a","points":1,"name":null}`:              {"invalid", "name"},
		`{"player":"a","points":1,"season":null}`:            {"invalid", "season"},
		`{"player":"a","points":1,"season":0}`:               {"invalid", "season"},
		`{"player":"a","points":1,"season":-1}`:              {"invalid", "season"},
		`{"player":"a","points":1,"season":1.5}`:             {"invalid", "season"},
		`{"player":"a","points":1,"season":"1"}`:             {"invalid", "season"},
		`{"player":"a","points":1,"season":1e30}`:            {"invalid", "season"},
		`{"player":"a","points":1,"achieved_at":"now"}`:      {"invalid", "achieved_at"},
		`{"player":"a","points":1,"achieved_at":17}`:         {"invalid", "achieved_at"},
		`{"player":["a"],"points":1}`:                        {"invalid", "player"},
		`{"":1}`:                                             {"invalid", ""},
		`{"player":"a","points":1,"` + long("x") + `":1}`:    {"invalid", strings.Repeat("x", 64) + "…"},
		`{"points":` + strings.Repeat("[", 20_000) + `1`:     {"invalid", "points"},
		strings.Repeat("[", 20_000):                          {"invalid", "body"},
		`{"nested":` + strings.Repeat(`{"a":`, 20_000) + `}`: {"invalid", "nested"},
	} {
		t.Run(fmt.Sprintf("%.50s", body), func(t *testing.T) {
			r := do(t, s, "POST", "/api/v1/boards/demo/scores", body)
			r.refused(t, 422, want.code, want.field)
		})
	}
	if got := top(t, s, ""); got.Total != 0 {
		t.Errorf("refused bodies left %d players on the board, want 0", got.Total)
	}
}

func long(text string) string { return strings.Repeat(text, 100_000) }

func TestSpaceAndEscapesInJSONChangeNothing(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{}`)
	do(t, s, "POST", "/api/v1/boards/demo/scores", "\n { \"pl\\u0061yer\" :\t\"\\u0061\" ,\r\n \"points\" : 1e1 } \n").want(t, 200)
	if got := lines(top(t, s, "").Entries); got != "1 a 10" {
		t.Errorf("board %s, want 1 a 10", got)
	}
}

func TestWhatKindOfBodyIsTaken(t *testing.T) { // F20
	t.Parallel()
	s := newBoard(t, `{}`)
	for header, want := range map[string]int{
		"Content-Type: ":                                    200,
		"Content-Type: application/json":                    200,
		"Content-Type: application/json; charset=utf-8":     200,
		"Content-Type: application/json; charset=\"UTF-8\"": 200,
		"Content-Type: Application/JSON;charset=UTF-8":      200,
		"Content-Type: application/json; charset=utf-16":    415,
		"Content-Type: application/json; charset":           415,
		"Content-Type: text/plain":                          415,
		"Content-Type: application/x-www-form-urlencoded":   415,
		"Content-Type: multipart/form-data; boundary=x":     415,
		"Content-Type: application/problem+json":            415,
		"Content-Type: application/json, text/plain":        415,
		"Content-Encoding: identity":                        200,
		"Content-Encoding: br":                              415,
		"Content-Encoding: deflate":                         415,
		"Content-Encoding: gzip, gzip":                      415,
		"Content-Encoding: gzip":                            422, // says so, but is plain
		"Idempotency-Key: " + strings.Repeat("k", 255):      200,
		"Idempotency-Key: " + strings.Repeat("k", 256):      422,
		"Idempotency-Key: with space":                       422,
		"Idempotency-Key: schlüssel":                        422,
		"X-Nobody: cares":                                   200,
	} {
		t.Run(header, func(t *testing.T) {
			r := do(t, s, "POST", "/api/v1/boards/demo/scores", `{"player":"a","points":1}`, header)
			if r.status != want {
				t.Errorf("answers %d %s, want %d", r.status, r.body, want)
			}
			switch r.status {
			case 415:
				r.refused(t, 415, "unsupported_media_type", "")
			case 422:
				field := "body"
				if strings.HasPrefix(header, "Idem") {
					field = "Idempotency-Key"
				}
				r.refused(t, 422, "invalid", field)
			}
		})
	}
}

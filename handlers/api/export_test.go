package api_test

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"

	"leaderboard/handlers/api"
	"leaderboard/store"
)

// export reads board demo as rows without the header line.
func export(t testing.TB, s *server, query string) [][]string {
	t.Helper()
	r := do(t, s, "GET", "/api/v1/boards/demo/export"+query, "").want(t, 200)
	rows, err := csv.NewReader(strings.NewReader(string(r.body))).ReadAll()
	if err != nil {
		t.Fatalf("the export is no CSV: %v", err)
	}
	if got, want := strings.Join(rows[0], ","), "player,name,points,achieved_at,slot"; got != want {
		t.Fatalf("the header line is %s, want %s", got, want)
	}
	return rows[1:]
}

func TestThreeThousandTiedPlayersSurviveTheRoundTrip(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{"decimals":2,"starts_at":"2026-01-01T00:00:00Z"}`)
	var scores []string
	for i := range 3000 {
		scores = append(scores, fmt.Sprintf(`{"player":"p%d","points":12.5,"name":%s}`, (i*7919)%3000, quote(fmt.Sprintf("N\"%d,\té", i)[:4])))
	}
	for from := 0; from < len(scores); from += 1000 {
		batch(t, s, scores[from:from+1000])
	}
	rows := export(t, s, "")
	if len(rows) != 3000 || rows[0][2] != "12.50" {
		t.Fatalf("%d rows, the first %v; want 3000 with 12.50", len(rows), rows[0])
	}
	do(t, s, "DELETE", "/api/v1/boards/demo", "").want(t, 204)
	do(t, s, "PUT", "/api/v1/boards/demo", `{"decimals":2,"starts_at":"2026-01-01T00:00:00Z"}`).want(t, 201)

	var back []string
	for i := range rows {
		row := rows[(i*1009)%len(rows)] // in any order
		back = append(back, fmt.Sprintf(`{"player":%s,"name":%s,"points":%s,"achieved_at":%q,"slot":%s}`,
			quote(row[0]), quote(row[1]), quote(row[2]), row[3], quote(row[4])))
	}
	for from := 0; from < len(back); from += 1000 {
		for i, o := range batch(t, s, back[from:from+1000]) {
			if o.Status != 200 {
				t.Fatalf("row %d came back as %+v", from+i, o)
			}
		}
	}
	for i, row := range export(t, s, "?season=1") {
		// The time of a slot that lies ahead of the clock is shown as now, so it may differ.
		row[3], rows[i][3] = "", ""
		if !slices.Equal(row, rows[i]) {
			t.Fatalf("place %d is %v, was %v", i+1, row, rows[i])
		}
	}
}

func TestAnExportSaysWhatItIs(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{}`)
	r := do(t, s, "GET", "/api/v1/boards/demo/export", "").want(t, 200)
	if got, want := string(r.body), "player,name,points,achieved_at,slot\n"; got != want {
		t.Errorf("an empty board is %q, want %q", got, want)
	}
	if got := r.header.Get("Content-Type"); !strings.HasPrefix(got, "text/csv") {
		t.Errorf("content type %q", got)
	}
	if got := r.header.Get("Content-Disposition"); !strings.Contains(got, "demo-season-1.csv") {
		t.Errorf("disposition %q", got)
	}
	do(t, s, "HEAD", "/api/v1/boards/demo/export", "").want(t, 200)
	do(t, s, "GET", "/api/v1/boards/demo/export?season=5", "").refused(t, 404, "season_not_found", "")
	do(t, s, "GET", "/api/v1/boards/nowhere/export", "").refused(t, 404, "board_not_found", "")
}

func TestSlotsAreForAdminsInBatches(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{}`)
	item := `{"player":"a","points":1,"slot":"17"}`
	if got := batch(t, s, []string{item}, "Authorization: Bearer "+writerKey); got[0].Code != "forbidden" || got[0].Field != "slot" {
		t.Errorf("without scope admin a slot gets %+v", got[0])
	}
	if got := batch(t, s, []string{item}); got[0].Status != 200 {
		t.Errorf("a slot gets %+v", got[0])
	}
	if rows := export(t, s, ""); rows[0][4] != "17" {
		t.Errorf("exported %v, want slot 17", rows[0])
	}
}

// brokenStore is a board of many players whose store fails in the middle of an export.
type brokenStore struct {
	rows  int // before it fails; 0: at once
	ended bool
}

func (b *brokenStore) Top(context.Context, store.Look, int64, int64) (store.Page, error) {
	return store.Page{Season: store.Season{Number: 1}}, nil
}

func (b *brokenStore) Export(ctx context.Context, _ store.Look) iter.Seq2[store.ExportRow, error] {
	return func(yield func(store.ExportRow, error) bool) {
		defer func() { b.ended = true }()
		for i := range b.rows {
			if ctx.Err() != nil {
				yield(store.ExportRow{}, ctx.Err())
				return
			}
			row := store.ExportRow{Entry: store.Entry{Player: "somebody", Points: store.Points(i)}}
			if !yield(row, nil) {
				return
			}
		}
		yield(store.ExportRow{}, store.ErrUnavailable)
	}
}

func TestAnExportThatBreaksOffDoesNotLookWhole(t *testing.T) {
	t.Parallel()
	broken := &brokenStore{rows: 10_000}
	app := fiber.New()
	app.Get("/:board/export", api.Export{Store: broken}.Get)
	app.Handler()
	conn := new(memoryConn)
	conn.in.WriteString("GET /demo/export HTTP/1.1\r\nHost: example.test\r\n\r\n")
	if err := app.Server().ServeConn(conn); err == nil {
		t.Error("the server did not notice")
	}
	response, err := http.ReadResponse(bufio.NewReader(&conn.out), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if response.StatusCode != 200 || err == nil || len(body) == 0 {
		t.Errorf("answers %d with %d bytes, read to the end: %v; want a reply that breaks off", response.StatusCode, len(body), err)
	}
	if !broken.ended {
		t.Error("the walk through the board was not ended")
	}
}

func TestAnExportThatFailsAtOnceIsAProblem(t *testing.T) {
	t.Parallel()
	broken := &brokenStore{}
	app := fiber.New()
	var failed error
	app.Get("/:board/export", func(c *fiber.Ctx) error {
		failed = api.Export{Store: broken}.Get(c)
		return nil
	})
	response, err := app.Test(httptest.NewRequest("GET", "/demo/export", nil))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if !errors.Is(failed, store.ErrUnavailable) || !broken.ended {
		t.Errorf("failed with %v, walk ended: %v", failed, broken.ended)
	}
}

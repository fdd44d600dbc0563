package api

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"iter"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"leaderboard/store"
)

// ExportStore is what [Export] needs of a store.
type ExportStore interface {
	Top(ctx context.Context, look store.Look, offset, limit int64) (store.Page, error)
	Export(ctx context.Context, look store.Look) iter.Seq2[store.ExportRow, error]
}

// Export hands out whole seasons.
type Export struct{ Store ExportStore }

// Get answers GET /boards/{board}/export: a CSV, streamed as the reader takes it, so that the size of a board costs no
// memory.
func (h Export) Get(c *fiber.Ctx) error {
	look, err := parseLook(c)
	if err != nil {
		return err
	}
	look.SharedTies = false
	page, err := h.Store.Top(c.UserContext(), look, 0, 1) // names the season, so that the walk stays in it
	if err != nil {
		return err
	}
	look.Season = page.Season.Number
	// The body is written after the handler has returned, and may take longer than a request.
	ctx, cancel := context.WithCancel(context.WithoutCancel(c.UserContext()))
	rows := newCSVRows(h.Store.Export(ctx, look), page.Season.Decimals, cancel)
	if conn := c.Context().Conn(); conn != nil {
		// The server's own limit counts from the first byte of a reply, which is too short for millions of rows.
		rows.onFill = func() { _ = conn.SetWriteDeadline(time.Now().Add(stalledExport)) }
	}
	if err := rows.fill(); err != nil { // what fails at once can still be said in a problem
		_ = rows.Close()
		return err
	}
	c.Attachment(fmt.Sprintf("%s-season-%d.csv", look.Board, look.Season))
	c.Set(fiber.HeaderContentType, "text/csv; charset=utf-8")
	c.Context().SetBodyStream(rows, -1)
	return nil
}

// stalledExport is how long a reader may take for one piece of an export.
const stalledExport = 30 * time.Second

// csvRows is an export as a stream of bytes. An error in the middle breaks the stream off, which the reader of a
// chunked reply notices.
type csvRows struct {
	next     func() (store.ExportRow, error, bool)
	stop     func()
	decimals int
	onFill   func()
	buffer   bytes.Buffer
	writer   *csv.Writer
	done     error
}

func newCSVRows(rows iter.Seq2[store.ExportRow, error], decimals int, cancel context.CancelFunc) *csvRows {
	next, stop := iter.Pull2(rows)
	r := &csvRows{next: next, decimals: decimals, onFill: func() {}}
	r.stop = func() { stop(); cancel() }
	r.writer = csv.NewWriter(&r.buffer)
	_ = r.writer.Write([]string{"player", "name", "points", "achieved_at", "slot"}) // into memory: cannot fail
	return r
}

// fill writes rows until there is enough to send.
func (r *csvRows) fill() error {
	const enough = 16 << 10
	r.onFill()
	for r.done == nil && r.buffer.Len() < enough {
		row, err, ok := r.next()
		switch {
		case !ok:
			r.done = io.EOF
		case err != nil:
			r.done = err
			return err
		default:
			_ = r.writer.Write([]string{
				string(row.Player), string(row.Name), row.Points.Text(r.decimals),
				row.AchievedAt.UTC().Format(time.RFC3339Nano), strconv.FormatInt(row.Slot, 10),
			})
		}
		r.writer.Flush()
	}
	return nil
}

// Read implements [io.Reader].
func (r *csvRows) Read(p []byte) (int, error) {
	if r.buffer.Len() == 0 && r.done == nil {
		if err := r.fill(); err != nil {
			return 0, err
		}
	}
	if r.buffer.Len() == 0 {
		return 0, r.done
	}
	return r.buffer.Read(p)
}

// Close implements [io.Closer]. The server calls it when the reply is written, or broken off.
func (r *csvRows) Close() error {
	r.stop()
	return nil
}

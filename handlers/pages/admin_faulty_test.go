package pages_test

import (
	"context"
	"strings"
	"testing"

	"leaderboard/handlers/pages"
	"leaderboard/store"
	"leaderboard/web"
)

// faulty is a store that fails where a test says so.
type faulty struct {
	pages.AdminStore
	record error
	remove func() error     // instead of DeleteBoard
	counts *store.JobCounts // instead of those of the queue
}

func (f *faulty) Record(ctx context.Context, act store.Act) error {
	if f.record != nil {
		return f.record
	}
	return f.AdminStore.Record(ctx, act)
}

func (f *faulty) DeleteBoard(ctx context.Context, id store.BoardID) error {
	if f.remove != nil {
		return f.remove()
	}
	return f.AdminStore.DeleteBoard(ctx, id)
}

func (f *faulty) JobCounts(ctx context.Context) (store.JobCounts, error) {
	if f.counts != nil {
		return *f.counts, nil
	}
	return f.AdminStore.JobCounts(ctx)
}

// withStore has the admin pages work on a store with faults.
func withStore(change func(*faulty)) func(*web.Deps) {
	return func(d *web.Deps) {
		f := &faulty{AdminStore: d.Admin.Store}
		change(f)
		d.Admin.Store = f
	}
}

func TestAnActIsWrittenDownBeforeItIsDoneAndWhenItFails(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	var before []string
	d.serve(withStore(func(f *faulty) {
		f.remove = func() error {
			before = d.acts()
			return store.ErrUnavailable
		}
	}))
	d.board("demo", nil)
	d.login()
	d.post("/admin/boards/demo/delete", "id", "demo").wants(t, 503)
	if len(before) == 0 || before[len(before)-1] != "admin|board.delete|demo||with 0 players" {
		t.Errorf("while it is done the audit has %q", before)
	}
	after := d.acts()
	if last := after[len(after)-1]; !strings.HasPrefix(last, "admin|board.delete failed|demo||with 0 players; the store gave no answer") {
		t.Errorf("after it failed the audit has %q", last)
	}
}

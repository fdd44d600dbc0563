package pages_test

import (
	"context"
	"errors"
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
	before func()           // what others do just before a board is put
	counts *store.JobCounts // instead of those of the queue
	bans   int64            // how many there are said to be
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

func (f *faulty) PutBoard(
	ctx context.Context, id store.BoardID, change func(*store.Settings) error,
) (store.BoardState, bool, error) {
	if f.before != nil {
		f.before()
	}
	return f.AdminStore.PutBoard(ctx, id, change)
}

func (f *faulty) JobCounts(ctx context.Context) (store.JobCounts, error) {
	if f.counts != nil {
		return *f.counts, nil
	}
	return f.AdminStore.JobCounts(ctx)
}

func (f *faulty) Bans(ctx context.Context, id store.BoardID) ([]store.Ban, int64, error) {
	bans, total, err := f.AdminStore.Bans(ctx, id)
	return bans, max(total, f.bans), err
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

func TestOfTwoWhoMakeABoardAtOnceOneDoes(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.serve(withStore(func(f *faulty) {
		f.before = func() { d.board("cup", func(s *store.Settings) { s.Title = "of somebody else" }) }
	}))
	d.login()
	d.post("/admin/boards", "id", "cup", "title", "mine").wants(t, 422).has(t, "Is that of another board")
	if got := d.state("cup").Settings.Title; got != "of somebody else" {
		t.Errorf("the board is called %q", got)
	}
}

func TestChangingABoardThatGoesMakesNone(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.board("cup", nil)
	d.serve(withStore(func(f *faulty) {
		f.before = func() {
			if err := d.store.DeleteBoard(t.Context(), "cup"); err != nil {
				t.Error(err)
			}
		}
	}))
	d.login()
	d.post("/admin/boards/cup", "live_top", "5").wants(t, 404)
	if _, err := d.store.BoardState(t.Context(), "cup"); !errors.Is(err, store.ErrBoardNotFound) {
		t.Errorf("got %v, want no board", err)
	}
}

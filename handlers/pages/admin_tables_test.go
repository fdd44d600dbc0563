package pages_test

import (
	"fmt"
	"strings"
	"testing"

	"leaderboard/store"
)

func TestALongListShowsItsBeginningAndSaysSo(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.board("demo", func(s *store.Settings) { s.MaxStep = "10" })
	var batch []store.Submission
	for i := range 520 {
		batch = append(batch, store.Submission{Player: store.PlayerID(fmt.Sprintf("p%03d", i)), Points: store.Whole(int64(100 + i))})
	}
	if _, _, err := d.store.SubmitBatch(t.Context(), "demo", batch, store.Once{}); err != nil {
		t.Fatal(err)
	}
	d.login()
	page := d.get("/admin/boards/demo/held").wants(t, 200)
	page.has(t, "The first 500 of 520. A filter narrows them down.", ">p000<", ">p499<").hasNot(t, ">p500<")
	if got := strings.Count(page.body, "Reject…"); got != 500 {
		t.Errorf("got %d rows, want 500", got)
	}
	d.get("/admin/boards/demo/held?sort=-points").has(t, ">p519<").hasNot(t, ">p019<")
	d.get("/admin/boards/demo/held?filter=p51").has(t, ">p519<").hasNot(t, "The first")
}

func TestMoreBansThanAreReadAreCounted(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.serve(withStore(func(f *faulty) { f.bans = 5000 }))
	d.board("demo", nil)
	if _, err := d.store.Ban(t.Context(), "demo", "ada", "why"); err != nil {
		t.Fatal(err)
	}
	d.login()
	d.get("/admin/boards/demo/players").has(t, "There are 5\u202f000 bans, of which 1\u202f000 were looked through")
}

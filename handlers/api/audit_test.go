package api_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"leaderboard/store"
	"leaderboard/store/redisstore"
	"leaderboard/store/storetest"
	"leaderboard/web"
)

type act struct {
	At, Who, Act           string
	Board, Player, Details *string
}

func (a act) String() string {
	word := func(text *string) string {
		if text == nil {
			return "-"
		}
		return *text
	}
	return fmt.Sprintf("%s %s %s %s: %s", a.Who, a.Act, word(a.Board), word(a.Player), word(a.Details))
}

// acts walks the audit, a page of some acts after the other.
func acts(t *testing.T, s *server, limit int, headers ...string) (all []string) {
	t.Helper()
	for after := ""; ; {
		var page struct {
			Items []act
			Next  *string
		}
		do(t, s, "GET", fmt.Sprintf("/api/v1/audit?limit=%d%s", limit, after), "", headers...).want(t, 200).into(t, &page)
		for _, a := range page.Items {
			all = append(all, a.String())
		}
		if page.Next == nil {
			return all
		}
		after = "&after=" + url.QueryEscape(*page.Next)
	}
}

func TestEveryAdminActStandsInTheAudit(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{"title":"Demo","max_step":10,"webhook":{"url":"https://example.com","secret":"a-secret-nobody-sees"}}`)
	board := "/api/v1/boards/demo"
	post(t, s, "a", "5").want(t, 200)
	for _, player := range []string{"b", "c"} {
		post(t, s, player, "50").want(t, 200) // held
	}
	do(t, s, "POST", board+"/held/1/accept", "").want(t, 200)
	do(t, s, "POST", board+"/held/2/reject", "").want(t, 204)
	do(t, s, "POST", board+"/players/a/ban", `{"reason":"speed hack"}`).want(t, 200)
	do(t, s, "POST", board+"/players/a/unban", "").want(t, 200)
	do(t, s, "DELETE", board+"/players/a", "").want(t, 204)
	do(t, s, "POST", board+"/seasons/close", `{"season":1,"reason":"over"}`).want(t, 200)
	do(t, s, "POST", board+"/seasons/1/reopen", "").want(t, 200)
	made := newKey(t, s, `{"name":"game","scopes":["scores:write"],"boards":["demo"]}`)
	do(t, s, "DELETE", "/api/v1/keys/"+made.ID, "").want(t, 204)
	do(t, s, "DELETE", board, "").want(t, 204)
	// What is refused before it begins is no act.
	do(t, s, "PUT", "/api/v1/boards/x", `{"color":1}`).want(t, 422)
	do(t, s, "POST", "/api/v1/boards/x/seasons/close", `{}`).want(t, 422)
	do(t, s, "DELETE", "/api/v1/boards/x", "", "Authorization: Bearer "+writerKey).want(t, 403)

	want := []string{
		"Ann board.put demo -: title, max_step, webhook",
		"Ann held.accept demo -: held score 1",
		"Ann held.reject demo -: held score 2",
		"Ann player.ban demo a: speed hack",
		"Ann player.unban demo a: -",
		"Ann player.remove demo a: -",
		"Ann season.close demo -: season 1: over",
		"Ann season.reopen demo -: season 1",
		"Ann key.make - -: game (" + made.ID + "): scores:write on demo",
		"Ann key.revoke - -: game (" + made.ID + ")",
		"Ann board.delete demo -: -",
	}
	slices.Reverse(want)
	for _, limit := range []int{1, 3, 1000} {
		if got := acts(t, s, limit); !slices.Equal(got, want) {
			t.Errorf("by %d the audit reads\n%s\nwant\n%s", limit, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	for query, field := range map[string]string{
		"limit=0": "limit", "limit=1001": "limit", "limit=x": "limit", "after=": "after", "after=x": "after", "after=1-2": "after",
	} {
		do(t, s, "GET", "/api/v1/audit?"+query, "").refused(t, 422, "invalid", field)
	}
}

func TestAKeyForSomeBoardsSeesWhatWasDoneToThose(t *testing.T) {
	t.Parallel()
	s := newBoard(t, `{}`)
	do(t, s, "PUT", "/api/v1/boards/other", `{}`).want(t, 201)
	newKey(t, s, `{"name":"game","scopes":["admin"]}`)
	do(t, s, "POST", "/api/v1/boards/demo/players/a/ban", "").want(t, 200)
	want := []string{"Ann player.ban demo a: -", "Ann board.put demo -: no settings"}
	for _, limit := range []int{1, 50} {
		if got := acts(t, s, limit, "Authorization: Bearer "+demoKey); !slices.Equal(got, want) {
			t.Errorf("by %d the audit reads %q, want %q", limit, got, want)
		}
	}
}

// boardBreaker fails in what a test asks of it, or in writing acts down.
type boardBreaker struct {
	*redisstore.Store
	deletes, records error
	asked            bool
}

func (b *boardBreaker) DeleteBoard(context.Context, store.BoardID) error {
	b.asked = true
	return b.deletes
}

func (b *boardBreaker) Record(ctx context.Context, act store.Act) error {
	if b.records != nil {
		return b.records
	}
	return b.Store.Record(ctx, act)
}

func TestAnActThatFailsStandsInTheAuditAsSuch(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err    error
		status int
		want   []string
	}{
		"refused":             {store.ErrBoardNotFound, 404, []string{"Ann board.delete demo -: -"}},
		"the store goes away": {store.ErrUnavailable, 503, []string{"Ann board.delete failed demo -: nobody knows whether it was done", "Ann board.delete demo -: -"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			broken := &boardBreaker{
				Store:   redisstore.New(storetest.Redis(t), redisstore.Options{Prefix: storetest.Prefix(t)}),
				deletes: fmt.Errorf("tests: %w", test.err),
			}
			s := newServerOn(t, broken.Store, func(d *web.Deps) { d.Store, d.Audit = broken, broken })
			do(t, s, "DELETE", "/api/v1/boards/demo", "").want(t, test.status)
			if got := acts(t, s, 50); !slices.Equal(got, test.want) {
				t.Errorf("the audit reads %q, want %q", got, test.want)
			}
		})
	}
}

func TestNothingIsDoneThatCannotBeWrittenDown(t *testing.T) {
	t.Parallel()
	broken := &boardBreaker{
		Store:   redisstore.New(storetest.Redis(t), redisstore.Options{Prefix: storetest.Prefix(t)}),
		records: errors.Join(store.ErrUnavailable),
	}
	s := newServerOn(t, broken.Store, func(d *web.Deps) { d.Store, d.Audit = broken, broken })
	do(t, s, "DELETE", "/api/v1/boards/demo", "").refused(t, 503, "unavailable", "")
	if broken.asked {
		t.Error("the board was deleted all the same")
	}
}

package storetest

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"leaderboard/store"
)

// Suite checks that a store keeps what [store.Store] promises.
type Suite struct {
	// Open opens a new, empty store twice, as two processes on the same data would, and returns the clock that both
	// read.
	Open func(testing.TB) (one, other store.Store, clock *Clock)
	// Many is how many players there are where many are needed. At 3 000 a set of scores is far beyond any compact form.
	Many int
	// Only is the chapter to run; empty: all of them and the random histories.
	Only string
}

// Run checks each rule by itself, then random histories against a [Model], then many callers at once.
func (s Suite) Run(t *testing.T) {
	t.Helper()
	for _, chapter := range []struct {
		name  string
		rules []rule
	}{
		{"boards", boardRules()},
		{"scores", scoreRules()},
		{"numbers and ids", valueRules()},
		{"traces", traceRules()},
		{"history", historyRules()},
		{"once", onceRules()},
		{"reads", readRules()},
		{"places", placeRules()},
		{"moderation", moderationRules()},
		{"held", heldRules()},
		{"seasons", seasonRules()},
		{"closing", closingRules()},
		{"at once", crowdRules()},
	} {
		if s.Only != "" && s.Only != chapter.name {
			continue
		}
		t.Run(chapter.name, func(t *testing.T) {
			t.Parallel()
			for _, r := range chapter.rules {
				t.Run(r.sentence, func(t *testing.T) {
					t.Parallel()
					r.check(s.fixture(t))
				})
			}
		})
	}
	if s.Only != "" {
		return
	}
	t.Run("random histories leave the model's board", func(t *testing.T) {
		t.Parallel()
		s.checkHistories(t)
	})
}

// rule is one sentence of the contract.
type rule struct {
	sentence string
	check    func(*fixture)
}

// reporter is what testing.TB and rapid.T share.
type reporter interface {
	Helper()
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// fixture is a store of one test's own, seen by two processes, and short ways to use it.
type fixture struct {
	reporter
	ctx        context.Context
	one, other store.Store
	clock      *Clock
	many       int
}

func (s Suite) fixture(t *testing.T) *fixture {
	one, other, clock := s.Open(t)
	return &fixture{reporter: t, ctx: t.Context(), one: one, other: other, clock: clock, many: s.Many}
}

// demo is the board of most tests.
const demo = store.BoardID("demo")

// asIs leaves default settings as they are.
func asIs(*store.Settings) error { return nil }

// with makes a change of settings that cannot fail.
func with(change func(*store.Settings)) func(*store.Settings) error {
	return func(s *store.Settings) error {
		change(s)
		return nil
	}
}

// put makes or changes a board.
func (f *fixture) put(id store.BoardID, change func(*store.Settings) error) store.BoardState {
	f.Helper()
	state, _, err := f.one.PutBoard(f.ctx, id, change)
	if err != nil {
		f.Fatalf("put %s: %v", id, err)
	}
	return state
}

// state returns a board as it is now.
func (f *fixture) state(id store.BoardID) store.BoardState {
	f.Helper()
	state, err := f.one.BoardState(f.ctx, id)
	if err != nil {
		f.Fatalf("state of %s: %v", id, err)
	}
	return state
}

// sub is a submission of points as a game writes them.
func sub(player store.PlayerID, points string, more ...func(*store.Submission)) store.Submission {
	s := store.Submission{Player: player, Points: number(points)}
	for _, change := range more {
		change(&s)
	}
	return s
}

// number reads a number that is right.
func number(text string) store.Decimal {
	number, err := store.ParseDecimal("points", text)
	if err != nil {
		panic(err)
	}
	return number
}

func named(name store.Name) func(*store.Submission) {
	return func(s *store.Submission) { s.Name = name }
}

// submit sends a submission to the demo board that must be taken.
func (f *fixture) submit(player store.PlayerID, points string, more ...func(*store.Submission)) store.Result {
	f.Helper()
	result, err := f.one.Submit(f.ctx, demo, sub(player, points, more...))
	if err != nil {
		f.Fatalf("submit %s for %s: %v", points, player, err)
	}
	return result
}

// refuse sends a submission to the demo board that must be refused, and checks that it changed nothing.
func (f *fixture) refuse(want error, s store.Submission) {
	f.Helper()
	before := f.everything()
	if result, err := f.one.Submit(f.ctx, demo, s); !sameFault(err, want) {
		f.Errorf("submit %+v: got %+v, %v, want %v", s, result, err, want)
	}
	f.equal("the board after a refusal", f.everything(), before)
}

// everything returns what a look at the whole demo board shows.
func (f *fixture) everything() store.Page {
	f.Helper()
	page, err := f.other.Top(f.ctx, store.Look{Board: demo}, 0, 1000)
	if err != nil {
		f.Fatalf("top: %v", err)
	}
	if now := f.clock.Now(); !page.Now.Equal(now) {
		f.Errorf("the page is of %v, want %v", page.Now, now)
	}
	return page
}

// order returns the players of the demo board, best first.
func (f *fixture) order() []store.PlayerID {
	f.Helper()
	return players(f.everything().Entries)
}

func players(entries []store.Entry) []store.PlayerID {
	ids := []store.PlayerID{}
	for _, entry := range entries {
		ids = append(ids, entry.Player)
	}
	return ids
}

// standing returns how a player stands on the demo board.
func (f *fixture) standing(player store.PlayerID) store.Standing {
	f.Helper()
	standing, err := f.other.Player(f.ctx, store.Look{Board: demo}, player)
	if err != nil {
		f.Fatalf("player %s: %v", player, err)
	}
	return standing
}

func (f *fixture) equal(what string, got, want any) {
	f.Helper()
	options := cmp.Options{
		cmpopts.EquateEmpty(), cmpopts.EquateApprox(0, 1e-9), cmpopts.IgnoreFields(store.Page{}, "Now"),
	}
	if diff := cmp.Diff(want, got, options); diff != "" {
		f.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// fails checks that an error is the one wanted: the same sentinel, or an [store.InvalidError] for the same field.
func (f *fixture) fails(what string, err, want error) {
	f.Helper()
	if !sameFault(err, want) {
		f.Errorf("%s: got %v, want %v", what, err, want)
	}
}

// invalid is the error wanted where a field is at fault.
func invalid(field string) error { return store.Invalid(field, "is wrong") }

func sameFault(got, want error) bool {
	wanted, ok := errors.AsType[*store.InvalidError](want)
	if !ok {
		return errors.Is(got, want)
	}
	invalid, ok := errors.AsType[*store.InvalidError](got)
	return ok && invalid.Field == wanted.Field && invalid.Reason != ""
}

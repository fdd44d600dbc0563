package storetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/go-cmp/cmp"

	"leaderboard/store"
)

func crowdRules() []rule {
	return []rule{
		{"replies at once are those of some order of the calls", someOrderExplains},
		{"whoever was told first stands first among equal points", toldFirstStandsFirst},
		{"two hundred scores of one player leave the best", bestOfTwoHundred},
		{"a walk meets everybody who stays, once, while others move", walkWhileOthersMove},
	}
}

// attempt is a call and what came of it, between two ticks of a counter that all callers share.
type attempt struct {
	began, ended int64
	submission   store.Submission
	got          store.Outcome
}

// crowd runs callers at once, half of them through each process, and returns what each of their calls met.
func (f *fixture) crowd(callers, calls int, next func(caller, call int) store.Submission) [][]attempt {
	var turn atomic.Int64
	all := make([][]attempt, callers)
	var crowd sync.WaitGroup
	for i := range all {
		crowd.Go(func() {
			process := []store.Store{f.one, f.other}[i%2]
			for j := range calls {
				a := attempt{submission: next(i, j), began: turn.Add(1)}
				if j%3 == 2 {
					outcomes, _, err := process.SubmitBatch(f.ctx, demo, []store.Submission{a.submission}, store.Once{})
					if a.got.Err = err; err == nil {
						a.got = outcomes[0]
					}
				} else {
					a.got.Result, a.got.Err = process.Submit(f.ctx, demo, a.submission)
				}
				a.ended = turn.Add(1)
				all[i] = append(all[i], a)
			}
		})
	}
	crowd.Wait()
	return all
}

// someOrderExplains looks for an order of the calls, true to what ended before something else began, in which the model
// gives exactly the replies that came.
func someOrderExplains(f *fixture) {
	for round, policy := range slices.Repeat([]store.Policy{store.Best, store.Last, store.Sum}, 8) {
		state := f.put(demo, with(func(s *store.Settings) { s.Policy, s.LiveTop = policy, 2 }))
		random := rand.New(rand.NewPCG(uint64(round), 1))
		var mine [4][3]store.Submission
		for i := range mine {
			for j := range mine[i] {
				mine[i][j] = sub(store.PlayerID(fmt.Sprint("p", random.IntN(3))), fmt.Sprint(random.IntN(3)))
			}
		}
		calls := f.crowd(4, 3, func(caller, call int) store.Submission { return mine[caller][call] })
		if !explained(NewModel(state), calls, f.clock.Now()) {
			f.Errorf("%s: no order of the calls explains the replies:\n%s", policy, told(calls))
		}
		if err := f.one.DeleteBoard(f.ctx, demo); err != nil {
			f.Fatalf("delete: %v", err)
		}
	}
}

func explained(model *Model, calls [][]attempt, now time.Time) bool {
	done := true
	for i, mine := range calls {
		if len(mine) == 0 {
			continue
		}
		done = false
		first := mine[0]
		late := slices.ContainsFunc(calls, func(c []attempt) bool { return len(c) > 0 && c[0].ended < first.began })
		if late {
			continue
		}
		next := model.Clone()
		want, err := next.Submit(demo, first.submission, now)
		if err != nil || first.got.Err != nil || !cmp.Equal(first.got.Result, want) {
			continue
		}
		rest := slices.Clone(calls)
		rest[i] = mine[1:]
		if explained(next, rest, now) {
			return true
		}
	}
	return done
}

// toldFirstStandsFirst has many callers reach few distinct points, while the clock goes to and fro.
func toldFirstStandsFirst(f *fixture) {
	for _, policy := range []store.Policy{store.Best, store.Last, store.Sum} {
		f.put(demo, with(func(s *store.Settings) { s.Policy = policy }))
		calls := f.crowd(8, max(10, f.many/75), func(caller, call int) store.Submission {
			f.clock.Step(time.Duration(rand.IntN(5000)-2400) * time.Millisecond)
			return sub(store.PlayerID(fmt.Sprint("p", rand.IntN(max(30, f.many/25)))), fmt.Sprint(rand.IntN(4)))
		})
		var all []attempt
		for _, a := range slices.Concat(calls...) {
			if a.got.Err != nil {
				f.Fatalf("%s: submit: %v", policy, a.got.Err)
			}
			if r := a.got.Result; r.Rank < 1 || r.Rank > r.Total || r.PreviousRank > r.Total {
				f.Errorf("%s: got an impossible reply %+v", policy, r)
			}
			all = append(all, a)
		}
		f.checkPointsAfter(policy, all)
		f.checkTies(policy, all)
		if err := f.one.DeleteBoard(f.ctx, demo); err != nil {
			f.Fatalf("delete: %v", err)
		}
	}
}

// checkPointsAfter checks that each player has what the policy makes of all their scores.
func (f *fixture) checkPointsAfter(policy store.Policy, all []attempt) {
	f.Helper()
	best, sum := make(map[store.PlayerID]store.Points), make(map[store.PlayerID]store.Points)
	for _, a := range all {
		player := a.submission.Player
		best[player] = max(best[player], a.got.Result.Submitted)
		sum[player] += a.got.Result.Submitted
	}
	page := f.everything()
	if len(page.Entries) != len(best) {
		f.Errorf("%s: got %d players, want %d", policy, len(page.Entries), len(best))
	}
	for _, entry := range page.Entries {
		want := map[store.Policy]store.Points{store.Best: best[entry.Player], store.Sum: sum[entry.Player]}[policy]
		if policy != store.Last && entry.Points != want {
			f.Errorf("%s: %s has %d points, want %d", policy, entry.Player, entry.Points, want)
		}
		possible := policy != store.Last || slices.ContainsFunc(all, func(a attempt) bool {
			return a.submission.Player == entry.Player && a.got.Result.Submitted == entry.Points && !overtaken(a, all)
		})
		if !possible {
			f.Errorf("%s: %s has %d points, which cannot be the latest", policy, entry.Player, entry.Points)
		}
	}
}

// overtaken reports whether another score of the same player was sent after the reply to this one.
func overtaken(a attempt, all []attempt) bool {
	return slices.ContainsFunc(all, func(b attempt) bool {
		return b.submission.Player == a.submission.Player && b.began > a.ended
	})
}

// checkTies checks that of two with equal points the one stands first who was told so before the other began. Who
// reached their points when is known where exactly one reply can have brought them there.
func (f *fixture) checkTies(policy store.Policy, all []attempt) {
	f.Helper()
	reached := make(map[store.PlayerID][]attempt)
	entries := f.everything().Entries
	for _, entry := range entries {
		for _, a := range all {
			r := a.got.Result // points only rise here, but with the latest, which may also come back
			if r.Player == entry.Player && r.Points == entry.Points && (r.Improved || policy == store.Last) {
				reached[entry.Player] = append(reached[entry.Player], a)
			}
		}
	}
	pairs := 0
	for i, above := range entries {
		for _, below := range entries[i+1:] {
			a, b := reached[above.Player], reached[below.Player]
			if above.Points != below.Points || len(a) != 1 || len(b) != 1 {
				continue
			}
			pairs++
			if b[0].ended < a[0].began {
				f.Errorf("%s: %s stands above %s with %d points, yet began after the other was told", policy, above.Player,
					below.Player, above.Points)
			}
		}
	}
	if pairs == 0 {
		f.Errorf("%s: nothing to compare", policy)
	}
}

func bestOfTwoHundred(f *fixture) {
	for order, want := range map[store.Order]store.Points{store.Desc: 200, store.Asc: 1} {
		f.put(demo, with(func(s *store.Settings) { s.Order, s.ActivityCap = order, 1000 }))
		calls := f.crowd(20, 10, func(caller, call int) store.Submission { return sub("p", fmt.Sprint(caller*10+call+1)) })
		improved := 0
		for _, a := range slices.Concat(calls...) {
			if a.got.Err != nil {
				f.Fatalf("submit: %v", a.got.Err)
			}
			if a.got.Result.Improved {
				improved++
			}
		}
		if got := f.standing("p").Points; got != want {
			f.Errorf("%s: got %d, want %d", order, got, want)
		}
		activity, err := f.one.Activity(f.ctx, demo, "p", 1000)
		if err != nil || len(activity) != improved {
			f.Errorf("%s: got %d entries of activity, %v, want %d", order, len(activity), err, improved)
		}
		if err := f.one.DeleteBoard(f.ctx, demo); err != nil {
			f.Fatalf("delete: %v", err)
		}
	}
}

// walkWhileOthersMove walks the board again and again while eight writers move others up and down, ban and remove.
func walkWhileOthersMove(f *fixture) {
	f.put(demo, with(func(s *store.Settings) { s.Policy = store.Last }))
	var batch []store.Submission
	for i := range f.many / 3 {
		batch = append(batch, sub(store.PlayerID(fmt.Sprint("stays", i)), fmt.Sprint(i%50)))
		batch = append(batch, sub(store.PlayerID(fmt.Sprint("moves", i)), fmt.Sprint(i%50)))
	}
	for chunk := range slices.Chunk(batch, store.MaxBatch) {
		if _, _, err := f.one.SubmitBatch(f.ctx, demo, chunk, store.Once{}); err != nil {
			f.Fatalf("batch: %v", err)
		}
	}
	stop := make(chan struct{})
	var writers sync.WaitGroup
	for i := range 8 {
		writers.Go(func() { f.stir(stop, []store.Store{f.one, f.other}[i%2], f.many/3) })
	}
	for _, limit := range []int64{7, 20, 100} {
		seen := make(map[store.PlayerID]int)
		var last store.Entry
		for page, err := f.one.Top(f.ctx, look(), 0, limit); ; page, err = f.other.After(f.ctx, look(), behind(page), limit) {
			if err != nil {
				f.Errorf("walk: %v", err)
				break
			}
			for _, entry := range page.Entries {
				seen[entry.Player]++
				if last.Player != "" && entry.Packed > last.Packed {
					f.Errorf("%s comes behind %s, yet stands before", entry.Player, last.Player)
				}
				last = entry
			}
			if !page.More {
				break
			}
		}
		for i := range f.many / 3 {
			if player := store.PlayerID(fmt.Sprint("stays", i)); seen[player] != 1 {
				f.Errorf("by %d: %s was met %d times", limit, player, seen[player])
			}
		}
	}
	close(stop)
	writers.Wait()
}

// stir changes the places of those who move until it is stopped.
func (f *fixture) stir(stop <-chan struct{}, process store.Store, players int) {
	for {
		player := store.PlayerID(fmt.Sprint("moves", rand.IntN(players)))
		var err error
		switch rand.IntN(10) {
		case 0:
			_, err = process.Ban(f.ctx, demo, player, "")
		case 1:
			_, err = process.Unban(f.ctx, demo, player)
		case 2:
			err = process.RemovePlayer(f.ctx, demo, player)
		default:
			_, err = process.Submit(f.ctx, demo, sub(player, fmt.Sprint(rand.IntN(50))))
		}
		expected := []error{nil, store.ErrBanned, store.ErrNotBanned, store.ErrPlayerNotFound}
		if !slices.ContainsFunc(expected, func(want error) bool { return errors.Is(err, want) }) {
			f.Errorf("stir: %v", err)
			return
		}
		select {
		case <-stop:
			return
		default:
		}
	}
}

// told writes what callers met, a line each.
func told(calls [][]attempt) string {
	var text strings.Builder
	for i, a := range slices.Concat(calls...) {
		r := a.got.Result
		fmt.Fprintf(&text, "%2d: %d to %d: %s submits %d, has %d, improved %v, rank %d after %d of %d, at %v, %v\n", i, a.began,
			a.ended, r.Player, r.Submitted, r.Points, r.Improved, r.Rank, r.PreviousRank, r.Total, r.AchievedAt, a.got.Err)
	}
	return text.String()
}

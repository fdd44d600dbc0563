package storetest

import (
	"fmt"
	"sync"
	"time"

	"leaderboard/store"
)

func onceRules() []rule {
	return []rule{
		{"a repeat gets the first reply again and changes nothing", repeatGetsTheFirstReply},
		{"the same key with another body is a conflict", otherBodyIsAConflict},
		{"a refusal is kept, too", refusalIsKept},
		{"what never reached the score is not kept", malformedIsNotKept},
		{"keys of other boards are other keys", keysAreOfABoard},
		{"twenty repeats at once are applied once", repeatsAtOnce},
		{"a repeated batch gets its first outcomes again", repeatedBatch},
		{"a batch with another body is a conflict", otherBatchIsAConflict},
		{"repeated batches at once are applied once", batchesAtOnce},
	}
}

func once(key, fingerprint string) func(*store.Submission) {
	return func(s *store.Submission) { s.Once = store.Once{Key: key, Fingerprint: fingerprint} }
}

// summing makes the demo board one that adds: nothing applied twice stays hidden.
func (f *fixture) summing() {
	f.Helper()
	f.put(demo, with(func(s *store.Settings) { s.Policy = store.Sum }))
}

func repeatGetsTheFirstReply(f *fixture) {
	f.summing()
	want := f.submit("p", "5", once("k", "f"), named("Pat"))
	if want.Replayed {
		f.Errorf("the first reply is called a repeat")
	}
	f.submit("q", "50")
	f.submit("p", "1")
	f.clock.Step(time.Minute)
	before := f.everything()
	for _, process := range []store.Store{f.one, f.other} {
		got, err := process.Submit(f.ctx, demo, sub("p", "5", once("k", "f"), named("Pat")))
		want.Replayed = true
		if err != nil {
			f.Errorf("repeat: %v", err)
		}
		f.equal("the repeat", got, want)
	}
	f.equal("the board", f.everything(), before)
}

func otherBodyIsAConflict(f *fixture) {
	f.summing()
	f.submit("p", "5", once("k", "f"))
	f.refuse(store.ErrOnceConflict, sub("p", "5", once("k", "g")))
	f.refuse(store.ErrOnceConflict, sub("q", "5", once("k", "")))
	f.submit("p", "5", once("K", "g")) // keys differ by case
	f.submit("p", "5", once("k:{}*\x00\xff ", "g"))
	if got := f.standing("p").Points; got != 15 {
		f.Errorf("got %d, want 15", got)
	}
}

func refusalIsKept(f *fixture) {
	f.summing()
	f.submit("p", "9999999")
	f.refuse(invalid("points"), sub("p", "2", once("k", "f")))
	f.submit("p", "-5")
	f.refuse(invalid("points"), sub("p", "2", once("k", "f")))

	if _, err := f.one.Ban(f.ctx, demo, "p", ""); err != nil {
		f.Fatalf("ban: %v", err)
	}
	f.refuse(store.ErrBanned, sub("p", "1", once("banned", "f")))
	if _, err := f.one.Unban(f.ctx, demo, "p"); err != nil {
		f.Fatalf("unban: %v", err)
	}
	f.refuse(store.ErrBanned, sub("p", "1", once("banned", "f")))
}

func malformedIsNotKept(f *fixture) {
	f.summing()
	f.refuse(invalid("points"), sub("p", "0.5", once("k", "f")))
	if got := f.submit("p", "1", once("k", "g")); got.Replayed {
		f.Errorf("got %+v, want a first reply", got)
	}
}

func keysAreOfABoard(f *fixture) {
	f.summing()
	f.put("other", asIs)
	f.submit("p", "5", once("k", "f"))
	result, err := f.one.Submit(f.ctx, "other", sub("p", "5", once("k", "g")))
	if err != nil || result.Replayed {
		f.Errorf("on another board: got %+v, %v", result, err)
	}
}

func repeatsAtOnce(f *fixture) {
	f.summing()
	var results [20]store.Result
	var senders sync.WaitGroup
	for i := range results {
		senders.Go(func() {
			process := []store.Store{f.one, f.other}[i%2]
			var err error
			if results[i], err = process.Submit(f.ctx, demo, sub("p", "5", once("k", "f"))); err != nil {
				f.Errorf("submit: %v", err)
			}
		})
	}
	senders.Wait()
	first := 0
	for _, result := range results {
		if !result.Replayed {
			first++
		}
		result.Replayed = results[0].Replayed
		f.equal("a repeat", result, results[0])
	}
	if got := f.standing("p").Points; first != 1 || got != 5 {
		f.Errorf("got %d first replies and %d points, want 1 and 5", first, got)
	}
}

// mixedBatch is a batch over two calls, of which some items are refused.
func mixedBatch() []store.Submission {
	var batch []store.Submission
	for i := range 200 {
		batch = append(batch, sub(store.PlayerID(fmt.Sprint("p", i%50)), "1"))
	}
	batch[7].Points = number("0.5")
	batch[150].Points = number("10000000") // with what stands already: out of range
	return batch
}

func repeatedBatch(f *fixture) {
	f.summing()
	key := store.Once{Key: "k", Fingerprint: "f"}
	first, replayed, err := f.one.SubmitBatch(f.ctx, demo, mixedBatch(), key)
	if err != nil || replayed {
		f.Fatalf("first: replayed %v, %v", replayed, err)
	}
	f.fails("outcome 7", first[7].Err, invalid("points"))
	f.fails("outcome 150", first[150].Err, invalid("points"))
	f.clock.Step(time.Minute)
	before := f.everything()
	again, replayed, err := f.other.SubmitBatch(f.ctx, demo, mixedBatch(), key)
	if err != nil || !replayed {
		f.Fatalf("repeat: replayed %v, %v", replayed, err)
	}
	for i := range again {
		first[i].Result.Replayed = again[i].Result.Replayed
		f.equal(fmt.Sprint("outcome ", i), again[i].Result, first[i].Result)
		if (again[i].Err == nil) != (first[i].Err == nil) {
			f.Errorf("outcome %d: got %v, want %v", i, again[i].Err, first[i].Err)
		}
	}
	f.equal("the board", f.everything(), before)
}

func otherBatchIsAConflict(f *fixture) {
	f.summing()
	if _, _, err := f.one.SubmitBatch(f.ctx, demo, mixedBatch(), store.Once{Key: "k", Fingerprint: "f"}); err != nil {
		f.Fatalf("first: %v", err)
	}
	before := f.everything()
	for _, batch := range [][]store.Submission{mixedBatch(), mixedBatch()[:1], append(mixedBatch(), sub("q", "1"))} {
		_, _, err := f.one.SubmitBatch(f.ctx, demo, batch, store.Once{Key: "k", Fingerprint: "g"})
		f.fails("another body", err, store.ErrOnceConflict)
	}
	_, err := f.one.Submit(f.ctx, demo, sub("p", "1", once("k", "g")))
	f.fails("another body, single", err, store.ErrOnceConflict)
	f.equal("the board", f.everything(), before)
}

func batchesAtOnce(f *fixture) {
	f.summing()
	var senders sync.WaitGroup
	for i := range 6 {
		senders.Go(func() {
			process := []store.Store{f.one, f.other}[i%2]
			if _, _, err := process.SubmitBatch(f.ctx, demo, mixedBatch(), store.Once{Key: "k", Fingerprint: "f"}); err != nil {
				f.Errorf("batch: %v", err)
			}
		})
	}
	senders.Wait()
	sum := store.Points(0)
	for _, entry := range f.everything().Entries {
		sum += entry.Points
	}
	if sum != 198 {
		f.Errorf("got %d points in all, want 198", sum)
	}
}

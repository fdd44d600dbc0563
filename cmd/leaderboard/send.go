package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"leaderboard/store"
)

// maxBody is what the server reads of a body.
const maxBody = 1 << 20

// importing is an import on its way.
type importing struct {
	server   *server
	board    string
	run      string // first part of the batches' idempotency keys
	slots    bool   // the slots of the file are the board's own
	patience time.Duration
	total    int
	said     *teller

	batches, taken, before, held, refused int
}

// score is a row in the words of the API.
type score struct {
	Player     string `json:"player"`
	Points     string `json:"points"` // a string is parsed as exactly as a number, and needs no check here
	Name       string `json:"name,omitzero"`
	AchievedAt string `json:"achieved_at,omitzero"`
	Slot       *int64 `json:"slot,omitzero"`
}

// batch is rows on their way in one call.
type batch struct {
	body  []byte
	lines []int
}

// all sends every row.
func (i *importing) all(ctx context.Context, rows *table) error {
	var next batch
	for {
		row, err := rows.next()
		if err == io.EOF {
			return i.flush(ctx, &next)
		}
		if broken, ok := errors.AsType[*lineError](err); ok {
			i.refuse(broken)
			continue
		}
		if err != nil {
			return err
		}
		text, err := i.encode(row)
		if err != nil {
			i.refuse(&lineError{row.line, err.Error()})
			continue
		}
		if len(next.lines) == store.MaxBatch || len(next.body)+len(text)+2 > maxBody {
			if err := i.flush(ctx, &next); err != nil {
				return err
			}
		}
		next.add(row.line, text)
	}
}

// encode returns a row as JSON.
func (i *importing) encode(r row) ([]byte, error) {
	s := score{Player: r.player, Points: r.points, Name: r.name, AchievedAt: r.achievedAt}
	if i.slots && r.slot != "" {
		slot, err := strconv.ParseInt(r.slot, 10, 64)
		if err != nil {
			return nil, errors.New("slot is not a whole number")
		}
		s.Slot, s.AchievedAt = &slot, "" // the slot says the time, and the order within it
	}
	text, err := json.Marshal(s)
	if err == nil && len(text) > maxBody/2 {
		err = errors.New("is too long")
	}
	return text, err
}

func (b *batch) add(line int, text []byte) {
	if len(b.lines) == 0 {
		b.body = append(b.body[:0], `{"scores":[`...)
	} else {
		b.body = append(b.body, ',')
	}
	b.body = append(b.body, text...)
	b.lines = append(b.lines, line)
}

// flush sends what is gathered, until the server has answered for each row.
func (i *importing) flush(ctx context.Context, b *batch) error {
	if len(b.lines) == 0 {
		return ctx.Err()
	}
	b.body = append(b.body, "]}"...)
	i.batches++
	results, replayed, err := i.deliver(ctx, b)
	if err != nil {
		return err
	}
	for at, result := range results {
		switch {
		case result.Status != http.StatusOK && result.Code == "forbidden": // the same for every row: a key without a scope
			return fmt.Errorf("line %d: the API key does not allow this: %w (--column achieved_at= leaves the times out)",
				b.lines[at], &result.problem)
		case result.Status != http.StatusOK:
			i.refuse(&lineError{b.lines[at], result.Error()})
			continue
		case result.Held:
			i.held++
		}
		i.taken++
		if replayed {
			i.before++
		}
	}
	b.lines = b.lines[:0]
	i.said.progress(fmt.Sprintf("%d of %d rows", i.taken+i.refused, i.total))
	return nil
}

// result is what became of one row.
type result struct {
	problem
	Held bool `json:"held"`
}

// deliver sends a batch under one idempotency key until there is nothing left to hope for from another try. Replayed
// tells that an earlier import had it taken.
func (i *importing) deliver(ctx context.Context, b *batch) (results []result, replayed bool, err error) {
	once := fmt.Sprintf("import-%s-%d", i.run, i.batches)
	tries := retries{patience: i.patience}
	for {
		var reply struct {
			Results []result `json:"results"`
		}
		header, err := i.server.call(ctx, request{
			method: http.MethodPost, path: []string{"boards", i.board, "scores", "batch"}, body: b.body, once: once,
		}, &reply)
		if err == nil && len(reply.Results) != len(b.lines) {
			return nil, false, fmt.Errorf("%d rows were sent and %d answered", len(b.lines), len(reply.Results))
		}
		if err == nil {
			err = unsettled(reply.Results, b.lines)
		}
		if err == nil {
			return reply.Results, header.Get("Idempotent-Replayed") == "true" && tries.count == 0, nil
		}
		if err := tries.wait(ctx, err, i.said); err != nil {
			return nil, false, fmt.Errorf("lines %d to %d: %w", b.lines[0], b.lines[len(b.lines)-1], explain(err, i.board))
		}
	}
}

// unsettled returns the problem of a row that may pass with time, such as a player's limit; the rows that were taken
// keep their answers when the batch comes again under its key.
func unsettled(results []result, lines []int) error {
	for at := range results {
		if results[at].passing() {
			return fmt.Errorf("line %d: %w", lines[at], &results[at].problem)
		}
	}
	return nil
}

func (i *importing) refuse(broken *lineError) {
	i.refused++
	i.said.say(broken.Error())
}

// summary is the last word of an import.
func (i *importing) summary() string {
	words := fmt.Sprintf("%d rows taken, %d refused", i.taken, i.refused)
	if i.held > 0 {
		words += fmt.Sprintf(", %d of the taken ones held for an admin", i.held)
	}
	if i.before > 0 {
		words += fmt.Sprintf("; %d had been taken by the same import before and did not count again (--again makes them)", i.before)
	}
	return words
}

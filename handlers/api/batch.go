package api

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/gofiber/fiber/v2"

	"leaderboard/store"
)

// SubmitBatch answers POST /boards/{board}/scores/batch. Each score gets its own result or problem, in order.
func (h Scores) SubmitBatch(c *fiber.Ctx) error {
	board, err := parseBoard(c)
	if err != nil {
		return err
	}
	body, err := readBody(c)
	if err != nil {
		return err
	}
	items, err := parseBatch(body)
	if err != nil {
		return err
	}
	once, err := onceOf(c, "batch", body)
	if err != nil {
		return err
	}
	// What cannot be read never reaches the store. It is refused again, the same way, when the batch is repeated.
	outcomes := make([]store.Outcome, len(items))
	submissions := make([]store.Submission, 0, len(items))
	from := submitter{admin: isAdmin(c, board), batch: true}
	for i, item := range items {
		submission, err := parseSubmission(item, from)
		outcomes[i].Err = err
		if err == nil {
			submissions = append(submissions, submission)
		}
	}
	if err := h.apply(c, board, submissions, once, outcomes); err != nil {
		return err
	}
	return h.sendOutcomes(c, outcomes)
}

// apply submits what could be read and fills the outcomes that stand open.
func (h Scores) apply(
	c *fiber.Ctx, board store.BoardID, submissions []store.Submission, once store.Once, outcomes []store.Outcome,
) error {
	if len(submissions) == 0 { // then nobody else would notice that there is no such board
		_, err := h.Store.Board(c.UserContext(), board)
		return err
	}
	applied, replayed, err := h.Store.SubmitBatch(c.UserContext(), board, submissions, once)
	if err != nil {
		return err
	}
	if replayed {
		c.Set(replayedHeader, "true")
	}
	for i := range outcomes {
		if outcomes[i].Err == nil {
			outcomes[i], applied = applied[0], applied[1:]
		}
	}
	return nil
}

// parseBatch splits a batch into its scores, each still as it came, so that a bad one spoils no other.
func parseBatch(body []byte) (items [][]byte, err error) {
	given := false
	err = read(body, func(r *reader) error {
		return r.object("body", func(name string) error {
			switch {
			case name != "scores":
				return unknown(name)
			case given:
				return store.Invalid("scores", "must be given once")
			}
			given = true
			return r.array("scores", func(i int) error {
				if i == store.MaxBatch {
					return store.Invalid("scores", "must be 1 to "+strconv.Itoa(store.MaxBatch))
				}
				item, err := r.decoder.ReadValue()
				items = append(items, bytes.Clone(item))
				return err
			})
		})
	}, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) // as faults of one item, not of all
	if err == nil && len(items) == 0 {
		err = store.Invalid("scores", "must be 1 to "+strconv.Itoa(store.MaxBatch))
	}
	return items, err
}

func (h Scores) sendOutcomes(c *fiber.Ctx, outcomes []store.Outcome) error {
	const usual = 256 // bytes of a result
	body := make([]byte, 0, len(outcomes)*usual)
	body = append(body, `{"results":`...)
	body = appendList(body, outcomes, func(to []byte, o *store.Outcome) []byte {
		if o.Err == nil {
			to = append(to, `{"status":200,`...)
			return append(appendResult(to, &o.Result), '}')
		}
		return h.appendProblem(to, o.Err)
	})
	return sendJSON(c, append(body, '}'))
}

func (h Scores) appendProblem(to []byte, err error) []byte {
	problem := h.Problem(err)
	to = append(to, `{"status":`...)
	to = appendInt(to, int64(problem.Status))
	to = append(to, `,"code":`...)
	to = appendString(to, problem.Code)
	to = append(to, `,"detail":`...)
	to = appendString(to, problem.Detail)
	if problem.Field != "" {
		to = append(to, `,"field":`...)
		to = appendString(to, problem.Field)
	}
	return append(to, '}')
}

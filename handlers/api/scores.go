package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/gofiber/fiber/v2"

	"leaderboard/store"
)

// ScoreStore is what [Scores] needs of a store.
type ScoreStore interface {
	Board(ctx context.Context, id store.BoardID) (store.Board, error)
	Submit(ctx context.Context, board store.BoardID, submission store.Submission) (store.Result, error)
	SubmitBatch(
		ctx context.Context, board store.BoardID, submissions []store.Submission, once store.Once,
	) (outcomes []store.Outcome, replayed bool, err error)
}

// Scores takes scores, one by one and in batches.
type Scores struct {
	Store   ScoreStore
	Problem func(error) Problem // what a caller is told of the error of one item
}

// Submit answers POST /boards/{board}/scores.
func (h Scores) Submit(c *fiber.Ctx) error {
	board, err := parseBoard(c)
	if err != nil {
		return err
	}
	body, err := readBody(c)
	if err != nil {
		return err
	}
	submission, err := parseSubmission(body, submitter{admin: isAdmin(c, board)})
	if err != nil {
		return err
	}
	if submission.Once, err = onceOf(c, "score", body); err != nil {
		return err
	}
	result, err := h.Store.Submit(c.UserContext(), board, submission)
	if result.Replayed { // also beside an error: the first reply may have been one
		c.Set(replayedHeader, "true")
	}
	if err != nil {
		return err
	}
	var space [512]byte
	return sendShort(c, append(appendResult(append(space[:0], '{'), &result), '}'))
}

const replayedHeader = "Idempotent-Replayed"

// onceOf returns what makes a call safe to repeat, where its Idempotency-Key asks for that. Each API key has its own.
func onceOf(c *fiber.Ctx, kind string, body []byte) (store.Once, error) {
	given, err := idempotencyKey(c)
	if err != nil || given == "" {
		return store.Once{}, err
	}
	hash := sha256.New()
	hash.Write([]byte(kind + "\n"))
	hash.Write(body)
	const enough = 16 // bytes: nobody finds two bodies of one fingerprint by accident
	return store.Once{
		Key:         keyOf(c).ID + ":" + given,
		Fingerprint: hex.EncodeToString(hash.Sum(nil)[:enough]),
	}, nil
}

// submitter says what the sender of a submission may ask for.
type submitter struct {
	admin bool
	batch bool
}

// parseSubmission reads a score. Slots come in batches only: one alone would have no order to keep.
func parseSubmission(body []byte, from submitter) (s store.Submission, err error) {
	var hasPlayer, hasPoints bool
	err = read(body, func(r *reader) error {
		return r.object("body", func(name string) error {
			switch name {
			case "player":
				hasPlayer = true
				text, err := r.text("player")
				if err != nil {
					return err
				}
				s.Player, err = store.ParsePlayerID(text)
				return err
			case "points":
				hasPoints = true
				s.Points, err = r.decimal("points")
				return err
			case "name":
				text, err := r.text("name")
				if err != nil {
					return err
				}
				s.Name, err = store.ParseName(text)
				return err
			case "season":
				s.Season, err = r.integer("season", 1, maxSeason, false)
				return err
			case "achieved_at":
				s.AchievedAt, err = r.instant("achieved_at")
				return from.needsAdmin("achieved_at", err)
			case "slot":
				if from.batch {
					s.HasSlot = true
					s.Slot, err = r.integer("slot", 0, maxSlot, true)
					return from.needsAdmin("slot", err)
				}
			}
			return unknown(name)
		})
	})
	switch {
	case err != nil:
		return s, err
	case !hasPlayer:
		return s, store.Invalid("player", "is missing")
	case !hasPoints:
		return s, store.Invalid("points", "is missing")
	}
	return s, nil
}

// maxSlot is beyond the slots of every board.
const maxSlot = 1 << 53

func (from submitter) needsAdmin(field string, err error) error {
	if err == nil && !from.admin {
		return &ForbiddenError{Detail: "this field needs a key with the scope admin for this board", Field: field}
	}
	return err
}

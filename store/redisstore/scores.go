package redisstore

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"leaderboard/store"
)

// perCall is how many submissions one script call takes at most: a thousand would hold Redis up for 13 ms.
const perCall = 128

// commitTimeout bounds one script call on behalf of many callers, whose own deadlines differ.
const commitTimeout = 5 * time.Second

// pending is a submission on its way, and what became of it.
type pending struct {
	submission store.Submission
	points     store.Points // as submitted, in whole units of the board that took it
	outcome    store.Outcome
	done       chan struct{} // has room for one; nil in a batch
}

// Submit implements [store.Scores]. Submissions that arrive while others are on their way to Redis share the next call.
func (s *Store) Submit(ctx context.Context, id store.BoardID, submission store.Submission) (store.Result, error) {
	p := &pending{submission: submission, done: make(chan struct{}, 1)}
	s.queue(id).add(p)
	select {
	case <-p.done:
		return p.outcome.Result, p.outcome.Err
	case <-ctx.Done():
		return store.Result{}, fail("submit", context.Cause(ctx))
	}
}

// SubmitBatch implements [store.Scores].
func (s *Store) SubmitBatch(
	ctx context.Context, id store.BoardID, submissions []store.Submission, once store.Once,
) ([]store.Outcome, bool, error) {
	batch := make([]*pending, len(submissions))
	for i, submission := range submissions {
		submission.Once = once
		if once.Key != "" {
			submission.Once.Key = once.Key + "#" + strconv.Itoa(i) // a repeat answers each from its own kept reply
		}
		batch[i] = &pending{submission: submission}
	}
	replayed := once.Key != ""
	for start := 0; start < len(batch); start += perCall {
		again, err := s.apply(ctx, id, batch[start:min(start+perCall, len(batch))], once)
		if err != nil && start == 0 {
			return nil, false, err
		}
		replayed = replayed && again
		if err != nil {
			// What stands before is done; each of the rest says that it is not.
			for _, p := range batch[start:] {
				p.outcome = store.Outcome{Err: err}
			}
			break
		}
	}
	outcomes := make([]store.Outcome, len(batch))
	for i, p := range batch {
		outcomes[i] = p.outcome
	}
	return outcomes, replayed, nil
}

// commit applies submissions of many callers and tells each what became of its own.
func (s *Store) commit(id store.BoardID, group []*pending) {
	ctx, cancel := context.WithTimeout(context.Background(), commitTimeout)
	defer cancel()
	if _, err := s.apply(ctx, id, group, store.Once{}); err != nil {
		for _, p := range group {
			p.outcome = store.Outcome{Err: err}
		}
	}
	for _, p := range group {
		p.done <- struct{}{}
	}
}

// apply runs one group through the submission script and fills in the outcomes. An error is one of the whole group;
// then the outcomes mean nothing.
func (s *Store) apply(ctx context.Context, id store.BoardID, group []*pending, once store.Once) (again bool, err error) {
	board, err := s.Board(ctx, id)
	if err != nil {
		return false, err
	}
	fresh := false
	for range attempts {
		call := newSubmitCall(s, &board, once)
		for _, p := range group {
			call.add(p)
		}
		if len(call.asked) < len(group) && !fresh {
			// What is wrong on the board as it was may be right by now: this process may be the last to hear of a change.
			if board, err = s.freshBoard(ctx, id); err != nil {
				return false, err
			}
			fresh = true
			continue
		}
		if len(call.asked) == 0 {
			return false, nil
		}
		word, reply, err := s.list(ctx, s.scripts.submit, call.keys(), call.args()...)
		switch {
		case err != nil:
			return false, err
		case word == "conflict":
			return false, fmt.Errorf("redisstore: submit: %w", store.ErrOnceConflict)
		case word == "ok":
			return s.settle(ctx, &board, call.asked, reply)
		}
		if board, err = s.freshBoard(ctx, id); err != nil {
			return false, err
		}
	}
	return false, s.restless(id)
}

func (s *Store) freshBoard(ctx context.Context, id store.BoardID) (store.Board, error) {
	state, err := s.BoardState(ctx, id)
	return state.Board, err
}

// settle reads the reply of submit.lua: {version, total, again, renames, shared, results}.
func (s *Store) settle(ctx context.Context, board *store.Board, asked []*pending, reply []any) (again bool, err error) {
	results := items(at(reply, 5))
	if len(results) != perResult*len(asked) {
		return false, unexpected("submit", reply)
	}
	for i, p := range asked {
		p.outcome = outcomeOf(board, p, results[i*perResult:])
	}
	s.shared.Add(number(reply[4]))
	s.wrote(board.ID, number(reply[0]), number(reply[1]))
	if renames := items(reply[3]); len(renames) > 0 {
		s.unindex(ctx, board, renames)
	}
	return number(reply[2]) == 1, nil
}

// unindex takes former names out of the search index. Searches pass over those that stay behind after a failure.
func (s *Store) unindex(ctx context.Context, board *store.Board, renames []any) {
	args := make([]any, 0, len(renames)/2*3)
	for i := 0; i+1 < len(renames); i += 2 {
		args = append(args, renames[i], renames[i+1], store.Fold(text(renames[i+1])))
	}
	k := s.keys.of(board)
	if _, err := s.call(ctx, s.scripts.unindex, []string{k.names(), k.nameIndex()}, args...); err != nil {
		s.options.Logger.WarnContext(ctx, "a former name stays in the search index", "board", board.ID, "error", err)
	}
}

// perResult is how many values submit.lua answers with for one submission.
const perResult = 6

func outcomeOf(board *store.Board, p *pending, field []any) store.Outcome {
	if line, ok := field[0].(string); ok {
		return parseOutcome(board, p.submission.Player, line)
	}
	return store.Outcome{Result: store.Result{
		Board: board.ID, Season: board.Season.Number, Decimals: board.Season.Decimals, Player: p.submission.Player,
		Submitted: p.points, HasPoints: true, Points: store.Points(number(field[0])), Improved: number(field[1]) == 1,
		Rank: number(field[2]), PreviousRank: number(field[3]), Total: number(field[4]),
		AchievedAt: fromMillis(number(field[5])),
	}}
}

// parseOutcome reads a refusal, or "again " and a kept reply, which is a refusal or
// ok SEASON DECIMALS SUBMITTED POINTS IMPROVED RANK PREVIOUS_RANK TOTAL ACHIEVED.
func parseOutcome(board *store.Board, player store.PlayerID, line string) store.Outcome {
	line, replayed := strings.CutPrefix(line, "again ")
	word, line, _ := strings.Cut(line, " ")
	if word == "held" {
		return heldOutcome(board, player, line, replayed)
	}
	if word != "ok" {
		return store.Outcome{Result: store.Result{Replayed: replayed}, Err: refusal(board, word, line)}
	}
	var field [9]int64
	for i := range field {
		var part string
		part, line, _ = strings.Cut(line, " ")
		field[i] = number(part)
	}
	return store.Outcome{Result: store.Result{
		Board: board.ID, Player: player, Replayed: replayed,
		Season: field[0], Decimals: int(field[1]), Submitted: store.Points(field[2]), HasPoints: true,
		Points:   store.Points(field[3]),
		Improved: field[4] == 1, Rank: field[5], PreviousRank: field[6], Total: field[7], AchievedAt: fromMillis(field[8]),
	}}
}

// heldOutcome reads SEASON DECIMALS SUBMITTED POINTS TOTAL.
func heldOutcome(board *store.Board, player store.PlayerID, line string, replayed bool) store.Outcome {
	part := strings.Split(line, " ")
	if len(part) != 5 {
		return store.Outcome{Err: unexpected("submit", line)}
	}
	return store.Outcome{Result: store.Result{
		Board: board.ID, Player: player, Replayed: replayed, Held: true, Season: number(part[0]),
		Decimals: int(number(part[1])), Submitted: store.Points(number(part[2])), Points: store.Points(number(part[3])),
		HasPoints: part[3] != "-", Total: number(part[4]),
	}}
}

func refusal(board *store.Board, word, more string) error {
	switch word {
	case "limited":
		wait := time.Duration(number(more)) * time.Millisecond
		return fmt.Errorf("redisstore: submit: %w", &store.LimitError{Policy: "player", RetryAfter: wait})
	case "full":
		return store.Invalid("points", "gain more than max_step allows, and too many submissions are held already")
	case "gone":
		return fmt.Errorf("redisstore: accept: %w", store.ErrHeldNotFound)
	case "banned":
		return fmt.Errorf("redisstore: submit: %w", store.ErrBanned)
	case "conflict":
		return fmt.Errorf("redisstore: submit: %w", store.ErrOnceConflict)
	case "range":
		limit := board.Settings.Limit()
		return store.Invalid("points", "would leave the board's range of ±"+limit.Text(board.Settings.Decimals))
	case "future":
		return store.Invalid("achieved_at", "must not be in the future")
	case "early":
		return store.Invalid("achieved_at", "must not be before the season's start")
	case "slot":
		return store.Invalid("slot", "must be below "+strconv.FormatInt(board.Season.Slots(), 10)+" on this board")
	}
	return unexpected("submit", word)
}

// submitCall gathers keys and arguments of one call of submit.lua.
type submitCall struct {
	board     *store.Board
	limit     store.Points
	boardKeys boardKeys
	asked     []*pending // those that go to the script
	limited   bool       // there is a limit of a player's submissions
	fixed     []string   // KEYS before those of single submissions
	activity  []string
	rates     []string
	onceKeys  []string
	onceAt    []int // where in body the numbers of the once keys go
	head      []any
	body      []any
	batchOnce store.Once
	reach     reach
}

func newSubmitCall(s *Store, board *store.Board, once store.Once) *submitCall {
	season, settings := &board.Season, &board.Settings
	sign := "1"
	if season.Order == store.Asc {
		sign = "-1"
	}
	k := s.keys.of(board)
	now := s.time()
	call := &submitCall{
		board: board, limit: settings.Limit(), boardKeys: k, batchOnce: once, limited: s.options.Player.Count > 0,
		reach: s.reachOf(board),
		fixed: []string{
			k.board(), k.scores(season.Number), k.banned(season.Number), k.bans(), k.names(), k.nameIndex(), k.held(),
			k.uniques(now), k.pace(now),
		},
	}
	call.head = append(make([]any, 0, 23), board.Rev, s.now(), millis(season.End), k.live(), season.Number,
		string(season.Policy), sign, millis(season.Start), season.Slots()-1, int64(call.limit), settings.LiveTop,
		settings.ActivityCap, s.options.OnceKeep.Milliseconds(), "", once.Fingerprint, season.Resolution.Milliseconds(),
		season.Decimals, maxStep(settings), playerLimit(s.options.Player), s.options.Player.Window.Milliseconds())
	return call
}

// maxStep returns the largest gain that is not held, in whole units, or nothing.
func maxStep(settings *store.Settings) string {
	if settings.MaxStep == "" {
		return ""
	}
	step, err := store.ParseDecimal("max_step", settings.MaxStep)
	if err != nil {
		return "" // settings were checked when they were stored
	}
	points, err := step.Points("max_step", settings.Decimals, settings.Limit())
	if err != nil {
		return ""
	}
	return strconv.FormatInt(int64(points), 10)
}

func playerLimit(limit store.Limit) string {
	if limit.Count == 0 {
		return ""
	}
	return strconv.Itoa(limit.Count)
}

// add takes a submission into the call, or settles it at once when it cannot be right.
func (c *submitCall) add(p *pending) {
	sub := &p.submission
	points, err := c.check(sub)
	if err != nil {
		p.outcome = store.Outcome{Err: err}
		return
	}
	p.points = points
	c.asked = append(c.asked, p)
	if c.board.Settings.ActivityCap > 0 {
		c.activity = append(c.activity, c.boardKeys.activity(sub.Player))
	}
	if c.limited {
		c.rates = append(c.rates, c.boardKeys.rate(sub.Player))
	}
	c.body = append(c.body, string(sub.Player), int64(points), "")
	more := len(c.body) - 1
	letters := ""
	if sub.Name != "" {
		letters += "n"
		c.body = append(c.body, string(sub.Name), store.Fold(string(sub.Name)))
	}
	switch {
	case sub.HasSlot:
		letters += "s"
		c.body = append(c.body, sub.Slot)
	case !sub.AchievedAt.IsZero():
		letters += "t"
		c.body = append(c.body, sub.AchievedAt.UnixMilli())
	}
	if sub.Once.Key != "" {
		letters += "o"
		c.onceKeys = append(c.onceKeys, c.boardKeys.once(sub.Once.Key))
		c.onceAt = append(c.onceAt, len(c.body))
		c.body = append(c.body, 0, sub.Once.Fingerprint)
	}
	if sub.HeldID != 0 {
		letters += "h"
		c.body = append(c.body, sub.HeldID)
	}
	c.body[more] = letters
}

func (c *submitCall) check(sub *store.Submission) (store.Points, error) {
	if sub.Season != 0 && sub.Season < c.board.Season.Number {
		return 0, fmt.Errorf("redisstore: submit: %w", store.ErrSeasonClosed)
	}
	if sub.Season > c.board.Season.Number {
		return 0, store.Invalid("season", "has not begun")
	}
	return sub.Points.Points("points", c.board.Season.Decimals, c.limit)
}

// keys returns the script's KEYS: the board's, the activity lists, the rates, the once keys, those of rewards.
func (c *submitCall) keys() []string {
	keys := slices.Concat(c.fixed, c.activity, c.rates, c.onceKeys)
	if c.batchOnce.Key != "" {
		keys = append(keys, c.boardKeys.once(c.batchOnce.Key))
	}
	return append(keys, c.reach.keys...)
}

// args returns the script's ARGV. Only now is it known at which place in KEYS the once keys stand.
func (c *submitCall) args() []any {
	before := len(c.fixed) + len(c.activity) + len(c.rates)
	if c.batchOnce.Key != "" {
		c.head[13] = before + len(c.onceKeys) + 1
	}
	for i, place := range c.onceAt {
		c.body[place] = before + i + 1
	}
	return slices.Concat(append(c.head, len(c.asked), c.reach.goals, c.board.Season.LastTick), c.body, c.reach.args)
}

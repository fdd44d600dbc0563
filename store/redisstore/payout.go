package redisstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"leaderboard/store"
)

type payoutScripts struct{ begin, done, end, hold, page, payment, step script }

func newPayoutScripts() payoutScripts {
	prelude := source("prelude")
	page := newScript(prelude, "payout_page")
	page.reads = true
	return payoutScripts{
		begin: newScript(prelude, "payout_begin"), done: newScript(prelude, "owed_done"), end: newScript(prelude, "payout_end"),
		hold: newScript(prelude+source("owed_prelude"), "hold"), page: page, payment: newScript(prelude, "payment"),
		step: newScript(prelude, "payout_step"),
	}
}

// BeginPayout marks the season as being paid, and fixes who stands in the places that win. It reports false when there is
// nothing to pay: the season runs again, was closed anew, is paid, or is gone.
func (s *Store) BeginPayout(ctx context.Context, p store.Payout) (bool, error) {
	k, n := s.keys.board(p.Board, p.Incarnation), strconv.FormatInt(p.Season, 10)
	for range attempts {
		known, err := s.client.HGet(ctx, k.seasons(), n).Result()
		if errors.Is(err, redis.Nil) {
			return false, nil
		}
		if err != nil {
			return false, fail("payout", err)
		}
		season, err := parseSeason(p.Season, known)
		if err != nil {
			return false, err
		}
		if !season.Closed || season.Closes != p.Close || season.Paid {
			return false, nil
		}
		if season.Paying {
			return true, nil
		}
		total, err := s.client.ZCard(ctx, k.scores(p.Season)).Result()
		if err != nil {
			return false, fail("payout", err)
		}
		season.Paying = true
		args := []any{n, known, encode(recordOf(&season)), total, store.HeldRewards}
		for i := range season.Rewards {
			if r := &season.Rewards[i]; !r.Reaching() {
				behind, upTo := r.Places(total)
				args = append(args, r.ID, behind, upTo)
			}
		}
		keys := []string{k.board(), k.seasons(), k.scores(p.Season), k.payouts(p.Season), k.holds(p.Season)}
		word, _, err := s.list(ctx, s.scripts.payout.begin, keys, args...)
		if err != nil || word == "ok" {
			return err == nil, err
		}
	}
	return false, s.restless(p.Board)
}

// payoutState is how far the payout of a reward came, as the store keeps it.
type payoutState struct {
	At    payoutPosition `json:"at"`
	To    payoutPosition `json:"to"`
	Count int64          `json:"count"`
}

// payoutPosition is a place in the order. The player is named only where the next one has the same packed score.
type payoutPosition struct {
	Packed string `json:"packed"`
	Player string `json:"player"`
}

// PayoutPage returns the next winners of a payout that has begun.
func (s *Store) PayoutPage(ctx context.Context, p store.Payout) (store.PayoutStep, error) {
	k := s.keys.board(p.Board, p.Incarnation)
	season, err := s.seasonAt(ctx, k, p.Season)
	if errors.Is(err, store.ErrSeasonNotFound) {
		return store.PayoutStep{Ended: true}, nil
	}
	if err != nil {
		return store.PayoutStep{}, err
	}
	if p.Reward == store.HeldRewards {
		return s.heldPage(ctx, k, p, &season)
	}
	reward := rewardOf(&season, p.Reward)
	if reward == nil {
		return store.PayoutStep{Ended: true}, nil
	}
	word, reply, err := s.list(ctx, s.scripts.payout.page, []string{k.payouts(p.Season), k.scores(p.Season)}, p.Reward, store.PayoutPage)
	if err != nil || word == "ended" {
		return store.PayoutStep{Ended: true}, err
	}
	rows := items(at(reply, 3))
	if len(rows) == 0 {
		return store.PayoutStep{Ended: true}, nil
	}
	var state payoutState
	if err := json.Unmarshal([]byte(text(reply[0])), &state); err != nil {
		return store.PayoutStep{}, fmt.Errorf("redisstore: payout of %s: %w", p.Reward, err)
	}
	step := store.PayoutStep{Known: []string{text(reply[0])}, Payments: make([]store.Payment, 0, len(rows)/2)}
	rank := number(reply[1])
	for i := 0; i+1 < len(rows); i += 2 {
		payment := reward.Payment(&store.Board{ID: p.Board, Incarnation: p.Incarnation}, &season, p.Close)
		payment.Player = store.PlayerID(text(rows[i]))
		payment.Points, _ = season.Unpack(number(rows[i+1]))
		rank++
		payment.Rank = rank
		step.Payments = append(step.Payments, payment)
	}
	last := rows[len(rows)-2:]
	state.At = payoutPosition{Packed: text(last[1])}
	if number(reply[2]) == 1 {
		state.At.Player = text(last[0])
	}
	state.Count += int64(len(step.Payments))
	step.Next = encodeAsIs(state)
	return step, nil
}

// seasonAt returns the season of a board that the caller knows by its keys.
func (s *Store) seasonAt(ctx context.Context, k boardKeys, n int64) (store.Season, error) {
	record, err := s.client.HGet(ctx, k.seasons(), strconv.FormatInt(n, 10)).Result()
	if errors.Is(err, redis.Nil) {
		return store.Season{}, fmt.Errorf("redisstore: season %d: %w", n, store.ErrSeasonNotFound)
	}
	if err != nil {
		return store.Season{}, fail("seasons", err)
	}
	return parseSeason(n, record)
}

func rewardOf(season *store.Season, id string) *store.Reward {
	for i := range season.Rewards {
		if season.Rewards[i].ID == id {
			return &season.Rewards[i]
		}
	}
	return nil
}

// heldPage returns some of those who held something at the close, if it is still true. What is paid is taken out, so the
// next page begins anew.
func (s *Store) heldPage(ctx context.Context, k boardKeys, p store.Payout, season *store.Season) (store.PayoutStep, error) {
	holders, err := s.owedIn(ctx, k.holds(p.Season), func(player, list string) store.Owed {
		return store.Owed{Job: store.Job{ID: player}, Kept: list}
	})
	if err != nil || len(holders) == 0 {
		return store.PayoutStep{Ended: true}, err
	}
	step := store.PayoutStep{}
	stands, err := s.standsOf(ctx, k, season, holders)
	if err != nil {
		return step, err
	}
	board := store.Board{ID: p.Board, Incarnation: p.Incarnation, Season: *season}
	for i, holder := range holders {
		step.Known = append(step.Known, holder.Job.ID, holder.Kept)
		for held := range strings.FieldsSeq(holder.Kept) {
			id, _, _ := strings.Cut(held, "=")
			reward := rewardOf(season, id)
			if reward == nil || !stands[i].reaches(&board, reward) {
				continue
			}
			payment := reward.Payment(&board, season, 0)
			payment.Player = store.PlayerID(holder.Job.ID)
			payment.Points, _ = season.Unpack(stands[i].packed)
			payment.Rank = stands[i].rank
			step.Payments = append(step.Payments, payment)
			step.Due = append(step.Due, season.End.Add(reward.Delay))
		}
	}
	return step, nil
}

// stand is where a player stands in a season.
type stand struct {
	there  bool
	packed int64
	rank   int64
}

func (s *Store) standsOf(ctx context.Context, k boardKeys, season *store.Season, players []store.Owed) ([]stand, error) {
	scores, ranks := make([]*redis.FloatCmd, len(players)), make([]*redis.IntCmd, len(players))
	_, err := s.client.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
		for i := range players {
			scores[i] = pipe.ZScore(ctx, k.scores(season.Number), players[i].Job.ID)
			ranks[i] = pipe.ZRevRank(ctx, k.scores(season.Number), players[i].Job.ID)
		}
		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, fail("payout", err)
	}
	stands := make([]stand, len(players))
	for i := range players {
		if scores[i].Err() == nil {
			stands[i] = stand{there: true, packed: int64(scores[i].Val()), rank: ranks[i].Val() + 1}
		}
	}
	return stands, nil
}

// reaches reports whether somebody who stands there has what a reward asks for. The board is read as in its season.
func (st stand) reaches(board *store.Board, reward *store.Reward) bool {
	if !st.there {
		return false
	}
	if reward.ReachRank != 0 {
		return st.rank <= reward.ReachRank
	}
	goal, ok := goalOf(board, reward.Points)
	points, _ := board.Season.Unpack(st.packed)
	return ok && board.Season.Value(points) >= number(goal)
}

// KeepPayout keeps how far a payout came. It returns [store.ErrPayoutMoved] when another worker was here.
func (s *Store) KeepPayout(ctx context.Context, p store.Payout, step store.PayoutStep) error {
	k := s.keys.board(p.Board, p.Incarnation)
	if p.Reward == store.HeldRewards {
		args := make([]any, len(step.Known))
		for i, known := range step.Known {
			args[i] = known
		}
		_, err := s.call(ctx, s.scripts.payout.done, []string{k.holds(p.Season)}, args...)
		return err
	}
	word, _, err := s.list(ctx, s.scripts.payout.step, []string{k.payouts(p.Season)}, p.Reward, step.Known[0], step.Next)
	if err == nil && word != "ok" {
		err = fmt.Errorf("redisstore: payout of %s: %w", p.Reward, store.ErrPayoutMoved)
	}
	return err
}

// EndPayout ends a payout. With the last one the season is paid.
func (s *Store) EndPayout(ctx context.Context, p store.Payout) error {
	k := s.keys.board(p.Board, p.Incarnation)
	_, _, err := s.list(ctx, s.scripts.payout.end, []string{k.seasons(), k.payouts(p.Season)}, p.Season, p.Reward)
	return err
}

// WaitingJobs returns how many jobs wait for a worker that come before one of a priority added now.
func (s *Store) WaitingJobs(ctx context.Context, priority int) (int64, error) {
	behind := strconv.FormatInt(int64(priority+1)*1e13, 10)
	waiting, err := s.client.ZCount(ctx, s.keys.jobs()[1], "-inf", "("+behind).Result()
	if err != nil {
		return 0, fail("payout", err)
	}
	return waiting, nil
}

// NotePayment notes on the board that a player receives a reward. It reports false when they are not to: banned, removed
// or erased since they won it. Board is the board as it is now, without an id when it is gone: then the reward is theirs.
func (s *Store) NotePayment(ctx context.Context, p store.Payment) (board store.Board, deserved bool, err error) {
	for range attempts {
		board, err := s.Board(ctx, p.Board)
		if errors.Is(err, store.ErrBoardNotFound) {
			return store.Board{}, true, nil
		}
		if err != nil {
			return store.Board{}, false, err
		}
		if board.Incarnation < p.Incarnation {
			if board, err = s.freshBoard(ctx, p.Board); err != nil && !errors.Is(err, store.ErrBoardNotFound) {
				return store.Board{}, false, err
			}
		}
		if board.Incarnation != p.Incarnation {
			return store.Board{}, true, nil
		}
		k := s.keys.of(&board)
		mark := strconv.FormatInt(p.Season, 10) + "/" + p.Reward
		entry := fmt.Sprintf(" %s %d %d  %d 0 %s", store.RewardReceived, p.Decimals, p.Points, p.Rank, mark)
		word, _, err := s.list(ctx, s.scripts.payout.payment,
			[]string{k.board(), k.seasons(), k.scores(p.Season), k.bans(), k.activity(p.Player)},
			board.Rev, s.now(), string(p.Player), p.Season, board.Settings.ActivityCap, entry, mark)
		if err != nil {
			return store.Board{}, false, err
		}
		if word != "moved" {
			return board, word == "ok", nil
		}
		if _, err := s.BoardState(ctx, p.Board); err != nil && !errors.Is(err, store.ErrBoardNotFound) {
			return store.Board{}, false, err
		}
	}
	return store.Board{}, false, s.restless(p.Board)
}

// CheckHold looks whether a player still has what a hold asks for. If so the board owes the reward; otherwise the player
// may reach it again. It reports false when the season is over and its payout has not begun: what was held at the close
// that pays, unless the season is reopened.
func (s *Store) CheckHold(ctx context.Context, p store.Payment) (settled bool, err error) {
	for range attempts {
		state, err := s.BoardState(ctx, p.Board)
		if errors.Is(err, store.ErrBoardNotFound) || err == nil && state.Incarnation != p.Incarnation {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		board := &state.Board
		k := s.keys.of(board)
		if board.Season.Number != p.Season {
			return s.holdIsOver(ctx, k, p)
		}
		goal, ok := goalOf(board, p.Goal)
		if !ok {
			return true, nil
		}
		if goal != "" {
			goal = strconv.FormatInt(number(goal)<<board.Season.TimeBits, 10)
		}
		owed, seq := p, p.Seq
		sign := "1"
		if board.Season.Order == store.Asc {
			sign = "-1"
		}
		word, _, err := s.list(ctx, s.scripts.payout.hold,
			[]string{k.board(), k.scores(p.Season), k.holds(p.Season), k.reached(p.Season), k.owed()},
			board.Rev, s.now(), millis(board.Season.End), s.keys.relays(), debtorText(board), string(p.Player), p.Reward, seq, goal,
			p.ReachRank, board.Season.Slots(), sign, p.Delay, p.Priority, p.JobID(), restOf(&owed))
		if err != nil || word == "ok" || word == "lost" {
			return err == nil, err
		}
	}
	return false, s.restless(p.Board)
}

// holdIsOver reports whether a hold of a season that is closed is nobody's business any more.
func (s *Store) holdIsOver(ctx context.Context, k boardKeys, p store.Payment) (bool, error) {
	season, err := s.seasonAt(ctx, k, p.Season)
	if errors.Is(err, store.ErrSeasonNotFound) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	held, err := s.client.HExists(ctx, k.holds(p.Season), string(p.Player)).Result()
	if err != nil {
		return false, fail("hold", err)
	}
	return season.Paying || season.Paid || !held || rewardOf(&season, p.Reward) == nil, nil
}

package live

import (
	"context"

	"leaderboard/store"
)

// Hearing returns a store by which the hub hears who moved by their own doing: who watches them is told at once, and
// not only when it is their turn.
func (h *Hub) Hearing(s store.Store) store.Store { return hearing{s, h} }

type hearing struct {
	store.Store
	hub *Hub
}

// Submit implements [store.Scores].
func (s hearing) Submit(ctx context.Context, board store.BoardID, submission store.Submission) (store.Result, error) {
	result, err := s.Store.Submit(ctx, board, submission)
	if err == nil {
		s.hub.Posted(board, submission.Player)
	}
	return result, err
}

// SubmitBatch implements [store.Scores].
func (s hearing) SubmitBatch(
	ctx context.Context, board store.BoardID, submissions []store.Submission, once store.Once,
) ([]store.Outcome, bool, error) {
	outcomes, replayed, err := s.Store.SubmitBatch(ctx, board, submissions, once)
	if err == nil && s.hub.relay(board) != nil {
		for i := range submissions {
			if outcomes[i].Err == nil {
				s.hub.Posted(board, submissions[i].Player)
			}
		}
	}
	return outcomes, replayed, err
}

// RemovePlayer implements [store.Moderation].
func (s hearing) RemovePlayer(ctx context.Context, board store.BoardID, player store.PlayerID) error {
	err := s.Store.RemovePlayer(ctx, board, player)
	s.hub.Posted(board, player)
	return err
}

// Ban implements [store.Moderation].
func (s hearing) Ban(ctx context.Context, board store.BoardID, player store.PlayerID, reason string) (int64, error) {
	total, err := s.Store.Ban(ctx, board, player, reason)
	s.hub.Posted(board, player)
	return total, err
}

// Unban implements [store.Moderation].
func (s hearing) Unban(ctx context.Context, board store.BoardID, player store.PlayerID) (int64, error) {
	total, err := s.Store.Unban(ctx, board, player)
	s.hub.Posted(board, player)
	return total, err
}

// AcceptHeld implements [store.HeldScores].
func (s hearing) AcceptHeld(ctx context.Context, board store.BoardID, id int64) (store.Result, error) {
	result, err := s.Store.AcceptHeld(ctx, board, id)
	if err == nil {
		s.hub.Posted(board, result.Player)
	}
	return result, err
}

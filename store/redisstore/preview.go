package redisstore

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"leaderboard/store"
)

// mostHolders bounds how many players who hold something a preview looks at.
const mostHolders = 10_000

// Payout implements [store.Seasons].
func (s *Store) Payout(ctx context.Context, id store.BoardID) ([]store.RewardPreview, error) {
	state, err := s.BoardState(ctx, id)
	if err != nil {
		return nil, err
	}
	var holders []store.Owed
	previews := make([]store.RewardPreview, len(state.Settings.Rewards))
	for i := range previews {
		previews[i].Reward = state.Settings.Rewards[i]
		reward := &previews[i].Reward
		if reward.Reaching() {
			if reward.Hold > 0 && holders == nil {
				if holders, err = s.holders(ctx, &state.Board); err != nil {
					return nil, err
				}
			}
			err = s.previewHeld(ctx, &state.Board, holders, &previews[i])
		} else {
			err = s.previewPlaces(ctx, &state, &previews[i])
		}
		if err != nil {
			return nil, err
		}
	}
	return previews, nil
}

// previewPlaces fills in who stands in the places that win.
func (s *Store) previewPlaces(ctx context.Context, state *store.BoardState, p *store.RewardPreview) error {
	behind, upTo := p.Reward.Places(state.Total)
	p.Count = upTo - behind
	if p.Count <= 0 {
		p.Count = 0
		return nil
	}
	page, err := s.Top(ctx, store.Look{Board: state.ID, Season: state.Season.Number}, behind, min(p.Count, store.PayoutPreview))
	p.Entries = page.Entries
	return err
}

// previewHeld fills in who holds the reward, and still has what it asks for. What was paid as it was reached is not paid
// at the close.
func (s *Store) previewHeld(ctx context.Context, board *store.Board, holders []store.Owed, p *store.RewardPreview) error {
	var players []store.PlayerID
	for i := range holders {
		if strings.Contains(" "+holders[i].Kept, " "+p.Reward.ID+"=") {
			players = append(players, store.PlayerID(holders[i].Job.ID))
		}
	}
	for some := range slices.Chunk(players, store.MaxBatch) {
		_, placed, _, err := s.Lookup(ctx, store.Look{Board: board.ID, Season: board.Season.Number}, some)
		if err != nil {
			return err
		}
		for i := range placed {
			entry := &placed[i].Entry
			if (stand{there: true, packed: entry.Packed, rank: entry.Rank}).reaches(board, &p.Reward) {
				p.Entries = append(p.Entries, *entry)
			}
		}
	}
	slices.SortFunc(p.Entries, func(a, b store.Entry) int { return cmp.Compare(a.Rank, b.Rank) })
	p.Count = int64(len(p.Entries))
	p.Entries = p.Entries[:min(len(p.Entries), store.PayoutPreview)]
	return nil
}

// holders returns who holds something in the running season.
func (s *Store) holders(ctx context.Context, board *store.Board) ([]store.Owed, error) {
	hash, holders := s.keys.of(board).holds(board.Season.Number), []store.Owed{}
	seen := map[string]bool{} // a scan may show one twice
	for cursor := uint64(0); ; {
		pairs, next, err := s.client.HScan(ctx, hash, cursor, "", 1000).Result()
		if err != nil {
			return nil, fail("holds", err)
		}
		for i := 0; i+1 < len(pairs); i += 2 {
			if !seen[pairs[i]] {
				seen[pairs[i]] = true
				holders = append(holders, store.Owed{Job: store.Job{ID: pairs[i]}, Kept: pairs[i+1]})
			}
		}
		if next == 0 || len(holders) >= mostHolders {
			return holders, nil
		}
		cursor = next
	}
}

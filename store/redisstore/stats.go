package redisstore

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"leaderboard/store"
)

// weighedSeasons bounds how many seasons of a board are asked for their memory: each is two commands.
const weighedSeasons = 100

// BoardStats returns figures about a board. They are no one look: each is true of its own moment.
func (s *Store) BoardStats(ctx context.Context, id store.BoardID) (store.BoardStats, error) {
	board, err := s.freshBoard(ctx, id)
	if err != nil {
		return store.BoardStats{}, err
	}
	numbers, err := s.seasonNumbers(ctx, &board)
	if err != nil {
		return store.BoardStats{}, err
	}
	k, now := s.keys.of(&board), s.time()
	pipe := s.client.Pipeline()
	pace := pipe.Get(ctx, k.pace(now.Add(-time.Minute)))
	uniques := pipe.PFCount(ctx, k.uniques(now))
	weighed := []string{k.board(), k.seasons(), k.names(), k.nameIndex(), k.bans(), k.held()}
	for _, n := range numbers[:min(len(numbers), weighedSeasons)] {
		weighed = append(weighed, k.scores(n), k.banned(n))
	}
	weights := make([]*redis.IntCmd, len(weighed))
	for i, key := range weighed {
		weights[i] = pipe.MemoryUsage(ctx, key) // looks at five members of each: it costs the same for any size
	}
	_, _ = pipe.Exec(ctx) // each command tells its own error

	if err := errors.Join(unlessAbsent(pace.Err()), unlessAbsent(uniques.Err())); err != nil {
		return store.BoardStats{}, fail("stats", err)
	}
	stats := store.BoardStats{LastMinute: number(pace.Val()), PlayersDay: uniques.Val()}
	for _, w := range weights {
		if err := unlessAbsent(w.Err()); err != nil {
			if !refused(err) {
				return store.BoardStats{}, fail("stats", err)
			}
			stats.MemoryBytes = 0
			return stats, nil
		}
		stats.MemoryBytes += w.Val()
	}
	return stats, nil
}

func unlessAbsent(err error) error {
	if errors.Is(err, redis.Nil) {
		return nil
	}
	return err
}

// Bans returns who is banned on a board, [store.MaxBans] at most and in no order, and how many there are.
func (s *Store) Bans(ctx context.Context, id store.BoardID) (bans []store.Ban, total int64, err error) {
	board, err := s.freshBoard(ctx, id)
	if err != nil {
		return nil, 0, err
	}
	k := s.keys.of(&board)
	total, err = s.client.HLen(ctx, k.bans()).Result()
	if err != nil {
		return nil, 0, fail("bans", err)
	}
	seen := make(map[store.PlayerID]bool)
	const page = 500
	for cursor, first := uint64(0), true; first || cursor != 0; first = false {
		var pairs []string
		if pairs, cursor, err = s.client.HScan(ctx, k.bans(), cursor, "", page).Result(); err != nil {
			return nil, 0, fail("bans", err)
		}
		for i := 0; i+1 < len(pairs) && len(bans) < store.MaxBans; i += 2 {
			// A scan may show a field twice while the hash grows.
			if player := store.PlayerID(pairs[i]); !seen[player] {
				seen[player] = true
				bans = append(bans, store.Ban{Player: player, Reason: pairs[i+1]})
			}
		}
		if len(bans) == store.MaxBans {
			break
		}
	}
	return bans, max(total, int64(len(bans))), s.nameBans(ctx, k, bans)
}

// BanOf returns the ban of a player, or [store.ErrNotBanned].
func (s *Store) BanOf(ctx context.Context, id store.BoardID, player store.PlayerID) (store.Ban, error) {
	board, err := s.freshBoard(ctx, id)
	if err != nil {
		return store.Ban{}, err
	}
	k := s.keys.of(&board)
	reason, err := s.client.HGet(ctx, k.bans(), string(player)).Result()
	if errors.Is(err, redis.Nil) {
		return store.Ban{}, store.ErrNotBanned
	}
	if err != nil {
		return store.Ban{}, fail("bans", err)
	}
	bans := []store.Ban{{Player: player, Reason: reason}}
	return bans[0], s.nameBans(ctx, k, bans)
}

// nameBans fills in the names of players.
func (s *Store) nameBans(ctx context.Context, k boardKeys, bans []store.Ban) error {
	if len(bans) == 0 {
		return nil
	}
	fields := make([]string, len(bans))
	for i := range bans {
		fields[i] = string(bans[i].Player)
	}
	names, err := s.client.HMGet(ctx, k.names(), fields...).Result()
	if err != nil {
		return fail("bans", err)
	}
	for i, name := range names {
		bans[i].Name = store.Name(text(name))
	}
	return nil
}

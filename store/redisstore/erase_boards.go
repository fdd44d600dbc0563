package redisstore

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"leaderboard/store"
)

// seasonsPerStep bounds how many closed seasons one call of the script reaches.
const seasonsPerStep = 128

// fromBoards takes the person off all boards, and off what removed boards left behind.
func (e *erasure) fromBoards(ctx context.Context) error {
	boards, err := e.client.HGetAll(ctx, e.keys.boards()).Result()
	if err != nil {
		return fail("erase", err)
	}
	for id, text := range boards {
		incarnation := number(text)
		if incarnation > 0 {
			if err := e.fromBoard(ctx, store.BoardID(id)); err != nil && !errors.Is(err, store.ErrBoardNotFound) {
				return err
			}
		}
		if err := e.fromFormer(ctx, store.BoardID(id), max(incarnation, -incarnation)); err != nil {
			return err
		}
	}
	return nil
}

// fromFormer removes what outlives a board that was removed, until it expires.
func (e *erasure) fromFormer(ctx context.Context, id store.BoardID, last int64) error {
	var former []string
	for n := int64(1); n <= last; n++ {
		k := e.keys.board(id, n)
		former = append(former, k.activity(e.player), k.rate(e.player))
	}
	for some := range slices.Chunk(former, erasureScan) {
		if err := e.step(ctx); err != nil {
			return err
		}
		_, err := e.client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
			for _, key := range some {
				pipe.Unlink(ctx, key)
			}
			return nil
		})
		e.afterWrite()
		if err != nil {
			return fail("erase", err)
		}
	}
	return nil
}

func (e *erasure) fromBoard(ctx context.Context, id store.BoardID) error {
	board, err := e.fromSeasons(ctx, id)
	if err != nil {
		return err
	}
	k := e.keys.of(&board)
	if err := e.fromNameIndex(ctx, k); err != nil {
		return err
	}
	return e.fromHeld(ctx, k)
}

// fromSeasons takes the person out of every season that is kept, some seasons in each step.
func (e *erasure) fromSeasons(ctx context.Context, id store.BoardID) (store.Board, error) {
again:
	for range attempts {
		board, err := e.freshBoard(ctx, id)
		if err != nil {
			return store.Board{}, err
		}
		numbers, err := e.seasonNumbers(ctx, &board)
		if err != nil {
			return store.Board{}, err
		}
		k := e.keys.of(&board)
		known, err := e.client.HMGet(ctx, k.names(), string(e.player)).Result()
		if err != nil {
			return store.Board{}, fail("names", err)
		}
		running := board.Season.Number
		numbers = slices.DeleteFunc(numbers, func(n int64) bool { return n == running })
		for {
			if err := e.step(ctx); err != nil {
				return store.Board{}, err
			}
			keys := []string{k.board(), k.bans(), k.names(), k.nameIndex(), k.activity(e.player), k.rate(e.player)}
			keys = append(keys, placesOf(k, running)...)
			some := numbers[:min(seasonsPerStep, len(numbers))]
			numbers = numbers[len(some):]
			for _, n := range some {
				keys = append(keys, placesOf(k, n)...)
			}
			word, reply, err := e.list(ctx, e.scripts.erase, keys, board.Rev, e.now(), millis(board.Season.End), k.live(),
				board.Settings.LiveTop, string(e.player), store.Fold(text(known[0])))
			if err != nil {
				return store.Board{}, err
			}
			if word != "ok" {
				continue again
			}
			e.wrote(id, number(at(reply, 1)), number(at(reply, 0)))
			if len(numbers) == 0 {
				return board, nil
			}
		}
	}
	return store.Board{}, e.restless(id)
}

// placesOf returns where a person may stand in a season.
func placesOf(k boardKeys, season int64) []string {
	return []string{k.scores(season), k.banned(season), k.reached(season), k.holds(season)}
}

var notPlain = regexp.MustCompile(`[^A-Za-z0-9_.:-]+`)

// fromNameIndex removes former names that stayed behind: a rename whose second half failed leaves one.
func (e *erasure) fromNameIndex(ctx context.Context, k boardKeys) error {
	mark := "\x00" + string(e.player)
	pattern := "*\x00" + notPlain.ReplaceAllString(string(e.player), "*")
	var stale []any
	next := func(cursor uint64) ([]string, uint64, error) {
		return e.client.ZScan(ctx, k.nameIndex(), cursor, pattern, erasureScan).Result()
	}
	err := e.scan(ctx, next, func(items []string) error {
		for i := 0; i+1 < len(items); i += 2 {
			if strings.HasSuffix(items[i], mark) {
				stale = append(stale, items[i])
			}
		}
		return nil
	})
	if err != nil || len(stale) == 0 {
		return err
	}
	err = e.client.ZRem(ctx, k.nameIndex(), stale...).Err()
	e.afterWrite()
	return failOr(err)
}

func (e *erasure) fromHeld(ctx context.Context, k boardKeys) error {
	var found []string
	err := e.pairs(ctx, k.held(), erasureScan, func(id, text string) {
		held, err := parseHeld(id, text)
		if err == nil && held.Player == e.player {
			found = append(found, id)
		}
	})
	if err != nil || len(found) == 0 {
		return err
	}
	err = e.client.HDel(ctx, k.held(), found...).Err()
	e.afterWrite()
	return failOr(err)
}

// fromReplies removes the replies kept for idempotency keys that the person's submissions came with. Nobody knows their
// names, so all keys are looked at.
func (e *erasure) fromReplies(ctx context.Context) error {
	if cluster, ok := e.client.(*redis.ClusterClient); ok {
		return cluster.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error {
			return e.fromRepliesOn(ctx, node)
		})
	}
	return e.fromRepliesOn(ctx, e.client)
}

func (e *erasure) fromRepliesOn(ctx context.Context, node redis.Cmdable) error {
	next := func(cursor uint64) ([]string, uint64, error) {
		return node.Scan(ctx, cursor, e.keys.replies(), erasureScan).Result()
	}
	return e.scan(ctx, next, func(keys []string) error {
		for some := range slices.Chunk(keys, erasureScan) { // the embedded store answers with all at once
			if err := e.dropReplies(ctx, some); err != nil {
				return err
			}
		}
		return nil
	})
}

func (e *erasure) dropReplies(ctx context.Context, keys []string) error {
	kept := make([]*redis.StringCmd, len(keys))
	_, err := e.client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for i, key := range keys {
			kept[i] = pipe.Get(ctx, key)
		}
		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return fail("erase", err)
	}
	for i, key := range keys {
		reply, err := kept[i].Result()
		if errors.Is(err, redis.Nil) {
			continue // expired
		}
		if err != nil {
			return fail("erase", err)
		}
		if ownerOfReply(reply) != e.player {
			continue
		}
		if _, err := e.dropKept(ctx, "string", key, "", reply, ""); err != nil {
			return err
		}
	}
	return nil
}

// ownerOfReply returns whose reply is kept: behind the reply and a NUL, which no id has in it. That of a whole batch has
// no owner.
func ownerOfReply(kept string) store.PlayerID {
	_, player, _ := strings.Cut(kept, "\x00")
	return store.PlayerID(player)
}

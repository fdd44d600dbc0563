package redisstore

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"leaderboard/store"
)

var _ store.Audit = (*Store)(nil)

// Acts are kept for 400 days, so that a year can be looked back on, and 100 000 of them at most.
const (
	auditKeep = 400 * 24 * time.Hour
	auditMost = 100_000
)

// auditSeqLength is how many digits stand before an act, so that acts of one millisecond stay in order.
const auditSeqLength = 16

type actRecord struct {
	Who     string         `json:"who"`
	Act     string         `json:"act"`
	Board   store.BoardID  `json:"board,omitempty"`
	Player  store.PlayerID `json:"player,omitempty"`
	Details string         `json:"details,omitempty"`
}

// Record implements [store.Audit].
func (s *Store) Record(ctx context.Context, act store.Act) error {
	text := encode(actRecord{Who: act.Who, Act: act.Act, Board: act.Board, Player: act.Player, Details: act.Details})
	_, err := s.call(ctx, s.scripts.audit, []string{s.keys.auditLog(), s.keys.auditSeq()},
		s.now(), text, auditKeep.Milliseconds(), auditMost)
	return err
}

// Acts implements [store.Audit]. The cursor is the sequence of the last act shown; acts are never put between others, so
// the log's order is that of the sequence as far as the clock goes forward.
func (s *Store) Acts(ctx context.Context, after string, limit int64) ([]store.Act, string, error) {
	var skip int64
	if after != "" {
		ms, seq, err := parseActCursor(after)
		if err != nil {
			return nil, "", err
		}
		if skip, err = s.actsUpTo(ctx, ms, seq); err != nil {
			return nil, "", err
		}
	}
	rows, err := s.client.ZRevRangeWithScores(ctx, s.keys.auditLog(), skip, skip+limit).Result()
	if err != nil {
		return nil, "", fail("audit", err)
	}
	acts := make([]store.Act, 0, len(rows))
	next := ""
	for i, row := range rows {
		member, _ := row.Member.(string)
		if int64(i) == limit {
			last, _ := rows[i-1].Member.(string)
			next = strconv.FormatInt(int64(rows[i-1].Score), 10) + "-" + last[:auditSeqLength]
			break
		}
		act, err := parseAct(member, row)
		if err != nil {
			return nil, "", err
		}
		acts = append(acts, act)
	}
	return acts, next, nil
}

// actsUpTo returns how many acts stand at or before a cursor. Between two calls acts may be added before it: those are
// newer, and the walk goes on where it was.
func (s *Store) actsUpTo(ctx context.Context, ms int64, seq string) (int64, error) {
	at := strconv.FormatInt(ms, 10)
	newer, err := s.client.ZCount(ctx, s.keys.auditLog(), "("+at, "+inf").Result()
	if err != nil {
		return 0, fail("audit", err)
	}
	same, err := s.client.ZRangeByScore(ctx, s.keys.auditLog(), &redis.ZRangeBy{Min: at, Max: at}).Result()
	if err != nil {
		return 0, fail("audit", err)
	}
	for _, member := range same {
		if len(member) >= auditSeqLength && member[:auditSeqLength] >= seq {
			newer++
		}
	}
	return newer, nil
}

func parseActCursor(text string) (ms int64, seq string, err error) {
	var n int64
	if c, err := fmt.Sscanf(text, "%d-%d", &ms, &n); err != nil || c != 2 || ms < 0 || n < 0 {
		return 0, "", store.Invalid("after", "must be the next of an earlier reply")
	}
	seq = fmt.Sprintf("%0*d", auditSeqLength, n)
	if strconv.FormatInt(ms, 10)+"-"+seq != text {
		return 0, "", store.Invalid("after", "must be the next of an earlier reply")
	}
	return ms, seq, nil
}

func parseAct(member string, row redis.Z) (store.Act, error) {
	var r actRecord
	if len(member) < auditSeqLength {
		return store.Act{}, unexpected("audit", member)
	}
	if err := json.Unmarshal([]byte(member[auditSeqLength:]), &r); err != nil {
		return store.Act{}, fmt.Errorf("redisstore: audit: %w", err)
	}
	return store.Act{
		At: fromMillis(int64(row.Score)), Who: r.Who, Act: r.Act, Board: r.Board, Player: r.Player, Details: r.Details,
	}, nil
}

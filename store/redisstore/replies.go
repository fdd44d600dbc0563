package redisstore

import (
	"fmt"
	"strconv"

	"leaderboard/store"
)

// number reads a whole number from a reply: scripts answer with small ones as integers and with large ones as text. A
// reply of another shape is a bug in a script, which the suite finds; it reads as 0.
func number(v any) int64 {
	switch v := v.(type) {
	case int64:
		return v
	case string:
		if n, err := strconv.ParseInt(v, 10, 64); err == nil {
			return n
		}
		f, _ := strconv.ParseFloat(v, 64) // miniredis writes scores in its own way
		return int64(f)
	}
	return 0
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

func items(v any) []any {
	list, _ := v.([]any)
	return list
}

// at returns an item of a reply, or nil where the reply is shorter.
func at(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return nil
}

func unexpected(op string, reply any) error {
	return fmt.Errorf("redisstore: %s: reply %.200v", op, reply)
}

// entries reads a page of a script: {rank of the first, shared rank of the first or 0, {player, packed, …}, {name, …}}.
func entries(season *store.Season, page []any, nowMillis int64) []store.Entry {
	rank, shared := number(at(page, 0)), number(at(page, 1))
	rows, names := items(at(page, 2)), items(at(page, 3))
	now := fromMillis(nowMillis)
	list := make([]store.Entry, 0, len(rows)/2)
	for i := 0; i+1 < len(rows); i += 2 {
		entry := entryOf(season, text(rows[i]), number(rows[i+1]), text(at(names, i/2)), now)
		entry.Rank = rank + int64(i/2)
		if shared > 0 {
			if i > 0 && list[len(list)-1].Points != entry.Points {
				shared = entry.Rank
			}
			entry.Rank = shared
		}
		list = append(list, entry)
	}
	return list
}

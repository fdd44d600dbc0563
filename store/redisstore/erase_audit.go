package redisstore

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"leaderboard/store"
)

// fromAudit takes the person out of the words of the audit. Acts stay, about nobody.
func (e *erasure) fromAudit(ctx context.Context) error {
	type change struct{ seen, instead string }
	var changes []change
	next := func(cursor uint64) ([]string, uint64, error) {
		return e.client.ZScan(ctx, e.keys.auditLog(), cursor, "", erasureScan).Result()
	}
	err := e.scan(ctx, next, func(items []string) error {
		for i := 0; i+1 < len(items); i += 2 {
			if instead, ok := actWithout(items[i], e.player); ok {
				changes = append(changes, change{items[i], instead})
			}
		}
		return nil
	})
	for _, c := range changes {
		if err != nil {
			break
		}
		if err = e.step(ctx); err == nil {
			_, err = e.dropKept(ctx, "zset", e.keys.auditLog(), "", c.seen, c.instead)
		}
	}
	return err
}

// actWithout returns an act of the audit without a person, and false where the person is not in it. The details of an
// act about the person go whole: they may say anything. Ids of jobs are made of those of people.
func actWithout(member string, player store.PlayerID) (string, bool) {
	var act actRecord
	if len(member) < auditSeqLength || json.Unmarshal([]byte(member[auditSeqLength:]), &act) != nil {
		return "", false
	}
	ofJob := strings.HasPrefix(act.Act, "job.") &&
		(hasWord(act.Details, string(player)) || hasWord(act.Details, url.QueryEscape(string(player))))
	if act.Player != player && !ofJob {
		return "", false
	}
	if act.Player == player {
		act.Player = erasedName
	}
	if act.Details != "" {
		act.Details = erasedName
	}
	instead := member[:auditSeqLength] + encode(act)
	return instead, instead != member // of somebody who is called so nothing is left to do
}

// hasWord reports whether a word stands in a text with no letter or digit on either side.
func hasWord(text, word string) bool {
	inWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(word)
		before, _ := utf8.DecodeLastRuneInString(text[:start])
		after, _ := utf8.DecodeRuneInString(text[end:])
		if !inWord(before) && !inWord(after) {
			return true
		}
		_, width := utf8.DecodeRuneInString(text[start:])
		from = start + width
	}
}

package redisstore

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"leaderboard/store"
)

type inboxScripts struct{ claim, deliver, list script }

func newInboxScripts() inboxScripts {
	prelude := source("prelude")
	list := newScript(prelude, "inbox_list")
	list.reads = true
	return inboxScripts{
		claim: newScript(prelude, "inbox_claim"), deliver: newScript(prelude, "inbox_deliver"), list: list,
	}
}

// prize is what the store keeps of a [store.Prize], behind the time of its arrival.
type prize struct {
	Board  store.BoardID   `json:"board"`
	Season int64           `json:"season"`
	Reward string          `json:"reward"`
	Title  string          `json:"title"`
	Data   json.RawMessage `json:"data,omitempty"`
}

func (s *Store) inboxKeys(player store.PlayerID) []string {
	return []string{s.keys.player(player, "inbox"), s.keys.player(player, "prizes"), s.keys.player(player, "claimed")}
}

// Deliver puts a prize into a player's inbox, once for each job, and tells every process. It reports false when the job
// has been here before.
func (s *Store) Deliver(ctx context.Context, d store.Delivered) (bool, error) {
	keys := s.inboxKeys(d.Player)
	keys[2] = s.keys.player(d.Player, "effects")
	p := d.Prize
	word, _, err := s.list(ctx, s.scripts.inbox.deliver, keys, s.now(), d.Job,
		max(d.Keep, store.ShortestMarking).Milliseconds(), s.keys.players(), string(d.Player),
		encodeAsIs(prize{p.Board, p.Season, p.Reward, p.Title, p.Data}))
	return word == "ok", err
}

// Inbox returns a player's prizes, newest first, behind the one of a number; 0 begins with the newest. A player who
// never got one has an empty inbox.
func (s *Store) Inbox(ctx context.Context, player store.PlayerID, after int64, limit int) (store.Inbox, error) {
	from := ""
	if after > 0 {
		from = strconv.FormatInt(after, 10)
	}
	_, reply, err := s.list(ctx, s.scripts.inbox.list, s.inboxKeys(player), from, min(limit, store.MaxInboxPage))
	if err != nil {
		return store.Inbox{}, err
	}
	if len(reply) < 2 || len(reply)%3 != 2 {
		return store.Inbox{}, unexpected("inbox_list", reply)
	}
	inbox := store.Inbox{Unclaimed: number(reply[0]), Prizes: make([]store.Prize, 0, len(reply)/3)}
	for row := range slices.Chunk(reply[2:], 3) {
		p, err := parsePrize(number(row[0]), text(row[1]), text(row[2]))
		if err != nil {
			return store.Inbox{}, err
		}
		inbox.Prizes = append(inbox.Prizes, p)
	}
	if number(reply[1]) == 1 {
		inbox.Next = inbox.Prizes[len(inbox.Prizes)-1].ID
	}
	return inbox, nil
}

// Prize returns one prize of a player, or [store.ErrRewardNotFound], and how many are unclaimed.
func (s *Store) Prize(ctx context.Context, player store.PlayerID, id int64) (store.Prize, int64, error) {
	inbox, err := s.Inbox(ctx, player, id+1, 1)
	if err == nil && (len(inbox.Prizes) == 0 || inbox.Prizes[0].ID != id) {
		err = fmt.Errorf("redisstore: prize: %w", store.ErrRewardNotFound)
	}
	if err != nil {
		return store.Prize{}, 0, err
	}
	return inbox.Prizes[0], inbox.Unclaimed, nil
}

// ClaimPrize claims a prize. Again is the same: the first claim's time stands. Returns [store.ErrRewardNotFound].
func (s *Store) ClaimPrize(ctx context.Context, player store.PlayerID, id int64) (store.Prize, error) {
	word, reply, err := s.list(ctx, s.scripts.inbox.claim, s.inboxKeys(player), s.now(), id, store.MaxClaimedKept,
		s.keys.players(), string(player))
	switch {
	case err != nil:
		return store.Prize{}, err
	case word == "absent":
		return store.Prize{}, fmt.Errorf("redisstore: inbox_claim: %w", store.ErrRewardNotFound)
	}
	return parsePrize(id, text(at(reply, 0)), text(at(reply, 1)))
}

func parsePrize(id int64, kept, claimed string) (store.Prize, error) {
	at, rest, _ := strings.Cut(kept, " ")
	var p prize
	if err := json.Unmarshal([]byte(rest), &p); err != nil {
		return store.Prize{}, fmt.Errorf("redisstore: prize %d: %w", id, err)
	}
	found := store.Prize{
		ID: id, Board: p.Board, Season: p.Season, Reward: p.Reward, Title: p.Title, Data: p.Data,
		At: fromMillis(number(at)),
	}
	if claimed != "" {
		found.ClaimedAt = fromMillis(number(claimed))
	}
	return found, nil
}

// encodeAsIs is encode for values with data of others in them: what came as < does not go out as \u003c.
func encodeAsIs(v any) string {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		panic(err) // our own types always encode; data was checked when it was parsed
	}
	return strings.TrimSuffix(text.String(), "\n")
}

// ListenForPlayers calls heard with what happens to any player, until the context ends, and gap whenever something may
// have been missed. Neither may block.
func (s *Store) ListenForPlayers(ctx context.Context, heard func(store.PlayerNews), gap func()) {
	s.listen(ctx, s.keys.players(), func(message string) {
		if news, ok := store.ParsePlayerNews(message); ok {
			heard(news)
		}
	}, gap)
}

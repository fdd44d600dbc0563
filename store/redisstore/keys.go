package redisstore

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"regexp"
	"strconv"
	"time"

	"leaderboard/store"
)

// keyPrefix is what may stand first in every key: braces would move Redis Cluster's hash tag.
var keyPrefix = regexp.MustCompile(`^[A-Za-z0-9_.:-]{1,32}$`)

// IsPrefix reports whether s can stand first in every key: 1 to 32 of A-Z, a-z, 0-9, _ . : and -.
func IsPrefix(s string) bool { return keyPrefix.MatchString(s) }

// keys spells every key of one store. Ids are escaped here, and nowhere else.
type keys struct{ prefix string }

func (k keys) boards() string { return k.prefix + ":boards" }

func (k keys) apiKeys() string     { return k.prefix + ":{keys}:by-id" }
func (k keys) apiKeysUsed() string { return k.prefix + ":{keys}:used" }
func (k keys) auditLog() string    { return k.prefix + ":{audit}:log" }
func (k keys) auditSeq() string    { return k.prefix + ":{audit}:seq" }

// tokenKeys are what players' tokens are signed with, as text.
func (k keys) tokenKeys() string { return k.prefix + ":{tokens}:keys" }

// session is a session of the admin pages. Its name opens it, and comes from a cookie: a hash of it is short, fit for a
// key, and opens nothing.
func (k keys) session(name string) string {
	hash := sha256.Sum256([]byte(name))
	return k.prefix + ":session:" + hex.EncodeToString(hash[:])
}

// sessions matches the keys of all sessions.
func (k keys) sessions() string { return k.prefix + ":session:*" }

// erasures is a hash of who is being erased; its turn is held by the process that goes on with what others left.
func (k keys) erasures() string    { return k.prefix + ":{erase}:queue" }
func (k keys) erasureTurn() string { return k.prefix + ":{erase}:turn" }

// replies matches the replies kept for idempotency keys, of all boards.
func (k keys) replies() string { return k.prefix + ":{*}:once:*" }

// rate is the window of an API key or an address.
func (k keys) rate(subject string) string { return k.prefix + ":{rate:" + escape(subject) + "}:calls" }

// boardKeys spells the keys of one board and incarnation. They share a hash tag, so one script may reach them all.
type boardKeys struct{ tag string }

func (k keys) of(b *store.Board) boardKeys { return k.board(b.ID, b.Incarnation) }

func (k keys) board(id store.BoardID, incarnation int64) boardKeys {
	return boardKeys{tag: k.prefix + ":{" + string(id) + "." + strconv.FormatInt(incarnation, 10) + "}:"}
}

func (k boardKeys) board() string     { return k.tag + "board" }
func (k boardKeys) seasons() string   { return k.tag + "seasons" }
func (k boardKeys) names() string     { return k.tag + "names" }
func (k boardKeys) nameIndex() string { return k.tag + "name-index" }
func (k boardKeys) bans() string      { return k.tag + "bans" }
func (k boardKeys) owed() string      { return k.tag + "owed" }
func (k boardKeys) live() string      { return k.tag + "live" } // a Pub/Sub channel

func (k boardKeys) scores(season int64) string { return k.season(season) + "scores" }
func (k boardKeys) banned(season int64) string { return k.season(season) + "banned" }

// reached and holds are hashes of players and the rewards that they reached, or hold until a time; payouts is a hash of
// how far the payouts of a closed season came.
func (k boardKeys) reached(season int64) string { return k.season(season) + "reached" }
func (k boardKeys) holds(season int64) string   { return k.season(season) + "holds" }
func (k boardKeys) payouts(season int64) string { return k.season(season) + "payouts" }

// ofSeason returns all keys of a season.
func (k boardKeys) ofSeason(number int64) []string {
	return []string{k.scores(number), k.banned(number), k.reached(number), k.holds(number), k.payouts(number)}
}

func (k boardKeys) season(number int64) string {
	return k.tag + "s" + strconv.FormatInt(number, 10) + ":"
}

func (k boardKeys) activity(player store.PlayerID) string {
	return k.tag + "activity:" + escape(string(player))
}

func (k boardKeys) held() string { return k.tag + "held" }

func (k boardKeys) rate(player store.PlayerID) string {
	return k.tag + "rate:" + escape(string(player))
}

// uniques and pace are named after the day and the minute by the clock of the process: they are statistics, and scripts
// must be told all their keys.
func (k boardKeys) uniques(day time.Time) string {
	return k.tag + "uniques:" + day.UTC().Format("2006-01-02")
}

func (k boardKeys) pace(minute time.Time) string {
	return k.tag + "pace:" + minute.UTC().Format("2006-01-02T15:04")
}

func (k boardKeys) once(key string) string { return k.tag + "once:" + escape(key) }

// jobs spells the keys of the job queue in the order in which every script of it takes them.
func (k keys) jobs() []string {
	tag := k.prefix + ":{jobs}:"
	return []string{
		tag + "scheduled", tag + "ready", tag + "running", tag + "dead",
		tag + "data", tag + "token", tag + "deliveries", tag + "reasons", tag + "meta",
	}
}

func (k keys) jobWake() string { return k.prefix + ":{jobs}:wake" } // a Pub/Sub channel

// relays is the Pub/Sub channel that wakes those who bring what boards owe to the job queue.
func (k keys) relays() string { return k.prefix + ":owed" }

func (k keys) outbox(name string) string         { return k.prefix + ":{outbox}:" + name }
func (k keys) outboxWorker(sender string) string { return k.outbox("worker:" + escape(sender)) }
func (k keys) outboxBeat(sender string) string   { return k.outbox("beat:" + escape(sender)) }

// player spells a key of one player, whatever the board.
func (k keys) player(player store.PlayerID, name string) string {
	return k.prefix + ":{p:" + escape(string(player)) + "}:" + name
}

// players is the Pub/Sub channel on which every process hears what happened to a player.
func (k keys) players() string { return k.prefix + ":players" }

// escape makes an id safe inside a key: no braces, no colon, no control characters, and two ids never become one.
func escape(id string) string { return url.QueryEscape(id) }

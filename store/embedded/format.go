package embedded

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"
)

// A snapshot is a list of commands in Redis' protocol, so that redis-cli --pipe moves it into a real Redis. It begins
// with a command that says what it is and ends with one that holds the SHA-256 of all that stands before it; both are
// harmless to a Redis.
const (
	firstWords = "leaderboard-snapshot format:1"
	lastWords  = "leaderboard-snapshot sha256:"
)

// perCommand is how many words of a value stand in one command at most: far fewer than a Redis takes, and even.
const perCommand = 256

// allowed are the commands of a snapshot.
var allowed = []string{"DEL", "SET", "HSET", "RPUSH", "SADD", "ZADD", "PFADD", "PEXPIREAT"}

// seal makes a snapshot of the commands that make all keys.
func seal(commands [][]byte) []byte {
	out := appendCommand(nil, "ECHO", firstWords)
	for _, some := range commands {
		out = append(out, some...)
	}
	return appendCommand(out, "ECHO", sumOf(out))
}

func sumOf(commands []byte) string {
	sum := sha256.Sum256(commands)
	return lastWords + hex.EncodeToString(sum[:])
}

// encode returns the commands that make a key. Uniques are the elements of a HyperLogLog.
func (r *record) encode(uniques func(key string) []string) ([]byte, error) {
	var words []string
	var err error
	if r.kind == "hll" {
		words = uniques(r.key)
	} else if words, err = values(r.reply); err != nil {
		return nil, fmt.Errorf("key %q: %w", r.key, err)
	}
	var out []byte
	switch r.kind {
	case "string":
		out = appendCommand(out, append([]string{"SET", r.key}, words...)...)
	case "hash":
		out = r.appendValue(out, "HSET", words)
	case "list":
		out = r.appendValue(out, "RPUSH", words)
	case "set":
		out = r.appendValue(out, "SADD", words)
	case "hll":
		out = r.appendValue(out, "PFADD", words)
	case "zset":
		if err := scoresFirst(words); err != nil {
			return nil, fmt.Errorf("key %q: %w", r.key, err)
		}
		out = r.appendValue(out, "ZADD", words)
	}
	if !r.expires.IsZero() {
		at := r.expires.Add(time.Millisecond - 1).UnixMilli() // rounded up: nothing goes before its time
		out = appendCommand(out, "PEXPIREAT", r.key, strconv.FormatInt(at, 10))
	}
	return out, nil
}

// appendValue adds the commands that make a value of many words. What the key held before goes first, so that a
// snapshot may be moved into a Redis twice.
func (r *record) appendValue(out []byte, name string, words []string) []byte {
	out = appendCommand(out, "DEL", r.key)
	for some := range slices.Chunk(words, perCommand) {
		out = appendCommand(out, append([]string{name, r.key}, some...)...)
	}
	return out
}

// scoresFirst turns member and score around in a list of both, and spells each score digit for digit.
func scoresFirst(list []string) error {
	for i := 0; i+1 < len(list); i += 2 {
		score, err := strconv.ParseFloat(list[i+1], 64)
		if err != nil || math.IsNaN(score) {
			return fmt.Errorf("the score of %q is %q", list[i], list[i+1])
		}
		// Packed scores are whole and below 2^53: all their digits, no exponent. Others come back as the same number.
		format := byte('f')
		if math.Abs(score) > 1<<53 {
			format = 'g'
		}
		list[i], list[i+1] = strconv.FormatFloat(score, format, -1, 64), list[i]
	}
	return nil
}

// appendCommand adds a command in Redis' protocol.
func appendCommand(out []byte, words ...string) []byte {
	out = appendCount(out, '*', len(words))
	for _, word := range words {
		out = appendCount(out, '$', len(word))
		out = append(out, word...)
		out = append(out, "\r\n"...)
	}
	return out
}

func appendCount(out []byte, kind byte, n int) []byte {
	out = strconv.AppendInt(append(out, kind), int64(n), 10)
	return append(out, "\r\n"...)
}

// errDamaged means that a snapshot is not what was written.
var errDamaged = errors.New("it is damaged, or no snapshot of a leaderboard")

// decode calls apply with each command of a snapshot that is whole, in order.
func decode(snapshot []byte, apply func(words []string) error) error {
	// What follows the last such words is the sum, whatever a name on a board may spell.
	end := bytes.LastIndex(snapshot, []byte("*2\r\n$4\r\nECHO\r\n"))
	if end < 0 || !bytes.Equal(snapshot[end:], appendCommand(nil, "ECHO", sumOf(snapshot[:end]))) {
		return errDamaged
	}
	rest, ok := bytes.CutPrefix(snapshot[:end], appendCommand(nil, "ECHO", firstWords))
	if !ok {
		return errors.New("it was written by another version, in a format that this one does not know")
	}
	for len(rest) > 0 {
		words, err := readCommand(&rest)
		if err != nil {
			return err
		}
		if !slices.Contains(allowed, words[0]) {
			return fmt.Errorf("it holds a command that does not belong there: %.20q", words[0])
		}
		if err := apply(words); err != nil {
			return err
		}
	}
	return nil
}

// readCommand takes a command of at least one word off the front.
func readCommand(rest *[]byte) ([]string, error) {
	n, err := readCount(rest, '*')
	if err != nil || n == 0 {
		return nil, errDamaged
	}
	words := make([]string, 0, min(n, perCommand+2))
	for range n {
		size, err := readCount(rest, '$')
		if err != nil || len(*rest) < size+2 {
			return nil, errDamaged
		}
		words = append(words, string((*rest)[:size]))
		*rest = (*rest)[size+2:]
	}
	return words, nil
}

func readCount(rest *[]byte, kind byte) (int, error) {
	line, after, found := bytes.Cut(*rest, []byte("\r\n"))
	if !found || len(line) == 0 || line[0] != kind {
		return 0, errDamaged
	}
	*rest = after
	n, err := strconv.ParseUint(string(line[1:]), 10, 31)
	return int(n), err
}

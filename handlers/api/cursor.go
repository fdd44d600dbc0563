package api

import (
	"encoding/base64"
	"encoding/binary"

	"leaderboard/store"
)

// cursor is the place in a board from which a page walk goes on. Its text is opaque to callers. The epoch ties it to
// one incarnation of the board: a board made anew begins another.
type cursor struct {
	season int64
	epoch  string
	at     store.Position
}

// cursorVersion is the first byte of a cursor, so that another layout can follow.
const cursorVersion = 1

var cursorText = base64.RawURLEncoding.Strict()

// append writes the cursor as text.
func (k *cursor) append(to []byte) []byte {
	raw := make([]byte, 0, 64+store.MaxPlayerIDBytes)
	raw = append(raw, cursorVersion)
	raw = binary.AppendUvarint(raw, uint64(k.season))
	raw = binary.AppendVarint(raw, k.at.Packed)
	raw = append(raw, byte(len(k.epoch)))
	raw = append(raw, k.epoch...)
	raw = append(raw, k.at.Player...)
	return cursorText.AppendEncode(to, raw)
}

// parseCursor reads what [cursor.append] wrote, and refuses everything else.
func parseCursor(text string) (*cursor, error) {
	k, ok := decodeCursor(text)
	if !ok || string(k.append(nil)) != text { // numbers have several encodings, of which one is ours
		return nil, store.Invalid("after", "must be the next of an earlier page, unchanged")
	}
	return k, nil
}

func decodeCursor(text string) (*cursor, bool) {
	raw, err := cursorText.DecodeString(text)
	if err != nil || len(raw) == 0 || raw[0] != cursorVersion {
		return nil, false
	}
	raw = raw[1:]
	season, n := binary.Uvarint(raw)
	if n <= 0 || season < 1 || season > maxSeason {
		return nil, false
	}
	raw = raw[n:]
	packed, n := binary.Varint(raw)
	if n <= 0 || packed < -1<<53 || packed > 1<<53 {
		return nil, false
	}
	raw = raw[n:]
	if len(raw) == 0 || len(raw) < 1+int(raw[0]) {
		return nil, false
	}
	epoch, rest := string(raw[1:1+raw[0]]), string(raw[1+raw[0]:])
	player, err := store.ParsePlayerID(rest)
	if err != nil || string(player) != rest {
		return nil, false
	}
	return &cursor{season: int64(season), epoch: epoch, at: store.Position{Packed: packed, Player: player}}, true
}

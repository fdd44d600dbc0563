package live

import (
	"math"
	"time"

	"github.com/go-json-experiment/json"
)

// maxBurst is how many messages a client may send at once; after that, one a second. A client needs one to say who it
// is, and one for each gap that it sees.
const maxBurst = 20

// message is what a client may say.
type message struct {
	Type  string `json:"type"`
	Token string `json:"token"`
}

// obey does what a client asks for, and reports false where that is nothing it may.
func (h *Hub) obey(r *reader, text []byte, first bool) bool {
	var m message
	if err := json.Unmarshal(text, &m, json.RejectUnknownMembers(true)); err != nil {
		return false
	}
	switch {
	case m.Type == "resync" && m.Token == "":
		h.metrics.resyncs.Inc()
		r.resync()
		return true
	case m.Type == "auth" && first && h.tokens != nil:
		player, expires, err := h.tokens.Player(m.Token)
		if err != nil {
			return false
		}
		r.expireAt(expires)
		h.watchPlayer(r, player, true)
		return true
	}
	return false
}

// bucket counts messages of a client.
type bucket struct {
	tokens float64
	at     time.Time
}

// spend takes one, and reports false when there is none left.
func (b *bucket) spend() bool {
	now := time.Now()
	b.tokens = math.Min(maxBurst, b.tokens+now.Sub(b.at).Seconds())
	b.at = now
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}

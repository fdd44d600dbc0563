package live

import (
	"strings"
	"sync/atomic"
	"time"

	"leaderboard/store"
)

// Kept is the top of a board at one moment: its first places, as many as the board's live top has. It never changes.
type Kept struct {
	board  store.Board
	page   store.Page
	loaded time.Time
	stale  bool
	fresh  freshness

	replies *replies
}

// freshness says what a load could not have missed.
type freshness struct {
	watched bool   // the load began with a confirmed subscription
	gap     uint64 // gaps that the process had seen when it began
	mark    uint64 // changes of the board that the process had heard of when it began
}

// Page returns the first places of the running season, ties counted one by one. It belongs to all: nobody changes it.
func (k *Kept) Page() *store.Page { return &k.page }

// Board returns the board as it was. It belongs to all: nobody changes it.
func (k *Kept) Board() *store.Board { return &k.board }

// Loaded returns when the top was read.
func (k *Kept) Loaded() time.Time { return k.loaded }

// Stale reports whether the store could not be asked, and how old the top is then.
func (k *Kept) Stale() (age time.Duration, stale bool) {
	if !k.stale {
		return 0, false
	}
	return time.Since(k.loaded), true
}

// Encoded returns the reply kept under a key, made on the first call. It belongs to all: nobody changes it. A few
// replies are kept; what does not fit any more is made each time.
func (k *Kept) Encoded(key string, encode func() []byte) []byte { return k.replies.get(key, encode) }

// asStale returns the same top marked stale. Replies are not shared: they say that they are stale.
func (k *Kept) asStale() *Kept {
	copied := *k
	copied.stale, copied.replies = true, new(replies)
	return &copied
}

// maxReplies is how many replies one kept top remembers: the usual pages, with and without shared ties.
const maxReplies = 16

// replies remembers encoded replies. Reading takes no lock: there are few, and a list of them never changes.
type replies struct{ list atomic.Pointer[[]reply] }

type reply struct {
	key  string
	body []byte
}

func (r *replies) get(key string, encode func() []byte) []byte {
	var body []byte
	for {
		old := r.list.Load()
		var list []reply
		if old != nil {
			list = *old
		}
		for i := range list {
			if list[i].key == key {
				return list[i].body
			}
		}
		if body == nil {
			body = encode()
		}
		if len(list) >= maxReplies {
			return body
		}
		// Copied with the new one behind it. The key may stand in a buffer that the web server reuses.
		grown := append(list[:len(list):len(list)], reply{key: strings.Clone(key), body: body})
		if r.list.CompareAndSwap(old, &grown) {
			return body
		}
	}
}

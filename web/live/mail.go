package live

import (
	"context"
	"log/slog"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"

	"leaderboard/store"
)

// Inbox is where the rewards of players are read.
type Inbox interface {
	Prize(ctx context.Context, player store.PlayerID, id int64) (prize store.Prize, unclaimed int64, err error)
}

// maxMail is how many rewards wait to be read; the oldest goes first. The inbox has them all.
const maxMail = 1000

// mail brings players' rewards to the sockets that showed their token, on whatever board.
type mail struct {
	inbox   Inbox // nil: there are no rewards
	earned  func(board store.BoardID, player store.PlayerID)
	metrics *metrics
	log     *slog.Logger
	running *sync.WaitGroup

	mu     sync.Mutex
	owners map[store.PlayerID][]*reader
	queue  []store.PlayerNews
	works  bool // the goroutine that reads lives
}

// News takes what was published about a player. It never blocks.
func (h *Hub) News(news store.PlayerNews) { h.mail.take(news) }

func (m *mail) take(news store.PlayerNews) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.inbox == nil || len(m.owners[news.Player]) == 0 {
		return
	}
	if len(m.queue) == maxMail {
		m.queue = append(m.queue[:0], m.queue[1:]...)
		m.metrics.skipped.Inc()
	}
	m.queue = append(m.queue, news)
	if !m.works {
		m.works = true
		m.running.Go(m.work)
	}
}

func (m *mail) add(player store.PlayerID, r *reader) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.owners[player] = append(m.owners[player], r)
}

func (m *mail) remove(player store.PlayerID, r *reader) {
	m.mu.Lock()
	defer m.mu.Unlock()
	left := slices.DeleteFunc(m.owners[player], func(o *reader) bool { return o == r })
	if len(left) == 0 {
		delete(m.owners, player)
	} else {
		m.owners[player] = left
	}
}

// work reads rewards and tells their players, until none waits.
func (m *mail) work() {
	defer func() {
		if p := recover(); p != nil { // the next news start the work again
			m.metrics.panics.Inc()
			m.log.Error("live: panic while reading rewards", "panic", p, "stack", string(debug.Stack()))
			m.mu.Lock()
			m.works = false
			m.mu.Unlock()
		}
	}()
	for {
		m.mu.Lock()
		if len(m.queue) == 0 {
			m.works, m.queue = false, nil
			m.mu.Unlock()
			return
		}
		news := m.queue[0]
		m.queue = m.queue[1:]
		m.mu.Unlock()
		m.bring(news)
	}
}

// bring reads one reward and tells its player.
func (m *mail) bring(news store.PlayerNews) {
	ctx, cancel := context.WithTimeout(context.Background(), loadTime)
	defer cancel()
	prize, unclaimed, err := m.inbox.Prize(ctx, news.Player, news.Prize)
	if err != nil {
		m.metrics.failures.Inc() // the inbox will show it
		return
	}
	if news.What == store.NewsReward {
		m.earned(prize.Board, news.Player) // the board's activity has it, too
	}
	f := newReward(&prize, unclaimed)
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.owners[news.Player] {
		r.tell(f)
	}
}

// newReward tells a player of a reward, new or claimed, as the inbox has it.
func newReward(p *store.Prize, unclaimed int64) *frame {
	to := append(make([]byte, 0, 256+len(p.Data)), `{"type":"reward","id":`...)
	to = strconv.AppendInt(to, p.ID, 10)
	to = append(to, `,"board":`...)
	to = appendText(to, string(p.Board))
	to = append(to, `,"season":`...)
	to = strconv.AppendInt(to, p.Season, 10)
	to = append(to, `,"reward":`...)
	to = appendText(to, p.Reward)
	to = append(to, `,"title":`...)
	to = appendText(to, p.Title)
	to = append(to, `,"data":`...)
	if len(p.Data) == 0 {
		to = append(to, "null"...)
	} else {
		to = append(to, p.Data...)
	}
	to = append(to, `,"at":`...)
	to = appendTime(to, p.At)
	to = append(to, `,"claimed_at":`...)
	if p.ClaimedAt.IsZero() {
		to = append(to, "null"...)
	} else {
		to = appendTime(to, p.ClaimedAt)
	}
	to = append(to, `,"unclaimed":`...)
	to = strconv.AppendInt(to, unclaimed, 10)
	return &frame{kind: rewardFrame, text: append(to, '}')}
}

package worker_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"leaderboard/store"
)

// reachModel says by plain looks at the whole board who reached what, and since when they hold it.
type reachModel struct {
	rules  []store.Reward
	points map[store.PlayerID]int
	order  []store.PlayerID // best first; among equals who came first
	since  map[string]time.Time
	won    map[store.PlayerID][]string
}

func (m *reachModel) submit(player store.PlayerID, points int) {
	if before, ok := m.points[player]; ok && before == points {
		return
	}
	m.points[player] = points
	m.order = append(slices.DeleteFunc(m.order, func(p store.PlayerID) bool { return p == player }), player)
	slices.SortStableFunc(m.order, func(a, b store.PlayerID) int { return m.points[b] - m.points[a] })
	for i := range m.rules {
		for rank, p := range m.order {
			m.look(&m.rules[i], p, rank+1)
		}
	}
}

func (m *reachModel) look(rule *store.Reward, player store.PlayerID, rank int) {
	key := rule.ID + " " + string(player)
	has := rank <= int(rule.ReachRank)
	if rule.Points != "" {
		has = fmt.Sprintf("%3d", m.points[player]) >= fmt.Sprintf("%3s", rule.Points)
	}
	_, holds := m.since[key]
	switch {
	case slices.Contains(m.won[player], rule.ID):
	case has && rule.Hold == 0:
		m.won[player] = append(m.won[player], rule.ID)
	case has && !holds:
		m.since[key] = time.Now()
	case !has:
		delete(m.since, key)
	}
}

// pass lets holds end that have lasted.
func (m *reachModel) pass() {
	for i := range m.rules {
		rule := &m.rules[i]
		for player := range m.points {
			key := rule.ID + " " + string(player)
			if since, ok := m.since[key]; ok && time.Since(since) >= rule.Hold {
				delete(m.since, key)
				m.won[player] = append(m.won[player], rule.ID)
			}
		}
	}
}

func TestWhoReachesWhatIsWhatAPlainLookSays(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			inPayBubble(t, func(t *testing.T, p paymaster) {
				random := rand.New(rand.NewPCG(seed, 5))
				rules := []store.Reward{
					{ID: "king", ReachRank: 1, Hold: 9 * time.Second},
					{ID: "podium", ReachRank: 3, Hold: 31 * time.Second},
					{ID: "two", ReachRank: 2},
					{ID: "ten", Points: "10", Hold: 13 * time.Second},
					{ID: "twenty-5", Points: "25"},
				}
				p.putWith(func(s *store.Settings) { s.Policy, s.Rewards = store.Last, rules })
				m := &reachModel{
					rules: rules, points: map[store.PlayerID]int{}, since: map[string]time.Time{}, won: map[store.PlayerID][]string{},
				}
				stop := p.start()
				const players = 9
				for range 120 {
					player, points := numbered(random.IntN(players)), random.IntN(30)
					p.submit(player, fmt.Sprint(points))
					m.submit(player, points)
					// Whole seconds and a half lie between submissions and the ends of holds: neither depends on which is first.
					for range random.IntN(4) {
						time.Sleep(500 * time.Millisecond)
						m.pass()
					}
					time.Sleep(1003 * time.Millisecond)
					m.pass()
				}
				time.Sleep(time.Minute)
				m.pass()
				time.Sleep(2 * time.Second)
				stop()
				for i := range players {
					player := numbered(i)
					want := m.won[player]
					slices.Sort(want)
					if got := p.won(player); !slices.Equal(got, want) {
						t.Errorf("%s got %v, want %v", player, got, want)
					}
				}
			})
		})
	}
}

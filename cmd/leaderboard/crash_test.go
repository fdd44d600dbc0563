package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"leaderboard/store/storetest"
)

// acknowledged is a score that the server took, and when it said so.
type acknowledged struct {
	player string
	points int
	at     time.Time
}

// underLoad posts scores from several clients until the server is gone, and returns what was acknowledged.
func (p *process) underLoad(t *testing.T, board string, kill func()) []acknowledged {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var (
		mu    sync.Mutex
		acked []acknowledged
		load  sync.WaitGroup
	)
	for client := range 4 {
		load.Go(func() {
			for points := 1; ctx.Err() == nil; points++ {
				player := fmt.Sprintf("p%d-%d", client, points%5)
				status, _, err := p.try(ctx, "POST", "/boards/"+board+"/scores", fmt.Sprintf(`{"player":%q,"points":%d}`, player, points))
				if err != nil || status != http.StatusOK {
					continue
				}
				mu.Lock()
				acked = append(acked, acknowledged{player, points, time.Now()})
				mu.Unlock()
			}
		})
	}
	kill()
	cancel()
	load.Wait()
	return acked
}

// lost returns the scores acknowledged before a moment that a server no longer has.
func (p *process) lost(t *testing.T, board string, acked []acknowledged, before time.Time) (lost []acknowledged, checked int) {
	t.Helper()
	has := map[string]int{}
	for _, entry := range p.walk(t, board) {
		has[entry.Player] = number(t, string(entry.Points))
	}
	for _, a := range acked {
		if a.at.After(before) {
			continue
		}
		checked++
		if has[a.player] < a.points {
			lost = append(lost, a)
		}
	}
	return lost, checked
}

func TestAKilledServerHasLostTheLastSecondAtMost(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	first := embeddedServer(t, data)
	first.board(t, "kept", `{}`)
	var killed time.Time
	acked := first.underLoad(t, "kept", func() {
		<-time.After(2500 * time.Millisecond)
		killed = time.Now()
		_ = first.Process.Kill()
		<-first.ended
	})
	second := embeddedServer(t, data)
	lost, checked := second.lost(t, "kept", acked, killed.Add(-time.Second))
	if checked < 10 || len(lost) > 0 {
		t.Errorf("lost %d of %d scores that were older than a second: %v", len(lost), checked, lost)
	}
}

func TestAServerOnRedisIsKilledAndNothingIsLost(t *testing.T) {
	t.Parallel()
	flags := []string{"--redis-url=" + storetest.URL(t), "--key-prefix=" + storetest.Prefix(t)}
	first := serving(t, flags...)
	if greeting := first.err.String(); !strings.Contains(greeting, "store           Redis at ") {
		t.Errorf("the greeting does not say where the boards are:\n%s", greeting)
	}
	first.board(t, "kept", `{}`)
	acked := first.underLoad(t, "kept", func() {
		<-time.After(500 * time.Millisecond)
		_ = first.Process.Kill()
		<-first.ended
	})
	second := serving(t, flags...)
	lost, checked := second.lost(t, "kept", acked, time.Now())
	if checked < 10 || len(lost) > 0 {
		t.Errorf("lost %d of %d scores: %v", len(lost), checked, lost)
	}
}

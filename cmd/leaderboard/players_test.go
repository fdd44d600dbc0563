package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"leaderboard/store"
)

func TestBotsHaveNamesThatTheBoardTakes(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for number := range 2 * len(botNames) {
		name := botName(number)
		if seen[name] {
			t.Errorf("%q is used twice", name)
		}
		seen[name] = true
		if _, err := store.ParseName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestBotsScoreWithinTheBoard(t *testing.T) {
	t.Parallel()
	for _, order := range []store.Order{store.Desc, store.Asc} {
		for _, policy := range []store.Policy{store.Best, store.Last, store.Sum} {
			for _, size := range []struct {
				decimals  int
				maxPoints int64
				leader    float64
			}{{0, 10_000_000, 0}, {0, 1, 0}, {3, 600, 0}, {2, 1_000_000, 999_999.99}, {9, 1, 0.5}, {0, 100, -7}} {
				t.Run(fmt.Sprint(order, policy, size), func(t *testing.T) {
					t.Parallel()
					g := newGame(boardReply{
						Order: string(order), Policy: string(policy), Decimals: size.decimals, MaxPoints: size.maxPoints,
					}, size.leader)
					c := newCrew(g, 0, 1, 20)
					for range 2000 {
						_, points := c.play()
						number, err := store.ParseDecimal("points", points)
						if err == nil {
							_, err = number.Points("points", size.decimals, g.limit)
						}
						if err != nil {
							t.Fatalf("%s: %v", points, err)
						}
					}
				})
			}
		}
	}
}

func TestCrewsShareThePlayersOut(t *testing.T) {
	t.Parallel()
	var ids []string
	for first := range 3 {
		for _, b := range newCrew(game{}, first, 3, 10).bots {
			ids = append(ids, b.id)
		}
	}
	slices.Sort(ids)
	if len(ids) != 10 || len(slices.Compact(ids)) != 10 {
		t.Errorf("got %v, want 10 different players", ids)
	}
}

func TestRecordsGoOnFalling(t *testing.T) {
	t.Parallel()
	for _, order := range []store.Order{store.Desc, store.Asc} {
		g := newGame(boardReply{Order: string(order), Policy: "best", Decimals: 2, MaxPoints: 10_000_000}, 0)
		c := newCrew(g, 0, 1, 50)
		c.chances = rand.New(rand.NewPCG(1, 1))
		best, late := map[string]store.Points{}, 0
		const plays = 20_000
		for play := range plays {
			b, text := c.play()
			number, _ := store.ParseDecimal("points", text)
			points, _ := number.Points("points", 2, g.limit)
			if order == store.Asc {
				points = -points
			}
			if before, ok := best[b.id]; !ok || points > before {
				best[b.id] = points
				if play > plays-1000 {
					late++
				}
			}
		}
		if late < 10 {
			t.Errorf("%s: %d of the last 1000 games were somebody's best, want at least 10", order, late)
		}
	}
}

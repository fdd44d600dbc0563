package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"

	"leaderboard/store"
)

// bot is a simulated player.
type bot struct {
	id, name string
	skill    float64 // what they reach at their usual form, as a share of the best
	form     float64 // wanders around 0: a good week, a bad one
	named    bool    // the server knows the name
}

// crew is some of the simulated players of a board. It is used by one goroutine.
type crew struct {
	game    game
	bots    []*bot
	until   []float64 // running sum of the paces, to draw by
	plays   int
	chances *rand.Rand
}

// newCrew makes every nth of the players, beginning with the given one. A player of the same number is always the same.
func newCrew(g game, first, nth, players int) *crew {
	c := &crew{game: g, chances: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))}
	sum := 0.0
	for number := first; number < players; number += nth {
		traits := rand.New(rand.NewPCG(uint64(number), 1))
		c.bots = append(c.bots, &bot{
			id: fmt.Sprintf("bot-%d", number+1), name: botName(number),
			skill: math.Exp(-0.4 * math.Abs(traits.NormFloat64())), // many good ones, a long tail of others
		})
		sum += math.Exp(traits.NormFloat64()) // a few play most of the games
		c.until = append(c.until, sum)
	}
	return c
}

func botName(number int) string {
	name := botNames[number%len(botNames)]
	if round := number / len(botNames); round > 0 {
		name += " " + strconv.Itoa(round+1)
	}
	return name
}

// play lets somebody finish a game, and returns who and with how many points.
func (c *crew) play() (*bot, string) {
	at, drawn := 0, c.chances.Float64()*c.until[len(c.until)-1]
	for c.until[at] < drawn {
		at++
	}
	return c.bots[at], c.finish(c.bots[at])
}

// finish returns the points of a game that the bot has played.
func (c *crew) finish(b *bot) string {
	c.plays++
	b.form = 0.97*b.form + 0.03*c.chances.NormFloat64()
	luck := 0.08 * c.chances.NormFloat64()
	return c.game.points(b.skill*math.Exp(b.form+luck), float64(c.plays)/float64(len(c.bots)))
}

// game knows what points look like on a board.
type game struct {
	order    store.Order
	policy   store.Policy
	decimals int
	limit    store.Points
	usual    float64 // whole units that the best reach when the bots come
}

// newGame fits the bots to a board. Leader holds the points of the present first, or nothing: bots that came back to
// a board of their own would otherwise play for hours without a new best.
func newGame(board boardReply, leader float64) game {
	settings := store.Settings{MaxPoints: board.MaxPoints, Decimals: board.Decimals}
	g := game{
		order: store.Order(board.Order), policy: store.Policy(board.Policy),
		decimals: board.Decimals, limit: settings.Limit(),
	}
	unit := math.Pow10(g.decimals)
	switch {
	case g.policy == store.Best && leader > 0 && g.order == store.Asc:
		g.usual = leader * unit * 1.2
	case g.policy == store.Best && leader > 0:
		g.usual = leader * unit / 1.2
	case g.order == store.Asc:
		g.usual = 60 * unit
	default:
		g.usual = 2000 * unit
	}
	g.usual = min(max(g.usual, 1), float64(g.limit)/2)
	return g
}

// points turns how well a game went (1 is what the best usually do) after so many games each into points of the board.
func (g *game) points(strength, games float64) string {
	units := g.usual * strength
	if g.policy == store.Best {
		strength *= 1 + games/200 // everybody learns, so records go on falling
		units = g.usual * strength
		if g.order == store.Asc {
			units = g.usual / strength
		}
	}
	if g.policy == store.Sum {
		units /= 10 // a step, not the sum of many
	}
	if g.decimals == 0 && units > 500 {
		units = math.Round(units/10) * 10 // games count in tens
	}
	return store.Points(min(max(math.Round(units), 1), float64(g.limit))).Text(g.decimals)
}

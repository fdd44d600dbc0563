package redisstore

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"leaderboard/store"
)

// scene is what a read is about: a board, one of its seasons, and how ties count.
type scene struct {
	board  store.Board
	season store.Season
	keys   boardKeys
	look   store.Look
}

// ends is the end that the script must check: a closed season has none to check.
func (c *scene) ends() string {
	if c.season.Number != c.board.Season.Number {
		return ""
	}
	return millis(c.season.End)
}

// span is 2^T where ties share ranks, which tells the script to count them.
func (c *scene) span() string {
	if !c.look.SharedTies {
		return ""
	}
	return strconv.FormatInt(c.season.Slots(), 10)
}

// reading runs a read script until it finds the board as it is: a board that moved is loaded again, a season that is
// over is closed first.
func (s *Store) reading(
	ctx context.Context, look store.Look, sc script, args func(*scene) (keys []string, args []any, err error),
) (scene, []any, error) {
	fresh := false
	for range attempts {
		board, err := s.Board(ctx, look.Board)
		if err != nil {
			return scene{}, nil, err
		}
		if look.Season > board.Season.Number { // a season that this process has not heard of, or none
			state, err := s.BoardState(ctx, look.Board)
			if err != nil {
				return scene{}, nil, err
			}
			board = state.Board
		}
		season, err := s.seasonOf(ctx, &board, look.Season)
		if err != nil {
			return scene{}, nil, err
		}
		c := scene{board: board, season: season, keys: s.keys.of(&board), look: look}
		keys, more, err := args(&c)
		if err != nil && !fresh {
			// Points that the board as it was does not have may be right by now.
			if _, err := s.BoardState(ctx, look.Board); err != nil {
				return scene{}, nil, err
			}
			fresh = true
			continue
		}
		if err != nil {
			return scene{}, nil, err
		}
		word, reply, err := s.list(ctx, sc, keys, append([]any{board.Rev, s.now(), c.ends()}, more...)...)
		if err != nil {
			return scene{}, nil, err
		}
		if word != "moved" && word != "over" {
			return c, reply, nil
		}
		if _, err := s.BoardState(ctx, look.Board); err != nil {
			return scene{}, nil, err
		}
	}
	return scene{}, nil, s.restless(look.Board)
}

func entryOf(season *store.Season, player string, packed int64, name string, now time.Time) store.Entry {
	points, slot := season.Unpack(packed)
	return store.Entry{
		Player: store.PlayerID(player), Name: store.Name(name), Points: points, Packed: packed,
		AchievedAt: season.AchievedAt(slot, now),
	}
}

// glance is what view.lua is asked for besides the board.
type glance struct {
	skip, rows int64
	after      *store.Position
	player     store.PlayerID
	radius     int64 // -1: no rows around
}

func (s *Store) view(ctx context.Context, look store.Look, g glance) (store.View, error) {
	c, reply, err := s.reading(ctx, look, s.scripts.view, func(c *scene) ([]string, []any, error) {
		packed, player := "", ""
		if g.after != nil {
			packed, player = strconv.FormatInt(g.after.Packed, 10), string(g.after.Player)
		}
		return []string{c.keys.board(), c.keys.names(), c.keys.scores(c.season.Number)},
			[]any{c.span(), g.skip, g.rows, packed, player, string(g.player), g.radius}, nil
	})
	if err != nil {
		return store.View{}, err
	}
	if len(reply) != 7 {
		return store.View{}, unexpected("view", reply)
	}
	now := number(reply[0])
	view := store.View{Page: c.page(reply, items(reply[4]))}
	if standing := items(reply[5]); len(standing) == 5 {
		view.Standing = c.standing(standing, g.player, view.Total, now)
		view.Around = entries(&c.season, items(reply[6]), now)
	}
	return view, nil
}

// page reads the parts that all page scripts answer with: {time, version, epoch, total, …} and the page itself.
func (c *scene) page(reply, page []any) store.Page {
	p := store.Page{
		Board: c.board.ID, Season: c.season, Version: number(reply[1]), Epoch: text(reply[2]), Total: number(reply[3]),
		Entries: entries(&c.season, page, number(reply[0])), Now: fromMillis(number(reply[0])),
	}
	p.More = number(at(page, 0))-1+int64(len(p.Entries)) < p.Total && len(p.Entries) > 0
	return p
}

func (c *scene) standing(reply []any, player store.PlayerID, total, now int64) *store.Standing {
	entry := entryOf(&c.season, string(player), number(reply[2]), text(reply[3]), fromMillis(now))
	ordinal, shared := number(reply[0]), number(reply[1])
	entry.Rank = ordinal
	if shared > 0 {
		entry.Rank = shared
	}
	standing := store.Standing{Entry: entry, Season: c.season, Total: total, Percentile: 100}
	if total > 1 {
		standing.Percentile = float64(total-ordinal) / float64(total-1) * 100
	}
	if reply[4] != nil {
		above, _ := c.season.Unpack(number(reply[4]))
		standing.ToNext = max(above-entry.Points, entry.Points-above)
	}
	return &standing
}

// Top implements [store.Reads].
func (s *Store) Top(ctx context.Context, look store.Look, offset, limit int64) (store.Page, error) {
	view, err := s.view(ctx, look, glance{skip: offset, rows: limit})
	return view.Page, err
}

// After implements [store.Reads].
func (s *Store) After(ctx context.Context, look store.Look, after store.Position, limit int64) (store.Page, error) {
	view, err := s.view(ctx, look, glance{after: &after, rows: limit})
	return view.Page, err
}

// Player implements [store.Reads].
func (s *Store) Player(ctx context.Context, look store.Look, player store.PlayerID) (store.Standing, error) {
	view, err := s.view(ctx, look, glance{player: player, radius: -1})
	if err != nil {
		return store.Standing{}, err
	}
	if view.Standing == nil {
		return store.Standing{}, noPlayer(look, player)
	}
	return *view.Standing, nil
}

func noPlayer(look store.Look, player store.PlayerID) error {
	return fmt.Errorf("redisstore: player %q of %s: %w", player, look.Board, store.ErrPlayerNotFound)
}

// Around implements [store.Reads].
func (s *Store) Around(ctx context.Context, look store.Look, player store.PlayerID, radius int64) (store.Page, error) {
	view, err := s.view(ctx, look, glance{player: player, radius: radius})
	if err != nil {
		return store.Page{}, err
	}
	if view.Standing == nil {
		return store.Page{}, noPlayer(look, player)
	}
	page := view.Page
	page.Entries = view.Around
	return page, nil
}

// View implements [store.Reads].
func (s *Store) View(
	ctx context.Context, look store.Look, player store.PlayerID, limit, radius int64,
) (store.View, error) {
	return s.view(ctx, look, glance{rows: limit, player: player, radius: radius})
}

// RankOf implements [store.Reads].
func (s *Store) RankOf(ctx context.Context, look store.Look, number store.Decimal) (store.RankOf, error) {
	var points store.Points
	c, reply, err := s.reading(ctx, look, s.scripts.rank, func(c *scene) (_ []string, _ []any, err error) {
		points, err = number.Points("points", c.season.Decimals, maxPoints(c))
		if err != nil {
			return nil, nil, err
		}
		// A new score stands behind all of equal points, so those count too; where ties share a rank they do not.
		value := c.season.Value(points)
		if look.SharedTies {
			value++
		}
		return []string{c.keys.board(), c.keys.scores(c.season.Number)},
			[]any{strconv.FormatInt(value<<c.season.TimeBits, 10)}, nil
	})
	if err != nil {
		return store.RankOf{}, err
	}
	if len(reply) != 2 {
		return store.RankOf{}, unexpected("rank", reply)
	}
	return store.RankOf{Season: c.season, Points: points, Rank: asNumber(reply[0]) + 1, Total: asNumber(reply[1])}, nil
}

// asNumber is number where a parameter bears that name.
func asNumber(v any) int64 { return number(v) }

// maxPoints returns the largest points of a season, as far as its packed scores can hold them.
func maxPoints(c *scene) store.Points {
	if c.season.Number == c.board.Season.Number {
		return c.board.Settings.Limit()
	}
	return store.Points(int64(1)<<(53-c.season.TimeBits) - 1)
}

// Range implements [store.Reads].
func (s *Store) Range(
	ctx context.Context, look store.Look, lowest, highest *store.Decimal, limit int64,
) (store.Page, int64, error) {
	c, reply, err := s.reading(ctx, look, s.scripts.ranges, func(c *scene) ([]string, []any, error) {
		low, high, err := packedRange(c, lowest, highest)
		return []string{c.keys.board(), c.keys.names(), c.keys.scores(c.season.Number)},
			[]any{c.span(), low, high, limit}, err
	})
	if err != nil {
		return store.Page{}, 0, err
	}
	if len(reply) != 6 {
		return store.Page{}, 0, unexpected("range", reply)
	}
	return c.page(reply, items(reply[4])), number(reply[5]), nil
}

// packedRange returns the packed scores between which all points from lowest to highest lie.
func packedRange(c *scene, lowest, highest *store.Decimal) (low, high string, err error) {
	limit := maxPoints(c)
	from, to := -limit, limit
	if lowest != nil {
		if from, err = lowest.Points("min", c.season.Decimals, limit); err != nil {
			return "", "", err
		}
	}
	if highest != nil {
		if to, err = highest.Points("max", c.season.Decimals, limit); err != nil {
			return "", "", err
		}
	}
	if from > to {
		return "", "", store.Invalid("min", "must not be above max")
	}
	if c.season.Order == store.Asc {
		from, to = to, from
	}
	return strconv.FormatInt(c.season.Pack(from, c.season.Slots()-1), 10),
		strconv.FormatInt(c.season.Pack(to, 0), 10), nil
}

// Lookup implements [store.Reads].
func (s *Store) Lookup(
	ctx context.Context, look store.Look, players []store.PlayerID,
) (store.Season, []store.Placed, []store.PlayerID, error) {
	seen := make(map[store.PlayerID]bool, len(players))
	players = slices.DeleteFunc(slices.Clone(players), func(p store.PlayerID) bool {
		defer func() { seen[p] = true }()
		return seen[p]
	})
	c, reply, err := s.reading(ctx, look, s.scripts.lookup, func(c *scene) ([]string, []any, error) {
		args := []any{c.span()}
		for _, player := range players {
			args = append(args, string(player))
		}
		return []string{c.keys.board(), c.keys.names(), c.keys.scores(c.season.Number)}, args, nil
	})
	if err != nil {
		return store.Season{}, nil, nil, err
	}
	if len(reply) != 3 || len(items(reply[1])) != 2*len(players) {
		return store.Season{}, nil, nil, unexpected("lookup", reply)
	}
	now, places, names := fromMillis(number(reply[0])), items(reply[1]), items(reply[2])
	var placed []store.Placed
	var unknown []store.PlayerID
	for i, player := range players {
		if places[2*i] == nil {
			unknown = append(unknown, player)
			continue
		}
		entry := entryOf(&c.season, string(player), number(places[2*i+1]), text(at(names, i)), now)
		entry.Rank = number(places[2*i])
		placed = append(placed, store.Placed{Entry: entry})
	}
	rank(placed, look.SharedTies)
	return c.season, placed, unknown, nil
}

// rank sorts a group as the board does and numbers it.
func rank(placed []store.Placed, sharedTies bool) {
	slices.SortFunc(placed, func(a, b store.Placed) int {
		return cmp.Or(cmp.Compare(b.Packed, a.Packed), strings.Compare(string(b.Player), string(a.Player)))
	})
	for i := range placed {
		placed[i].Place = int64(i + 1)
		if sharedTies && i > 0 && placed[i].Points == placed[i-1].Points {
			placed[i].Place = placed[i-1].Place
		}
	}
}

// Search implements [store.Reads].
func (s *Store) Search(ctx context.Context, look store.Look, prefix string, limit int64) (store.Page, error) {
	look.Season = 0
	folded := store.Fold(prefix)
	c, reply, err := s.reading(ctx, look, s.scripts.search, func(c *scene) ([]string, []any, error) {
		return []string{c.keys.board(), c.keys.names(), c.keys.scores(c.season.Number), c.keys.nameIndex()},
			[]any{c.span(), folded, limit}, nil
	})
	if err != nil {
		return store.Page{}, err
	}
	if len(reply) != 5 {
		return store.Page{}, unexpected("search", reply)
	}
	page := c.page(reply, nil)
	now, rows := fromMillis(number(reply[0])), items(reply[4])
	for i := 0; i+3 < len(rows); i += 4 {
		entry := entryOf(&c.season, text(rows[i]), number(rows[i+2]), text(rows[i+3]), now)
		entry.Rank = number(rows[i+1])
		// The index is tidied after a rename, not with it: an old name may still stand there.
		if strings.HasPrefix(store.Fold(string(entry.Name)), folded) {
			page.Entries = append(page.Entries, entry)
		}
	}
	return page, nil
}

// Activity implements [store.Reads].
func (s *Store) Activity(
	ctx context.Context, id store.BoardID, player store.PlayerID, limit int64,
) ([]store.Activity, error) {
	for range attempts {
		board, err := s.Board(ctx, id)
		if err != nil {
			return nil, err
		}
		k := s.keys.of(&board)
		word, reply, err := s.list(ctx, s.scripts.activity,
			[]string{k.board(), k.scores(board.Season.Number), k.names(), k.activity(player), k.bans()},
			board.Rev, string(player), limit)
		switch {
		case err != nil:
			return nil, err
		case word == "none":
			return nil, noPlayer(store.Look{Board: id}, player)
		case word == "ok":
			list := make([]store.Activity, 0, len(reply))
			for _, line := range reply {
				list = append(list, parseActivity(text(line)))
			}
			return list, nil
		}
		if _, err := s.BoardState(ctx, id); err != nil {
			return nil, err
		}
	}
	return nil, s.restless(id)
}

// parseActivity reads AT KIND DECIMALS POINTS PREVIOUS_POINTS RANK PREVIOUS_RANK.
func parseActivity(line string) store.Activity {
	part := strings.Split(line, " ")
	if len(part) < 7 { // that of a reward ends with a word that tells it from others
		return store.Activity{}
	}
	return store.Activity{
		At: fromMillis(number(part[0])), Kind: store.ActivityKind(part[1]), Decimals: int(number(part[2])),
		Points: store.Points(number(part[3])), HadPoints: part[4] != "", PreviousPoints: store.Points(number(part[4])),
		Rank: number(part[5]), PreviousRank: number(part[6]),
	}
}

// exportPage is how many rows of an export one call reads.
const exportPage = 1000

// Export implements [store.Reads].
func (s *Store) Export(ctx context.Context, look store.Look) iter.Seq2[store.ExportRow, error] {
	return func(yield func(store.ExportRow, error) bool) {
		page, err := s.Top(ctx, look, 0, exportPage)
		asOf := page.Now // of all pages: slots that run ahead of the clock end in one time, which an import knows by it
		for {
			if err != nil {
				yield(store.ExportRow{}, err)
				return
			}
			look.Season = page.Season.Number // go on in this season even when it is closed meanwhile
			for _, entry := range page.Entries {
				_, slot := page.Season.Unpack(entry.Packed)
				entry.AchievedAt = page.Season.AchievedAt(slot, asOf)
				if !yield(store.ExportRow{Entry: entry, Slot: slot}, nil) {
					return
				}
			}
			if !page.More {
				return
			}
			last := page.Entries[len(page.Entries)-1]
			page, err = s.After(ctx, look, store.Position{Packed: last.Packed, Player: last.Player}, exportPage)
		}
	}
}

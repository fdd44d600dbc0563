package pages_test

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"leaderboard/store"
)

// fake holds boards of one season each, and closed seasons as they are given.
type fake struct {
	states   map[store.BoardID]store.BoardState
	entries  map[store.BoardID]map[int64][]store.Entry // by season, in order
	seasons  map[store.BoardID]map[int64]store.Season
	activity map[store.PlayerID][]store.Activity
	err      error // answered by everything when set
}

func newFake() *fake {
	return &fake{
		states:   map[store.BoardID]store.BoardState{},
		entries:  map[store.BoardID]map[int64][]store.Entry{},
		seasons:  map[store.BoardID]map[int64]store.Season{},
		activity: map[store.PlayerID][]store.Activity{},
	}
}

// add makes a board whose running season holds the entries, ranked in the order given.
func (f *fake) add(id store.BoardID, now time.Time, season store.Season, entries ...store.Entry) {
	settings := store.DefaultSettings(id)
	settings.Decimals, settings.Order = season.Decimals, season.Order
	state := store.BoardState{Now: now, Total: int64(len(entries))}
	state.ID, state.Settings, state.Season, state.Epoch = id, settings, season, "e1"
	f.states[id] = state
	f.entries[id], f.seasons[id] = map[int64][]store.Entry{}, map[int64]store.Season{}
	f.addSeason(id, season, entries...)
}

func (f *fake) addSeason(id store.BoardID, season store.Season, entries ...store.Entry) {
	for i := range entries {
		entries[i].Rank = int64(i + 1)
	}
	f.entries[id][season.Number], f.seasons[id][season.Number] = entries, season
}

func (f *fake) BoardState(_ context.Context, id store.BoardID) (store.BoardState, error) {
	if f.err != nil {
		return store.BoardState{}, f.err
	}
	state, ok := f.states[id]
	if !ok {
		return state, store.ErrBoardNotFound
	}
	return state, nil
}

func (f *fake) BoardStates(context.Context) ([]store.BoardState, error) {
	var states []store.BoardState
	for _, s := range f.states {
		states = append(states, s)
	}
	slices.SortFunc(states, func(a, b store.BoardState) int { return cmp.Compare(a.ID, b.ID) })
	return states, f.err
}

func (f *fake) at(look store.Look) (store.Page, error) {
	state, ok := f.states[look.Board]
	if !ok {
		return store.Page{}, store.ErrBoardNotFound
	}
	season, ok := f.seasons[look.Board][cmp.Or(look.Season, state.Season.Number)]
	if !ok {
		return store.Page{}, store.ErrSeasonNotFound
	}
	entries := f.entries[look.Board][season.Number]
	return store.Page{Board: look.Board, Season: season, Epoch: state.Epoch, Total: int64(len(entries)), Entries: entries}, f.err
}

func (f *fake) Top(_ context.Context, look store.Look, offset, limit int64) (store.Page, error) {
	page, err := f.at(look)
	begin := min(offset, page.Total)
	end := min(begin+limit, page.Total)
	page.Entries, page.More = page.Entries[begin:end], end < page.Total
	return page, err
}

func (f *fake) View(ctx context.Context, look store.Look, player store.PlayerID, limit, radius int64) (store.View, error) {
	top, err := f.Top(ctx, look, 0, limit)
	if err != nil || player == "" {
		return store.View{Page: top}, err
	}
	standing, err := f.Player(ctx, look, player)
	if err != nil {
		return store.View{Page: top}, nil
	}
	all, err := f.at(look)
	begin := min(max(standing.Rank-1-radius, 0), max(all.Total-2*radius-1, 0))
	return store.View{Page: top, Standing: &standing, Around: all.Entries[begin:min(begin+2*radius+1, all.Total)]}, err
}

func (f *fake) Player(_ context.Context, look store.Look, player store.PlayerID) (store.Standing, error) {
	page, err := f.at(look)
	if err != nil {
		return store.Standing{}, err
	}
	i := slices.IndexFunc(page.Entries, func(e store.Entry) bool { return e.Player == player })
	if i < 0 {
		return store.Standing{}, store.ErrPlayerNotFound
	}
	standing := store.Standing{Entry: page.Entries[i], Season: page.Season, Total: page.Total, Percentile: 100}
	if page.Total > 1 {
		standing.Percentile = 100 * float64(page.Total-standing.Rank) / float64(page.Total-1)
	}
	if i > 0 {
		standing.ToNext = max(page.Entries[i-1].Points-standing.Points, standing.Points-page.Entries[i-1].Points)
	}
	return standing, nil
}

func (f *fake) Search(_ context.Context, look store.Look, prefix string, limit int64) (store.Page, error) {
	page, err := f.at(look)
	page.Entries = slices.DeleteFunc(slices.Clone(page.Entries), func(e store.Entry) bool {
		return e.Name == "" || !strings.HasPrefix(store.Fold(string(e.Name)), store.Fold(prefix))
	})
	page.Entries = page.Entries[:min(int(limit), len(page.Entries))]
	return page, err
}

func (f *fake) Activity(_ context.Context, _ store.BoardID, player store.PlayerID, limit int64) ([]store.Activity, error) {
	activity := f.activity[player]
	return activity[:min(int(limit), len(activity))], f.err
}

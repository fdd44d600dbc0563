package web

import (
	"context"

	"leaderboard/handlers/api"
	"leaderboard/store"
)

// KeptTops hands kept tops, such as those of package live, to the handlers, which state them as an interface.
func KeptTops[K api.Kept](tops interface {
	Read(ctx context.Context, board store.BoardID, fresh bool) (K, error)
},
) api.Tops {
	return keptTops[K]{tops.Read}
}

type keptTops[K api.Kept] struct {
	read func(ctx context.Context, board store.BoardID, fresh bool) (K, error)
}

// Read implements [api.Tops].
func (k keptTops[K]) Read(ctx context.Context, board store.BoardID, fresh bool) (api.Kept, error) {
	kept, err := k.read(ctx, board, fresh)
	if err != nil {
		return nil, err // and not a nil K, which as an api.Kept is not nil
	}
	return kept, nil
}

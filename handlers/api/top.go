package api

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"

	"leaderboard/store"
)

// TopStore is what [Top] needs of a store.
type TopStore interface {
	Top(ctx context.Context, look store.Look, offset, limit int64) (store.Page, error)
	After(ctx context.Context, look store.Look, position store.Position, limit int64) (store.Page, error)
}

// Top answers pages of a board: from the kept top where it reaches far enough, from the store elsewhere.
type Top struct {
	Kept  Tops
	Store TopStore
}

// topQuery is what a page of the top is asked by.
type topQuery struct {
	look          store.Look
	limit, offset int64
	after         *cursor
	fresh         bool // the caller does not want what is kept
}

// Get answers GET /boards/{board}/top.
func (h Top) Get(c *fiber.Ctx) error {
	q, err := parseTop(c)
	if err != nil {
		return err
	}
	if q.after == nil && q.look.Season == 0 {
		kept, err := h.Kept.Read(c.UserContext(), q.look.Board, q.fresh)
		if err != nil {
			return err
		}
		if q.within(kept.Page()) {
			return sendKept(c, kept, &q)
		}
	}
	page, err := h.read(c.UserContext(), &q)
	if err != nil {
		return err
	}
	const usual = 128 // bytes of an entry
	return sendJSON(c, appendTop(make([]byte, 0, (len(page.Entries)+2)*usual), &page, false))
}

func parseTop(c *fiber.Ctx) (q topQuery, err error) {
	if q.look, err = parseLook(c); err != nil {
		return q, err
	}
	if q.limit, err = queryLimit(c, 10); err != nil {
		return q, err
	}
	if q.offset, err = queryNumber(c, "offset", -1, 0, maxOffset); err != nil {
		return q, err
	}
	after, given, err := queryValue(c, "after")
	switch {
	case err != nil:
		return q, err
	case given && q.offset >= 0:
		return q, store.Invalid("after", "goes on where the last page ended: leave out offset")
	case given:
		if q.after, err = parseCursor(after); err != nil {
			return q, err
		}
		if q.look.Season != 0 && q.look.Season != q.after.season {
			return q, store.Invalid("after", "is from another season")
		}
		q.look.Season = q.after.season
	}
	q.offset = max(q.offset, 0)
	control := c.Request().Header.Peek(fiber.HeaderCacheControl)
	q.fresh = len(control) > 0 && strings.Contains(strings.ToLower(utils.UnsafeString(control)), "no-cache")
	return q, nil
}

// within reports whether a kept page holds all that is asked for.
func (q *topQuery) within(kept *store.Page) bool {
	return !kept.More || q.offset+q.limit <= int64(len(kept.Entries))
}

// read gets a page from the store.
func (h Top) read(ctx context.Context, q *topQuery) (store.Page, error) {
	if q.after == nil {
		return h.Store.Top(ctx, q.look, q.offset, q.limit)
	}
	page, err := h.Store.After(ctx, q.look, q.after.at, q.limit)
	if err == nil && page.Epoch != q.after.epoch {
		err = fmt.Errorf("api: the board was made anew since: %w", store.ErrSeasonNotFound)
	}
	return page, err
}

// sendKept answers from a kept top. Each distinct page is written once for as long as nothing changes.
func sendKept(c *fiber.Ctx, kept Kept, q *topQuery) error {
	page := kept.Page()
	age, stale := kept.Stale()
	header := &c.Response().Header
	if stale {
		header.Set(fiber.HeaderAge, strconv.FormatInt(int64(age/time.Second), 10))
	} else {
		var space [64]byte
		tag := appendTag(space[:0], page)
		header.SetBytesV(fiber.HeaderETag, tag)
		if matches(c.Request().Header.Peek(fiber.HeaderIfNoneMatch), tag) {
			c.Status(fiber.StatusNotModified)
			return nil
		}
	}
	return sendJSON(c, kept.Encoded(q.key(stale), func() []byte { return appendTop(nil, q.cut(page), stale) }))
}

// key names a page among those that are made of one kept top.
func (q *topQuery) key(stale bool) string {
	key := strconv.Itoa(int(q.limit))
	if q.offset > 0 {
		key += "+" + strconv.FormatInt(q.offset, 10)
	}
	if q.look.SharedTies {
		key += "="
	}
	if stale {
		key += "?"
	}
	return key
}

// cut returns the part of a kept page that is asked for.
func (q *topQuery) cut(kept *store.Page) *store.Page {
	page := *kept
	all := int64(len(kept.Entries))
	from, to := min(q.offset, all), min(q.offset+q.limit, all)
	page.Entries = kept.Entries[from:to]
	page.More = kept.More || to < all
	if q.look.SharedTies {
		page.Entries = shareRanks(kept.Entries, from, to)
	}
	return &page
}

// shareRanks returns some of the entries of a board's top with equal ranks for equal points: 1, 2, 2, 4.
func shareRanks(all []store.Entry, from, to int64) []store.Entry {
	var rank int64
	entries := make([]store.Entry, 0, to-from)
	for i, e := range all[:to] {
		if i == 0 || e.Points != all[i-1].Points {
			rank = e.Rank
		}
		if int64(i) >= from {
			e.Rank = rank
			entries = append(entries, e)
		}
	}
	return entries
}

// appendTag writes the ETag of all pages that are made of one kept top.
func appendTag(to []byte, page *store.Page) []byte {
	to = append(to, '"')
	to = append(to, page.Epoch...)
	to = append(to, '-')
	to = appendInt(to, page.Version)
	to = append(to, '-')
	to = appendInt(to, page.Total)
	return append(to, '"')
}

// matches reports whether an If-None-Match names a tag. Weak or not makes no difference to it.
func matches(header, tag []byte) bool {
	if len(header) == 0 {
		return false
	}
	for part := range strings.SplitSeq(utils.UnsafeString(header), ",") {
		part = strings.TrimSpace(part)
		if part == "*" || strings.TrimPrefix(part, "W/") == string(tag) {
			return true
		}
	}
	return false
}

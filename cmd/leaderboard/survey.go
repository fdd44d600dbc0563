package main

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"time"

	"leaderboard/store"
)

// survey is what a first look at the whole file finds out.
type survey struct {
	content []byte // hash of the file
	rows    int
	slots   bool   // there are rows with a slot
	misfit  string // why those slots mean nothing to the board, or ""
}

// survey reads the file once and leaves it at its beginning.
func (c *importCmd) survey(file *os.File, season *store.Season) (survey, error) {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return survey{}, err
	}
	content := sha256.New()
	all := io.TeeReader(file, content)
	rows, err := openTable(all, c.Column, c.Where)
	if err != nil {
		return survey{}, err
	}
	found, check := survey{}, slotCheck{season: season, fitting: -1}
	for {
		row, err := rows.next()
		if err == io.EOF {
			break
		}
		if _, broken := errors.AsType[*lineError](err); broken {
			continue // told when it is its turn to be sent
		}
		if err != nil {
			return survey{}, err
		}
		found.rows++
		if row.slot != "" {
			found.slots = true
			check.add(row)
		}
	}
	found.content, found.misfit = content.Sum(nil), check.misfit()
	_, err = file.Seek(0, io.SeekStart)
	return found, err
}

// slotCheck finds out whether slots were given by the clock of a season: whether each stands for the time beside it.
// Slots run ahead of the clock where many reached the same points in one tick; such a row shows the moment of the
// export as its time. Two clocks that differ in start or resolution agree on one slot at most, so two different slots
// that stand for their times prove the clock, and rows with a later slot then are ahead of it. Short of that, only rows
// at the latest time of the file are taken to be.
type slotCheck struct {
	season  *store.Season
	fitting int64 // a slot that stands for its time, or -1
	proven  bool
	latest  time.Time
	wrong   error     // of the first row that cannot fit
	ahead   time.Time // the earliest time whose slot is later
	aheadAt int       // and its line
}

func (c *slotCheck) add(r row) {
	slot, err := strconv.ParseInt(r.slot, 10, 64)
	if err != nil || slot < 0 || slot >= c.season.Slots() {
		c.refuse(r.line, "slot "+strconv.Quote(r.slot)+" is none that this board has")
		return
	}
	shown, err := time.Parse(time.RFC3339, r.achievedAt)
	if err != nil {
		c.refuse(r.line, "a slot without a time cannot be checked")
		return
	}
	if shown.After(c.latest) {
		c.latest = shown
	}
	meant := c.season.AchievedAt(slot, time.UnixMilli(1<<53))
	switch meant.Compare(shown.Truncate(time.Millisecond)) {
	case 0:
		c.proven = c.proven || c.fitting >= 0 && c.fitting != slot
		c.fitting = slot
	case -1:
		c.refuse(r.line, "the slot is earlier than the time")
	case 1:
		if c.aheadAt == 0 || shown.Before(c.ahead) {
			c.ahead, c.aheadAt = shown, r.line
		}
	}
}

func (c *slotCheck) refuse(line int, reason string) {
	if c.wrong == nil {
		c.wrong = &lineError{line, reason}
	}
}

// misfit says why the slots do not fit, or nothing.
func (c *slotCheck) misfit() string {
	const clock = "it was written by another board's clock"
	switch {
	case c.wrong != nil:
		return fmt.Sprintf("%s (%v)", clock, c.wrong)
	case c.aheadAt > 0 && !c.proven && (c.fitting < 0 || c.ahead.Before(c.latest)):
		return fmt.Sprintf("%s (%v)", clock, &lineError{c.aheadAt, "the slot is later than the time"})
	}
	return ""
}

// runKey names this import: the same for the same file, read in the same way into the same season of the same board.
func (c *importCmd) runKey(found survey, season int64) string {
	key := sha256.New()
	write(key, "import", c.Board, strconv.FormatInt(season, 10), string(found.content), found.misfit)
	for _, named := range []map[string]string{c.Column, c.Where} {
		for _, name := range slices.Sorted(maps.Keys(named)) {
			write(key, name, named[name])
		}
		write(key, "")
	}
	if c.Again {
		write(key, rand.Text())
	}
	return hex.EncodeToString(key.Sum(nil)[:16])
}

// write adds texts to a hash so that no two lists of texts look alike.
func write(to hash.Hash, texts ...string) {
	for _, text := range texts {
		fmt.Fprintf(to, "%d:%s", len(text), text)
	}
}

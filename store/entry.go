package store

import "time"

// Entry is a player's place on a board.
type Entry struct {
	Rank       int64 // from 1
	Player     PlayerID
	Name       Name // empty: none was given
	Points     Points
	AchievedAt time.Time
	Packed     int64 // the packed score: with Player, the position in the exact order
}

// Look says which board a read is about and how it counts.
type Look struct {
	Board      BoardID
	Season     int64 // 0: the running one
	SharedTies bool  // equal points get equal ranks: 1, 2, 2, 4
}

// Position is a place in the exact order, from which a page walk goes on.
type Position struct {
	Packed int64
	Player PlayerID
}

// Page is a run of entries, best first. Version counts every change of a row inside the board's live top.
type Page struct {
	Board   BoardID
	Season  Season
	Epoch   string
	Version int64
	Total   int64
	Entries []Entry
	More    bool      // there are entries behind the last one
	Now     time.Time // the store's clock at this look
}

// Standing is one player's place and what surrounds it.
type Standing struct {
	Entry
	Season     Season
	Total      int64
	Percentile float64 // share of the others behind, 0 to 100; alone: 100
	ToNext     Points  // points missing to the place above; 0 when tied; means nothing for the first
}

// View is the top, a player and the rows around, from one look.
type View struct {
	Page               // the top
	Standing *Standing // nil when no player was asked for or the player has no entry
	Around   []Entry
}

// Placed is an entry of a group, with its place among the group.
type Placed struct {
	Entry
	Place int64
}

// ActivityKind says what an activity is about.
type ActivityKind string

// The kinds of activity. Of several that fit, the first counts.
const (
	EnteredTop     ActivityKind = "entered_top" // came into the live top from outside
	NewBest        ActivityKind = "best"        // points got better, or are the first
	NewScore       ActivityKind = "score"       // points changed, not for the better
	RewardReceived ActivityKind = "reward"
)

// Activity is one change of a player's points.
type Activity struct {
	At             time.Time
	Kind           ActivityKind
	Decimals       int
	Points         Points
	PreviousPoints Points
	HadPoints      bool // PreviousPoints and PreviousRank mean something
	Rank           int64
	PreviousRank   int64
}

// ExportRow is a line of an export.
type ExportRow struct {
	Entry
	Slot int64
}

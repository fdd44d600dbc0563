package store

import "time"

// MaxBatch is the largest number of submissions in one batch.
const MaxBatch = 1000

// Submission is a score as a game sent it, checked as far as that goes without the board.
type Submission struct {
	Player     PlayerID
	Points     Decimal
	Name       Name      // empty: none came with it
	Season     int64     // 0: the running one; any other must be the running one
	AchievedAt time.Time // zero: now; otherwise backdated
	Slot       int64     // slot of an exported row; used when HasSlot
	HasSlot    bool
	Once       Once
	HeldID     int64 // not 0: the held submission that an admin accepts; it is not held or limited again
}

// Once makes a submission safe to repeat: a repeat with the same key gets the first reply again.
// The zero Once means that every call counts.
type Once struct {
	Key         string // already bound to the API key that used it
	Fingerprint string // of the body it came with
}

// Result says what a submission did. Ranks are those at the commit.
type Result struct {
	Board        BoardID
	Season       int64
	Decimals     int // of Points and Submitted
	Player       PlayerID
	Points       Points // the player's points now
	HasPoints    bool   // false only for a held submission of a player without any
	Submitted    Points // as they came
	Improved     bool   // the player's points got better, or are the first
	Held         bool   // waits for an admin; Rank, PreviousRank and AchievedAt mean nothing
	Rank         int64
	PreviousRank int64 // 0: had none
	Total        int64
	AchievedAt   time.Time
	Replayed     bool // answered from the reply kept for an idempotency key
}

// Outcome is what became of one submission of a batch: a result or an error.
type Outcome struct {
	Result Result
	Err    error
}

// Held is a submission whose gain was beyond the board's max_step. It was not applied and waits for an admin.
type Held struct {
	ID         int64
	Player     PlayerID
	Name       Name
	Season     int64
	Points     Points // as submitted
	Present    Points // the player's points then; means something when HasPresent
	HasPresent bool
	Decimals   int
	At         time.Time
}

package store

// BoardStats are figures about a board for its admin.
type BoardStats struct {
	LastMinute  int64 // submissions applied in the last whole minute
	PlayersDay  int64 // players who submitted since midnight UTC, within one percent
	MemoryBytes int64 // that Redis keeps for scores and names, closed seasons too; 0: it does not tell
}

// Ban is a player who is banned on a board, and why.
type Ban struct {
	Player PlayerID
	Name   Name // empty: none was given
	Reason string
}

// MaxBans is how many bans are listed at once.
const MaxBans = 1000

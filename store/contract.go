package store

import (
	"context"
	"iter"
	"time"
)

// Store is the contract that every implementation keeps, for the suite that tests them all. Callers state the few
// methods they need as an interface of their own.
//
// Every method may return [ErrUnavailable]; every method that names a board may return [ErrBoardNotFound]; every read
// that names a season may return [ErrSeasonNotFound].
type Store interface {
	Boards
	Scores
	Reads
	Moderation
	Seasons
	HeldScores
	Erasure
}

// Boards makes, changes and removes boards.
type Boards interface {
	// Board returns a board as this process last saw it. Its settings may be a moment old: the store checks Rev when
	// it matters.
	Board(ctx context.Context, id BoardID) (Board, error)
	// BoardState returns a board as it is now.
	BoardState(ctx context.Context, id BoardID) (BoardState, error)
	// BoardStates returns all boards as they are now, by id.
	BoardStates(ctx context.Context) ([]BoardState, error)
	// PutBoard makes the board, or changes it. The change is applied to the present settings (those of
	// [DefaultSettings] for a new board); it may run more than once and returns an [InvalidError] to refuse. Returns
	// [ErrBoardInUse] when a frozen setting would change. Made tells whether the board is new.
	PutBoard(ctx context.Context, id BoardID, change func(*Settings) error) (state BoardState, made bool, err error)
	// DeleteBoard removes a board. A board of the same id made later begins empty.
	DeleteBoard(ctx context.Context, id BoardID) error
}

// Scores takes submissions.
type Scores interface {
	// Submit applies one submission. Returns [ErrBanned], [ErrSeasonClosed], [ErrOnceConflict], a [LimitError], or an
	// [InvalidError] for points, season, achieved_at or slot; then nothing was changed.
	Submit(ctx context.Context, board BoardID, submission Submission) (Result, error)
	// SubmitBatch applies up to [MaxBatch] submissions in their order, each on its own: the outcomes stand in the same
	// order. Once covers the whole batch; it returns [ErrOnceConflict] for all of it or not at all. Once of the
	// single submissions is not looked at.
	SubmitBatch(ctx context.Context, board BoardID, submissions []Submission, once Once) (outcomes []Outcome, replayed bool, err error)
}

// Reads answers from one consistent look each.
type Reads interface {
	// Top returns the page that begins offset places behind the first.
	Top(ctx context.Context, look Look, offset, limit int64) (Page, error)
	// After returns the page behind a position, which a player may have left by now.
	After(ctx context.Context, look Look, position Position, limit int64) (Page, error)
	// Player returns where a player stands, or [ErrPlayerNotFound].
	Player(ctx context.Context, look Look, player PlayerID) (Standing, error)
	// Around returns 2×radius+1 entries with the player in the middle, filled up at the edges.
	Around(ctx context.Context, look Look, player PlayerID, radius int64) (Page, error)
	// View returns top, player and surroundings at once; player may be empty.
	View(ctx context.Context, look Look, player PlayerID, limit, radius int64) (View, error)
	// RankOf returns the place that points would take now, the points as read, and the total. An [InvalidError] names
	// the field points.
	RankOf(ctx context.Context, look Look, points Decimal) (RankOf, error)
	// Range returns entries whose points lie between lowest and highest, and how many there are. A nil bound is open.
	Range(ctx context.Context, look Look, lowest, highest *Decimal, limit int64) (page Page, count int64, err error)
	// Lookup returns the entries of the given players by rank, and who has none, in the order asked.
	Lookup(ctx context.Context, look Look, players []PlayerID) (season Season, placed []Placed, unknown []PlayerID, err error)
	// Search returns players of the running season whose name begins with the given text, whatever its case.
	Search(ctx context.Context, look Look, prefix string, limit int64) (Page, error)
	// Activity returns a player's latest changes, newest first.
	Activity(ctx context.Context, board BoardID, player PlayerID, limit int64) ([]Activity, error)
	// Export yields all entries of a season in order, page by page: a board that changes meanwhile is walked as
	// [Reads.After] walks it.
	Export(ctx context.Context, look Look) iter.Seq2[ExportRow, error]
}

// RankOf is the place that some points would take.
type RankOf struct {
	Season Season
	Points Points
	Rank   int64
	Total  int64
}

// Moderation takes players off boards.
type Moderation interface {
	// RemovePlayer takes a player off the running season, with name and activity. Returns [ErrPlayerNotFound] when
	// there was nothing to remove.
	RemovePlayer(ctx context.Context, board BoardID, player PlayerID) error
	// Ban takes a player out of every view of all seasons and keeps points and time for an unban. Banning again
	// changes nothing. Returns the board's new total.
	Ban(ctx context.Context, board BoardID, player PlayerID, reason string) (total int64, err error)
	// Unban puts a player back in the old places. Returns [ErrNotBanned].
	Unban(ctx context.Context, board BoardID, player PlayerID) (total int64, err error)
}

// Seasons ends seasons and begins new ones. A scheduled season that is over is closed by whoever touches its board
// first, exactly at its end.
type Seasons interface {
	// ClosedSeasons returns the closed seasons that are kept, newest first.
	ClosedSeasons(ctx context.Context, board BoardID) ([]Season, error)
	// CloseSeason ends the running season now and begins the next in the same instant. Number must be that of the
	// running one, else [ErrSeasonNotRunning]: closing twice is closing once. Returns the board in its new season, and
	// when the old one ended.
	CloseSeason(ctx context.Context, board BoardID, number int64, reason string) (state BoardState, at time.Time, err error)
	// ReopenSeason makes the last closed season run again, with its start and, on a schedule, until the next boundary
	// from now. Returns [ErrNotReopenable], or [ErrSeasonNotFound].
	ReopenSeason(ctx context.Context, board BoardID, number int64) (BoardState, error)
	// Payout says who would get what if the running season closed now: each reward of the board, in its order, with up to
	// [PayoutPreview] entries.
	Payout(ctx context.Context, board BoardID) ([]RewardPreview, error)
}

// HeldScores are submissions beyond a board's max_step, which wait for an admin.
type HeldScores interface {
	// Held returns what waits, oldest first.
	Held(ctx context.Context, board BoardID) ([]Held, error)
	// AcceptHeld applies a held submission with its own time. Returns [ErrHeldNotFound], [ErrSeasonClosed] when its
	// season is over, or what a submission may return; then it still waits.
	AcceptHeld(ctx context.Context, board BoardID, id int64) (Result, error)
	// RejectHeld drops a held submission. Returns [ErrHeldNotFound].
	RejectHeld(ctx context.Context, board BoardID, id int64) error
}

// Erasure forgets people.
type Erasure interface {
	// ErasePlayer removes every trace of a person from all boards: scores of the running and the closed seasons, name,
	// activity, held submissions, replies kept for a repeat; and beyond boards: rewards and what they were searched by,
	// jobs and events about them, and what the audit says of them. A ban goes too, for it is a trace: whoever is to stay
	// out is not to be erased. Erasing somebody whom nothing knows is done at once. What is sent for the same id later
	// begins anew; what is sent meanwhile may go or stay.
	//
	// Done tells that nothing is left. Otherwise the erasure goes on in the background: the context ended, or work that
	// began before may still hold a copy. An error means that it may or may not go on, and asking again is safe.
	ErasePlayer(ctx context.Context, player PlayerID) (done bool, err error)
	// ResumeErasures goes on with erasures that nobody works on, and returns how many are still under way.
	ResumeErasures(ctx context.Context) (waiting int, err error)
}

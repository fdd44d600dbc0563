package pages

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"

	"leaderboard/store"
)

// AdminStore is what the admin pages read and change.
type AdminStore interface {
	Store
	PutBoard(ctx context.Context, id store.BoardID, change func(*store.Settings) error) (state store.BoardState, made bool, err error)
	DeleteBoard(ctx context.Context, id store.BoardID) error
	BoardStats(ctx context.Context, id store.BoardID) (store.BoardStats, error)

	store.Moderation
	Bans(ctx context.Context, id store.BoardID) (bans []store.Ban, total int64, err error)
	BanOf(ctx context.Context, id store.BoardID, player store.PlayerID) (store.Ban, error)

	store.Seasons
	store.HeldScores
	store.Audit

	Keys(ctx context.Context) ([]store.Key, error)
	FindKey(ctx context.Context, id string) (store.Key, error)
	AddKey(ctx context.Context, key store.Key) error
	RevokeKey(ctx context.Context, id string) error

	JobCounts(ctx context.Context) (store.JobCounts, error)
	Jobs(ctx context.Context, state store.JobState, skip, limit int) ([]store.QueuedJob, error)
	Job(ctx context.Context, id string) (store.QueuedJob, error)
	RetryJob(ctx context.Context, id string) error
	DiscardJob(ctx context.Context, id string) error
	PauseJobs(ctx context.Context) error
	ResumeJobs(ctx context.Context) error
}

// Limiter counts what a subject does over all processes.
type Limiter interface {
	Take(ctx context.Context, subject string, limit store.Limit) (store.Quota, error)
}

// AdminDeps is what the admin pages need.
type AdminDeps struct {
	Store    AdminStore
	Password string        // never empty
	Sessions fiber.Storage // ends a session by itself that nobody asks for
	Limits   Limiter       // of logins
	Origins  []string      // where forms may come from, besides the host itself

	Address func(*fiber.Ctx) netip.Addr // who a request is from
	HTTPS   func(*fiber.Ctx) bool       // whether it came by https, to a proxy of ours too
	Readers func(store.BoardID) int     // who watches a board live here; nil: nobody
	Clock   func() time.Time            // nil: that of the machine
}

// Admin holds the handlers of the admin pages. Everything that one of them changes stands in the audit before it is
// done; nothing changes without a session, a token of that session in the form, and a form of our own pages.
type Admin struct {
	deps     AdminDeps
	pages    *Pages
	sessions sessions
}

// NewAdmin returns the handlers.
func NewAdmin(deps AdminDeps) *Admin {
	if deps.Clock == nil {
		deps.Clock = time.Now
	}
	if deps.Readers == nil {
		deps.Readers = func(store.BoardID) int { return 0 }
	}
	return &Admin{deps: deps, pages: New(Deps{Store: deps.Store}), sessions: newSessions(&deps)}
}

const adminBoard = "/admin/boards/:board"

// Mount registers the admin pages. What every request of them is to pass comes first.
func (a *Admin) Mount(to fiber.Router, first ...fiber.Handler) {
	behind := func(h fiber.Handler) []fiber.Handler { return append(slices.Clip(first), h) }
	to.Get("/admin/login", behind(a.LoginPage)...)
	to.Post("/admin/login", behind(a.Login)...)
	for _, r := range []struct {
		path string
		page fiber.Handler // nil: none
		act  formHandler   // nil: nothing is done here
	}{
		{"/admin/logout", a.LogoutPage, a.Logout},

		{"/admin", a.Boards, nil},
		{"/admin/boards", a.NewBoard, a.MakeBoard},
		{adminBoard, a.Board, a.ChangeBoard},
		{adminBoard + "/delete", a.DeletePage, a.Delete},
		{adminBoard + "/close", a.ClosePage, a.Close},
		{adminBoard + "/seasons", a.Seasons, nil},
		{adminBoard + "/seasons/reopen", a.ReopenPage, a.Reopen},
		{adminBoard + "/players", a.Players, nil},
		{adminBoard + "/players/ban", a.BanPage, a.Ban},
		{adminBoard + "/players/unban", nil, a.Unban},
		{adminBoard + "/players/remove", a.RemovePage, a.Remove},
		{adminBoard + "/held", a.Held, nil},
		{adminBoard + "/held/accept", nil, a.Accept},
		{adminBoard + "/held/reject", a.RejectPage, a.Reject},

		{"/admin/keys", a.Keys, a.MakeKey},
		{"/admin/keys/revoke", a.RevokePage, a.Revoke},

		{"/admin/jobs", a.Jobs, nil},
		{"/admin/jobs/retry", nil, a.Retry},
		{"/admin/jobs/discard", a.DiscardPage, a.Discard},
		{"/admin/jobs/pause", nil, a.Pause},
		{"/admin/jobs/resume", nil, a.Resume},

		{"/admin/audit", a.Audit, nil},
	} {
		if r.page != nil {
			to.Get(r.path, behind(a.guarded(r.page))...) // and HEAD
		}
		if r.act != nil {
			to.Post(r.path, behind(a.guardedForm(r.act))...)
		}
	}
}

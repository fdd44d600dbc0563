package templates

import "github.com/a-h/templ"

// AdminBoards is the list of boards.
type AdminBoards struct {
	Admin
	Table Table
	Rows  []AdminBoardRow
}

// AdminBoardRow is a board in the list.
type AdminBoardRow struct {
	Address  templ.SafeURL
	Title    string
	ID       string
	Players  string
	Readers  string
	Season   string
	Ends     Time
	Schedule string
	Rules    string
}

// BoardForm makes or changes a board.
type BoardForm struct {
	Admin
	Form   SettingsForm
	Danger bool
}

// SettingsForm is the form with a board's settings.
type SettingsForm struct {
	Action templ.SafeURL
	Groups []Group
	Locked string // why some fields cannot change; empty: all can
	Button string
}

// Preview shows what a form of settings would do, before it is done.
type Preview struct {
	Admin
	Words   string
	Changes []Change
	Facts   []Fact
	Zone    string
	Resets  []Reset
	Manual  bool // no schedule: there are no resets
	Action  templ.SafeURL
	Fields  []Hidden
	Button  string
}

// Change is a setting before and after. Of a new board there is no before.
type Change struct{ Label, Before, After string }

// Reset is an end of a season, by the clock of the board and by ours.
type Reset struct {
	Local string
	At    Time
}

// AdminBoard is one board.
type AdminBoard struct {
	Admin
	Facts  []Fact
	Resets []Reset
	Zone   string
	Form   SettingsForm
	Close  templ.SafeURL
	Delete templ.SafeURL
}

// AdminSeasons is the closed seasons of a board.
type AdminSeasons struct {
	Admin
	Running string
	Close   templ.SafeURL
	Table   Table
	Rows    []AdminSeasonRow
}

// AdminSeasonRow is a closed season.
type AdminSeasonRow struct {
	Number  string
	Address templ.SafeURL
	Started Time
	Ended   Time
	Players string
	Reason  string
	State   string
	Reopen  templ.SafeURL // empty: it cannot be
}

// AdminPlayers is the players of a board: who leads, who was found, who was picked, who is banned.
type AdminPlayers struct {
	Admin
	Table  Table
	Rows   []AdminPlayerRow
	Pager  Pager
	Picked *AdminPlayer
	Bans   Table
	Banned []AdminBanRow
}

// AdminPlayerRow is a player in a table.
type AdminPlayerRow struct {
	Row
	Here bool // the one picked
}

// AdminPlayer is the player picked.
type AdminPlayer struct {
	Row
	ID       string
	Facts    []Fact
	Activity []Event
	Ban      string // what the ban says; means something when Banned
	Banned   bool
	BanAt    templ.SafeURL
	UnbanAt  templ.SafeURL
	RemoveAt templ.SafeURL
	Known    bool // has a score or a name in the running season
}

// AdminBanRow is a ban.
type AdminBanRow struct {
	Player  string
	Name    string
	Reason  string
	Address templ.SafeURL
	UnbanAt templ.SafeURL
}

// AdminHeld is the scores that wait for a decision.
type AdminHeld struct {
	Admin
	Table  Table
	Rows   []AdminHeldRow
	Accept templ.SafeURL
}

// AdminHeldRow is a score that waits.
type AdminHeldRow struct {
	ID      string
	Player  string
	Name    string
	Address templ.SafeURL
	Points  string
	Present string
	Gain    string
	Season  string
	At      Time
	Reject  templ.SafeURL
}

// AdminKeys is the API keys.
type AdminKeys struct {
	Admin
	Table  Table
	Rows   []AdminKeyRow
	Made   *MadeKey // nil: none was made just now
	Fields []Field
	Scopes []Option
	Boards []Option
	Wrong  string // about scopes or boards
}

// AdminKeyRow is an API key.
type AdminKeyRow struct {
	Name    string
	ID      string
	Scopes  string
	Boards  string
	Limit   string
	Expires Time
	Expired bool
	Used    Time
	Revoke  templ.SafeURL
}

// MadeKey is a key that was made just now: its token is shown this once.
type MadeKey struct{ Name, Token, Curl string }

// AdminJobs is the job queue.
type AdminJobs struct {
	Admin
	Facts   []Fact
	Warning string
	Paused  bool
	States  []Link
	Table   Table
	Rows    []AdminJobRow
	Turn    []Link
	Dead    bool // the dead ones are shown: they can be tried again
}

// AdminJobRow is a job.
type AdminJobRow struct {
	ID         string
	Kind       string
	Priority   string
	Due        Time
	Deliveries string
	Reason     string
	Discard    templ.SafeURL
}

// AdminAudit is what admins did.
type AdminAudit struct {
	Admin
	Table Table
	Rows  []AdminActRow
	Turn  []Link
}

// AdminActRow is an act.
type AdminActRow struct {
	At      Time
	Who     string
	Act     string
	Failed  bool
	Board   string
	Player  string
	Details string
}

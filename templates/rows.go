// Package templates turns view models into pages. A view model holds strings that are ready to print: words, grouped
// points, relative times. Components do no arithmetic, know no clock and read nothing.
package templates

import "github.com/a-h/templ"

// Page is what every page says about itself.
type Page struct {
	Title       string
	Description string
	Theme       string // light, dark, or empty: as the reader's system has it
	Bell        *Bell  // nil: nobody knows who reads
}

// Time is a moment in words, and exactly.
type Time struct {
	Machine string // RFC 3339, UTC
	Exact   string // for a reader who wants to know
	Words   string // "3 min ago"
}

// Link is an address and what it is called.
type Link struct {
	Address templ.SafeURL
	Text    string
	Here    bool // it leads to the page it stands on
}

// Mark is the small round sign of a player.
type Mark struct {
	Initials string
	Hue      string // class of one of the twelve hues
}

// Row is a player's line on a board.
type Row struct {
	Player  string // the id
	Rank    string
	Name    string // never empty: the id stands in for a name not given
	Points  string // grouped
	Exact   string // as the API writes them
	Address templ.SafeURL
	Mark    Mark
	Mine    bool
	At      Time
}

// Fact is a small figure with its label.
type Fact struct {
	Label string
	Value string
}

// Clock is the time to a season's end, or what stands in its place.
type Clock struct {
	Label string
	Value string
	End   Time // no Machine: nothing to count down to
}

// Home is the list of boards.
type Home struct {
	Page
	Boards []BoardCard
	Curl   string // how to make a first board
}

// BoardCard is a board in the list of boards.
type BoardCard struct {
	Address templ.SafeURL
	Title   string
	Players string
	Season  string
	Clock   Clock
	Leaders []Row
}

// Board is a board, or one closed season of it.
type Board struct {
	Page
	Head   BoardHead
	Live   Live
	Rows   []Row
	Long   bool   // some points take more room than a phone has beside a name
	Range  string // "Top 50", "Places 51 to 100"
	Beyond string // the place asked for when the board ends before it, else empty
	Pager  Pager
	Search Search
	Place  *Place // nil: nobody was picked
	Latest []Event
	Past   []Link
	Curl   string // how to post the first score, where the board is empty or may become so
}

// BoardHead is the top of a board's page.
type BoardHead struct {
	ID      string
	Title   string
	Address templ.SafeURL
	Players string
	Season  string
	Clock   Clock
	AsOf    Time
	Closed  string        // when and why, for a closed season; else empty
	Older   templ.SafeURL // the season before, if it is kept
	Newer   templ.SafeURL // the season after
	Running templ.SafeURL // the running one, on the page of a closed one
	Winner  *Row          // who won a closed season; nil when nobody did
}

// Live is what the page's module needs to keep the list moving. No Limit: this page stands still.
type Live struct {
	Limit  string
	Player string
}

// Pager leads through the rest of a board.
type Pager struct {
	First, Back, On templ.SafeURL // empty: not from here
}

// Search is the form and what it found.
type Search struct {
	Action templ.SafeURL
	Query  string
	Asked  bool
	Found  []Row
	Recent []Link
}

// Place is the card of the player who was picked.
type Place struct {
	Row
	Absent  bool // has no score this season; only Player and Name mean something
	Ordinal string
	Of      string
	Share   string
	ToNext  string
	Around  []Row
}

// Event is something that happened to a player's points, in words. Of its Row, a list of one player's events shows the
// time only.
type Event struct {
	Row
	Text string
	Tone string // class: up, down or empty
}

// Player is a player's page.
type Player struct {
	Page
	BoardID  string
	Board    Link
	Row      Row
	Ordinal  string
	Share    string
	ToNext   string
	Facts    []Fact
	Chart    *Chart // nil: too little happened to draw
	Activity []Event
	Around   []Row
	Played   []Played      // seasons, newest first
	Follow   templ.SafeURL // the board with this player picked
	Live     bool          // the season is running
	AsOf     Time
}

// Played is a season in which a player came to stand somewhere.
type Played struct {
	Link
	Ordinal, Of string
}

// Chart is points over time.
type Chart struct {
	Title         string
	Text          string // what the drawing shows, for those who cannot see it
	Line          string // path in a box of 1000 by 1000
	Area          string
	High          string // label of the best value
	Low           string
	HighAt, LowAt string // how far down they stand
	From          Time
	To            Time
	Dots          []Dot
}

// Dot is one value in a chart. X and Y are percentages of the drawing's width and height.
type Dot struct {
	X, Y   string
	Value  string
	Label  string // value and time, for those who cannot see where the dot is
	When   string
	Anchor string // start, middle or end: keeps the label inside
	Lift   string // how far the label stands above the dot; negative: below
}

// Problem is a page that says what went wrong.
type Problem struct {
	Page
	Status    string
	Heading   string
	Words     string
	Ways      []Link
	RequestID string
}

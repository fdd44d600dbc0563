package templates

import "github.com/a-h/templ"

// Admin is what every admin page says about itself.
type Admin struct {
	Page
	Heading string
	Board   string // id, on the pages of one board
	Parts   []Link // of the admin pages
	Tabs    []Link // of a board
	Token   string // proves that a form is of this session
	Notice  Notice
}

// Notice is what an act has done, or what was wrong with it.
type Notice struct {
	Text string // empty: there is nothing to say
	Bad  bool
}

// Login is the page that asks for the password.
type Login struct {
	Page
	Token string
	Wrong string
}

// Field is a part of a form.
type Field struct {
	Name    string
	Label   string
	Hint    string
	Value   string
	Wrong   string
	Kind    string // text, number, datetime-local, password, area or choice
	Options []Option
	Min     string
	Max     string
	Length  string
	Locked  bool // shown, but not to be changed now
	Needed  bool
}

// Option is one of several values.
type Option struct {
	Value  string
	Label  string
	Chosen bool
}

// Group is some fields that belong together.
type Group struct {
	Title  string
	Hint   string
	Fields []Field
}

// Hidden is a value that a form carries along.
type Hidden struct{ Name, Value string }

// Table is the frame of a table: what stands above its rows.
type Table struct {
	Label   string
	Columns []Column
	Filter  Filter
	More    Link   // what else can be done; no Text: nothing
	Empty   string // what to say when there are no rows; empty: there are
	Note    string // what to say below the rows
}

// Column is the head of a column.
type Column struct {
	Title  string
	Sort   templ.SafeURL // where the table is sorted by it; empty: it cannot be
	Sorted string        // ascending, descending or empty
	Number bool
	Extra  bool // left out on phones
}

// Filter is the small form that narrows a table down.
type Filter struct {
	Action templ.SafeURL // empty: there is none
	Name   string
	Label  string
	Value  string
	Keep   []Hidden
}

// Won is a reward, and who would win it if the season closed now.
type Won struct {
	Text    string
	Winners string // "9 players: Ada, Bo, Cy and 6 more"
}

// Confirm is the second step of an act: what will happen, in words, and the id to be typed.
type Confirm struct {
	Admin
	Words   []string
	ID      string // to be typed; empty: it is no such act
	IDLabel string
	Reason  Field // no Name: none is asked for
	Action  templ.SafeURL
	Fields  []Hidden
	Button  string
	Danger  bool
	Cancel  templ.SafeURL
	Wrong   string
	Leaders []Row // who is on top now, where seasons are closed
	Prizes  []Won
	Closing bool // the last two are meant
}

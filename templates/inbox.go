package templates

import "github.com/a-h/templ"

// Bell tells a player how many rewards wait.
type Bell struct {
	Count string // empty: none
	Words string // the same, in a sentence
	Board string // whose socket brings news; empty: none does
}

// Inbox is a player's page of rewards.
type Inbox struct {
	Page
	Player    string
	Mark      Mark
	Unclaimed string // in a sentence
	Prizes    []Prize
	Later     bool // not the first page
	Next      templ.SafeURL
}

// Prize is a reward in the inbox.
type Prize struct {
	ID      string
	Title   string
	From    string
	Season  templ.SafeURL
	At      Time
	Claimed Time // no Machine: not yet
	Claim   templ.SafeURL
}

// InboxDoor asks who reads.
type InboxDoor struct {
	Page
	Wrong string // what was wrong with the code before; empty: nothing
}

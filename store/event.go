package store

import (
	"encoding/json"
	"errors"
	"strconv"
	"time"
	"unicode/utf8"
)

// Bounds of the outbox.
const (
	MaxEventID    = 480 // bytes; a job of its own must fit into [MaxJobID]
	MaxEventData  = 8 << 10
	MaxAttempts   = 12 // tries to send an event before it is dead
	MaxDeadEvents = 1_000
	BeatTime      = 10 * time.Second // how long a sender counts as alive after its last sign of life
)

// ErrEventNotFound means that no dead event has this id.
var ErrEventNotFound = errors.New("no such event among the dead")

// Kinds of events.
const (
	EventReward       = "reward"
	EventSeasonClosed = "season_closed"
)

// Event is something that a board tells its webhook. It arrives at least once; its ID is the same each time.
type Event struct {
	ID          string          `json:"id"`
	Kind        string          `json:"event"`
	Board       BoardID         `json:"board"`
	Incarnation int64           `json:"incarnation"`
	Season      int64           `json:"season"`
	At          time.Time       `json:"at"`
	Data        json.RawMessage `json:"data,omitempty"`
}

// Validate returns an [InvalidError] for the first part of an event that the outbox does not take.
func (e *Event) Validate() error {
	switch {
	case e.ID == "" || len(e.ID) > MaxEventID || !utf8.ValidString(e.ID):
		return Invalid("id", "must be 1 to "+strconv.Itoa(MaxEventID)+" bytes of UTF-8")
	case e.Kind == "" || e.Board == "":
		return Invalid("event", "must have a kind and a board")
	case len(e.Data) > MaxEventData:
		return Invalid("data", "must be at most "+strconv.Itoa(MaxEventData)+" bytes")
	case e.Data != nil && !json.Valid(e.Data):
		return Invalid("data", "must be JSON")
	}
	return nil
}

// Parcel is an event on its way.
type Parcel struct {
	Event    Event
	Attempts int    // tries so far
	PutOff   int    // times that it was put off without a try
	Kept     string // as it stands in the list that it was taken from
}

// DeadEvent is an event that was given up.
type DeadEvent struct {
	Parcel
	Died   time.Time
	Reason string
}

// OutboxCounts are the state of the outbox.
type OutboxCounts struct {
	Queued  int64
	Sending int64
	Dead    int64
	Senders int64
}

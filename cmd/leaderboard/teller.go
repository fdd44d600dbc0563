package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/mattn/go-isatty"
)

// teller writes messages, and on a terminal a line of progress that the next message takes the place of.
type teller struct {
	to       io.Writer
	terminal bool

	mu    sync.Mutex
	shown bool
}

func newTeller(to io.Writer) *teller {
	file, ok := to.(*os.File)
	return &teller{to: to, terminal: ok && isatty.IsTerminal(file.Fd())}
}

// say writes a message on a line of its own.
func (t *teller) say(message string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wipe()
	fmt.Fprintln(t.to, oneLine(message))
}

// progress shows how far things are, to somebody who watches.
func (t *teller) progress(message string) {
	if !t.terminal {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wipe()
	fmt.Fprint(t.to, oneLine(message))
	t.shown = true
}

// clear takes the line of progress away.
func (t *teller) clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wipe()
}

// wipe does the work of clear. The lock must be held.
func (t *teller) wipe() {
	if t.shown {
		fmt.Fprint(t.to, "\r\x1b[K")
		t.shown = false
	}
}

// oneLine keeps what a server said from moving the terminal's cursor.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
}

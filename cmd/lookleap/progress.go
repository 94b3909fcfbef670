package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/lookleap/lookleap/internal/plaintext"
)

// patience is how long a judgement may take before a terminal is told that it is
// being worked on.
const patience = 700 * time.Millisecond

// progress tells people at a terminal what takes so long. Its line is on standard error and
// disappears when the result comes.
type progress struct {
	w io.Writer // nil: not a terminal

	mu    sync.Mutex
	input string // what is judged; "": nothing
	check string // the check that runs; "": the command has only one
	shown bool   // the line is on the terminal
}

func newProgress(stderr io.Writer) *progress {
	if isTerminal(stderr) {
		return &progress{w: stderr}
	}
	return &progress{}
}

// working says what is worked on, if it takes longer than people wait for
// without wondering. The function that it returns ends that.
func (p *progress) working(input string, patience time.Duration) (done func()) {
	if p.w == nil {
		return func() {}
	}
	p.mu.Lock()
	p.input, p.check = input, ""
	p.mu.Unlock()
	timer := time.AfterFunc(patience, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.input != "" {
			p.show()
		}
	})
	return func() {
		timer.Stop()
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.shown {
			fmt.Fprint(p.w, "\r\x1b[K")
		}
		p.input, p.shown = "", false
	}
}

// step names the check that runs now.
func (p *progress) step(check string) {
	if p.w == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.check = check
	if p.shown {
		p.show()
	}
}

func (p *progress) show() {
	p.shown = true
	fmt.Fprintf(p.w, "\r\x1b[Klooking at %s", plaintext.Quote(p.input, 60))
	if p.check != "" {
		fmt.Fprintf(p.w, ": %s", p.check)
	}
	fmt.Fprint(p.w, " …")
}

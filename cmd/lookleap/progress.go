package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/lookleap/lookleap/internal/plaintext"
)

// patience is how long a judgement may take before a terminal is told that it is
// being worked on.
const patience = 700 * time.Millisecond

// progress tells people at a terminal what takes so long. Its line stands on
// standard error and goes away when the result comes.
type progress struct{ w io.Writer } // nil: not a terminal

func newProgress(stderr io.Writer) progress {
	if f, ok := stderr.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return progress{stderr}
	}
	return progress{}
}

// working says what is worked on, if it takes longer than people wait for
// without wondering. The function that it returns ends that.
func (p progress) working(input string, patience time.Duration) (done func()) {
	if p.w == nil {
		return func() {}
	}
	var mu sync.Mutex
	shown, over := false, false
	timer := time.AfterFunc(patience, func() {
		mu.Lock()
		defer mu.Unlock()
		if !over {
			shown = true
			fmt.Fprintf(p.w, "\rlooking at %s …", plaintext.Quote(input, 60))
		}
	})
	return func() {
		timer.Stop()
		mu.Lock()
		defer mu.Unlock()
		over = true
		if shown {
			fmt.Fprint(p.w, "\r\x1b[K")
		}
	}
}

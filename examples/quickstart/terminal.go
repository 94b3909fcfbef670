package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/lookleap/lookleap"
)

// terminal is where a user decides for real.
type terminal struct {
	in  *bufio.Reader
	out io.Writer
}

// newTerminal returns the terminal on which the program runs; nil if its input
// or output is a pipe or a file.
func newTerminal(in io.Reader, out io.Writer) *terminal {
	for _, end := range []any{in, out} {
		if f, ok := end.(*os.File); !ok || !term.IsTerminal(int(f.Fd())) {
			return nil
		}
	}
	return &terminal{bufio.NewReader(in), out}
}

// decide asks about each item by itself. Only "y" and "yes" agree; the end of the
// input does not.
func (t *terminal) decide(r *lookleap.ConsentRequest) lookleap.ConsentDecision {
	d := lookleap.ConsentDecision{Digest: r.Digest}
	if r.Abridged() && t.yes("Show the complete request?") {
		fmt.Fprintln(t.out, r.Complete())
	}
	for _, question := range r.Questions() {
		if t.yes(question.String()) {
			d.Approved = append(d.Approved, question.Item)
		}
	}
	return d
}

func (t *terminal) yes(question string) bool {
	fmt.Fprintf(t.out, "   %s [y/N] ", question)
	line, _ := t.in.ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return true
	}
	return false
}

// asker is where a real user decides.
type asker interface {
	// decide asks about a request that waits for the decision.
	decide(*lookleap.ConsentRequest) lookleap.ConsentDecision
}

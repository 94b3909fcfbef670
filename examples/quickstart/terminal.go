package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// terminal is where a user decides for real.
type terminal struct {
	in  *bufio.Reader
	out io.Writer
}

// newTerminal gives the terminal on which the program runs; nil where its input
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
	for _, item := range r.Items {
		fmt.Fprintf(t.out, "   Do you agree to: %s? [y/N] ", plaintext.Line(item.Summary))
		line, _ := t.in.ReadString('\n')
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "y", "yes":
			d.Approved = append(d.Approved, item.ID)
		}
	}
	return d
}

// live reports whether somebody real decides.
func (s *stage) live() bool { return s.terminal != nil }

// decide is the user's word: that of somebody real, or the story's, which agrees
// to everything but the items about a field.
func (s *stage) decide(r *lookleap.ConsentRequest, except string) lookleap.ConsentDecision {
	if s.live() {
		return s.terminal.decide(r)
	}
	d := lookleap.ConsentDecision{Digest: r.Digest}
	for _, item := range r.Items {
		if !strings.Contains(item.Summary, fmt.Sprintf("%q", except)) {
			d.Approved = append(d.Approved, item.ID)
		}
	}
	return d
}

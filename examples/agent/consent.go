package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/contrib/webconsent"
)

// newPrompter returns the dialogue with the user: a page in the browser, which is served until ctx
// ends, or the terminal.
func newPrompter(ctx context.Context, browser bool, host *lookleap.Host, in io.Reader, out io.Writer) (lookleap.ConsentPrompter, error) {
	if !browser {
		return newTerminal(in, out), nil
	}
	page, err := webconsent.New(webconsent.Options{Now: host.Time})
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	go func() {
		if err := page.Serve(ctx, l); err != nil && ctx.Err() == nil {
			fmt.Fprintln(out, "the consent page ended:", err)
		}
	}()
	fmt.Fprintf(out, "Open this page to decide; the link works once:\n  %s\n", page.Link("http://"+l.Addr().String()))
	return page, nil
}

// terminal asks the user on the terminal, one request at a time.
type terminal struct {
	mu    sync.Mutex
	lines <-chan string // closed at the end of the input
	out   io.Writer
}

// newTerminal reads the input in a goroutine of its own, so that a question can end before the user
// has answered it.
func newTerminal(in io.Reader, out io.Writer) *terminal {
	lines := make(chan string)
	go func() {
		defer close(lines)
		for scanner := bufio.NewScanner(in); scanner.Scan(); {
			lines <- scanner.Text()
		}
	}()
	return &terminal{lines: lines, out: out}
}

// PromptConsent shows the request and asks about each item. Only "y" and "yes" agree; the end
// of the input does not.
func (t *terminal) PromptConsent(ctx context.Context, r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprintf(t.out, "\n%s\n", r)
	if r.Abridged() && t.yes(ctx, "Show the complete request?") {
		fmt.Fprintln(t.out, r.Complete())
	}
	d := lookleap.ConsentDecision{Digest: r.Digest}
	for _, question := range r.Questions() {
		if t.yes(ctx, question.String()) {
			d.Approved = append(d.Approved, question.Item)
		}
	}
	return d, ctx.Err()
}

// yes asks a question. It stops waiting when ctx ends, since a user who interrupts the program does
// not answer.
func (t *terminal) yes(ctx context.Context, question string) bool {
	if ctx.Err() != nil {
		return false
	}
	fmt.Fprintf(t.out, "%s [y/N] ", question)
	select {
	case <-ctx.Done():
		return false
	case line := <-t.lines:
		fmt.Fprintln(t.out)
		line = strings.ToLower(strings.TrimSpace(line))
		return line == "y" || line == "yes"
	}
}

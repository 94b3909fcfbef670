package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/dvs/install"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// asker asks the user at the terminal. Requests and questions go to standard error, so that results stay
// what a program reads.
type asker struct {
	s     *session
	yes   bool // agree where a root is registered, and refuse otherwise
	roots *dvs.Roots
	rules []*dvs.Policy
}

// unanswered is the error for a question that no one was asked. It is no refusal, which would be kept.
type unanswered struct{ message, fix string }

func (u *unanswered) Error() string { return u.message }

// PromptConsent shows a request and asks about each item.
func (a *asker) PromptConsent(ctx context.Context, r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
	d := lookleap.ConsentDecision{Digest: r.Digest}
	if a.yes {
		if a.registered(r.TrustRoot) {
			for _, item := range r.Items {
				d.Approved = append(d.Approved, item.ID)
			}
			return d, nil
		}
		return d, &unanswered{"--yes answers only for trust roots that are registered", "look at the skill without --yes, or add --root " + r.TrustRoot}
	}
	if !a.s.asks {
		return d, &unanswered{"a person has to agree, and there is no terminal",
			"run it at a terminal, or register the publisher with --root " + r.TrustRoot + " and add --yes"}
	}
	fmt.Fprintf(a.s.stderr, "\n%s\n", r)
	if r.Abridged() && a.s.agrees(ctx, "Show the complete request?") {
		fmt.Fprintln(a.s.stderr, r.Complete())
	}
	for _, question := range r.Questions() {
		if a.s.agrees(ctx, question.String()) {
			d.Approved = append(d.Approved, question.Item)
		}
	}
	if len(d.Approved) == 0 && r.Kind != lookleap.ConsentScript && a.s.agrees(ctx, "Refuse every later version of it too?") {
		d.AllVersions = true
	}
	return d, ctx.Err()
}

// registered reports whether the user or a policy registered a root.
func (a *asker) registered(root string) bool {
	for _, p := range a.rules {
		for _, entry := range p.Allow {
			if r, err := dvs.ParseTrustRoot(entry, a.roots.Rules()); err == nil && p.Register == dvs.RegisterPolicy && r.String() == root {
				return true
			}
		}
	}
	for d := range a.roots.All() {
		if d.Root.String() == root && d.Source.Registered() && !d.Blocked {
			return true
		}
	}
	return false
}

// agrees asks a question. Only "y" and "yes" agree; the end of the input does not.
func (s *session) agrees(ctx context.Context, question string) bool {
	if ctx.Err() != nil {
		return false
	}
	fmt.Fprintf(s.stderr, "%s [y/N] ", question)
	line := strings.ToLower(s.answer())
	return line == "y" || line == "yes"
}

// answer reads a line of standard input, "" at its end.
func (s *session) answer() string {
	if s.lineReader == nil {
		s.lineReader = bufio.NewReader(io.LimitReader(s.stdin, maxWord))
	}
	line, _ := s.lineReader.ReadString('\n')
	return strings.TrimSpace(line)
}

// chooseSkills lets the user choose from a list.
func (s *session) chooseSkills(found *install.Found) ([]install.Candidate, error) {
	if !s.asks {
		return nil, nothingChosen(found)
	}
	for i, c := range found.Skills {
		fmt.Fprintf(s.stderr, "%3d  %s  %s\n", i+1, plaintext.Quote(c.Name, 40), plaintext.Quote(c.Description, 80))
	}
	fmt.Fprint(s.stderr, "Which ones? Numbers, or all: ")
	var chosen []install.Candidate
	for word := range strings.FieldsSeq(strings.ReplaceAll(s.answer(), ",", " ")) {
		if word == "all" {
			return found.Skills, nil
		}
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > len(found.Skills) {
			return nil, &lookleap.Error{Code: lookleap.CodeUsage, Message: plaintext.Quote(word, 20) + " is no number of the list"}
		}
		chosen = append(chosen, found.Skills[n-1])
	}
	if len(chosen) == 0 {
		return nil, nothingChosen(found)
	}
	return chosen, nil
}

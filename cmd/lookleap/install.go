package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/contrib/hostflags"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/dvs/install"
	"github.com/lookleap/lookleap/internal/plaintext"
)

var installWords = []string{"add", "list", "update", "sync", "verify", "remove", "why", "hook"}

// installer has the flags of these commands.
type installer struct {
	skillFlags
	skills, agents repeated
	all            bool
	dir            string
	user, project  bool
	copied, linked bool
	yes, force     bool
	report         *report

	s     *session
	place *install.Place
	trust *lookleap.FileStore // the user's decisions
}

func (in *installer) declare(flags *flag.FlagSet) {
	in.skillFlags.declare(flags)
	flags.Var(&in.skills, "skill", "add: this `NAME` alone; may be repeated")
	flags.BoolVar(&in.all, "all", false, "add: all skills of the source")
	flags.Var(&in.agents, "agent", "add, remove: the agent with this `NAME`, such as claude-code; may be repeated")
	flags.StringVar(&in.dir, "dir", "", "add: install into this `DIR` in place of the folders of agents")
	flags.BoolVar(&in.user, "user", false, "in the home directory, for all projects")
	flags.BoolVar(&in.project, "project", false, "in the working directory, which is the default")
	flags.BoolVar(&in.copied, "copy", false, "add: a copy for each agent")
	flags.BoolVar(&in.linked, "link", false, "add: one copy and links to it, which is the default")
	flags.BoolVar(&in.yes, "yes", false, "add, update: agree for trust roots that are registered, and refuse all other questions")
	flags.BoolVar(&in.force, "force", false, "add, update, sync, remove: replace what a user changed")
}

func (in *installer) run(ctx context.Context, s *session, word string, args []string) error {
	switch {
	case in.user && in.project:
		return usagef("write --user or --project")
	case in.copied && in.linked:
		return usagef("write --copy or --link")
	case in.dir != "" && len(in.agents) > 0:
		return usagef("write --agent or --dir")
	}
	scope := install.Project
	dir := "."
	if in.user {
		scope, dir = install.User, ""
	}
	var err error
	if in.place, err = install.Open(dir, scope); err != nil {
		return usagef("%v", err)
	}
	if rel, err := filepath.Rel(in.place.Dir, in.dir); filepath.IsAbs(in.dir) && err == nil {
		in.dir = rel
	}
	if in.dir != "" && !filepath.IsLocal(in.dir) {
		return usagef("--dir: name a directory below %s, where the lockfile is", in.place.Dir)
	}
	in.s = s
	defer func() {
		if in.trust != nil {
			_ = in.trust.Close() // each record was written as a whole
		}
	}()
	return map[string]func(context.Context, []string) error{
		"add": in.add, "list": in.list, "verify": in.verify, "update": in.update, "sync": in.sync, "remove": in.remove, "why": in.why, "hook": in.hook,
	}[word](ctx, args)
}

// loader returns a loader that asks the user on the terminal, and keeps the decisions unless a lockfile
// takes their place.
func (in *installer) loader(lock *dvs.Lockfile) (*dvs.Loader, error) {
	config, err := os.UserConfigDir()
	if err != nil {
		return nil, usagef("the user has no configuration directory, in which decisions are kept: %v", err)
	}
	if in.trust == nil {
		if in.trust, err = hostflags.OpenStore(filepath.Join(config, "lookleap", "trust")); err != nil {
			return nil, usagef("%v", err)
		}
	}
	o := dvs.Options{Credentials: install.Credentials, Trust: in.trust}
	if lock != nil {
		o.Lock, o.Trust = lock, nil
	}
	loader, rules, err := in.skillFlags.loader(in.s, o)
	if err != nil {
		return nil, err
	}
	in.s.host.Prompter = &asker{s: in.s, yes: in.yes, roots: loader.Roots(), rules: rules}
	return loader, nil
}

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

func (a *asker) PromptConsent(ctx context.Context, r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
	d := lookleap.ConsentDecision{Digest: r.Digest}
	switch {
	case a.yes && a.registered(r.TrustRoot):
		for _, item := range r.Items {
			d.Approved = append(d.Approved, item.ID)
		}
		return d, nil
	case a.yes:
		return d, &unanswered{"--yes answers only for trust roots that are registered", "look at the skill without --yes, or add --root " + r.TrustRoot}
	case !a.s.asks:
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
	d.AllVersions = len(d.Approved) == 0 && r.Kind != lookleap.ConsentScript && a.s.agrees(ctx, "Refuse every later version of it too?")
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

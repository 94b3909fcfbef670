package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/contrib/hostflags"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/dvs/install"
	"github.com/lookleap/lookleap/internal/filestore"
	"github.com/lookleap/lookleap/internal/plaintext"
)

var installWords = []string{"add", "list", "update", "sync", "verify", "remove", "why", "hook"}

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
	flags.BoolVar(&in.project, "project", false,
		"in the working directory, which is the default; but for add, in the nearest one above with skills.lock")
	flags.BoolVar(&in.copied, "copy", false, "add: a copy for each agent")
	flags.BoolVar(&in.linked, "link", false, "add: one copy and links to it, which is the default")
	flags.BoolVar(&in.yes, "yes", false,
		"add, update: agree for trust roots that are registered, and refuse all other questions")
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
	open := install.OpenNearest
	if word == "add" { // it makes a lockfile here
		open = install.Open
	}
	var err error
	if in.place, err = open(dir, scope); err != nil {
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
		"add": in.add, "list": in.list, "verify": in.verify, "update": in.update, "sync": in.sync, "remove": in.remove,
		"why": in.why, "hook": in.hook,
	}[word](ctx, args)
}

// loader returns a loader that asks the user, and keeps decisions unless a lockfile replaces them.
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

// asker asks the user at the terminal, on standard error: standard output is for programs.
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
		return d, &unanswered{"--yes answers only for trust roots that are registered",
			"look at the skill without --yes, or add --root " + r.TrustRoot}
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
	d.AllVersions = len(d.Approved) == 0 && r.Kind != lookleap.ConsentScript &&
		a.s.agrees(ctx, "Refuse every later version of it too?")
	return d, ctx.Err()
}

func (a *asker) registered(root string) bool {
	for _, p := range a.rules {
		for _, entry := range p.Allow {
			if r, err := dvs.ParseTrustRoot(entry, a.roots.Rules()); err == nil && p.Register == dvs.RegisterPolicy &&
				r.String() == root {
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
			return nil, fault(lookleap.CodeUsage, plaintext.Quote(word, 20)+" is no number of the list", "")
		}
		chosen = append(chosen, found.Skills[n-1])
	}
	if len(chosen) == 0 {
		return nil, nothingChosen(found)
	}
	return chosen, nil
}

// hookCall is what an agent tells a hook. Copilot has its own names for the members.
type hookCall struct {
	Event     string          `json:"hook_event_name"`
	Directory string          `json:"cwd"`
	Tool      string          `json:"tool_name"`
	Input     json.RawMessage `json:"tool_input"`

	CopilotTool  string          `json:"toolName"`
	CopilotInput json.RawMessage `json:"toolArgs"`
}

const maxHook = 8 << 20 // bytes that an agent sends

// hook tells an agent that starts, or is about to use a tool, which skills were changed. Without a
// call it prints one line for people. It sends no request.
func (in *installer) hook(_ context.Context, args []string) error {
	if len(args) > 0 {
		return usagef("hook takes no names")
	}
	var call hookCall
	var bad error
	if in.s.stdin != nil && !isTerminal(in.s.stdin) {
		sent, err := io.ReadAll(io.LimitReader(in.s.stdin, maxHook))
		if err != nil {
			return err
		}
		if len(bytes.TrimSpace(sent)) > 0 {
			bad = json.Unmarshal(sent, &call)
		}
	}
	changed, installed, unlisted := in.changedSkills(call.Directory)
	message := hookMessage(changed, installed, unlisted)
	if bad != nil && len(changed) > 0 { // agents take the exit code 2 of a hook for a no
		return usagef("the call cannot be read, so it is stopped: %s", message)
	}
	switch tool, input := call.Tool, call.Input; {
	case call.Event == "PreToolUse" || call.CopilotTool != "":
		if call.CopilotTool != "" {
			tool, input = call.CopilotTool, call.CopilotInput
		}
		decision := map[string]string{"permissionDecision": "deny", "permissionDecisionReason": message}
		switch {
		case !slices.ContainsFunc(changed, func(c changedSkill) bool { return c.usedBy(tool, input) }):
			return nil
		case call.CopilotTool != "":
			return json.NewEncoder(in.s.stdout).Encode(decision)
		}
		decision["hookEventName"] = call.Event
		return json.NewEncoder(in.s.stdout).Encode(map[string]any{"hookSpecificOutput": decision})
	case call.Event == "SessionStart":
		switch {
		case len(changed) == 0 && unlisted == 0:
			return nil
		case len(changed) == 0:
			return json.NewEncoder(in.s.stdout).Encode(map[string]any{"systemMessage": message})
		}
		return json.NewEncoder(in.s.stdout).Encode(map[string]any{"systemMessage": message,
			"hookSpecificOutput": map[string]string{"hookEventName": call.Event,
				"additionalContext": message + " Do not read or use them."}})
	}
	// Agents take an exit code other than 0 for a fault of the hook, so it is for people only.
	in.s.refused = len(changed)
	_, err := io.WriteString(in.s.stdout, message+"\n")
	return err
}

// changedSkill is a skill that is not as installed, or all of a lockfile that cannot be read.
type changedSkill struct {
	shown string
	names []string // by which an agent may know it; none: it stands for all skills
	paths []string
}

// changedSkills looks at the project and the user. A lockfile that is broken vouches for no skill.
func (in *installer) changedSkills(directory string) (changed []changedSkill, installed, unlisted int) {
	places := []*install.Place{in.place}
	if !in.user {
		if p, err := install.OpenNearest(directory, install.Project); directory != "" && err == nil {
			places[0] = p
		}
		if p, err := install.Open("", install.User); err == nil {
			places = append(places, p)
		}
	}
	for _, p := range places {
		checks, err := p.Verify()
		if err != nil {
			shown := "all of " + p.LockPath() + ", which cannot be read (restore it, or delete it and add the skills again)"
			changed = append(changed, changedSkill{shown: shown, paths: p.Folders()})
			continue
		}
		if len(checks) > 0 { // those of someone who does not use a lockfile here are no news
			more, _ := p.Unlisted() // a folder that cannot be read has no skills for an agent either
			unlisted += len(more)
		}
		for _, c := range checks {
			installed++
			if !c.OK() {
				changed = append(changed, changedSkill{c.Entry.Directory, namesOf(&c), c.Paths})
			}
		}
	}
	return changed, installed, unlisted
}

// namesOf returns the names of a skill: of its directory, as it was installed, and as it is now.
func namesOf(c *install.Check) []string {
	names := []string{c.Entry.Directory, c.Entry.Installed.Name}
	for _, path := range c.Paths {
		content, err := filestore.ReadFile(filepath.Join(path, dvs.EntryFile), maxFile)
		if err != nil {
			continue
		}
		if meta, _, err := dvs.ParseMetadata(content, dvs.Lenient, dvs.Limits{}); err == nil {
			names = append(names, meta.Name)
		}
	}
	return names
}

func hookMessage(changed []changedSkill, installed, unlisted int) string {
	more := ""
	if unlisted > 0 {
		more = " In the folders of agents, " + plaintext.Plural(unlisted, "skill is", "skills are") + " not in the lockfile: see lookleap skill verify."
	}
	if len(changed) == 0 {
		return "lookleap: " + plaintext.Plural(installed, "skill is", "skills are") + " as installed." + more
	}
	var names []string
	for _, c := range changed {
		names = append(names, plaintext.Line(c.shown))
	}
	const most = 10
	shown := strings.Join(names[:min(len(names), most)], ", ")
	if len(names) > most {
		shown += ", …"
	}
	return "lookleap: " + plaintext.Plural(len(changed), "skill is", "skills are") +
		" not as installed and must not be used: " + shown +
		". See lookleap skill verify; lookleap skill sync restores them, with --force also what was edited." + more
}

// usedBy reports whether the input of a tool has the skill's name, or a path below its folder.
func (c *changedSkill) usedBy(tool string, input json.RawMessage) bool {
	var value any
	if json.Unmarshal(input, &value) != nil {
		value = string(input)
	}
	if text, ok := value.(string); ok && json.Unmarshal([]byte(text), &value) != nil { // Copilot sends JSON in a string
		value = text
	}
	isSkillTool := strings.EqualFold(tool, "skill")
	if isSkillTool && len(c.names) == 0 {
		return true
	}
	return slices.ContainsFunc(textsOf(value), func(text string) bool {
		if isSkillTool && slices.ContainsFunc(c.names, func(name string) bool { return namesSkill(text, name) }) {
			return true
		}
		paths := pathsIn(text)
		return slices.ContainsFunc(c.paths, func(folder string) bool {
			folder = filepath.Join(filepath.Base(filepath.Dir(folder)), filepath.Base(folder))  // skills/NAME
			path := `(?i)` + regexp.QuoteMeta(filepath.ToSlash(folder)) + `([^A-Za-z0-9._-]|$)` // not of a longer name
			return slices.ContainsFunc(paths, regexp.MustCompile(path).MatchString)
		})
	})
}

// namesSkill reports whether a text is the name of a skill, perhaps after the name of a plugin or a slash.
func namesSkill(text, name string) bool {
	text = strings.TrimSpace(text)
	text = strings.TrimPrefix(text[strings.LastIndexByte(text, ':')+1:], "/")
	return name != "" && strings.EqualFold(text, name)
}

// pathsIn returns the ways to read the paths in a text: as it is, as one path, and its words as paths. The dots
// and doubled slashes in a path do not change where it leads.
func pathsIn(text string) []string {
	text = filepath.ToSlash(text)
	all := []string{text, path.Clean(text)}
	for _, word := range strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("\"'`;|&<>()=:,", r)
	}) {
		if clean := path.Clean(word); clean != word {
			all = append(all, clean)
		}
	}
	return all
}

func textsOf(value any) (texts []string) {
	switch v := value.(type) {
	case string:
		texts = append(texts, v)
	case map[string]any:
		for _, one := range v {
			texts = append(texts, textsOf(one)...)
		}
	case []any:
		for _, one := range v {
			texts = append(texts, textsOf(one)...)
		}
	}
	return texts
}

package dvs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lookleap/lookleap"
)

// Invocation is a script that a skill wants to run.
type Invocation struct {
	Script      string   // reference to the script, in the skill's own directory
	Interpreter []string // program and its own arguments; empty: the script's first line
	Args        []string
	Env         []string // NAME=value
	Files       []string // references to bundled files that the script is given
	Uses        []Use    // what it will access or change, as far as that is known
}

// Use is one thing that an action accesses or changes.
type Use struct {
	Name string `json:"name"` // URL or path
	Mode string `json:"mode"` // read, write or execute
}

// plannedScript is everything that will run, by bytes and not by URL.
type plannedScript struct {
	standing
	Script      plannedFile   `json:"script"`
	Interpreter []string      `json:"interpreter,omitempty"`
	Args        []string      `json:"args,omitempty"`
	Env         []string      `json:"env,omitempty"`
	Files       []plannedFile `json:"files,omitempty"`
	Uses        []Use         `json:"uses,omitempty"`
	Sandbox     Sandbox       `json:"sandbox"`
}

type plannedFile struct {
	Name   string `json:"name"`
	Digest Digest `json:"digest"`
	content
}

// key is what an answer is bound to: skill, root, kind of action, the digests of
// all that runs, interpreter, arguments, environment, uses and sandbox, so all that was shown
// (DVS-5.2-06 to DVS-5.2-09).
func (p *plannedScript) key() string {
	data, _ := json.Marshal(p) // plain data, without the bytes themselves
	return strings.Join([]string{effectScript, p.Skill, lookleap.Digest(data)}, "\n")
}

// ApprovedScript is a script whose very bytes the user agreed to run, once.
type ApprovedScript struct {
	loader   *Loader
	approval *lookleap.Approval
	planned  *plannedScript
}

// Approve fetches a script and everything that it is given, and asks the user
// (sections 4.5.2 and 5.2). No option, key of the skill or registered root
// replaces that consent. An answer that the user gave for a while counts again
// only for identical bytes, arguments, interpreter, environment, uses, sandbox and root.
//
// A command line, environment or list of uses of more than 4 KiB, which a prompt cannot show whole, is
// refused with [lookleap.CodeConsentTooLong]. So are names that [NewVerifiedFS] refuses, and two files
// that some system takes for one.
func (s *Loaded) Approve(ctx context.Context, in Invocation) (*ApprovedScript, error) {
	if err := s.ready(); err != nil {
		return nil, err
	}
	planned, err := s.plan(ctx, in)
	if err != nil {
		return nil, err
	}
	effect, err := (&plannedEffect{Type: effectScript, Script: planned}).encode()
	if err != nil {
		return nil, err
	}
	plan, err := lookleap.NewPlan(s.scriptRequest(planned), effect, s.loader.host.Time())
	if err != nil {
		return nil, s.loader.refuseConsent(ctx, s.Verdict, err)
	}
	approval, err := s.loader.approve(ctx, plan, planned.key())
	if err != nil {
		return nil, s.loader.refuseConsent(ctx, s.Verdict, err)
	}
	s.loader.approved(s.ID.String(), planned.Script)
	return &ApprovedScript{loader: s.loader, approval: approval, planned: planned}, nil
}

// plan reads everything that the script needs, without effect. Every name is judged before anything
// is fetched, and each file is fetched once: what the user is shown is what runs.
func (s *Loaded) plan(ctx context.Context, in Invocation) (*plannedScript, error) {
	p := &plannedScript{standing: s.standing(), Interpreter: slices.Clone(in.Interpreter), Args: slices.Clone(in.Args), Env: slices.Clone(in.Env),
		Uses: slices.Clone(in.Uses)}
	if s.loader.options.Runner != nil {
		p.Sandbox = s.loader.options.Runner.Sandbox()
	}
	if err := errors.Join(checkWords(slices.Concat(in.Interpreter, in.Args, in.Env)...), checkUses(in.Uses), checkEnv(in.Env)); err != nil {
		return nil, s.loader.refuseTarget(ctx, in.Script, err)
	}
	limits, names := s.loader.limits, nameTable{}
	if len(in.Files) > limits.Files {
		return nil, s.loader.refuseTarget(ctx, in.Script, refuse(lookleap.CodeLimit, in.Script, fmt.Sprintf("a script is given at most %d files", limits.Files), "give it fewer files"))
	}
	targets := make([]Target, 0, 1+len(in.Files))
	for _, ref := range append([]string{in.Script}, in.Files...) {
		t, err := s.bundledTarget(ctx, ref)
		if err != nil {
			return nil, err
		}
		if err := names.accept(t.Name); err != nil {
			return nil, s.loader.refuseTarget(ctx, ref, err)
		}
		targets = append(targets, t)
	}
	files, total := make([]plannedFile, 0, len(targets)), 0
	for _, t := range targets {
		r, err := s.loader.fetchResource(ctx, p.Skill, s.Root, s.directory(), s.terms(), t)
		if err != nil {
			return nil, err
		}
		if total += len(r.data); total > limits.Total {
			return nil, s.loader.refuseTarget(ctx, t.URL, refuse(lookleap.CodeTooLarge, t.URL, fmt.Sprintf("the files of a script have more than %d octets", limits.Total), "give it smaller files"))
		}
		files = append(files, plannedFile{Name: r.Name, Digest: r.Digest, content: newContent(r.data)})
	}
	p.Script, p.Files = files[0], files[1:]
	return p, nil
}

// checkWords refuses what no prompt and no plan can hold as it is, so that the
// user would agree to something else.
func checkWords(words ...string) error {
	for _, w := range words {
		if !utf8.ValidString(w) || strings.Contains(w, "\x00") {
			return refuse(lookleap.CodeUsage, w, "a command line is UTF-8 without NUL", "give other bytes in a file")
		}
	}
	return nil
}

// checkUses refuses uses that a prompt cannot show whole.
func checkUses(uses []Use) error {
	size := 0
	for _, u := range uses {
		if err := checkWords(u.Name, u.Mode); err != nil {
			return err
		}
		size += len(u.Name) + len(u.Mode)
	}
	if size > lookleap.MaxShown {
		return refuse(lookleap.CodeConsentTooLong, "uses", fmt.Sprintf("the uses have %d octets, and a user is shown at most %d", size, lookleap.MaxShown), "name directories in place of their files")
	}
	return nil
}

// checkEnv refuses an environment that systems read in different ways.
func checkEnv(env []string) error {
	seen := map[string]bool{}
	for _, e := range env {
		name, _, ok := strings.Cut(e, "=")
		if !ok || name == "" || seen[name] {
			return refuse(lookleap.CodeUsage, e, "an environment is a list of NAME=value, with each name once", "write NAME=value")
		}
		seen[name] = true
	}
	return nil
}

// bundledTarget resolves a file of the skill's own directory.
func (s *Loaded) bundledTarget(ctx context.Context, ref string) (Target, error) {
	t, err := s.target(ctx, ref)
	if err == nil && t.Access != Bundled {
		err = s.loader.refuseTarget(ctx, ref, refuse(CodeScriptOutside, ref, "what a script runs or is given has to be in the skill's own directory", "bundle the file"))
	}
	return t, err
}

// Command gives exactly what the user agreed to, for a host that runs it by
// other means than a [Runner]. It has no error to return, and so it does not check
// whether trust was withdrawn since the approval: only Run does.
func (a *ApprovedScript) Command() *Command {
	if a == nil || a.planned == nil {
		return new(Command)
	}
	p := a.planned
	c := &Command{Skill: p.Skill, Name: p.Script.Name, Script: slices.Clone(p.Script.Bytes), Interpreter: slices.Clone(p.Interpreter),
		Args: slices.Clone(p.Args), Env: slices.Clone(p.Env), Files: make(map[string][]byte)}
	for _, f := range p.Files {
		c.Files[f.Name] = slices.Clone(f.Bytes)
	}
	return c
}

// Run runs the approved bytes through the loader's [Runner], once: a second Run
// is an [lookleap.ErrAlreadyDone]. Nothing is fetched between consent and run; a
// root that was revoked meanwhile refuses.
func (a *ApprovedScript) Run(ctx context.Context) (out *Output, err error) {
	if a == nil || a.planned == nil {
		return nil, usageError("no script was approved", "get it from Loaded.Approve")
	}
	l := a.loader
	if err := l.checkStanding(ctx, a.planned.standing); err != nil {
		return nil, err
	}
	if l.options.Runner == nil {
		return nil, l.refuseTarget(ctx, a.planned.Skill, refuse(CodeNoRunner, a.planned.Script.Name, "there is nothing that could run the script", "set Options.Runner"))
	}
	if now := l.options.Runner.Sandbox(); !now.confines(a.planned.Sandbox) {
		return nil, l.refuseTarget(ctx, a.planned.Skill, refuse(lookleap.CodeNeedsConsent, a.planned.Script.Name, "the runner is another one than the user was shown, or confines less", "ask again"))
	}
	err = l.host.Commit(ctx, a.approval, func(ctx context.Context, _ []byte) error {
		result, err := l.options.Runner.Run(ctx, a.Command())
		if err != nil {
			return &lookleap.Error{Code: lookleap.CodeOf(err), Subject: a.planned.Script.Name, Message: "the script did not run", Err: err}
		}
		out = &Output{RunResult: *result, Skill: a.planned.Skill, Name: a.planned.Script.Name, Digest: a.planned.Script.Digest}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// approved notes which bytes of a script the user agreed to last.
func (l *Loader) approved(skill string, script plannedFile) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.scripts) >= maxConsents {
		l.scripts = make(map[Digest]Digest)
	}
	l.scripts[scriptKey(skill, script.Name)] = script.Digest
}

func scriptKey(skill, name string) Digest { return DigestOf([]byte(skill + "\n" + name)) }

func (l *Loader) changedScript(skill string, script plannedFile) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	before, ok := l.scripts[scriptKey(skill, script.Name)]
	return ok && before != script.Digest
}

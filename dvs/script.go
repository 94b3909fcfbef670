package dvs

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
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
}

type plannedFile struct {
	Name   string `json:"name"`
	Digest Digest `json:"digest"`
	content
}

// key is what an answer is bound to: skill, root, kind of action, the digests of
// all that runs, interpreter, arguments and environment (DVS-5.2-06 to DVS-5.2-09).
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
// only for identical bytes, arguments, interpreter, environment and root.
func (s *Loaded) Approve(ctx context.Context, in Invocation) (*ApprovedScript, error) {
	planned, err := s.plan(ctx, in)
	if err != nil {
		return nil, err
	}
	effect, err := (&plannedEffect{Type: effectScript, Script: planned}).encode()
	if err != nil {
		return nil, err
	}
	plan, err := lookleap.NewPlan(s.scriptRequest(planned, in.Uses), effect, s.loader.host.Time())
	if err != nil {
		return nil, err
	}
	approval, err := s.loader.approve(ctx, plan, planned.key())
	if err != nil {
		return nil, s.loader.refuseConsent(ctx, s.Verdict, err)
	}
	s.loader.approved(s.ID.String(), planned.Script)
	return &ApprovedScript{loader: s.loader, approval: approval, planned: planned}, nil
}

// plan reads everything that the script needs, without effect.
func (s *Loaded) plan(ctx context.Context, in Invocation) (*plannedScript, error) {
	p := &plannedScript{standing: s.standing(), Interpreter: slices.Clone(in.Interpreter), Args: slices.Clone(in.Args), Env: slices.Clone(in.Env)}
	if err := checkWords(slices.Concat(in.Interpreter, in.Args, in.Env)...); err != nil {
		return nil, s.loader.refuseTarget(ctx, in.Script, err)
	}
	script, err := s.bundledFile(ctx, in.Script)
	if err != nil {
		return nil, err
	}
	p.Script = script
	limits, total := s.loader.limits, len(script.Bytes)
	for _, ref := range in.Files {
		if len(p.Files) >= limits.Files {
			return nil, s.loader.refuseTarget(ctx, ref, refuse(lookleap.CodeLimit, ref, fmt.Sprintf("a script is given at most %d files", limits.Files), "give it fewer files"))
		}
		file, err := s.bundledFile(ctx, ref)
		if err != nil {
			return nil, err
		}
		if total += len(file.Bytes); total > limits.Total {
			return nil, s.loader.refuseTarget(ctx, ref, refuse(lookleap.CodeTooLarge, ref, fmt.Sprintf("the files of a script have more than %d octets", limits.Total), "give it smaller files"))
		}
		p.Files = append(p.Files, file)
	}
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

// bundledFile fetches a file of the skill's own directory.
func (s *Loaded) bundledFile(ctx context.Context, ref string) (plannedFile, error) {
	t, err := s.target(ctx, ref)
	if err != nil {
		return plannedFile{}, err
	}
	if t.Access != Bundled {
		return plannedFile{}, s.loader.refuseTarget(ctx, ref, refuse(lookleap.CodeScriptOutside, ref, "what a script runs or is given has to be in the skill's own directory", "bundle the file"))
	}
	r, err := s.loader.fetchResource(ctx, s.ID.String(), s.Root, s.directory(), s.terms(), t)
	if err != nil {
		return plannedFile{}, err
	}
	return plannedFile{Name: r.Name, Digest: r.Digest, content: newContent(r.data)}, nil
}

// previewLength is how many octets of a script a prompt shows.
const previewLength = 2000

func (s *Loaded) scriptRequest(p *plannedScript, uses []Use) lookleap.ConsentRequest {
	var sandbox Sandbox
	if s.loader.options.Runner != nil {
		sandbox = s.loader.options.Runner.Sandbox()
	}
	summary := fmt.Sprintf("run a script of the skill %s", plaintext.Quote(s.ID.String(), 400))
	if s.loader.changedScript(s.ID.String(), p.Script) {
		summary += fmt.Sprintf(" that is another one than you agreed to before (%s)", lookleap.CodeConsentStale)
	}
	req := s.request(lookleap.ConsentScript, summary)
	recipient := sandbox.Name
	if recipient == "" {
		recipient = "a runner without a name"
	}
	preview := p.Script.Bytes[:min(len(p.Script.Bytes), previewLength)]
	req.Items = append(req.Items, lookleap.ConsentItem{ID: "run", Recipient: recipient, Digest: p.Script.Digest.String(),
		Summary: fmt.Sprintf("run %s with interpreter %s, arguments %s, environment %s; %s; %s", plaintext.Quote(p.Script.Name, 200),
			words(p.Interpreter), words(p.Args), words(p.Env), sandbox.sentence(), usesSentence(uses)),
		Remote: []lookleap.RemoteText{{Source: s.ServingHost(), Label: "script, its beginning", Text: string(preview)}}})
	for i, f := range p.Files {
		req.Items = append(req.Items, lookleap.ConsentItem{ID: fmt.Sprintf("file-%d", i+1), Recipient: recipient, Digest: f.Digest.String(),
			Summary: "give it the file " + plaintext.Quote(f.Name, 200)})
	}
	return req
}

// words shows a list so that no part can pass for another, and nothing is cut.
func words(list []string) string {
	if len(list) == 0 {
		return "(none)"
	}
	var quoted []string
	for _, w := range list {
		quoted = append(quoted, plaintext.Quote(w, len(w)+1))
	}
	return strings.Join(quoted, " ")
}

func usesSentence(uses []Use) string {
	if len(uses) == 0 {
		return "what it accesses or changes: not declared"
	}
	var parts []string
	for _, u := range uses {
		parts = append(parts, plaintext.Quote(u.Mode, 20)+" "+plaintext.Quote(u.Name, len(u.Name)+1))
	}
	return "what it accesses or changes: " + strings.Join(parts, ", ")
}

// Command gives exactly what the user agreed to, for a host that runs it by
// other means than a [Runner].
func (a *ApprovedScript) Command() *Command {
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
	l := a.loader
	if err := l.checkStanding(ctx, a.planned.standing); err != nil {
		return nil, err
	}
	if l.options.Runner == nil {
		return nil, l.refuseTarget(ctx, a.planned.Skill, refuse(lookleap.CodeNoRunner, a.planned.Script.Name, "there is nothing that could run the script", "set Options.Runner"))
	}
	err = l.host.Commit(ctx, a.approval, func(ctx context.Context, _ []byte) error {
		result, err := l.options.Runner.Run(ctx, a.Command())
		if err != nil {
			return fmt.Errorf("dvs: running %q: %w", a.planned.Script.Name, err)
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
		l.scripts = make(map[string]Digest)
	}
	l.scripts[skill+"\n"+script.Name] = script.Digest
}

func (l *Loader) changedScript(skill string, script plannedFile) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	before, ok := l.scripts[skill+"\n"+script.Name]
	return ok && before != script.Digest
}

// ActionKind is a kind of action in a skill's text that the host performs
// itself.
type ActionKind string

// The kinds of action (section 5.2).
const (
	Shell   ActionKind = "shell"    // a command
	APICall ActionKind = "api-call" // a request to a service
	FileOp  ActionKind = "file"     // reading or changing files of the user's
)

var actionSentences = map[ActionKind]string{Shell: "run a command", APICall: "call a service", FileOp: "work on files"}

// Action is something that a skill's text tells the agent to do and that is
// more than reading: commands written inside Markdown count (section 5.2).
type Action struct {
	Kind    ActionKind
	Command string // the exact command, request or operation
	Uses    []Use
}

type plannedAction struct {
	standing
	Kind    ActionKind `json:"kind"`
	Command string     `json:"command"`
	Uses    []Use      `json:"uses,omitempty"`
}

// Confirm asks the user for an action that the host performs itself. No error
// means that it may be done, once and exactly so.
func (s *Loaded) Confirm(ctx context.Context, a Action) error {
	if err := s.use(); err != nil {
		return s.loader.refuseTarget(ctx, s.ID.String(), err)
	}
	sentence, ok := actionSentences[a.Kind]
	if !ok {
		return s.loader.refuseTarget(ctx, s.ID.String(), refuse(lookleap.CodeUsage, string(a.Kind), "there is no such kind of action",
			fmt.Sprintf("use one of %v", slices.Sorted(maps.Keys(actionSentences)))))
	}
	if err := checkWords(a.Command); err != nil {
		return s.loader.refuseTarget(ctx, s.ID.String(), err)
	}
	planned := &plannedAction{standing: s.standing(), Kind: a.Kind, Command: a.Command, Uses: slices.Clone(a.Uses)}
	effect, err := (&plannedEffect{Type: effectAction, Action: planned}).encode()
	if err != nil {
		return err
	}
	req := s.request(lookleap.ConsentScript, fmt.Sprintf("%s because the skill %s says so", sentence, plaintext.Quote(s.ID.String(), 400)))
	req.Items = []lookleap.ConsentItem{{ID: "act", Recipient: "this agent", Digest: lookleap.Digest([]byte(a.Command)),
		Summary: sentence + "; " + usesSentence(a.Uses),
		Remote:  []lookleap.RemoteText{{Source: s.ServingHost(), Label: string(a.Kind), Text: a.Command}}}}
	plan, err := lookleap.NewPlan(req, effect, s.loader.host.Time())
	if err != nil {
		return err
	}
	data, _ := json.Marshal(planned)
	approval, err := s.loader.approve(ctx, plan, strings.Join([]string{effectAction, planned.Skill, lookleap.Digest(data)}, "\n"))
	if err != nil {
		return s.loader.refuseConsent(ctx, s.Verdict, err)
	}
	return s.loader.host.Commit(ctx, approval, func(ctx context.Context, _ []byte) error { return s.loader.checkStanding(ctx, planned.standing) })
}

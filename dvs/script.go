package dvs

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/plugin"
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
	loadTerms
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

// key returns what the user's answer is bound to: everything that was shown (DVS-5.2-06 to
// DVS-5.2-09).
func (p *plannedScript) key() consentKey {
	data, _ := json.Marshal(p) // plain data, without the bytes themselves
	return consentKey{effectScript, p.Skill, lookleap.Digest(data)}
}

// ApprovedScript is a script that the user agreed to run once, with exactly these bytes.
type ApprovedScript struct {
	loader   *Loader
	approval *lookleap.Approval
	planned  *plannedScript
}

// Approve fetches a script and all files that it needs, and asks the user (sections 4.5.2 and
// 5.2). No option, key of the skill or registered root replaces that consent. An answer that the
// user gave for a period applies again only to identical bytes, arguments, interpreter,
// environment, uses, sandbox and root.
//
// A prompt has to show everything: a command line, environment or list of uses of more than 4 KiB
// is refused with [lookleap.CodeConsentTooLong]. File names that [NewVerifiedFS] refuses are
// refused too.
func (s *Loaded) Approve(ctx context.Context, in Invocation) (*ApprovedScript, error) {
	if err := s.ready(); err != nil {
		return nil, err
	}
	if err := s.loader.policies.scripts(s.ID.String()); err != nil {
		return nil, s.loader.refuseTarget(ctx, in.Script, err)
	}
	planned, err := s.plan(ctx, in)
	if err != nil {
		return nil, err
	}
	before, err := s.loader.previousScript(ctx, s.ID.String(), planned.Script)
	if err != nil {
		return nil, s.loader.refuseTrust(ctx, s.Verdict, err)
	}
	approval, err := s.agreeTo(ctx, s.scriptRequest(planned, before), &plannedEffect{Type: effectScript, Script: planned}, planned.key())
	if err != nil {
		return nil, err
	}
	s.loader.approved(ctx, s.ID.String(), planned.Script)
	return &ApprovedScript{loader: s.loader, approval: approval, planned: planned}, nil
}

// plan reads everything that the script needs, without effect. Every name is judged before anything
// is fetched, and each file is fetched once: what the user is shown is what runs.
func (s *Loaded) plan(ctx context.Context, in Invocation) (*plannedScript, error) {
	p := &plannedScript{loadTerms: s.loadTerms(), Interpreter: slices.Clone(in.Interpreter), Args: slices.Clone(in.Args),
		Env:  slices.Clone(in.Env),
		Uses: slices.Clone(in.Uses)}
	if s.loader.options.Runner != nil {
		p.Sandbox = s.loader.options.Runner.Sandbox()
	}
	limits, names := s.loader.limits, nameTable{}
	err := in.check()
	if len(in.Files) > limits.Files {
		err = refuse(lookleap.CodeLimit, in.Script, fmt.Sprintf("a script gets at most %d files", limits.Files), "use fewer files")
	}
	if err != nil {
		return nil, s.loader.refuseTarget(ctx, in.Script, err)
	}
	targets := make([]Target, 0, 1+len(in.Files))
	for _, ref := range append([]string{in.Script}, in.Files...) {
		t, err := s.bundledTarget(ctx, ref)
		if err != nil {
			return nil, err
		}
		if err := names.add(t.Name, false); err != nil {
			return nil, s.loader.refuseTarget(ctx, ref, err)
		}
		targets = append(targets, t)
	}
	files, total := make([]plannedFile, 0, len(targets)), 0
	for _, t := range targets {
		r, err := s.fetchBundled(ctx, t)
		if err == nil {
			err = s.loader.checkLocked(p.Skill, r.Name, r.Digest)
		}
		if err != nil {
			return nil, err
		}
		total += len(r.data)
		if total > limits.Total {
			return nil, s.loader.refuseTarget(ctx, t.URL, refuse(lookleap.CodeTooLarge, t.URL,
				fmt.Sprintf("the files of a script have more than %d bytes", limits.Total), "use smaller files"))
		}
		files = append(files, plannedFile{Name: r.Name, Digest: r.Digest, content: content{r.data, len(r.data)}})
	}
	p.Script, p.Files = files[0], files[1:]
	code := 0
	for _, f := range p.Files {
		if f.isCode() {
			code++
		}
	}
	if code > maxShownFiles {
		return nil, s.loader.refuseTarget(ctx, in.Script, refuse(lookleap.CodeConsentTooLong, in.Script,
			fmt.Sprintf("the script is given %d files with code, and a user is shown at most %d", code, maxShownFiles), "bundle fewer files"))
	}
	return p, nil
}

// What a prompt shows of a script at most.
const (
	maxShownWords = lookleap.MaxShownLines // words of a command, one a line, and the lines in them
	maxShownFiles = 32                     // files with code that it is given
)

// check refuses a command, an environment or uses that a prompt could not show whole and unchanged,
// or that systems interpret in different ways: the user would then agree to something else.
func (in *Invocation) check() error {
	words := slices.Concat(in.Interpreter, in.Args, in.Env)
	lines, shown := len(words), 0
	for _, w := range words {
		lines += strings.Count(w, "\n")
	}
	for _, u := range in.Uses {
		words = append(words, u.Name, u.Mode)
		shown += len(u.Name) + len(u.Mode) + len(", ")
		if u.Name == "" || u.Mode == "" {
			return refuse(lookleap.CodeUsage, "uses", "a use has no name or no mode", "name what is used, and how")
		}
	}
	switch {
	case lines > maxShownWords:
		return refuse(lookleap.CodeConsentTooLong, "command", fmt.Sprintf("the command has %d lines and arguments, and a user is shown at most %d",
			lines, maxShownWords), "pass the rest in a file")
	case shown > lookleap.MaxShown:
		return refuse(lookleap.CodeConsentTooLong, "uses", fmt.Sprintf("the uses have %d bytes, and a user is shown at most %d",
			shown, lookleap.MaxShown), "name directories in place of their files")
	}
	for _, w := range words {
		if !utf8.ValidString(w) || strings.Contains(w, "\x00") {
			return refuse(lookleap.CodeUsage, w, "a command line is UTF-8 without NUL", "pass other bytes in a file")
		}
	}
	seen := map[string]bool{}
	for _, e := range in.Env {
		name, _, ok := strings.Cut(e, "=")
		if !ok || name == "" || seen[name] {
			return refuse(lookleap.CodeUsage, e, "an environment is a list of NAME=value, with each name once", "write NAME=value")
		}
		seen[name] = true
	}
	return nil
}

func (s *Loaded) bundledTarget(ctx context.Context, ref string) (Target, error) {
	t, err := s.target(ctx, ref)
	if err == nil && t.Access != Bundled {
		err = s.loader.refuseTarget(ctx, ref, refuse(CodeScriptOutside, ref,
			"what a script runs or is given has to be in the skill's own directory", "bundle the file"))
	}
	return t, err
}

// resumeScript continues a suspended question about a script.
func (l *Loader) resumeScript(ctx context.Context, approval *lookleap.Approval, p *plannedScript) (*ApprovedScript, error) {
	if err := l.checkTerms(ctx, p.loadTerms); err != nil {
		return nil, err
	}
	if err := l.checkScript(p); err != nil {
		return nil, l.refuseTarget(ctx, p.Skill, err)
	}
	l.rememberUntil(p.key(), approval.Until())
	l.approved(ctx, p.Skill, p.Script)
	return &ApprovedScript{loader: l, approval: approval, planned: p}, nil
}

// Command returns what the user agreed to, for a host program that does not use a [Runner]. It
// does not check whether trust was withdrawn since the approval; Run does.
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

// Run runs the approved bytes once, through the [Runner] of the loader. A second call returns an
// error that is [lookleap.ErrAlreadyDone]. Nothing is fetched between consent and run. Run returns
// an error if the root was revoked in the meantime.
func (a *ApprovedScript) Run(ctx context.Context) (out *Output, err error) {
	if a == nil || a.planned == nil {
		return nil, usageError("no script was approved", "get it from Loaded.Approve")
	}
	l := a.loader
	if err := l.checkTerms(ctx, a.planned.loadTerms); err != nil {
		return nil, err
	}
	err = l.policies.scripts(a.planned.Skill)
	if err = cmp.Or(err, l.checkScript(a.planned)); err != nil {
		return nil, l.refuseTarget(ctx, a.planned.Skill, err)
	}
	if l.options.Runner == nil {
		return nil, l.refuseTarget(ctx, a.planned.Skill,
			refuse(CodeNoRunner, a.planned.Script.Name, "no runner is configured", "set Options.Runner"))
	}
	if now := l.options.Runner.Sandbox(); !now.confines(a.planned.Sandbox) {
		return nil, l.refuseTarget(ctx, a.planned.Skill, refuse(lookleap.CodeNeedsConsent, a.planned.Script.Name,
			"the runner is not the one that the user was shown, or it confines less", "ask again"))
	}
	_, err = l.host.Commit(ctx, a.approval, func(ctx context.Context, _ []byte) ([]byte, error) {
		result, err := plugin.Await(ctx, l.runs, func(ctx context.Context) (*RunResult, error) { return l.options.Runner.Run(ctx, a.Command()) })
		if err == nil && result == nil {
			err = l.runs.Fail("it returned no result")
		}
		if err != nil {
			message := "the script did not run"
			if ctx.Err() != nil {
				message = "the caller stopped waiting, so it is not known whether the script ran"
			}
			return nil, &lookleap.Error{Code: lookleap.CodeOf(err), Subject: a.planned.Script.Name, Message: message, Err: err}
		}
		out = &Output{RunResult: *result, Skill: a.planned.Skill, Name: a.planned.Script.Name, Digest: a.planned.Script.Digest}
		return fmt.Appendf(nil, `{"exitCode":%d,"output":%q}`, result.ExitCode, lookleap.Digest(result.Output)), nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// checkScript refuses a script with a file that a feed withdrew, or that the lockfile of the loader
// does not have.
func (l *Loader) checkScript(p *plannedScript) error {
	for _, f := range append([]plannedFile{p.Script}, p.Files...) {
		if err := l.checkLocked(p.Skill, f.Name, f.Digest); err != nil {
			return err
		}
	}
	return nil
}

// approved notes which bytes of a script the user agreed to last.
func (l *Loader) approved(ctx context.Context, skill string, script plannedFile) {
	l.keepScript(ctx, skill, script)
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

// scriptRequest asks for a script. All that decides what runs is shown whole; of a long script both
// ends are shown, with its size and digest.
func (s *Loaded) scriptRequest(p *plannedScript, before *TrustedScript) lookleap.ConsentRequest {
	summary := fmt.Sprintf("run a script of the skill %s", quoteName(s.ID.String()))
	if before != nil || s.loader.changedScript(s.ID.String(), p.Script) {
		summary += fmt.Sprintf(" that is another one than you agreed to before (%s)", CodeConsentStale)
	}
	req := s.request(lookleap.ConsentScript, summary)
	recipient := p.Sandbox.Name
	if recipient == "" {
		recipient = "a runner without a name"
	}
	run := lookleap.ConsentItem{ID: "run", Class: lookleap.ItemCode, Recipient: recipient, Digest: p.Script.Digest.String(),
		Summary: fmt.Sprintf("run %s; %s; %s", quoteName(p.Script.Name), p.Sandbox.sentence(), usesSentence(p.Uses))}
	command := func(label, text, source string) {
		run.Values = append(run.Values, lookleap.ConsentValue{Label: label, Text: text, Source: source, Command: true})
	}
	line, named := shebang(p.Script.Bytes)
	switch {
	case len(p.Interpreter) > 0:
		for _, word := range p.Interpreter {
			command("interpreter", word, "")
		}
		if named {
			run.Remote = append(run.Remote, lookleap.RemoteText{Source: s.ServingHost(),
				Label: "the script's first line, which is not used", Text: line})
		}
	case named:
		command("interpreter, from the script's first line", line, s.ServingHost())
	default:
		run.Summary += "; no interpreter is named, so the runner or the system chooses one"
	}
	for i := 0; i < len(p.Args); {
		same := 1
		for i+same < len(p.Args) && p.Args[i+same] == p.Args[i] {
			same++
		}
		label := fmt.Sprintf("argument %d", i+1)
		if same > 1 {
			label = fmt.Sprintf("each of the arguments %d to %d", i+1, i+same)
		}
		command(label, p.Args[i], "")
		i += same
	}
	for _, variable := range p.Env {
		label := "environment"
		if isUnusualEnv(variable) {
			label = "unusual environment, which can change what other programs do"
		}
		command(label, variable, "")
	}
	if before != nil && before.Text != nil {
		change := scriptChange(before, p.Script)
		run.Values = append(run.Values, change.values("changed lines of the script", s.ServingHost())...)
	}
	run.Values = append(run.Values, lookleap.ConsentValue{Label: describeFile("script", p.Script),
		Text: string(p.Script.Bytes), Source: s.ServingHost()})
	req.Items = append(req.Items, run)
	for i, f := range p.Files {
		item := lookleap.ConsentItem{ID: fmt.Sprintf("file-%d", i+1), Recipient: recipient, Digest: f.Digest.String(),
			Summary: describeFile("give it the file "+quoteName(f.Name), f)}
		if f.isCode() {
			item.Class = lookleap.ItemCode
			item.Summary += ", which it can run"
			item.Values = []lookleap.ConsentValue{{Label: describeFile("file", f), Text: string(f.Bytes), Source: s.ServingHost()}}
		}
		req.Items = append(req.Items, item)
	}
	return req
}

// isCode reports whether a file can run, as the script that it is given to can.
func (f *plannedFile) isCode() bool { return KindOf(f.Name, f.Bytes) == Script }

// quoteName quotes the path of a file or the identity of a skill, of which nothing is cut.
func quoteName(name string) string { return plaintext.Quote(name, len(name)+1) }

func describeFile(what string, f plannedFile) string {
	return fmt.Sprintf("%s (%d bytes, %.19s…)", what, len(f.Bytes), f.Digest.String())
}

// shebang returns the first line of a script, if it names an interpreter.
func shebang(script []byte) (line string, ok bool) {
	script = bytes.TrimPrefix(script, []byte(byteOrderMark))
	if !isShebang(script) {
		return "", false
	}
	first, _ := lineAt(script, 0)
	return string(first.of(script)), true
}

func usesSentence(uses []Use) string {
	if len(uses) == 0 {
		return "what it accesses or changes: not declared"
	}
	var parts []string
	for _, u := range uses {
		parts = append(parts, quoteName(u.Mode)+" "+quoteName(u.Name))
	}
	return "what it accesses or changes: " + strings.Join(parts, ", ")
}

// unusualEnv lists the variables that make programs load or run something else, or send data
// elsewhere. A trailing asterisk matches the rest of a name.
const unusualEnv = `LD_* DYLD_* _RLD* LIBPATH SHLIB_PATH GCONV_PATH GLIBC_TUNABLES MALLOC_* LOCPATH NLSPATH HOSTALIASES RES_OPTIONS LOCALDOMAIN TERMINFO* TERMCAP
	PATH PATHEXT COMSPEC HOME USERPROFILE APPDATA TMPDIR TEMP TMP SHELL ENV BASH_* BASHOPTS SHELLOPTS ZDOTDIR IFS CDPATH PS1 PS4 PROMPT_COMMAND FPATH INPUTRC
	PYTHON* PIP_* UV_* VIRTUAL_ENV CONDA_* PERL* RUBY* GEM_* BUNDLE_* NODE_* NPM_* YARN_* DENO_* BUN_* JAVA_* _JAVA_* JDK_* CLASSPATH MAVEN_* GRADLE_* LUA_* PHP* R_* RPROFILE* JULIA_*
	DOTNET_* CORECLR_* COR_* COMPLUS_* PSMODULEPATH GO* CGO_* CC CXX CPP LD AR AS CFLAGS CXXFLAGS CPPFLAGS LDFLAGS RUSTC* RUSTFLAGS CARGO_* MAKEFLAGS MAKEFILES CMAKE_* PKG_CONFIG*
	GIT_* SSH_* GPG_* GNUPGHOME EDITOR VISUAL PAGER MANPAGER BROWSER LESS* DOCKER_* KUBECONFIG AWS_* AZURE_* GOOGLE_*
	HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY FTP_PROXY SSL_* OPENSSL_* REQUESTS_CA_BUNDLE CURL_* WGETRC`

// isUnusualEnv reports whether a variable is in unusualEnv, in any letter case.
func isUnusualEnv(variable string) bool {
	name, _, _ := strings.Cut(strings.ToUpper(variable), "=")
	for unusual := range strings.FieldsSeq(unusualEnv) {
		prefix, open := strings.CutSuffix(unusual, "*")
		if name == unusual || open && strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

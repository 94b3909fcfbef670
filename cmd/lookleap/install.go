package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/contrib/hostflags"
	"github.com/lookleap/lookleap/contrib/policy"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/dvs/install"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/textdiff"
)

// installArgs are the commands below lookleap skill that change folders, and their arguments.
const installArgs = `FILE|DIR|URL|-… [--root ROOT]… [--policy FILE]… [--profile P] [--sarif FILE] [--summary FILE] [--github]
lookleap skill add SOURCE… [--skill NAME…|--all] [--agent NAME…|--dir DIR] [--user] [--copy] [--yes] [--force]
lookleap skill list|verify|why|update|sync [NAME…] [--user]
lookleap skill remove NAME… [--agent NAME…] [--user] [--force]
lookleap skill hook [--user]`

const installAbout = `

add installs skills into the folders where agents look for them. A SOURCE is
owner/repo of GitHub, with a path and @revision; the page of a repository, directory
or SKILL.md on a code host; a site that lists its skills; an index.json; an archive;
a local directory such as ./skills; or the skills-lock.json of the npm package skills,
whose skills are added. A repository is read as the archive of one
commit. You are asked who is trusted, and what the skill may do. One copy is written
to .agents/skills, and links to it into the folders of the agents; the lockfile
skills.lock has all digests. A private repository takes GH_TOKEN and the like, gh, or
git credential.

list shows what is installed. verify compares each file with the lockfile. sync
restores what the lockfile says, from the user's cache or else from the locked commit,
and asks nothing. update asks for newer versions and shows how they differ. remove
removes. why says who vouches for a skill, and what you agreed to. hook is for the
hooks of agents (SessionStart and PreToolUse of Claude Code and Codex, sessionStart and
preToolUse of Copilot): it reads their JSON, says in one line which skills are not as
they were installed, and denies the use of these.

Without --agent the agents of this project, or of this user, are taken. What you changed
yourself is never replaced without --force. --yes answers only for trust roots that you
(--root) or a policy registered. Decisions are kept below the user's configuration
directory, in lookleap/trust.

value of these: {
  "name", "directory":   of the skill
  "id", "root":          its URL and trust root; not of a local one
  "source", "ref", "commit", "agents", "signer":  as the lockfile has them
  "paths":               where it is
  "change":              since the version before; of add and update
  "capabilities":        what it may do, as far as its text says
  "approved":            when, under which root; of why
}`

// installWords are the first words that name them.
var installWords = []string{"add", "list", "update", "sync", "verify", "remove", "why", "hook"}

// installer has the flags of these commands.
type installer struct {
	skills, agents  repeated
	all             bool
	dir             string
	user, project   bool
	copied, linked  bool
	yes, force      bool
	roots, policies *repeated
	report          *report

	s     *session
	place *install.Place
	trust *lookleap.FileStore
}

func (in *installer) declare(flags *flag.FlagSet) {
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

// run runs one of the commands.
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
	defer in.close()
	switch word {
	case "add":
		return in.add(ctx, args)
	case "list":
		return in.list(ctx, args)
	case "verify":
		return in.verify(ctx, args)
	case "update":
		return in.update(ctx, args)
	case "sync":
		return in.sync(ctx, args)
	case "remove":
		return in.remove(ctx, args)
	case "why":
		return in.why(ctx, args)
	}
	return in.hook(args)
}

func (in *installer) close() {
	if in.trust != nil {
		_ = in.trust.Close() // each record was written as a whole
	}
}

// options of a loader, with the user's store of decisions.
func (in *installer) options() (dvs.Options, error) {
	o := dvs.Options{Credentials: install.Credentials}
	config, err := os.UserConfigDir()
	if err != nil {
		return o, usagef("the user has no configuration directory, in which decisions are kept: %v", err)
	}
	if in.trust == nil {
		if in.trust, err = hostflags.OpenStore(filepath.Join(config, "lookleap", "trust")); err != nil {
			return o, usagef("%v", err)
		}
	}
	o.Trust = in.trust
	if len(*in.policies) > 0 {
		rules, err := policy.Load(*in.policies...)
		if err != nil {
			return o, usagef("--policy: %v", err)
		}
		o = rules.Skills(o)
	}
	return o, nil
}

// loader returns a loader that asks the user on the terminal.
func (in *installer) loader(lock *dvs.Lockfile) (*dvs.Loader, error) {
	host, err := in.s.Host()
	if err != nil {
		return nil, err
	}
	o, err := in.options()
	if err != nil {
		return nil, err
	}
	if o.Lock = lock; lock != nil {
		o.Trust = nil
	}
	loader := dvs.NewLoader(host, o)
	for _, raw := range *in.roots {
		if _, err := loader.Roots().Register(raw, dvs.ByUser); err != nil {
			return nil, usagef("--root: %v", err)
		}
	}
	host.Prompter = &asker{s: in.s, yes: in.yes, roots: loader.Roots()}
	return loader, nil
}

// installedValue is the value of a result about an installed skill.
type installedValue struct {
	Name         string           `json:"name"`
	Directory    string           `json:"directory"`
	ID           string           `json:"id,omitempty"`
	Root         string           `json:"root,omitempty"`
	Source       string           `json:"source"`
	Ref          string           `json:"ref,omitempty"`
	Commit       string           `json:"commit,omitempty"`
	Agents       []string         `json:"agents"`
	Signer       string           `json:"signer,omitempty"`
	Paths        []string         `json:"paths,omitempty"`
	Change       *dvs.Change      `json:"change,omitempty"`
	Capabilities dvs.Capabilities `json:"capabilities"`
	Approved     []approval       `json:"approved,omitempty"`
}

// approval is one version that the user agreed to.
type approval struct {
	At        time.Time  `json:"at"`
	Root      string     `json:"root"`
	Digest    dvs.Digest `json:"digest"`
	SkillOnly bool       `json:"skillOnly,omitempty"`
}

func valueOf(e *dvs.LockedSkill, paths []string) installedValue {
	v := installedValue{Name: cmp.Or(e.Installed.Name, e.Directory), Directory: e.Directory, ID: e.URL, Root: e.Root, Source: e.Installed.Source,
		Ref: e.Installed.Ref, Commit: e.Installed.Commit, Agents: e.Installed.Agents, Signer: e.Installed.Signer, Paths: paths,
		Capabilities: e.Capabilities}
	if v.Agents == nil {
		v.Agents = []string{}
	}
	if v.Capabilities == nil {
		v.Capabilities = dvs.Capabilities{}
	}
	return v
}

// rows show where a skill is from, and where it is.
func (v *installedValue) rows(in *installer) []row {
	from := plaintext.Line(v.Source)
	if v.Commit != "" {
		from += fmt.Sprintf(" at %s (%s)", v.Commit[:12], plaintext.Quote(strings.TrimPrefix(strings.TrimPrefix(v.Ref, "refs/heads/"), "refs/tags/"), 60))
	}
	rows := []row{{"from", from}}
	if v.Root != "" {
		rows = append(rows, row{"publisher", plaintext.Line(v.Root)})
	}
	if v.Signer != "" {
		rows = append(rows, row{"signed by", plaintext.Line(v.Signer)})
	}
	for _, path := range v.Paths {
		if rel, err := filepath.Rel(in.place.Dir, path); err == nil && filepath.IsLocal(rel) {
			path = rel
		}
		rows = append(rows, row{"in", plaintext.Line(path)})
	}
	return rows
}

func (in *installer) add(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return usagef("name a source, such as owner/repo")
	}
	if in.all && len(in.skills) > 0 {
		return usagef("write --all or --skill")
	}
	agents, err := in.chosenAgents()
	if err != nil {
		return err
	}
	loader, err := in.loader(nil)
	if err != nil {
		return err
	}
	for _, arg := range args {
		err := error(nil)
		if filepath.Base(arg) == install.MigrationFile {
			err = in.migrate(ctx, loader, arg, agents)
		} else {
			err = in.addSource(ctx, loader, arg, in.skills, agents)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// migrate installs the skills that a lockfile of the npm package skills names.
func (in *installer) migrate(ctx context.Context, loader *dvs.Loader, file string, agents []string) error {
	content, err := readFile(file)
	var all []install.Wanted
	if err == nil {
		all, err = install.ParseMigration(content)
	}
	if err != nil {
		return in.s.show(file, refuseSkill(err))
	}
	for _, w := range all {
		if w.Source == "" {
			err = in.s.show(w.Name, refuse(coded{lookleap.CodeUsage, errors.New("the lockfile does not say from where it is")}))
		} else {
			err = in.addSource(ctx, loader, w.Source, []string{w.Name}, agents)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addSource installs skills of one source.
func (in *installer) addSource(ctx context.Context, loader *dvs.Loader, arg string, names, agents []string) error {
	source, err := install.ParseSource(siteSource(arg))
	if err != nil {
		return in.s.show(arg, refuseSkill(err))
	}
	done := in.s.progress.working(arg, patience)
	found, err := source.Find(ctx, loader)
	done()
	if err != nil {
		return in.s.show(arg, refuseSkill(err))
	}
	defer found.Close()
	chosen, err := in.choose(arg, names, found)
	if err != nil {
		return in.s.show(arg, refuseSkill(err).with(found.Findings...))
	}
	for _, c := range chosen {
		err := in.s.show(cmp.Or(c.Name, arg), in.install(ctx, c, install.Options{Agents: agents, Folder: in.dir, Copy: in.copied, Force: in.force}))
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
	}
	return nil
}

// install loads and installs one skill.
func (in *installer) install(ctx context.Context, c install.Candidate, o install.Options) result {
	skill, err := c.Load(ctx)
	if err != nil {
		return refuseInstall(err)
	}
	return in.put(ctx, skill, o)
}

// refuseInstall is refuseSkill without the checks of a skill that the user was not asked about, or refused.
func refuseInstall(err error) result {
	var e *unanswered
	if errors.As(err, &e) {
		return refuseAt(lookleap.Finding{Severity: lookleap.SeverityError, Code: lookleap.CodeNeedsConsent, Message: e.message, Fix: e.fix})
	}
	r := refuseSkill(err)
	if r.Code == lookleap.CodeConsentRefused {
		r.Verdict = nil
	}
	return r
}

// put installs a skill that was loaded.
func (in *installer) put(ctx context.Context, skill *install.Skill, o install.Options) result {
	done, err := in.place.Install(ctx, skill, o)
	if err != nil {
		return refuseSkill(err)
	}
	v := valueOf(&done.Entry, done.Paths)
	v.Change = done.Change
	r := accept(v, v.rows(in)...)
	r.Message, r.Verdict = "installed", skill.Verdict
	if s := skill.Signature; s != nil && s.Subject != "" {
		r.rows = append(r.rows, row{"", "the certificate of the signer says " + s.Subject})
	}
	switch {
	case done.Change == nil:
		for _, sentence := range v.Capabilities.Sentences() {
			r.rows = append(r.rows, row{"may", sentence})
		}
	case done.Change.IsZero():
		r.Message = "already installed"
	default:
		r.Message, r.change = "updated", done.Change
		for line := range strings.Lines(done.Change.String()) {
			r.rows = append(r.rows, row{"changed", strings.TrimRight(line, "\n")})
		}
	}
	for _, path := range done.Replaced {
		r = r.with(lookleap.Finding{Severity: lookleap.SeverityWarning, Code: dvs.CodeDigestMismatch, Message: "what was there is replaced",
			Position: lookleap.Position{Path: path}})
	}
	return r.with(skill.Findings...)
}

// siteSource is the source for example.com: the site of that name.
func siteSource(arg string) string {
	if !strings.Contains(arg, "/") && strings.Contains(arg, ".") && !strings.HasPrefix(arg, ".") {
		return siteURL(arg)
	}
	return arg
}

// errNothingChosen is for a source with several skills, of which none was chosen.
func nothingChosen(found *install.Found) error {
	var names []string
	for _, c := range found.Skills {
		names = append(names, c.Name)
	}
	shown := plaintext.Quote(strings.Join(names, ", "), 600)
	return &lookleap.Error{Code: lookleap.CodeUsage, Message: "the source has several skills: " + shown, Fix: "choose with --skill NAME or --all"}
}

// choose returns the skills that the flags or the user at the terminal name.
func (in *installer) choose(arg string, names []string, found *install.Found) (chosen []install.Candidate, err error) {
	switch {
	case len(found.Skills) == 0:
		return nil, &lookleap.Error{Code: dvs.CodeSkillNotFound, Subject: arg, Message: "the source has no skills", Fix: "name a directory in it that has some"}
	case in.all:
		return found.Skills, nil
	case len(names) > 0:
		for _, name := range names {
			all := found.Named(name)
			if len(all) != 1 {
				return nil, &lookleap.Error{Code: dvs.CodeSkillNotFound, Subject: arg, Message: fmt.Sprintf("the source has %s named %s",
					plaintext.Plural(len(all), "skill", "skills"), plaintext.Quote(name, 100)), Fix: "leave --skill out to see all, or name the directory of the skill"}
			}
			chosen = append(chosen, all[0])
		}
		return chosen, nil
	case len(found.Skills) == 1:
		return found.Skills, nil
	}
	return in.s.chooseSkills(found)
}

// chosenAgents returns the agents that get the skills: those of --agent, or those that are found.
func (in *installer) chosenAgents() ([]string, error) {
	var names []string
	for _, name := range in.agents {
		if _, ok := install.FindAgent(name); !ok {
			return nil, unknownAgent(name)
		}
		names = append(names, name)
	}
	if len(names) > 0 || in.dir != "" {
		return names, nil
	}
	return in.place.Detect(), nil
}

func (in *installer) list(ctx context.Context, args []string) error {
	if len(args) > 0 {
		return usagef("list takes no names")
	}
	checks, err := in.place.Verify()
	if err != nil {
		return in.s.show(in.place.LockPath(), refuseSkill(err))
	}
	for _, c := range checks {
		v := valueOf(&c.Entry, c.Paths)
		r := accept(v, v.rows(in)...)
		if r.Message = "as installed"; !c.OK() {
			r.Message = "changed since it was installed: see lookleap skill verify"
		}
		if err := in.s.show(c.Entry.Directory, r); err != nil {
			return err
		}
	}
	return in.nothing(len(checks), "no skill is installed here")
}

// nothing says so if there was nothing to show.
func (in *installer) nothing(n int, message string) error {
	if n > 0 {
		return nil
	}
	r := accept([]installedValue{})
	r.Message = message
	return in.s.show(in.place.Dir, r)
}

func (in *installer) verify(ctx context.Context, args []string) error {
	in.report.against = in.place.LockPath()
	if content, err := os.ReadFile(in.place.LockPath()); err == nil {
		in.report.entries = content
	}
	in.s.report = in.report
	err := in.verifyAll(args)
	return errors.Join(err, in.report.write(in.s.stdout))
}

func (in *installer) verifyAll(args []string) error {
	checks, err := in.place.Verify(args...)
	if err != nil {
		return in.s.show(in.place.LockPath(), refuseSkill(err))
	}
	for _, c := range checks {
		v := valueOf(&c.Entry, c.Paths)
		r := accept(v, v.rows(in)...)
		r.Message = plaintext.Plural(len(c.Entry.Files), "file is", "files are") + " as installed"
		if !c.OK() {
			r.OK, r.changed, r.Code = false, true, c.Findings[0].Code
			r.Message = plaintext.Plural(len(c.Findings), "thing is", "things are") + " not as installed"
			r.Findings, r.base = c.Findings, in.place.Dir
		}
		if err := in.s.show(c.Entry.Directory, r); err != nil {
			return err
		}
	}
	return in.nothing(len(checks), "no skill is installed here")
}

func (in *installer) update(ctx context.Context, args []string) error {
	lock, err := in.place.Lock()
	if err != nil {
		return in.s.show(in.place.LockPath(), refuseSkill(err))
	}
	loader, err := in.loader(nil)
	if err != nil {
		return err
	}
	newer := install.NewUpdater(loader)
	defer newer.Close()
	shown := 0
	for i := range lock.Skills {
		e := &lock.Skills[i]
		if e.Installed == nil || len(args) > 0 && !slices.Contains(args, e.Directory) && !slices.Contains(args, e.Installed.Name) {
			continue
		}
		shown++
		if err := in.s.show(e.Directory, in.updateOne(ctx, newer, e)); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	if shown == 0 && len(args) > 0 {
		return usagef("no skill of this name is installed here")
	}
	return in.nothing(shown, "no skill is installed here")
}

func (in *installer) updateOne(ctx context.Context, newer *install.Updater, e *dvs.LockedSkill) result {
	done := in.s.progress.working(e.Directory, patience)
	skill, err := newer.Newest(ctx, e)
	done()
	if err != nil {
		return refuseInstall(err)
	}
	if skill == nil {
		v := valueOf(e, nil)
		r := accept(v, v.rows(in)...)
		r.Message = "there is nothing newer"
		return r
	}
	r := in.put(ctx, skill, install.Options{Folder: e.Installed.Folder, Copy: e.Installed.Copied, Force: in.force})
	if r.Message == "already installed" {
		r.Message = "the same files, at a newer commit"
	}
	return r
}

func (in *installer) sync(ctx context.Context, args []string) error {
	all, err := in.place.Sync(ctx, in.loader, in.force, args...)
	if err != nil {
		return in.s.show(in.place.LockPath(), refuseSkill(err))
	}
	for _, one := range all {
		v := valueOf(&one.Entry, one.Restored)
		r := accept(v, v.rows(in)...)
		r.Message = "as the lockfile says"
		switch {
		case one.Err != nil:
			r = refuseSkill(one.Err)
		case len(one.Restored) > 0:
			r.Message = "restored"
		}
		if err := in.s.show(one.Entry.Directory, r); err != nil {
			return err
		}
	}
	return in.nothing(len(all), "no skill is installed here")
}

func (in *installer) remove(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return usagef("name the skills to remove")
	}
	for _, name := range args {
		removed, err := in.place.Remove(ctx, name, in.agents, in.force)
		r := accept(map[string]any{"directory": name, "paths": removed})
		r.Message = "removed"
		if err != nil {
			r = refuseSkill(err)
		}
		if err := in.s.show(name, r); err != nil {
			return err
		}
	}
	return nil
}

func (in *installer) why(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return usagef("name an installed skill")
	}
	lock, err := in.place.Lock()
	if err != nil {
		return in.s.show(in.place.LockPath(), refuseSkill(err))
	}
	loader, err := in.loader(nil)
	if err != nil {
		return err
	}
	for _, name := range args {
		e, err := install.Find(lock, name)
		r := result{}
		if err != nil {
			r = refuseSkill(err)
		} else {
			r = in.explain(ctx, loader, e)
		}
		if err := in.s.show(name, r); err != nil {
			return err
		}
	}
	return nil
}

// explain says who vouches for a skill, and what the user agreed to.
func (in *installer) explain(ctx context.Context, loader *dvs.Loader, e *dvs.LockedSkill) result {
	v := valueOf(e, nil)
	r := accept(nil, v.rows(in)...)
	if e.URL == "" {
		r.Value, r.Message = v, "it came from a local directory: only you answer for it"
		return r
	}
	r.Message = "published by those who control " + plaintext.Line(e.Root)
	r.rows = append(r.rows, row{"skill", plaintext.Line(e.URL)})
	if u, err := dvs.ParseArtifactURL(e.URL, e.Artifact, dvs.Rules{}); err == nil {
		r.rows = append(r.rows, row{"root", loader.Roots().Find(u).Source.String()})
	}
	record, err := loader.Trusted(ctx, e.URL)
	if err != nil {
		return refuseSkill(err)
	}
	if record != nil {
		for _, a := range record.Versions {
			v.Approved = append(v.Approved, approval{a.Approved, a.Root, a.File, a.SkillOnly})
			what := "agreed to the version with the digest " + a.File.String()[:19] + "…"
			if a.SkillOnly {
				what += ", to this skill only"
			}
			r.rows = append(r.rows, row{a.Approved.Local().Format("2006-01-02 15:04"), what})
		}
	}
	for _, sentence := range v.Capabilities.Sentences() {
		r.rows = append(r.rows, row{"may", sentence})
	}
	r.Value = v
	return r
}

// writeJSON writes a value as one line.
func writeJSON(s *session, v any) error {
	line, err := json.Marshal(v)
	if err == nil {
		_, err = s.stdout.Write(append(line, '\n'))
	}
	return err
}

// unknownAgent is the error for a name that is not in the table.
func unknownAgent(name string) error {
	var names []string
	for _, a := range install.Agents() {
		names = append(names, a.Name)
	}
	if near := textdiff.Nearest(name, names); near != "" {
		return usagef("there is no agent %s in the table; did you mean %s?", plaintext.Quote(name, 60), near)
	}
	return usagef("there is no agent %s in the table of %d; --dir installs into any directory", plaintext.Quote(name, 60), len(names))
}

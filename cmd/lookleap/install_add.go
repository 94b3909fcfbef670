package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/dvs/install"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/textdiff"
)

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
		return in.s.show(file, refuse(err))
	}
	for _, w := range all {
		if w.Source == "" {
			err = in.s.show(w.Name, refuse(fault(lookleap.CodeUsage, "the lockfile does not say from where it is", "")))
		} else {
			err = in.addSource(ctx, loader, w.Source, []string{w.Name}, agents)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (in *installer) addSource(ctx context.Context, loader *dvs.Loader, arg string, names, agents []string) error {
	from := arg
	if !strings.Contains(arg, "/") && strings.Contains(arg, ".") && !strings.HasPrefix(arg, ".") { // example.com
		from = siteURL(arg)
	}
	source, err := install.ParseSource(from)
	if err == nil && in.user && source.Local() { // the next update may be in another directory
		if arg, err = filepath.Abs(arg); err == nil {
			source, err = install.ParseSource(arg)
		}
	}
	if err != nil {
		return in.s.show(arg, refuse(err))
	}
	done := in.s.progress.working(arg)
	found, err := source.Find(ctx, loader)
	done()
	if err != nil {
		return in.s.show(arg, refuse(err))
	}
	defer found.Close()
	chosen, err := in.choose(names, found)
	if err != nil {
		return in.s.show(arg, refuse(err).with(found.Findings...))
	}
	for _, c := range chosen {
		var r result
		if skill, err := c.Load(ctx); err != nil {
			r = refuseInstall(err)
		} else {
			r = in.put(ctx, skill, install.Options{Agents: agents, Folder: in.dir, Copy: in.copied, Force: in.force})
		}
		if err := errors.Join(in.s.show(cmp.Or(c.Name, arg), r), ctx.Err()); err != nil {
			return err
		}
	}
	return nil
}

// refuseInstall is [refuse] without the checks of a skill that the user was not asked about, or refused.
func refuseInstall(err error) result {
	var e *unanswered
	if errors.As(err, &e) {
		return refuse(fault(lookleap.CodeNeedsConsent, e.message, e.fix))
	}
	r := refuse(err)
	if r.Code == lookleap.CodeConsentRefused {
		r.Verdict = nil
	}
	return r
}

func (in *installer) put(ctx context.Context, skill *install.Skill, o install.Options) result {
	done, err := in.place.Install(ctx, skill, o)
	if err != nil {
		return refuse(err)
	}
	v, r := in.entry(&done.Entry, done.Paths)
	v.Change = done.Change
	r.Message, r.Verdict = "installed", skill.Verdict
	if s := skill.Signature; s != nil && s.Subject != "" {
		r.row("", "the certificate of the signer says "+s.Subject)
	}
	switch {
	case done.Change == nil:
		r.rows = append(r.rows, mayRows(v.Capabilities)...)
	case done.Change.IsZero():
		r.Message = "already installed"
	default:
		r.Message, r.change = "updated", done.Change
		for line := range strings.Lines(done.Change.String()) {
			r.row("changed", strings.TrimRight(line, "\n"))
		}
	}
	return r.with(replaced(done.Replaced)...).with(skill.Findings...)
}

// replaced reports the paths that --force replaced.
func replaced(paths []string) (all []lookleap.Finding) {
	for _, path := range paths {
		all = append(all, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: dvs.CodeDigestMismatch,
			Message:  "what was there is replaced",
			Position: lookleap.Position{Path: path}})
	}
	return all
}

func nothingChosen(found *install.Found) error {
	var names []string
	for _, c := range found.Skills {
		names = append(names, c.Name)
	}
	shown := plaintext.Quote(strings.Join(names, ", "), 600)
	return fault(lookleap.CodeUsage, "the source has several skills: "+shown, "choose with --skill NAME or --all")
}

func (in *installer) choose(names []string, found *install.Found) (chosen []install.Candidate, err error) {
	switch {
	case len(found.Skills) == 0:
		return nil, fault(dvs.CodeSkillNotFound, "the source has no skills", "name a directory in it that has some")
	case in.all:
		return found.Skills, nil
	case len(names) > 0:
		for _, name := range names {
			all := found.Named(name)
			if len(all) != 1 {
				return nil, fault(dvs.CodeSkillNotFound, fmt.Sprintf("the source has %s named %s",
					plaintext.Plural(len(all), "skill", "skills"), plaintext.Quote(name, 100)),
					"leave --skill out to see all, or name the directory of the skill")
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
	var known []string
	for _, a := range install.Agents() {
		known = append(known, a.Name)
	}
	for _, name := range in.agents {
		if _, ok := install.FindAgent(name); ok {
			continue
		}
		if near := textdiff.Nearest(name, known); near != "" {
			return nil, usagef("there is no agent %s in the table; did you mean %s?", plaintext.Quote(name, 60), near)
		}
		return nil, usagef("there is no agent %s in the table of %d; --dir installs into any directory",
			plaintext.Quote(name, 60), len(known))
	}
	if len(in.agents) > 0 || in.dir != "" {
		return in.agents, nil
	}
	return in.place.Detect(), nil
}

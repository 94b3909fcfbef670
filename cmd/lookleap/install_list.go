package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/dvs/install"
	"github.com/lookleap/lookleap/internal/plaintext"
)

func (in *installer) update(ctx context.Context, _ *session, args []string) error {
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

func (in *installer) sync(ctx context.Context, _ *session, args []string) error {
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

func (in *installer) remove(ctx context.Context, _ *session, args []string) error {
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

func (in *installer) list(ctx context.Context, _ *session, args []string) error {
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

func (in *installer) verify(ctx context.Context, _ *session, args []string) error {
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

func (in *installer) why(ctx context.Context, _ *session, args []string) error {
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

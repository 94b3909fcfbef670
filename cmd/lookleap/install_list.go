package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/dvs/install"
	"github.com/lookleap/lookleap/dvs/modelsig"
	"github.com/lookleap/lookleap/internal/filestore"
	"github.com/lookleap/lookleap/internal/plaintext"
)

type installedValue struct {
	dvs.Installation
	Name         string           `json:"name"`
	Directory    string           `json:"directory"`
	ID           string           `json:"id,omitempty"`
	Root         string           `json:"root,omitempty"`
	Agents       []string         `json:"agents"`
	Paths        []string         `json:"paths,omitempty"`
	Change       *dvs.Change      `json:"change,omitempty"`
	Capabilities dvs.Capabilities `json:"capabilities"`
	Approved     []approval       `json:"approved,omitempty"`
}

type approval struct {
	At        time.Time  `json:"at"`
	Root      string     `json:"root"`
	Digest    dvs.Digest `json:"digest"`
	SkillOnly bool       `json:"skillOnly,omitempty"`
}

// entry returns the value and the result of an installed skill: from where it is, and where it is.
func (in *installer) entry(e *dvs.LockedSkill, paths []string) (*installedValue, result) {
	v := &installedValue{Installation: *e.Installed, Name: cmp.Or(e.Installed.Name, e.Directory), Directory: e.Directory,
		ID: e.URL, Root: e.Root, Agents: append([]string{}, e.Installed.Agents...), Paths: paths,
		Capabilities: append(dvs.Capabilities{}, e.Capabilities...)}
	from := v.Source
	if v.Commit != "" {
		from += fmt.Sprintf(" at %s (%s)", v.Commit[:12],
			plaintext.Quote(strings.TrimPrefix(strings.TrimPrefix(v.Ref, "refs/heads/"), "refs/tags/"), 60))
	}
	r := accept(v, row{"from", from})
	if v.Root != "" {
		r.row("publisher", v.Root)
	}
	if v.Signer != "" {
		r.row("signed by", v.Signer)
	}
	for _, path := range v.Paths {
		if rel, err := filepath.Rel(in.place.Dir, path); err == nil && filepath.IsLocal(rel) {
			path = rel
		}
		r.row("in", path)
	}
	return v, r
}

// nothing says so if there was nothing to show.
func (in *installer) nothing(shown int) error {
	if shown > 0 {
		return nil
	}
	r := accept([]installedValue{})
	r.Message = "no skill is installed here"
	return in.s.show(in.place.Dir, r)
}

func (in *installer) list(_ context.Context, args []string) error {
	if len(args) > 0 {
		return usagef("list takes no names")
	}
	return in.check(nil, func(r *result, c *install.Check) {
		r.Message = "as installed"
		if !c.OK() {
			r.Message = "changed since it was installed: see lookleap skill verify"
		}
	})
}

func (in *installer) verify(_ context.Context, args []string) error {
	in.report.against = in.place.LockPath()
	if content, err := filestore.ReadFile(in.place.LockPath(), maxFile); err == nil {
		in.report.entries = content
	}
	in.s.report = in.report
	unlisted, err := in.place.Unlisted()
	if err == nil && len(unlisted) > 0 && len(args) == 0 {
		r := accept(map[string]any{"unlisted": len(unlisted)}).with(unlisted...)
		r.Message, r.base = plaintext.Plural(len(unlisted), "skill is", "skills are")+" not in the lockfile, and agents use them", in.place.Dir
		if err := in.s.show("the folders of agents", r); err != nil {
			return err
		}
	}
	return in.check(args, func(r *result, c *install.Check) {
		r.Message = plaintext.Plural(len(c.Entry.Files), "file is", "files are") + " as installed"
		if !c.OK() {
			r.OK, r.changed, r.Code = false, true, c.Findings[0].Code
			r.Message = plaintext.Plural(len(c.Findings), "thing is", "things are") + " not as installed"
			r.Findings, r.base = c.Findings, in.place.Dir
		}
	})
}

// check compares the skills with the lockfile, and shows what say says about each.
func (in *installer) check(names []string, say func(*result, *install.Check)) error {
	checks, err := in.place.Verify(names...)
	if err != nil {
		return in.s.show(in.place.LockPath(), refuse(err))
	}
	for _, c := range checks {
		_, r := in.entry(&c.Entry, c.Paths)
		say(&r, &c)
		if err := in.s.show(c.Entry.Directory, r); err != nil {
			return err
		}
	}
	return in.nothing(len(checks))
}

func (in *installer) sync(ctx context.Context, args []string) error {
	all, err := in.place.Sync(ctx, in.loader, in.force, args...)
	if err != nil {
		return in.s.show(in.place.LockPath(), refuse(err))
	}
	for _, one := range all {
		_, r := in.entry(&one.Entry, one.Restored)
		r.Message = "as the lockfile says"
		if one.Err != nil {
			r = refuse(one.Err)
		} else if len(one.Restored) > 0 {
			r = r.with(replaced(one.Replaced)...)
			r.Message = "restored"
		}
		if err := in.s.show(one.Entry.Directory, r); err != nil {
			return err
		}
	}
	return in.nothing(len(all))
}

func (in *installer) update(ctx context.Context, args []string) error {
	lock, err := in.place.Lock()
	if err != nil {
		return in.s.show(in.place.LockPath(), refuse(err))
	}
	named := map[string]bool{} // by directory
	for _, name := range args {
		e, err := install.Find(lock, name)
		if err != nil {
			return in.s.show(name, refuse(err))
		}
		named[e.Directory] = true
	}
	loader, err := in.loader(nil)
	if err != nil {
		return err
	}
	newer := install.NewUpdater(loader)
	newer.Dir = in.place.Dir
	defer newer.Close()
	shown := 0
	for i := range lock.Skills {
		e := &lock.Skills[i]
		if e.Installed == nil || len(args) > 0 && !named[e.Directory] {
			continue
		}
		shown++
		if err := errors.Join(in.s.show(e.Directory, in.updateOne(ctx, newer, e)), ctx.Err()); err != nil {
			return err
		}
	}
	return in.nothing(shown)
}

func (in *installer) updateOne(ctx context.Context, newer *install.Updater, e *dvs.LockedSkill) result {
	done := in.s.progress.working(e.Directory)
	skill, err := newer.Newest(ctx, e)
	done()
	switch {
	case err != nil:
		return refuseInstall(err)
	case skill == nil:
		_, r := in.entry(e, nil)
		r.Message = "there is nothing newer"
		return r
	}
	r := in.put(ctx, skill, install.Options{Folder: e.Installed.Folder, Copy: e.Installed.Copied, Force: in.force})
	if r.Message == "already installed" {
		r.Message = "the same files, at a newer commit"
	}
	return r
}

func (in *installer) remove(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return usagef("name the skills to remove")
	}
	return in.s.each(ctx, args, func(ctx context.Context, name string) result {
		removed, err := in.place.Remove(ctx, name, in.agents, in.force)
		if err != nil {
			return refuse(err)
		}
		r := accept(map[string]any{"directory": name, "paths": removed})
		r.Message = "removed"
		return r
	})
}

func (in *installer) why(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return usagef("name an installed skill")
	}
	lock, err := in.place.Lock()
	if err != nil {
		return in.s.show(in.place.LockPath(), refuse(err))
	}
	loader, err := in.loader(nil)
	if err != nil {
		return err
	}
	return in.s.each(ctx, args, func(ctx context.Context, name string) result {
		return in.explain(ctx, loader, lock, name)
	})
}

func (in *installer) explain(ctx context.Context, loader *dvs.Loader, lock *dvs.Lockfile, name string) result {
	e, err := install.Find(lock, name)
	if err != nil {
		return refuse(err)
	}
	if !in.isSigned(e) {
		unsigned, is := *e, *e.Installed
		is.Signer, unsigned.Installed = "", &is
		e = &unsigned
	}
	v, r := in.entry(e, nil)
	if e.URL == "" {
		r.Message = "it came from a local directory: only you answer for it"
		return r
	}
	r.Message = "published by those who control " + plaintext.Line(e.Root)
	r.row("skill", e.URL)
	u, err := dvs.ParseArtifactURL(e.URL, e.Artifact, dvs.Rules{})
	if err != nil {
		return refuse(err)
	}
	r.row("root", loader.Roots().Find(u).Source.String())
	record, err := loader.Trusted(ctx, e.URL)
	if err != nil {
		return refuse(err)
	}
	agreed, locked := u.Artifact() == dvs.SkillArchive, entryDigest(e) // the lockfile has no digest of an archive
	if record != nil {
		for _, a := range record.Versions {
			agreed = agreed || a.File == locked
			v.Approved = append(v.Approved, approval{a.Approved, a.Root, a.File, a.SkillOnly})
			what := "agreed to the version with the digest " + a.File.String()[:19] + "…"
			if a.SkillOnly {
				what += ", to this skill only"
			}
			r.row(a.Approved.Local().Format("2006-01-02 15:04"), what)
		}
	}
	if !agreed {
		r.row("", "you never agreed to this version")
	}
	r.rows = append(r.rows, mayRows(v.Capabilities)...)
	return r
}

// isSigned reports whether the installed files have the signature of the signer in the lockfile, which alone
// proves nothing.
func (in *installer) isSigned(e *dvs.LockedSkill) bool {
	checks, err := in.place.Verify(e.Directory)
	if err != nil || !checks[0].OK() || len(checks[0].Paths) == 0 {
		return false
	}
	files, err := dvs.ReadSkillDir(os.DirFS(checks[0].Paths[0]), dvs.Limits{})
	if err != nil {
		return false
	}
	signature, err := modelsig.VerifyDir(files, modelsig.Trust{}, time.Now())
	return err == nil && signature.LeftOut() == "" && signature.Fingerprint() == e.Installed.Signer
}

// entryDigest returns the digest of the SKILL.md in a lockfile.
func entryDigest(e *dvs.LockedSkill) (digest dvs.Digest) {
	for _, f := range e.Files {
		if f.Path == dvs.EntryFile {
			digest = f.Digest
		}
	}
	return digest
}

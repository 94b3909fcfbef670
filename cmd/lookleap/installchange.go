package main

import (
	"context"
	"slices"

	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/dvs/install"
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
			r = r.with(replaced(one.Replaced)...)
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

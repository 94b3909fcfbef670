package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/dvs/install"
	"github.com/lookleap/lookleap/internal/filestore"
	"github.com/lookleap/lookleap/internal/plaintext"
)

func lockCommand(flags *flag.FlagSet) action {
	l := &locker{lock: &dvs.Lockfile{}}
	var out, check string
	report := reportFlags(flags)
	l.declare(flags)
	flags.StringVar(&l.before, "before", "", "with --check, a `DIR` with the files as they were locked")
	flags.Var(&l.files, "file", "lock this `PATH` below the skill's directory; may be repeated")
	flags.StringVar(&l.url, "url", "", "where a directory is published, the `URL` of its skill")
	flags.StringVar(&out, "out", "", "write the lockfile to this `FILE`")
	flags.StringVar(&check, "check", "", "compare with the lockfile in this `FILE`")
	return func(ctx context.Context, s *session, args []string) error {
		switch {
		case check == "" && (l.before != "" || report.asked()):
			return usagef("--before, --sarif, --summary and --github are for --check")
		case check != "" && (out != "" || l.url != "" || len(l.files) > 0):
			return usagef("--check compares; --out, --url and --file are for locking")
		case check != "":
			content, err := readFile(check)
			if err == nil {
				l.old, err = dvs.ParseLockfile(content)
			}
			if err != nil {
				return usagef("--check: %v", err)
			}
			if !s.options.Dev && slices.ContainsFunc(l.old.Skills, func(s dvs.LockedSkill) bool { return s.Development }) {
				return usagef("--check: %s was made in development mode: lock the skills again without --dev, or add --dev", check)
			}
			report.against, report.entries = check, content
			s.report = report
			return l.all(ctx, s, args)
		}
		var err error
		if l.named, err = replaceable(out); err != nil {
			return err
		}
		if err := l.all(ctx, s, args); err != nil || out == "" || s.refused > 0 {
			return err
		}
		return install.WriteLock(out, l.lock)
	}
}

// locker locks skills, or compares them with an old lockfile.
type locker struct {
	skillFlags
	files  repeated
	url    string
	before string        // directory with the files as they were locked; "": none
	old    *dvs.Lockfile // nil: lock
	lock   *dvs.Lockfile // of what was accepted
	named  *dvs.Lockfile // of which skills keep their directories: that of --out, and what was accepted
}

type lockValue struct {
	URL     string        `json:"url"`
	Root    string        `json:"trustRoot"`
	Lock    *dvs.Lockfile `json:"lock,omitempty"`
	Changes *int          `json:"changes,omitempty"`
	Change  *dvs.Change   `json:"change,omitempty"`
}

func (l *locker) all(ctx context.Context, s *session, args []string) error {
	loader, _, err := l.loader(s, dvs.Options{Profile: l.profile})
	if err != nil {
		return err
	}
	local := func(arg string) bool { return !strings.Contains(arg, "://") }
	if l.old == nil && l.url == "" && slices.ContainsFunc(args, local) {
		return usagef("a directory does not say where it is published: add --url, or --check")
	}
	return s.each(ctx, args, func(ctx context.Context, arg string) result {
		if local(arg) {
			return l.directory(loader.Roots().Rules(), arg)
		}
		return l.remote(ctx, loader, arg)
	})
}

func (l *locker) remote(ctx context.Context, loader *dvs.Loader, skillURL string) result {
	skill, err := loadForLock(ctx, loader, skillURL)
	if err != nil {
		return refuse(err)
	}
	if l.old != nil {
		return l.compare(ctx, skill)
	}
	bundle, err := skill.Bundle(ctx, l.files...)
	if err != nil {
		return refuse(err)
	}
	v := dvs.NewVerifiedFS([]dvs.Bundle{bundle}, dvs.VerifiedFSOptions{Profile: l.profile, Named: l.named})
	if err := v.Reports()[0].Err; err != nil {
		return refuse(err)
	}
	return l.locked(v.Lock()).with(bundle.Findings...)
}

// compare fetches the files that are locked, and those that the skill refers to now.
func (l *locker) compare(ctx context.Context, skill *dvs.Loaded) result {
	entry := l.old.Find(skill.ID.String())
	if entry == nil || entry.Root != skill.Root.String() {
		return refuse(l.old.Verify(dvs.Bundle{ID: skill.ID.String(), Root: skill.Root.String()}))
	}
	bundle, err := skill.Bundle(ctx)
	if err != nil {
		return refuse(err)
	}
	files := bundle.Files
	for _, f := range entry.Files {
		if files[f.Path] != nil {
			continue
		}
		r, err := skill.Resource(ctx, (&url.URL{Path: f.Path}).EscapedPath())
		switch {
		case err == nil:
			files[f.Path] = r.Bytes()
		case lookleap.CodeOf(err) != dvs.CodeSkillNotFound: // not there is a change, not to know is none
			return refuse(err)
		}
	}
	return l.compared(entry, files).with(bundle.Findings...)
}

// loadForLock loads a skill. Who types a URL of a host that is no platform trusts that host.
func loadForLock(ctx context.Context, loader *dvs.Loader, skillURL string) (*dvs.Loaded, error) {
	u, err := dvs.ParseSkillURL(skillURL, loader.Roots().Rules())
	if err != nil {
		return nil, err
	}
	if loader.Roots().Find(u).Source.Registered() {
		return loader.Load(ctx, skillURL)
	}
	root, source, err := dvs.DefaultRoot(u, loader.Roots().Rules())
	if err != nil || source != dvs.DefaultOrigin {
		return loader.Load(ctx, skillURL) // which says what is missing
	}
	return loader.LoadUnder(ctx, skillURL, root)
}

func (l *locker) directory(rules dvs.Rules, dir string) result {
	files, err := readLocal(dir)
	if err != nil {
		return refuse(err)
	}
	if l.old == nil {
		return l.published(rules, files)
	}
	name, err := filepath.Abs(dir)
	if err != nil {
		return refuse(ioError{err})
	}
	name = filepath.Base(name)
	for _, extension := range []string{".tar.gz", ".tgz", ".zip"} {
		name = strings.TrimSuffix(name, extension)
	}
	for i := range l.old.Skills {
		if l.old.Skills[i].Directory == name {
			return l.compared(&l.old.Skills[i], files)
		}
	}
	return refuse(fault(dvs.CodeNotLocked, fmt.Sprintf("the lockfile has no skill in a directory named %q", name), ""))
}

func readLocal(name string) (map[string][]byte, error) {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return dvs.ReadSkillDir(os.DirFS(name), dvs.Limits{})
	}
	f, err := filestore.OpenRegular(name)
	if err != nil {
		return nil, ioError{err}
	}
	defer f.Close()
	return dvs.ReadArchive(f, dvs.Limits{})
}

func (l *locker) published(rules dvs.Rules, files map[string][]byte) result {
	u, err := dvs.ParseSkillURL(l.url, rules)
	if err != nil {
		return refuse(err)
	}
	root, _, err := dvs.DefaultRoot(u, rules)
	if len(l.roots) > 0 {
		root, err = dvs.ParseTrustRoot(l.roots[0], rules)
	}
	if err != nil {
		return refuse(err)
	}
	var lock *dvs.Lockfile
	p, err := dvs.NewPublished(files, dvs.Limits{})
	if err == nil {
		lock, err = p.Lock(u, root, dvs.Limits{})
	}
	if err != nil {
		return refuse(err)
	}
	return l.locked(lock)
}

func (l *locker) locked(lock *dvs.Lockfile) result {
	skill := &lock.Skills[0]
	if before := l.named.Find(skill.URL); before != nil {
		skill.Directory = before.Directory
	}
	l.lock.Skills = append(l.lock.Skills, *skill)
	l.named.Skills = append(l.named.Skills, *skill)
	r := accept(lockValue{URL: skill.URL, Root: skill.Root, Lock: lock}, row{"skill", skill.URL},
		row{"trust root", skill.Root})
	for _, f := range skill.Files {
		r.row(plaintext.Quote(f.Path, 40), f.Digest.String())
	}
	return r
}

func (l *locker) compared(entry *dvs.LockedSkill, files map[string][]byte) result {
	changes := entry.Changes(files)
	n := len(changes)
	value := &lockValue{URL: entry.URL, Root: entry.Root, Changes: &n}
	r := accept(value, row{"skill", entry.URL}, row{"changes", fmt.Sprint(n)})
	if n > 0 {
		change, err := l.change(entry, files, changes)
		if err != nil {
			return refuse(err)
		}
		value.Change, r.change = change, change
		r.OK, r.changed, r.Code, r.Message = false, true, changes[0].Code, changes[0].Message
		r.rows = append(r.rows, linesOf(change.String())...)
	}
	return r.with(changes...)
}

// change returns what changed: the lines too, if the files are there as they were locked.
func (l *locker) change(
	entry *dvs.LockedSkill, files map[string][]byte, changes []lookleap.Finding,
) (*dvs.Change, error) {
	if l.before != "" {
		before, err := readLocal(l.before)
		if err != nil {
			return nil, err
		}
		if found := entry.Changes(before); len(found) > 0 {
			return nil, fault(dvs.CodeDigestMismatch, "--before: "+plaintext.Quote(found[0].Path, 100)+
				" is not as it was locked", "")
		}
		change := dvs.Compare(before, files)
		return &change, nil
	}
	change := new(dvs.Change)
	for _, f := range changes {
		switch f.Code {
		case dvs.CodeNotLocked:
			change.Added = append(change.Added, f.Path)
		case dvs.CodeLockMissing:
			change.Removed = append(change.Removed, f.Path)
		default:
			change.Changed = append(change.Changed, f.Path)
		}
	}
	if entry.Capabilities != nil {
		change.Gained, change.Lost = dvs.CapabilitiesOf(files).Diff(entry.Capabilities)
	}
	return change, nil
}

// replaceable returns the lockfile that is at a path, and refuses to write over anything else.
func replaceable(name string) (*dvs.Lockfile, error) {
	none := new(dvs.Lockfile)
	if name == "" {
		return none, nil
	}
	old, err := readFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return none, nil
	}
	var lock *dvs.Lockfile
	if err == nil {
		lock, err = dvs.ParseLockfile(old)
	}
	if err != nil {
		return nil, usagef("--out: what is there is no lockfile, and is left alone: %v", err)
	}
	return lock, nil
}

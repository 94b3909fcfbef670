package dvs

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
)

// Bundle is a verified skill with the files that a framework needs. [Loaded.Bundle] makes one, and
// [NewVerifiedFS] accepts a list of them.
type Bundle struct {
	ID      string            // canonical URL of the SKILL.md
	Root    string            // its trust root
	Files   map[string][]byte // by path below the skill's directory, SKILL.md among them, as they were served
	Verdict *lookleap.Verdict // that the skill is verified; without it the bundle is refused

	source  *Loaded           // whose trust may end; nil: the bundle was made by hand
	digests map[string]Digest // by path: what was fetched
}

// checkUnchanged returns an error for a bundle that differs from its verdict or from what was
// fetched.
func (b *Bundle) checkUnchanged() error {
	if b.Verdict == nil || !b.Verdict.OK || b.Verdict.Subject != domain.Redact(b.ID) {
		return refuse(CodeNeedsRoot, b.ID, "no verdict says that this skill is verified", "load it through a Loader")
	}
	const fix = "use the bundle as Loaded.Bundle returned it"
	root, digest := verifiedAs(b.Verdict)
	switch {
	case root != "" && root != domain.Redact(b.Root), b.source != nil && (b.source.ID.String() != b.ID || b.source.Root.String() != b.Root):
		return refuse(CodeNeedsRoot, b.Root, "the skill was verified under another trust root or URL", fix)
	case digest != "" && digest != DigestOf(b.Files[EntryFile]).String():
		return refuse(CodeDigestMismatch, b.ID, "SKILL.md is not the file that was verified", fix)
	case b.source == nil:
		return nil
	case len(b.digests) != len(b.Files):
		return refuse(CodeDigestMismatch, b.ID, "the bundle has other files than were fetched", fix)
	}
	for _, name := range slices.Sorted(maps.Keys(b.Files)) {
		if b.digests[name] != DigestOf(b.Files[name]) {
			return refuse(CodeDigestMismatch, name, "the file is not the one that was fetched", fix)
		}
	}
	return nil
}

// isEntry reports whether a file below a skill's directory is the SKILL.md of another skill.
func isEntry(name string) bool { return foldName(path.Base(name)) == foldName(EntryFile) }

// Bundle fetches files of the skill's own directory and returns them with the SKILL.md, or an
// error if one of them fails. The arguments are references as the skill would write them. Without
// arguments, it fetches the files that the instructions refer to; it leaves out other skills and
// files that the server does not have. Nothing outside the directory is fetched, and the user is
// not asked.
func (s *Loaded) Bundle(ctx context.Context, files ...string) (Bundle, error) {
	if err := s.ready(); err != nil {
		return Bundle{}, err
	}
	skill, err := s.Skill()
	if err != nil {
		return Bundle{}, err
	}
	entry, err := s.File()
	if err != nil {
		return Bundle{}, err
	}
	b := Bundle{ID: s.ID.String(), Root: s.Root.String(), Files: map[string][]byte{EntryFile: entry}, Verdict: s.Verdict, source: s,
		digests: map[string]Digest{EntryFile: DigestOf(entry)}}
	named, total := len(files) > 0, len(entry)
	if !named {
		for _, r := range skill.References() {
			files = append(files, r.Target)
		}
	}
	for _, file := range files {
		t, err := s.Resolve(file)
		switch {
		case (err != nil || t.Access != Bundled || isEntry(t.Name)) && !named:
			continue
		case err != nil:
			return Bundle{}, err
		case t.Access != Bundled:
			return Bundle{}, refuse(CodeNotBundled, file, "the file is not in the skill's directory", "name files of the directory")
		case !b.digests[t.Name].IsZero(): // each file is fetched once
			continue
		case len(b.Files) >= s.loader.limits.Files:
			return Bundle{}, refuse(lookleap.CodeLimit, file, "the skill has more files than allowed", "name the files that are needed")
		}
		r, err := s.Resource(ctx, file)
		switch {
		case lookleap.CodeOf(err) == CodeSkillNotFound && !named:
			continue
		case err != nil:
			return Bundle{}, err
		}
		if total += len(r.Bytes()); total > s.loader.limits.Total {
			return Bundle{}, refuse(lookleap.CodeTooLarge, file, "all files together are larger than allowed", "name the files that are needed")
		}
		b.Files[t.Name], b.digests[t.Name] = r.Bytes(), r.Digest
	}
	return b, nil
}

// ReadSkillDir reads all files of a skill's directory, by their paths below it. It returns an
// error for links, special files and file names that are not safe on every system, and if a file
// is replaced while it is read. For an [os.DirFS] it opens nothing outside the directory.
func ReadSkillDir(directory fs.FS, limits Limits) (map[string][]byte, error) {
	if directory == nil {
		return nil, usageError("there is no directory of a skill", "pass one, such as os.DirFS")
	}
	return readSkillDir(directory, ".", limits.withDefaults())
}

// readSkillDir reads the files below a directory of a file system.
func readSkillDir(parent fs.FS, at string, limits Limits) (map[string][]byte, error) {
	open := parent.Open
	root, err := openRoot(parent, at)
	switch {
	case err != nil:
		return nil, ioError(err)
	case root != nil:
		defer root.Close()
		parent = root.FS()
		open = func(name string) (fs.File, error) { return root.OpenFile(name, openWithoutWaiting, 0) }
	case at != ".":
		if parent, err = fs.Sub(parent, at); err != nil {
			return nil, ioError(err)
		}
		open = parent.Open
	}
	files, total := map[string][]byte{}, 0
	err = fs.WalkDir(parent, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return nil
		case !d.Type().IsRegular():
			return refuse(CodeLink, name, "the entry is a link, or no regular file", "put the file itself there")
		case len(files) == limits.Files:
			return refuse(lookleap.CodeLimit, name, fmt.Sprintf("the directory has more than %d files", limits.Files), "split the skill")
		}
		if err := checkFilePath(name); err != nil {
			return err
		}
		looked, err := d.Info()
		if err != nil {
			return err
		}
		f, err := open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := checkSame(looked, f, name); err != nil {
			return err
		}
		content, err := readLimited(f, name, min(limits.Resource, limits.Total-total))
		if err != nil {
			return err
		}
		files[name] = content
		total += len(content)
		return nil
	})
	if err == nil {
		err = checkFiles(files, limits)
	}
	if err != nil {
		return nil, ioError(err)
	}
	return files, nil
}

// openRoot opens a directory of an [os.DirFS] so that no link leads out of it. It returns nil for
// other file systems.
func openRoot(parent fs.FS, at string) (*os.Root, error) {
	if reflect.TypeOf(parent) != reflect.TypeOf(os.DirFS("")) {
		return nil, nil
	}
	root, err := os.OpenRoot(reflect.ValueOf(parent).String())
	if err != nil || at == "." {
		return root, err
	}
	defer root.Close()
	looked, err := root.Lstat(at)
	if err != nil {
		return nil, err
	}
	directory, err := root.OpenRoot(at)
	if err != nil {
		return nil, err
	}
	if opened, err := directory.Stat("."); err != nil || !os.SameFile(looked, opened) {
		directory.Close()
		return nil, refuse(CodeLink, at, "the directory is a link, or was replaced while it was read", "put the directory itself there")
	}
	return directory, nil
}

// checkSame refuses a file that was replaced between Lstat and Open.
func checkSame(looked fs.FileInfo, f fs.File, name string) error {
	opened, err := f.Stat()
	if err != nil {
		return err
	}
	known := os.SameFile(looked, looked) // other file systems have no links
	if !looked.Mode().IsRegular() || !opened.Mode().IsRegular() || known && !os.SameFile(looked, opened) {
		return refuse(CodeLink, name, "the file was replaced while the directory was read", "read it again when it no longer changes")
	}
	return nil
}

// readLimited reads a file of at most limit bytes.
func readLimited(f fs.File, name string, limit int) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err != nil {
		return nil, err
	}
	if len(content) > limit {
		return nil, refuse(lookleap.CodeTooLarge, name, "the file, or all files together, are larger than allowed", "leave large files out")
	}
	return content, nil
}

// Limits of file names.
const (
	maxSegment = 200 // bytes between slashes
	maxPath    = 1000
	maxNesting = 16
)

// checkFilePath refuses a path below a skill's directory (sections 4.1 and 4.5) that is not a file
// inside the directory on every operating system: no parent directories, devices, drives or
// streams, and no name that some system changes.
func checkFilePath(file string) error {
	bad := func(reason, fix string) error { return refuse(CodeUnsafeName, file, reason, fix) }
	switch {
	case len(file) > maxPath:
		return bad(fmt.Sprintf("the path is longer than %d bytes", maxPath), "shorten it")
	case !utf8.ValidString(file):
		return bad("the path is not UTF-8", "rename the file")
	case file == "." || !fs.ValidPath(file) || !filepath.IsLocal(filepath.FromSlash(file)):
		return bad("the path does not lead to a file below the skill's directory", "write a relative path with slashes, without . and ..")
	case strings.Count(file, "/") >= maxNesting:
		return bad("the path has too many directories", "nest less")
	}
	for segment := range strings.SplitSeq(file, "/") {
		if reason := segmentFault(segment); reason != "" {
			return bad(reason, "rename the file")
		}
	}
	return nil
}

// segmentFault returns why a file name is unsafe, or "".
func segmentFault(segment string) string {
	switch {
	case len(segment) > maxSegment:
		return fmt.Sprintf("a name is longer than %d bytes", maxSegment)
	case strings.ContainsAny(segment, `<>:"|?*\`):
		return `a name has one of < > : " | ? * \, which mean something to some systems`
	case strings.IndexFunc(segment, func(r rune) bool {
		return isControl(r) || isInvisible(r) || r == utf8.RuneError || !unicode.IsPrint(r) && r != ' '
	}) >= 0:
		return "a name has a character that cannot be seen"
	case strings.HasSuffix(segment, ".") || strings.HasSuffix(segment, " ") || strings.HasPrefix(segment, " "):
		return "a name begins or ends with a blank or ends with a dot, which some systems drop"
	case isDevice(segment):
		return "a name is that of a device on Windows"
	case isGit(segment):
		return "a directory of that name holds what git runs"
	case !norm.NFC.IsNormalString(segment):
		return "a name is not in composed form, so systems store it differently"
	}
	return ""
}

// isDevice reports whether Windows opens a device for the name, whatever its
// extension.
func isDevice(segment string) bool {
	base, _, _ := strings.Cut(strings.ToLower(segment), ".")
	base = strings.TrimRight(base, " ")
	switch base {
	case "con", "prn", "aux", "nul", "conin$", "conout$", "clock$":
		return true
	}
	for _, port := range []string{"com", "lpt"} {
		if digit, ok := strings.CutPrefix(base, port); ok && len([]rune(digit)) == 1 && strings.Contains("0123456789¹²³", digit) {
			return true
		}
	}
	return false
}

func isGit(segment string) bool {
	name := foldName(segment)
	return name == ".git" || name == "git~1"
}

// nameTable finds paths that are one on a system which ignores case, also where
// they differ in the name of a directory above the file.
type nameTable map[string]tableEntry

type tableEntry struct {
	path      string
	directory bool
}

// accept checks a path as checkFilePath does, and then adds it.
func (t nameTable) accept(file string) error {
	if err := checkFilePath(file); err != nil {
		return err
	}
	return t.add(file)
}

// add records a path, and refuses one that clashes with an earlier one.
func (t nameTable) add(file string) error {
	for p := file; p != "." && p != "/"; p = path.Dir(p) {
		key, entry := foldName(p), tableEntry{p, p != file}
		if other, taken := t[key]; taken && (other != entry || !entry.directory) {
			return refuse(CodeNameClash, file, "on some systems the file is the same as another one", "rename one of them")
		}
		t[key] = entry
	}
	return nil
}

// foldName returns the same text for names that some file system treats as the same: by full case
// folding (ß is ss), by single upper-case letters, and without compatibility forms and separate
// accents.
func foldName(name string) string {
	if isPrintable(name) {
		return strings.ToLower(name)
	}
	return norm.NFC.String(strings.ToLower(strings.ToUpper(cases.Fold().String(norm.NFKD.String(name)))))
}

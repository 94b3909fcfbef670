package dvs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"sync"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/filestore"
)

// CatalogueEntry is one directory with a SKILL.md.
type CatalogueEntry struct {
	Directory string
	Metadata  *Metadata // nil if Err is set
	Findings  []lookleap.Finding
	Err       error
}

// catalogueRead is how much of a file is read at first: the header of nearly every skill.
const catalogueRead = 4 << 10

// Catalogue reads the metadata of all skills in a directory, sorted by directory name: level 1 for
// local files. It reads only the header of each SKILL.md, and at most 4 KiB more; problems of a
// body are reported when the skill is used. A directory without SKILL.md is left out. What seems to be a
// skill and cannot be read has an entry with the error: a linked directory, a skill.md, a SKILL.md one
// directory deeper. Links are not followed. Catalogue itself returns an
// error only if the directory cannot be listed.
//
// The profile and limits are those of [ParseSkill]. Local files have no URL, so the skills of a catalogue are not verified.
func Catalogue(skills fs.FS, profile Profile, limits Limits) ([]CatalogueEntry, error) {
	list, err := listDirectory(skills)
	if err != nil {
		return nil, err
	}
	c := catalogue{openedDirectory{files: skills, open: skills.Open}, profile, limits.withDefaults()}
	if dir, ok := pathOf(skills); ok {
		c.open = func(name string) (fs.File, error) {
			return os.OpenFile(filepath.Join(dir, name), os.O_RDONLY|filestore.WithoutWaiting, 0)
		}
	}
	entries := make([]CatalogueEntry, len(list))
	n := min(runtime.GOMAXPROCS(0), 8, len(list))
	var workers sync.WaitGroup
	for first := range n {
		workers.Go(func() {
			buffer := make([]byte, catalogueRead, maxFrontmatter+catalogueRead)
			for i := first; i < len(list); i += n {
				switch name := list[i].Name(); {
				case list[i].IsDir():
					entries[i] = c.entry(name, buffer)
				case linkedDirectory(skills, list[i]):
					entries[i] = CatalogueEntry{Directory: name, Err: linkRefused(name)}
				}
			}
		})
	}
	workers.Wait()
	return slices.DeleteFunc(entries, func(e CatalogueEntry) bool { return e.Directory == "" }), nil
}

func listDirectory(skills fs.FS) ([]fs.DirEntry, error) {
	if skills == nil {
		return nil, usageError("there is no directory of skills", "pass one, such as os.DirFS")
	}
	list, err := fs.ReadDir(skills, ".")
	return list, ioError(err)
}

// linkedDirectory reports whether an entry is a link to a directory, or to nothing that can be read.
func linkedDirectory(files fs.FS, entry fs.DirEntry) bool {
	if entry.Type()&fs.ModeSymlink == 0 {
		return false
	}
	info, err := fs.Stat(files, entry.Name())
	return err != nil || info.IsDir()
}

func linkRefused(name string) error {
	return refuse(CodeLink, name, "the directory of a skill is a link", "put the directory itself there")
}

// maxLookedAt is how many directories below one without SKILL.md are searched for it.
const maxLookedAt = 64

// misplacedEntry returns an error for a directory without SKILL.md that seems to be meant for skills: it
// has a file of that name in another spelling, or a SKILL.md one level deeper.
func misplacedEntry(files fs.FS, directory string) error {
	list, err := fs.ReadDir(files, directory)
	if err != nil {
		return ioError(err)
	}
	looked := 0
	for _, entry := range list {
		at := path.Join(directory, entry.Name())
		switch {
		case !entry.IsDir() && isEntry(entry.Name()):
			return refuse(CodeMissingSkillMD, at, "the entry file of a skill is named SKILL.md, in this spelling", "rename it")
		case entry.IsDir() && looked < maxLookedAt:
			looked++
			if _, err := fs.Lstat(files, at+"/"+EntryFile); err == nil {
				return refuse(CodeMissingSkillMD, at+"/"+EntryFile, "the skill lies one directory deeper than skills are looked for",
					"move the directory of the skill up")
			}
		}
	}
	return nil
}

// catalogue is what its readers share.
type catalogue struct {
	openedDirectory
	profile Profile
	limits  Limits
}

func (c *catalogue) entry(directory string, buffer []byte) (e CatalogueEntry) {
	at := directory + "/" + EntryFile
	looked, err := fs.Lstat(c.files, at)
	var f fs.File
	if err == nil {
		f, err = c.openRegular(at, looked)
	}
	if errors.Is(err, fs.ErrNotExist) {
		if err := misplacedEntry(c.files, directory); err != nil {
			return CatalogueEntry{Directory: directory, Err: err}
		}
		return CatalogueEntry{}
	}
	e.Directory = directory
	if err != nil {
		e.Err = ioError(err)
		return e
	}
	defer f.Close()
	n, err := readFull(f, buffer[:catalogueRead])
	if _, _, incomplete := split(buffer[:n]); err == nil && incomplete != nil { // it may end inside the header
		var more int
		more, err = readFull(f, buffer[n:cap(buffer)])
		n += more
	}
	if err != nil {
		e.Err = ioError(err)
		return e
	}
	e.Metadata, e.Findings, e.Err = parseMetadataIn(directory, buffer[:n], c.profile, c.limits)
	if e.Err == nil {
		p := report{text: buffer[:n]}
		p.nameAndDirectory(e.Metadata, directory, c.profile)
		if p.err() != nil {
			e.Metadata, e.Err = nil, p.err()
		}
		e.Findings = append(e.Findings, p.findings...)
	}
	return e
}

// readFull reads until the buffer is full or the file ends.
func readFull(f fs.File, buffer []byte) (int, error) {
	n, err := io.ReadFull(f, buffer)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return n, err
}

// nameAndDirectory judges that a skill is named like its directory, which the
// public format demands.
func (r *report) nameAndDirectory(m *Metadata, directory string, profile Profile) {
	if m.Name == directory {
		return
	}
	severity := lookleap.SeverityInfo
	if profile == AgentSkills {
		severity = lookleap.SeverityError
	}
	f := &fault{code: CodeNameDirectory, requirement: "DVS-4.3-12", at: m.nameAt,
		message: "the skill's name is not that of its directory", fix: "use the same name for both"}
	r.add(severity, f)
}

// ReadSkillDir reads all files of a skill's directory, by their paths below it. It returns an
// error for links, special files and file names that are not safe on every system, and if a file
// is replaced while it is read. For an [os.DirFS] it opens nothing outside the directory.
func ReadSkillDir(directory fs.FS, limits Limits) (map[string][]byte, error) {
	if directory == nil {
		return nil, usageError("there is no directory of a skill", "pass one, such as os.DirFS")
	}
	return readSkillDir(directory, ".", limits)
}

// readSkillDir reads the files below a directory of a file system. It stops at the first fault.
func readSkillDir(parent fs.FS, at string, limits Limits) (map[string][]byte, error) {
	directory, err := openDirectory(parent, at)
	if err != nil {
		return nil, ioError(err)
	}
	defer directory.close()
	s := newFileSet(limits)
	err = fs.WalkDir(directory.files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		looked, err := d.Info()
		if err != nil {
			return err
		}
		f, err := directory.openRegular(name, looked)
		if err != nil {
			return err
		}
		defer f.Close()
		return s.read(name, f, looked.Size())
	})
	if err != nil {
		return nil, ioError(err)
	}
	return s.files, nil
}

// openedDirectory has the files of one directory.
type openedDirectory struct {
	files fs.FS
	open  func(name string) (fs.File, error) // does not wait for a pipe
	close func() error
}

// pathOf returns the path of an [os.DirFS].
func pathOf(files fs.FS) (string, bool) {
	v := reflect.ValueOf(files)
	if v.Type() != reflect.TypeOf(os.DirFS("")) {
		return "", false
	}
	return v.String(), true
}

// openDirectory opens a directory of a file system. No link leads out of that of an [os.DirFS].
func openDirectory(parent fs.FS, at string) (*openedDirectory, error) {
	path, ok := pathOf(parent)
	if !ok {
		files, err := fs.Sub(parent, at)
		if err != nil {
			return nil, err
		}
		return &openedDirectory{files, files.Open, func() error { return nil }}, nil
	}
	root, err := openRoot(path, at)
	if err != nil {
		return nil, err
	}
	open := func(name string) (fs.File, error) {
		return root.OpenFile(name, os.O_RDONLY|filestore.WithoutWaiting, 0)
	}
	return &openedDirectory{root.FS(), open, root.Close}, nil
}

// openRoot opens a directory below another one. It returns an error if that directory is a link.
func openRoot(parent, at string) (*os.Root, error) {
	root, err := os.OpenRoot(parent)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	directory, err := root.OpenRoot(at) // follows a link, which the comparison below finds
	if err != nil {
		return nil, err
	}
	looked, _ := root.Lstat(at) // if either cannot be had, they are not the same
	if opened, _ := directory.Stat("."); !os.SameFile(looked, opened) {
		directory.Close()
		return nil, refuse(CodeLink, at, "the directory is a link, or was replaced while it was read", "put the directory itself there")
	}
	return directory, nil
}

// openRegular opens a regular file that was looked at, and nothing else: no link, also if it was put
// there after the look.
func (d *openedDirectory) openRegular(name string, looked fs.FileInfo) (fs.File, error) {
	if !looked.Mode().IsRegular() { // opening a pipe would block
		return nil, refuse(CodeLink, name, "the entry is a link, or no regular file", "put the file itself there")
	}
	f, err := d.open(name)
	if err != nil {
		return nil, err
	}
	opened, err := f.Stat()
	known := os.SameFile(looked, looked) // other file systems have no links
	if err == nil && (!opened.Mode().IsRegular() || known && !os.SameFile(looked, opened)) {
		err = refuse(CodeLink, name, "the file was replaced while the directory was read", "read it again when it no longer changes")
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

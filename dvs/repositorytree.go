package dvs

import (
	"archive/tar"
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// Bounds of a repository, apart from [Limits].Repository.
const (
	maxRepositoryFiles = 300_000
	maxRepositoryTotal = 4 << 30  // bytes of its files
	maxRepositoryNames = 64 << 20 // bytes of their paths and of what links lead to, which are in memory
	maxLinkSteps       = 40       // links on the way to one file
)

// repositoryTree has the files of a repository at one commit. Their content is in a temporary file, so
// that memory does not grow with it.
type repositoryTree struct {
	spool   *os.File
	entries map[string]treeEntry // by path in the repository
	paths   []string             // of the entries, sorted
}

// treeEntry is a file or a link of a repository.
type treeEntry struct {
	offset, size int64
	executable   bool
	tooLarge     bool   // its content was not kept
	link         string // what it points to; "": it is a file
	odd          bool   // neither file nor link
}

func (t *repositoryTree) close() error {
	err := t.spool.Close()
	return errors.Join(err, os.Remove(t.spool.Name()))
}

// readRepositoryTree reads the archive of a commit, whose members are below one directory.
func readRepositoryTree(body io.Reader, commit string, limits Limits) (*repositoryTree, error) {
	spool, err := os.CreateTemp("", "lookleap-repository-*")
	if err != nil {
		return nil, ioError(err)
	}
	t := &repositoryTree{spool: spool, entries: map[string]treeEntry{}}
	r := &treeReader{repositoryTree: t, commit: commit, limits: limits, out: bufio.NewWriterSize(spool, 1<<16)}
	err = walkTarGzip(body, maxRepositoryTotal, maxRepositoryFiles, r.member)
	if err == nil {
		err = ioError(r.out.Flush())
	}
	var known *lookleap.Error
	if err != nil {
		_ = t.close()
		if errors.As(err, &known) {
			return nil, known
		}
		return nil, badArchive("", "the archive of the repository cannot be read", err)
	}
	for name := range t.entries {
		t.paths = append(t.paths, name)
	}
	slices.Sort(t.paths)
	for name, e := range t.entries {
		if e.link != "" && len(t.below(name)) > 0 {
			_ = t.close()
			return nil, badArchive(name, "the archive has files below a link", nil)
		}
	}
	return t, nil
}

// treeReader reads an archive into a repositoryTree.
type treeReader struct {
	*repositoryTree
	commit string
	limits Limits
	out    *bufio.Writer
	top    string // directory above all members
	size   int64
	names  int // bytes
}

func (r *treeReader) member(h *tar.Header, content io.Reader) error {
	if h.Typeflag == tar.TypeXGlobalHeader {
		comment, err := tarComment(h)
		if err == nil && isFullCommit(comment) && !strings.EqualFold(comment, r.commit) {
			err = badArchive("", "the archive is that of the commit "+comment, nil)
		}
		return err
	}
	top, name, _ := strings.Cut(h.Name, "/")
	name = strings.TrimSuffix(name, "/")
	if r.top == "" {
		r.top = top
	}
	switch {
	case top != r.top, name != "" && !fs.ValidPath(name):
		return badArchive(h.Name, "the member is not below the directory of the repository", nil)
	case h.Typeflag == tar.TypeDir || name == "":
		return nil
	case len(name) > maxPath || len(h.Linkname) > maxPath:
		return refuse(lookleap.CodeLimit, plaintext.Quote(name, 200),
			fmt.Sprintf("the path, or that of the link in it, is longer than %d bytes", maxPath), "")
	case len(r.entries) >= maxRepositoryFiles:
		return refuse(lookleap.CodeLimit, h.Name, fmt.Sprintf("the repository has more than %d files", maxRepositoryFiles), "")
	}
	if r.names += len(name) + len(h.Linkname); r.names > maxRepositoryNames {
		return refuse(lookleap.CodeLimit, h.Name, fmt.Sprintf("the paths of the repository have more than %d bytes", maxRepositoryNames), "")
	}
	if _, twice := r.entries[name]; twice {
		return badArchive(h.Name, "the archive has the file twice", nil)
	}
	e := treeEntry{offset: r.size, executable: h.Mode&0o111 != 0}
	switch h.Typeflag {
	case tar.TypeReg:
		e.size, e.tooLarge = h.Size, h.Size > int64(r.limits.Resource)
	case tar.TypeSymlink:
		e.link = h.Linkname
	default:
		e.odd = true
	}
	r.entries[name] = e
	if h.Typeflag != tar.TypeReg || e.tooLarge {
		return nil
	}
	n, err := io.Copy(r.out, content)
	r.size += n
	return err
}

// read returns the content of a file of at most a number of bytes, and follows links to it.
func (t *repositoryTree) read(name string, limit int) ([]byte, error) {
	return t.readStart(name, limit, limit)
}

// readStart is [repositoryTree.read] for the first bytes of the file, of which it reads no more than most.
func (t *repositoryTree) readStart(name string, limit, most int) ([]byte, error) {
	to, err := t.resolve(name)
	if err != nil {
		return nil, err
	}
	e, ok := t.entries[to]
	switch {
	case !ok:
		return nil, refuse(CodeLink, name, "the link leads to no file of the repository", "put the file itself there")
	case e.odd:
		return nil, refuse(CodeLink, name, "the member is no regular file", "put the file itself there")
	case e.tooLarge || e.size > int64(limit):
		return nil, refuse(lookleap.CodeTooLarge, name, "the file, or all files together, are larger than allowed", "leave large files out")
	}
	content := make([]byte, min(e.size, int64(most)))
	_, err = t.spool.ReadAt(content, e.offset)
	if err != nil && !(err == io.EOF && e.size == 0) {
		return nil, ioError(err)
	}
	return content, nil
}

// resolve follows the links on the way to a path. A link that leaves the repository is refused, also
// if another one would lead back.
func (t *repositoryTree) resolve(name string) (string, error) {
	resolved, rest := "", name
	for steps := 0; rest != ""; {
		segment, more, _ := strings.Cut(rest, "/")
		at := join(resolved, segment)
		e := t.entries[at]
		if e.link == "" {
			resolved, rest = at, more
			continue
		}
		steps++
		target := path.Join(resolved, e.link)
		switch {
		case steps > maxLinkSteps:
			return "", refuse(CodeLink, name, "the links lead in a circle", "put the file itself there")
		case path.IsAbs(e.link), strings.Contains(e.link, "\\"), !fs.ValidPath(target):
			return "", refuse(CodeLink, name, "the link "+plaintext.Quote(at, 200)+" leads out of the repository, to "+plaintext.Quote(e.link, 200),
				"put the file itself there")
		}
		if target == "." {
			target = ""
		}
		resolved, rest = "", strings.TrimPrefix(path.Join(target, more), "/")
	}
	return resolved, nil
}

func (t *repositoryTree) below(directory string) []string {
	if directory == "" {
		return t.paths
	}
	from, _ := slices.BinarySearch(t.paths, directory+"/")
	to, _ := slices.BinarySearch(t.paths, directory+"0") // the character after "/"
	return t.paths[from:to]
}

// generated are directories whose content is made from other files, so the skills in it are copies.
var generated = wordSet{list: "node_modules .git dist build __pycache__"}

// skills returns the directories of the skills below a path: those in usual places or, if there are
// none, all of them. A link to a directory counts as the directory.
func (t *repositoryTree) skills(at string) (directories []string, findings []lookleap.Finding, err error) {
	if at, err = t.resolve(at); err != nil {
		return nil, nil, err
	}
	leaveOut := func(name, message string) {
		findings = append(findings, lookleap.Finding{Severity: lookleap.SeverityInfo, Code: CodeNotBundled, Message: message,
			Position: lookleap.Position{Path: name}})
	}
	found := map[string]bool{} // directory of a skill: it is in a usual place
	for _, name := range t.below(at) {
		directory := strings.TrimPrefix(path.Dir("/"+name), "/")
		if path.Base(name) != EntryFile {
			if t.entries[name].link == "" {
				continue
			}
			if directory, err = t.resolve(name); err != nil {
				leaveOut(name, sentence(err))
				continue
			}
			if _, ok := t.entries[join(directory, EntryFile)]; !ok {
				continue // no link to a skill
			}
		}
		found[directory] = found[directory] || isUsualPlace(strings.TrimPrefix(strings.TrimPrefix(name, at), "/"))
	}
	all := slices.Sorted(maps.Keys(found))
	for _, directory := range all {
		if found[directory] {
			directories = append(directories, directory)
		}
	}
	if len(directories) == 0 {
		return all, findings, nil
	}
	for _, directory := range all {
		if !found[directory] {
			leaveOut(join(directory, EntryFile), "the skill is not in a usual place, so it is left out; name its directory to have it")
		}
	}
	return directories, findings, nil
}

// isUsualPlace reports whether a SKILL.md, or a link to its directory, is where repositories have their
// skills.
func isUsualPlace(relative string) bool {
	segments := strings.Split(relative, "/")
	above := segments[:len(segments)-1]
	return !slices.ContainsFunc(above, generated.has) && (len(above) <= 1 || slices.Contains(above, "skills"))
}

func (t *repositoryTree) skillFiles(ctx context.Context, directory string, limits Limits) (*fileSet, error) {
	c := &treeCollector{repositoryTree: t, set: newFileSet(limits), signed: map[string]bool{}}
	if err := c.collect(ctx, directory, "", 0); err != nil {
		return nil, err
	}
	return c.set, c.set.checkEntry()
}

// treeCollector collects the files of one skill.
type treeCollector struct {
	*repositoryTree
	set     *fileSet
	visited int             // paths, each as often as links lead to it
	signed  map[string]bool // what isSigned returned for a directory
}

// visitsPerFile bounds the paths that are looked at for a skill: this many for each file that it may have. A
// few links can lead to a number of paths that grows exponentially with them.
const visitsPerFile = 100

// collect adds the files below a directory of the repository to the skill, under a prefix. A directory
// with another skill, and what installers leave out, is not part of it.
func (c *treeCollector) collect(ctx context.Context, directory, prefix string, links int) error {
	if links > maxLinkSteps {
		return refuse(CodeLink, prefix, "the links lead in a circle", "put the files themselves there")
	}
	names := c.below(directory)
	for i := 0; i < len(names); i++ {
		name := names[i]
		if c.visited++; c.visited > visitsPerFile*c.set.limits.Files {
			return refuse(lookleap.CodeLimit, directory, "the directory of the skill, with its links, has too many files", "split the skill")
		}
		if err := ctx.Err(); err != nil {
			return &lookleap.Error{Code: lookleap.CodeOf(err), Subject: directory, Message: "the files of the skill were not read", Err: err}
		}
		relative := strings.TrimPrefix(strings.TrimPrefix(name, directory), "/")
		if other := c.notPart(directory, relative); other != "" {
			if below, isDirectory := strings.CutSuffix(other, "/"); isDirectory {
				i += len(c.below(below)) - 1 // name is the first of them
			}
			continue
		}
		to, err := c.resolve(name)
		if err != nil {
			return err
		}
		inSkill := join(prefix, relative)
		if e, file := c.entries[to]; !file && c.entries[name].link != "" {
			switch {
			case len(c.below(to)) == 0: // the link leads nowhere, as other installers leave it out
			case to == "" || name == to || strings.HasPrefix(name, to+"/"):
				return refuse(CodeLink, name, "the link leads to a directory that it is in", "put the files themselves there")
			default:
				err = c.collect(ctx, to, inSkill, links+1)
			}
		} else {
			err = c.add(c.set, inSkill, name, e.executable)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// notPart returns the file or directory, with its final slash, that is not part of the skill in a
// directory although it is below it, if the file with this relative path is in it; or "".
func (c *treeCollector) notPart(directory, relative string) string {
	at := directory
	segments := strings.Split(relative, "/")
	for _, segment := range segments[:len(segments)-1] {
		at = join(at, segment)
		if _, another := c.entries[join(at, EntryFile)]; another || segment == ".git" || segment == "__pycache__" || segment == "__pypackages__" {
			return at + "/"
		}
	}
	if segments[len(segments)-1] == "metadata.json" && !c.isSigned(directory) {
		return join(at, "metadata.json")
	}
	return ""
}

// isSigned reports whether a directory has what may be a signature of all its files, so that none may be
// left out.
func (c *treeCollector) isSigned(directory string) bool {
	signed, known := c.signed[directory]
	if !known {
		signed = slices.ContainsFunc(c.below(directory), func(name string) bool { return path.Ext(name) == ".sig" })
		c.signed[directory] = signed
	}
	return signed
}

func (t *repositoryTree) add(set *fileSet, inSkill, name string, executable bool) error {
	room, err := set.room(inSkill)
	if err != nil {
		return err
	}
	content, err := t.read(name, room)
	if err != nil {
		return err
	}
	if executable {
		set.executable[inSkill] = true
	}
	return set.keep(inSkill, content, room)
}

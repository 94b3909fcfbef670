package dvs

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// fileSet holds the files of one skill and the rules for them, whether they come from an archive, a
// directory or a bundle: safe and different names, their number, and their size.
type fileSet struct {
	limits      Limits
	names       nameTable
	files       map[string][]byte
	executable  nameSet // of the files
	total       int     // bytes
	directories int
}

// nameSet is a set of paths below a skill's directory.
type nameSet = map[string]bool

func newFileSet(limits Limits) *fileSet {
	return &fileSet{limits: limits.withDefaults(), names: nameTable{}, files: map[string][]byte{}, executable: nameSet{}}
}

// room refuses a path, and returns how many bytes its file may have.
func (s *fileSet) room(name string) (int, error) {
	if len(s.files) >= s.limits.Files {
		return 0, refuse(lookleap.CodeLimit, name, fmt.Sprintf("the skill has more than %d files", s.limits.Files), "split the skill")
	}
	return min(s.limits.Resource, s.limits.Total-s.total), s.names.add(name, false)
}

// read adds a file, of which it reads no more than the limits allow. The size is the expected one, 0 if
// that is not known: many small files are then read without growing a buffer for each.
func (s *fileSet) read(name string, content io.Reader, size int64) error {
	room, err := s.room(name)
	if err != nil {
		return err
	}
	var data bytes.Buffer
	data.Grow(int(max(0, min(size, int64(room)))) + bytes.MinRead)
	if _, err := data.ReadFrom(io.LimitReader(content, int64(room)+1)); err != nil {
		return err
	}
	return s.keep(name, data.Bytes(), room)
}

func (s *fileSet) keep(name string, data []byte, room int) error {
	if len(data) > room {
		return refuse(lookleap.CodeTooLarge, name, "the file, or all files together, are larger than allowed", "leave large files out")
	}
	s.files[name] = data
	s.total += len(data)
	return nil
}

// maxDirectories bounds the directories of an archive, which Limits.Files does not count.
const maxDirectories = 10_000

// directory notes a directory of an archive.
func (s *fileSet) directory(name string) error {
	s.directories++
	if s.directories > maxDirectories {
		return refuse(lookleap.CodeLimit, name, fmt.Sprintf("the skill has more than %d directories", maxDirectories), "split the skill")
	}
	return s.names.add(name, true)
}

// checkFiles applies the rules to files that are in memory.
func checkFiles(files map[string][]byte, limits Limits) error {
	s := newFileSet(limits)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		room, err := s.room(name)
		if err == nil {
			err = s.keep(name, files[name], room)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Limits of file names.
const (
	maxSegment = 200 // bytes between slashes
	maxPath    = 1000
	maxNesting = 16
)

// foldFilePath refuses a path below a skill's directory (sections 4.1 and 4.5) that is not a file
// inside the directory on every operating system: no parent directories, devices, drives or
// streams, and no name that some system changes. It returns the names as [foldName] writes them.
func foldFilePath(file string) (names []string, err error) {
	bad := func(reason, fix string) ([]string, error) { return nil, refuse(CodeUnsafeName, file, reason, fix) }
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
	names = strings.Split(file, "/")
	for i, segment := range names {
		if reason := segmentFault(segment); reason != "" {
			return bad(reason, "rename the file")
		}
		names[i] = foldName(segment)
		switch names[i] {
		case ".git", "git~1", ".hg", "hg~1": // the second is the short name of the first on Windows
			return bad("a directory of that name holds what git or Mercurial runs", "rename the file")
		}
	}
	return names, nil
}

// segmentFault returns why a file name is unsafe, or "".
func segmentFault(segment string) string {
	switch {
	case len(segment) > maxSegment:
		return fmt.Sprintf("a name is longer than %d bytes", maxSegment)
	case strings.ContainsAny(segment, `<>:"|?*\`):
		return `a name has one of < > : " | ? * \, which mean something to some systems`
	case strings.IndexFunc(segment, func(r rune) bool {
		return plaintext.Invisible(r) || r == utf8.RuneError || !unicode.IsPrint(r)
	}) >= 0:
		return "a name has a character that cannot be seen"
	case strings.HasSuffix(segment, ".") || strings.HasSuffix(segment, " ") || strings.HasPrefix(segment, " "):
		return "a name begins or ends with a blank or ends with a dot, which some systems drop"
	case isDevice(segment):
		return "a name is that of a device on Windows"
	case !norm.NFC.IsNormalString(segment):
		return "a name is not in composed form, so systems store it differently"
	}
	return ""
}

// isDevice reports whether Windows opens a device for the name, whatever its extension.
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

// nameTable finds paths that are one on a system which ignores case, also where
// they differ in the name of a directory above the file.
type nameTable map[string]tableEntry

type tableEntry struct {
	path      string
	directory bool
}

// add records the path of a file or directory. It refuses an unsafe one, and one that clashes with
// an earlier one.
func (t nameTable) add(file string, directory bool) error {
	names, err := foldFilePath(file)
	if err != nil {
		return err
	}
	folded, end, foldedEnd := strings.Join(names, "/"), -1, -1
	for i, segment := range strings.Split(file, "/") {
		end += 1 + len(segment)
		foldedEnd += 1 + len(names[i])
		key, entry := folded[:foldedEnd], tableEntry{file[:end], directory || i < len(names)-1}
		if other, taken := t[key]; taken && (other != entry || !entry.directory) {
			return refuse(CodeNameClash, file, "on some systems the file is the same as another one", "rename one of them")
		}
		t[key] = entry
	}
	return nil
}

// CheckFileNames returns an error unless the paths below a skill's directory are those of different
// files inside the directory on every operating system. The loader checks the files that it loads;
// use it for lists of files from elsewhere.
func CheckFileNames(paths ...string) error {
	table := nameTable{}
	for _, p := range paths {
		if err := table.add(p, false); err != nil {
			return err
		}
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

package dvs

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/lookleap/lookleap"
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

package dvs

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"

	"github.com/lookleap/lookleap"
)

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

package dvs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/lookleap/lookleap"
)

// ReadSkillDir reads all files of a skill's directory by their paths below it,
// for a [Bundle], a lockfile or a publisher. Links and what is no regular file
// are refused, and so are names that are not safe on every system.
func ReadSkillDir(directory fs.FS, limits Limits) (map[string][]byte, error) {
	if directory == nil {
		return nil, missing("there is no directory of a skill", "give one, such as os.DirFS")
	}
	limits = limits.withDefaults()
	files, total := map[string][]byte{}, 0
	err := fs.WalkDir(directory, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return nil
		case !d.Type().IsRegular():
			return refuse(lookleap.CodeLink, name, "the entry is a link, or no regular file", "put the file itself there")
		case len(files) == limits.Files:
			return refuse(lookleap.CodeLimit, name, fmt.Sprintf("the directory has more than %d files", limits.Files), "split the skill")
		}
		if err := checkFilePath(name); err != nil {
			return err
		}
		content, err := readLimited(directory, name, min(limits.Resource, limits.Total-total))
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

// readLimited reads a file of at most so many octets.
func readLimited(files fs.FS, name string, limit int) ([]byte, error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err != nil {
		return nil, err
	}
	if len(content) > limit {
		return nil, refuse(lookleap.CodeTooLarge, name, "the file, or all files together, are larger than allowed", "leave large files out")
	}
	return content, nil
}

// ioError gives an error of the file system a reason code.
func ioError(err error) error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &fileError{err}
}

// fileError is a failure to read, as it came.
type fileError struct{ err error }

func (e *fileError) Error() string { return "dvs: " + e.err.Error() }

// Unwrap gives the cause, such as [fs.ErrNotExist].
func (e *fileError) Unwrap() error { return e.err }

// ReasonCode gives io.
func (e *fileError) ReasonCode() lookleap.Code { return lookleap.CodeIO }

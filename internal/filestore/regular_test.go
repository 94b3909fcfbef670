package filestore_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/lookleap/lookleap/internal/filestore"
)

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	if err := os.WriteFile(path, []byte("four"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		path  string
		limit int64
		want  error
	}{
		"accept-file":     {path, 4, nil},
		"reject-larger":   {path, 3, filestore.ErrTooLarge},
		"reject-missing":  {path + "y", 4, fs.ErrNotExist},
		"reject-dir":      {dir, 4, filestore.ErrNotRegular},
		"reject-device":   {os.DevNull, 4, filestore.ErrNotRegular},
		"reject-no-place": {"", 4, fs.ErrNotExist},
	} {
		t.Run(name, func(t *testing.T) {
			data, err := filestore.ReadFile(c.path, c.limit)
			if !errors.Is(err, c.want) || err == nil && string(data) != "four" || err != nil && data != nil {
				t.Errorf("%q, %v", data, err)
			}
		})
	}
	if _, err := filestore.OpenFile(os.DevNull, os.O_RDWR, 0); !errors.Is(err, filestore.ErrNotRegular) {
		t.Error("a device was opened as a store:", err)
	}
}

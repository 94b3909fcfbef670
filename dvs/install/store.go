package install

import (
	"encoding/hex"
	"os"
	"path/filepath"

	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/internal/filestore"
)

// Store keeps the files of installed skills by their digests, so that [Place.Sync] needs no network. It
// is a directory, and "" keeps nothing. What it returns has the digest that was asked for, whatever is
// in the directory.
type Store string

// DefaultStore is a directory of the user's cache; "" if there is none.
func DefaultStore() Store {
	cache, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return Store(filepath.Join(cache, "lookleap", "skills"))
}

func (s Store) path(d dvs.Digest) string {
	name := hex.EncodeToString(d[:])
	return filepath.Join(string(s), name[:2], name[2:])
}

// put keeps files. What cannot be kept is fetched again when it is needed.
func (s Store) put(files map[string][]byte) error {
	if s == "" {
		return nil
	}
	for _, content := range files {
		at := s.path(dvs.DigestOf(content))
		if info, err := os.Stat(at); err == nil && info.Size() == int64(len(content)) {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			return err
		}
		if err := filestore.WriteWhole(at, content, 0o600, false); err != nil { // what a crash damages is fetched again
			return err
		}
	}
	return nil
}

// files returns all files of a skill, or false if one of them is not kept.
func (s Store) files(skill *dvs.LockedSkill) (map[string][]byte, bool) {
	if s == "" {
		return nil, false
	}
	all := make(map[string][]byte, len(skill.Files))
	for _, f := range skill.Files {
		content, err := os.ReadFile(s.path(f.Digest))
		if err != nil || dvs.DigestOf(content) != f.Digest {
			return nil, false
		}
		all[f.Path] = content
	}
	return all, true
}

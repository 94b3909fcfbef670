package install

import (
	"cmp"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
)

// MigrationFile is the name of the lockfile of the npm package skills.
const MigrationFile = "skills-lock.json"

// Wanted is a skill that a lockfile of the npm package skills names.
type Wanted struct {
	Name   string
	Source string // for ParseSource; "": it came from a place that is not known here, or that is no repository
}

// ParseMigration reads a skills-lock.json, to add the skills in it once: it says from where they are, and
// not which bytes they had. Each is judged as if it were named for the first time.
func ParseMigration(data []byte) ([]Wanted, error) {
	var lock struct {
		Version int `json:"version"`
		Skills  map[string]struct {
			Source     string `json:"source"`
			SourceURL  string `json:"sourceUrl"`
			SourceType string `json:"sourceType"`
			Ref        string `json:"ref"`
			SkillPath  string `json:"skillPath"`
		} `json:"skills"`
	}
	if err := json.Unmarshal(data, &lock); err != nil || lock.Version != 1 || lock.Skills == nil {
		return nil, &lookleap.Error{Code: dvs.CodeBadLock, Subject: MigrationFile, Message: "this is no lockfile of version 1 of the npm package skills", Err: err}
	}
	var all []Wanted
	for _, name := range slices.Sorted(maps.Keys(lock.Skills)) {
		s := lock.Skills[name]
		w := Wanted{Name: name}
		directory := strings.Trim(path.Dir("/"+s.SkillPath), "/")
		switch s.SourceType {
		case "github":
			w.Source = s.Source
			if directory != "" {
				w.Source += "/" + directory
			}
			if s.Ref != "" {
				w.Source += "@" + s.Ref
			}
		case "gitlab":
			w.Source = cmp.Or(s.SourceURL, "https://gitlab.com/"+s.Source)
		case "well-known":
			w.Source = cmp.Or(s.SourceURL, "https://"+s.Source[strings.LastIndexByte(s.Source, '/')+1:])
		case "git", "local":
			w.Source = cmp.Or(s.SourceURL, s.Source)
		}
		if s.SourceType != "local" && isLocal(w.Source) { // a directory is loaded without a question
			w.Source = ""
		}
		all = append(all, w)
	}
	return all, nil
}

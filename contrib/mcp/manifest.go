package lookleapmcp

import (
	"encoding/json"
	"errors"
)

// Manifest lists the files of a skill with their digests: all of them, or none if the
// server says that it generates the skill.
type Manifest struct {
	Files   []File
	Dynamic bool // the server publishes no digests; such a skill is not loaded
}

// MarshalJSON returns the list, or "dynamic".
func (m Manifest) MarshalJSON() ([]byte, error) {
	if m.Dynamic {
		return []byte(`"dynamic"`), nil
	}
	return json.Marshal(m.Files)
}

// UnmarshalJSON reads the list, or "dynamic".
func (m *Manifest) UnmarshalJSON(text []byte) error {
	*m = Manifest{}
	if string(text) == `"dynamic"` {
		m.Dynamic = true
		return nil
	}
	if err := json.Unmarshal(text, &m.Files); err != nil {
		return err
	}
	if m.Files == nil {
		return errors.New(`the resources of a skill are neither a list nor "dynamic"`)
	}
	return nil
}

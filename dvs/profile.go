package dvs

import (
	"fmt"
	"strings"

	"github.com/lookleap/lookleap"
)

// Profile says by which rules [ParseSkill] reads a SKILL.md. Each accepts
// everything that the one above it in strictness accepts, with the same result:
// AgentSkills ⊂ DVS ⊂ Lenient.
type Profile uint8

const (
	// DVS: the rules of this draft (sections 4.2 to 4.4). The zero value.
	DVS Profile = iota
	// AgentSkills: those, and the stricter ones of the public Agent Skills
	// format: hyphens of the name, types and sizes of the optional fields, and
	// where the directory is known, that it has the skill's name.
	AgentSkills
	// Lenient: what the clients in use read, such as a description with an
	// unquoted ": ". Whatever DVS would refuse is a warning that names the place,
	// what was made of it, and the fix; nothing is repaired silently. Needed are
	// a name and a description that a person can see. For reading what is
	// published today, not for judging what to publish.
	Lenient
)

var profileNames = [...]string{"dvs", "agentskills", "lenient"}

// String gives dvs, agentskills or lenient.
func (p Profile) String() string {
	if int(p) < len(profileNames) {
		return profileNames[p]
	}
	return fmt.Sprintf("Profile(%d)", uint8(p))
}

// MarshalText gives dvs, agentskills or lenient.
func (p Profile) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads what MarshalText wrote; any other text is an error.
func (p *Profile) UnmarshalText(text []byte) error {
	for i, name := range profileNames {
		if string(text) == name {
			*p = Profile(i)
			return nil
		}
	}
	return refuse(lookleap.CodeUsage, shorten(string(text)), "there is no such profile", "use one of "+strings.Join(profileNames[:], ", "))
}

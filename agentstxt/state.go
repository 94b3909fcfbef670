package agentstxt

import (
	"fmt"
)

// State says what kind of policy stands for an origin. The zero value is
// Restricted.
type State uint8

const (
	// Restricted: the file is malformed, or nobody can tell what it says. Every
	// automated request to the origin is denied, except reading the policy again
	// (section 5).
	Restricted State = iota
	// Absent: the origin publishes no policy, and so forbids nothing.
	Absent
	// Valid: the file is whole, and its directives decide.
	Valid
)

var stateNames = [...]string{"restricted", "absent", "valid"}

// String gives the state in lower case.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return stateNames[Restricted]
}

// MarshalText gives the state in lower case.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText wrote; any other text is an error.
func (s *State) UnmarshalText(text []byte) error {
	for i, name := range stateNames {
		if string(text) == name {
			*s = State(i)
			return nil
		}
	}
	return usageError(fmt.Sprintf("unknown state %q", text), "")
}

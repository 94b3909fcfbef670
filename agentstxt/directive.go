package agentstxt

import (
	"fmt"
	"strings"
)

// Directive is one line of a policy (section 6): a path, what may be done there,
// and under which conditions.
type Directive struct {
	Path   string  `json:"path"`   // as written, begins with "/"
	Action Action  `json:"action"` //
	Params []Param `json:"params,omitempty"`
	Line   int     `json:"line,omitempty"` // in the file, from 1
}

// Param is one condition of a directive, for instance limit=50.
type Param struct {
	Key   string `json:"key"` // compared without regard to ASCII case
	Value string `json:"value"`
}

// Action is what a directive says about its path. The zero value is Disallow.
type Action uint8

const (
	// Disallow forbids automated requests.
	Disallow Action = iota
	// Allow permits them.
	Allow
)

var actionNames = [...]string{"DISALLOW", "ALLOW"}

// String gives the word of the draft, in its capitals.
func (a Action) String() string {
	if int(a) < len(actionNames) {
		return actionNames[a]
	}
	return actionNames[Disallow]
}

// MarshalText gives the word of the draft.
func (a Action) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads exactly the words of the draft.
func (a *Action) UnmarshalText(text []byte) error {
	for i, name := range actionNames {
		if string(text) == name {
			*a = Action(i)
			return nil
		}
	}
	return usageError(fmt.Sprintf("unknown action %q", text), "use ALLOW or DISALLOW")
}

// String gives the line of the directive without its end.
func (d Directive) String() string {
	var b strings.Builder
	b.WriteString(d.Path + " " + d.Action.String())
	for _, p := range d.Params {
		b.WriteString(" " + p.Key + "=" + p.Value)
	}
	return b.String()
}

package agentstxt

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"strings"

	"github.com/lookleap/lookleap"
)

// Policy is what one origin says to automated clients, or what stands in for
// it. It never changes and may be shared. The zero value and nil are
// Restricted: they deny everything but the policy file.
type Policy struct {
	state      State
	reason     lookleap.Code
	err        error
	text       string      // the file, and after it other spellings of its paths
	size       int         // of the file
	rules      []rule      // the directives in order, and after them other spellings
	own        int         // how many of the rules are directives
	conditions []condition // of the rules, up to the last one that has any
	index      index
	patterns   []pattern
	unlisted   bool // whether paths are allowed that no directive speaks of
	denies     bool // some path is denied, or allowed with a condition
	longest    int  // path that is judged, in octets
	digest     [32]byte
	meta       map[string]string
	findings   []lookleap.Finding
}

// restricted is the policy that stands where there is none to be had.
func restricted(err error) *Policy {
	return &Policy{reason: lookleap.CodeOf(err), err: err}
}

// absent is the policy of an origin that publishes none.
func absent(reason lookleap.Code, findings ...lookleap.Finding) *Policy {
	return &Policy{state: Absent, reason: reason, findings: findings}
}

// with gives a copy that has one finding more.
func (p *Policy) with(f lookleap.Finding) *Policy {
	shown := *p
	shown.findings = append(shown.findings[:len(shown.findings):len(shown.findings)], f)
	return &shown
}

// State says what kind of policy this is.
func (p *Policy) State() State {
	if p == nil {
		return Restricted
	}
	return p.state
}

// Reason says why the policy has its state: [lookleap.CodeOK] for a valid one.
func (p *Policy) Reason() lookleap.Code {
	if p == nil || p.reason == "" {
		return CodeRestricted
	}
	return p.reason
}

// Err tells what went wrong, for a restricted policy: a [*MalformedError] with
// the place, or what kept the policy from being read. It is nil otherwise.
func (p *Policy) Err() error {
	if p == nil {
		return nil
	}
	return p.err
}

// Directives yields the directives in the order of the file.
func (p *Policy) Directives() iter.Seq[Directive] {
	return func(yield func(Directive) bool) {
		if p == nil {
			return
		}
		for _, r := range p.rules[:p.own] {
			d := Directive{Path: r.path(p.text), Line: int(r.line)}
			if r.allows() {
				d.Action = Allow
			}
			if r.flags&hasParams != 0 {
				d.Params = params(p.line(r), int(r.length))
			}
			if !yield(d) {
				return
			}
		}
	}
}

// Len is the number of directives.
func (p *Policy) Len() int {
	if p == nil {
		return 0
	}
	return p.own
}

// Meta gives the "# key: value" comments, keys in lower case, the first value of
// each. They stand outside the hash: anybody who can touch the file can change
// them unnoticed, and no decision looks at them.
func (p *Policy) Meta() map[string]string {
	if p == nil {
		return nil
	}
	return maps.Clone(p.meta)
}

// Findings lists what somebody should look at, the publisher most of all.
func (p *Policy) Findings() []lookleap.Finding {
	if p == nil {
		return nil
	}
	return append([]lookleap.Finding(nil), p.findings...)
}

// Integrity is the digest of the directives of a valid policy: "sha256:" and 64
// hex digits. It shows that the file is whole, not who wrote it (section 8):
// that is what https is for.
func (p *Policy) Integrity() string {
	if p.State() != Valid {
		return ""
	}
	return "sha256:" + hex.EncodeToString(p.digest[:])
}

// Report is a policy and some decisions as data, for programs and people that
// look into an origin.
type Report struct {
	State      State              `json:"state"`
	Reason     lookleap.Code      `json:"reason"`
	Directives []Directive        `json:"directives"`
	Meta       map[string]string  `json:"meta"`
	Decisions  []Decision         `json:"decisions"`
	Integrity  string             `json:"integrity,omitempty"`
	Error      string             `json:"error,omitempty"`
	Findings   []lookleap.Finding `json:"findings,omitempty"`
}

// Report shows the policy, with its decision about each of the paths.
func (p *Policy) Report(paths ...string) Report {
	r := Report{
		State: p.State(), Reason: p.Reason(), Integrity: p.Integrity(), Findings: p.Findings(),
		Directives: []Directive{}, Meta: map[string]string{}, Decisions: []Decision{},
	}
	for d := range p.Directives() {
		r.Directives = append(r.Directives, d)
	}
	maps.Copy(r.Meta, p.Meta())
	for _, path := range paths {
		r.Decisions = append(r.Decisions, p.Decide(path))
	}
	if err := p.Err(); err != nil {
		r.Error = err.Error()
	}
	return r
}

// MarshalJSON writes the [Report] without decisions.
func (p *Policy) MarshalJSON() ([]byte, error) { return json.Marshal(p.Report()) }

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

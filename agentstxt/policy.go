package agentstxt

import (
	"encoding/hex"
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// Policy is the policy of one origin for automated clients. It never changes and may be
// shared. The nil and the zero Policy are Restricted: they deny every path except
// /agents.txt.
type Policy struct {
	state      State
	reason     lookleap.Code
	err        error
	directives []Directive // in the order of the file
	rules      ruleSet     // of the directives
	size       int         // of the file, in bytes
	unlisted   bool        // whether paths that no directive matches are allowed
	denies     bool        // whether any path is denied, or allowed with a condition
	longest    int         // length in bytes of the longest path that is checked
	digest     [32]byte
	meta       map[string]string
	findings   []lookleap.Finding
	foreign    *RobotsFile // what a file of another format disallows; nil: nothing
}

// memory estimates the memory of the policy.
func (p *Policy) memory() int {
	bytes := 512 + 2*p.size + 64*len(p.directives) + 200*p.rules.len()
	if p.foreign != nil {
		bytes += p.foreign.memory()
	}
	return bytes
}

// restricted returns the policy of an origin whose file has an error.
func restricted(err error) *Policy {
	return &Policy{reason: lookleap.CodeOf(err), err: err}
}

// absent returns the policy of an origin that publishes none.
func absent(reason lookleap.Code, findings ...lookleap.Finding) *Policy {
	return &Policy{state: Absent, reason: reason, findings: findings}
}

// with returns a copy that has one more finding.
func (p *Policy) with(f lookleap.Finding) *Policy {
	shown := *p
	shown.findings = append(shown.findings[:len(shown.findings):len(shown.findings)], f)
	return &shown
}

// State returns the state of the policy.
func (p *Policy) State() State {
	if p == nil {
		return Restricted
	}
	return p.state
}

// Reason returns why the policy has its state, and [lookleap.CodeOK] for a valid one.
func (p *Policy) Reason() lookleap.Code {
	if p == nil || p.reason == "" {
		return CodeRestricted
	}
	return p.reason
}

// Err returns why the policy is restricted: a [*lookleap.Error] of class [ErrMalformed]
// or [ErrUnavailable]. It returns nil for other policies.
func (p *Policy) Err() error {
	if p == nil {
		return nil
	}
	return p.err
}

// Directives returns the directives in the order of the file.
func (p *Policy) Directives() iter.Seq[Directive] {
	return func(yield func(Directive) bool) {
		if p == nil {
			return
		}
		for _, d := range p.directives {
			d.Params = slices.Clone(d.Params)
			if !yield(d) {
				return
			}
		}
	}
}

// Len returns the number of directives.
func (p *Policy) Len() int {
	if p == nil {
		return 0
	}
	return len(p.directives)
}

// Meta returns the "# key: value" comments with keys in lower case and the first value
// of each key. The hash does not protect them, and decisions do not depend on them.
func (p *Policy) Meta() map[string]string {
	if p == nil {
		return nil
	}
	return maps.Clone(p.meta)
}

// Findings returns what the publisher should check.
func (p *Policy) Findings() []lookleap.Finding {
	if p == nil {
		return nil
	}
	return append([]lookleap.Finding(nil), p.findings...)
}

// Integrity returns the digest of the directives of a valid policy, "sha256:" followed by
// 64 hex digits, and "" for other policies. It shows that the file is complete, and not
// who wrote it (section 8).
func (p *Policy) Integrity() string {
	if p.State() != Valid {
		return ""
	}
	return "sha256:" + hex.EncodeToString(p.digest[:])
}

// Report is a policy with some decisions as data, for tools that inspect an origin.
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

// Report returns the policy as data, with its decision about each path.
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

// MarshalJSON returns the [Report] of the policy without decisions.
func (p *Policy) MarshalJSON() ([]byte, error) { return json.Marshal(p.Report()) }

// State is the state of a policy. The zero value is Restricted.
type State uint8

const (
	// Restricted means that the file is malformed or could not be read. Every request
	// is denied, except for /agents.txt (section 5).
	Restricted State = iota
	// Absent means that the origin publishes no policy. Every request is allowed.
	Absent
	// Valid means that the file is complete. Its directives decide.
	Valid
)

var stateNames = [...]string{"restricted", "absent", "valid"}

// String returns the state in lower case.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return stateNames[Restricted]
}

// MarshalText returns the state in lower case.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText returned. It returns an error for other texts.
func (s *State) UnmarshalText(text []byte) error {
	for i, name := range stateNames {
		if string(text) == name {
			*s = State(i)
			return nil
		}
	}
	return usageError("unknown state "+plaintext.Quote(string(text), 100), "")
}

// Directive is one line of a policy (section 6): a path, an action, and parameters.
type Directive struct {
	Path   string  `json:"path"` // as written, beginning with "/"
	Action Action  `json:"action"`
	Params []Param `json:"params,omitempty"`
	Line   int     `json:"line,omitempty"` // in the file, from 1
}

// Param is one parameter of a directive, for instance limit=50.
type Param struct {
	Key   string `json:"key"` // ASCII case is ignored
	Value string `json:"value"`
}

// Action is the action of a directive. The zero value is Disallow.
type Action uint8

const (
	// Disallow denies automated requests.
	Disallow Action = iota
	// Allow allows automated requests.
	Allow
)

var actionNames = [...]string{"DISALLOW", "ALLOW"}

// String returns the word of the draft, ALLOW or DISALLOW.
func (a Action) String() string {
	if int(a) < len(actionNames) {
		return actionNames[a]
	}
	return actionNames[Disallow]
}

// MarshalText returns the word of the draft.
func (a Action) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads the words of the draft, in capitals.
func (a *Action) UnmarshalText(text []byte) error {
	for i, name := range actionNames {
		if string(text) == name {
			*a = Action(i)
			return nil
		}
	}
	return usageError("unknown action "+plaintext.Quote(string(text), 100), "use ALLOW or DISALLOW")
}

// String returns the line of the directive without its line end.
func (d Directive) String() string {
	var b strings.Builder
	b.WriteString(d.Path + " " + d.Action.String())
	for _, p := range d.Params {
		b.WriteString(" " + p.Key + "=" + p.Value)
	}
	return b.String()
}

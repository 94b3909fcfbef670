package agentstxt

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// Decision says whether a path may be requested, and why. The zero value denies.
type Decision struct {
	Path    string        // the path in question
	Allowed bool          // whether it may be requested
	Matched bool          // whether a directive matched
	Code    lookleap.Code // why
	Rule    string        // the path of the directive that matched, as written
	Line    int           // the line of that directive, from 1; 0 if no directive matched
	Limit   int           // requests that the directive allows in [Options.Window]; 0: unlimited

	// Generation is the number of the policy in a [Client]. The decision is outdated
	// if [Client.Generation] returns another number.
	Generation uint64
}

// String returns the decision as one sentence.
func (d Decision) String() string {
	answer := "denied"
	if d.Allowed {
		answer = "allowed"
	}
	s := fmt.Sprintf("%s is %s: %s (%s)", plaintext.Quote(d.Path, maxQuoted), answer, d.Code.Title(), d.Code)
	if d.Line > 0 {
		s += fmt.Sprintf(", line %d", d.Line)
	}
	if d.Allowed && d.Limit > 0 {
		s += fmt.Sprintf(", at most %d requests in the window", d.Limit)
	}
	return s
}

// MarshalJSON returns the members path, allowed, reason, line and limit, and rule if a
// directive matched.
func (d Decision) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Path    string        `json:"path"`
		Allowed bool          `json:"allowed"`
		Reason  lookleap.Code `json:"reason"`
		Line    int           `json:"line"`
		Rule    string        `json:"rule,omitempty"`
		Limit   int           `json:"limit"`
	}{d.Path, d.Allowed, d.Code, d.Line, d.Rule, d.Limit})
}

// policyPath is the path of the policy. It may always be read.
const policyPath = "/agents.txt"

// Decide reports whether an automated client may request a path of the policy's origin.
// The path begins with "/" and is percent-encoded as in a URL. "" means "/". A query or
// fragment is ignored.
//
// Decide normalises the path (RFC 3986, section 6.2.2). If servers are known to read
// the path in other ways (several slashes, encoded slashes, backslashes, segment
// parameters, double encodings), the strictest decision of all readings counts. A path
// with too many readings is denied by every policy that denies anything.
func (p *Policy) Decide(path string) Decision { return p.decide(path, true) }

// decide is Decide for any method. Only methods that read (GET and HEAD) may always
// request the policy file.
func (p *Policy) decide(path string, reads bool) Decision {
	d := Decision{Path: path}
	state := p.State()
	if state == Absent {
		d.Allowed, d.Code = true, CodeNoPolicy
		if path != policyPath {
			if rule := p.foreign.Decide(path); !rule.Allowed {
				d, d.Code = rule, CodeForeignDisallowed
			}
		}
		return d
	}
	if end := strings.IndexAny(path, "?#"); end >= 0 {
		path = path[:end]
	}
	if path == "" {
		path = "/"
	}
	most := math.MaxUint16
	if state == Valid {
		most = p.longest
	}
	var room [2][512]byte
	spelled, ok := appendSpelled(room[0][:0], path[:min(len(path), most)])
	ok = ok && len(path) <= most && path[0] == '/'
	normal := append(room[1][:0], spelled...)
	if ok {
		normal = removeDots(normal)
	}
	switch {
	case ok && reads && string(normal) == policyPath:
		d.Allowed, d.Code = true, codePolicyFile
	case state != Valid:
		d.Code = CodeRestricted
	case len(path) > most:
		d.Code = lookleap.CodeURLTooLong
	case !ok:
		d.Code = lookleap.CodeBadURL
	default:
		r, unclear := p.strictest(path, spelled, normal)
		d.Code = unclear
		if unclear == "" {
			p.apply(&d, r)
		}
	}
	return d
}

// apply fills in the decision of a rule, or of nil if no directive matches.
func (p *Policy) apply(d *Decision, r *rule) {
	if r == nil {
		d.Allowed, d.Code = p.unlisted, CodeUnlisted
		return
	}
	d.Matched, d.Line, d.Rule = true, r.line, r.raw
	if !r.allow {
		d.Code = CodeDisallowed
		return
	}
	d.Code = unmetCodes[r.condition.unmet]
	if r.condition.unmet == satisfiable {
		d.Allowed, d.Code, d.Limit = true, CodeAllowed, int(r.condition.limit)
	}
}

// permits returns how much a rule permits, for comparisons: less is stricter, and 0 is DISALLOW.
// A nil rule stands for a path that no directive matches.
func (p *Policy) permits(r *rule) int {
	const (
		disallowed = iota
		unmet
		unlisted
		limited
	)
	switch {
	case r == nil && p.unlisted:
		return math.MaxInt
	case r == nil:
		return unlisted
	case !r.allow:
		return disallowed
	case r.condition.unmet != satisfiable:
		return unmet
	case r.condition.limit > 0:
		return limited + int(r.condition.limit)
	}
	return math.MaxInt
}

// strictest returns the rule that decides a path over all its readings, nil if no directive does,
// or a code if the readings are too many or too long to check. The path is given as in the URL,
// with normal encodings, and in normal form.
func (p *Policy) strictest(path string, spelled, normal []byte) (r *rule, unclear lookleap.Code) {
	effort := maxEffort
	r = p.rules.match(normal, 0, &effort)
	if isAmbiguous(spelled) {
		covered := len(spelled) == len(normal) && covers(r, normal)
		r, unclear = p.strictestReading(path, r, covered, &effort)
	}
	if effort < 0 {
		unclear = lookleap.CodeURLTooLong
	}
	if unclear != "" && !p.denies {
		return nil, ""
	}
	return r, unclear
}

// strictestReading returns the strictest rule of all readings of a path, beginning with
// the one of its normal form.
func (p *Policy) strictestReading(path string, strictest *rule, covered bool, effort *int) (r *rule, unclear lookleap.Code) {
	all, ok := readingsOf(path)
	if !ok {
		return nil, lookleap.CodeAmbiguousPath
	}
	for _, reading := range all {
		key := appendKey(nil, reading)
		r := p.rules.match(key, 0, effort)
		switch permits := p.permits(r); {
		case permits >= p.permits(strictest):
		case r == nil && covered:
			// An ALLOW line spells the path out, so an unlisted reading denies nothing.
		case permits > 0 && hasDots(key):
			// A path that keeps its dot segments counts only where a directive disallows
			// it. Otherwise a list of what is allowed would deny ordinary references.
		default:
			strictest = r
		}
	}
	return strictest, ""
}

// covers reports whether the rule is an ALLOW line whose path contains everything that
// is ambiguous in the given path. The publisher then chose this spelling, so that an
// unlisted reading of it does not deny the path.
func covers(r *rule, path []byte) bool {
	return r != nil && r.allow && !isAmbiguous(path[min(r.rank, len(path))-1:])
}

package agentstxt

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
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
// with too many readings is denied by every policy that denies anything. Decide does
// not allocate for paths of ordinary length.
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
	all, steps := survey(path)
	if all&notPath != 0 {
		if end := strings.IndexAny(path, "?#"); end >= 0 {
			path = path[:end]
			all, steps = survey(path)
		}
	}
	if path == "" {
		path = "/"
	}
	const special = notPath | percent | highBit | semicolon
	if all&special != 0 || steps != 0 || strings.HasSuffix(path, ".") || state != Valid || len(p.patterns) > 0 ||
		path[0] != '/' || len(path) > p.longest {
		p.decideWithCare(&d, path, reads)
		return d
	}
	if reads && path == policyPath {
		d.Allowed, d.Code = true, CodePolicyFile
		return d
	}
	p.apply(&d, longest(&p.index, p.text, p.rules, path))
	return d
}

// decideWithCare decides about paths that have more than one reading, and for policies
// with patterns and restricted policies.
func (p *Policy) decideWithCare(d *Decision, path string, reads bool) {
	if path[0] != '/' {
		d.Code = lookleap.CodeBadURL
		if p.State() != Valid {
			d.Code = CodeRestricted
		}
		return
	}
	var room [2][512]byte
	var spelled, normal []byte
	ok := false
	if p.State() != Valid || len(path) <= p.longest {
		spelled, ok = appendSpelled(room[0][:0], path[:min(len(path), math.MaxUint16)])
		normal = append(room[1][:0], spelled...)
		if ok {
			normal = removeDots(normal)
		}
	}
	switch {
	case ok && reads && string(normal) == policyPath:
		d.Allowed, d.Code = true, CodePolicyFile
	case p.State() != Valid:
		d.Code = CodeRestricted
	case len(path) > p.longest:
		d.Code = lookleap.CodeURLTooLong
	case !ok:
		d.Code = lookleap.CodeBadURL
	default:
		rule, unclear := p.strictest(path, spelled, normal)
		d.Code = unclear
		if unclear == "" {
			p.apply(d, rule)
		}
	}
}

// apply fills in the decision of the rule at position i, or of noRule.
func (p *Policy) apply(d *Decision, i int) {
	if i == noRule {
		d.Allowed, d.Code = p.unlisted, CodeUnlisted
		return
	}
	r := p.rules[i]
	directive := i
	if i >= p.own { // another spelling of a directive
		directive, _ = slices.BinarySearchFunc(p.rules[:p.own], r.line, func(r rule, line uint32) int { return int(r.line) - int(line) })
	}
	d.Matched, d.Line, d.Rule = true, int(r.line), p.rules[directive].path(p.text)
	if !r.allows() {
		d.Code = CodeDisallowed
		return
	}
	condition := p.condition(i)
	d.Code = unmetCodes[condition.unmet]
	if condition.unmet == satisfiable {
		d.Allowed, d.Code, d.Limit = true, CodeAllowed, int(condition.limit)
	}
}

// noRule stands for the position of a rule if no directive matches the path.
const noRule = -1

// permits returns how much the rule at position i permits, for comparisons: less is
// stricter, and 0 is DISALLOW.
func (p *Policy) permits(i int) int {
	const (
		disallowed = iota
		unmet
		unlisted
		limited
	)
	if i == noRule {
		if p.unlisted {
			return math.MaxInt
		}
		return unlisted
	}
	switch condition := p.condition(i); {
	case !p.rules[i].allows():
		return disallowed
	case condition.unmet != satisfiable:
		return unmet
	case condition.limit > 0:
		return limited + int(condition.limit)
	}
	return math.MaxInt
}

// strictest returns the position of the rule that decides a path over all its
// readings, or a code if they are too many or too long to check. The path is given as
// in the URL, with normal encodings, and in normal form.
func (p *Policy) strictest(path string, spelled, normal []byte) (rule int, unclear lookleap.Code) {
	effort := maxEffort
	rule = p.lookup(normal, &effort)
	if isAmbiguous(spelled) {
		covered := len(spelled) == len(normal) && p.covers(rule, normal)
		rule, unclear = p.strictestReading(path, rule, covered, &effort)
	}
	if effort < 0 {
		unclear = lookleap.CodeURLTooLong
	}
	if unclear != "" && !p.denies {
		return noRule, ""
	}
	return rule, unclear
}

// strictestReading returns the strictest rule of all readings of a path, beginning with
// the one of its normal form.
func (p *Policy) strictestReading(path string, strictest int, covered bool, effort *int) (rule int, unclear lookleap.Code) {
	var text [2048]byte
	var ends [maxReadings]int
	var room [512]byte
	all, ok := readingsOf(path, readings{text[:0], ends[:0]})
	if !ok {
		return noRule, lookleap.CodeAmbiguousPath
	}
	for i := range all.ends {
		key := appendKey(room[:0], all.at(i))
		rule := p.lookup(key, effort)
		switch permits := p.permits(rule); {
		case permits >= p.permits(strictest):
		case rule == noRule && covered:
			// An ALLOW line spells the path out, so an unlisted reading denies nothing.
		case permits > 0 && hasDots(key):
			// A path that keeps its dot segments counts only where a directive disallows
			// it. Otherwise a list of what is allowed would deny ordinary references.
		default:
			strictest = rule
		}
	}
	return strictest, ""
}

// covers reports whether the rule is an ALLOW line whose path contains everything that
// is ambiguous in the given path. The publisher then chose this spelling, so that an
// unlisted reading of it does not deny the path.
func (p *Policy) covers(i int, path []byte) bool {
	if i < 0 || !p.rules[i].allows() {
		return false
	}
	return !isAmbiguous(path[min(int(p.rules[i].length), len(path))-1:])
}

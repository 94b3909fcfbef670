package agentstxt

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
)

// Decision is the answer about one path. The zero value denies.
type Decision struct {
	Path    string        // that was asked about
	Allowed bool          //
	Matched bool          // a directive decided, not the absence of one
	Code    lookleap.Code // why
	Rule    string        // path of the directive that decided, as written
	Line    int           // of that directive, from 1; 0: none
	Limit   int           // requests per [Options.Window] that the directive allows; 0: it names no limit

	// Generation counts the policies that a [Client] has had for the origin. A
	// decision is outdated when [Client.Generation] is higher.
	Generation uint64
}

// String gives the decision as one sentence.
func (d Decision) String() string {
	answer := "denied"
	if d.Allowed {
		answer = "allowed"
	}
	s := fmt.Sprintf("%s is %s: %s (%s)", quote(d.Path), answer, d.Code.Title(), d.Code)
	if d.Line > 0 {
		s += fmt.Sprintf(", line %d", d.Line)
	}
	if d.Allowed && d.Limit > 0 {
		s += fmt.Sprintf(", at most %d requests in the window", d.Limit)
	}
	return s
}

// MarshalJSON writes path, allowed, reason, line (0: none decided) and limit (0:
// none), and, where a directive decided, its path as rule.
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

// policyPath is where the policy is, and what may always be read.
const policyPath = "/agents.txt"

// Decide answers whether an automated client may touch a path of the policy's
// origin. The path begins with "/" ("" means "/"), as it stands in a URL,
// percent-encodings and all; a query or fragment plays no part.
//
// The path is judged in its normal form (RFC 3986, section 6.2.2) and, where
// servers are known to read it otherwise (several slashes, encoded slashes,
// backslashes, segment parameters, double encodings), in each of those readings
// too. The strictest answer counts. A path with more readings than any client
// needs is denied where the policy denies anything. Decide allocates nothing for
// paths of ordinary length.
func (p *Policy) Decide(path string) Decision { return p.decide(path, true) }

// decide is Decide, and for methods other than GET and HEAD, which do not read,
// without the exception for the policy file.
func (p *Policy) decide(path string, reads bool) Decision {
	d := Decision{Path: path}
	state := p.State()
	if state == Absent {
		d.Allowed, d.Code = true, CodeNoPolicy
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
	if all&special != 0 || steps != 0 || strings.HasSuffix(path, ".") || state != Valid || len(p.patterns) > 0 || path[0] != '/' || len(path) > p.longest {
		p.decideWithCare(&d, path, reads)
		return d
	}
	if reads && path == policyPath {
		d.Allowed, d.Code = true, CodePolicyFile
		return d
	}
	p.settle(&d, longest(&p.index, p.text, p.rules, path))
	return d
}

// decideWithCare takes the paths that have more than one reading, patterns, and
// restricted policies.
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
		p.settle(d, p.strictest(path, spelled, normal))
	}
}

// settle fills in the decision of the rule at position i, or of what stands
// for one.
func (p *Policy) settle(d *Decision, i int) {
	switch i {
	case noRule:
		d.Allowed, d.Code = p.unlisted, CodeUnlisted
		return
	case manyReadings:
		d.Code = lookleap.CodeAmbiguousPath
		return
	case longMatch:
		d.Code = lookleap.CodeURLTooLong
		return
	}
	r := p.rules[i]
	d.Matched, d.Line, d.Rule = true, int(r.line), p.written(i)
	limit := p.limit(i)
	switch {
	case !r.allows():
		d.Code = CodeDisallowed
	case limit == limitBad:
		d.Code = CodeBadLimit
	case limit == limitZero:
		d.Code = lookleap.CodeLimit
	case limit == paramUnknown:
		d.Code = CodeUnknownParam
	default:
		d.Allowed, d.Code, d.Limit = true, CodeAllowed, int(limit)
	}
}

// written gives the path of a rule's directive as it stands in the file.
func (p *Policy) written(i int) string {
	if i >= p.own {
		line := p.rules[i].line
		i, _ = slices.BinarySearchFunc(p.rules[:p.own], line, func(r rule, line uint32) int { return int(r.line) - int(line) })
	}
	return p.rules[i].path(p.text)
}

// permits ranks what the rule at position i permits: the lower the stricter, and
// 0 for DISALLOW.
func (p *Policy) permits(i int) int {
	const (
		disallowed = iota
		unmet
		unlisted
		limited
	)
	switch {
	case i < 0 && p.unlisted:
		return math.MaxInt
	case i < 0:
		return unlisted
	case !p.rules[i].allows():
		return disallowed
	}
	switch limit := p.limit(i); {
	case limit < 0:
		return unmet
	case limit > 0:
		return limited + int(limit)
	}
	return math.MaxInt
}

// These stand for the position of a rule in a decision.
const (
	noRule       = -1 // no directive speaks of the path
	manyReadings = -2 // the path has too many readings to judge
	longMatch    = -3 // the path is too long for the patterns of the policy
)

// strictest returns the position of the rule that decides a path, over all its
// readings. The path comes as it is in the URL, with normal encodings, and in
// normal form.
func (p *Policy) strictest(path string, spelled, normal []byte) int {
	effort := mostEffort
	worst := p.lookup(normal, &effort)
	if isAmbiguous(spelled) {
		covered := len(spelled) == len(normal) && p.covers(worst, normal)
		worst = p.strictestReading(path, worst, covered, &effort)
	}
	if effort < 0 {
		worst = longMatch
	}
	if worst < noRule && !p.denies {
		return noRule
	}
	return worst
}

func (p *Policy) strictestReading(path string, worst int, covered bool, effort *int) int {
	var text [2048]byte
	var ends [mostReadings]int
	var room [512]byte
	all, ok := readingsOf(path, readings{text[:0], ends[:0]})
	if !ok {
		return manyReadings
	}
	for i := range all.ends {
		key := appendKey(room[:0], all.at(i))
		rule := p.lookup(key, effort)
		switch permits := p.permits(rule); {
		case permits >= p.permits(worst):
		case rule == noRule && covered:
			// An ALLOW line spells the path out, so an unlisted reading denies nothing.
		case permits > 0 && hasDots(key):
			// A path that keeps its dot segments counts only where a directive disallows
			// it. Otherwise a list of what is allowed would deny ordinary references.
		default:
			worst = rule
		}
	}
	return worst
}

// covers reports whether the rule is an ALLOW line whose own path has all the
// ambiguity: then another reading that no directive speaks of denies nothing,
// since the publisher wrote this very spelling down.
func (p *Policy) covers(i int, path []byte) bool {
	if i < 0 || !p.rules[i].allows() {
		return false
	}
	return !isAmbiguous(path[min(int(p.rules[i].length), len(path))-1:])
}

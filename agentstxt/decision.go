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
// too. The strictest answer counts. Decide allocates nothing for paths of
// ordinary length.
func (p *Policy) Decide(path string) Decision { return p.decide(path, true) }

// decide is Decide, and for methods other than GET and HEAD, which do not read,
// without the exception for the policy file.
func (p *Policy) decide(path string, reads bool) Decision {
	d := Decision{Path: path}
	state := p.State()
	if state == Absent {
		d.Allowed, d.Code = true, lookleap.CodeNoPolicy
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
	if all&special != 0 || steps != 0 || state != Valid || len(p.patterns) > 0 || path[0] != '/' || len(path) > p.longest {
		p.decideWithCare(&d, path, reads)
		return d
	}
	if reads && path == policyPath {
		d.Allowed, d.Code = true, lookleap.CodePolicyFile
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
			d.Code = lookleap.CodeRestricted
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
		d.Allowed, d.Code = true, lookleap.CodePolicyFile
	case p.State() != Valid:
		d.Code = lookleap.CodeRestricted
	case len(path) > p.longest:
		d.Code = lookleap.CodeURLTooLong
	case !ok:
		d.Code = lookleap.CodeBadURL
	default:
		p.settle(d, p.strictest(spelled, normal))
	}
}

// settle fills in the decision that the rule at position i gives, -1 for none.
func (p *Policy) settle(d *Decision, i int) {
	if i < 0 {
		d.Allowed, d.Code = p.unlisted, lookleap.CodeUnlisted
		return
	}
	r := p.rules[i]
	d.Matched, d.Line, d.Rule = true, int(r.line), p.written(i)
	limit := p.limit(i)
	switch {
	case !r.allows():
		d.Code = lookleap.CodeDisallowed
	case limit == limitBad:
		d.Code = lookleap.CodeBadLimit
	case limit == limitZero:
		d.Code = lookleap.CodeLimit
	case limit == paramUnknown:
		d.Code = lookleap.CodeUnknownParam
	default:
		d.Allowed, d.Code, d.Limit = true, lookleap.CodeAllowed, int(limit)
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

// permits ranks what the rule at position i permits: the lower the stricter.
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

// strictest gives the rule that decides a path, over all the ways in which a
// server may read it. The path comes with normal encodings, and in normal form.
func (p *Policy) strictest(spelled, normal []byte) int {
	literal := p.lookup(normal)
	if !isAmbiguous(spelled) {
		return literal
	}
	worst, covered := literal, len(spelled) == len(normal) && p.covers(literal, normal)
	var room [512]byte
	scratch := room[:0]
	for way := range readings {
		scratch = append(scratch[:0], spelled...)
		i := p.lookup(read(scratch, way))
		if i < 0 && covered {
			continue
		}
		if p.permits(i) < p.permits(worst) {
			worst = i
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

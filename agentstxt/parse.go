package agentstxt

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// Parse reads a policy file. For a file that breaks any rule of sections 3, 6 and 7 it
// returns nil, which denies everything, and a [*lookleap.Error] of class [ErrMalformed].
func Parse(data []byte, options Options) (*Policy, error) {
	limits := options.Limits.withDefaults()
	var first *lookleap.Error
	s := scan{limits: limits, fail: func(e *lookleap.Error) bool {
		first = e
		return false
	}}
	s.run(data)
	if first != nil {
		return nil, first
	}
	b := builder{options: options, limits: limits, Policy: &Policy{
		state: Valid, reason: lookleap.CodeOK, directives: make([]Directive, 0, s.directives), digest: s.digest, meta: s.meta, longest: limits.Line, size: len(data),
	}}
	if s.bom {
		b.find(lookleap.SeverityInfo, lookleap.CodeByteOrderMark, "AGT-3-07", 1, "the file begins with a byte order mark",
			"save it without one")
	}
	if version, ok := s.meta["version"]; ok && version != "1" && version != "1.0" {
		b.find(lookleap.SeverityWarning, codeUnknownVersion, "AGT-4-05", s.versionAt.Line,
			fmt.Sprintf("version %s is unknown, so the file is read as version 1.0", plaintext.Quote(version, maxQuoted)), "")
	}
	for l := newLines(data); l.next(); {
		if kindOf(l.text) == slashLine {
			d, _ := parseDirective(s.text[l.at:l.end], limits.Params, nil)
			d.Line = l.num
			b.directives = append(b.directives, d)
		}
	}
	b.build()
	return b.Policy, nil
}

// builder builds the policy of a file in which the scan found no error.
type builder struct {
	*Policy
	options Options
	limits  Limits
	dropped int // findings beyond the limit
}

// condition is what an ALLOW directive demands of requests. The zero value demands
// nothing.
type condition struct {
	limit int32 // requests in the window; 0: no limit
	unmet unmet // why no request can meet it
}

// unmet is a reason why no request can meet a condition, from lenient to strict.
type unmet uint8

const (
	satisfiable unmet = iota
	zeroLimit
	badLimit
	unknownParam
)

var unmetCodes = [...]lookleap.Code{satisfiable: lookleap.CodeOK, zeroLimit: lookleap.CodeLimit, badLimit: codeBadLimit,
	unknownParam: codeUnknownParam}

func (c condition) stricterThan(other condition) bool {
	if c.unmet != other.unmet {
		return c.unmet > other.unmet
	}
	return c.limit > 0 && (other.limit == 0 || c.limit < other.limit)
}

func (b *builder) find(severity lookleap.Severity, code lookleap.Code, requirement string, line int, message, fix string) {
	if len(b.findings) >= b.limits.Findings {
		b.dropped++
		return
	}
	b.findings = append(b.findings, lookleap.Finding{
		Severity: severity, Code: code, Requirement: requirement, Message: message, Fix: fix,
		Position: lookleap.Position{Line: line, Column: min(line, 1)},
	})
}

func (b *builder) build() {
	allows := false
	for _, d := range b.directives {
		allows = allows || d.Action == Allow
		b.denies = b.denies || d.Action == Disallow || len(d.Params) > 0
		b.add(d)
	}
	b.unlisted = b.options.Unlisted == UnlistedAllow || b.options.Unlisted == UnlistedByFile && !allows
	b.denies = b.denies || !b.unlisted
	b.rules.sort()
	if b.dropped > 0 {
		b.findings = append(b.findings, lookleap.Finding{Severity: lookleap.SeverityInfo, Code: lookleap.CodeTooLarge,
			Message: fmt.Sprintf("%d more findings", b.dropped)})
	}
}

// add adds the rules of a directive: one for the normal form of its path and, since DISALLOW also
// denies the path in the form in which it is read by a server that decodes it again and merges
// slashes, one for that form.
func (b *builder) add(d Directive) {
	r := rule{raw: d.Path, line: d.Line, allow: d.Action == Allow, segments: d.Action == Allow, condition: b.readConditions(d)}
	spelled, _ := appendSpelled(nil, d.Path) // the scan has checked the path
	forms := [][]byte{removeDots(bytes.Clone(spelled))}
	if !r.allow {
		if merged := removeDots(mergeSlashes(decodeMore(spelled))); !bytes.Equal(merged, forms[0]) {
			forms = append(forms, merged)
		}
	}
	wild := hasWildcard(d.Path)
	if wild && r.allow {
		b.find(lookleap.SeverityWarning, codeWildcardLiteral, "AGT-6-10", r.line,
			"a wildcard in the path of an ALLOW line is read literally", "write the path without it")
	}
	for _, form := range forms {
		r.pattern, r.rank = pattern{text: string(form)}, len(form)
		added := r
		if taken := b.rules.addPrefix(form, &added); taken != nil {
			b.merge(taken, &added)
		}
		if wild && !r.allow {
			added.pattern = newPattern(form)
			b.rules.patterns = append(b.rules.patterns, &added)
		}
	}
}

// readConditions reads the parameters of a directive.
func (b *builder) readConditions(d Directive) (strictest condition) {
	if d.Action != Allow {
		return strictest // parameters have no effect there (AGT-6-08)
	}
	for _, param := range d.Params {
		var c condition
		switch {
		case strings.EqualFold(param.Key, "limit"):
			c = b.readLimit(d.Line, param.Value)
		default:
			b.find(lookleap.SeverityWarning, codeUnknownParam, "AGT-6-05", d.Line,
				fmt.Sprintf("the parameter %s is unknown", plaintext.Quote(param.Key, maxQuoted)), "")
			if b.options.DenyUnknownParams {
				c.unmet = unknownParam
			}
		}
		if c.stricterThan(strictest) {
			strictest = c
		}
	}
	return strictest
}

func (b *builder) readLimit(line int, value string) condition {
	digits := len(value) > 0
	for i := range len(value) {
		digits = digits && isDigit(value[i])
	}
	if !digits {
		b.find(lookleap.SeverityWarning, codeBadLimit, "AGT-6-06", line,
			fmt.Sprintf("the limit %s is not a number, so its paths are denied", plaintext.Quote(value, maxQuoted)), "write digits only")
		return condition{unmet: badLimit}
	}
	n, err := strconv.ParseInt(value, 10, 32)
	switch {
	case err != nil:
		b.find(lookleap.SeverityInfo, codeBadLimit, "AGT-6-06", line,
			fmt.Sprintf("the limit %s is read as %d", plaintext.Quote(value, maxQuoted), math.MaxInt32), "")
		return condition{limit: math.MaxInt32}
	case n == 0:
		return condition{unmet: zeroLimit}
	}
	return condition{limit: int32(n)}
}

// merge keeps the stricter one of two rules with the same path: DISALLOW before ALLOW,
// then the stricter condition.
func (b *builder) merge(old, r *rule) {
	if old.line == r.line {
		return
	}
	if old.allow != r.allow {
		b.find(lookleap.SeverityWarning, lookleap.CodeConflict, "AGT-6-11", r.line,
			fmt.Sprintf("the directive contradicts the one in line %d, and DISALLOW counts", old.line), "remove one of them")
	} else {
		b.find(lookleap.SeverityInfo, CodeDuplicate, "AGT-6-12", r.line,
			fmt.Sprintf("the directive repeats the one in line %d, and the stricter one counts", old.line), "remove one of them")
	}
	if old.allow && (!r.allow || r.condition.stricterThan(old.condition)) {
		*old = *r
	}
}

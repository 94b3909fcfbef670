package agentstxt

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
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
		state: Valid, reason: lookleap.CodeOK,
		rules: s.rules, own: len(s.rules), digest: s.digest, meta: s.meta, longest: limits.Line, size: len(data),
	}}
	if s.bom {
		b.find(lookleap.SeverityInfo, lookleap.CodeByteOrderMark, "AGT-3-07", 1, "the file begins with a byte order mark",
			"save it without one")
	}
	if version, ok := s.meta["version"]; ok && version != "1" && version != "1.0" {
		b.find(lookleap.SeverityWarning, CodeUnknownVersion, "AGT-4-05", uint32(s.versionAt.Line),
			fmt.Sprintf("version %s is unknown, so the file is read as version 1.0", plaintext.Quote(version, maxQuoted)), "")
	}
	b.build(data)
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

var unmetCodes = [...]lookleap.Code{satisfiable: lookleap.CodeOK, zeroLimit: lookleap.CodeLimit, badLimit: CodeBadLimit,
	unknownParam: CodeUnknownParam}

func (c condition) stricterThan(other condition) bool {
	if c.unmet != other.unmet {
		return c.unmet > other.unmet
	}
	return c.limit > 0 && (other.limit == 0 || c.limit < other.limit)
}

func (b *builder) find(severity lookleap.Severity, code lookleap.Code, requirement string, line uint32, message, fix string) {
	if len(b.findings) >= b.limits.Findings {
		b.dropped++
		return
	}
	b.findings = append(b.findings, lookleap.Finding{
		Severity: severity, Code: code, Requirement: requirement, Message: message, Fix: fix,
		Position: lookleap.Position{Line: int(line), Column: min(int(line), 1)},
	})
}

func (b *builder) build(data []byte) {
	var text strings.Builder
	text.Grow(len(data) + 8)
	text.Write(data)
	text.WriteByte('\n') // ends the last line before other spellings begin
	longest, allows := 0, false
	for i := range b.own {
		r := b.rules[i]
		allows = allows || r.allows()
		b.denies = b.denies || !r.allows() || r.flags&hasParams != 0
		if r.flags&(hasParams|isWild|isNormal) != isNormal {
			b.text = text.String()
			b.special(i, &text)
		}
		longest = max(longest, int(r.length))
	}
	for _, r := range b.rules[b.own:] {
		longest = max(longest, int(r.length))
	}
	b.text = text.String()
	b.unlisted = b.options.Unlisted == UnlistedAllow || b.options.Unlisted == UnlistedByFile && !allows
	b.denies = b.denies || !b.unlisted
	b.index = newIndex(len(b.rules), longest)
	for i, r := range b.rules {
		if r.flags&isNormal == 0 {
			continue // it is there in normal form
		}
		if taken := b.index.insert(b.text, b.rules, i); taken != nil {
			b.merge(taken, i)
		}
	}
	// Long patterns come first, so that the first match is the longest.
	slices.SortStableFunc(b.patterns, func(a, b pattern) int { return cmp.Compare(b.length, a.length) })
	if b.dropped > 0 {
		b.findings = append(b.findings, lookleap.Finding{Severity: lookleap.SeverityInfo, Code: lookleap.CodeTooLarge,
			Message: fmt.Sprintf("%d more findings", b.dropped)})
	}
}

// special adds what a directive has in addition to a plain path and an action.
func (b *builder) special(i int, text *strings.Builder) {
	r := b.rules[i]
	if r.flags&hasParams != 0 {
		b.setCondition(i, b.readConditions(r))
	}
	switch {
	case r.flags&isWild != 0 && !r.allows():
		b.addPatterns(i)
	case r.flags&isWild != 0:
		b.find(lookleap.SeverityWarning, CodeWildcardLiteral, "AGT-6-10", r.line,
			"a wildcard in the path of an ALLOW line is read literally", "write the path without it")
	}
	if r.flags&isNormal != 0 {
		return
	}
	spelled, _ := appendSpelled(nil, r.path(b.text))
	normal := removeDots(bytes.Clone(spelled))
	b.addSpelling(i, normal, text)
	if r.allows() {
		return
	}
	if merged := removeDots(mergeSlashes(decodeMore(spelled))); !bytes.Equal(merged, normal) {
		b.addSpelling(i, merged, text)
	}
}

// addSpelling adds the directive i under another spelling of its path.
func (b *builder) addSpelling(i int, path []byte, text *strings.Builder) {
	r := b.rules[i]
	r.at, r.length, r.flags = uint32(text.Len()), uint16(len(path)), r.flags|isNormal
	text.Write(path)
	b.rules = append(b.rules, r)
	if c := b.condition(i); c != (condition{}) {
		b.setCondition(len(b.rules)-1, c)
	}
}

func (b *builder) setCondition(i int, c condition) {
	for len(b.conditions) <= i {
		b.conditions = append(b.conditions, condition{})
	}
	b.conditions[i] = c
}

// parameters are the known parameters of ALLOW lines, in lower case, each with the function that
// reads its value.
var parameters = map[string]func(b *builder, r rule, value string) condition{
	"limit": (*builder).readLimit,
}

// readConditions reads the parameters of a directive.
func (b *builder) readConditions(r rule) (strictest condition) {
	if !r.allows() {
		return strictest // parameters have no effect there (AGT-6-08)
	}
	for _, param := range params(b.line(r), int(r.length)) {
		var c condition
		if read, known := parameters[strings.ToLower(param.Key)]; known {
			c = read(b, r, param.Value)
		} else {
			b.find(lookleap.SeverityWarning, CodeUnknownParam, "AGT-6-05", r.line,
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

func (b *builder) readLimit(r rule, value string) condition {
	digits := len(value) > 0
	for i := range len(value) {
		digits = digits && isDigit(value[i])
	}
	if !digits {
		b.find(lookleap.SeverityWarning, CodeBadLimit, "AGT-6-06", r.line,
			fmt.Sprintf("the limit %s is not a number, so its paths are denied", plaintext.Quote(value, maxQuoted)), "write digits only")
		return condition{unmet: badLimit}
	}
	n, err := strconv.ParseInt(value, 10, 32)
	switch {
	case err != nil:
		b.find(lookleap.SeverityInfo, CodeBadLimit, "AGT-6-06", r.line,
			fmt.Sprintf("the limit %s is read as %d", plaintext.Quote(value, maxQuoted), math.MaxInt32), "")
		return condition{limit: math.MaxInt32}
	case n == 0:
		return condition{unmet: zeroLimit}
	}
	return condition{limit: int32(n)}
}

// merge keeps the stricter one of two rules with the same path: DISALLOW before ALLOW,
// then the stricter condition.
func (b *builder) merge(taken *slot, i int) {
	other := b.index.rule(*taken)
	old, r := b.rules[other], b.rules[i]
	if old.allows() != r.allows() {
		b.find(lookleap.SeverityWarning, lookleap.CodeConflict, "AGT-6-11", r.line,
			fmt.Sprintf("the directive contradicts the one in line %d, and DISALLOW counts", old.line), "remove one of them")
	} else {
		b.find(lookleap.SeverityInfo, CodeDuplicate, "AGT-6-12", r.line,
			fmt.Sprintf("the directive repeats the one in line %d, and the stricter one counts", old.line), "remove one of them")
	}
	if old.allows() && (!r.allows() || b.condition(i).stricterThan(b.condition(other))) {
		b.index.put(taken, b.rules, i)
	}
}

// line returns the line of a directive without its line end.
func (p *Policy) line(r rule) string {
	line, _, _ := strings.Cut(p.text[r.at:], "\n")
	return strings.TrimSuffix(line, "\r")
}

func (p *Policy) condition(rule int) condition {
	if rule < len(p.conditions) {
		return p.conditions[rule]
	}
	return condition{}
}

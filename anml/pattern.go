package anml

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// Patterns of parameters are RE2, so matching takes time linear in the value. Parsing and
// compiling are not linear in the pattern: a class such as \pL is a table of a thousand ranges,
// and a{1000} is a thousand instructions. So reading a document estimates the cost of each
// pattern in nanoseconds. Patterns that cost more than the document may are not checked here;
// the service checks them in any case.
const (
	maxPattern = 1000     // bytes of one pattern
	maxMatch   = 16 << 20 // instructions of a pattern times bytes of a value

	patternBase  = 10_000_000 // what all patterns of a document may cost,
	patternByte  = 50         // and for each byte of the document
	costByte     = 80         // parsing a byte of a pattern
	costClass    = 70_000     // parsing a class by its Unicode property
	costFold     = 4_000_000  // parsing a range beyond ASCII that ignores case
	costInstr    = 300        // compiling an instruction
	costMatching = 3          // an instruction for a byte of a value
)

// checkPattern subtracts the cost of a parameter's pattern from what the document may still
// spend. It marks the parameter as unchecked if the pattern is too expensive or invalid.
func (e *examination) checkPattern(p Param) {
	text := p.Pattern()
	if text == "" {
		return
	}
	def, _ := p.Default()
	cost := int64(parseCost(text))
	why := "is not checked here"
	if len(text) <= maxPattern && cost <= e.patterns {
		if re, err := syntax.Parse(anchored(text), syntax.Perl); err == nil {
			size := int64(sizeOf(re))
			cost += size * (costInstr + costMatching*int64(len(def)))
			if cost <= e.patterns {
				e.patterns -= cost
				if _, ok := schemaPattern(text); !ok && !e.full() {
					e.add(p.n, lookleap.SeverityInfo, codePattern, "ANML-8.6.2-04",
						"the pattern "+plaintext.Quote(text, maxQuoted)+
							" cannot be expressed in JSON Schema, so schemas do not have it; it is checked here", "write a plain regular expression without line anchors")
				}
				return
			}
			why = "is not checked here: it costs too much"
		}
		e.patterns -= min(e.patterns, int64(parseCost(text)))
	}
	p.n.mark(unchecked)
	if !e.full() {
		e.add(p.n, lookleap.SeverityWarning, codePattern, "ANML-8.6.2-04",
			"the pattern "+plaintext.Quote(text, maxQuoted)+" "+why, "write a short regular expression without look-around or back-references")
	}
}

// anchored returns a pattern that matches only whole values.
func anchored(pattern string) string { return `\A(?:` + pattern + `)\z` }

// parseCost returns the most that parsing a pattern can cost.
func parseCost(text string) int {
	cost := len(text) * costByte
	cost += costClass * (strings.Count(text, `\p`) + strings.Count(text, `\P`))
	if ignoresCase(text) && (strings.ContainsFunc(text, func(r rune) bool { return r >= 0x80 }) || strings.Contains(text, `\x`)) {
		cost += costFold * strings.Count(text, "-")
	}
	return cost
}

// ignoresCase reports whether a pattern has the flag i.
func ignoresCase(text string) bool {
	for found := true; found; {
		if _, text, found = strings.Cut(text, "(?"); found {
			flags, _, _ := strings.Cut(text, ")")
			flags, _, _ = strings.Cut(flags, ":")
			if strings.Trim(flags, "imsU-") == "" && strings.Contains(flags, "i") {
				return true
			}
		}
	}
	return false
}

// sizeOf estimates the number of instructions of an expression.
func sizeOf(re *syntax.Regexp) int {
	size := 1
	if re.Op == syntax.OpLiteral {
		size = len(re.Rune)
	}
	for _, sub := range re.Sub {
		size += sizeOf(sub)
	}
	if re.Op == syntax.OpRepeat {
		size *= max(re.Min+1, re.Max)
	}
	return min(size, 1<<24)
}

// matches reports whether a value matches the pattern. Without a pattern that is checked, every
// value matches. A value that would take too long does not match.
func (p Param) matches(value string) bool {
	text := p.Pattern()
	if text == "" || p.n.flags()&unchecked != 0 {
		return true
	}
	re, err := syntax.Parse(anchored(text), syntax.Perl)
	return err == nil && int64(sizeOf(re))*int64(len(value)) <= maxMatch && regexp.MustCompile(anchored(text)).MatchString(value)
}

// portable finds one part of a pattern that RE2 and ECMA-262 with the flag u read in the same way, but for
// . and \s, which schemaPattern writes out.
var portable = sync.OnceValue(func() *regexp.Regexp {
	const (
		hex     = `\\x[0-9a-fA-F]{2}`
		char    = `[^\x00-\x1f^$\\.*+?()\[\]{}|]`
		escape  = `\\[dDwWsbBnrt^$\\.*+?()\[\]{}|/]|` + hex
		inClass = `(?:[^\x00-\x1f^\\\[\]-]|\\[]^$\\.*+?()[{}|/-]|` + hex + `)`
		class   = `\[\^?-?(?:` + inClass + `(?:-` + inClass + `)?|\\[dwsnrt])*-?\]`
		repeat  = `(?:[*+?]|\{[0-9]+(?:,[0-9]*)?\})\??`
	)
	return regexp.MustCompile(`^(?:` + char + `|` + escape + `|` + class + `|` + repeat + `|\((?:\?:)?|[)|.^$])`)
})

// schemaPattern returns the regular expression of a JSON Schema for the valid pattern of a parameter. It returns
// false if the pattern has a part, such as (?i) or \pL, that readers of schemas read in another way.
func schemaPattern(text string) (string, bool) {
	var b strings.Builder
	b.WriteString("^(?:")
	assertion := false // or an open parenthesis is before this part: nothing to repeat
	for text != "" {
		part := portable().FindString(text)
		if part == "" || assertion && strings.Contains("*+?{", part[:1]) {
			return "", false
		}
		text = text[len(part):]
		switch {
		case part == ".":
			b.WriteString(`[^\n]`)
		case part == `\s`:
			b.WriteString(`[\t\n\f\r ]`)
		case part[0] == '[':
			b.WriteString(strings.ReplaceAll(part, `\s`, `\t\n\f\r `))
		default:
			b.WriteString(part)
		}
		assertion = part == "(" || part == "^" || part == "$" || part == `\b` || part == `\B`
	}
	return b.String() + ")$", true
}

package anml

import (
	"regexp"
	"regexp/syntax"
	"strings"
)

// Patterns of parameters are RE2, so matching is linear in the value. Reading and
// compiling one are not linear in its text: a class such as \pL is a table of a
// thousand ranges, and a{1000} is a thousand instructions. So each pattern of a
// document is weighed when the document is read, in nanoseconds of an ordinary
// processor, and those beyond what a document may cost are not checked here. The
// service checks them in any case.
const (
	maxPattern = 1000     // octets of one
	maxMatch   = 16 << 20 // instructions of a pattern times octets of a value

	patternBase   = 10_000_000 // what all of a document may weigh,
	patternByte   = 50         // and for each octet of it
	weighOctet    = 80         // reading an octet of a pattern
	weighClass    = 70_000     // reading a class by its Unicode property
	weighFold     = 4_000_000  // reading a range beyond ASCII without regard to case
	weighInstr    = 300        // compiling an instruction
	weighMatching = 3          // an instruction for an octet of a value
)

// pattern weighs the pattern of a parameter against what the document has left, and
// notes whether it is checked.
func (e *examination) pattern(p Param) {
	text := p.Pattern()
	if text == "" {
		return
	}
	def, _ := p.Default()
	weight := int64(weightOf(text))
	why := "is not checked here"
	if len(text) <= maxPattern && weight <= e.patterns {
		if re, err := syntax.Parse(wholly(text), syntax.Perl); err == nil {
			size := int64(sizeOf(re))
			weight += size * (weighInstr + weighMatching*int64(len(def)))
			if weight <= e.patterns {
				e.patterns -= weight
				return
			}
			why = "is not checked here: it costs too much"
		}
		e.patterns -= min(e.patterns, int64(weightOf(text)))
	}
	if p.n.mark(unchecked); !e.full() {
		e.add(p.n, SeverityWarning, CodePattern, "ANML-8.6.2-04", "the pattern "+quoted(text)+" "+why, "write a short regular expression without look-around or back-references")
	}
}

// wholly makes a pattern match the whole of a value.
func wholly(pattern string) string { return `\A(?:` + pattern + `)\z` }

// weightOf is what reading a pattern costs at most.
func weightOf(text string) int {
	weight := len(text) * weighOctet
	weight += weighClass * (strings.Count(text, `\p`) + strings.Count(text, `\P`))
	if ignoresCase(text) && (strings.ContainsFunc(text, func(r rune) bool { return r >= 0x80 }) || strings.Contains(text, `\x`)) {
		weight += weighFold * strings.Count(text, "-")
	}
	return weight
}

// ignoresCase reports whether a pattern has a flag i.
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

// sizeOf is about how many instructions an expression becomes.
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

// matches reports whether a value matches the pattern, or there is none that is
// checked. A value that would take too long does not.
func (p Param) matches(value string) bool {
	text := p.Pattern()
	if text == "" || p.n.flags()&unchecked != 0 {
		return true
	}
	re, err := syntax.Parse(wholly(text), syntax.Perl)
	return err == nil && sizeOf(re)*len(value) <= maxMatch && regexp.MustCompile(wholly(text)).MatchString(value)
}

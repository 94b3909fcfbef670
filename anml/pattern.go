package anml

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"

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
				if _, ok := ecmaPattern(text); !ok && !e.full() {
					e.add(p.n, lookleap.SeverityInfo, CodePattern, "ANML-8.6.2-04",
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
		e.add(p.n, lookleap.SeverityWarning, CodePattern, "ANML-8.6.2-04",
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

// longestECMAPattern is the size limit of a translated pattern in bytes: a class such as \pL
// becomes a list of hundreds of ranges.
const longestECMAPattern = 4000

// ecmaPattern translates the RE2 pattern of a parameter into an ECMA-262 regular expression with
// the flag u, as JSON Schema uses it. RE2 reads the result in the same way, because libraries in Go
// compile patterns of schemas with package regexp. It returns false if that is not possible or too
// long. It ignores greediness, since the whole value has to match.
func ecmaPattern(text string) (string, bool) {
	re, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return "", false
	}
	w := ecmaWriter{ok: true}
	w.WriteString("^(?:")
	w.expression(re)
	w.WriteString(")$")
	return w.String(), w.ok && w.Len() <= longestECMAPattern
}

type ecmaWriter struct {
	strings.Builder
	ok bool
}

func (w *ecmaWriter) expression(re *syntax.Regexp) {
	if w.Len() > longestECMAPattern {
		w.ok = false
		return
	}
	switch re.Op {
	case syntax.OpEmptyMatch:
		w.WriteString("(?:)")
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			w.literal(r, re.Flags&syntax.FoldCase != 0)
		}
	case syntax.OpCharClass:
		w.class(re.Rune)
	case syntax.OpAnyCharNotNL:
		w.WriteString(`[^\n]`)
	case syntax.OpAnyChar:
		w.WriteString(`[\s\S]`)
	case syntax.OpBeginText:
		w.WriteString("^")
	case syntax.OpEndText:
		w.WriteString("$")
	case syntax.OpWordBoundary:
		w.WriteString(`\b`)
	case syntax.OpNoWordBoundary:
		w.WriteString(`\B`)
	case syntax.OpCapture:
		w.group(re.Sub[0])
	case syntax.OpStar:
		w.repeat(re.Sub[0], "*")
	case syntax.OpPlus:
		w.repeat(re.Sub[0], "+")
	case syntax.OpQuest:
		w.repeat(re.Sub[0], "?")
	case syntax.OpRepeat:
		switch {
		case re.Max == re.Min:
			w.repeat(re.Sub[0], fmt.Sprintf("{%d}", re.Min))
		case re.Max < 0:
			w.repeat(re.Sub[0], fmt.Sprintf("{%d,}", re.Min))
		default:
			w.repeat(re.Sub[0], fmt.Sprintf("{%d,%d}", re.Min, re.Max))
		}
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if sub.Op == syntax.OpAlternate {
				w.group(sub)
			} else {
				w.expression(sub)
			}
		}
	case syntax.OpAlternate:
		for i, sub := range re.Sub {
			if i > 0 {
				w.WriteByte('|')
			}
			w.expression(sub)
		}
	default: // line anchors, and expressions that match nothing
		w.ok = false
	}
}

func (w *ecmaWriter) group(re *syntax.Regexp) {
	w.WriteString("(?:")
	w.expression(re)
	w.WriteByte(')')
}

func (w *ecmaWriter) repeat(re *syntax.Regexp, times string) {
	if re.Op == syntax.OpCharClass || len(re.Rune) == 1 { // one character
		w.expression(re)
	} else {
		w.group(re)
	}
	w.WriteString(times)
}

// literal writes one character, or with fold the class of all its cases.
func (w *ecmaWriter) literal(r rune, fold bool) {
	if next := unicode.SimpleFold(r); fold && next != r {
		var all []rune
		for ; next != r; next = unicode.SimpleFold(next) {
			all = append(all, next, next)
		}
		w.class(append(all, r, r))
		return
	}
	w.char(r, `^$\.*+?()[]{}|/`)
}

// class writes a set of characters; bounds has pairs of first and last characters.
func (w *ecmaWriter) class(bounds []rune) {
	last := len(bounds) - 1
	if last < 0 {
		w.ok = false // matches nothing
		return
	}
	w.WriteByte('[')
	if bounds[0] == 0 && bounds[last] == unicode.MaxRune {
		w.WriteByte('^') // shorter: the characters between the ranges
		inside := make([]rune, 0, last)
		for i := 1; i < last; i += 2 {
			inside = append(inside, bounds[i]+1, bounds[i+1]-1)
		}
		bounds = inside
	}
	for i := 0; i < len(bounds) && w.Len() <= longestECMAPattern; i += 2 {
		w.char(bounds[i], `\]-^[`)
		if bounds[i+1] > bounds[i] {
			w.WriteByte('-')
			w.char(bounds[i+1], `\]-^[`)
		}
	}
	w.WriteByte(']')
}

// char writes a character, with a backslash if it is in special. Both ECMA-262 and RE2 read \xHH,
// and neither reads the other's form for larger numbers.
func (w *ecmaWriter) char(r rune, special string) {
	switch {
	case r < ' ' || 0x7f <= r && r <= 0xa0:
		fmt.Fprintf(w, `\x%02x`, r)
	case !utf8.ValidRune(r): // half of a surrogate pair
		w.ok = false
	default:
		if strings.ContainsRune(special, r) {
			w.WriteByte('\\')
		}
		w.WriteRune(r)
	}
}

package injection

import (
	"strings"
	"sync"
	"unicode"
)

// words divides a text into words. A character of a script without blanks is a
// word of its own; the end of a sentence counts as a few, so that what stands in
// two sentences is rarely taken for one order.
func words(text string) []string {
	var out []string
	start := -1
	end := func(i int) {
		if start >= 0 {
			out = append(out, text[start:i])
			start = -1
		}
	}
	for i, r := range text {
		switch {
		case unspaced(r):
			end(i)
			out = append(out, string(r))
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mc, r):
			if start < 0 {
				start = i
			}
		default:
			end(i)
			if strings.ContainsRune(".!?。！？", r) && len(out) > 0 && out[len(out)-1] != stop {
				out = append(out, stop, stop, stop, stop)
			}
		}
	}
	end(len(text))
	return out
}

const stop = "."

// unspaced reports characters of scripts that are written without blanks.
func unspaced(r rune) bool {
	return r >= 0x0E00 && (unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai,
		unicode.Lao, unicode.Khmer) || r == 'ー')
}

// phrase is one alternative of a group.
type phrase struct {
	words []string
	open  bool // the last word may go on
}

// rule is a pattern, compiled.
type rule struct {
	kind       string
	within     int
	any, spare bool
	groups     []group
}

// group is the alternatives of a group, by how their first word begins.
type group map[string][]phrase

// start is an alternative of a rule's first group.
type start struct {
	rule *rule
	phrase
}

// compiled are the patterns as they are matched, by how their first group
// begins. They never change.
var compiled = sync.OnceValue(func() map[string][]start {
	out := make(map[string][]start)
	for _, p := range patterns {
		r := &rule{kind: p.Kind, within: p.Within, any: p.Any, spare: p.Spare}
		for i, alternatives := range p.Groups {
			if alternatives == "" {
				break
			}
			g := make(group)
			for alternative := range strings.SplitSeq(alternatives, ",") {
				stem, open := strings.CutSuffix(strings.TrimSpace(alternative), "*")
				ph := phrase{words(Fold(stem)), open}
				key := beginning(ph.words[0])
				g[key] = append(g[key], ph)
				if i == 0 {
					out[key] = append(out[key], start{r, ph})
				}
			}
			r.groups = append(r.groups, g)
		}
	}
	return out
})

// beginning is the part of a word that every alternative shares with it.
func beginning(word string) string { return firstRunes(word, 2) }

// match looks for the patterns in a row of words.
func match(text []string) string {
	starts := compiled()
	for i, w := range text {
		for _, s := range starts[beginning(w)] {
			if s.matches(text[i:]) && !(s.rule.spare && denied(text, i)) && s.rule.follows(text, i, i+len(s.words), 1) {
				return s.rule.kind
			}
		}
	}
	return ""
}

// follows looks for the groups from g on around words from and to.
func (r *rule) follows(text []string, from, to, g int) bool {
	if g == len(r.groups) {
		return true
	}
	first := to
	if r.any {
		first = max(0, from-r.within-2)
	}
	for i := first; i < len(text) && i <= to+r.within; i++ {
		n := r.groups[g].matchAt(text, i)
		if n == 0 || i < to && i+n > from {
			continue
		}
		if r.follows(text, min(from, i), max(to, i+n), g+1) {
			return true
		}
	}
	return false
}

// matchAt returns how many words an alternative of a group takes at a place, 0 if no
// alternative matches.
func (g group) matchAt(text []string, at int) int {
	for _, ph := range g[beginning(text[at])] {
		if ph.matches(text[at:]) {
			return len(ph.words)
		}
	}
	return 0
}

func (ph *phrase) matches(text []string) bool {
	if len(text) < len(ph.words) {
		return false
	}
	last := len(ph.words) - 1
	for i, w := range ph.words[:last] {
		if text[i] != w {
			return false
		}
	}
	if ph.open {
		return strings.HasPrefix(text[last], ph.words[last])
	}
	return text[last] == ph.words[last]
}

// denied reports whether a word of denial stands shortly before a place.
func denied(text []string, at int) bool {
	for _, w := range text[max(0, at-3):at] {
		switch w {
		case "not", "never", "nicht", "niemals", "nie", "ne", "no", "nunca", "non", "mai", "nao", "niet", "не", "cannot":
			return true
		}
	}
	return false
}

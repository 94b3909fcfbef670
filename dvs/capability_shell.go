package dvs

import (
	"regexp"
	"strings"
	"sync"
)

// shellPatterns find the variables that a shell text reads, and those that it sets: by an assignment, a
// loop or read.
var shellPatterns = sync.OnceValue(func() (p struct{ reads, sets *regexp.Regexp }) {
	p.reads = regexp.MustCompile(`\$(?:\{[!#]?)?([A-Za-z_]\w*)`)
	p.sets = regexp.MustCompile(`(?:^|[\s;(])(?:([A-Za-z_]\w*)\+?=|for\s+([A-Za-z_]\w*)\s+in\b|read(?:\s+-\w*){0,8}\s+([A-Za-z_]\w*))`)
	return p
})

// shellVariables lists the variables that a shell text reads. Those that an earlier line of the
// text sets are its own.
func (r *capabilityReader) shellVariables(text string) {
	if !strings.Contains(text, "$") {
		return
	}
	set := make(map[string]int) // from where each is the text's own
	endOfLine := -1             // of the last assignment, which counts from its next line
	for _, m := range shellPatterns().sets.FindAllStringSubmatchIndex(text, -1) {
		for group := 2; group < len(m); group += 2 {
			if m[group] < 0 {
				continue
			}
			name, from := text[m[group]:m[group+1]], m[1]
			if group == 2 {
				if m[group] > endOfLine {
					endOfLine = len(text)
					if n := strings.IndexByte(text[m[group]:], '\n'); n >= 0 {
						endOfLine = m[group] + n
					}
				}
				from = endOfLine
			}
			if _, known := set[name]; !known {
				set[name] = from
			}
		}
	}
	for _, m := range shellPatterns().reads.FindAllStringSubmatchIndex(text, -1) {
		name := text[m[2]:m[3]]
		if from, own := set[name]; !own || m[0] < from {
			r.add(CapabilityEnv, name, "")
		}
	}
}

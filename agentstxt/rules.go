package agentstxt

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// rule is one line of a file about paths: a directive, or an Allow or Disallow line of robots.txt.
type rule struct {
	pattern
	raw   string // the path as written
	line  int    // from 1
	rank  int    // the length of the path: among rules that match, the highest rank decides
	allow bool

	// Of a directive:
	condition condition
	segments  bool // it matches whole segments only
}

// pattern is the path of a rule, in the form in which paths are compared. "*" matches any bytes
// (RFC 9309, section 2.2.3).
type pattern struct {
	text string // without a final "$"
	ends bool   // it had a final "$": the path ends here
}

// newPattern returns the pattern of a path.
func newPattern(path []byte) pattern {
	text, ends := bytes.CutSuffix(path, []byte("$"))
	return pattern{string(text), ends}
}

// hasWildcard reports whether a path has a wildcard of RFC 9309: "*" or a final "$".
func hasWildcard(path string) bool {
	return strings.HasSuffix(path, "$") || strings.Contains(path, "*")
}

// match reports whether the pattern matches a path, in linear time: it searches each
// piece between two "*" once, after the first match of the piece before it.
func (p *pattern) match(path []byte) bool {
	piece, rest, more := strings.Cut(p.text, "*")
	if !hasPrefix(path, piece) {
		return false
	}
	path = path[len(piece):]
	for more {
		piece, rest, more = strings.Cut(rest, "*")
		if !more && p.ends {
			return len(path) >= len(piece) && string(path[len(path)-len(piece):]) == piece
		}
		at := bytes.Index(path, []byte(piece))
		if at < 0 {
			return false
		}
		path = path[at+len(piece):]
	}
	return !p.ends || len(path) == 0
}

func hasPrefix(path []byte, prefix string) bool {
	return len(path) >= len(prefix) && string(path[:len(prefix)]) == prefix
}

// ruleSet finds the rule that decides a path.
type ruleSet struct {
	prefixes map[string]*rule // the rules without wildcards, by their path
	lengths  []int            // of these paths, the longest first
	patterns []*rule          // the rules with wildcards, the highest rank first
}

func (s *ruleSet) len() int { return len(s.prefixes) + len(s.patterns) }

// addPrefix adds a rule for all paths that begin with a text. If there is a rule with the same
// text, it changes nothing and returns that one.
func (s *ruleSet) addPrefix(text []byte, r *rule) (taken *rule) {
	if taken = s.prefixes[string(text)]; taken != nil {
		return taken
	}
	if s.prefixes == nil {
		s.prefixes = make(map[string]*rule)
	}
	s.prefixes[string(text)] = r
	return nil
}

// sort prepares the set for match. It is called once, after the last rule was added.
func (s *ruleSet) sort() {
	known := make(map[int]bool)
	for text := range s.prefixes {
		if !known[len(text)] {
			known[len(text)] = true
			s.lengths = append(s.lengths, len(text))
		}
	}
	slices.SortFunc(s.lengths, func(a, b int) int { return cmp.Compare(b, a) })
	slices.SortStableFunc(s.patterns, func(a, b *rule) int { return cmp.Compare(b.rank, a.rank) })
}

// Bounds of the cost of patterns in one decision: the sum of the bytes of path and pattern over
// all matches. Large sites have thousands of patterns in robots.txt.
const (
	maxEffort       = 4 << 20
	maxRobotsEffort = 16 << 20
)

// match returns the rule with the highest rank that matches a path in normal form, nil if none
// matches with at least this rank. Among rules of equal rank a pattern counts. Each match with a
// pattern costs effort; if effort is negative then, the result is meaningless.
func (s *ruleSet) match(path []byte, rank int, effort *int) (found *rule) {
	if r := s.longestPrefix(path); r != nil && r.rank >= rank {
		found, rank = r, r.rank
	}
	for _, r := range s.patterns {
		if r.rank < rank {
			break
		}
		*effort -= len(path) + len(r.text)
		if *effort < 0 {
			break
		}
		if r.match(path) {
			return r
		}
	}
	return found
}

func (s *ruleSet) longestPrefix(path []byte) *rule {
	for _, n := range s.lengths {
		if n > len(path) {
			continue
		}
		if r := s.prefixes[string(path[:n])]; r != nil && (!r.segments || endsSegment(path, n)) {
			return r
		}
	}
	return nil
}

// endsSegment reports whether the first n bytes of the path are whole segments.
func endsSegment(path []byte, n int) bool {
	return n == len(path) || path[n] == '/' || path[n-1] == '/'
}

package agentstxt

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lookleap/lookleap/internal/domain"
)

// maxRobotsLine is how much of a line of robots.txt is read, in bytes: eight times the
// longest URL that old browsers accepted, less one, as the largest crawler does.
const maxRobotsLine = 2083*8 - 1

// robotsOptions say how a file is parsed.
type robotsOptions struct {
	tokens  []string // the product tokens that groups are chosen by
	foreign bool     // the file is named agents.txt: rules before any group bind all agents
	size    int      // how many bytes are read; 0: all
}

// robotsGroup is what the groups say that one choice of groups has.
type robotsGroup struct {
	allow, disallow ruleSet
	usage           []robotsUsage
	delay           time.Duration
}

// robotsUsage is a statement about the use of content, for the paths that a rule matches.
type robotsUsage struct {
	rule  rule
	usage Usage
}

// parseRobots parses a robots.txt file (RFC 9309). Nothing in it is an error: lines that
// are not understood are skipped (section 2.2.4).
func parseRobots(data []byte, o robotsOptions) *RobotsFile {
	f := &RobotsFile{size: len(data), programs: make([]robotsProgram, max(1, len(o.tokens)))}
	if o.size > 0 && len(data) > o.size {
		data = data[:o.size]
		data = data[:bytes.LastIndexAny(data, "\r\n")+1] // without the line that is cut
		f.cut = true
	}
	var general robotsGroup
	current := make(map[*robotsGroup]bool) // the groups that the line belongs to
	if o.foreign {
		current[&general] = true
	}
	inRules := true
	for number, line := range robotsLines(trimPartialMark(data)) {
		key, value := robotsField(line)
		if o.foreign {
			key, value = foreignField(line, key, value)
		}
		switch key {
		case "user-agent":
			if inRules { // a new group begins
				clear(current)
				inRules = false
			}
			if isGeneralToken(value) {
				current[&general] = true
				continue
			}
			for i, token := range o.tokens {
				if isToken(value, token) {
					f.programs[i].named, current[&f.programs[i].robotsGroup] = true, true
				}
			}
			continue
		case "sitemap":
			if len(f.sitemaps) < maxSitemaps {
				f.sitemaps = append(f.sitemaps, value)
			}
			continue
		case "allow", "disallow":
			inRules = true
		}
		for g := range current {
			g.add(key, value, number, o.foreign)
		}
	}
	for i := range f.programs {
		if p := &f.programs[i]; !p.named {
			p.robotsGroup = general
		}
		f.programs[i].allow.sort()
		f.programs[i].disallow.sort()
	}
	return f
}

// add adds the line with this number. In a foreign file, a line can list several paths.
func (g *robotsGroup) add(key, value string, number int, foreign bool) {
	switch key {
	case "allow":
		addRobotsRule(&g.allow, value, number)
		if dir, ok := strings.CutSuffix(value, "/index.html"); ok { // the page of the directory itself
			addRobotsRule(&g.allow, dir+"/$", number)
		}
	case "disallow":
		paths := []string{value}
		if foreign {
			paths = strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' })
		}
		for _, path := range paths {
			addRobotsRule(&g.disallow, path, number)
		}
	case "crawl-delay":
		if g.delay == 0 {
			g.delay = crawlDelay(value)
		}
	case "content-signal", "content-usage":
		if len(g.usage) < maxUsageLines {
			g.usage = append(g.usage, parseUsageLine(key, value))
		}
	}
}

// addRobotsRule adds the value of an Allow or Disallow line.
func addRobotsRule(s *ruleSet, value string, line int) {
	r, ok := newRobotsRule(value, line)
	switch {
	case !ok:
	case r.ends || strings.Contains(r.text, "*"):
		s.patterns = append(s.patterns, &r)
	default:
		if taken := s.addPrefix([]byte(r.text), &r); taken != nil && r.rank > taken.rank {
			*taken = r
		}
	}
}

// newRobotsRule reads the value of an Allow or Disallow line. ok is false if it matches
// nothing: if it is empty, or if no path can begin with it.
func newRobotsRule(value string, line int) (r rule, ok bool) {
	if value == "" || value[0] != '/' && value[0] != '*' {
		return r, false
	}
	text := appendRobotsText(nil, value, true)
	r = rule{pattern: newPattern(text), rank: len(text), raw: value, line: line}
	if !r.ends {
		r.text = strings.TrimRight(r.text, "*") // any rest matches anyway
		r.rank = min(r.rank, len(r.text)+1)
	}
	return r, true
}

// Rules of robots.txt match the start of a path with its query. "*" stands for any
// characters and a final "$" for the end (RFC 9309, section 2.2.3). Both sides are
// compared in one spelling: encoded characters that need no encoding are decoded, and
// characters outside ASCII are encoded (section 2.2.2). A "*" or "$" of a URL is encoded,
// so that it is not a wildcard.

// appendRobotsText appends the normal form of a rule, or of a path with its query. Only a
// rule has wildcards.
func appendRobotsText[S []byte | string](dst []byte, s S, rule bool) []byte {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch octet, ok := domain.Unescape(s, i); {
		case ok:
			dst = domain.AppendNormal(dst, octet)
			i += 2
		case c >= 0x80, c <= ' ', c == 0x7f,
			c == '*' && !rule,
			c == '$' && (!rule || i+1 < len(s)):
			dst = domain.AppendEscape(dst, c)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// robotsPath appends the normal form of a path with its query, which may be missing. Dot
// segments are removed, as servers do.
func robotsPath(dst []byte, path, query string, hasQuery bool) []byte {
	if path == "" || path[0] != '/' {
		dst = append(dst, '/')
	}
	dst = removeDots(appendRobotsText(dst, path, false))
	return appendRobotsQuery(dst, query, hasQuery)
}

func appendRobotsQuery(dst []byte, query string, hasQuery bool) []byte {
	if !hasQuery {
		return dst
	}
	return appendRobotsText(append(dst, '?'), query, false)
}

// Bounds of what a file states in addition to its rules.
const (
	maxSitemaps   = 1000
	maxUsageLines = 100
)

// trimPartialMark removes a byte order mark, or the first bytes of one.
func trimPartialMark(data []byte) []byte {
	for _, c := range byteOrderMark {
		if len(data) == 0 || data[0] != c {
			break
		}
		data = data[1:]
	}
	return data
}

// robotsLines iterates over the lines of a file with their numbers, from 1. A line ends
// with LF, CR or CRLF. Lines are cut at maxRobotsLine.
func robotsLines(data []byte) func(yield func(int, []byte) bool) {
	return func(yield func(int, []byte) bool) {
		for number := 1; len(data) > 0; number++ {
			line, next := data, len(data)
			if end := bytes.IndexAny(data, "\r\n"); end >= 0 {
				line, next = data[:end], end+1
				if data[end] == '\r' && next < len(data) && data[next] == '\n' {
					next++
				}
			}
			data = data[next:]
			if !yield(number, line[:min(len(line), maxRobotsLine)]) {
				return
			}
		}
	}
}

// robotsField splits a line into its key in lower case and its value. The key is "" if
// the line has none. The colon may be missing if only one blank could stand for it.
// Misspellings that crawlers accept are accepted.
func robotsField(line []byte) (key, value string) {
	if comment := bytes.IndexByte(line, '#'); comment >= 0 {
		line = line[:comment]
	}
	name, rest, found := bytes.Cut(line, []byte(":"))
	if !found {
		words := bytes.Fields(line)
		if len(words) != 2 {
			return "", ""
		}
		name, rest = words[0], words[1]
	}
	key = strings.ToLower(string(bytes.TrimSpace(name[:min(len(name), 64)])))
	switch key {
	case "useragent", "user agent":
		key = "user-agent"
	case "site-map":
		key = "sitemap"
	case "dissallow", "dissalow", "disalow", "diasllow", "disallaw":
		key = "disallow"
	}
	return key, string(bytes.TrimSpace(rest))
}

// foreignField adapts the key and value of a line to what files named agents.txt have in
// the place of robots.txt: "Agent: name", "[Agent: name]" and lists of paths. An indented
// line belongs to a structure that is not known here, so it is not a rule.
func foreignField(line []byte, key, value string) (string, string) {
	switch {
	case len(line) > 0 && isBlank(line[0]):
		return "", ""
	case key == "agent":
		return "user-agent", value
	case key == "[agent", key == "[user-agent":
		return "user-agent", strings.TrimSpace(strings.TrimSuffix(value, "]"))
	}
	return key, value
}

// isGeneralToken reports whether the value of a User-agent line addresses all crawlers:
// "*", possibly followed by a blank and anything.
func isGeneralToken(value string) bool {
	return strings.HasPrefix(value, "*") && (len(value) == 1 || isBlank(value[1]))
}

// isToken reports whether the value of a User-agent line begins with the product token
// and does not continue it. Case does not matter (section 2.2.1). Some real tokens have
// digits, which the RFC does not allow; the value is read with and without them.
func isToken(value, token string) bool {
	letters := 0
	for letters < len(value) && isTokenLetter(value[letters]) {
		letters++
	}
	more := letters
	for more < len(value) && (isTokenLetter(value[more]) || isDigit(value[more])) {
		more++
	}
	return token != "" && (strings.EqualFold(value[:letters], token) || strings.EqualFold(value[:more], token))
}

// isNoToken reports whether a name cannot be a product token.
func isNoToken(name string) bool {
	return strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf || !isTokenLetter(byte(r)) && !isDigit(byte(r)) })
}

func isTokenLetter(c byte) bool { return isAlpha(c) || c == '-' || c == '_' }

// crawlDelay reads a number of seconds, possibly with a fraction. It returns 0 for
// anything else.
func crawlDelay(value string) time.Duration {
	seconds, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsNaN(seconds) || seconds <= 0 {
		return 0
	}
	return time.Duration(min(seconds, 24*60*60) * float64(time.Second))
}

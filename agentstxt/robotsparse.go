package agentstxt

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
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

// robotsGroups collects the rules of one choice of groups.
type robotsGroups struct {
	allow, disallow robotsBuilder
	usage           []robotsUsage
	delay           time.Duration
}

// robotsUsage is a statement about the use of content, for the paths that a rule matches.
type robotsUsage struct {
	rule  robotsRule
	usage Usage
}

// parseRobots parses a robots.txt file (RFC 9309). Nothing in it is an error: lines that
// are not understood are skipped (section 2.2.4).
func parseRobots(data []byte, o robotsOptions) *RobotsFile {
	token := ""
	if len(o.tokens) > 0 {
		token = o.tokens[0]
	}
	f := &RobotsFile{token: token, size: len(data)}
	if len(o.tokens) > 1 {
		f.also = parseRobots(data, robotsOptions{tokens: o.tokens[1:], foreign: o.foreign, size: o.size})
	}
	if o.size > 0 && len(data) > o.size {
		data = data[:o.size]
		data = data[:bytes.LastIndexAny(data, "\r\n")+1] // without the line that is cut
		f.cut = true
	}
	var named, general robotsGroups
	isNamed, isGeneral, inRules := false, o.foreign, true
	for number, line := range robotsLines(trimPartialMark(data)) {
		key, value := robotsField(line)
		if o.foreign {
			key, value = foreignField(line, key, value)
		}
		if key == "user-agent" {
			if inRules { // a new group begins
				isNamed, isGeneral, inRules = false, false, false
			}
			switch {
			case isGeneralToken(value):
				isGeneral = true
			case isToken(value, token):
				isNamed, f.named = true, true
			}
			continue
		}
		if key == "sitemap" {
			if len(f.sitemaps) < maxSitemaps {
				f.sitemaps = append(f.sitemaps, value)
			}
			continue
		}
		var groups []*robotsGroups
		if isNamed {
			groups = append(groups, &named)
		}
		if isGeneral {
			groups = append(groups, &general)
		}
		for _, g := range groups {
			g.add(key, value, number, o.foreign)
		}
		if key == "allow" || key == "disallow" {
			inRules = true
		}
	}
	chosen := &general
	if f.named {
		chosen = &named
	}
	f.allow, f.disallow = chosen.allow.build(), chosen.disallow.build()
	f.usage, f.delay = chosen.usage, chosen.delay
	return f
}

// add adds the line with this number. In a foreign file, a line can list several paths.
func (g *robotsGroups) add(key, value string, number int, foreign bool) {
	switch key {
	case "allow":
		g.allow.add(value, number)
		if dir, ok := strings.CutSuffix(value, "/index.html"); ok { // the page of the directory itself
			g.allow.add(dir+"/$", number)
		}
	case "disallow":
		paths := []string{value}
		if foreign {
			paths = strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' })
		}
		for _, path := range paths {
			g.disallow.add(path, number)
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

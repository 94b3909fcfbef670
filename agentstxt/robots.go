package agentstxt

import (
	"slices"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/zero"
)

// Robots says how robots.txt is read. The zero value does not read it.
type Robots struct {
	// Tokens are the product tokens by which robots.txt files address your program, such as
	// ExampleBot: letters, digits, "-" and "_", without a version (RFC 9309, section 2.2.1).
	// The first one should be part of the User-Agent header field that your program sends. If
	// there are several, a path has to be allowed for each of them. None does not read robots.txt.
	Tokens []string
}

// RobotsFile is what the robots.txt file of one origin (RFC 9309) says to one program. It
// never changes and may be shared. The nil *RobotsFile says nothing and allows every path.
type RobotsFile struct {
	token           string
	named           bool // a group names the token, so that the groups for "*" do not count
	allow, disallow robotsRules
	delay           time.Duration
	sitemaps        []string
	usage           []robotsUsage
	err             error // why the file could not be read; then every path is denied
	reason          lookleap.Code
	size            int
	cut             bool        // the file is longer than the limit
	also            *RobotsFile // what the file says to the program under its next token, or nil
}

// ParseRobots parses a robots.txt file for the program with these product tokens. No file is
// malformed: lines that are not understood have no effect (RFC 9309, section 2.2.4). It
// reads at most 512 KiB and ignores the rest (section 2.5).
func ParseRobots(data []byte, tokens ...string) *RobotsFile {
	return parseRobots(data, robotsOptions{tokens: tokens, size: Limits{}.withDefaults().Size})
}

// memory estimates the memory of the file. Most of it is for the rules, whose values are copies.
func (f *RobotsFile) memory() int {
	bytes := 1024 + 2*f.size + 160*(f.allow.len()+f.disallow.len()+len(f.usage))
	if f.also != nil {
		bytes += f.also.memory()
	}
	return bytes
}

// Decide reports whether the program may request a path, which may have a query. The
// longest rule that matches decides, and Allow among equals. If servers are known to read the
// path in other ways, the path has to be allowed in all of them, as for [Policy.Decide].
// /robots.txt itself may always be read. The time does not depend on the number of rules
// without wildcards.
func (f *RobotsFile) Decide(pathAndQuery string) Decision {
	path, query, hasQuery := strings.Cut(pathAndQuery, "?")
	d := f.decide(path, query, hasQuery)
	d.Path = pathAndQuery
	return d
}

// decide is Decide without the path in the decision.
func (f *RobotsFile) decide(path, query string, hasQuery bool) Decision {
	d := Decision{Allowed: true, Code: CodeUnlisted}
	switch {
	case f == nil || f.reason != "" && f.err == nil:
		d.Code = CodeNoPolicy
		return d
	case f.err == nil && f.disallow.len() == 0 && f.also == nil:
		return d
	}
	var room [512]byte
	normal := robotsPath(room[:0], path, query, hasQuery)
	switch {
	case string(normal) == robotsPathName:
		d.Code = CodePolicyFile
		return d
	case f.err != nil:
		d.Allowed, d.Code = false, refusalCode(f.err)
		return d
	case len(normal) > maxRobotsPath:
		d.Allowed, d.Code = false, lookleap.CodeURLTooLong
		return d
	}
	effort := maxEffort
	d = f.judge(normal, &effort)
	if d.Allowed && hasReadings(path) {
		d = f.strictest(d, path, query, hasQuery, &effort)
	}
	if d.Allowed && f.also != nil {
		if next := f.also.decide(path, query, hasQuery); !next.Allowed || !d.Matched {
			return next
		}
	}
	return d
}

// strictest returns the first refusal of a reading of a path, or d, the decision about its normal
// form, if there is none.
func (f *RobotsFile) strictest(d Decision, path, query string, hasQuery bool, effort *int) Decision {
	if f.disallow.len() == 0 {
		return d
	}
	all, ok := readingsOf(path, readings{})
	if !ok {
		return Decision{Code: lookleap.CodeAmbiguousPath}
	}
	var room [512]byte
	for i := range all.ends {
		form := appendRobotsForm(room[:0], all.at(i), query, hasQuery)
		if next := f.judge(form, effort); !next.Allowed {
			return next
		}
	}
	return d
}

// judge decides about one path in normal form, with its query.
func (f *RobotsFile) judge(normal []byte, effort *int) Decision {
	d := Decision{Allowed: true, Code: CodeUnlisted}
	has := pairs(normal)
	denied := f.disallow.match(normal, has, 0, effort)
	if denied == nil && *effort >= 0 {
		return d
	}
	least := 0
	if denied != nil {
		least = denied.priority
	}
	allowed := f.allow.match(normal, has, least, effort)
	switch {
	case *effort < 0:
		d.Allowed, d.Code = false, lookleap.CodeURLTooLong
	case allowed != nil:
		d.Matched, d.Code, d.Rule, d.Line = true, CodeAllowed, allowed.raw, allowed.line
	default:
		d.Allowed, d.Matched, d.Code, d.Rule, d.Line = false, true, CodeRobotsDisallowed, denied.raw, denied.line
	}
	return d
}

// maxRobotsPath is the length of the longest path that is compared, in bytes: longer than
// any rule.
const maxRobotsPath = 1 << 16

// Err returns why the file could not be read, so that every path is denied. It returns
// nil if it was read or does not exist.
func (f *RobotsFile) Err() error { return zero.Or(f).err }

// Findings returns a finding if the end of the file was not read.
func (f *RobotsFile) Findings() []lookleap.Finding {
	if !zero.Or(f).cut {
		return nil
	}
	return []lookleap.Finding{note(lookleap.CodeTooLarge, "AGT-1-01", "robots.txt is longer than the limit, so its last rules were not read",
		"keep the file below 500 KiB")}
}

// disallows reports whether a rule disallows any path.
func (f *RobotsFile) disallows() bool {
	return f.disallow.len() > 0 || f.also != nil && f.also.disallows()
}

// Named reports whether the file addresses the program by one of its tokens. Otherwise, what
// it says to all programs counts.
func (f *RobotsFile) Named() bool {
	f = zero.Or(f)
	return f.named || f.also != nil && f.also.Named()
}

// Len returns the number of rules that bind the program.
func (f *RobotsFile) Len() int {
	f = zero.Or(f)
	n := f.allow.len() + f.disallow.len()
	if f.also != nil {
		n += f.also.Len()
	}
	return n
}

// CrawlDelay returns the time that the file asks the program to wait between requests, 0
// if it asks for none. RFC 9309 does not define it, so the guard does not enforce it.
func (f *RobotsFile) CrawlDelay() time.Duration {
	f = zero.Or(f)
	if f.also != nil {
		return max(f.delay, f.also.CrawlDelay())
	}
	return f.delay
}

// Sitemaps returns the URLs of the file's Sitemap lines as written. They are untrusted.
func (f *RobotsFile) Sitemaps() []string { return slices.Clone(zero.Or(f).sitemaps) }

// Usage returns what the file states about the use of the content at a path, which may
// have a query, in Content-Signal and Content-Usage lines.
func (f *RobotsFile) Usage(pathAndQuery string) Usage {
	path, query, hasQuery := strings.Cut(pathAndQuery, "?")
	return f.statedAt(path, query, hasQuery)
}

// statedAt is Usage for a path and a query.
func (f *RobotsFile) statedAt(path, query string, hasQuery bool) (u Usage) {
	f = zero.Or(f)
	if f.also != nil {
		defer func() { u = u.Strictest(f.also.statedAt(path, query, hasQuery)) }()
	}
	if len(f.usage) == 0 {
		return u
	}
	normal := robotsPath(nil, path, query, hasQuery)
	has, best := pairs(normal), -1
	for _, stated := range f.usage {
		if stated.rule.letters&^has != 0 || !stated.rule.pattern.match(normal) {
			continue
		}
		switch {
		case stated.rule.priority > best:
			u, best = stated.usage, stated.rule.priority
		case stated.rule.priority == best:
			u = u.Strictest(stated.usage)
		}
	}
	return u
}

// robotsPathName is the path of robots.txt. It may always be read.
const robotsPathName = "/robots.txt"

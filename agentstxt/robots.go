package agentstxt

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/coded"
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
	programs []robotsProgram // what the file says to the program under each of its tokens
	sitemaps []string
	err      error // why the file could not be read; then every path is denied
	reason   lookleap.Code
	size     int
	cut      bool // the file is longer than the limit
}

// robotsProgram is what a file says to a program under one token.
type robotsProgram struct {
	named bool // a group names the token, so that the groups for "*" do not count
	robotsGroup
}

// ParseRobots parses a robots.txt file for the program with these product tokens. No file is
// malformed: lines that are not understood have no effect (RFC 9309, section 2.2.4). It
// reads at most 512 KiB and ignores the rest (section 2.5).
func ParseRobots(data []byte, tokens ...string) *RobotsFile {
	return parseRobots(data, robotsOptions{tokens: tokens, size: Limits{}.withDefaults().Size})
}

// memory estimates the memory of the file. Most of it is for the rules, whose values are copies.
func (f *RobotsFile) memory() int {
	bytes := 1024 + 2*f.size
	for _, p := range f.programs {
		bytes += 200 * (p.allow.len() + p.disallow.len() + len(p.usage))
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
	case f.err == nil && !f.disallows():
		return d
	}
	var room [512]byte
	normal := robotsPath(room[:0], path, query, hasQuery)
	switch {
	case string(normal) == robotsPathName:
		d.Code = codePolicyFile
		return d
	case f.err != nil:
		d.Allowed, d.Code = false, refusalCode(f.err)
		return d
	case len(normal) > maxRobotsPath:
		d.Allowed, d.Code = false, lookleap.CodeURLTooLong
		return d
	}
	forms := [][]byte{normal}
	if hasReadings(path) {
		all, ok := readingsOf(path)
		if !ok {
			d.Allowed, d.Code = false, lookleap.CodeAmbiguousPath
			return d
		}
		for _, reading := range all {
			forms = append(forms, appendRobotsQuery(appendRobotsText(nil, reading, false), query, hasQuery))
		}
	}
	for i := range f.programs {
		next := f.programs[i].strictest(forms)
		if !next.Allowed {
			return next
		}
		if !d.Matched {
			d = next
		}
	}
	return d
}

// strictest returns the decision about the first form of a path, or the first refusal of another
// one.
func (p *robotsProgram) strictest(forms [][]byte) Decision {
	effort := maxRobotsEffort
	d := p.judge(forms[0], &effort)
	for _, form := range forms[1:] {
		if !d.Allowed {
			break
		}
		if next := p.judge(form, &effort); !next.Allowed {
			return next
		}
	}
	return d
}

// judge decides about one path in normal form, with its query.
func (p *robotsProgram) judge(form []byte, effort *int) Decision {
	d := Decision{Allowed: true, Code: CodeUnlisted}
	denied := p.disallow.match(form, 0, effort)
	if denied == nil && *effort >= 0 {
		return d
	}
	least := 0
	if denied != nil {
		least = denied.rank
	}
	allowed := p.allow.match(form, least, effort)
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
	return slices.ContainsFunc(f.programs, func(p robotsProgram) bool { return p.disallow.len() > 0 })
}

// Named reports whether the file addresses the program by one of its tokens. Otherwise, what
// it says to all programs counts.
func (f *RobotsFile) Named() bool {
	return slices.ContainsFunc(zero.Or(f).programs, func(p robotsProgram) bool { return p.named })
}

// Len returns the number of rules that bind the program.
func (f *RobotsFile) Len() (n int) {
	for _, p := range zero.Or(f).programs {
		n += p.allow.len() + p.disallow.len()
	}
	return n
}

// CrawlDelay returns the time that the file asks the program to wait between requests, 0
// if it asks for none. RFC 9309 does not define it, so the guard does not enforce it.
func (f *RobotsFile) CrawlDelay() (longest time.Duration) {
	for _, p := range zero.Or(f).programs {
		longest = max(longest, p.delay)
	}
	return longest
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
	for _, p := range zero.Or(f).programs {
		u = u.Strictest(p.statedAt(path, query, hasQuery))
	}
	return u
}

func (p *robotsProgram) statedAt(path, query string, hasQuery bool) (u Usage) {
	if len(p.usage) == 0 {
		return u
	}
	normal := robotsPath(nil, path, query, hasQuery)
	best := -1
	for _, stated := range p.usage {
		switch {
		case !stated.rule.match(normal):
		case stated.rule.rank > best:
			u, best = stated.usage, stated.rule.rank
		case stated.rule.rank == best:
			u = u.Strictest(stated.usage)
		}
	}
	return u
}

// robotsPathName is the path of robots.txt. It may always be read.
const robotsPathName = "/robots.txt"

// robotsFile says how robots.txt is read.
var robotsFile = fileKind[*RobotsFile]{
	source:    source{path: robotsPathName, retry: "agentstxt retry robots ", cut: true, wait: http.StatusServiceUnavailable},
	prefix:    "agentstxt/robots/2/",
	judge:     judgeRobots,
	stale:     func(f *RobotsFile, _ lookleap.Finding) *RobotsFile { return f },
	malformed: func(*RobotsFile) *lookleap.Error { return nil },
	restrict:  func(err *lookleap.Error) *RobotsFile { return &RobotsFile{err: err} },
	findings:  func(*RobotsFile) []lookleap.Finding { return nil },
	memory:    (*RobotsFile).memory,
}

// judgeRobots returns what an attempt to read robots.txt means (RFC 9309, section 2.3.1). Without
// a usable answer, the file that was read before stays in force for a day, and otherwise every
// path is denied (section 2.3.1.4).
func judgeRobots(c *Client, r *readResult) judgement[*RobotsFile] {
	err, status := r.err, r.response.Status
	switch {
	case r.response.Insecure && c.options.RefuseHTTP: // it was not asked
		err = unavailable(lookleap.CodeInsecureTransport, "robots.txt over plain http is not accepted", nil)
	case lookleap.CodeOf(err) == lookleap.CodeTooManyRedirects: // section 2.3.1.2: as if there were no file
		return judgement[*RobotsFile]{value: &RobotsFile{reason: lookleap.CodeTooManyRedirects}, whole: true, wait: defaultFresh}
	case err == nil && status == http.StatusOK:
		f := parseRobots(r.response.Body, robotsOptions{tokens: c.options.Robots.Tokens, size: c.limits.Size})
		return judgement[*RobotsFile]{value: f, whole: true}
	case err == nil && (status == http.StatusNoContent || status >= 400 && status < 500): // section 2.3.1.3
		return judgement[*RobotsFile]{value: &RobotsFile{reason: CodeNoPolicy}, whole: true}
	case err == nil:
		code := lookleap.CodeBadStatus
		if status >= 500 {
			code = lookleap.CodeUnavailable
		}
		err = &lookleap.Error{Code: code, Message: fmt.Sprintf("the server answered %d", status),
			Err: coded.Attach(&lookleap.ResponseError{Status: status, RetryAfter: r.retryAfter}, nil)}
	}
	f := &RobotsFile{err: &lookleap.Error{
		Code: lookleap.CodeOf(err), Subject: "robots.txt", Message: "the file could not be read, so every path counts as disallowed",
		Fix: "try again later; Options.Robots without a token does not read it", Err: coded.Classify(ErrUnavailable, err),
	}}
	return judgement[*RobotsFile]{value: f, failed: true, keep: new(lookleap.Finding)}
}

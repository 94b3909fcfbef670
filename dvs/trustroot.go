package dvs

import (
	"errors"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
)

// TrustRoot is an https URL prefix that one publisher controls (section 2). It ends with a slash
// and is canonical; on a platform it is the prefix of pages. It is immutable; compare two by their
// strings. The zero TrustRoot covers nothing.
type TrustRoot struct {
	url     domain.URL
	served  domain.URL // the same prefix of the URLs that serve the bytes
	noSlash bool
	mapped  bool
}

// ParseTrustRoot reads a trust root: an https URL with a host, an optional port and a path, but no
// query, fragment, user information, dot segment or pattern. On a platform the path has to name
// one publisher; no option changes that (section 3.1). Every error is a [*lookleap.Error].
func ParseTrustRoot(raw string, rules Rules) (TrustRoot, error) {
	urls := rules.urls()
	urls.RefuseQuery, urls.RefuseFragment = true, true
	u, err := urls.Parse(raw)
	if err != nil {
		return TrustRoot{}, badRoot(raw, err)
	}
	if strings.ContainsRune(unescape(u.Path()), '*') {
		return TrustRoot{}, refuse(codeInvalidRoot, raw, "a trust root cannot be a pattern", "register each root")
	}
	p, refused := rules.locate(u)
	if refused != nil {
		return TrustRoot{}, refused
	}
	root := TrustRoot{noSlash: !strings.HasSuffix(u.Path(), "/"), mapped: p.mapped}
	if root.url, refused = withSlash(p.page); refused != nil {
		return TrustRoot{}, refused
	}
	if root.served, refused = withSlash(p.served); refused != nil {
		return TrustRoot{}, refused
	}
	return root, nil
}

// badRoot returns an error for the URL of a root. Some codes differ from those of a skill URL.
func badRoot(raw string, err error) error {
	refused := badURL(raw, err)
	var e *domain.Error
	if errors.As(err, &e) {
		switch e.Code {
		case domain.CodeQuery, domain.CodeFragment, domain.CodeUserinfo, domain.CodeDotSegment:
			refused.Code = codeInvalidRoot
		case domain.CodeBadHost:
			if strings.ContainsRune(e.Part, '*') || strings.HasPrefix(e.Part, ".") {
				refused.Code = codeInvalidRoot
			}
		}
	}
	return refused
}

func withSlash(u domain.URL) (domain.URL, error) {
	if strings.HasSuffix(u.Path(), "/") {
		return u, nil
	}
	return atPath(u, u.Host(), u.Path()+"/")
}

// Covers reports whether a skill lies under the root: the host and port are the same, and the
// skill's path begins with the segments of the root's path (section 3.1). It does not compare
// string prefixes, and it allocates nothing.
func (t TrustRoot) Covers(u SkillURL) bool {
	return !t.url.IsZero() && u.page.Under(t.url) && u.served.Under(t.served)
}

// String returns the root with its final slash.
func (t TrustRoot) String() string { return t.url.String() }

// IsZero reports whether t is the zero TrustRoot.
func (t TrustRoot) IsZero() bool { return t.url.IsZero() }

// HostingDomain returns the host of the root, which vouches for its content by DNS and TLS
// (section 2).
func (t TrustRoot) HostingDomain() string { return t.url.Host() }

// originWide reports whether the root is a whole origin. Only then do well-known files of the
// origin apply to it (RFC 8615 section 4.1).
func (t TrustRoot) originWide() bool { return t.url.Path() == "/" }

// Lint returns findings about the spelling of the root.
func (t TrustRoot) Lint() []lookleap.Finding {
	var findings []lookleap.Finding
	if t.noSlash {
		findings = append(findings, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: codeRootNoSlash, Requirement: "DVS-2-09",
			Message: codeRootNoSlash.Title(), Fix: "write " + t.String()})
	}
	if t.mapped {
		findings = append(findings, lookleap.Finding{Severity: lookleap.SeverityInfo, Code: codeRootMapped, Requirement: "DVS-3.1-46",
			Message: codeRootMapped.Title(), Fix: "write " + t.String()})
	}
	return findings
}

// MarshalText returns the root.
func (t TrustRoot) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// directoryRoot returns the directory of a skill as a root, or its archive, for a user who
// agrees only to the skill. It is not ok if the skill or one of its redirects lies outside.
func (r Rules) directoryRoot(u SkillURL, hops []string) (root TrustRoot, ok bool) {
	text := u.page.Origin() + u.page.Path()
	if u.artifact == SkillDirectory { // else nothing but the file itself
		text = text[:strings.LastIndexByte(text, '/')+1]
	}
	root, refused := ParseTrustRoot(text, r)
	if refused != nil || !root.Covers(u) {
		return TrustRoot{}, false
	}
	for _, hop := range hops {
		to, err := r.urls().Parse(hop)
		if err != nil {
			return TrustRoot{}, false
		}
		if at, refused := r.locate(to); refused != nil || !root.Covers(SkillURL{place: at}) {
			return TrustRoot{}, false
		}
	}
	return root, true
}

// DefaultRoot returns the root of a skill for which no root was declared, and its source:
// [DefaultOrigin] with the origin of a host that is not a platform, or [Derived] with the owner's
// path on a platform, which the user has to confirm. For a path of a self-hosted forge it returns
// an error with the code needs-root (DVS-3.1-28 to DVS-3.1-31).
func DefaultRoot(u SkillURL, rules Rules) (TrustRoot, RootSource, error) {
	segments := u.page.Segments()
	role, listed := rules.platforms().find(u.Host())
	bucket, _ := rules.isSuffix(u.Host()) // of a host that also assigns names
	keep, source := 0, DefaultOrigin
	switch {
	case u.IsZero():
		return TrustRoot{}, Undeclared, refuse(CodeNeedsRoot, "", "there is no skill URL", "")
	case listed:
		keep, source = role.platform.owner(segments).depth, Derived
	case bucket:
		keep, source = 1, Derived
	case forgeShaped(segments):
		return TrustRoot{}, Undeclared, refuse(CodeNeedsRoot, u.String(),
			"the path looks like that of a code host with many owners", "register the path of the owner as trust root")
	case len(segments) > 1 && len(segments[0]) > 1 && (segments[0][0] == '~' || segments[0][0] == '@'):
		keep = 1
	}
	if keep > 0 && keep >= len(segments) {
		return TrustRoot{}, Undeclared, refuse(CodeNeedsRoot, u.String(), "the path names no publisher above the SKILL.md",
			"use the path of one publisher")
	}
	text := u.page.Origin() + "/" + strings.Join(segments[:keep], "/")
	root, err := ParseTrustRoot(text, rules)
	if err != nil {
		return TrustRoot{}, Undeclared, err
	}
	root.noSlash = false
	return root, source, nil
}

// party identifies the publisher of a URL and a path below the publisher. Blocks and revocations
// compare parties. It is the same for every spelling that may lead to the same file: all hosts of
// a platform and its mirrors, pages and bytes, letter case, escapes, refs/heads/main and main. Two
// files can have the same party, so it may only be used to refuse.
type party struct {
	namespace string   // of the publishers: a platform, or an origin
	path      []string // the publisher, then what lies below it
	revision  int      // where the revision stands in path; 0: nowhere
	joined    bool     // the publisher in path is joined with a repository, see [Platform.Joined]
}

// headRevision stands for a revision that may be any other one.
const headRevision = "head"

// party returns the party of a canonical URL.
func (p *Platforms) party(u domain.URL) party {
	segments := unescapeAll(u.Segments())
	role, ok := p.find(u.Host())
	if !ok {
		if e, owner, _ := p.tenant(u.Host()); owner != "" {
			return e.tenantParty(owner, segments)
		}
		return party{namespace: u.Origin(), path: foldPath(segments)}
	}
	e := role.platform
	if e.Source != nil {
		if where, ok, _ := (hostRole{platform: e, raw: role.raw}).readRoute("", segments); ok {
			own := min(e.owner(where.repo).depth, len(where.repo))
			out := newParty(e.owner(where.repo).of, where.repo[e.owner(where.repo).name:own], slices.Concat(where.repo[own:], where.rest))
			if !e.Source.Flat {
				out.setRevision(len(out.path) - len(where.rest))
			}
			return out
		}
	}
	at := e.owner(segments)
	name := min(at.name, len(segments))
	depth := min(max(at.depth, name), len(segments))
	own, rest, atRef := segments[name:depth], segments[depth:], false
	if at.start > 0 {
		own[0] = own[0][at.start:]
	}
	namespace, _, _ := strings.Cut(at.of, "#")
	mirrored, ok := p.exact[namespace]
	repository := ok && mirrored.platform.Source != nil
	if e.AtRef && !repository {
		return e.packageParty(at.of, slices.Concat(own, rest))
	}
	if e.AtRef {
		own, rest, atRef = splitAtRef(own, rest)
	}
	out := newParty(at.of, own, rest)
	if repository && len(rest) > 0 && (e.AtRef || e.Never) {
		revision := len(out.path) - len(rest) + 1
		if e.AtRef && !atRef {
			out.path = slices.Insert(out.path, revision, headRevision)
		}
		out.setRevision(revision)
		if e.AtRef && out.revision > 0 && isRange(out.path[revision]) {
			out.path[revision] = headRevision
		}
	}
	return out
}

// packageParty builds the party of a path that begins with the name of a package, whose release is
// its revision. A release that is not exact, such as 1 or latest, can be any release.
func (e *Platform) packageParty(of string, segments []string) party {
	name := 1
	if len(segments) > 0 && strings.HasPrefix(segments[0], "@") {
		name = 2
	}
	if len(segments) < name {
		return newParty(of, segments, nil)
	}
	own, rest, release := slices.Clone(segments[:name]), segments[name:], ""
	last := own[name-1]
	switch at := strings.LastIndexByte(last, '@'); {
	case at > 0:
		own[name-1], release = last[:at], last[at+1:]
		if e.Files != "" && len(rest) > 0 && rest[0] == e.Files {
			rest = rest[1:]
		}
	case e.Files != "" && (len(rest) == 1 || len(rest) > 1 && rest[1] == e.Files):
		release, rest = rest[0], rest[min(len(rest), 2):]
	case len(rest) == 0: // every release
		return newParty(of, own, nil)
	}
	release = strings.TrimLeft(release, "vV=")
	if strings.Count(release, ".") < 2 || isRange(release) {
		release = headRevision
	}
	out := newParty(of, own, slices.Concat([]string{release}, rest))
	out.revision = name
	return out
}

// isRange reports whether a mirror reads a revision as a range of releases, such as 1, ^1.2 and
// latest.
func isRange(release string) bool {
	if release == "" || release == "latest" || strings.ContainsAny(release, "^~<>=*| ") {
		return true
	}
	parts := strings.Split(release, ".")
	for i, part := range parts {
		if part == "x" || part == "X" {
			return true
		}
		if part == "" || strings.Trim(part, "0123456789") != "" {
			return false
		}
		if i > 1 {
			return false
		}
	}
	return true
}

// newParty builds a party of a namespace as in [Platform.Of].
func newParty(of string, own, rest []string) party {
	namespace, content, other := strings.Cut(of, "#")
	path := foldPath(own)
	if other {
		path = append(path, "#"+content)
	}
	return party{namespace: namespace, path: append(path, foldPath(rest)...)}
}

func (e *Platform) tenantParty(owner string, rest []string) party {
	out := newParty(e.namespace(), []string{e.Prefix + owner}, rest)
	out.joined = e.Joined
	return out
}

// setRevision notes where the revision begins, and writes it in its short form.
func (p *party) setRevision(at int) {
	if at >= len(p.path) {
		return
	}
	p.revision = at
	p.path[at-1] = strings.TrimSuffix(p.path[at-1], ".git")
	if len(p.path) > at+2 && p.path[at] == "refs" && (p.path[at+1] == "heads" || p.path[at+1] == "tags") {
		p.path = slices.Delete(p.path, at, at+2)
	} else if len(p.path) > at+1 && (p.path[at] == "heads" || p.path[at] == "tags") {
		p.path = slices.Delete(p.path, at, at+1)
	}
	if p.path[at] == "latest" || isFullCommit(p.path[at]) { // any branch may have the commit
		p.path[at] = headRevision
	}
}

// splitAtRef splits the revision after the first "@" that does not begin a segment into a segment
// of its own.
func splitAtRef(own, rest []string) (splitOwn, splitRest []string, found bool) {
	for i, segment := range slices.Concat(own, rest) {
		at := strings.LastIndexByte(segment, '@')
		if at <= 0 {
			continue
		}
		name, ref := segment[:at], segment[at+1:]
		if i < len(own) {
			return append(slices.Clone(own[:i]), name), slices.Concat([]string{ref}, own[i+1:], rest), true
		}
		i -= len(own)
		return own, slices.Concat(rest[:i], []string{name, ref}, rest[i+1:]), true
	}
	return own, rest, false
}

// same reports whether a skill of one party may be the skill of the other.
func (p *party) same(other *party) bool {
	return len(p.path) == len(other.path) && p.covers(other) && other.covers(p)
}

// covers reports whether other is the party p, or lies below it.
func (p *party) covers(other *party) bool {
	if p.namespace == other.namespace && other.joined && !p.joined && len(p.path) > 0 {
		return p.coversJoined(other)
	}
	if p.namespace != other.namespace || len(p.path) > len(other.path) {
		return false
	}
	for i, segment := range p.path {
		head := i > 0 && i == p.revision && i == other.revision && (segment == headRevision || other.path[i] == headRevision)
		if segment != other.path[i] && !head {
			return false
		}
	}
	return true
}

// joinedLabel writes a name as it stands in a joined label: with hyphens in place of other signs.
var joinedLabel = strings.NewReplacer("_", "-", ".", "-")

// coversJoined is covers for a host whose label joins a publisher and a repository: where one name
// ends and the other begins cannot be known.
func (p *party) coversJoined(other *party) bool {
	publisher, rest := joinedLabel.Replace(p.path[0]), p.path[1:]
	if len(rest) > 0 && len(other.path) > 1 && strings.HasPrefix(rest[0], "#") {
		if rest[0] != other.path[1] { // other content of the publisher
			return false
		}
		rest = rest[1:]
	}
	switch len(rest) {
	case 0:
		return strings.HasPrefix(other.path[0], publisher+"-")
	case 1:
		return len(p.path) > 2 && other.path[0] == publisher+"-"+joinedLabel.Replace(rest[0])
	}
	return false
}

// unescapeAll removes the escapes of segments, also nested ones.
func unescapeAll(segments []string) []string {
	out := slices.Clone(segments)
	for i, s := range out {
		for plain := unescape(s); plain != s; plain = unescape(s) {
			s = plain
		}
		out[i] = s
	}
	return out
}

func foldPath(segments []string) []string {
	out := make([]string, len(segments), len(segments)+3)
	for i, s := range segments {
		out[i] = foldSegment(s)
	}
	return out
}

// foldSegment removes what some servers ignore in a segment: letter case, path parameters, and
// trailing dots and blanks on Windows.
func foldSegment(s string) string {
	s, _, _ = strings.Cut(s, ";")
	if trimmed := strings.TrimRight(s, ". "); trimmed != "" {
		s = trimmed
	}
	return strings.ToLower(strings.ToUpper(norm.NFC.String(s)))
}

package dvs

import (
	"errors"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
)

// TrustRoot is an https URL prefix that one publisher controls (section 2). It
// ends with a slash and is kept in canonical form, on a platform in that of its
// pages. It is immutable; two are the same if their strings are. The zero
// TrustRoot covers nothing.
type TrustRoot struct {
	url     domain.URL
	served  domain.URL // the same prefix of the URLs that serve the bytes
	noSlash bool
	mapped  bool
}

// ParseTrustRoot reads a trust root: https, a host, perhaps a port, and a path;
// no query, fragment, user information, dot segment or pattern. A platform where
// many publish needs the path of one publisher, which nothing overrides
// (section 3.1). Every error is an [*lookleap.Error].
func ParseTrustRoot(raw string, rules Rules) (TrustRoot, error) {
	root, err := rules.parseTrustRoot(raw)
	if err != nil {
		return TrustRoot{}, err
	}
	return root, nil
}

func (r Rules) parseTrustRoot(raw string) (TrustRoot, *lookleap.Error) {
	rules := r.urls()
	rules.RefuseQuery, rules.RefuseFragment = true, true
	u, err := rules.Parse(raw)
	if err != nil {
		return TrustRoot{}, badRoot(raw, err)
	}
	if strings.ContainsRune(unescape(u.Path()), '*') {
		return TrustRoot{}, refuse(CodeInvalidRoot, raw, "a trust root is no pattern", "register each root by itself")
	}
	p, refused := r.locate(u)
	if refused != nil {
		refused.Subject = domain.Redact(raw)
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

// badRoot gives the codes of a root for what a skill URL has codes of its own for.
func badRoot(raw string, err error) *lookleap.Error {
	refused := badURL(raw, err)
	var e *domain.Error
	if errors.As(err, &e) {
		switch e.Code {
		case domain.CodeQuery, domain.CodeFragment, domain.CodeUserinfo, domain.CodeDotSegment:
			refused.Code = CodeInvalidRoot
		case domain.CodeBadHost:
			if strings.ContainsRune(e.Part, '*') || strings.HasPrefix(e.Part, ".") {
				refused.Code = CodeInvalidRoot
			}
		}
	}
	return refused
}

func withSlash(u domain.URL) (domain.URL, *lookleap.Error) {
	if strings.HasSuffix(u.Path(), "/") {
		return u, nil
	}
	return atPath(u, u.Host(), u.Path()+"/")
}

// Covers reports whether a skill lies under the root: same host and port, and
// the segments of the root's path begin the skill's path. It is never a
// comparison of strings by prefix, and it allocates nothing (section 3.1).
func (t TrustRoot) Covers(u SkillURL) bool { return t.covers(u.place) }

// covers checks the identity and the URL that is really fetched.
func (t TrustRoot) covers(p place) bool {
	return !t.url.IsZero() && p.page.Under(t.url) && p.served.Under(t.served)
}

// String gives the root with its final slash.
func (t TrustRoot) String() string { return t.url.String() }

// IsZero reports whether t is no root.
func (t TrustRoot) IsZero() bool { return t.url.IsZero() }

// HostingDomain gives the host of the root: the party that endorses what is
// below it by DNS and TLS (section 2).
func (t TrustRoot) HostingDomain() string { return t.url.Host() }

// OriginWide reports whether the root is a whole origin, for which the
// origin's own files may speak (RFC 8615 section 4.1).
func (t TrustRoot) OriginWide() bool { return t.url.Path() == "/" }

// Lint gives what the declarer of the root should know about its spelling.
func (t TrustRoot) Lint() []lookleap.Finding {
	var findings []lookleap.Finding
	if t.noSlash && !t.OriginWide() {
		findings = append(findings, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: CodeRootNoSlash, Requirement: "DVS-2-09",
			Message: CodeRootNoSlash.Title(), Fix: "write " + t.String()})
	}
	if t.mapped {
		findings = append(findings, lookleap.Finding{Severity: lookleap.SeverityInfo, Code: CodeRootMapped, Requirement: "DVS-3.1-46",
			Message: CodeRootMapped.Title(), Fix: "write " + t.String()})
	}
	return findings
}

// MarshalText gives the root.
func (t TrustRoot) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// directoryRoot returns the directory of a skill as a root, for a user who agrees
// to the skill only. It is not ok if the skill or a redirect on the way to it
// lies outside.
func (r Rules) directoryRoot(u SkillURL, hops []string) (root TrustRoot, ok bool) {
	text := u.page.Origin() + u.page.Path()
	root, refused := r.parseTrustRoot(text[:strings.LastIndexByte(text, '/')+1])
	if refused != nil || !root.Covers(u) {
		return TrustRoot{}, false
	}
	for _, hop := range hops {
		to, err := r.urls().Parse(hop)
		if err != nil {
			return TrustRoot{}, false
		}
		if at, refused := r.locate(to); refused != nil || !root.covers(at) {
			return TrustRoot{}, false
		}
	}
	return root, true
}

// DefaultRoot gives the root that a skill has when nobody declared one, and by
// which right: the origin of a host that is no platform, the owner's path on a
// platform, which somebody has to confirm. Paths of a self-hosted forge have
// none: the error has the code needs-root (DVS-3.1-28 to DVS-3.1-31).
func DefaultRoot(u SkillURL, rules Rules) (TrustRoot, RootSource, error) {
	root, source, err := rules.defaultRoot(u)
	if err != nil {
		return TrustRoot{}, Undeclared, err
	}
	return root, source, nil
}

func (r Rules) defaultRoot(u SkillURL) (TrustRoot, RootSource, *lookleap.Error) {
	segments := u.page.Segments()
	role, listed := r.platforms().find(u.Host())
	suffix, _ := r.platforms().suffix(u.Host())
	keep, source := 0, DefaultOrigin
	switch {
	case u.IsZero():
		return TrustRoot{}, Undeclared, refuse(CodeNeedsRoot, "", "there is no skill URL", "")
	case listed:
		keep, source = role.platform.ownerDepth(segments), Derived
	case isSuffix(u.Host(), suffix):
		keep, source = 1, Derived // a bucket below a host that lends names too
	case forgeShaped(segments):
		return TrustRoot{}, Undeclared, refuse(CodeNeedsRoot, u.String(), "the path looks like that of a code host with many owners", "register the path of the owner as trust root")
	case len(segments) > 1 && len(segments[0]) > 1 && (segments[0][0] == '~' || segments[0][0] == '@'):
		keep = 1
	}
	if keep > 0 && keep >= len(segments) {
		return TrustRoot{}, Undeclared, refuse(CodeNeedsRoot, u.String(), "the path names no publisher above the SKILL.md", "use the path of one publisher")
	}
	text := u.page.Origin() + "/" + strings.Join(segments[:keep], "/")
	root, err := r.parseTrustRoot(text)
	if err != nil {
		return TrustRoot{}, Undeclared, err
	}
	root.noSlash = false
	return root, source, nil
}

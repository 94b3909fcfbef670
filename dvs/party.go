package dvs

import (
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/lookleap/lookleap/internal/domain"
)

// party is who published a URL, and where below: the form in which blocks and
// revocations are compared. It is the same for every spelling that may lead to
// the same file: all hosts of a platform and its mirrors, pages and bytes, letter
// case, escapes, refs/heads/main and main. Two files may share one, so that it
// refuses and never permits.
type party struct {
	namespace string   // of the publishers: a platform, or an origin
	path      []string // the publisher, then what lies below it
	revision  int      // where the revision stands in path; 0: nowhere
}

// headRevision stands for whatever revision is the default one.
const headRevision = "head"

// party returns the party of a canonical URL.
func (p *Platforms) party(u domain.URL) party {
	segments := unescapeAll(u.Segments())
	role, ok := p.find(u.Host())
	if !ok {
		if e, owner, ok := p.tenant(u.Host()); ok && owner != "" {
			return newParty(e.namespace(), []string{owner}, segments)
		}
		return party{namespace: u.Origin(), path: foldPath(segments)}
	}
	e := role.platform
	if e.Source != nil {
		if where, ok, _ := (hostRole{platform: e, page: !role.raw, raw: role.raw}).readRoute("", segments); ok {
			own := min(e.ownerDepth(where.repo), len(where.repo))
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
		own = slices.Clone(own)
		own[0] = own[0][at.start:]
	}
	if e.AtRef {
		own, rest, atRef = splitAtRef(own, rest)
	}
	out := newParty(at.of, own, rest)
	if mirrored, ok := p.exact[out.namespace]; ok && mirrored.platform.Source != nil && len(rest) > 0 && (e.AtRef || e.Never) {
		revision := len(out.path) - len(rest) + 1
		if e.AtRef && !atRef {
			out.path = slices.Insert(out.path, revision, headRevision)
		}
		out.setRevision(revision)
	}
	return out
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

// setRevision notes where the revision begins, and writes it in its short form.
func (p *party) setRevision(at int) {
	if at < 1 || at >= len(p.path) {
		return
	}
	p.revision = at
	p.path[at-1] = strings.TrimSuffix(p.path[at-1], ".git")
	if len(p.path) > at+2 && p.path[at] == "refs" && (p.path[at+1] == "heads" || p.path[at+1] == "tags") {
		p.path = slices.Delete(p.path, at, at+2)
	}
	if p.path[at] == "latest" {
		p.path[at] = headRevision
	}
}

// splitAtRef makes a segment of its own of the revision after the first "@" that
// does not begin a segment.
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

// covers reports whether other is the party p, or lies below it.
func (p *party) covers(other *party) bool {
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

// unescapeAll removes the escapes of segments, and what they hide.
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

// foldPath folds the segments of a path without escapes.
func foldPath(segments []string) []string {
	out := make([]string, len(segments), len(segments)+3)
	for i, s := range segments {
		out[i] = foldSegment(s)
	}
	return out
}

// foldSegment removes what some servers ignore in a segment: letter case, path
// parameters, and the dots and blanks at the end of a name on
// Windows.
func foldSegment(s string) string {
	s, _, _ = strings.Cut(s, ";")
	if trimmed := strings.TrimRight(s, ". "); trimmed != "" {
		s = trimmed
	}
	return strings.ToLower(strings.ToUpper(norm.NFC.String(s)))
}

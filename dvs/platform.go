package dvs

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
)

// Platform is a host where many publish, told apart by the path and not by the
// host, so that only a path can be a trust root (section 3.1). It is data: what
// is known of a platform is its entry in the table and nothing else.
type Platform struct {
	Name     string   // for people
	Hosts    []string // the host of its pages, then its other names; "*.example.com" is every host below
	Never    bool     // no path proves who published: an archive, a proxy, a paste site
	Owner    int      // leading path segments that name one publisher; 0: only those Below
	Below    []Scope  // other depths below certain first segments
	Prefix   string   // what a publisher's segment begins with, such as "~"
	Reserved []string // first segments that are the platform's own and no publisher
	Fold     int      // leading segments whose ASCII letter case is ignored
	AtRef    bool     // a revision may follow "@" in a segment: /gh/owner/repo@ref/
	Source   *Source  // routes to a repository's content; nil: none are known
}

// Scope is an owner depth below one first segment: {"datasets", 2}.
type Scope struct {
	Word  string
	Owner int
}

// Source says how a platform spells the content of a repository, which is the
// owner's path and one more segment, or everything before Marker.
type Source struct {
	Marker  string   // segment between repository and route, such as "-"
	Page    string   // route to the page of a file or directory
	Raw     []string // routes to its bytes, the one to use first
	Dir     []string // other routes to the page of a directory
	Kinds   []string // words of which one qualifies the revision: branch, tag, commit
	After   string   // word between revision and path on a page, such as "item"
	Flat    bool     // files are no tree and stand behind the route at once, or behind a commit
	Default string   // revision of a repository named alone; "": such a URL is none of a skill
	RawHost string   // host that serves the bytes; "": the page's
	RawPath string   // route on RawHost; "": none
}

// Platforms is a table of platforms. It is immutable and may be shared.
type Platforms struct {
	entries []Platform
	exact   map[string]hostRole
	below   map[string]hostRole // by the domain after "*."
}

// hostRole is what a host is to its platform.
type hostRole struct {
	platform *Platform
	page     bool // the host whose URLs are the canonical ones
	raw      bool // the host that serves the bytes
}

// Builtin is the built-in table, of [PlatformsDate].
func Builtin() *Platforms { return builtin }

var builtin = mustPlatforms(builtinPlatforms())

func mustPlatforms(entries []Platform) *Platforms {
	p, err := newPlatforms(entries)
	if err != nil {
		panic(err) // the table is ours, and a test reads it
	}
	return p
}

func newPlatforms(entries []Platform) (*Platforms, error) {
	p := &Platforms{entries: entries, exact: make(map[string]hostRole), below: make(map[string]hostRole)}
	for i := range entries {
		e := &entries[i]
		if err := e.valid(); err != nil {
			return nil, err
		}
		for n, host := range e.Hosts {
			if rest, ok := strings.CutPrefix(host, "*."); ok {
				p.below[rest] = hostRole{platform: e}
				continue
			}
			p.exact[host] = hostRole{platform: e, page: n == 0}
		}
		if e.Source != nil && e.Source.RawHost != "" {
			p.exact[e.Source.RawHost] = hostRole{platform: e, raw: true}
		}
	}
	return p, nil
}

func (e *Platform) valid() error {
	bad := func(reason string) error {
		return refuse(lookleap.CodeBadPlatform, e.Name, reason, "see the documentation of Platform")
	}
	if len(e.Hosts) == 0 {
		return bad("a platform needs a host")
	}
	for _, host := range e.Hosts {
		name := strings.TrimPrefix(host, "*.")
		if canonical, err := domain.ParseHost(name); err != nil || canonical != name {
			return bad(fmt.Sprintf("the host %q is not in canonical form", host))
		}
	}
	deep := slices.ContainsFunc(e.Below, func(s Scope) bool { return s.Owner < 1 || s.Word == "" })
	switch {
	case e.Never:
	case e.Owner < 0 || deep || e.Owner == 0 && len(e.Below) == 0:
		return bad("a publisher needs at least one path segment")
	case e.Source != nil && (e.Source.Page == "" || len(e.Source.Raw) == 0 && e.Source.RawHost == ""):
		return bad("a source needs a route to pages and one to bytes")
	}
	return nil
}

// With gives a table with more platforms. It can tighten and never relax: an
// entry for a host that is in the table already has to be Never or to ask for
// at least as many segments, and keeps the words, the prefix and the revisions
// that are known. A refusal is an [*Error] with platform-relaxed or bad-platform.
func (p *Platforms) With(add ...Platform) (*Platforms, error) {
	entries := slices.Clone(p.entries)
	for _, e := range add {
		e = e.clone()
		for _, host := range e.Hosts {
			role, known := p.find(host)
			if !known || e.Never {
				continue
			}
			if !e.tighten(role.platform) {
				return nil, refuse(lookleap.CodePlatformRelaxed, host, "the host is in the table already, with rules that this entry would relax",
					"mark it Never, or ask for more path segments")
			}
		}
		entries = append(entries, e)
	}
	return newPlatforms(entries)
}

// tighten takes over what is known of a host already, and reports whether the
// entry asks for no less anywhere.
func (e *Platform) tighten(old *Platform) bool {
	shallow := slices.ContainsFunc(e.Below, func(s Scope) bool { return s.Owner < old.Owner })
	if old.Never || e.Owner < old.Owner || e.Owner == 0 || shallow || len(old.Below) > 0 || old.Source != nil || !strings.HasPrefix(e.Prefix, old.Prefix) && e.Prefix != "" {
		return false
	}
	if e.Prefix == "" {
		e.Prefix = old.Prefix
	}
	e.Reserved = append(e.Reserved, old.Reserved...)
	e.AtRef = e.AtRef || old.AtRef
	return true
}

func (e Platform) clone() Platform {
	e.Hosts, e.Below, e.Reserved = slices.Clone(e.Hosts), slices.Clone(e.Below), slices.Clone(e.Reserved)
	if e.Source != nil {
		s := *e.Source
		s.Raw, s.Dir, s.Kinds = slices.Clone(s.Raw), slices.Clone(s.Dir), slices.Clone(s.Kinds)
		e.Source = &s
	}
	return e
}

// All yields the entries, the built-in ones first.
func (p *Platforms) All() iter.Seq[Platform] {
	return func(yield func(Platform) bool) {
		for _, e := range p.entries {
			if !yield(e.clone()) {
				return
			}
		}
	}
}

// Lookup gives the platform that a canonical host belongs to.
func (p *Platforms) Lookup(host string) (Platform, bool) {
	role, ok := p.find(host)
	if !ok {
		return Platform{}, false
	}
	return role.platform.clone(), true
}

// find gives what is known of the host itself, else of the nearest domain above
// it that has an entry for all below.
func (p *Platforms) find(host string) (hostRole, bool) {
	host = strings.TrimPrefix(host, "*.")
	if role, ok := p.exact[host]; ok {
		return role, true
	}
	for _, rest, more := strings.Cut(host, "."); more; _, rest, more = strings.Cut(rest, ".") {
		if role, ok := p.below[rest]; ok {
			return role, true
		}
	}
	return hostRole{}, false
}

// ownerDepth is how many leading segments name one publisher; 0: the first
// segment is no publisher's.
func (e *Platform) ownerDepth(segments []string) int {
	for _, s := range e.Below {
		if strings.EqualFold(s.Word, segments[0]) { // in another case it is the same route, or nothing
			return s.Owner
		}
	}
	return e.Owner
}

// checkOwner refuses paths that do not reach a publisher.
func (e *Platform) checkOwner(input string, segments []string) *Error {
	if len(segments) == 0 {
		return refuse(lookleap.CodeUGCBareRoot, input, fmt.Sprintf("many publish on %s, so the host alone cannot be trusted", e.Name), "add the path of one publisher")
	}
	depth := e.ownerDepth(segments)
	first := segments[0]
	// No publisher is named like a route but for the case of its letters.
	word := slices.ContainsFunc(e.Reserved, func(w string) bool { return strings.EqualFold(w, first) })
	if depth == 0 || word || !strings.HasPrefix(first, e.Prefix) || first == e.Prefix {
		return refuse(lookleap.CodeReservedSegment, input, fmt.Sprintf("%q is a word of %s and no publisher", segments[0], e.Name), "use the path of one publisher")
	}
	if len(segments) < depth {
		return refuse(lookleap.CodeUGCRootTooShort, input, fmt.Sprintf("a publisher on %s has %d path segments", e.Name, depth), "add the path of one publisher")
	}
	return nil
}

// foldSegments lowers the segments whose case the platform ignores.
func (e *Platform) foldSegments(segments []string) []string {
	for i := range min(e.Fold, len(segments)) {
		if lower := asciiLower(segments[i]); lower != segments[i] {
			segments = slices.Clone(segments)
			segments[i] = lower
		}
	}
	return segments
}

// asciiLower leaves percent escapes alone: their hex digits are upper case in
// the canonical form.
func asciiLower(s string) string {
	if strings.ContainsRune(s, '%') {
		return s
	}
	return strings.ToLower(s)
}

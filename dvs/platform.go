package dvs

import (
	"cmp"
	_ "embed"
	"fmt"
	"iter"
	"path"
	"slices"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"

	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// Platform is a host with many publishers. The path tells them apart, so only a path can be a
// trust root, or each has a host below one of the Subdomains (section 3.1). A platform is only
// data: all that is known about it is its entry in the table.
type Platform struct {
	Name     string   // for people
	Hosts    []string // the host of its pages, then its other names; "*.example.com" is every host below, another "*" matches within one label
	Aliases  []string // further names of the first host, for the same paths; URLs on them are written with the first host. "www." before it is one if Hosts has it
	Never    bool     // no path proves who published: an archive, a proxy, a paste site
	Owner    int      // leading path segments that name one publisher; 0: only those Below
	Below    []Scope  // other depths below certain first segments
	Skip     []string // first segments that may precede the publisher's path, such as a version of the build; "#" matches digits
	Prefix   string   // what a publisher's segment begins with, such as "~"; a host below Subdomains has no such prefix
	Reserved []string // first segments that belong to the platform itself, not to a publisher
	Fold     int      // leading segments whose ASCII letter case is ignored
	AtRef    bool     // a revision may follow "@" in a segment: /gh/owner/repo@ref/
	Forge    bool     // a host of repositories without a Source: no part of a path may be a commit, or a revision that strangers can create
	Files    string   // word between the release of a package and its files: /name/1.2.0/files/SKILL.md
	Source   *Source  // routes to a repository's content; nil if none is known

	// Subdomains are the domains below which each publisher has a host of its own:
	// a public suffix. The domain itself is not a trust root, unless it is one of Hosts.
	Subdomains []string
	// Joined: the label below Subdomains is the name of a publisher and of a repository, with a
	// hyphen between them. A block of a publisher covers each host that may be its own.
	Joined bool

	// Of is the platform whose publishers these are, for blocks and revocations.
	// "github.com" is the same content at another host; "github.com#pages" is other
	// content of the same accounts. "" is the first of Hosts.
	Of string
}

// Scope is an owner depth below one first segment, or several with slashes
// between them: {"datasets", 2, ""}. A Word that ends with ":" is the beginning of
// the segment that names the publisher: {"npm:", 1, ""}. Of is as in [Platform].
type Scope struct {
	Word  string
	Owner int
	Of    string
}

// Source describes how a platform spells URLs of the content of a repository. The repository is
// the owner's path and one more segment, or everything before Marker.
type Source struct {
	Marker  string   // segment between repository and route, such as "-"
	Page    string   // route to the page of a file or directory
	Raw     []string // routes to its bytes, the one to use first
	Dir     []string // other routes to the page of a directory
	Kinds   []string // words of which one qualifies the revision: branch, tag, commit
	After   string   // word between revision and path on a page, such as "item"
	Flat    bool     // the repository has no directories: a file follows the route, or a commit
	Default string   // revision if a URL names only the repository; "": such a URL is not a skill's
	RawHost string   // host that serves the bytes; "": the page's
	RawPath string   // route on RawHost, if any
	Views   []string // queries that change how a page is shown, and not which file it shows

	// Archive is the path on the host of the pages at which a commit is served as a .tar.gz; "": none.
	// {repo} stands for the path of the repository, {name} for its last segment. Archived is the URL
	// to which that is redirected.
	Archive  string
	Archived string
	Refs     string // path of git's list of references; "": /{repo}.git/info/refs
	Token    string // header field that takes the secret of a user for an archive; "": Authorization
}

// Platforms is a table of platforms. It is immutable and may be shared.
type Platforms struct {
	entries  []Platform
	exact    map[string]hostRole
	below    map[string]hostRole      // by the domain after "*."
	patterns map[string][]hostPattern // Hosts with another "*", by the domain after the last one
	tenants  map[string][]hostPattern // Subdomains, by the domain after the last "*"
}

// hostRole is the function of a host in its platform.
type hostRole struct {
	platform *Platform
	page     bool // the host whose URLs are the canonical ones, or its alias
	alias    bool // another name of that host
	raw      bool // the host that serves the bytes
	entry    int  // of the table
}

// hostPattern is a host in which "*" matches characters of one label.
type hostPattern struct {
	labels []string
	entry  int // of the table; the first one that matches counts
}

// firstPattern returns the first entry of the table with a pattern that matches the last labels of
// a host, and what precedes them. Without subdomains, nothing may precede them.
func firstPattern(table map[string][]hostPattern, host string, subdomains bool) (entry int, before string, ok bool) {
	for tail := host; tail != ""; _, tail, _ = strings.Cut(tail, ".") {
		for _, p := range table[tail] {
			rest, matched := p.matches(host)
			if matched && (subdomains || rest == "") && (!ok || p.entry < entry) {
				entry, before, ok = p.entry, rest, true
			}
		}
	}
	return entry, before, ok
}

// matches reports whether the last labels of a host match the pattern, and
// returns what precedes them, without its dot.
func (p hostPattern) matches(host string) (before string, ok bool) {
	for _, want := range slices.Backward(p.labels) {
		at := strings.LastIndexByte(host, '.')
		label := host[at+1:]
		if same, _ := path.Match(want, label); !same || label == "" {
			return "", false
		}
		host = host[:max(at, 0)]
	}
	return host, true
}

// Builtin returns the built-in table, of the date [PlatformsDate].
func Builtin() *Platforms { return builtin() }

// newPlatforms indexes entries that are valid.
func newPlatforms(entries []Platform) *Platforms {
	p := &Platforms{entries: entries, exact: make(map[string]hostRole), below: make(map[string]hostRole),
		patterns: make(map[string][]hostPattern), tenants: make(map[string][]hostPattern)}
	file := func(table map[string][]hostPattern, host string, entry int) { // under the domain after the last "*"
		tail := host
		if star := strings.LastIndexByte(host, '*'); star >= 0 {
			_, tail, _ = strings.Cut(host[star:], ".")
		}
		table[tail] = append(table[tail], hostPattern{strings.Split(host, "."), entry})
	}
	for i := range entries {
		e := &entries[i]
		for n, host := range e.Hosts {
			rest, all := strings.CutPrefix(host, "*.")
			switch {
			case strings.Contains(rest, "*"):
				file(p.patterns, host, i)
			case all:
				p.below[rest] = hostRole{platform: e, entry: i}
			default:
				alias := host == "www."+e.Hosts[0]
				p.exact[host] = hostRole{platform: e, page: n == 0 || alias, alias: alias}
			}
		}
		for _, host := range e.Aliases {
			p.exact[host] = hostRole{platform: e, page: true, alias: true}
		}
		for _, host := range e.Subdomains {
			file(p.tenants, host, i)
		}
		if e.Source != nil && e.Source.RawHost != "" {
			p.exact[e.Source.RawHost] = hostRole{platform: e, raw: true}
		}
	}
	return p
}

func (e *Platform) valid() error {
	bad := func(reason string) error {
		return refuse(codeBadPlatform, e.Name, reason, "see the documentation of Platform")
	}
	if len(e.Hosts)+len(e.Subdomains) == 0 {
		return bad("a platform needs a host")
	}
	for _, host := range slices.Concat(e.Hosts, e.Aliases, e.Subdomains) {
		probe := probeHost(host)
		if canonical, _ := domain.ParseHost(probe); canonical != probe || strings.HasSuffix(host, "*") {
			return bad("the host " + plaintext.Quote(host, 100) + " is not in canonical form")
		}
	}
	deep := slices.ContainsFunc(e.Below, func(s Scope) bool { return s.Owner <= strings.Count(s.Word, "/") || s.Word == "" })
	switch {
	case len(e.Aliases) > 0 && (len(e.Hosts) == 0 || strings.Contains(e.Hosts[0]+strings.Join(e.Aliases, ""), "*")):
		return bad("aliases need a first host, and neither of them is a pattern")
	case e.Never:
	case e.Owner < 0 || deep || e.Owner == 0 && len(e.Below) == 0 && len(e.Hosts) > 0:
		return bad("a publisher needs at least one path segment")
	case e.Source != nil && (e.Source.Page == "" || len(e.Source.Raw) == 0 && e.Source.RawHost == ""):
		return bad("a source needs a route to pages and one to bytes")
	}
	return nil
}

func probeHost(pattern string) string { return strings.ReplaceAll(pattern, "*", "x") }

// With returns a table with more platforms. It never relaxes a rule: an entry for a known host has
// to be Never or to require at least as many path segments, and it keeps the known words, prefix
// and revisions. Otherwise the error has the code platform-relaxed or bad-platform.
func (p *Platforms) With(add ...Platform) (*Platforms, error) {
	p = Rules{Platforms: p}.platforms()
	relaxed := func(host string) error {
		return refuse(codePlatformRelaxed, host, "the host is in the table already, with rules that this entry would relax",
			"mark it Never, or ask for more path segments")
	}
	entries := slices.Clone(p.entries)
	for _, e := range add {
		e = e.clone()
		for _, host := range slices.Concat(e.Hosts, e.Aliases) {
			role, known := p.find(probeHost(host))
			if !known || e.Never {
				continue
			}
			if !e.tighten(role.platform) {
				return nil, relaxed(host)
			}
		}
		for _, host := range e.Subdomains {
			if _, known := p.find("x." + probeHost(host)); known {
				return nil, relaxed(host)
			}
		}
		if err := e.valid(); err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return newPlatforms(entries), nil
}

// tighten copies the known rules of a host to an entry, and reports whether the entry relaxes none
// of them.
func (e *Platform) tighten(old *Platform) bool {
	shallow := slices.ContainsFunc(e.Below, func(s Scope) bool { return s.Owner < old.Owner })
	if old.Never || e.Owner < old.Owner || shallow || len(old.Below) > 0 || old.Source != nil ||
		!strings.HasPrefix(e.Prefix, old.Prefix) && e.Prefix != "" || len(old.Skip) > 0 {
		return false
	}
	if e.Prefix == "" {
		e.Prefix = old.Prefix
	}
	e.Reserved = append(e.Reserved, old.Reserved...)
	e.AtRef = e.AtRef || old.AtRef
	e.Files = cmp.Or(e.Files, old.Files)
	e.Forge = e.Forge || old.Forge
	e.Of = cmp.Or(e.Of, old.Of, old.Hosts[0])
	return true
}

func (e Platform) clone() Platform {
	e.Hosts, e.Subdomains, e.Skip = slices.Clone(e.Hosts), slices.Clone(e.Subdomains), slices.Clone(e.Skip)
	e.Aliases = slices.Clone(e.Aliases)
	e.Below, e.Reserved = slices.Clone(e.Below), slices.Clone(e.Reserved)
	if e.Source != nil {
		s := *e.Source
		s.Raw, s.Dir, s.Kinds, s.Views = slices.Clone(s.Raw), slices.Clone(s.Dir), slices.Clone(s.Kinds), slices.Clone(s.Views)
		e.Source = &s
	}
	return e
}

// All yields the entries, the built-in ones first.
func (p *Platforms) All() iter.Seq[Platform] {
	p = Rules{Platforms: p}.platforms()
	return func(yield func(Platform) bool) {
		for _, e := range p.entries {
			if !yield(e.clone()) {
				return
			}
		}
	}
}

// Lookup returns the platform that a canonical host belongs to.
func (p *Platforms) Lookup(host string) (Platform, bool) {
	p = Rules{Platforms: p}.platforms()
	if role, ok := p.find(probeHost(host)); ok {
		return role.platform.clone(), true
	}
	if e, _, ok := p.tenant(host); ok {
		return e.clone(), true
	}
	return Platform{}, false
}

// find returns the role of a host: that of the host itself, of a pattern that it matches, or of
// the nearest domain above it with an entry for all subdomains. A publisher's host below one of
// Subdomains has no role, unless a later entry is for all subdomains.
func (p *Platforms) find(host string) (hostRole, bool) {
	if role, ok := p.exact[host]; ok {
		return role, true
	}
	if entry, _, ok := firstPattern(p.patterns, host, false); ok {
		return hostRole{platform: &p.entries[entry], entry: entry}, true
	}
	for _, rest, more := strings.Cut(host, "."); more; _, rest, more = strings.Cut(rest, ".") {
		if role, ok := p.below[rest]; ok {
			entry, owner, tenant := firstPattern(p.tenants, host, true)
			return role, !tenant || owner == "" || entry < role.entry
		}
	}
	return hostRole{}, false
}

// tenant returns the platform with a host for each publisher, and the publisher: the labels of the
// host before the platform's domain, or "" for the domain itself.
func (p *Platforms) tenant(host string) (e *Platform, owner string, ok bool) {
	entry, owner, ok := firstPattern(p.tenants, host, true)
	if !ok {
		return nil, "", false
	}
	return &p.entries[entry], owner, true
}

// isSuffix reports whether a host is a public suffix, of the lists or by the table of platforms, and
// whether it is one of ICANN's. Single labels are hosts only if the rules allow them, so they are
// no suffixes.
func (r Rules) isSuffix(host string) (is, icann bool) {
	suffix, icann := domain.PublicSuffixWith(host, r.PublicSuffix)
	if suffix != host {
		_, owner, ok := r.platforms().tenant(host)
		return ok && owner == "", false // which has a dot, see valid
	}
	return strings.Contains(host, "."), icann
}

// ownerPath is the position of the publisher in a path.
type ownerPath struct {
	skip  int    // segments of Platform.Skip
	name  int    // segments before the publisher's name, with the words of a Scope
	start int    // bytes before the name in its first segment
	depth int    // segments up to the end of the name; 0: no publisher's path
	of    string // as in Platform
}

// owner returns the position of the publisher in a path. A word in another letter case counts as
// the word.
func (e *Platform) owner(segments []string) ownerPath {
	skip := 0
	for skip < len(segments) && slices.ContainsFunc(e.Skip, func(word string) bool { return matchesWord(word, segments[skip]) }) {
		skip++
	}
	scheme, named := "", false
	if skip < len(segments) {
		scheme, _, named = strings.Cut(segments[skip], ":")
	}
	for _, s := range e.Below {
		if strings.HasSuffix(s.Word, ":") {
			if named && strings.EqualFold(scheme+":", s.Word) {
				return ownerPath{skip: skip, name: skip, start: len(s.Word), depth: skip + s.Owner,
					of: cmp.Or(s.Of, e.namespace()+"/"+s.Word)}
			}
			continue
		}
		words := skip + strings.Count(s.Word, "/") + 1
		if len(segments) >= words && strings.EqualFold(s.Word, strings.Join(segments[skip:words], "/")) {
			return ownerPath{skip: skip, name: words, depth: skip + s.Owner, of: cmp.Or(s.Of, e.namespace()+"/"+s.Word)}
		}
	}
	if e.Owner == 0 {
		return ownerPath{skip: skip, name: skip, of: e.namespace()}
	}
	start := 0
	if skip < len(segments) { // esm.sh has *name for a variant of the package name
		start = len(segments[skip]) - len(strings.TrimLeft(segments[skip], "*"))
	}
	return ownerPath{skip: skip, name: skip, start: start, depth: skip + e.Owner, of: e.namespace()}
}

func (e *Platform) namespace() string {
	return cmp.Or(e.Of, slices.Concat(e.Hosts, e.Subdomains)[0])
}

// matchesWord compares a segment with a word in which "#" matches digits.
func matchesWord(word, segment string) bool {
	before, after, digits := strings.Cut(word, "#")
	if !digits {
		return strings.EqualFold(word, segment)
	}
	n := len(segment) - len(after)
	return n > len(before) && strings.EqualFold(segment[:len(before)], before) && strings.EqualFold(segment[n:], after) &&
		strings.Trim(segment[len(before):n], "0123456789") == ""
}

// checkOwner refuses a path that names no publisher.
func (e *Platform) checkOwner(input string, segments []string) error {
	if len(segments) == 0 {
		return refuse(CodeUGCBareRoot, input, fmt.Sprintf("many publish on %s, so the host cannot be a trust root", e.Name),
			"add the path of one publisher")
	}
	at := e.owner(segments)
	if len(segments) > at.skip {
		// No publisher is named like a route but for the case of its letters.
		first := segments[at.skip]
		word := slices.ContainsFunc(e.Reserved, func(w string) bool { return matchesWord(w, first) })
		if at.depth == 0 || word || at.start == len(first) || !strings.HasPrefix(first, e.Prefix) || first == e.Prefix {
			return refuse(codeReservedSegment, input,
				plaintext.Quote(first, 100)+" is a reserved word of "+e.Name+", not a publisher", "use the path of one publisher")
		}
	}
	if depth := max(at.depth, at.skip+1); len(segments) < depth {
		return refuse(codeUGCRootTooShort, input, fmt.Sprintf("a publisher on %s has %d path segments", e.Name, depth),
			"add the path of one publisher")
	}
	return nil
}

// foldSegments lowers, in place, the segments whose case the platform ignores. It leaves segments with percent
// escapes alone: their hex digits are upper case in the canonical form.
func (e *Platform) foldSegments(segments []string) []string {
	for i := range min(e.Fold, len(segments)) {
		if lower := strings.ToLower(segments[i]); lower != segments[i] && !strings.Contains(lower, "%") {
			segments[i] = lower
		}
	}
	return segments
}

// PlatformsDate is the day of the last review of the built-in table.
const PlatformsDate = "2026-11-28"

//go:embed platforms.yaml
var platformTable []byte

// builtin is the built-in table. It is read on first use, so that importing the package costs next to
// nothing.
var builtin = sync.OnceValue(func() *Platforms {
	var entries []Platform
	if err := yaml.Unmarshal(platformTable, &entries); err != nil {
		panic(err) // the table is a part of the program
	}
	return newPlatforms(entries)
})

package dvs

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
)

// EntryFile is the name of the file that every skill has (section 4.2).
const EntryFile = "SKILL.md"

// SkillURL is the identity of a skill (sections 2 and 3): the canonical https URL of its SKILL.md,
// on a platform the URL of the file's page. Two skills with the same name at two URLs are different
// skills. It is immutable; compare two by their strings. The zero SkillURL lies under no root.
type SkillURL struct {
	place
	fragment bool
	artifact Artifact
}

// ParseSkillURL reads the URL of a skill's directory or of its SKILL.md; both denote the same
// skill. A URL that ends in .tar.gz, .tgz or .zip denotes a skill that is served as an archive. On
// a platform, the page of a file, its bytes, the page of a directory and the repository itself are
// spellings of one identity. An ambiguous URL is an error. Every error is a [*lookleap.Error].
func ParseSkillURL(raw string, rules Rules) (SkillURL, error) {
	return ParseArtifactURL(raw, SkillDirectory, rules)
}

// ParseArtifactURL reads the URL of a skill that is served as a certain artifact, as an index of
// v0.2 lists it. For a SkillDirectory, it is [ParseSkillURL]. Otherwise the URL denotes exactly the
// file.
func ParseArtifactURL(raw string, artifact Artifact, rules Rules) (SkillURL, error) {
	urls := rules.urls()
	urls.RefuseQuery = !rules.AllowQuery
	u, err := urls.Parse(raw)
	if err != nil {
		viewed := false
		if withQuery, err := rules.urls().Parse(raw); err == nil { // it may only select a view of the page
			u, viewed = rules.withoutView(withQuery)
		}
		if !viewed {
			return SkillURL{}, badURL(raw, err)
		}
	}
	return rules.artifactAt(raw, u, artifact)
}

// withoutView returns u without a query that does not change which file a platform serves.
func (r Rules) withoutView(u domain.URL) (domain.URL, bool) {
	role, ok := r.platforms().find(u.Host())
	if !ok || role.platform.Source == nil || !slices.Contains(role.platform.Source.Views, u.RawQuery()) {
		return u, false
	}
	plain, err := domain.Rules{AllowSpecial: true}.Parse(u.Origin() + u.Path())
	return plain, err == nil
}

// artifactAt returns the skill at a canonical URL.
func (r Rules) artifactAt(raw string, u domain.URL, artifact Artifact) (SkillURL, error) {
	file := u
	switch {
	case artifact != SkillDirectory:
	case namesArchive(u.Path()) && r.bareRepository(u) == nil:
		artifact = SkillArchive
	default:
		var err error
		if file, err = r.entryURL(raw, u); err != nil {
			return SkillURL{}, err
		}
	}
	p, err := r.locate(file)
	if err != nil {
		return SkillURL{}, err
	}
	if !p.file {
		return SkillURL{}, refuse(CodeNotContentRoute, raw, "the path does not lead to a file of a repository",
			"use the page of the file in its repository")
	}
	return SkillURL{place: p, fragment: u.FragmentDropped(), artifact: artifact}, nil
}

func namesArchive(path string) bool {
	name := path[strings.LastIndexByte(path, '/')+1:]
	return slices.ContainsFunc([]string{".tar.gz", ".tgz", ".zip"}, func(extension string) bool {
		return len(name) > len(extension) && strings.EqualFold(name[len(name)-len(extension):], extension)
	})
}

// entryURL returns the URL of the entry file for that of a skill's directory.
func (r Rules) entryURL(raw string, u domain.URL) (domain.URL, error) {
	path := strings.TrimSuffix(u.Path(), "/")
	last := path[strings.LastIndexByte(path, '/')+1:]
	if last == EntryFile && !strings.HasSuffix(u.Path(), "/") {
		return u, nil
	}
	if bare := r.bareRepository(u); bare != nil {
		return atPath(u, u.Host(), "/"+strings.Join(bare, "/"))
	}
	if len(last) >= len(".md") && strings.EqualFold(last[len(last)-len(".md"):], ".md") {
		return domain.URL{}, refuse(CodeNotSkillURL, raw, "the entry file of a skill is named SKILL.md, in this spelling",
			"use the URL of the skill's directory or of its SKILL.md")
	}
	entry, err := atPath(u, u.Host(), path+"/"+EntryFile)
	if err != nil {
		return domain.URL{}, err
	}
	if limit := cmp.Or(r.MaxURL, domain.DefaultMaxLength); len(entry.String()) > limit {
		return domain.URL{}, refuse(lookleap.CodeURLTooLong, raw, "the URL of the entry file is too long", "use a shorter path")
	}
	return entry, nil
}

// bareRepository returns the path of the entry file if a URL names only a repository, or nil.
func (r Rules) bareRepository(u domain.URL) []string {
	role, ok := r.platforms().find(u.Host())
	if !ok || !role.page {
		return nil
	}
	segments, s := u.Segments(), role.platform.Source
	if len(segments) == 0 || segments[len(segments)-1] == EntryFile {
		return nil
	}
	if s == nil || s.Marker != "" || len(segments) != role.platform.owner(segments).depth+1 {
		return nil
	}
	segments = slices.Clone(segments)
	last := &segments[len(segments)-1]
	if name, ok := strings.CutSuffix(*last, ".git"); ok && name != "" { // as one clones it
		*last = name
	}
	switch {
	case s.Flat:
		return append(slices.Clone(segments), s.Page, EntryFile)
	case s.Default != "":
		return append(slices.Clone(segments), s.Page, s.Default, EntryFile)
	}
	return nil
}

// String returns the identity.
func (u SkillURL) String() string { return u.page.String() }

// IsZero reports whether u is the zero SkillURL.
func (u SkillURL) IsZero() bool { return u.page.IsZero() }

// Host returns the host of the identity.
func (u SkillURL) Host() string { return u.page.Host() }

// ServedFrom returns the URL that the bytes are fetched from. It differs from the
// identity where a platform serves pages and bytes at different URLs (DVS-3.1-45 to DVS-3.1-48).
func (u SkillURL) ServedFrom() string { return u.served.String() }

// ServingHost returns the host that the bytes are fetched from.
func (u SkillURL) ServingHost() string { return u.served.Host() }

// Directory returns the canonical URL of the skill's directory, with its final slash: the URL of an
// archive is that of a directory, and a SingleFile has none.
func (u SkillURL) Directory() string {
	text := u.page.String()
	switch u.artifact {
	case SkillArchive:
		return text + "/"
	case SingleFile:
		return ""
	}
	return text[:strings.LastIndexByte(text, '/')+1]
}

// directoryName returns the name of the directory that the skill is in, without the extension of an
// archive or file, or "".
func (u SkillURL) directoryName() string {
	segments := u.page.Segments()
	if u.artifact == SkillDirectory && len(segments) > 0 {
		segments = segments[:len(segments)-1]
	}
	if len(segments) == 0 {
		return ""
	}
	name := unescape(segments[len(segments)-1])
	if u.artifact != SkillDirectory {
		name, _, _ = strings.Cut(name, ".")
	}
	return name
}

// Artifact returns what the server sends for the URL.
func (u SkillURL) Artifact() Artifact { return u.artifact }

// untold returns the artifact if [ParseSkillURL] does not find it, or else SkillDirectory.
func (u SkillURL) untold() Artifact {
	if u.artifact == SkillArchive && namesArchive(u.page.Path()) {
		return SkillDirectory
	}
	return u.artifact
}

// Commit returns the part of the URL that its platform may read as a commit, or "". Such a URL is
// verified only with a [Pin], since platforms show the commits of a stranger's fork below the path
// of the original (DVS-3.1-42 to DVS-3.1-44).
func (u SkillURL) Commit() string { return u.commit }

// FragmentDropped reports whether the input had a fragment, which is not part of the identity.
func (u SkillURL) FragmentDropped() bool { return u.fragment }

// MarshalText returns the identity.
func (u SkillURL) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// Rules say which URLs are accepted as trust roots and skill URLs. The zero Rules are the
// strictest ones and use the built-in platforms.
type Rules struct {
	Platforms  *Platforms // nil: Builtin()
	AllowQuery bool       // keep the query of a skill URL as part of its identity
	MaxURL     int        // bytes of a URL or reference; 0: 8192

	// PublicSuffix is a list of public suffixes besides the built-in one and that of
	// [lookleap.UsePublicSuffixList]. The longest suffix counts. nil: none. With it, the hosts of
	// one process can have different lists.
	PublicSuffix lookleap.PublicSuffixList

	// InsecureAllowLocalhost lets single labels and special-use names be hosts.
	// Use it only for tests and intranets.
	InsecureAllowLocalhost bool
}

func (r Rules) platforms() *Platforms {
	if r.Platforms == nil {
		return builtin()
	}
	return r.Platforms
}

func (r Rules) urls() domain.Rules {
	return domain.Rules{MaxLength: r.MaxURL, AllowSpecial: r.InsecureAllowLocalhost}
}

// place says where a file is: the URL that identifies it, which on a platform is the canonical URL
// of its page, and the URL that serves its bytes.
type place struct {
	page   domain.URL
	served domain.URL
	commit string // what a platform may read as a commit; "": nothing
	mapped bool   // it was given in another form than the page's
	alias  bool   // it was given with another name of the page's host
	file   bool   // a file can stand there: below a repository's revision, or on a host without routes
}

// locate checks the host and path of a canonical URL: first the hosts that are never trusted, then
// the platforms, then the public suffixes (DVS-3.1-34 to DVS-3.1-40). Only this function decides
// whether two URLs are the same file.
func (r Rules) locate(u domain.URL) (_ place, err error) {
	input := u.String()
	role, ok := r.platforms().find(u.Host())
	switch {
	case ok && role.platform.Never:
		return place{}, refuse(codeNeverTrusted, input, "this host serves what others published: "+role.platform.Name,
			"use the publisher's own URL")
	case !ok:
		if is, icann := r.isSuffix(u.Host()); is && (icann || u.Path() == "/") {
			return place{}, refuse(codePublicSuffix, input, "others publish below this public suffix", "use the publisher's own host")
		}
		p := place{page: u, served: u, file: true}
		if e, owner, _ := r.platforms().tenant(u.Host()); owner != "" && e.Forge {
			p.commit, err = checkForge(input, u.Segments())
		}
		return p, err
	}
	e := role.platform
	if role.alias {
		canonical, err := atPath(u, e.Hosts[0], u.Path())
		if err != nil {
			return place{}, err
		}
		p, err := r.locate(canonical)
		p.mapped, p.alias = true, true
		return p, err
	}
	segments := e.foldSegments(u.Segments())
	if err := e.checkOwner(input, segments); err != nil {
		return place{}, err
	}
	if e.Source == nil || !role.page && !role.raw {
		return e.plainPlace(u, segments)
	}
	where, ok, err := role.readRoute(input, segments)
	if err != nil {
		return place{}, err
	}
	var p place
	page, bytes := segments, segments
	if ok {
		page, bytes = where.paths(e.Source)
		p.commit, p.file = where.commit(), e.Source.Flat || len(where.rest) > 1
	}
	if p.page, err = withPath(u, e.Hosts[0], page); err != nil {
		return place{}, err
	}
	if p.served, err = withPath(u, cmp.Or(e.Source.RawHost, e.Hosts[0]), bytes); err != nil {
		return place{}, err
	}
	p.mapped = p.page.String() != u.String()
	return p, nil
}

// placeOf is locate for any URL: one that locate refuses stands only for itself.
func (r Rules) placeOf(u domain.URL) place {
	p, err := r.locate(u)
	if err != nil {
		return place{page: u, served: u}
	}
	return p
}

// plainPlace returns the place of a URL on a platform without known routes, or on one of its other
// hosts.
func (e *Platform) plainPlace(u domain.URL, segments []string) (place, error) {
	page, err := withPath(u, u.Host(), segments)
	p := place{page: page, served: page, file: true}
	if err == nil && e.AtRef {
		p.commit, err = e.checkAtRef(u.String(), segments)
	}
	if err == nil && e.Forge {
		p.commit, err = checkForge(u.String(), segments[min(e.owner(segments).depth, len(segments)):])
	}
	if err == nil && e.Source != nil { // another name of a platform whose routes are known
		var where route
		where, _, err = hostRole{platform: e}.readRoute(u.String(), segments)
		p.commit = where.commit()
	}
	return p, err
}

// withPath is u on a host with the given canonical segments. The final slash
// and the query stay as they are.
func withPath(u domain.URL, host string, segments []string) (domain.URL, error) {
	if host == u.Host() && slices.Equal(segments, u.Segments()) {
		return u, nil
	}
	path := "/" + strings.Join(segments, "/")
	if strings.HasSuffix(u.Path(), "/") {
		path += "/"
	}
	return atPath(u, host, path)
}

// atPath is u with another host and canonical path. Port and query stay.
func atPath(u domain.URL, host, path string) (domain.URL, error) {
	text := "https://" + host + strings.TrimPrefix(u.Origin(), "https://"+u.Host()) + path
	if u.HasQuery() {
		text += "?" + u.RawQuery()
	}
	moved, err := domain.Rules{AllowSpecial: true}.Parse(text)
	if err != nil {
		return domain.URL{}, badURL(text, err)
	}
	return moved, nil
}

// forgeShaped reports whether a path has the routes of a code host, on which many owners share one
// origin (DVS-3.1-34 to DVS-3.1-40).
func forgeShaped(segments []string) bool {
	for i, s := range segments[:max(len(segments)-1, 0)] {
		switch next := segments[i+1]; {
		case s == "-" && (next == "blob" || next == "raw" || next == "tree"),
			(s == "src" || s == "raw") && (next == "branch" || next == "tag" || next == "commit"):
			return true
		}
	}
	return false
}

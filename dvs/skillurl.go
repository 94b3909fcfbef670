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

// SkillURL is the identity of a skill (sections 2 and 3): the canonical https
// URL of its SKILL.md, on a platform that of the file's page. Equal names at
// two URLs are two skills. It is immutable; two are the same if their strings
// are. The zero SkillURL names nothing and lies under no root.
type SkillURL struct {
	place
	fragment bool
}

// ParseSkillURL reads the URL of a skill's directory or of its SKILL.md, which
// both denote the same skill. On a platform, the page of a file, its bytes, the
// page of a directory and the bare repository are spellings of one identity.
// Every error is an [*lookleap.Error]; nothing ambiguous is repaired.
func ParseSkillURL(raw string, rules Rules) (SkillURL, error) {
	s, refused := rules.parseSkillURL(raw)
	if refused != nil {
		return SkillURL{}, refused
	}
	return s, nil
}

func (r Rules) parseSkillURL(raw string) (SkillURL, *lookleap.Error) {
	rules := r.urls()
	rules.RefuseQuery = !r.AllowQuery
	u, err := rules.Parse(raw)
	if err != nil {
		return SkillURL{}, badURL(raw, err)
	}
	return r.skillAt(raw, u)
}

// skillAt gives the skill at a canonical URL.
func (r Rules) skillAt(raw string, u domain.URL) (SkillURL, *lookleap.Error) {
	entry, err := r.entryURL(raw, u)
	if err != nil {
		return SkillURL{}, err
	}
	p, err := r.locate(entry)
	if err != nil {
		err.Subject = domain.Redact(raw)
		return SkillURL{}, err
	}
	if !p.file {
		return SkillURL{}, refuse(CodeNotContentRoute, raw, "no file can stand at this path of the platform", "use the page of the SKILL.md in its repository")
	}
	return SkillURL{place: p, fragment: u.FragmentDropped()}, nil
}

// entryURL adds what a directory's URL leaves out.
func (r Rules) entryURL(raw string, u domain.URL) (domain.URL, *lookleap.Error) {
	if bare := r.bareRepository(u); bare != nil {
		return atPath(u, u.Host(), "/"+strings.Join(bare, "/"))
	}
	path := strings.TrimSuffix(u.Path(), "/")
	last := path[strings.LastIndexByte(path, '/')+1:]
	switch {
	case last == EntryFile && !strings.HasSuffix(u.Path(), "/"):
		return u, nil
	case len(last) >= len(".md") && strings.EqualFold(last[len(last)-len(".md"):], ".md"):
		return domain.URL{}, refuse(CodeNotSkillURL, raw, "the entry point of a skill is SKILL.md, spelled so", "use the URL of the skill's directory or of its SKILL.md")
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

// bareRepository gives the path of the entry file of a repository that is named
// alone; nil if the URL is something else.
func (r Rules) bareRepository(u domain.URL) []string {
	role, ok := r.platforms().find(u.Host())
	if !ok || !role.page {
		return nil
	}
	segments, s := u.Segments(), role.platform.Source
	if len(segments) == 0 || segments[len(segments)-1] == EntryFile {
		return nil
	}
	if s == nil || s.Marker != "" || len(segments) != role.platform.ownerDepth(segments)+1 {
		return nil
	}
	switch {
	case s.Flat:
		return append(slices.Clone(segments), s.Page, EntryFile)
	case s.Default != "":
		return append(slices.Clone(segments), s.Page, s.Default, EntryFile)
	}
	return nil
}

// String gives the identity.
func (u SkillURL) String() string { return u.page.String() }

// IsZero reports whether u names nothing.
func (u SkillURL) IsZero() bool { return u.page.IsZero() }

// Host gives the host of the identity.
func (u SkillURL) Host() string { return u.page.Host() }

// ServedFrom gives the URL that the bytes are fetched from. It differs from the
// identity where a platform serves pages and bytes at different URLs (DVS-3.1-45 to DVS-3.1-48).
func (u SkillURL) ServedFrom() string { return u.served.String() }

// ServingHost gives the host that the bytes are fetched from.
func (u SkillURL) ServingHost() string { return u.served.Host() }

// Directory gives the canonical URL of the skill's directory, with its final
// slash.
func (u SkillURL) Directory() string {
	text := u.page.String()
	return text[:strings.LastIndexByte(text, '/')+1]
}

// Commit gives the part of the URL that its platform may read as a commit, and
// "" if there is none. Such a URL is verified only with a [Pin], since commits
// of a stranger's fork can be read below the parent's path (DVS-3.1-42 to DVS-3.1-44).
func (u SkillURL) Commit() string { return u.commit }

// FragmentDropped reports whether the input had a fragment, which is no part of
// the identity.
func (u SkillURL) FragmentDropped() bool { return u.fragment }

// MarshalText gives the identity.
func (u SkillURL) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

package dvs

import (
	"net/url"
	"slices"
	"strings"

	"github.com/lookleap/lookleap/internal/domain"
)

// RepositoryURL names a repository of a code host or a directory in it, at a branch or tag. The zero
// RepositoryURL names none.
type RepositoryURL struct {
	text   string
	page   domain.URL // of the repository, canonical
	source *Source
	repo   []string // path of the repository, canonical
	rev    string   // "": the default branch
	path   string   // below the repository; "": all of it
	tail   []string // a revision and a path, of which only the list of references tells where one ends; nil: rev and path do
}

// shorthand is owner/repo with a path, and a revision after @ or #.
var shorthand = pattern(`^([A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+)((?:/[^@#:?]+)?)(?:[@#](.+))?$`)

// scpForm is the form in which code hosts show the address for SSH.
var scpForm = pattern(`^(?:ssh://)?git@([A-Za-z0-9.-]+)[:/](.+)$`)

// ParseRepositoryURL reads what people write for a repository: owner/repo of GitHub, with a path below
// it and a revision after "@"; the URL of a repository, of a directory or of a SKILL.md on a code host
// of the table, of which a query is dropped; the address for git, which is read over https. For any
// other URL, the error has the code not-content-route.
func ParseRepositoryURL(text string, rules Rules) (RepositoryURL, error) {
	none := func(reason, fix string) (RepositoryURL, error) {
		return RepositoryURL{}, refuse(CodeNotContentRoute, text, reason, fix)
	}
	raw, rev, path := strings.TrimPrefix(text, "git+"), "", ""
	if m := scpForm().FindStringSubmatch(raw); m != nil {
		raw = "https://" + m[1] + "/" + m[2]
	} else if m := shorthand().FindStringSubmatch(raw); m != nil {
		raw, path, rev = "https://github.com/"+m[1], strings.Trim(m[2], "/"), m[3]
	}
	raw, _, _ = strings.Cut(raw, "?")
	u, err := rules.urls().Parse(strings.TrimSuffix(raw, "/"))
	if err != nil {
		return RepositoryURL{}, badURL(text, err)
	}
	role, ok := rules.platforms().find(u.Host())
	if !ok || !role.page || role.platform.Source == nil || role.platform.Source.Archive == "" {
		return none("the host is no code host whose archives are known", "use the URL of the skill itself")
	}
	at := RepositoryURL{text: text, source: role.platform.Source, rev: rev, path: path}
	segments := u.Segments()
	where, routed, err := role.readRoute(text, role.platform.foldSegments(segments))
	switch {
	case err != nil:
		return RepositoryURL{}, err
	case routed:
		segments = where.repo
		for _, segment := range where.rest {
			at.tail = append(at.tail, unescape(segment))
		}
		if n := len(at.tail); n > 1 && at.tail[n-1] == EntryFile {
			at.tail = at.tail[:n-1]
		}
	}
	depth := role.platform.owner(segments).depth + 1
	if len(segments) < depth || at.source.Marker == "" && len(segments) > depth {
		return none("the path is not that of a repository", "write owner/repo, or the URL of the repository's page")
	}
	segments = slices.Clone(segments)
	segments[len(segments)-1] = strings.TrimSuffix(segments[len(segments)-1], ".git")
	page, err := atPath(u, role.platform.Hosts[0], "/"+strings.Join(segments, "/"))
	if err != nil {
		return RepositoryURL{}, err
	}
	p, err := rules.locate(page) // which refuses words of the platform itself
	if err != nil {
		return RepositoryURL{}, err
	}
	at.page, at.repo = p.page, p.page.Segments()
	return at, nil
}

// String returns the text that was read.
func (u RepositoryURL) String() string { return u.text }

// Repository returns the URL of the page of the repository.
func (u RepositoryURL) Repository() string { return u.page.String() }

// names returns the revisions that the URL may name; none for the default branch.
func (u RepositoryURL) names() []string {
	if u.tail == nil {
		return slices.DeleteFunc([]string{u.rev}, func(s string) bool { return s == "" })
	}
	var all []string
	for n := range u.tail {
		all = append(all, strings.Join(u.tail[:n+1], "/"))
	}
	return all
}

// Below returns the path in the repository that the URL names if its revision has this name: "" for all
// of the repository.
func (u RepositoryURL) Below(name string) string {
	if u.tail == nil {
		return u.path
	}
	return strings.TrimPrefix(strings.TrimPrefix(strings.Join(u.tail, "/"), name), "/")
}

func (u RepositoryURL) skill(commit, directory string, rules Rules) (SkillURL, error) {
	r := route{repo: u.repo, rest: []string{commit}}
	if slices.Contains(u.source.Kinds, "commit") {
		r.kind = "commit"
	}
	for segment := range strings.SplitSeq(join(directory, EntryFile), "/") {
		r.rest = append(r.rest, (&url.URL{Path: segment}).EscapedPath())
	}
	page, _ := r.paths(u.source)
	return ParseSkillURL(u.page.Origin()+"/"+strings.Join(page, "/"), rules)
}

// refs returns the URL of git's list of references.
func (u RepositoryURL) refs() string {
	path := u.source.Refs
	if path == "" {
		path = "/{repo}.git/info/refs"
	}
	return u.page.Origin() + fill(path, u.repo, "") + "?service=git-upload-pack"
}

func (u RepositoryURL) archive(commit string) string {
	return u.page.Origin() + fill(u.source.Archive, u.repo, commit)
}

// fill replaces the words of a template in [Source].
func fill(template string, repo []string, commit string) string {
	return strings.NewReplacer("{repo}", strings.Join(repo, "/"), "{name}", repo[len(repo)-1], "{commit}", commit).Replace(template)
}

// isArchive reports whether a URL is that of the archive of a repository at a commit. Code hosts do not
// tell letter case apart in the names of repositories.
func (s *Source) isArchive(u domain.URL, origin string, repo []string, commit string) bool {
	own := origin + fill(s.Archive, repo, commit)
	return strings.EqualFold(u.String(), own) || s.Archived != "" && strings.EqualFold(u.String(), fill(s.Archived, repo, commit))
}

// isArchiveOf reports whether a URL is that of the archive of the repository of a skill at its commit.
func (r Rules) isArchiveOf(archive string, skill SkillURL) bool {
	u, err := domain.Rules{AllowSpecial: true}.Parse(archive)
	role, ok := r.platforms().find(skill.Host())
	if err != nil || !ok || role.platform.Source == nil || !isFullCommit(skill.commit) {
		return false
	}
	where, ok, err := role.readRoute("", skill.page.Segments())
	return err == nil && ok && role.platform.Source.isArchive(u, skill.page.Origin(), where.repo, skill.commit)
}

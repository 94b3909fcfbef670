package dvs

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// Repository is a repository at one commit: the skills in it, and their files. [Loader.Repository]
// reads it with two requests, whatever the number of skills. Close it.
type Repository struct {
	URL      string             // canonical, of the repository's page
	Tip      Tip                // the branch or tag that was asked for, and its commit
	Skills   []Listing          // in the order of their paths
	Findings []lookleap.Finding // what was left out; the path of a position is one in the repository

	loader   *Loader
	at       RepositoryURL
	commit   string
	evidence Evidence // of the archive
	tree     *repositoryTree
}

// Close removes the temporary file with the content of the repository. Skills that were loaded stay.
func (r *Repository) Close() error {
	if r == nil || r.tree == nil {
		return nil
	}
	return r.tree.close()
}

// Repository reads a repository of a code host, and lists the skills that it has below the path of the
// URL. It asks the host for the commit of the branch or tag, and for the archive of that commit.
// [Loader.LoadListing] then loads a skill without another request: its identity is the URL of its
// SKILL.md at the commit, under the root of the repository's owner, and a change since the version
// that the user approved is asked about, whatever the commits. All files of its directory belong to it.
//
// If the host denies access, the request is sent again with what [Options].Credentials returns.
//
// The skills in the usual places are listed: at the path itself, directly below it, and anywhere below
// a directory named skills. Only if there are none, all others are. A link is followed inside the
// repository; a skill with a link that leaves it is refused when it is loaded. Files that other
// installers leave out are left out: metadata.json and caches of Python.
//
// The commit has to be the one of a branch or tag, since code hosts show those of strangers' forks too.
// Every error is a [*lookleap.Error].
func (l *Loader) Repository(ctx context.Context, at RepositoryURL) (*Repository, error) {
	access, err := l.repositoryAccess(ctx, at)
	if err != nil {
		return nil, err
	}
	tip, path, err := access.tip(ctx)
	if err != nil {
		return nil, err
	}
	r, err := access.read(ctx, tip.Commit)
	if err != nil {
		return nil, err
	}
	r.Tip = tip
	if err := r.list(ctx, path); err != nil {
		return nil, cmp.Or(err, r.Close())
	}
	return r, nil
}

// RepositoryTip returns the commit of the branch or tag that a URL names, by one request.
func (l *Loader) RepositoryTip(ctx context.Context, at RepositoryURL) (Tip, error) {
	access, err := l.repositoryAccess(ctx, at)
	if err != nil {
		return Tip{}, err
	}
	tip, _, err := access.tip(ctx)
	return tip, err
}

// RepositoryAt reads a repository at a commit that the caller knows, for example from a lockfile, which
// need not be at the end of a branch. It lists no skills; [Repository.Skill] finds one. They are judged
// as by [Loader.LoadPinned].
func (l *Loader) RepositoryAt(ctx context.Context, at RepositoryURL, commit string) (*Repository, error) {
	if !isFullCommit(commit) {
		return nil, usageError("this is not a whole commit", "pass 40 or 64 hex digits")
	}
	access, err := l.repositoryAccess(ctx, at)
	if err != nil {
		return nil, err
	}
	return access.read(ctx, strings.ToLower(commit))
}

func (r *Repository) list(ctx context.Context, path string) error {
	directories, findings, err := r.tree.skills(path)
	r.Findings = findings
	if err != nil {
		return err
	}
	for i, directory := range directories {
		if err := ctx.Err(); err != nil {
			return &lookleap.Error{Code: lookleap.CodeOf(err), Subject: r.URL, Message: "the skills were not listed", Err: err}
		}
		if most := r.loader.limits.Candidates; i >= most {
			r.Findings = append(r.Findings, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: lookleap.CodeLimit,
				Message:  fmt.Sprintf("the repository has more than %d skills: those from here on are left out; name a directory to have them", most),
				Position: lookleap.Position{Path: join(directory, EntryFile)}})
			break
		}
		entry, err := r.Skill(directory)
		if err != nil {
			r.Findings = append(r.Findings, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: lookleap.CodeOf(err),
				Message: "a skill is left out: " + sentence(err), Position: lookleap.Position{Path: join(directory, EntryFile)}})
			continue
		}
		r.Skills = append(r.Skills, entry)
	}
	return nil
}

// Skill returns the skill in a directory of the repository, "" for the repository itself. An error has
// the code skill-not-found if there is none.
func (r *Repository) Skill(directory string) (Listing, error) {
	if r == nil || r.tree == nil {
		return Listing{}, usageError("there is no repository", "read it with Loader.Repository")
	}
	file := join(directory, EntryFile)
	if _, ok := r.tree.entries[file]; !ok {
		return Listing{}, refuse(CodeSkillNotFound, file, "the repository has no skill in this directory", "")
	}
	skill, err := r.at.skill(r.commit, directory, r.loader.roots.Rules())
	if err != nil {
		return Listing{}, err
	}
	// The rest is read when the skill is loaded.
	content, err := r.tree.readStart(file, r.loader.limits.Skill, maxFrontmatter+catalogueRead)
	if err != nil {
		return Listing{}, err
	}
	meta, _, err := ParseMetadata(content, Lenient, r.loader.limits)
	if err != nil {
		return Listing{}, err
	}
	return Listing{Skill: skill, Name: meta.Name, Description: meta.Description, packed: &packedSkill{r, directory}}, nil
}

// packedSkill is a skill of a repository that was read.
type packedSkill struct {
	repository *Repository
	directory  string // "": the repository itself
}

// claim adds to a claim how the commit of the skill is known.
func (p *packedSkill) claim(c *Claim) {
	if c.Tip = p.repository.Tip; c.Tip == (Tip{}) {
		c.Pin.Commit = p.repository.commit
	}
}

// document returns the skill as if its SKILL.md had been fetched, with its other files.
func (p *packedSkill) document(ctx context.Context, limits Limits) (*document, error) {
	files, err := p.repository.tree.skillFiles(ctx, p.directory, limits)
	if err != nil {
		return nil, err
	}
	entry := files.files[EntryFile]
	doc := &document{Evidence: p.repository.evidence, Body: content{entry, len(entry)}}
	doc.Evidence.Digest = DigestOf(entry)
	for _, name := range slices.Sorted(maps.Keys(files.files)) {
		if c := files.files[name]; name != EntryFile {
			doc.Members = append(doc.Members, member{name, content{c, len(c)}, files.executable[name]})
		}
	}
	return doc, nil
}

// repositoryAccess sends the requests for one repository.
type repositoryAccess struct {
	loader *Loader
	at     RepositoryURL

	asked        bool   // for the credentials
	user, secret string // "": none, or not needed
}

// repositoryAccess refuses a repository that the registry, a policy or a feed refuses.
func (l *Loader) repositoryAccess(ctx context.Context, at RepositoryURL) (*repositoryAccess, error) {
	if err := l.ready(); err != nil {
		return nil, err
	}
	if at.source == nil {
		return nil, usageError("there is no repository", "read it with ParseRepositoryURL")
	}
	if err := cmp.Or(l.refreshTrust(ctx), l.refusalAt(at.page, at.String())); err != nil {
		return nil, err
	}
	return &repositoryAccess{loader: l, at: at}, nil
}

// signedIn sends a request and, if the code host denies access, asks once for the user's credentials and
// sends it again.
func (a *repositoryAccess) signedIn(ctx context.Context, get func() (*document, error)) (*document, error) {
	doc, err := get()
	ask := a.loader.options.Credentials
	if err != nil || !isDenied(doc.Evidence.Status) || ask == nil || a.asked {
		return doc, err
	}
	a.asked = true
	if a.user, a.secret, err = ask(ctx, a.at.page.Host()); err != nil || a.secret == "" {
		return doc, err
	}
	return get()
}

// tip asks for the commit of the branch or tag, and returns the path that remains of the URL.
func (a *repositoryAccess) tip(ctx context.Context) (Tip, string, error) {
	var refs *refList
	get := func() (*document, error) {
		return a.get(ctx, a.at.refs(), "", fileRequest{limit: maxRefs, header: a.basic()}, func(body io.Reader) (err error) {
			refs, err = readRefs(body, a.at.names())
			return err
		})
	}
	doc, err := a.signedIn(ctx, get)
	switch {
	case err != nil:
		return Tip{}, "", a.failed(err)
	case isDenied(doc.Evidence.Status):
		return Tip{}, "", refuse(CodeSkillNotFound, a.at.String(),
			fmt.Sprintf("the code host answers %d: it has no such repository, or shows it only to those who may see it", doc.Evidence.Status),
			"check the name; for a private repository, sign in to the code host")
	case doc.Evidence.Status != http.StatusOK || refs == nil:
		return Tip{}, "", refuse(lookleap.CodeBadStatus, a.at.String(),
			fmt.Sprintf("the code host answers %d, and no list of branches and tags", doc.Evidence.Status), "")
	}
	return refs.tip(a.at)
}

// isDenied reports whether a code host answers so for a repository that is absent or private.
func isDenied(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden || status == http.StatusNotFound
}

func (a *repositoryAccess) read(ctx context.Context, commit string) (*Repository, error) {
	var tree *repositoryTree
	limits := a.loader.limits
	get := func() (*document, error) {
		header := a.basic()
		if field := a.at.source.Token; field != "" && a.secret != "" {
			header = http.Header{field: {a.secret}}
		}
		r := fileRequest{limit: limits.Repository, header: header, time: 30 * limits.Time}
		return a.get(ctx, a.at.archive(commit), commit, r, func(body io.Reader) (err error) {
			tree, err = readRepositoryTree(body, commit, limits)
			return err
		})
	}
	doc, err := a.signedIn(ctx, get)
	switch {
	case err == nil && doc.Evidence.Status != http.StatusOK:
		err = refuse(lookleap.CodeBadStatus, a.at.String(), fmt.Sprintf("the code host answers %d for the archive of the commit %s",
			doc.Evidence.Status, commit), "")
	case err == nil && tree == nil:
		err = refuse(CodeBadArchive, a.at.String(), "the code host sent no archive", "")
	}
	if err != nil {
		if tree != nil {
			_ = tree.close()
		}
		return nil, a.failed(err)
	}
	r := &Repository{URL: a.at.page.String(), loader: a.loader, at: a.at, commit: commit, evidence: doc.Evidence, tree: tree}
	r.evidence.Archive, r.evidence.Hops = doc.final.String(), nil
	r.evidence.Type, r.evidence.Charset = "text/markdown", ""
	return r, nil
}

// failed says which repository an error is about.
func (a *repositoryAccess) failed(err error) error {
	return &lookleap.Error{Code: lookleap.CodeOf(err), Subject: a.at.String(), Message: "the repository was not read", Err: err}
}

// basic returns the user's credentials as git sends them. They go to the host of the repository alone:
// a redirect to another one is sent without them.
func (a *repositoryAccess) basic() http.Header {
	if a.secret == "" {
		return nil
	}
	return http.Header{"Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte(cmp.Or(a.user, "token")+":"+a.secret))}}
}

// get sends one request, and passes the body on as it arrives. A status other than 200 is not an error.
// The commit is "" unless the request is for its archive.
func (a *repositoryAccess) get(ctx context.Context, raw, commit string, r fileRequest,
	read func(io.Reader) error) (*document, error) {
	var err error
	if r.url, err = (domain.Rules{AllowSpecial: true}).Parse(raw); err != nil {
		return nil, badURL(raw, err)
	}
	r.redirect = func(to domain.URL) error {
		if commit != "" && a.at.source.isArchive(to, a.at.page.Origin(), a.at.repo, commit) {
			return nil
		}
		shown := domain.Redact(to.String()) // its query may have a token
		return refuse(CodeRedirectOutside, shown, "the code host redirects the repository to "+plaintext.Quote(shown, 300),
			"if the repository moved, use its new URL")
	}
	r.stream = func(_ *fetch.Response, body io.Reader) error { return read(body) }
	doc, err := a.loader.fetch(ctx, r, nil)
	switch {
	case err != nil:
		return nil, err
	case doc.cause != nil: // the body's own error, or that of read
		return nil, doc.cause
	}
	return doc, nil
}

// join joins a directory of a repository, which may be "", and a path below it.
func join(directory, name string) string {
	return strings.TrimPrefix(directory+"/"+name, "/")
}

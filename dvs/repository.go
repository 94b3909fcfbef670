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
	"time"

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

	tree *repositoryTree
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
	if err := l.ready(); err != nil {
		return nil, err
	}
	if at.source == nil {
		return nil, usageError("there is no repository", "read it with ParseRepositoryURL")
	}
	if err := cmp.Or(l.refreshTrust(ctx), l.refusalAt(at.page, at.String())); err != nil {
		return nil, err
	}
	access := &repositoryAccess{loader: l, at: at}
	tip, path, err := access.tip(ctx)
	if err != nil {
		return nil, err
	}
	tree, evidence, err := access.archive(ctx, tip.Commit)
	if err != nil {
		return nil, err
	}
	r := &Repository{URL: at.page.String(), Tip: tip, tree: tree}
	if err := r.list(at, path, evidence, l); err != nil {
		return nil, cmp.Or(err, tree.close())
	}
	return r, nil
}

// list finds the skills below a path.
func (r *Repository) list(at RepositoryURL, path string, evidence Evidence, l *Loader) error {
	directories, findings, err := r.tree.skills(path)
	r.Findings = findings
	if err != nil {
		return err
	}
	for _, directory := range directories {
		leaveOut := func(err error) {
			r.Findings = append(r.Findings, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: lookleap.CodeOf(err),
				Message: "a skill is left out: " + sentence(err), Position: lookleap.Position{Path: join(directory, EntryFile)}})
		}
		skill, err := at.skill(r.Tip.Commit, directory, l.roots.Rules())
		if err != nil {
			leaveOut(err)
			continue
		}
		entry, err := r.tree.read(join(directory, EntryFile), l.limits.Skill)
		if err != nil {
			leaveOut(err)
			continue
		}
		meta, _, err := ParseMetadata(entry, Lenient, l.limits)
		if err != nil {
			leaveOut(err)
			continue
		}
		r.Skills = append(r.Skills, Listing{Skill: skill, Name: meta.Name, Description: meta.Description,
			packed: &packedSkill{tree: r.tree, directory: directory, tip: r.Tip, evidence: evidence}})
	}
	return nil
}

// packedSkill is a skill of a repository that was read.
type packedSkill struct {
	tree      *repositoryTree
	directory string // in the repository; "": the repository itself
	tip       Tip
	evidence  Evidence // of the archive
}

// document returns the skill as if its SKILL.md had been fetched, with its other files.
func (p *packedSkill) document(limits Limits) (*document, error) {
	files, err := p.tree.skillFiles(p.directory, limits)
	if err != nil {
		return nil, err
	}
	entry := files.files[EntryFile]
	doc := &document{Evidence: p.evidence, Body: content{entry, len(entry)}}
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

	user, secret string // "": none, or not needed
}

// tip asks for the commit of the branch or tag, and returns the path that remains of the URL.
func (a *repositoryAccess) tip(ctx context.Context) (Tip, string, error) {
	var refs *refList
	get := func() (*document, error) {
		return a.get(ctx, a.at.refs(), "", maxRefs, a.basic(), a.loader.limits.Time, func(body io.Reader) (err error) {
			refs, err = readRefs(body, a.at.names())
			return err
		})
	}
	doc, err := get()
	if err == nil && isDenied(doc.Evidence.Status) && a.loader.options.Credentials != nil {
		if a.user, a.secret, err = a.loader.options.Credentials(ctx, a.at.page.Host()); err == nil && a.secret != "" {
			doc, err = get()
		}
	}
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

// archive fetches the archive of a commit.
func (a *repositoryAccess) archive(ctx context.Context, commit string) (tree *repositoryTree, e Evidence, err error) {
	header := a.basic()
	if field := a.at.source.Token; field != "" && a.secret != "" {
		header = http.Header{field: {a.secret}}
	}
	limits := a.loader.limits
	doc, err := a.get(ctx, a.at.archive(commit), commit, limits.Repository, header, 30*limits.Time, func(body io.Reader) (err error) {
		tree, err = readRepositoryTree(body, commit, limits)
		return err
	})
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
		return nil, Evidence{}, a.failed(err)
	}
	e = doc.Evidence
	e.Archive, e.Hops = doc.final.String(), nil
	e.Type, e.Charset = "text/markdown", ""
	return tree, e, nil
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
func (a *repositoryAccess) get(ctx context.Context, raw, commit string, limit int, header http.Header, time time.Duration, read func(io.Reader) error) (*document, error) {
	l := a.loader
	u, err := domain.Rules{MaxLength: l.limits.URL, AllowSpecial: true}.Parse(raw)
	if err != nil {
		return nil, badURL(raw, err)
	}
	doc, err := l.fetch(ctx, fileRequest{url: u, limit: limit, header: header, time: time,
		redirect: func(to domain.URL) error {
			if commit != "" && a.at.source.isArchive(to, a.at.page.Origin(), a.at.repo, commit) {
				return nil
			}
			return refuse(CodeRedirectOutside, to.String(), "the code host redirects the repository to "+plaintext.Quote(to.String(), 300),
				"if the repository moved, use its new URL")
		},
		stream: func(_ *fetch.Response, body io.Reader) error { return read(body) }}, nil)
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

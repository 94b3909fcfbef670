package dvs

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"
	"sync"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// Discover yields the skills that an origin lists: first those of its indexes ([Options.Indexes]),
// then those of its sitemaps, each skill once (section 3.2). A missing list is not an error. For
// an entry that was skipped, and for a file that could not be read, it yields an error with the
// detail [*Skipped] and goes on. It stops if ctx ends or if a guard forbids an index.
//
// The files of an origin apply only to the whole origin. For a root with a path, Discover sends no
// request and yields an error with the code no-origin-discovery.
func (l *Loader) Discover(ctx context.Context, root string) iter.Seq2[Listing, error] {
	return l.discover(root, func(d *discovery, origin string) {
		if d.indexes(ctx, origin) {
			d.sitemaps(ctx, origin+"/sitemap.xml")
		}
	})
}

// DiscoverIndex is [Loader.Discover] for one index of an origin, by its URL.
func (l *Loader) DiscoverIndex(ctx context.Context, index string) iter.Seq2[Listing, error] {
	u, err := domain.Rules{AllowSpecial: true}.Parse(index)
	if err != nil {
		return func(yield func(Listing, error) bool) { yield(Listing{}, badURL(index, err)) }
	}
	return l.discover(u.Origin()+"/", func(d *discovery, _ string) { d.index(d.ask(ctx, u.String(), l.limits.Index, nil)) })
}

// discover walks through lists of an origin, if that may be asked.
func (l *Loader) discover(root string, walk func(d *discovery, origin string)) iter.Seq2[Listing, error] {
	return func(yield func(Listing, error) bool) {
		if err := l.ready(); err != nil {
			yield(Listing{}, err)
			return
		}
		parsed, err := ParseTrustRoot(root, l.roots.Rules())
		if err != nil {
			yield(Listing{}, err)
			return
		}
		if err := cmp.Or(l.policies.discovery(root), l.refusalAt(parsed.url, root)); err != nil {
			yield(Listing{}, err)
			return
		}
		d := &discovery{loader: l, seen: make(map[string]bool), names: make(map[string]string), yield: yield}
		if parsed.originWide() {
			walk(d, parsed.url.Origin())
			return
		}
		d.report(lookleap.Finding{Severity: lookleap.SeverityInfo, Code: CodeNoOriginDiscovery, Requirement: "DVS-3.2-04",
			Message: CodeNoOriginDiscovery.Title(), Position: lookleap.Position{Path: parsed.String()},
			Fix: "load each skill by the URL of its directory; the address of a repository stands for a SKILL.md at its top"})
	}
}

// discovery is one walk through the lists of an origin. Its steps report whether to continue.
type discovery struct {
	loader *Loader
	seen   map[string]bool
	names  map[string]string // of the entries of indexes, with the index that lists the name first
	yield  func(Listing, error) bool
}

func (d *discovery) report(f lookleap.Finding) bool {
	err := f.AsError(f.Path)
	err.Position, err.Err = lookleap.Position{Offset: f.Offset}, &Skipped{f}
	return d.yield(Listing{}, err)
}

func (d *discovery) warn(code lookleap.Code, requirement, at, message string) bool {
	return d.report(lookleap.Finding{Severity: lookleap.SeverityWarning, Code: code, Requirement: requirement,
		Message: message, Position: lookleap.Position{Path: at}})
}

// listFile is a file of the origin that lists skills, or why there is none.
type listFile struct {
	at        string
	doc       *document
	err       error
	elsewhere string // origin that the file's origin redirects to
}

func (d *discovery) ask(ctx context.Context, at string, limit int, stream func(*fetch.Response, io.Reader) error) listFile {
	u, err := domain.Rules{AllowSpecial: true}.Parse(at)
	if err != nil {
		return listFile{at: at, err: badURL(at, err)}
	}
	elsewhere := ""
	doc, err := d.loader.fetch(ctx, fileRequest{url: u, limit: limit, stream: stream, redirect: func(to domain.URL) error {
		if to.Origin() != u.Origin() {
			elsewhere = to.Origin()
			return refuse(CodeRedirectOutside, to.String(), "the redirect leaves the origin", "")
		}
		return nil
	}}, nil)
	if err != nil {
		err = &lookleap.Error{Code: lookleap.CodeOf(err), Subject: domain.Redact(at), Message: "the list of skills was not read", Err: err}
	}
	return listFile{at, doc, err, elsewhere}
}

// usableDocument returns the document of a file, or nil if the file is missing; it yields the
// reason if the file cannot be used.
func (d *discovery) usableDocument(file listFile) (doc *document, goOn bool) {
	doc, at := file.doc, file.at
	switch {
	case file.err != nil:
		d.yield(Listing{}, file.err)
		return nil, false
	case doc.Evidence.Failure == CodeBlockedByPolicy, doc.Evidence.Failure == lookleap.CodeDNSSECBogus:
		d.warn(doc.Evidence.Failure, "DVS-3.1-57", at, doc.Evidence.Failure.Title())
		return nil, false
	case doc.Evidence.Failure == CodeRedirectOutside && file.elsewhere != "":
		return nil, d.report(lookleap.Finding{Severity: lookleap.SeverityWarning, Code: CodeRedirectOutside, Requirement: "DVS-3.2-06",
			Message:  "the origin redirects its list to " + plaintext.Quote(file.elsewhere, 300) + ", for whose skills it does not speak",
			Fix:      "ask for the skills of " + plaintext.Line(file.elsewhere) + "/; as the publisher, serve the list without a redirect at each origin that has skills",
			Position: lookleap.Position{Path: at}})
	case doc.Evidence.Failure != "":
		return nil, d.warn(doc.Evidence.Failure, "DVS-3.2-06", at, doc.Evidence.Failure.Title())
	case !file.isAnswered():
		return nil, d.warn(lookleap.CodeBadStatus, "DVS-3.2-06", at,
			fmt.Sprintf("the HTTP status is %d, so it is not known what the origin lists", doc.Evidence.Status))
	case doc.Evidence.Status != http.StatusOK, isHTML(doc.Evidence.Type):
		return nil, true
	}
	return doc, true
}

// isAnswered reports whether the status says that there is such a file, or that there is none. An
// origin may keep its sitemap from agents, which is the same as none (DVS-3.2-13).
func (f *listFile) isAnswered() bool {
	switch f.doc.Evidence.Status {
	case http.StatusOK, http.StatusNotFound, http.StatusGone:
		return true
	case http.StatusForbidden, http.StatusUnauthorized:
		return !strings.HasSuffix(f.at, "/"+IndexFile)
	}
	return false
}

func isHTML(mediaType string) bool {
	return mediaType == "text/html" || mediaType == "application/xhtml+xml"
}

// indexes requests all indexes at once, and reads them in their order.
func (d *discovery) indexes(ctx context.Context, origin string) bool {
	prefixes := d.loader.options.Indexes
	if prefixes == nil {
		prefixes = []string{AgentSkillsPrefix, SkillsPrefix}
	}
	files := make([]listFile, len(prefixes))
	var all sync.WaitGroup
	for i, prefix := range prefixes {
		all.Go(func() { files[i] = d.ask(ctx, origin+prefix+IndexFile, d.loader.limits.Index, nil) })
	}
	all.Wait()
	for _, file := range files {
		if !d.index(file) {
			return false
		}
	}
	return true
}

func (d *discovery) index(file listFile) bool {
	doc, goOn := d.usableDocument(file)
	at := file.at
	if doc == nil {
		return goOn
	}
	if is := doc.Evidence.Type; is != "application/json" && !strings.HasSuffix(is, "+json") {
		if !d.warn(lookleap.CodeMediaType, "DVS-3.2-23", at, "the index is served as "+plaintext.Quote(is, 80)) {
			return false
		}
		if is != "" && is != "application/octet-stream" && !strings.HasPrefix(is, "text/") {
			return true
		}
	}
	list, err := ParseIndex(doc.Body.Bytes, doc.final.String(), d.loader.roots.Rules(), d.loader.limits)
	return d.yieldList(list, err, at)
}

// sitemaps reads the origin's sitemap, and those that it names, one level deep.
func (d *discovery) sitemaps(ctx context.Context, at string) {
	list, goOn := d.sitemap(ctx, at)
	if list == nil || !goOn {
		return
	}
	for _, child := range list.Children {
		below, goOn := d.sitemap(ctx, child)
		if !goOn {
			return
		}
		if below != nil && len(below.Children) > 0 &&
			!d.warn(codeSitemapNested, "DVS-3.2-09", child, "a sitemap index below a sitemap index is skipped") {
			return
		}
	}
}

// sitemap reads one sitemap as it arrives. Its limit is below that of the exchange, so that the
// skills before the limit are kept.
func (d *discovery) sitemap(ctx context.Context, at string) (list *Listings, goOn bool) {
	var refused error
	limits := d.loader.limits
	doc, goOn := d.usableDocument(d.ask(ctx, at, limits.Sitemap+1<<20, func(answer *fetch.Response, body io.Reader) error {
		buffered := bufio.NewReader(body)
		body = buffered
		if magic, _ := buffered.Peek(2); string(magic) == "\x1f\x8b" {
			inflated, err := gzip.NewReader(buffered) // ReadSitemap limits what is read of it
			if err != nil {
				refused = refuse(codeBadSitemap, at, "the sitemap is damaged gzip data", "")
				return nil
			}
			body = inflated
		}
		list, refused = ReadSitemap(body, answer.URL.String(), d.loader.roots.Rules(), limits)
		return nil
	}))
	if doc == nil {
		return nil, goOn
	}
	return list, d.yieldList(list, refused, at)
}

// yieldList yields the findings and skills of one list.
func (d *discovery) yieldList(list *Listings, err error, at string) bool {
	if err != nil {
		return d.warn(lookleap.CodeOf(err), "DVS-3.2-12", at, sentence(err))
	}
	for _, f := range list.Findings {
		if !d.report(f) {
			return false
		}
	}
	for _, entry := range list.Skills {
		id := entry.Skill.String()
		if d.seen[id] {
			continue
		}
		if len(d.seen) >= d.loader.limits.Candidates {
			d.warn(codeSitemapLimit, "DVS-3.2-10", at, fmt.Sprintf("the origin lists more than %d skills", d.loader.limits.Candidates))
			return false
		}
		d.seen[id] = true
		if first := d.listedBefore(entry); first != "" {
			if !d.report(lookleap.Finding{Severity: lookleap.SeverityInfo, Code: CodeDuplicateEntry,
				Requirement: "DVS-3.2-15", Position: lookleap.Position{Path: at},
				Message: "the skill " + plaintext.Quote(entry.Name, maxName) + " is left out, since the origin lists it in " +
					plaintext.Quote(first, 200) + " too"}) {
				return false
			}
			continue
		}
		if !d.yield(entry, nil) {
			return false
		}
	}
	return true
}

// listedBefore returns the index that listed a skill of this name before, if it is another index:
// an origin publishes the same skills in both for old and new clients.
func (d *discovery) listedBefore(entry Listing) string {
	first := cmp.Or(d.names[entry.Name], entry.Source)
	if entry.Name == "" || first == entry.Source {
		d.names[entry.Name] = first
		return ""
	}
	return first
}

// LoadListing is [Loader.Load] for a skill from [Loader.Discover]. A digest in the list has to
// match. If the name or description in the list differs from the file, the verdict has the finding
// index-mismatch.
//
// For a skill at another origin than the list, without a registered root that covers it, the
// user is asked before a request is sent. The request names both origins and the digest.
func (l *Loader) LoadListing(ctx context.Context, entry Listing) (*Loaded, error) {
	got, err := l.load(ctx, entry.wish(activated))
	return got.loaded, err
}

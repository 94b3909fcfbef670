package agent

import (
	"context"
	"fmt"
	"slices"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/zero"
)

// SiteRef is a reference to another site's own document, and the result of following
// it (section 12.6).
type SiteRef struct {
	Domain       string
	Relationship anml.Relationship // as the referring document says
	Page         *Page             // nil if the site is unknown; then it has no identity here
	Err          error             // why it is unknown
}

// SiteRefs returns the documents that this one refers to, in its order. In each of them
// the site speaks for itself; the referring server gets no authority from it.
func (p *Page) SiteRefs() []SiteRef { return slices.Clone(zero.Or(p).refs) }

// followRefs reads the documents of all site-refs in order, within limit, budget and
// time. What it requests does not depend on the user's task. A site whose document
// cannot be read is unknown.
func (p *Page) followRefs(ctx context.Context) []SiteRef {
	limits := p.session.agent.options.Limits
	ctx, cancel := context.WithTimeoutCause(ctx, limits.Time/2,
		&lookleap.Error{Code: lookleap.CodeTimeout, Message: "the documents of site-refs took too long"})
	defer cancel()
	var refs []SiteRef
	seen := make(map[string]SiteRef) // by URL
	for site := range p.doc.Containers() {
		for ref := range site.SiteRefs() {
			r := SiteRef{Domain: ref.Domain(), Relationship: ref.Relationship()}
			r.Page, r.Err = p.followRef(ctx, ref, seen)
			refs = append(refs, r)
		}
	}
	return refs
}

// followRef reads one document, or returns why its site is unknown.
func (p *Page) followRef(ctx context.Context, ref anml.SiteRef, seen map[string]SiteRef) (*Page, error) {
	u, err := domain.Parse(ref.Canonical())
	if err != nil {
		return nil, unknownSite("", err, "the document of the site cannot be requested")
	}
	if err := p.ownURL(ctx, u, ref); err != nil {
		return nil, err
	}
	known, again := seen[u.String()]
	switch {
	case again && known.Page != nil && !known.Page.cameFrom(ref.Domain()):
		return nil, p.foreignURL(ctx, known.Page.url, ref)
	case again:
		return known.Page, known.Err
	case len(seen) == maxSiteRefs:
		p.flag(ctx, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: lookleap.CodeLimit, Requirement: "ANML-12.6-06",
			Message: fmt.Sprintf("no more than %d documents are read through site-refs", maxSiteRefs), Position: ref.Position()})
		return nil, unknownSite(u.WithoutQuery(), &lookleap.Error{Code: lookleap.CodeLimit},
			"the document has more site-refs than are followed")
	}
	// A cached page is used only while it is fresh, and never because the site is unreachable.
	page := p.session.pages.freshAt(u, p.session.now())
	if page == nil || !page.cameFrom(ref.Domain()) {
		a := requestOrigin{requested: u.String(), wellKnown: isWellKnown(u), siteRef: true, budget: p.budget}
		page, err = p.session.readDocument(ctx, u, a, func(to domain.URL) error { return p.ownURL(ctx, to, ref) })
	}
	if err != nil {
		page, err = nil, unknownSite(u.WithoutQuery(), err, "the site's own document could not be read")
	}
	seen[u.String()] = SiteRef{Page: page, Err: err}
	return page, err
}

// ownURL returns an error for a URL that is not the site's own: the server there would
// become the site (Tier 3).
func (p *Page) ownURL(ctx context.Context, u domain.URL, ref anml.SiteRef) error {
	if isOwn(u, ref.Domain()) {
		return nil
	}
	return p.foreignURL(ctx, u, ref)
}

func (p *Page) foreignURL(ctx context.Context, u domain.URL, ref anml.SiteRef) error {
	p.flag(ctx, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: CodeForeignSite, Requirement: "ANML-12.6-04",
		Message: fmt.Sprintf("a site-ref for %s leads to %s, which is not that site", ref.Domain(), u.Host()), Position: ref.Position()})
	return unknownSite(u.WithoutQuery(), &lookleap.Error{Code: CodeForeignSite, Subject: u.WithoutQuery()},
		"the site-ref does not lead to the site's own document")
}

// isOwn reports whether a URL is at a site itself, which needs no verification (section
// 12.1).
func isOwn(u domain.URL, site string) bool {
	return site != "" && (u.Host() == site || registrable(u.Host()) == site)
}

// cameFrom reports whether a site itself served the document, and all redirects to it.
func (p *Page) cameFrom(site string) bool {
	return isOwn(p.url, site) && !slices.ContainsFunc(p.opened.hops, func(h fetch.Hop) bool { return !isOwn(h.To, site) })
}

// unknownSite returns why a site is unknown. An error with that code is not wrapped.
func unknownSite(url string, cause error, reason string) error {
	if already := innermost(cause, CodeSiteUnknown); already != nil {
		return already
	}
	return &lookleap.Error{Code: CodeSiteUnknown, Subject: url, Message: reason, Err: cause}
}

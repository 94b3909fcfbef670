package agent

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/planowner"
	"github.com/lookleap/lookleap/internal/strictjson"
	"github.com/lookleap/lookleap/internal/zero"
)

// PageReason is why another page of a result is read (section 11.5). With the zero value
// no page is read.
type PageReason uint8

// The reasons.
const (
	PageUnasked PageReason = iota
	PageWanted             // the user asks for more
	PageNeeded             // what the user asked for cannot be done without it
)

// Pager reads a result that a service divides into pages, one at a time and each for a
// reason. It stays at the origin of the first page and ends if pages repeat. It asks
// the user before it reads more than Limits.Pages pages, and again after each further
// Limits.Pages.
type Pager struct {
	session *Session
	reading sync.Mutex
	mu      sync.Mutex // never held while reading
	at      result
}

// result is the progress of reading a result: the state of a Pager, and the effect of
// the plan that permits further pages.
type result struct {
	Type    string   `json:"type"`
	Origin  string   `json:"origin"`
	Next    string   `json:"next,omitempty"` // URL of the next page, resolved if it can be
	Read    []string `json:"read"`           // keys of all URLs that were read, including redirects
	Seen    []string `json:"seen"`           // digests of the pages' content
	Pages   int      `json:"pages"`          // read so far
	Allowed int      `json:"allowed"`        // that may be read without asking
	Total   int64    `json:"total,omitempty"`
	Cursor  string   `json:"cursor,omitempty"`  // untrusted
	Speaker string   `json:"speaker,omitempty"` // domain whose cursor it is
	User    string   `json:"user,omitempty"`    // whose plan it is, see [Session.owns]
}

const resultType = "anml-pages"

// maxTotal is the largest total that is shown.
const maxTotal = 1_000_000_000

// Pager returns a Pager that starts at the page. If another Pager read the page, the
// pages before it count. Pager requests nothing.
func (p *Page) Pager() *Pager {
	if p.ready() != nil {
		return &Pager{}
	}
	if p.result != nil {
		return &Pager{session: p.session, at: *p.result}
	}
	g := &Pager{session: p.session, at: result{Type: resultType, Origin: p.url.Origin(), Allowed: p.session.agent.options.Limits.Pages}}
	g.at.take(p)
	return g
}

func (r *result) take(p *Page) {
	r.Pages++
	r.Read = append(slices.Clip(r.Read), key(p.opened.requested)) // other copies of the progress keep theirs
	for _, h := range p.opened.hops {
		r.Read = append(r.Read, key(h.To.String()))
	}
	if d := contentDigest(p); d != "" {
		r.Seen = append(slices.Clip(r.Seen), d)
	}
	r.Next, r.Cursor, r.Speaker = "", "", ""
	nav, speaker := navOf(p)
	if total, ok := nav.Total(); ok && total <= maxTotal {
		r.Total = total
	}
	if c := nav.Cursor(); utf8.RuneCountInString(c) <= maxAdvice {
		r.Cursor, r.Speaker = c, speaker
	}
	if u, err := p.url.Resolve(nav.Next()); err == nil && nav.Next() != "" {
		r.Next = u.String()
	} else {
		r.Next = nav.Next()
	}
}

// state returns a copy of the progress, zero for a Pager that was not made by its constructors.
func (g *Pager) state() result {
	g = zero.Or(g)
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.at
}

// More reports whether the service names another page.
func (g *Pager) More() bool { return g.state().Next != "" }

// Pages returns how many pages were read, including the first one.
func (g *Pager) Pages() int { return g.state().Pages }

// Total returns how many entries there are, as the service says, for display only. It
// returns false if the service does not say, or if the number is implausible.
func (g *Pager) Total() (int64, bool) {
	at := g.state()
	return at.Total, at.Total > 0
}

// Cursor returns the service's own name for the position, for display. It is never put
// into a URL, since the draft does not define how.
func (g *Pager) Cursor() UntrustedText {
	at := g.state()
	return untrusted(at.Speaker, "cursor", at.Cursor)
}

// Next reads the next page. Its errors have the codes no-more-pages, page-loop,
// page-foreign (the next page is at another origin; open it with [Session.Open] if the
// user wants that), usage (no reason), and those of [Session.Open]. If the user must be
// asked and the prompter suspends, it returns a *lookleap.PendingError; see
// [Session.ResumePager]. Call Next from one goroutine at a time.
func (g *Pager) Next(ctx context.Context, why PageReason) (*Page, error) {
	switch {
	case g == nil || g.session == nil:
		return nil, missing("there is no result to read", "take the Pager from Page.Pager or Session.ResumePager")
	case why != PageWanted && why != PageNeeded:
		return nil, &lookleap.Error{Code: lookleap.CodeUsage, Message: "another page needs a reason"}
	case !g.reading.TryLock():
		return nil, &lookleap.Error{Code: lookleap.CodeUsage, Message: "another call of Next is running"}
	}
	defer g.reading.Unlock()
	at := g.state()
	page, err := g.session.nextPage(ctx, &at)
	if err == nil {
		at.take(page)
		progress := at
		page.result = &progress
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.at = at
	return page, err
}

// nextPage reads the next page, and asks the user first if that is necessary. A page that repeats
// another one ends the result.
func (s *Session) nextPage(ctx context.Context, at *result) (*Page, error) {
	u, err := at.next()
	if err != nil {
		return nil, err
	}
	if at.Pages >= at.Allowed {
		more, err := s.askForPages(ctx, *at, u)
		if err != nil {
			return nil, err
		}
		at.Allowed = more.Allowed
	}
	ctx, cancel := s.limited(ctx, u)
	defer cancel()
	page, err := s.readDocument(ctx, u, requestOrigin{requested: u.String()}, func(to domain.URL) error {
		switch {
		case to.Origin() != at.Origin:
			return &lookleap.Error{Code: CodePageForeign, Subject: to.WithoutQuery()}
		case slices.Contains(at.Read, key(to.String())):
			return pageLoop(to.String(), "")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if d := contentDigest(page); d != "" && slices.Contains(at.Seen, d) {
		err = pageLoop(at.Next, "the page holds the same as one that was read")
		at.Next = ""
		return nil, err
	}
	return page, nil
}

// next returns the URL of the next page, or an error if it cannot be read.
func (r *result) next() (domain.URL, error) {
	if r.Next == "" {
		return domain.URL{}, &lookleap.Error{Code: CodeNoMorePages, Subject: r.Origin}
	}
	u, err := domain.Parse(r.Next)
	switch {
	case err != nil:
		return u, &lookleap.Error{Code: lookleap.CodeBadURL, Subject: r.Origin, Message: "the next page has no usable URL", Err: err}
	case u.Origin() != r.Origin:
		return u, &lookleap.Error{Code: CodePageForeign, Subject: u.WithoutQuery()}
	case slices.Contains(r.Read, key(r.Next)):
		return u, pageLoop(r.Next, "")
	}
	return u, nil
}

func pageLoop(at, reason string) error {
	return &lookleap.Error{Code: CodePageLoop, Subject: withoutQuery(at), Message: reason}
}

// key returns the form in which URLs of pages are compared. URLs with other escapes, or
// with parameters in another order, have the same key. In a canonical URL every "%" is
// an escape.
func key(raw string) string {
	u, err := endpointRules.Parse(raw)
	if err != nil {
		return raw
	}
	path, _ := url.PathUnescape(u.Path())
	query := strings.FieldsFunc(u.RawQuery(), func(r rune) bool { return r == '&' })
	for i, parameter := range query {
		query[i], _ = url.QueryUnescape(parameter)
	}
	slices.Sort(query)
	return fmt.Sprintf("%s%s?%q", u.Origin(), path, query)
}

// askForPages asks the user for another Limits.Pages pages.
func (s *Session) askForPages(ctx context.Context, at result, next domain.URL) (result, error) {
	from, more := at.Pages+1, s.agent.options.Limits.Pages
	at.Allowed, at.User = at.Pages+more, planowner.Mark(s.owner())
	effect, err := json.Marshal(at)
	if err != nil {
		return result{}, err
	}
	what := fmt.Sprintf("read pages %d to %d of a result", from, at.Allowed)
	if at.Total > 0 {
		what += fmt.Sprintf("; the service says that it has %d entries", at.Total)
	}
	plan, err := lookleap.NewPlan(lookleap.ConsentRequest{
		Kind: lookleap.ConsentRead, Origin: at.Origin, Summary: what,
		Items: []lookleap.ConsentItem{{ID: "pages", Summary: what, Recipient: next.Host(), Digest: lookleap.Digest(effect)}},
	}, effect, s.now())
	if err != nil {
		return result{}, err
	}
	approval, err := s.agent.host.Ask(s.asUser(ctx), plan)
	if err != nil {
		return result{}, err
	}
	return s.allowPages(ctx, approval)
}

func (s *Session) allowPages(ctx context.Context, a *lookleap.Approval) (at result, err error) {
	_, err = s.agent.host.Commit(ctx, a, func(_ context.Context, effect []byte) ([]byte, error) {
		return nil, strictjson.Decode(effect, &at)
	})
	return at, err
}

// ResumePager returns a Pager in the state of one whose Next ended with a
// *lookleap.PendingError. State is that error's State, d the user's decision. Call Next
// to read on.
func (s *Session) ResumePager(ctx context.Context, state json.RawMessage, d lookleap.ConsentDecision) (*Pager, error) {
	if err := s.ready(); err != nil {
		return nil, err
	}
	_, approval, err := s.decided(ctx, state, d, func(plan *lookleap.Plan) (string, error) {
		var at result
		if err := strictjson.Decode(plan.Effect(), &at); err != nil || at.Type != resultType {
			return "", &lookleap.Error{Code: lookleap.CodePlanInvalid, Message: "the plan is not about pages", Err: err}
		}
		return at.User, nil
	})
	if err != nil {
		return nil, err
	}
	at, err := s.allowPages(ctx, approval)
	if err != nil {
		return nil, err
	}
	return &Pager{session: s, at: at}, nil
}

// navOf returns the first nav of a document that names a next page, or the first nav,
// and the domain whose content it is.
func navOf(p *Page) (found anml.Nav, speaker string) {
	now := p.session.now()
	for site := range p.doc.Containers() {
		owner, a := p.owner(site, anmltrust.Body, now)
		if a == anmltrust.Dropped {
			continue
		}
		for e := range elements(site.Body().Content()) {
			nav, ok := e.(anml.Nav)
			if ok && nav.Next() != "" {
				return nav, owner.Domain
			}
			if ok && !found.Exists() {
				found, speaker = nav, owner.Domain
			}
		}
	}
	return found, speaker
}

// contentDigest returns a digest of the texts in the bodies, without navs, and of the informs of a
// document; "" if there are none.
func contentDigest(p *Page) string {
	h, some := sha256.New(), false
	for n, text := range p.doc.Texts() {
		path := n.Position().Path
		text = strings.ToLower(strings.TrimSpace(text))
		if text != "" && !strings.Contains(path, "/nav") && (strings.Contains(path, "/body") || strings.Contains(path, "/inform")) {
			some = true
			fmt.Fprintf(h, "%s %d:%s", n.Element(), len(text), text)
		}
	}
	if !some {
		return ""
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

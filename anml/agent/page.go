package agent

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/zero"
)

// Page is one opened document: what it says, who says which part, and what may
// be done with it. It never changes and may be used from several goroutines.
type Page struct {
	session *Session
	doc     *anml.Document
	url     domain.URL       // final, after redirects
	server  anmltrust.Server // who delivered it: section 3
	digest  string           // lookleap.Digest of the octets received
	opened  opened
	parties []Party
	refs    []SiteRef
	who     identity      // what else is known about who speaks
	budget  *fetch.Budget // automatic requests that the document may still cause
	bySite  *sync.Map     // *siteRules of the sites that were decided about
	result  *result       // how far the result was read that it is a page of, where a Pager read it
}

// opened is how a document came, as far as rules depend on it.
type opened struct {
	requested string        // URL asked for
	wellKnown bool          // asked for at /.well-known/anml, and not redirected to another domain
	insecure  bool          // came over plain http, or nobody knows over what: nothing of it is anybody's
	received  time.Time     // when the answer was complete
	base      time.Time     // what lifetimes count from: received less the answer's age
	noStore   bool          // nothing of it may be kept
	lifetime  time.Duration // how long HTTP and the document let it be used; see limited
	limited   bool          // a lifetime was given
	accept    *anml.Format  // what the service said that it prefers to receive (section 11.1)

	octets     int                // received
	hops       []fetch.Hop        // redirects followed
	offersJSON bool               // the service says that it has JSON too (section 7.4)
	trace      []Attempt          // how it was found
	findings   []lookleap.Finding // about how it came
}

// ready returns an error unless a session opened the page. Without one it is empty:
// it says nothing, is nobody's and can do nothing.
func (p *Page) ready() error {
	if p == nil || p.session == nil {
		return missing("there is no page", "open it with Session.Open or Session.Discover")
	}
	return nil
}

// Document is the document as it was read. All its text is untrusted.
func (p *Page) Document() *anml.Document { return zero.Or(p).doc }

// URL is where the document came from, after redirects.
func (p *Page) URL() string { return zero.Or(p).url.String() }

// ServingDomain is the registrable domain of the host that delivered the
// document: the party that speaks wherever no other one was verified.
func (p *Page) ServingDomain() string { return zero.Or(p).server.Domain }

// Trace tells where the document was looked for before it was found, in order,
// ending with the place where it was; nothing where it was opened by its URL
// (section 6.5).
func (p *Page) Trace() []Attempt { return slices.Clone(zero.Or(p).opened.trace) }

// Findings lists what somebody should know of how the document came and who
// claims to speak in it: hints that it may come from somebody else than it seems,
// plain http, contradictory claims. What is wrong in the document itself is in
// Document().Findings().
func (p *Page) Findings() []lookleap.Finding {
	p = zero.Or(p)
	return append(slices.Clone(p.opened.findings), p.who.findings...)
}

// OffersJSON reports whether the service says, by Accept-Patch or Alternates, that
// it has documents in JSON too. It is a hint; nothing depends on it (section 7.4).
func (p *Page) OffersJSON() bool { return zero.Or(p).opened.offersJSON }

// Parties lists who speaks in the document, the serving domain included, in the
// order of the document.
func (p *Page) Parties() []Party { return append([]Party(nil), zero.Or(p).parties...) }

// Decide says what would become of each ask of the document now: answered,
// asked about, or refused, and why. It asks nobody, discloses nothing and
// records nothing (sections 8.4, 8.7.2 and 13.2).
func (p *Page) Decide(ctx context.Context) []Decision { return p.decide(ctx) }

// Do executes an action: it decides, asks the user once about everything that is
// to be sent, records it, and sends it once. Where the user has to be waited
// for, it ends with a *lookleap.PendingError and nothing done; see
// [Session.Resume].
func (p *Page) Do(ctx context.Context, c Call) (*CallResult, error) { return p.do(ctx, c) }

// Tools yields what may be called of the document, ready for any tool-calling
// runtime. Offering a tool permits nothing: Call goes through [Page.Do].
//
// An action is not among them where a call could never be sent: of a document
// whose version is not understood, of a site that is not used here, with an
// endpoint that must not be reached, or with asks that cannot be answered: by a
// method without a body, or beside a required parameter that no ask stands for.
// Page.Do of such an action tells which.
func (p *Page) Tools() []Tool { return p.tools() }

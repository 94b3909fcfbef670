package agent

import (
	"context"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/zero"
)

// Page is one opened document: what it says, who says which part, and what may be done
// with it. A Page never changes and is safe for concurrent use.
type Page struct {
	session *Session
	doc     *anml.Document
	url     domain.URL       // final, after redirects
	server  anmltrust.Server // who delivered it: section 3
	digest  string           // lookleap.Digest of the bytes received
	opened  opened
	parties []Party
	refs    []SiteRef
	budget  *fetch.Budget                       // automatic requests that the document may still cause
	offered func() ([]Tool, []lookleap.Finding) // by offers, computed once
	result  *result                             // progress of the Pager that read the page, if any
}

// opened describes how a document was received, as far as rules depend on it.
type opened struct {
	requested string        // URL asked for
	wellKnown bool          // asked for at /.well-known/anml, and not redirected to another domain
	insecure  bool          // came over an unknown connection: no party is verified
	received  time.Time     // when the response was complete
	base      time.Time     // start of lifetimes: received minus the response's age
	noStore   bool          // it must not be cached
	lifetime  time.Duration // how long HTTP and the document allow its use; see limited
	limited   bool          // HTTP or the document states a lifetime
	accept    *anml.Format  // what the service said that it prefers to receive (section 11.1)

	size     int                // received
	hops     []fetch.Hop        // redirects followed
	findings []lookleap.Finding // about how it came
}

// ready returns an error unless a session opened the page. Other pages are empty.
func (p *Page) ready() error {
	if p == nil || p.session == nil {
		return missing("there is no page", "open it with Session.Open or Session.Discover")
	}
	return nil
}

// Document returns the document as it was read. All its text is untrusted.
func (p *Page) Document() *anml.Document { return zero.Or(p).doc }

// Session returns the session that opened the page.
func (p *Page) Session() *Session { return zero.Or(p).session }

// URL returns the URL of the document, after redirects.
func (p *Page) URL() string { return zero.Or(p).url.String() }

// ServingDomain returns the registrable domain of the host that served the document.
// It speaks wherever no other party was verified.
func (p *Page) ServingDomain() string { return zero.Or(p).server.Domain }

// Findings returns findings about how the document was received: signs of impersonation,
// plain http. Findings about the document itself, such as contradictory claims, are in
// Document().Findings().
func (p *Page) Findings() []lookleap.Finding { return slices.Clone(zero.Or(p).opened.findings) }

// Parties returns who speaks in the document, including the serving domain, in the
// order of the document.
func (p *Page) Parties() []Party { return slices.Clone(zero.Or(p).parties) }

// Decide returns what would happen to each ask of the document now: it would be
// answered, shown to the user, or refused, and why. Decide does not ask the user,
// discloses nothing and records nothing (sections 8.4, 8.7.2 and 13.2).
func (p *Page) Decide(ctx context.Context) []Decision { return p.decide(ctx) }

// Flow is a site's workflow (section 9.2): its steps, the current one, and which can
// be reached from there. It is advice on what to do next; nothing is executed because
// of it.
type Flow struct {
	Steps   []FlowStep // in the order of the document, which does not connect them
	Current string     // id of the current step; "" if the document does not state it (section 11.4)
	Err     error      // why the flow cannot be used: its steps form a circle
}

// FlowStep is one step of a [Flow]. Its texts are untrusted, and its condition is not evaluated.
type FlowStep struct {
	Step      anml.Step
	Action    string // id of the action to call; "" if there is none that can be executed
	Reachable bool   // it is the current step, or follows it
}

// Flow returns the workflow of a site of the document; "" means the site of a
// single-site document. It is empty if the site has no workflow. The workflow of an
// unverified site counts as the serving domain's, and names no actions of that site.
func (p *Page) Flow(site string) Flow {
	p = zero.Or(p)
	container, ok := p.container(site)
	if !ok {
		return Flow{}
	}
	_, whose := p.owner(container, anmltrust.Interact, p.session.now())
	state := container.State()
	current := state.CurrentStep()
	f := Flow{Err: state.FlowError(), Current: current.ID()}
	reachable := map[string]bool{}
	if current.Exists() {
		for step := range state.Flow().Path(current) {
			reachable[step.ID()] = true
		}
	}
	for step := range state.Flow().Steps() {
		s := FlowStep{Step: step, Reachable: reachable[step.ID()]}
		act, err := container.Interact().Action(step.Action())
		if whose != anmltrust.Dropped && err == nil && act.Executable() == nil {
			s.Action = act.ID()
		}
		f.Steps = append(f.Steps, s)
	}
	return f
}

// executable returns an error if no action of the document may be executed: it supports
// no implemented version (section 8.1), or its server was not verified (section 13.6).
func (p *Page) executable() error {
	if err := p.ready(); err != nil {
		return err
	}
	if p.opened.insecure {
		return &lookleap.Error{Code: lookleap.CodeInsecureTransport, Subject: p.location(),
			Message: "the document came from an unverified server, so its actions are not executed"}
	}
	if err := p.unsupported(); err != nil {
		return err // and no typed nil
	}
	return nil
}

// unsupported returns an error if the document supports no implemented version.
func (p *Page) unsupported() *lookleap.Error {
	if p.doc.Executable() {
		return nil
	}
	offered := "none"
	if versions, _ := p.doc.SupportedVersions(); len(versions) > 0 {
		shown := versions[:min(len(versions), 5)]
		offered = plaintext.Quote(strings.Join(shown, ", "), 5*maxVersion)
	}
	return &lookleap.Error{Code: anml.CodeNoVersion, Subject: p.location(),
		Message: "the document supports the versions " + offered + " of ANML and " + anml.Version +
			" is implemented, so its actions are not executed"}
}

// otherMajor reports whether the document has another major version. Then the user
// confirms every action, and every disclosure needs explicit consent.
func (p *Page) otherMajor() bool {
	own, _, _ := strings.Cut(anml.Version, ".")
	major, _, _ := strings.Cut(p.doc.Version(), ".")
	return strings.TrimLeft(major, "0") != own
}

// maxVersion is how much of a version is shown.
const maxVersion = 20

// newer reports whether a version is above the implemented one. Malformed versions
// count as newer.
func newer(version string) bool {
	malformed := false
	numbers := func(version string) (list []uint64) {
		for part := range strings.SplitSeq(version, ".") {
			n, err := strconv.ParseUint(part, 10, 64)
			list, malformed = append(list, n), malformed || err != nil
		}
		return list
	}
	return slices.Compare(numbers(version), numbers(anml.Version)) > 0 || malformed
}

// elements yields the elements of a content in document order, as their types, with those of its
// sections.
func elements(pieces iter.Seq[anml.Content]) iter.Seq[any] {
	return func(yield func(any) bool) {
		for c := range pieces {
			e := c.As()
			section, divided := e.(anml.Section)
			if !divided && !yield(e) {
				return
			}
			for e := range elements(section.Content()) {
				if !yield(e) {
					return
				}
			}
		}
	}
}

// askedFields returns the fields that the page asks for.
func (p *Page) askedFields() (names []string) {
	for site := range p.doc.Containers() {
		for ask := range site.Knowledge().Asks() {
			names = append(names, ask.Field())
		}
	}
	return names
}

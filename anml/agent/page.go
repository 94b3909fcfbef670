package agent

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/plaintext"
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

// Flow is a site's workflow as an agent understands it (section 9.2): what steps
// there are, where the interaction is, and what can be reached from there. It is
// advice on what to do next; nothing is executed because of it.
type Flow struct {
	Steps   []FlowStep // in the order of the document, which makes no edges
	Current string     // id of the current step; "" where the position is unknown: it is never inferred (section 11.4)
	Err     error      // why there is a flow but none to use: its steps form a circle
}

// FlowStep is one step of a [Flow].
type FlowStep struct {
	ID        string
	Label     string // untrusted
	Condition string // untrusted, for people: nothing evaluates it
	Status    anml.StepStatus
	Required  bool
	Next      string // id of the step that follows, "" for none
	Action    string // id of the action to call, "" where the step names none that can be executed
	Reachable bool   // it is the current step, or follows it along next
}

// Flow reads the workflow of a site of the document, "" for a single-site one. It
// is empty where there is none. The flow of a site that was not verified is the
// serving domain's word, and names none of that site's actions.
func (p *Page) Flow(site string) Flow {
	p = zero.Or(p)
	for container := range p.doc.Containers() {
		if container.Domain() == site {
			_, whose := p.owner(container, anmltrust.Interact, p.session.now())
			return flowOf(container, whose != anmltrust.Dropped)
		}
	}
	return Flow{}
}

// flowOf reads a flow; callable says that the actions of its site are.
func flowOf(site anml.Site, callable bool) Flow {
	state := site.State()
	f := Flow{Err: state.FlowError()}
	current := state.CurrentStep()
	f.Current = current.ID()
	reachable := map[string]bool{}
	if current.Exists() {
		for step := range state.Flow().Path(current) {
			reachable[step.ID()] = true
		}
	}
	for step := range state.Flow().Steps() {
		s := FlowStep{
			ID: step.ID(), Label: step.Label(), Condition: step.Condition(), Status: step.Status(),
			Required: step.Required(), Next: step.Next(), Reachable: reachable[step.ID()],
		}
		if act, err := site.Interact().Action(step.Action()); callable && err == nil && act.Executable() == nil {
			s.Action = act.ID()
		}
		f.Steps = append(f.Steps, s)
	}
	return f
}

// versions tells the user of a document that is of a newer version, or offers none
// that is understood, once for each document; and refuses the latter where the
// host wants that (section 8.1).
func (p *Page) versions(ctx context.Context) error {
	if newer(p.doc.Version()) {
		p.session.notices.tellOnce(ctx, "newer "+p.url.String()+" "+p.digest, Notice{
			Kind: NoticeNewerVersion, Code: anml.CodeNewVersion, Origin: p.url.Origin(),
			Text: "The service's document is of version " + plaintext.Quote(p.doc.Version(), maxVersion) + " of ANML, which is newer than " + anml.Version + "; it is read as far as it is understood.",
		})
	}
	err := p.unsupported()
	if err == nil {
		return nil
	}
	p.session.notices.tellOnce(ctx, "unsupported "+p.url.String()+" "+p.digest, Notice{
		Kind: NoticeUnsupported, Code: err.Code, Origin: p.url.Origin(), Text: sentence(err.Message),
	})
	if p.session.agent.options.RefuseUnsupported {
		return err
	}
	return nil
}

// executable says why no action of the document may be executed, and no answer
// sent, or nil: it offers no version that is understood (section 8.1), or nobody
// knows whose it is (section 13.6).
func (p *Page) executable() error {
	if err := p.ready(); err != nil {
		return err
	}
	if p.opened.insecure {
		return &lookleap.Error{Code: lookleap.CodeInsecureTransport, Subject: p.location(),
			Message: "the document came from a server that nobody verified, so nothing of it is executed"}
	}
	if err := p.unsupported(); err != nil {
		return err
	}
	return nil
}

// unsupported is the error about a document that offers no version understood here.
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
		Message: "the document supports the versions " + offered + " of ANML and " + anml.Version + " is implemented, so nothing of it is executed"}
}

// otherMajor reports whether the document is of another major version. Then every
// action is confirmed, and every disclosure needs explicit consent.
func (p *Page) otherMajor() bool {
	own, _, _ := strings.Cut(anml.Version, ".")
	major, _, _ := strings.Cut(p.doc.Version(), ".")
	return strings.TrimLeft(major, "0") != own
}

// maxVersion is how much of a version is shown.
const maxVersion = 20

// newer reports whether a version is above the one implemented. One that is no
// version counts as newer, since it is not known.
func newer(version string) bool {
	if version == anml.Version {
		return false
	}
	theirs, ok := numbers(version)
	ours, _ := numbers(anml.Version)
	return !ok || slices.CompareFunc(theirs, ours, compareNumbers) > 0
}

// numbers splits "1.0" into numbers as text, without leading zeros.
func numbers(version string) ([]string, bool) {
	parts := strings.Split(version, ".")
	for i, part := range parts {
		if part == "" || strings.Trim(part, "0123456789") != "" {
			return nil, false
		}
		parts[i] = strings.TrimLeft(part, "0")
	}
	return parts, true
}

func compareNumbers(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

// sentence makes a reason a sentence.
func sentence(reason string) string {
	return strings.ToUpper(reason[:1]) + reason[1:] + "."
}

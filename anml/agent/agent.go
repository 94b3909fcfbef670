package agent

import (
	"slices"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
)

// Agent is the conforming agent on one host: one per process, shared by all its
// users' sessions. All its methods may be called from several goroutines at once.
type Agent struct {
	host     *lookleap.Host
	verifier *anmltrust.Verifier
	options  Options
	plugins  plugins
	fields   map[string]bool // that are recognised: those of section 16.3 and the host's own
}

// Options are the choices of [New]. The zero value is the draft's own choice.
type Options struct {
	// Verifier decides who may speak for whom; nil: one of its own on the host.
	Verifier *anmltrust.Verifier
	// Read says how documents are read. Role, Self, WellKnown, Charset and Version
	// are filled in from the exchange.
	Read anml.ReadOptions
	// Fields are field names that the host recognises beyond the twelve of section
	// 16.3. Any other field needs explicit consent, whatever its rule says.
	Fields []string
	// Format is the serialization to ask for and to answer in; nil: XML is
	// preferred, and answers are in the serialization of the document.
	Format *anml.Format
	// DNS adds discovery by SRV and TXT records (section 6.5.4).
	DNS bool
	// NeverSiteRefs leaves the documents that site-refs point to unread. It is all
	// or nothing, whatever a document says (section 12.6).
	NeverSiteRefs bool
	// SameOriginOnly refuses actions at any origin but the document's.
	SameOriginOnly bool
	// RefuseUnsupported refuses documents that offer no version understood here;
	// otherwise they can be read, and none of their actions is executed.
	RefuseUnsupported bool
	// InsecureHTTP reads documents over plain http too, through a Fetcher that does.
	// They can be read: they are nobody's, nothing of them is verified, kept or acted
	// on (section 13.6).
	InsecureHTTP bool
	// SharedCache makes s-maxage count, where the pages of several users pass
	// through one HTTP cache on their way (section 8.1.1).
	SharedCache bool
	// Detectors look for prompt injection in a persona beside the built-in one.
	Detectors []Detector

	Limits Limits
}

// New makes an agent on a host.
func New(host *lookleap.Host, o Options) *Agent {
	if o.Verifier == nil {
		o.Verifier = anmltrust.NewVerifier(host, anmltrust.Options{})
	}
	o.Limits = o.Limits.withDefaults()
	o.Fields = slices.Clone(o.Fields)
	a := &Agent{host: host, verifier: o.Verifier, options: o, plugins: newPlugins(), fields: make(map[string]bool)}
	for _, field := range a.names() {
		a.fields[field] = true
	}
	return a
}

// names lists the recognised fields.
func (a *Agent) names() []string { return slices.Concat(anml.StandardFields(), a.options.Fields) }

// recognised reports whether a field is one of section 16.3 or the host's own.
func (a *Agent) recognised(field string) bool { return a.fields[field] }

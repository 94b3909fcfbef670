package agent

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/plugin"
)

// Agent is a conforming ANML agent on one host. A process needs one, which all
// sessions share. Its methods are safe for concurrent use.
type Agent struct {
	host     *lookleap.Host
	verifier *anmltrust.Verifier
	options  Options
	plugins  plugins
}

// Options configure [New]. The zero value follows the draft.
type Options struct {
	// Verifier verifies which server may speak for which site. Nil makes one on the
	// agent's host.
	Verifier *anmltrust.Verifier
	// Read configures how documents are read. The agent sets Role, Self, WellKnown,
	// Charset and Version itself.
	Read anml.ReadOptions
	// Fields are field names that the host recognises beyond the twelve of section
	// 16.3. Any other field needs explicit consent, whatever its rule says.
	Fields []string
	// Format is the serialization to request and to send. Nil prefers XML, and sends
	// the serialization of the document.
	Format *anml.Format
	// DNS adds discovery by SRV and TXT records (section 6.5.4).
	DNS bool
	// SameOriginOnly refuses actions at any origin but the document's.
	SameOriginOnly bool
	// Detectors look for prompt injection in a persona, in addition to the built-in
	// detector.
	Detectors []Detector

	Limits Limits
}

// New returns an agent on a host. Its sessions return an error if the host is nil.
func New(host *lookleap.Host, o Options) *Agent {
	if o.Verifier == nil {
		o.Verifier = anmltrust.NewVerifier(host, anmltrust.Rules{})
	}
	o.Limits = o.Limits.withDefaults()
	o.Fields = slices.Concat(anml.StandardFields(), o.Fields)
	return &Agent{host: host, verifier: o.Verifier, options: o, plugins: newPlugins()}
}

// recognised reports whether a field is one of section 16.3 or the host's own.
func (a *Agent) recognised(field string) bool { return slices.Contains(a.options.Fields, field) }

// Limits bound the cost of a document and of a session. A zero or negative field
// means its default, which the comment of the field states last.
type Limits struct {
	Document   int           // bytes of a document after decompression; 1 MiB (section 13.7)
	Time       time.Duration // for a document with its automatic requests, or a medium; 30 s
	Requests   int           // automatic requests that one document may cause; 8 (section 13.7)
	Pages      int           // pages of one result without asking; 10 (section 11.5)
	Executions int           // actions in one session; 30 for each page's origin (section 13.4)
	Burst      int           // actions of a user at one origin in a row, in all sessions of the Limiter; 5
	Interval   time.Duration // between actions after that; 2 s
	Informs    int           // informs that a session keeps, with 1.25 KiB of text each; 1,000
	Told       int           // bytes of memory to recognise what services told in a session; 384 MiB, a quarter for one service
}

// The limits that no host changes.
const (
	maxRedirects   = 5                   // redirects followed to a document, or of an action (section 6.5.1)
	maxMedium      = 8 << 20             // bytes of an image, audio or video
	maxSiteRefs    = 5                   // documents read through site-refs (section 12.6)
	maxRetryWait   = time.Minute         // before an automatic retry
	tombstone      = 30 * 24 * time.Hour // how long a 410 of discovery counts
	maxCachedPages = 64                  // pages that a session keeps
	maxCachedBytes = 16 << 20            // bytes of the documents of these pages
	maxCachedFor   = 24 * time.Hour      // longest use of a cached page without revalidation
	maxHTML        = 512 << 10           // bytes of a web page that are searched for links
)

func (l Limits) withDefaults() Limits {
	l.Time, l.Interval = cmp.Or(max(l.Time, 0), 30*time.Second), cmp.Or(max(l.Interval, 0), 2*time.Second)
	l.Document, l.Requests = cmp.Or(max(l.Document, 0), 1<<20), cmp.Or(max(l.Requests, 0), 8)
	l.Pages, l.Executions = cmp.Or(max(l.Pages, 0), 10), cmp.Or(max(l.Executions, 0), 30)
	l.Burst, l.Informs = cmp.Or(max(l.Burst, 0), 5), cmp.Or(max(l.Informs, 0), 1000)
	l.Told = cmp.Or(max(l.Told, 0), 384<<20)
	return l
}

// How long the agent waits for one call of a plug-in, and how many calls of all
// its sessions may not have returned. Beyond the number calls are refused.
const (
	pluginTime  = 10 * time.Second
	policyTime  = 30 * time.Second // a host may ask a model
	pluginCalls = 1024
)

// plugins bound the calls of what the host and its users plug in. Who asks a
// person waits as long as the caller's context lasts.
type plugins struct {
	store, ledger, person, detectors, profile, policy, notify *plugin.Bound
}

func newPlugins() plugins {
	return plugins{
		store: bounded("store", pluginTime), ledger: bounded("ledger", pluginTime),
		person: bounded("authentication", 0), detectors: bounded("detector", detectorTime),
		profile: bounded("profile", pluginTime), policy: bounded("policy", policyTime), notify: bounded("notification", notifyTime),
	}
}

func bounded(part string, limit time.Duration) *plugin.Bound {
	return &plugin.Bound{
		Limit: limit, Most: pluginCalls,
		Fail: func(reason string) error {
			return &lookleap.Error{Code: lookleap.CodeTimeout, Message: "the host's " + part + " gave no answer: " + reason}
		},
		Guard: func(err *error) {
			if p := recover(); p != nil {
				*err = fmt.Errorf("anml/agent: the host's %s panicked: %v", part, p)
			}
		},
	}
}

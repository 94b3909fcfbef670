package anml

import (
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml/internal/injection"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/zero"
)

// CodeInsecureEndpoint is the code of an action whose endpoint is plain http.
const CodeInsecureEndpoint lookleap.Code = "insecure-endpoint"

// Lint returns what the publisher of a document should change: its findings, and what agents
// would turn away from although the document is valid. These are endpoints with plain http, and
// instructions that go beyond the style of communication. It adds at most as many
// findings as [Limits] permits by default.
func Lint(d *Document) []lookleap.Finding {
	d = zero.Or(d)
	l := linter{d: d, list: d.Findings(), room: Limits{}.withDefaults().Findings}
	for site := range d.Containers() {
		for action := range site.Interact().Actions() {
			l.endpoint(action)
		}
		l.instructions(site.Persona())
	}
	return l.list
}

type linter struct {
	d    *Document
	list []lookleap.Finding
	room int // for findings of the linter
}

func (l *linter) add(at node, f lookleap.Finding) {
	l.room--
	if l.room >= 0 {
		f.Position = l.d.position(at, -1)
		l.list = append(l.list, f)
	}
}

// endpoint reports plain http (sections 13.6 and 13.12): agents send neither answers nor
// credentials to it, and other actions only after the user acknowledged the risk.
func (l *linter) endpoint(a Action) {
	if scheme, _, found := strings.Cut(a.Endpoint(), ":"); !found || !strings.EqualFold(scheme, "http") {
		return
	}
	l.add(a.n, lookleap.Finding{Severity: lookleap.SeverityError, Code: CodeInsecureEndpoint, Requirement: "ANML-13.12-01",
		Message: "the endpoint " + plaintext.Quote(a.Endpoint(), maxQuoted) + " is plain http, so agents send no answers to it",
		Fix:     "serve it over https"})
}

// instructions reports what is more than a style of communication (section 13.3). An agent
// withholds the whole persona for some of it, and ignores the rest.
func (l *linter) instructions(p Persona) {
	text := p.Instructions()
	f := lookleap.Finding{Severity: lookleap.SeverityInfo, Code: CodeLint, Requirement: "ANML-13.3-10",
		Fix: "describe only how to communicate, such as tone, length and words"}
	if kind := injection.Scan(text); kind != "" {
		f.Severity, f.Message = lookleap.SeverityWarning,
			"the instructions look like prompt injection ("+kind+"), so agents withhold the persona"
	} else if order := firstOrder(text); order != "" {
		f.Message = "the instructions give an order, which agents do not follow: " + plaintext.Quote(order, maxQuoted)
	} else {
		return
	}
	l.add(p.n.child(kInstructions), f)
}

// firstOrder returns the first clause of a text that begins with a verb of orders, or "".
func firstOrder(text string) string {
	before, verbs := strings.Fields(introductions), strings.Fields(orders)
	for _, clause := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(".!?;:\n", r) }) {
		words := strings.FieldsFunc(strings.ToLower(clause), func(r rune) bool { return strings.ContainsRune(" \t,\"'“”", r) })
		for len(words) > 1 && slices.Contains(before, words[0]) {
			words = words[1:]
		}
		if len(words) > 0 && slices.Contains(verbs, words[0]) {
			return strings.TrimSpace(clause)
		}
	}
	return ""
}

// introductions are words before the verb of an order.
const introductions = "please always never then first finally also and now you the agent agents assistant must should automatically immediately do not"

// orders are verbs for something that agents decide with their users, and that a persona cannot
// order. Verbs that also describe a style, such as use, open, call and sign, are left out: a
// publisher who reads false reports ignores the true ones.
const orders = `approve authorize authorise bill book buy charge click collect confirm contact delete disclose
	download email enable execute fetch forward gather grant install invoke navigate notify obtain order pay post promote
	publish purchase query recommend register remember reserve retrieve reveal run save select send share skip store
	submit subscribe transfer transmit upload upsell visit`

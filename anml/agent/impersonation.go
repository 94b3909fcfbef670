package agent

import (
	"context"
	"iter"
	"strings"
	"unicode"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/confusable"
	"github.com/lookleap/lookleap/internal/domain"
)

// examine looks for signs that a document comes from somebody else than it seems
// to (section 13.6). They become findings, which prompts show, and a notice; they
// decide nothing.
func (p *Page) examine(ctx context.Context) {
	if !stayed(p.opened.hops) {
		p.find(lookleap.CodeRedirectCrossOrigin, "ANML-6.5.1-02", "the document was asked for at another domain; it speaks for the one that served it")
	}
	if p.opened.insecure {
		p.find(lookleap.CodeInsecureTransport, "ANML-13.6-03", "nobody verified the server that the document came from, so nothing of it is anybody's")
		p.session.notices.tellOnce(ctx, "plain "+p.url.Origin(), Notice{Kind: NoticeInsecure, Code: lookleap.CodeInsecureTransport, Origin: p.url.Origin(),
			Text: "The document came from a server that nobody verified. It can be read, and nothing is told or done."})
	}
	signs := p.impersonation()
	for _, sign := range signs {
		p.find(CodeImpersonation, "ANML-13.6-05", sign)
	}
	if len(signs) > 0 {
		p.session.notices.tellOnce(ctx, "impersonation "+p.url.String(), Notice{Kind: NoticeImpersonation, Code: CodeImpersonation, Origin: p.url.Origin(),
			Text: "The service may pretend to be another one: " + strings.Join(signs, "; ") + "."})
	}
	for i := range p.opened.findings {
		f := &p.opened.findings[i]
		p.session.agent.host.Report(ctx, lookleap.Event{Kind: lookleap.EventFinding, Code: f.Code, Subject: p.location(), Finding: f})
	}
}

func (p *Page) find(code lookleap.Code, requirement, message string) {
	p.opened.findings = append(p.opened.findings, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: code, Requirement: requirement, Message: message})
}

// impersonation lists the signs, each as part of a sentence.
func (p *Page) impersonation() (signs []string) {
	for _, label := range domain.Labels(p.url.Host()) {
		switch {
		case label.Mixed:
			signs = append(signs, "the host's label "+label.ASCII+" mixes scripts, so it may be made to look like another name")
		case looksLatin(label.Unicode):
			signs = append(signs, "the host's label "+label.ASCII+" looks like Latin letters and is none of them")
		}
	}
	if !p.opened.wellKnown {
		return signs
	}
	if foreign, all := p.foreign(p.endpoints); all > 0 && 2*foreign >= all {
		signs = append(signs, "the actions of its own document lead to other domains")
	}
	if foreign, all := p.foreign(p.links); 2*foreign > all {
		signs = append(signs, "most links of its own document lead to other domains")
	}
	return signs
}

// foreign counts the references that lead elsewhere than to the serving domain or
// a party that it was verified to speak for.
func (p *Page) foreign(references iter.Seq[string]) (foreign, all int) {
	own := map[string]bool{registrable(p.url): true}
	for _, party := range p.parties {
		if d, ok := domain.Registrable(party.Domain); ok && party.Tier > anmltrust.Unlisted {
			own[d] = true
		}
	}
	rules := domain.Rules{Schemes: []string{"https", "http"}}
	for ref := range references {
		u, err := rules.Resolve(p.url, ref)
		if err != nil {
			continue // other findings tell
		}
		if all++; !own[registrable(u)] {
			foreign++
		}
	}
	return foreign, all
}

// endpoints yields the endpoints of all actions.
func (p *Page) endpoints(yield func(string) bool) {
	for site := range p.doc.Containers() {
		for action := range site.Interact().Actions() {
			if !yield(action.Endpoint()) {
				return
			}
		}
	}
}

// links yields the targets of all links.
func (p *Page) links(yield func(string) bool) {
	for site := range p.doc.Containers() {
		if !linksIn(site.Body(), yield) {
			return
		}
	}
}

// linksIn yields the targets of links in a body or section, and in its sections.
// How deep they nest is bounded by the limits of reading.
func linksIn(part interface {
	Links() iter.Seq[anml.Link]
	Sections() iter.Seq[anml.Section]
}, yield func(string) bool) bool {
	for link := range part.Links() {
		if !yield(link.Href()) {
			return false
		}
	}
	for section := range part.Sections() {
		if !linksIn(section, yield) {
			return false
		}
	}
	return true
}

// looksLatin reports whether a label of another script could be read as Latin
// letters throughout.
func looksLatin(label string) bool {
	other := false
	for _, c := range label {
		if c <= unicode.MaxASCII {
			continue
		}
		if confusable.Letters(c) == "" || unicode.Is(unicode.Latin, c) {
			return false
		}
		other = true
	}
	return other
}

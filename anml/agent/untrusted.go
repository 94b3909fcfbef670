package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
	"unique"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml/internal/injection"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/plugin"
)

// UntrustedText is text of a service. It is data to look at, never instructions to follow (section
// 13.3). It is not a string and has no String method. Printing it with any verb prints
// [UntrustedText.Quoted]. Two values are equal if source, label and text are equal. The zero value
// is empty.
type UntrustedText struct {
	source, label string
	// text is a handle because fmt calls no methods of unexported fields in a caller's struct.
	// There it prints an address and no text of the service.
	text unique.Handle[string]
}

var lineBreaks = strings.NewReplacer("\r\n", "\n", "\u2028", "\n", "\u2029", "\n")

// untrusted returns a text of a document without invisible characters and those that change how
// others are shown.
func untrusted(source, label, text string) UntrustedText {
	text = lineBreaks.Replace(strings.ToValidUTF8(text, "\uFFFD"))
	text = strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && r != '\uFFFD' && injection.Invisible(r) {
			return -1
		}
		return r
	}, text)
	t := UntrustedText{source: source, label: label}
	if text != "" {
		t.text = unique.Make(text)
	}
	return t
}

// Source returns the domain that the text comes from.
func (t UntrustedText) Source() string { return t.source }

// Label returns what the text is, in the agent's words: "tone", "instructions".
func (t UntrustedText) Label() string { return t.label }

// Empty reports whether there is no text.
func (t UntrustedText) Empty() bool { return t.text == unique.Handle[string]{} }

// Raw returns only the text. A caller that puts it into a prompt or a page must mark it as the
// service's words.
func (t UntrustedText) Raw() string {
	if t.Empty() {
		return ""
	}
	return t.text.Value()
}

// Quoted returns the text as one line of data that names its source. It is safe in a prompt, a log
// or a terminal.
func (t UntrustedText) Quoted() string {
	if t.Empty() {
		return ""
	}
	text := t.Raw()
	return fmt.Sprintf("%s of %s, untrusted: %s", t.label, t.source, plaintext.Quote(text, 10*utf8.RuneCountInString(text)))
}

// Format prints the text quoted, whatever the verb.
func (t UntrustedText) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, t.Quoted()) }

// MarshalJSON returns an object that marks the text as untrusted.
func (t UntrustedText) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Source string `json:"source"`
		Label  string `json:"label"`
		Text   string `json:"untrusted"`
	}{t.source, t.label, t.Raw()})
}

// Detector looks for prompt injection in the texts of a persona. The texts come together, one on
// each line. Detect returns a short word for what it found, or "". After an error, a panic or five
// seconds the persona is withheld, but not reported as an attack. A Detector is called from several
// goroutines, in addition to the built-in detector.
type Detector interface {
	Detect(ctx context.Context, text string) (found string, err error)
}

// detectorTime is the time limit of a detector for one persona.
const detectorTime = 5 * time.Second

// vetted is the persona of a party after the check for prompt injection.
type vetted struct {
	advice   []advice
	withheld lookleap.Code // why nothing of it is used; "" when it may be
	detector string        // that found something, in our words
}

// vetPersonas checks every persona that may be used. It returns an error only if ctx ended.
func (p *Page) vetPersonas(ctx context.Context) error {
	now := p.session.now()
	for i := range p.parties {
		party := &p.parties[i]
		if !party.site.Persona().Exists() {
			continue
		}
		if _, a := p.owner(party.site, anmltrust.Persona, now); a == anmltrust.Dropped {
			continue
		}
		party.persona = &vetted{advice: adviceOf(party.site.Persona())}
		if err := p.vet(ctx, *party, party.persona); err != nil {
			return err
		}
	}
	return nil
}

// vet decides whether a persona is withheld, and reports it. One hit in one text withholds the
// whole persona: it has one author. Only what can be used of its texts is looked at.
func (p *Page) vet(ctx context.Context, party Party, v *vetted) error {
	place := party.site.Persona().Position()
	var whole, usable []string
	for i, a := range v.advice {
		whole = append(whole, a.raw)
		if i < maxTerms+10 {
			usable = append(usable, string([]rune(a.raw)[:min(a.limit, utf8.RuneCountInString(a.raw))]))
		}
	}
	text := strings.Join(usable, "\n")
	if kind := injection.Scan(text); kind != "" {
		v.withheld, v.detector = CodeInjection, "the built-in detector ("+kind+")"
	} else if p.namesAnother(ctx, party, text) {
		v.withheld, v.detector = CodeInjection, "the built-in detector (another site's identity)"
	}
	for i, d := range p.session.agent.options.Detectors {
		if v.withheld != "" {
			break
		}
		found, err := plugin.Await(ctx, p.session.agent.plugins.detectors,
			func(ctx context.Context) (string, error) { return d.Detect(ctx, text) })
		if ctx.Err() != nil {
			return ctx.Err()
		}
		name := fmt.Sprintf("the host's detector %d", i+1)
		switch {
		case err != nil:
			v.withheld, v.detector = lookleap.CodeOf(err), name
			if v.withheld == "" || v.withheld == lookleap.CodeOK || v.withheld == CodeInjection { // which a failure is not
				v.withheld = lookleap.CodeInternal
			}
			p.flag(ctx, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: v.withheld, Requirement: "ANML-13.3-06",
				Message: fmt.Sprintf("the persona of %s is withheld: %s failed", party.Domain, name), Position: place})
		case found != "":
			v.withheld, v.detector = CodeInjection, name
		}
	}
	if v.withheld != CodeInjection {
		return nil
	}
	// The log has its length and digest, and no part of its text.
	said := strings.Join(whole, "\n")
	digest := lookleap.Digest([]byte(said))
	p.flag(ctx, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: CodeInjection, Requirement: "ANML-13.3-07",
		Message: fmt.Sprintf("the persona of %s is discarded: %s found prompt injection in %d bytes with digest %s",
			party.Domain, v.detector, len(said), digest), Position: place})
	p.session.notify(ctx, p.url.String()+" "+party.Domain+" "+digest, NoticeInjection, CodeInjection, p.url.Origin(),
		"Guidance from "+party.Domain+" on how to present itself was rejected, since it tries to give orders that no service may give.")
	return nil
}

// flag reports a finding to the host.
func (p *Page) flag(ctx context.Context, f lookleap.Finding) {
	p.session.agent.host.Report(ctx, lookleap.Event{Kind: lookleap.EventFinding, Code: f.Code, Subject: p.location(), Finding: &f})
}

// namesAnother reports whether a persona speaks of another party of its document (section 12.7). It
// looks for the domain of a site, a trust element, a site-ref or the serving domain, and for the
// name that another site uses. In documents of one site, and for domains that are not a party, it only
// reports a finding.
func (p *Page) namesAnother(ctx context.Context, party Party, text string) bool {
	var domains []string // of the parties, and of site-refs
	for _, other := range p.parties {
		domains = append(domains, other.Domain)
	}
	for site := range p.doc.Containers() {
		for ref := range site.SiteRefs() {
			domains = append(domains, ref.Domain())
		}
	}
	named, folded := false, injection.Fold(text)
	for _, reading := range []string{text, folded, blanks().ReplaceAllString(folded, ".")} {
		for _, name := range domainsIn(reading) {
			owner := "" // the longest domain that the name equals or lies below
			for _, d := range domains {
				if under(d, name) && len(d) > len(owner) {
					owner = d
				}
			}
			if owner == party.Domain {
				continue
			}
			if owner != "" && p.doc.Multi() {
				return true
			}
			if _, registered := domain.PublicSuffix(name); owner != "" || registered && reading == text {
				named = true
			}
		}
	}
	if named {
		p.flag(ctx, lookleap.Finding{Severity: lookleap.SeverityInfo, Code: CodeInjection, Requirement: "ANML-12.7-10",
			Message: "the persona of " + party.Domain + " names another domain", Position: party.site.Persona().Position()})
	}
	padded := " " + strings.Join(plainWords(folded), " ") + " "
	for site := range p.doc.Sites() {
		if site.Same(party.site.Node) {
			continue
		}
		for _, name := range []string{site.Aesthetic().DisplayName(), site.Persona().Voice().Name()} {
			own := strings.Join(plainWords(injection.Fold(name)), " ")
			if utf8.RuneCountInString(own) > 1 && strings.Contains(padded, " "+own+" ") {
				return true
			}
		}
	}
	return false
}

// domainsIn returns the domain names in a text, including those whose dots are written as words.
func domainsIn(text string) []string {
	var list []string
	for _, word := range strings.FieldsFunc(dots.Replace(strings.ToLower(text)), func(r rune) bool {
		return r != '.' && r != '-' && !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r)
	}) {
		host, _ := domain.ParseHost(strings.Trim(word, ".-"))
		if strings.Contains(host, ".") && !slices.Contains(list, host) {
			list = append(list, host)
		}
	}
	return list
}

var (
	// dots are the usual ways to write a name that is not to be seen as one.
	dots = strings.NewReplacer("[.]", ".", "(.)", ".", "{.}", ".", " [dot] ", ".", "[dot]", ".", " (dot) ",
		".", "(dot)", ".", " dot ", ".", "。", ".")
	blanks = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\s*\.\s*`) })
)

// plainWords splits a folded text at every character that is no letter or digit.
func plainWords(folded string) []string {
	return strings.FieldsFunc(folded, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

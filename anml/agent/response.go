package agent

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/plugin"
	"github.com/lookleap/lookleap/internal/zero"
)

// response writes the agent response that settled disclosures make (section 11.1), nil if there is nothing
// to say. It says nothing else: no title, no language, no word about the user. Only what the service
// asked for is refused in it.
func response(e exchange, disclosures []disclosure) (*anml.Document, error) {
	r := anml.NewResponse()
	empty := true
	for _, t := range disclosures {
		switch {
		case t.Kind == discloseAnswer && t.refused():
			r.Refuse(t.Field, t.Reason, "")
		case t.Kind == discloseAnswer:
			r.Answer(t.Field, t.Value, t.Basis, t.Granted)
		case t.Kind == discloseInform && !t.refused():
			r.Inform(t.Value)
		case t.Kind == discloseAsk && !t.refused():
			r.Ask(t.Field, e.Action, strings.Join(t.Purposes, " "))
		default:
			continue
		}
		empty = false
	}
	if empty {
		return nil, nil
	}
	return r.Build()
}

// item is what the user is asked about one disclosure: the exact value, who receives
// it, and what the service says that it is for.
func (e exchange) item(t *disclosure, warnings []string) lookleap.ConsentItem {
	value, values := shownValue(t.Value, valueLabels[t.Kind], t.Field)
	field, named := shownValue(t.Field, "name", "")
	var summary string
	switch t.Kind {
	case discloseAnswer:
		summary, values = "answer the field "+field+" with "+value, append(named, values...)
		if t.Required {
			summary += ", which the service calls required"
		}
	case discloseArg:
		summary, values = "send the argument "+field+" with "+value, append(named, values...)
		if t.Means != "" {
			summary += ", which is your " + quote(t.Means)
		}
	case discloseInform:
		summary = "tell of the agent's own accord: " + value
	case discloseAsk:
		summary, values = "ask them for the field "+field, named
		if purpose := strings.Join(t.Purposes, " "); purpose != "" {
			said, whole := shownValue(purpose, "purpose", "")
			summary, values = summary+", saying "+said, append(named, whole...)
		}
	}
	if len(t.From) > 0 {
		origin := " told this, and "
		if t.Unsure {
			origin = " may have told this, and "
		}
		summary += "; " + strings.Join(t.From, " and ") + origin + e.recipient() + " would learn it"
	}
	for _, w := range warnings {
		summary += "; " + w
	}
	item := lookleap.ConsentItem{ID: t.Item, Summary: summary, Recipient: e.Endpoint, Values: values,
		Optional: t.Kind != discloseArg, Required: t.Required, Digest: e.cover(t).digest()}
	if t.Category != "" {
		item.Class = lookleap.ItemSensitive
	}
	if t.Kind == discloseAnswer || t.Kind == discloseArg {
		for _, purpose := range t.Purposes {
			if purpose != "" {
				item.Remote = append(item.Remote, lookleap.RemoteText{Source: e.server(), Label: "purpose", Text: purpose})
			}
		}
	}
	return item
}

// valueLabels say what a long value of each kind is.
var valueLabels = map[disclosureKind]string{discloseAnswer: "answer", discloseArg: "argument", discloseInform: "text", discloseAsk: "ask"}

// summaryBytes is how long a value may be that a summary quotes.
const summaryBytes = 400

// shownValue quotes a value for a summary, which holds all of it. A longer one becomes
// a value of its own, which every dialogue lays out whole, or with its length and
// digest where it is very long.
func shownValue(text, label, name string) (quoted string, values []lookleap.ConsentValue) {
	if len(text) <= summaryBytes {
		return plaintext.Quote(text, utf8.RuneCountInString(text)+1), nil
	}
	return fmt.Sprintf("the %d bytes shown as %s", len(text), label), []lookleap.ConsentValue{{Label: label, Name: name, Text: text}}
}

// authenticate shows that the user is there, where a rule of what is told demands
// that; what cannot be told without is refused.
func (b *disclosureBuilder) authenticate(ctx context.Context) error {
	needs := func(t disclosure) bool { return t.authentic() && !t.refused() }
	if !slices.ContainsFunc(b.disclosures, needs) {
		return nil
	}
	s := b.decider.page.session
	err := s.authenticate(ctx, b.to.Asker)
	for i := range b.disclosures {
		t := &b.disclosures[i]
		if !needs(*t) {
			continue
		}
		if err == nil {
			t.Shown = s.now()
			continue
		}
		if t.Kind == discloseArg {
			t.refuse(CodeAuthentication, anml.ConstraintViolation)
			b.refusing = true
			return &lookleap.Error{Code: CodeAuthentication, Subject: b.decider.page.location(),
				Message: "the argument " + quote(t.Field) + " is not sent", Err: err}
		}
		b.items = slices.DeleteFunc(b.items, func(it lookleap.ConsentItem) bool { return it.ID == t.Item })
		t.refuse(CodeAuthentication, anml.ConstraintViolation)
	}
	return nil
}

// authenticate asks the host to show that the user is present.
func (s *Session) authenticate(ctx context.Context, asker string) error {
	if s.user.Authenticate == nil {
		return &lookleap.Error{Code: CodeAuthentication}
	}
	return plugin.Do(ctx, s.agent.plugins.person, func(ctx context.Context) error {
		return s.user.Authenticate(ctx, "to tell "+asker+" what it demands authentication for")
	})
}

// Medium is an image, audio, video or logo that a document names (sections 8.9.2 and
// 8.10.2 to 8.10.6). It is not fetched yet.
type Medium struct {
	Kind      string         // "img", "audio", "video" or "logo"
	Owner     string         // domain whose content it is
	URL       string         // resolved; "" if it cannot be fetched
	Type      string         // media type, as the document says; "" if it does not say
	Inference anml.Inference // whether the service wants it analysed
	// Text can replace it: the transcript of an audio or video, or the description. It
	// may be empty.
	Text UntrustedText
	// Near says that it is at the document's origin or registrable domain, so that the
	// agent may fetch it by itself.
	Near bool

	url domain.URL
}

// MediaPolicy reports whether the agent fetches a medium by itself. A nil policy fetches
// no medium: each request tells a server that the agent reads the document.
type MediaPolicy func(Medium) bool

// MediaContent is a fetched medium. It is untrusted.
type MediaContent struct {
	Type string // media type, as the server says
	Body []byte // at most 8 MiB
	URL  string // after redirects
}

// Media returns the media of the document that may be used, in its order. Those that the service
// calls essential have [anml.InferenceRequired]; they are not fetched: the host decides.
func (p *Page) Media() []Medium {
	p = zero.Or(p)
	now := p.session.now()
	var list []Medium
	for site := range p.doc.Containers() {
		if owner, a := p.owner(site, anmltrust.Aesthetic, now); a != anmltrust.Dropped {
			for l := range site.Aesthetic().Logos() {
				list = append(list, p.medium("logo", owner, l.Src(), l.Type(), anml.InferenceNone, l.Alt()))
			}
		}
		if owner, a := p.owner(site, anmltrust.Body, now); a != anmltrust.Dropped {
			for e := range elements(site.Body().Content()) {
				switch e := e.(type) {
				case anml.Img:
					list = append(list, p.mediumOf("img", owner, e.Media))
				case anml.Audio:
					list = append(list, p.mediumOf("audio", owner, e.Media))
				case anml.Video:
					list = append(list, p.mediumOf("video", owner, e.Media))
				}
			}
		}
	}
	return list
}

func (p *Page) mediumOf(kind string, owner Party, m anml.Media) Medium {
	return p.medium(kind, owner, m.Src(), m.Type(), m.Inference(), m.TextFor())
}

func (p *Page) medium(kind string, owner Party, src, mediaType string, inference anml.Inference, text string) Medium {
	m := Medium{Kind: kind, Owner: owner.Domain, Type: namedType(mediaType), Inference: inference,
		Text: untrusted(owner.Domain, "text for "+kind, text)}
	if u, err := p.url.Resolve(src); err == nil && src != "" {
		m.url, m.URL = u, u.String()
		m.Near = p.near(u)
	}
	return m
}

// near reports whether a URL is at the document's registrable domain (section 13.11).
func (p *Page) near(u domain.URL) bool { return registrable(u.Host()) == registrable(p.url.Host()) }

// LoadMedia fetches those media that the agent may fetch by itself and that the policy
// selects, within the document's budget of requests. After an error it goes on with the
// next medium.
func (p *Page) LoadMedia(ctx context.Context, policy MediaPolicy) iter.Seq2[Medium, MediaResult] {
	return func(yield func(Medium, MediaResult) bool) {
		for _, m := range p.Media() {
			if policy == nil || !m.Near || !policy(m) {
				continue
			}
			content, err := p.load(ctx, m, p.budget, p.near)
			if !yield(m, MediaResult{content, err}) {
				return
			}
		}
	}
}

// MediaResult is a fetched medium, or the error.
type MediaResult struct {
	Content *MediaContent
	Err     error
}

// LoadMedium fetches one medium that the host or its user asks for, at any origin. It
// sends no cookies and no credentials.
func (p *Page) LoadMedium(ctx context.Context, m Medium) (*MediaContent, error) {
	return p.load(ctx, m, nil, func(domain.URL) bool { return true })
}

func (p *Page) load(ctx context.Context, m Medium, budget *fetch.Budget, may func(domain.URL) bool) (*MediaContent, error) {
	if err := p.ready(); err != nil {
		return nil, err
	}
	if m.url.IsZero() {
		return nil, &lookleap.Error{Code: lookleap.CodeBadURL, Subject: p.location(), Message: "the medium has no URL that can be fetched"}
	}
	r, err := fetch.Do(ctx, p.session.agent.host, &fetch.Request{
		URL: m.url, Budget: budget, Limits: fetch.Limits{Body: maxMedium,
			Time: p.session.agent.options.Limits.Time},
		Redirect: func(h fetch.Hop) error {
			if !may(h.To) {
				return &lookleap.Error{Code: lookleap.CodeRedirectForbidden, Subject: h.To.WithoutQuery(),
					Message: "the medium leads to another origin"}
			}
			return nil
		},
	})
	if err != nil {
		return nil, fail(m.url.WithoutQuery(), err, "the medium could not be fetched")
	}
	if !r.OK() {
		return nil, &lookleap.Error{Code: lookleap.CodeBadStatus, Subject: r.URL.WithoutQuery(),
			Message: "the server returned no medium", Err: withStatus(r, nil)}
	}
	if err := p.session.context.recordBody(ctx, r.URL, r.MediaType, r.Body); err != nil {
		return nil, err
	}
	return &MediaContent{Type: r.MediaType, Body: r.Body, URL: r.URL.String()}, nil
}

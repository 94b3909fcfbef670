package agent

import (
	"context"
	"iter"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/zero"
)

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

// MediaContent is a fetched medium. It is untrusted.
type MediaContent struct {
	Medium Medium
	Type   string // media type, as the server says
	Body   []byte // at most 8 MiB; nil after an error
	URL    string // after redirects
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
				var m anml.Media
				switch e := e.(type) {
				case anml.Img:
					m = e.Media
				case anml.Audio:
					m = e.Media
				case anml.Video:
					m = e.Media
				default:
					continue
				}
				list = append(list, p.medium(m.Element(), owner, m.Src(), m.Type(), m.Inference(), m.TextFor()))
			}
		}
	}
	return list
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
// selects, within the document's budget of requests. A nil policy selects none: each
// request tells a server that the agent reads the document. After an error it goes on with
// the next medium.
func (p *Page) LoadMedia(ctx context.Context, policy func(Medium) bool) iter.Seq2[MediaContent, error] {
	return func(yield func(MediaContent, error) bool) {
		for _, m := range p.Media() {
			if policy != nil && m.Near && policy(m) && !yield(p.load(ctx, m, p.budget, p.near)) {
				return
			}
		}
	}
}

// LoadMedium fetches one medium that the host or its user asks for, at any origin. It
// sends no cookies and no credentials.
func (p *Page) LoadMedium(ctx context.Context, m Medium) (MediaContent, error) {
	return p.load(ctx, m, nil, func(domain.URL) bool { return true })
}

func (p *Page) load(ctx context.Context, m Medium, budget *fetch.Budget, may func(domain.URL) bool) (MediaContent, error) {
	c := MediaContent{Medium: m}
	if err := p.ready(); err != nil {
		return c, err
	}
	if m.url.IsZero() {
		return c, &lookleap.Error{Code: lookleap.CodeBadURL, Subject: p.location(), Message: "the medium has no URL that can be fetched"}
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
		return c, fail(m.url.WithoutQuery(), err, "the medium could not be fetched")
	}
	if !r.OK() {
		return c, &lookleap.Error{Code: lookleap.CodeBadStatus, Subject: r.URL.WithoutQuery(),
			Message: "the server returned no medium", Err: withStatus(r, nil)}
	}
	if err := p.session.context.recordBody(ctx, r.URL, r.MediaType, r.Body); err != nil {
		return c, err
	}
	c.Type, c.Body, c.URL = r.MediaType, r.Body, r.URL.String()
	return c, nil
}

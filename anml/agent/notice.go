package agent

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/confusable"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/plugin"
)

// NoticeKind is the kind of a [Notice]. A host can use it to choose how to show one.
type NoticeKind string

// The kinds of notice, with the section that demands each.
const (
	NoticeNewerVersion  NoticeKind = "newer-version"    // 8.1: the document is of a newer version
	NoticeUnsupported   NoticeKind = "unsupported"      // 8.1: no version of it is understood, so nothing is executed
	NoticeInvalid       NoticeKind = "invalid-document" // 11.4: the document could not be read
	NoticeMalformed     NoticeKind = "malformed"        // 11.4: a part that the interaction needs is malformed
	NoticeUnreachable   NoticeKind = "unreachable"      // 11.4: the service could not be reached
	NoticeAuthRequired  NoticeKind = "auth-required"    // 11.3: 401
	NoticeServerError   NoticeKind = "server-error"     // 11.3: 500 and its like
	NoticeUnavailable   NoticeKind = "unavailable"      // 11.3: 503
	NoticeInjection     NoticeKind = "injection"        // 13.3: a persona was discarded
	NoticeImpersonation NoticeKind = "impersonation"    // 13.6: the origin may pretend to be another
	NoticeInsecure      NoticeKind = "insecure"         // 13.6: certificate errors, plain http
	NoticeSecurity      NoticeKind = "security"         // 12.8: a verification ended in a security finding
	NoticeMoved         NoticeKind = "moved"            // 6.5.1: the document of an origin is another domain's
)

// Notice is something that the user should know. Its text is the agent's own; text of services
// appears only in Remote.
type Notice struct {
	Time   time.Time             `json:"time"`
	Kind   NoticeKind            `json:"kind"`
	Code   lookleap.Code         `json:"code"`
	Origin string                `json:"origin"` // who it is about
	Text   string                `json:"text"`   // one sentence
	Remote []lookleap.RemoteText `json:"remote,omitempty"`
}

// notifyTime is the time limit of one call of Notify.
const notifyTime = 2 * time.Second

// How many notices a session remembers, of all origins and of one: the newest.
const (
	maxNotices   = 1000
	maxNoticesOf = 100
)

type notices struct {
	session *Session
	mu      sync.Mutex
	list    []Notice
	said    *simplelru.LRU[string, bool] // what is told once; the keys that were met last
}

func newNotices(s *Session) *notices {
	n := &notices{session: s}
	n.said, _ = simplelru.NewLRU[string, bool](maxNotices, nil) // fails for sizes below 1 only
	return n
}

// tell records a notice and passes it to the host. It ignores a panic of the host's function,
// because a notice must not change what happens.
func (n *notices) tell(ctx context.Context, x Notice) {
	if x.Time.IsZero() {
		x.Time = n.session.now()
	}
	n.mu.Lock()
	n.remember(x)
	n.mu.Unlock()
	if f := n.session.user.Notify; f != nil {
		_ = plugin.Do(context.WithoutCancel(ctx), n.session.agent.plugins.notify, func(context.Context) error { f(ctx, x); return nil })
	}
}

// remember adds a notice to the list. A service that causes many displaces only its own.
func (n *notices) remember(x Notice) {
	var of []int
	for i := range n.list {
		if n.list[i].Origin == x.Origin {
			of = append(of, i)
		}
	}
	switch {
	case len(of) >= maxNoticesOf:
		n.list = slices.Delete(n.list, of[0], of[0]+1)
	case len(n.list) >= maxNotices:
		n.list = slices.Delete(n.list, 0, 1)
	}
	n.list = append(n.list, x)
}

// notify tells a notice of a kind once for each key, as long as the key is among the most recent ones.
func (s *Session) notify(ctx context.Context, key string, kind NoticeKind, code lookleap.Code, origin, text string) {
	n := s.notices
	key = string(kind) + " " + key
	n.mu.Lock()
	said, _ := n.said.Get(key)
	if !said {
		n.said.Add(key, true)
	}
	n.mu.Unlock()
	if !said {
		n.tell(ctx, Notice{Kind: kind, Code: code, Origin: origin, Text: text})
	}
}

// tellFailure tells the user why a retrieval failed, once until the URL is reached again (sections
// 11.3, 11.4 and 13.6).
func (s *Session) tellFailure(ctx context.Context, u domain.URL, e *lookleap.Error) {
	var kind NoticeKind
	var text string
	switch status := responseBehind(e).Status; {
	case e.Code == lookleap.CodeTLS || e.Code == lookleap.CodeTLSTooOld:
		kind, text = NoticeInsecure, "The service's certificate or encryption could not be verified, so nothing of it was read."
	case unreachable(e.Code):
		kind, text = NoticeUnreachable, "The service could not be reached."
	case status == http.StatusUnauthorized:
		kind, text = NoticeAuthRequired, "The service wants to know who asks before it answers."
	case status == http.StatusServiceUnavailable:
		kind, text = NoticeUnavailable, "The service is not available at the moment."
	case status >= 500:
		kind, text = NoticeServerError, "The service failed with an error of its own."
	default:
		return
	}
	s.notify(ctx, u.String(), kind, e.Code, u.Origin(), text)
}

// unreachable reports whether a code says that a server could not be reached.
func unreachable(code lookleap.Code) bool {
	switch code {
	case lookleap.CodeTimeout, lookleap.CodeUnreachable, lookleap.CodeConnRefused, lookleap.CodeConnReset,
		lookleap.CodeTruncated, lookleap.CodeTooSlow, lookleap.CodeDNSError, lookleap.CodeNoAddress:
		return true
	}
	return false
}

// reached allows failures at a URL, see tellFailure, to be told again.
func (n *notices) reached(u domain.URL) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, kind := range []NoticeKind{NoticeUnreachable, NoticeInsecure, NoticeAuthRequired, NoticeServerError, NoticeUnavailable} {
		n.said.Remove(string(kind) + " " + u.String())
	}
}

// Notices returns what the user was told in this session, in order: the newest 1,000, and of one
// origin the newest 100.
func (s *Session) Notices() []Notice {
	if s.ready() != nil {
		return nil
	}
	s.notices.mu.Lock()
	defer s.notices.mu.Unlock()
	return slices.Clone(s.notices.list)
}

// examine looks for signs of impersonation (section 13.6). They become findings, which prompts
// show, and a notice. They do not change any decision.
func (p *Page) examine(ctx context.Context) {
	find := func(code lookleap.Code, requirement, message string) {
		f := lookleap.Finding{Severity: lookleap.SeverityWarning, Code: code, Requirement: requirement, Message: message}
		p.opened.findings = append(p.opened.findings, f)
		p.flag(ctx, f)
	}
	if !stayed(p.opened.hops) {
		find(lookleap.CodeRedirectCrossOrigin, "ANML-6.5.1-02",
			"the document was asked for at another domain; it speaks for the one that served it")
	}
	if p.opened.insecure {
		find(lookleap.CodeInsecureTransport, "ANML-13.6-03", "the server was not verified, so the document is attributed to no party")
		p.session.notify(ctx, "plain "+p.url.Origin(), NoticeInsecure, lookleap.CodeInsecureTransport, p.url.Origin(),
			"The document came from an unverified server. You can read it, but nothing is sent and no action is executed.")
	}
	if signs := p.impersonation(); len(signs) > 0 {
		for _, sign := range signs {
			find(CodeImpersonation, "ANML-13.6-05", sign)
		}
		p.session.notify(ctx, p.url.String(), NoticeImpersonation, CodeImpersonation, p.url.Origin(),
			"The service may pretend to be another one: "+strings.Join(signs, "; ")+".")
	}
}

// impersonation returns the signs, each as part of a sentence.
func (p *Page) impersonation() (signs []string) {
	for _, label := range domain.Labels(p.url.Host()) {
		switch {
		case label.Mixed:
			signs = append(signs, "the host's label "+label.ASCII+" mixes scripts, so it may be made to look like another name")
		case looksLatin(label.Unicode):
			signs = append(signs, "the host's label "+label.ASCII+" looks like Latin letters but is in another script")
		}
	}
	if !p.opened.wellKnown {
		return signs
	}
	var endpoints, links []string
	for site := range p.doc.Containers() {
		for action := range site.Interact().Actions() {
			endpoints = append(endpoints, action.Endpoint())
		}
		for e := range elements(site.Body().Content()) {
			if link, ok := e.(anml.Link); ok {
				links = append(links, link.Href())
			}
		}
	}
	if foreign, all := p.foreign(endpoints); all > 0 && 2*foreign >= all {
		signs = append(signs, "the actions of its own document lead to other domains")
	}
	if foreign, all := p.foreign(links); 2*foreign > all {
		signs = append(signs, "most links of its own document lead to other domains")
	}
	return signs
}

// foreign counts the references that lead to another domain than the serving domain and the parties
// that it was verified to speak for.
func (p *Page) foreign(references []string) (foreign, all int) {
	own := map[string]bool{registrable(p.url.Host()): true}
	for _, party := range p.parties {
		if d, ok := domain.Registrable(party.Domain); ok && party.Tier > anmltrust.Unlisted {
			own[d] = true
		}
	}
	rules := domain.Rules{Schemes: []string{"https", "http"}}
	for _, ref := range references {
		u, err := rules.Resolve(p.url, ref)
		if err != nil {
			continue // other findings tell
		}
		all++
		if !own[registrable(u.Host())] {
			foreign++
		}
	}
	return foreign, all
}

// looksLatin reports whether all letters of a label in another script look like Latin letters.
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

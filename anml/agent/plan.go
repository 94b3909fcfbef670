package agent

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
)

// Ids of the consent items that every call has, or that an endpoint elsewhere
// needs. Those of a disclosure have their own.
const (
	itemAct    = "act"
	itemOrigin = "endpoint-origin"
	itemPlain  = "endpoint-insecure"
)

// intent is a call that is ready to be asked about: what the user is shown, and
// what is done when they agree.
type intent struct {
	effect   *effect
	args     []anml.Arg             // to show
	items    []lookleap.ConsentItem // of the disclosure
	verdict  *lookleap.Verdict      // why the owner may offer the action; nil: it is the server's own
	warnings []string               // our words about the document
	why      string                 // the first reason to ask; "": none but where the endpoint is
	crosses  bool                   // the endpoint's origin has to be agreed to
	plain    bool                   // the endpoint's lack of encryption has to be acknowledged
	asks     bool                   // the user is asked; otherwise their policy permits it
	again    []lookleap.ConsentItem // what an earlier request showed, to be asked once more
}

// prepare turns a call into an intent: it finds the action, its owner and its
// endpoint, checks the arguments, and decides what is told. It asks nobody and
// sends nothing.
func (p *Page) prepare(ctx context.Context, c Call) (*intent, error) {
	now := p.session.now()
	if err := p.executable(); err != nil {
		return nil, err
	}
	p.tellMalformed(ctx)
	site, act, err := p.action(c)
	if err != nil {
		return nil, err
	}
	owner, whose := p.owner(site, anmltrust.Interact, now)
	if whose == anmltrust.Dropped {
		return nil, &lookleap.Error{Code: CodeActionNotOwned, Subject: p.location(), Message: "the action " + quote(c.Action) + " belongs to a site that the server may not act for", Err: owner.Err}
	}
	to, err := p.endpoint(act, owner)
	if err != nil {
		return nil, err
	}
	e := &effect{Type: effectType, User: p.session.ownerMark(), Exchange: exchange{
		Serving: p.server.Domain, Owner: owner.Domain, Endpoint: to.url.Host(),
		Document: p.url.String(), Site: site.Domain(), Action: act.ID(),
	}}
	e.Send = sending{
		Method: act.Method(), Endpoint: to.url.String(), URL: to.url.String(), Reach: to.reach, Plain: to.plain,
		Idempotent: act.Idempotent() || safeMethod(act.Method()),
		Format:     p.answerFormat(act, to.url.Origin()), Says: act.Description(), Expects: p.expects(act),
	}
	if err := p.session.gate.check(e.passage(), now); err != nil {
		return nil, err
	}
	in := &intent{effect: e}
	if err := p.fill(ctx, in, site, act, c); err != nil {
		return nil, err
	}
	if to.plain && e.Disclosure.tells() {
		told := e.Disclosure.withheld(CodeInsecureEndpoint, anml.PolicyViolation)
		return nil, p.session.turnDown(ctx, e, "", p.session.refusals(e.Exchange, "", told), insecureEndpoint(e.Send.place()))
	}
	p.intend(ctx, in, act, owner)
	return in, nil
}

// insecureEndpoint refuses http for anything but a plain read (section 13.12).
func insecureEndpoint(url string) error {
	return &lookleap.Error{Code: CodeInsecureEndpoint, Subject: url, Message: "nothing of the user's and nothing that acts is sent over plain http"}
}

// action finds the action of a call in its own container and no other.
func (p *Page) action(c Call) (anml.Site, anml.Action, error) {
	refuse := func(code lookleap.Code, reason string, err error) (anml.Site, anml.Action, error) {
		return anml.Site{}, anml.Action{}, &lookleap.Error{Code: code, Subject: p.location(), Message: reason, Err: err}
	}
	wanted := c.Site
	if wanted != "" {
		normal, err := anmltrust.NormalizeSite(wanted)
		if err != nil {
			return refuse(CodeUnknownAction, "the document has no site "+quote(c.Site), err)
		}
		wanted = normal
	}
	for site := range p.doc.Containers() {
		if site.Domain() != wanted {
			continue
		}
		act, err := site.Interact().Action(c.Action)
		switch {
		case errors.Is(err, anml.ErrAmbiguousAction):
			return refuse(CodeAmbiguousAction, "several actions have the id "+quote(c.Action), err)
		case err != nil:
			return refuse(CodeUnknownAction, "no action has the id "+quote(c.Action), err)
		}
		if err := act.Executable(); err != nil {
			return refuse(CodeNotExecutable, "the action "+quote(c.Action)+" is not executed", err)
		}
		return site, act, nil
	}
	return refuse(CodeUnknownAction, "the document has no site "+quote(c.Site), nil)
}

// endpoint resolves where an action is sent, within the agent's options.
func (p *Page) endpoint(act anml.Action, owner Party) (endpoint, error) {
	site := ""
	if !owner.Serving {
		site = owner.Domain
	}
	to, err := resolveEndpoint(p.url, act.Endpoint(), site)
	if err != nil {
		return to, err
	}
	if to.plain && act.Method() != http.MethodGet && act.Method() != http.MethodHead {
		return to, insecureEndpoint(shown(to.url))
	}
	if to.reach != atOrigin && p.session.agent.options.SameOriginOnly {
		return to, &lookleap.Error{Code: CodeEndpointForeign, Subject: shown(to.url), Message: "only actions at the document's own origin are executed"}
	}
	return to, nil
}

// answerFormat is the serialization of what the agent sends (section 11.1): the
// agent's option, what the endpoint's origin said that it wants, what the action
// names, or that of the document.
func (p *Page) answerFormat(act anml.Action, origin string) anml.Format {
	if f := p.session.agent.options.Format; f != nil {
		return *f
	}
	if f := p.session.gate.preferred(origin); f != nil {
		return *f
	}
	if p.opened.accept != nil && origin == p.url.Origin() {
		return *p.opened.accept
	}
	if f, ok := anml.FormatOf(act.EncType()); ok {
		return f
	}
	return p.doc.Format()
}

// expects is what the answer is asked for in: what the action says, but for the
// host's own choice between the serializations of documents.
func (p *Page) expects(act anml.Action) string {
	said := expected(act.Response())
	if _, document := anml.FormatOf(said); document && p.session.agent.options.Format != nil {
		return ""
	}
	return said
}

// intend settles what the user is asked about, and what is verified anew before it
// is done.
func (p *Page) intend(ctx context.Context, in *intent, act anml.Action, owner Party) {
	e := in.effect
	confirm, _ := act.Confirm()
	for _, f := range p.Findings() {
		in.warnings = append(in.warnings, f.Message)
	}
	judged := e.act(e.Disclosure)
	in.why = consequential(judged, confirm, e.Disclosure.tells(), p.session.user.weigh(ctx, p.session.agent.plugins.policy, judged))
	if in.why == "" && p.otherMajor() {
		in.why = "the document is of a version of ANML that is not understood"
	}
	in.crosses = e.Send.Reach != atOrigin && !p.session.gate.agreed(p.url.Origin(), e.Send.origin())
	in.plain = e.Send.Plain && !p.session.gate.acknowledged(e.Send.origin())
	in.asks = in.why != "" || in.crosses || in.plain || len(in.items) > 0
	if in.asks || !safeMethod(e.Send.Method) {
		e.Claim, e.Owned = p.claimOf(owner)
	}
	if owner.Authorization != nil {
		in.verdict = owner.Authorization.Verdict
	}
}

// claimOf gives the claim that is verified anew before an action (section 13.4):
// that of the owner's site, or, for an action of the server's own, the one under
// which the user saw the document. Nil: there is none.
func (p *Page) claimOf(owner Party) (claim *anmltrust.Claim, owned bool) {
	of := func(party Party) *anmltrust.Claim {
		if party.Authorization == nil || party.Authorization.Tier == anmltrust.Self {
			return nil
		}
		return &anmltrust.Claim{URL: p.location(), Site: party.Authorization.Site, Form: party.form}
	}
	if c := of(owner); c != nil {
		return c, !owner.Serving
	}
	for _, party := range p.parties {
		if party.form == anmltrust.TrustElement && !party.Serving {
			if c := of(party); c != nil {
				return c, false
			}
		}
	}
	return nil, false
}

// malformedParts are the elements that an interaction would use.
var malformedParts = []string{"ask", "action", "param", "option", "disclosure"}

// tellMalformed tells the user once that a part which the interaction would have
// used cannot be (section 11.4).
func (p *Page) tellMalformed(ctx context.Context) {
	for _, f := range p.doc.Findings() {
		if f.Severity != lookleap.SeverityError || f.Code != anml.CodeMalformed {
			continue
		}
		last := f.Path[strings.LastIndexByte(f.Path, '/')+1:]
		name, _, _ := strings.Cut(last, "[")
		if slices.Contains(malformedParts, name) {
			p.session.notices.tellOnce(ctx, "malformed "+p.digest+" "+p.url.String(), Notice{
				Kind: NoticeMalformed, Code: lookleap.Code(f.Code), Origin: p.url.Origin(),
				Text: "A part of the document that this interaction needs is malformed, so it is not used: " + f.Path + ".",
			})
			return
		}
	}
}

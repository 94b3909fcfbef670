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
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/planowner"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// IDs of consent items: of the action itself, of an endpoint at another origin, and of
// an endpoint without encryption. Items of a disclosure have IDs of their own.
const (
	itemAct    = "act"
	itemOrigin = "endpoint-origin"
	itemPlain  = "endpoint-insecure"
)

// preparedCall is a call before consent: what is done, and what the user is shown first.
type preparedCall struct {
	effect  *effect
	request lookleap.ConsentRequest
	asks    bool // the user is asked; otherwise their policy permits the call
}

// prepare turns a call into a preparedCall: it finds the action, its owner and its endpoint,
// checks the arguments, and decides what is disclosed. It does not ask the user and
// sends nothing.
func (p *Page) prepare(ctx context.Context, c Call) (*preparedCall, error) {
	s, now := p.session, p.session.now()
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
		return nil, &lookleap.Error{Code: CodeActionNotOwned, Subject: p.location(),
			Message: "the action " + quote(c.Action) + " belongs to a site that the server may not act for", Err: owner.Err}
	}
	to, err := p.endpoint(act, owner)
	if err != nil {
		return nil, err
	}
	f := p.decider(site, now, c.Initiated)
	e := &effect{Type: effectType, User: planowner.Mark(s.owner()), Exchange: exchange{
		Serving: p.server.Domain, Owner: owner.Domain, Asker: f.asker.Domain, Endpoint: to.url.Host(),
		Document: p.url.String(), Site: site.Domain(), Action: act.ID(),
	}}
	e.Send = actionRequest{
		Method: act.Method(), Endpoint: to.url.String(), URL: to.url.String(), Reach: to.reach, Plain: to.plain,
		Idempotent: act.Idempotent() || safeMethod(act.Method()),
		Format:     p.answerFormat(act, to.url.Origin()), Says: act.Description(), Expects: p.expects(act),
	}
	if err := s.gate.check(ctx, e.key()); err != nil {
		return nil, err
	}
	refuse := func(err error) error {
		code := lookleap.CodeOf(err)
		if errors.Is(err, anml.ErrUnsupportedEncType) {
			code = CodeEncType
		}
		return &lookleap.Error{Code: code, Subject: e.Send.place(), Message: "the arguments are not sent", Err: err}
	}
	asks := asksByAction(site)[act.ID()]
	args, err := e.Send.fit(act, asks, c)
	if err != nil {
		return nil, refuse(err)
	}
	asked := merge(asks)
	if err := p.checkReply(c.reply(), asked); err != nil {
		return nil, err
	}
	if !e.Send.Response {
		asked = nil
	}
	var items []lookleap.ConsentItem
	if e.Disclosures, items, err = f.disclose(ctx, e.Exchange, asked, act, args, c); err != nil {
		return nil, err
	}
	if !e.Send.Response {
		if err := e.Send.encode(act, args); err != nil {
			return nil, refuse(err)
		}
	}
	if to.plain && e.discloses() {
		disclosures := withheld(e.Disclosures, CodeInsecureEndpoint, anml.PolicyViolation)
		return nil, s.recordRefusal(ctx, e.Exchange, "", disclosures, insecureEndpoint(e.Send.place()))
	}
	return p.ask(ctx, e, act, owner, args, items), nil
}

// insecureEndpoint returns the error for http with anything but a read without user data
// (section 13.12).
func insecureEndpoint(url string) error {
	return &lookleap.Error{Code: CodeInsecureEndpoint, Subject: url,
		Message: "user data and actions that change something are not sent over plain http"}
}

// action returns the action of a call, from the call's own site only.
func (p *Page) action(c Call) (anml.Site, anml.Action, error) {
	refuse := func(code lookleap.Code, reason string, err error) (anml.Site, anml.Action, error) {
		return anml.Site{}, anml.Action{}, &lookleap.Error{Code: code, Subject: p.location(), Message: reason, Err: err}
	}
	wanted := c.Site
	if wanted != "" {
		normal, err := anmltrust.NormalizeSite(wanted)
		if err != nil {
			return refuse(anml.CodeUnknownAction, "the document has no site "+quote(c.Site), err)
		}
		wanted = normal
	}
	site, ok := p.container(wanted)
	if !ok {
		return refuse(anml.CodeUnknownAction, "the document has no site "+quote(c.Site), nil)
	}
	act, err := site.Interact().Action(c.Action)
	switch {
	case errors.Is(err, anml.ErrAmbiguousAction):
		return refuse(anml.CodeAmbiguousAction, "several actions have the id "+quote(c.Action), err)
	case err != nil:
		return refuse(anml.CodeUnknownAction, "no action has the id "+quote(c.Action), err)
	}
	if err := act.Executable(); err != nil {
		return refuse(CodeNotExecutable, "the action "+quote(c.Action)+" is not executed", err)
	}
	return site, act, nil
}

// endpoint returns where an action is sent, within the agent's options.
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
		return to, insecureEndpoint(to.url.WithoutQuery())
	}
	if to.reach != atOrigin && p.session.agent.options.SameOriginOnly {
		return to, &lookleap.Error{Code: CodeEndpointForeign, Subject: to.url.WithoutQuery(),
			Message: "only actions at the document's own origin are executed"}
	}
	return to, nil
}

// answerFormat returns the serialization that the agent sends (section 11.1): that of
// the agent's options, the one that the endpoint's origin prefers, the one that the
// action names, or that of the document.
func (p *Page) answerFormat(act anml.Action, origin string) anml.Format {
	if f := p.session.agent.options.Format; f != nil {
		return *f
	}
	if f, ok := p.session.gate.preferred(origin); ok {
		return f
	}
	if p.opened.accept != nil && origin == p.url.Origin() {
		return *p.opened.accept
	}
	if f, ok := anml.FormatOf(act.EncType()); ok {
		return f
	}
	return p.doc.Format()
}

// expects returns the media type to request: the one that the action states, without parameters,
// unless the host chose a serialization of documents; "" if there is none.
func (p *Page) expects(act anml.Action) string {
	said := namedType(act.Response().Type())
	_, document := anml.FormatOf(said)
	if !act.Response().Exists() || strings.Contains(said, "*") || len(said) > maxMediaType || document && p.session.agent.options.Format != nil {
		return ""
	}
	return said
}

// ask decides what the user is asked about: the act itself, another origin to which it goes, and
// everything that it tells. It also decides which claim is verified again before the action is
// executed.
func (p *Page) ask(ctx context.Context, e *effect, act anml.Action, owner Party, args []anml.Arg,
	items []lookleap.ConsentItem) *preparedCall {
	s := p.session
	confirm, _ := act.Confirm()
	why := consequential(e.act(), confirm, e.discloses(), s.weigh(ctx, e.act()))
	if why == "" && p.otherMajor() {
		why = "the document has a version of ANML that is not supported"
	}
	all := []lookleap.ConsentItem{e.actItem(why, p.Findings(), args)}
	if e.Send.Reach != atOrigin && !s.gate.agreed(p.url.Origin(), e.Send.origin()) {
		all = append(all, e.originItem())
	}
	if e.Send.Plain && !s.gate.agreed("", e.Send.origin()) {
		all = append(all, e.plainItem())
	}
	all = append(all, items...)
	in := &preparedCall{effect: e, asks: why != "" || len(all) > 1}
	if in.asks || !safeMethod(e.Send.Method) {
		e.Claim, e.Owned = p.claimOf(owner)
	}
	in.request = e.request(all)
	if owner.Authorization != nil {
		in.request.Verdict = owner.Authorization.Verdict
	}
	if e.Owned {
		in.request.TrustRoot = e.Exchange.Owner
	}
	return in
}

// claimOf returns the claim that is verified again before an action (section 13.4), if
// any: that of the owner's site, or, for the server's own action, the one that the user
// saw with the document.
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

// malformedParts are the elements that an interaction uses.
var malformedParts = []string{"ask", "action", "param", "option", "disclosure"}

// tellMalformed notifies the user once that a part of the document which the interaction
// needs is malformed (section 11.4).
func (p *Page) tellMalformed(ctx context.Context) {
	for _, f := range p.doc.Findings() {
		if f.Severity != lookleap.SeverityError || f.Code != anml.CodeMalformed {
			continue
		}
		last := f.Path[strings.LastIndexByte(f.Path, '/')+1:]
		name, _, _ := strings.Cut(last, "[")
		if slices.Contains(malformedParts, name) {
			p.session.notify(ctx, p.digest+" "+p.url.String(), NoticeMalformed, f.Code, p.url.Origin(),
				"A part of the document that this interaction needs is malformed, so it is not used: "+f.Path+".")
			return
		}
	}
}

const effectType = "application/vnd.lookleap.anml-call+json;version=2"

// effect is everything that a call does. A plan carries it, and another process can
// commit it without the page.
type effect struct {
	Type        string           `json:"type"`
	Exchange    exchange         `json:"exchange"`
	Send        actionRequest    `json:"send"`
	Disclosures []disclosure     `json:"disclosures,omitempty"` // everything that it would send about the user, in the order of the document
	Claim       *anmltrust.Claim `json:"claim,omitempty"`       // verified again before the commit; may be nil
	Owned       bool             `json:"owned,omitempty"`       // the action is the claimed site's; otherwise the claim was only shown
	User        string           `json:"user,omitempty"`        // whose plan it is, see [Session.owns]
}

// parseEffect parses the effect of a plan. The plan's digest covers it; parseEffect
// checks that it is a call of this package and that its parts agree.
func parseEffect(data []byte) (*effect, error) {
	var e effect
	if err := strictjson.Decode(data, &e); err != nil {
		return nil, badState("its effect is not a call: " + err.Error())
	}
	if e.Type != effectType {
		return nil, badState("its effect is not of type " + effectType)
	}
	u, err := endpointRules.Parse(e.Send.URL)
	if err != nil || u.String() != e.Send.URL {
		return nil, badState("its URL is not permitted")
	}
	document, err := domain.Parse(e.Exchange.Document)
	if err != nil {
		return nil, badState("its document has no https URL")
	}
	site := ""
	if e.Owned {
		site = e.Exchange.Owner
	}
	to, err := resolveEndpoint(document, e.Send.Endpoint, site)
	reads := e.Send.Method == http.MethodGet || e.Send.Method == http.MethodHead
	for _, c := range []struct {
		fails  bool
		reason string
	}{
		{err != nil || to.url.String() != e.Send.Endpoint || to.reach != e.Send.Reach || to.plain != e.Send.Plain, "its endpoint is not permitted"},
		{u.Path() != to.url.Path() || u.Host() != e.Exchange.Endpoint || !strings.HasPrefix(e.Send.URL, e.Send.Endpoint) ||
			hasBody(e.Send.Method) && e.Send.URL != e.Send.Endpoint, "its URL is not that of its endpoint"},
		{e.Owned && (e.Claim == nil || e.Claim.Site != e.Exchange.Owner), "its owner is not the claimed site"},
		{!hasBody(e.Send.Method) && !safeMethod(e.Send.Method) && e.Send.Method != http.MethodDelete, "its method is not supported"},
		{to.plain && (!reads || e.discloses()), "it must not be sent over plain http"},
		{!hasBody(e.Send.Method) && (e.Send.Response || len(e.Send.Body) > 0), "its method has no body"},
		{e.Send.Format != anml.XML && e.Send.Format != anml.JSON, "its serialization is unknown"},
		{strings.ContainsAny(e.Send.ContentType+e.Send.Expects, "\r\n\x00"), "its media type is malformed"},
	} {
		if c.fails {
			return nil, badState(c.reason)
		}
	}
	return &e, nil
}

func badState(reason string) error {
	return &lookleap.Error{Code: lookleap.CodePlanInvalid, Message: reason, Err: lookleap.ErrPlanInvalid}
}

// key returns the call as the gate counts it.
func (e *effect) key() gateKey {
	document := e.Exchange.Document
	if u, err := domain.Parse(document); err == nil {
		document = u.Origin()
	}
	return gateKey{action: e.Send.key(), origin: e.Send.origin(), document: document}
}

// discloses reports whether anything of the user's would leave.
func (e *effect) discloses() bool {
	return slices.ContainsFunc(e.Disclosures, func(t disclosure) bool { return !t.refused() && t.Kind != disclosePlain })
}

// act returns the call as a host's policy judges it.
func (e *effect) act() Act {
	a := Act{
		Method: e.Send.Method, URL: e.Send.URL, ID: e.Exchange.Action, Description: e.Send.Says,
		Serving: e.Exchange.Serving, Owner: e.Exchange.Owner, Endpoint: e.Exchange.Endpoint, Idempotent: e.Send.Idempotent,
	}
	for _, t := range e.Disclosures {
		if !t.refused() && t.Kind != disclosePlain {
			a.Fields = append(a.Fields, t.Field)
		}
	}
	return a
}

// write writes the request body for what may still be disclosed. Arguments are sent as they were
// shown; a forbidden argument has ended the call before.
func (e *effect) write() error {
	if !e.Send.Response {
		return nil
	}
	doc, err := response(e.Exchange, e.Disclosures)
	if err == nil && doc == nil {
		return &lookleap.Error{Code: lookleap.CodeConsentRefused, Subject: e.Send.place(),
			Message: "nothing is left that may be disclosed", Err: anml.ErrEmptyResponse}
	}
	if err == nil {
		e.Send.ContentType = e.Send.Format.MediaType()
		e.Send.Body, err = anml.Marshal(doc, e.Send.Format, anml.WriteOptions{Role: anml.RoleAgentResponse})
	}
	if err != nil {
		return &lookleap.Error{Code: lookleap.CodeOf(err), Subject: e.Send.place(), Message: "the response cannot be written", Err: err}
	}
	return nil
}

// endpointReach is the distance of an action's endpoint from its document (sections 13.4 and
// 13.11).
type endpointReach string

const (
	atOrigin endpointReach = "same-origin"
	atDomain endpointReach = "same-domain"  // another origin of the document's registrable domain
	atOwner  endpointReach = "owner-domain" // of the verified site whose action it is
	atOther  endpointReach = "other-domain" // any other host
)

type endpoint struct {
	url   domain.URL
	reach endpointReach
	plain bool // http: for what only reads, carries nothing of the user's, and is acknowledged (section 13.12)
}

// endpointRules apply to every URL that an action may be sent to.
var endpointRules = domain.Rules{Schemes: []string{"https", "http"}}

// usualPorts are the permitted ports, in addition to the document's own.
var usualPorts = map[string]uint16{"https": 443, "http": 80}

// resolveEndpoint judges an endpoint against the final https URL of its document: a public
// name, a usual port, and no other scheme than https but http. Site is the verified owner's
// domain, "" when that is the serving domain. It says nothing about consent.
func resolveEndpoint(document domain.URL, ref, site string) (endpoint, error) {
	refuse := func(code lookleap.Code, reason string, err error) (endpoint, error) {
		return endpoint{}, &lookleap.Error{Code: code, Subject: document.WithoutQuery(), Message: reason, Err: err}
	}
	u, err := endpointRules.Resolve(document, ref)
	if err != nil {
		bad := fetch.URLError(ref, "", err)
		return refuse(bad.Code, "the action's endpoint is refused", bad)
	}
	switch {
	case u.Origin() == document.Origin():
		return endpoint{u, atOrigin, false}, nil
	case u.Port() != usualPorts[u.Scheme()]:
		return refuse(lookleap.CodeBlockedPort, "the action's endpoint has a port that is not permitted", nil)
	}
	return endpoint{u, reachOf(document.Host(), u.Host(), site), u.Scheme() == "http"}, nil
}

// reachOf returns the reach of a host at another origin than the document's.
func reachOf(document, host, site string) endpointReach {
	theirs, ok := domain.Registrable(host)
	ours, _ := domain.Registrable(document)
	switch {
	case host == document, ok && theirs == ours:
		return atDomain
	case site != "" && (host == site || strings.HasSuffix(host, "."+site)):
		return atOwner
	}
	return atOther
}

package agent

import (
	"context"
	"errors"
	"fmt"
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
	now := p.session.agent.host.Time()
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
		return nil, &Error{Code: lookleap.CodeActionNotOwned, URL: p.url.String(), Reason: "the action " + quote(c.Action) + " belongs to a site that the server may not act for", Err: owner.Err}
	}
	to, err := p.endpoint(act, owner)
	if err != nil {
		return nil, err
	}
	e := &effect{Type: effectType, Exchange: exchange{
		Serving: p.server.Domain, Owner: owner.Domain, Endpoint: to.url.Host(),
		Document: p.url.String(), Site: site.Domain(), Action: act.ID(),
	}}
	e.Send = sending{
		Method: act.Method(), Endpoint: to.url.String(), URL: to.url.String(), Reach: to.reach, Plain: to.plain,
		Idempotent: act.Idempotent() || safeMethod(act.Method()),
		Format:     p.answerFormat(act, to.url.Origin()), Says: act.Description(),
	}
	if err := p.session.gate.check(e.passage(), now); err != nil {
		return nil, err
	}
	in := &intent{effect: e}
	if err := p.fill(ctx, in, site, act, c); err != nil {
		return nil, err
	}
	if to.plain && e.Disclosure.tells() {
		return nil, insecureEndpoint(e.Send.Endpoint)
	}
	p.intend(ctx, in, act, owner)
	return in, nil
}

// insecureEndpoint refuses http for anything but a plain read (section 13.12).
func insecureEndpoint(url string) error {
	return &Error{Code: lookleap.CodeInsecureEndpoint, URL: url, Reason: "nothing of the user's and nothing that acts is sent over plain http"}
}

// action finds the action of a call in its own container and no other.
func (p *Page) action(c Call) (anml.Site, anml.Action, error) {
	refuse := func(code lookleap.Code, reason string, err error) (anml.Site, anml.Action, error) {
		return anml.Site{}, anml.Action{}, &Error{Code: code, URL: p.url.String(), Reason: reason, Err: err}
	}
	wanted := c.Site
	if wanted != "" {
		normal, err := anmltrust.NormalizeSite(wanted)
		if err != nil {
			return refuse(lookleap.CodeUnknownAction, "the document has no site "+quote(c.Site), err)
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
			return refuse(lookleap.CodeAmbiguousAction, "several actions have the id "+quote(c.Action), err)
		case err != nil:
			return refuse(lookleap.CodeUnknownAction, "no action has the id "+quote(c.Action), err)
		}
		if err := act.Executable(); err != nil {
			return refuse(lookleap.CodeNotExecutable, "the action "+quote(c.Action)+" is not executed", err)
		}
		return site, act, nil
	}
	return refuse(lookleap.CodeUnknownAction, "the document has no site "+quote(c.Site), nil)
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
		return to, insecureEndpoint(to.url.String())
	}
	if to.reach != atOrigin && p.session.agent.options.SameOriginOnly {
		return to, &Error{Code: lookleap.CodeEndpointForeign, URL: to.url.String(), Reason: "only actions at the document's own origin are executed"}
	}
	return to, nil
}

// fill checks the arguments and decides what is told; it completes the effect of
// an intent.
//
// An action is executed in one of two ways: where something is answered or told, an
// ANML document is sent, else its arguments in the encoding that it names.
// Parameters are for the second way (sections 9.3 and 11.1).
func (p *Page) fill(ctx context.Context, in *intent, site anml.Site, act anml.Action, c Call) error {
	e, asks := in.effect, asksFor(site, act)
	refuse := func(err error) error {
		return &Error{Code: argumentCode(err), URL: e.Send.Endpoint, Reason: "the arguments are not sent", Err: err}
	}
	var args []anml.Arg
	var err error
	if e.Send.Response = answers(act, asks, c); e.Send.Response {
		err = unanswerable(act, asks, c)
	} else if c, err = silent(asks, c); err == nil {
		args, err = arguments(act, c)
	}
	if err != nil {
		return refuse(err)
	}
	if e.Disclosure, in.items, err = p.prepareDisclosure(ctx, e.Exchange, act, args, c); err != nil {
		return err
	}
	if e.Send.Response {
		return nil
	}
	in.args = args
	if err := e.Send.encode(act, args); err != nil {
		return refuse(err)
	}
	return nil
}

// encode makes the request of an action that answers no ask.
func (s *sending) encode(act anml.Action, args []anml.Arg) error {
	request, err := act.Encode(args)
	if err != nil {
		return err
	}
	s.ContentType, s.Body = request.ContentType, request.Body
	if request.Query == "" {
		return nil
	}
	mark := "?"
	if strings.Contains(s.Endpoint, "?") {
		mark = "&"
	}
	u, err := endpointRules.Parse(s.Endpoint + mark + request.Query)
	if err != nil {
		return fmt.Errorf("%w: they make no URL that is requested: %w", anml.ErrParamInvalid, err)
	}
	s.URL = u.String()
	return nil
}

// asksFor lists the asks that point to an action, in its own container.
func asksFor(site anml.Site, act anml.Action) []anml.Ask {
	var asks []anml.Ask
	for ask := range site.Knowledge().Asks() {
		if ask.Action() == act.ID() {
			asks = append(asks, ask)
		}
	}
	return asks
}

// answers reports whether a call sends an agent response: there is something to
// answer or to tell, and a body to do it in.
func answers(act anml.Action, asks []anml.Ask, c Call) bool {
	if !hasBody(act.Method()) {
		return false
	}
	reply := c.Reply
	if reply == nil {
		reply = &Reply{}
	}
	return len(reply.Informs) > 0 || len(reply.Asks) > 0 || slices.ContainsFunc(asks, func(ask anml.Ask) bool {
		return ask.Required() || !slices.Contains(reply.Omit, ask.Field())
	})
}

// hasBody reports whether answers may be sent by a method: they never enter a URL.
func hasBody(method string) bool {
	return method == http.MethodPost || method == http.MethodPut || method == http.MethodPatch
}

// Why a call's arguments fit no way of executing its action.
var (
	errBothArgs   = errors.New("both Args and ArgsJSON are given")
	errArgsBeside = errors.New("arguments have no place beside answers: give values in the Reply")
	errNoBody     = errors.New("the action's method has no body, and answers never enter a URL")
)

// unanswerable says why an action cannot be executed by answering: it takes no
// arguments then, and a required parameter is met by an ask of the same name alone.
func unanswerable(act anml.Action, asks []anml.Ask, c Call) error {
	if text := strings.TrimSpace(string(c.ArgsJSON)); len(c.Args) > 0 || text != "" && text != "{}" && text != "null" {
		return errArgsBeside
	}
	for param := range act.Params() {
		asked := slices.ContainsFunc(asks, func(ask anml.Ask) bool { return ask.Field() == param.Name() })
		if param.Required() && !asked {
			return fmt.Errorf("%w: %s, which no ask stands for", anml.ErrParamMissing, quote(param.Name()))
		}
	}
	return nil
}

// silent leaves every ask of a call unanswered. Where that is not possible, it is
// an error: a method without a body carries no answers.
func silent(asks []anml.Ask, c Call) (Call, error) {
	reply := Reply{}
	if c.Reply != nil {
		reply = *c.Reply
	}
	if len(reply.Values) > 0 || len(reply.Refuse) > 0 || len(reply.Informs) > 0 || len(reply.Asks) > 0 {
		return c, errNoBody
	}
	reply.Omit = slices.Clone(reply.Omit)
	for _, ask := range asks {
		if ask.Required() {
			return c, errNoBody
		}
		reply.Omit = append(reply.Omit, ask.Field())
	}
	c.Reply = &reply
	return c, nil
}

// arguments checks what a call gives for the parameters of its action.
func arguments(act anml.Action, c Call) ([]anml.Arg, error) {
	switch {
	case len(c.Args) > 0 && len(c.ArgsJSON) > 0:
		return nil, errBothArgs
	case len(c.ArgsJSON) > 0:
		return act.ArgsJSON(c.ArgsJSON)
	}
	return act.Args(c.Args)
}

// argumentCode is the code of an error about arguments.
func argumentCode(err error) lookleap.Code {
	for _, known := range []struct {
		err  error
		code lookleap.Code
	}{
		{anml.ErrParamMissing, lookleap.CodeParamMissing},
		{anml.ErrParamUnknown, lookleap.CodeParamUnknown},
		{anml.ErrUnsupportedEncType, lookleap.CodeEncType},
		{errNoBody, lookleap.CodeNoBodyMethod},
		{errBothArgs, lookleap.CodeUsage},
		{errArgsBeside, lookleap.CodeUsage},
	} {
		if errors.Is(err, known.err) {
			return known.code
		}
	}
	return lookleap.CodeParamInvalid
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

// intend settles what the user is asked about, and what is verified anew before it
// is done.
func (p *Page) intend(ctx context.Context, in *intent, act anml.Action, owner Party) {
	e := in.effect
	confirm, _ := act.Confirm()
	for _, f := range p.Findings() {
		in.warnings = append(in.warnings, f.Message)
	}
	judged := e.act(e.Disclosure)
	in.why = consequential(judged, confirm, e.Disclosure.tells(), p.session.user.weigh(ctx, judged))
	if in.why == "" && p.otherMajor() {
		in.why = "the document is of a version of ANML that is not understood"
	}
	in.crosses = e.Send.Reach != atOrigin &&
		(e.Send.Reach != atDomain || !p.session.gate.agreed(p.url.Origin(), e.Send.origin()))
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
		return &anmltrust.Claim{URL: p.url.String(), Site: party.Authorization.Site, Form: party.form}
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

// responds reports whether a disclosure is sent as an agent response.
func (d *disclosure) responds() bool {
	return slices.ContainsFunc(d.Tells, func(t tell) bool { return t.Kind != tellArg })
}

// malformedParts are the elements that an interaction would use.
var malformedParts = []string{"ask", "action", "param", "option", "disclosure"}

// tellMalformed tells the user once that a part which the interaction would have
// used cannot be (section 11.4).
func (p *Page) tellMalformed(ctx context.Context) {
	for _, f := range p.doc.Findings() {
		if f.Severity != anml.SeverityError || f.Code != anml.CodeMalformed {
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

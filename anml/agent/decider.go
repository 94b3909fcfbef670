package agent

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/plugin"
)

// decider decides about the asks of one site, and about what else is sent to it.
type decider struct {
	page      *Page
	site      anml.Site
	rules     *siteRules
	now       time.Time
	will      *will
	asker     Party
	closed    lookleap.Code // why nothing is told at all, or ""
	untrusted lookleap.Code // why the asks are not answered, or ""
	foreign   bool          // the rules are not those of the party that asks
	elsewhere bool          // the rules are not those of the owner of the actions
	version   bool          // another major version
	initiated bool
}

// decider returns the decider of a site. It finds out who asks in a site, and whether that party is trusted.
func (p *Page) decider(site anml.Site, now time.Time, initiated bool) *decider {
	f := &decider{page: p, site: site, now: now, will: p.session.user.Policy.now(), initiated: initiated}
	f.version = p.otherMajor()
	f.rules = p.session.agent.rulesOf(site)
	asker, whose := p.ownerOfAsk(site, now)
	actor, _ := p.owner(site, anmltrust.Interact, now)
	f.asker = asker
	f.foreign = p.foreignRules(site, asker, now)
	f.elsewhere = p.foreignRules(site, actor, now)
	switch {
	case p.opened.insecure:
		f.closed = lookleap.CodeInsecureTransport
	case !p.doc.Executable():
		f.closed = anml.CodeNoVersion
	}
	f.untrusted = f.closed
	if f.untrusted == "" && whose == anmltrust.Dropped {
		f.untrusted = CodeTrustUnverified
		if asker.Err != nil {
			f.untrusted = lookleap.CodeOf(asker.Err)
		}
	}
	return f
}

// stricter returns the rule for a value that two fields have in common. The site leaves a field
// without a rule to the user's policy, so only the rule of the other one counts.
func stricter(r, other anml.Rule) anml.Rule {
	leftOpen := func(r anml.Rule) bool { return !r.Declared && r.Raised == "" }
	limited := limit(r, other)
	switch {
	case leftOpen(r):
		r.Requires, r.Declared, r.Raised = other.Requires, other.Declared, other.Raised
	case !leftOpen(other):
		r.Requires, r.Declared = r.Requires.Stricter(other.Requires), r.Declared || other.Declared
		r.Raised = cmp.Or(r.Raised, other.Raised)
	}
	r.ValidFor, r.Limited = limited.ValidFor, limited.Limited
	return r
}

// limit returns a rule with the shorter validity of two rules.
func limit(r, other anml.Rule) anml.Rule {
	if other.Limited && (!r.Limited || other.ValidFor < r.ValidFor) {
		r.ValidFor, r.Limited = other.ValidFor, true
	}
	return r
}

// route is an exchange with what all decisions about it need.
type route struct {
	exchange
	hosts     []string // all who would learn what is told
	recipient string   // serving domain of who receives it (sections 3 and 14.1)
	unusable  error    // why the action can have no answer, or nil
}

// route returns the route by which the asks of an action are answered.
func (f *decider) route(action string) route {
	p := f.page
	e := exchange{Serving: p.server.Domain, Owner: f.asker.Domain, Asker: f.asker.Domain, Document: p.url.String(), Site: f.site.Domain(), Action: action}
	err := f.resolve(&e)
	return newRoute(e, err)
}

func newRoute(e exchange, unusable error) route {
	return route{e, e.hosts(), registrable(e.Endpoint), unusable}
}

// resolve finds the owner and the endpoint of an exchange's action.
func (f *decider) resolve(e *exchange) error {
	p := f.page
	act, err := f.site.Interact().Action(e.Action)
	if err != nil {
		return &lookleap.Error{Code: anml.CodeDangling, Subject: p.location(), Err: err}
	}
	if err := act.Executable(); err != nil {
		return &lookleap.Error{Code: anml.CodeTarget, Subject: p.location(), Err: err}
	}
	owner, whose := p.owner(f.site, anmltrust.Interact, f.now)
	if whose == anmltrust.Dropped {
		return &lookleap.Error{Code: CodeTrustUnverified, Subject: p.location(), Err: owner.Err}
	}
	e.Owner = owner.Domain
	to, err := p.endpoint(act, owner)
	e.Endpoint = to.url.Host()
	switch {
	case err != nil:
		return err
	case to.plain: // whatever else may go there (section 13.6)
		return &lookleap.Error{Code: CodeInsecureEndpoint, Subject: p.location()}
	case !hasBody(act.Method()):
		return &lookleap.Error{Code: CodeNoBodyMethod, Subject: p.location()}
	}
	return nil
}

// hosts returns all who would learn what is sent: the host that served the document, the party that
// asks, the owner of the action and the host that receives the request. The user's rules are
// checked for each.
func (e exchange) hosts() []string {
	hosts := make([]string, 0, 4)
	for _, host := range [...]string{e.server(), e.Asker, e.Owner, e.Endpoint} {
		if host != "" && !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	return hosts
}

// server returns the host that served the document.
func (e exchange) server() string {
	u, err := domain.Rules{Schemes: []string{"https", "http"}, AllowIP: true, AllowSpecial: true}.Parse(e.Document)
	if err != nil {
		return e.Serving
	}
	return u.Host()
}

// item is one thing that might be sent: a field that is asked for, an argument, or a text of the
// agent's own.
type item struct {
	kind     disclosureKind
	field    string
	also     []string // other fields whose value it holds
	purposes []string // that the service states for it
	types    []anml.Type
	required bool
	given    *Value      // the host's own value, in place of the profile's
	refuse   anml.Reason // of the host, for this call
	sources  []source    // of a value that it is a part of, see [disclosureBuilder.join]
}

// decide decides about one item. It fetches the value only if the field is not refused without it.
func (f *decider) decide(ctx context.Context, to *route, it item) Decision {
	s := f.page.session
	if over := ended(ctx, ""); over != nil { // nothing is looked up any more
		return Decision{Field: it.field, Owner: f.asker, Verb: VerbRefuse, Code: lookleap.CodeOf(over), Reason: anml.PolicyViolation}
	}
	g := &inputs{
		item: it, owner: f.asker, untrusted: f.untrusted, foreign: f.foreign, version: f.version,
		recognised: s.agent.recognised(it.field),
		inferred:   f.initiated && f.will.inferred,
		prompter:   s.agent.host.Prompter != nil,
		authentic:  s.user.Authenticate != nil,
		judged:     PurposeOK,
	}
	if to.unusable != nil {
		g.unusable = lookleap.CodeOf(to.unusable)
	}
	if it.kind != discloseAnswer {
		g.untrusted, g.foreign = f.closed, f.elsewhere // there is no ask: it goes to the owner of the action
	}
	g.rule = f.rules.rule(it.field)
	for _, field := range it.also {
		g.rule = stricter(g.rule, f.rules.rule(field))
	}
	if g.foreign {
		g.rule.Requires = g.rule.Requires.Stricter(anml.ExplicitConsent)
	}
	g.standing, g.ruled = f.will.standing(to.hosts, it.field, it.also...)
	subject := Subject{Field: it.field, Owner: f.asker.Domain, Recipient: to.Endpoint}
	f.judge(ctx, g, subject)

	var value Value
	if decisionFor(g).Verb != VerbRefuse {
		value, g.missing = f.value(ctx, g, to)
		if g.missing == "" {
			g.category = cmp.Or(g.category, f.category(ctx, g, subject, value))
			g.services = merged(s.sources(to.recipient, value), it.sources)
			f.consents(ctx, g, to, value)
		}
	}
	d := decisionFor(g)
	d.value = value
	d.lasting = g.recognised && g.category == "" && len(g.services) == 0 && g.kind == discloseAnswer && !g.version
	if d.Verb == VerbRefuse {
		return d
	}
	if len(it.also) > 0 {
		d.Warnings = append(d.Warnings, "it holds your "+strings.Join(it.also, " and "))
	}
	if veto(ctx, s, s.user.Policy.Veto, d) != nil {
		d.refuse(CodePolicyVeto, anml.PolicyViolation)
	}
	return d
}

// judge judges the purposes that the service states. Of several purposes the weakest counts.
func (f *decider) judge(ctx context.Context, g *inputs, subject Subject) {
	s := f.page.session
	g.stated = !slices.Contains(g.purposes, "")
	fields := g.also
	if !g.kind.unasked() {
		fields = append(slices.Clone(fields), g.field)
	}
	for _, field := range fields {
		g.category = cmp.Or(g.category, sensitiveCategory(field), s.consents.sensitive(field))
	}
	for _, purpose := range g.purposes {
		if purpose == "" || g.kind.unasked() {
			continue // asked about in any case
		}
		subject.Purpose = purpose
		g.judged = min(g.judged, s.judge(ctx, subject))
		g.category = cmp.Or(g.category, sensitiveCategory(purpose))
	}
}

// value returns the value to send, from the host or the profile, or a code that says why there is
// none.
func (f *decider) value(ctx context.Context, g *inputs, to *route) (Value, lookleap.Code) {
	if g.given != nil {
		if !tellable(g.given.Text) {
			return Value{}, CodeValueType
		}
		return *g.given, typed(g.types, g.given.Text, true)
	}
	q := Question{Field: g.field, Recipient: to.recipient}
	if !g.kind.unasked() {
		q.Purpose = cmp.Or(g.purposes...)
	}
	if len(g.types) > 0 {
		q.Type = g.types[0]
	}
	v, err := f.page.session.valueOf(ctx, q)
	switch {
	case errors.Is(err, ErrNoValue), err == nil && v.Text == "":
		return Value{}, CodeNoValue
	case err != nil:
		return Value{}, lookleap.CodeOf(err)
	case !tellable(v.Text):
		return Value{}, CodeValueType
	}
	return v, typed(g.types, v.Text, false)
}

func (s *Session) valueOf(ctx context.Context, q Question) (Value, error) {
	switch p := s.user.Profile.(type) {
	case Fields: // needs no bound
		return p.Value(ctx, q)
	}
	return plugin.Await(ctx, s.agent.plugins.profile, func(ctx context.Context) (Value, error) { return s.user.Profile.Value(ctx, q) })
}

// maxTold is the size limit of a value or text that is sent, in bytes (section 8.11).
const maxTold = 64 << 10

// tellable reports whether a text can be part of a document: within the size limit, in UTF-8, and
// only with characters that XML allows.
func tellable(text string) bool {
	return len(text) <= maxTold && utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool {
		return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == '\uFFFE' || r == '\uFFFF'
	})
}

// typed checks a value against the types that its asks declare. Number and URI are only advice for
// a value that the host supplies. Booleans and times are never sent in another form (section 8.11).
func typed(types []anml.Type, text string, given bool) lookleap.Code {
	for _, t := range types {
		if given && (t == anml.TypeNumber || t == anml.TypeURI) {
			continue
		}
		if anml.CheckValue(t, text) != nil {
			return CodeValueType
		}
	}
	return ""
}

// category returns the sensitive category that the value or the host's classifier adds, or "".
func (f *decider) category(ctx context.Context, g *inputs, subject Subject, v Value) string {
	subject.Category = v.Category
	for _, known := range [...]string{CategoryHealth, CategoryFinance, CategoryLocation} {
		if strings.EqualFold(v.Category, known) {
			return known
		}
	}
	purposes := g.purposes
	if len(purposes) == 0 {
		purposes = []string{""}
	}
	for _, subject.Purpose = range purposes {
		if c := f.page.session.classify(ctx, subject); c != "" {
			return c
		}
	}
	return ""
}

// consents looks up earlier consents of the user.
func (f *decider) consents(ctx context.Context, g *inputs, to *route, v Value) {
	c := f.page.session.consents
	is := to.cover(&disclosure{Kind: g.kind, Field: g.field, Value: v.Text, Purposes: g.purposes, From: from(g.services)})
	if len(g.services) > 0 {
		g.transfer, g.store = c.find(ctx, keyTransfer, is, g.rule)
	} else if g.recognised && g.category == "" && g.kind == discloseAnswer {
		g.held, g.store = c.find(ctx, keyConsent, is, g.rule)
	}
}

// decide weighs each ask of the document by itself.
func (p *Page) decide(ctx context.Context) []Decision {
	if p.ready() != nil {
		return nil
	}
	var all []Decision
	now := p.session.now()
	for site := range p.doc.Containers() {
		f := p.decider(site, now, false)
		routes := map[string]*route{}
		for a := range site.Knowledge().Asks() {
			to := routes[a.Action()]
			if to == nil {
				r := f.route(a.Action())
				to, routes[a.Action()] = &r, &r
			}
			d := f.decide(ctx, to, item{
				kind: discloseAnswer, field: a.Field(), purposes: []string{a.Purpose()}, types: []anml.Type{a.Type()}, required: a.Required(),
			})
			d.Ask, d.Site = a, site.Domain()
			all = append(all, d)
		}
	}
	return all
}

// siteRules are the requirements of a site's constraints.
type siteRules struct {
	written anml.Rules
	spelled map[string]anml.Rule // the strictest that is declared for any spelling of a field, by its key
}

func (r *siteRules) rule(field string) anml.Rule { return r.tighten(r.written.Rule(field)) }

func (a *Agent) rulesOf(site anml.Site) *siteRules {
	c := site.Constraints()
	all := &siteRules{c.Rules(a.recognised), make(map[string]anml.Rule)}
	for d := range c.Disclosures() {
		key := fieldKey(d.Field())
		r, known := all.spelled[key]
		if !known {
			r.Requires = anml.RequiresNothing
		}
		r.Requires = r.Requires.Stricter(d.Requires())
		validFor, limited := d.ValidFor()
		all.spelled[key] = limit(r, anml.Rule{ValidFor: validFor, Limited: limited})
	}
	return all
}

// tighten makes a rule as strict as those for other spellings of its field. They never replace the
// field's own rule.
func (r *siteRules) tighten(rule anml.Rule) anml.Rule {
	other, ok := r.spelled[fieldKey(rule.Field)]
	if !ok {
		return rule
	}
	if other.Requires.Rank() > anml.RequiresNothing.Rank() && !rule.Declared && rule.Raised == "" {
		rule.Raised = "other-spelling"
	}
	rule.Requires = rule.Requires.Stricter(other.Requires)
	return limit(rule, other)
}

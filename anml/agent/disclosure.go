package agent

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
)

// exchange is who would learn something by a call, and through what: the frame
// of every decision about it.
type exchange struct {
	Serving  string `json:"serving"`  // serving domain of the document
	Owner    string `json:"owner"`    // domain whose action it is
	Endpoint string `json:"endpoint"` // host that receives it
	Document string `json:"document"` // URL of the document
	Site     string `json:"site"`     // domain of the site element, "" in a single-site document
	Action   string `json:"action"`   // id
}

// disclosure is everything that a call would tell about the user, decided and
// with its values: one part of a plan's effect, and so complete by itself.
type disclosure struct {
	Asker string     `json:"asker,omitempty"` // domain whose asks they are
	Tells []tell     `json:"tells,omitempty"` // in the order of the document
	Plain []plainArg `json:"plain,omitempty"` // arguments that say nothing about the user, as far as was known
}

// plainArg is an argument that nobody is asked about. Where it came from is looked
// at again before it is sent.
type plainArg struct {
	Name       string `json:"name"`
	Value      string `json:"value"`
	Provenance string `json:"provenance,omitempty"`
}

// tell is one field, argument or text of a disclosure.
type tell struct {
	Kind       tellKind         `json:"kind"`
	Field      string           `json:"field"`           // or name of the argument
	Means      string           `json:"means,omitempty"` // field that an argument of another name carries
	Also       []string         `json:"also,omitempty"`  // other fields whose value it holds
	Value      string           `json:"value,omitempty"`
	Purposes   []string         `json:"purposes,omitempty"` // that the service states
	Item       string           `json:"item,omitempty"`     // consent item that must be approved; "": none has to
	Basis      anml.ConsentKind `json:"basis,omitempty"`
	Reference  string           `json:"reference,omitempty"`
	Reason     anml.Reason      `json:"reason,omitempty"` // refused
	Code       lookleap.Code    `json:"code,omitempty"`
	Required   bool             `json:"required,omitempty"`
	From       []string         `json:"from,omitempty"`       // other domains that it came from
	Provenance string           `json:"provenance,omitempty"` // as [Value.Provenance]
	Category   string           `json:"category,omitempty"`   // sensitive category
	Granted    time.Time        `json:"granted,omitzero"`
	Lasting    bool             `json:"lasting,omitempty"`      // a consent may be remembered
	Rule       anml.Rule        `json:"rule"`                   // what the document demands
	Shown      time.Time        `json:"authenticated,omitzero"` // when the user was authenticated
}

// tellKind says where a tell stands in what is sent.
type tellKind string

const (
	tellAnswer tellKind = "answer" // of an ask
	tellArg    tellKind = "arg"    // value of a parameter that says something about the user
	tellInform tellKind = "inform" // of the agent
	tellAsk    tellKind = "ask"    // of the agent
)

// unasked reports whether the agent says it of its own accord.
func (k tellKind) unasked() bool { return k == tellInform || k == tellAsk }

// subject is the field that a tell is about.
func (t *tell) subject() string {
	if t.Means != "" {
		return t.Means
	}
	return t.Field
}

func (t *tell) refused() bool { return t.Reason != "" }

// authentic reports whether the user has to be authenticated.
func (t *tell) authentic() bool { return t.Rule.Requires == anml.Authentication }

// decision is the tell as the host's veto sees it right before it is sent.
func (t *tell) decision(e exchange, asker string) Decision {
	d := Decision{
		Field: t.subject(), Owner: Party{Domain: asker, Serving: asker == e.Serving}, Verb: VerbAllow, Code: t.Code,
		Basis: t.Basis, Reference: t.Reference, Rule: t.Rule, Sensitive: t.Category != "", From: t.From,
	}
	if t.Item != "" {
		d.Verb = VerbPrompt
	}
	return d
}

// refuse takes the value back.
func (t *tell) refuse(why lookleap.Code, reason anml.Reason) {
	t.Reason, t.Code, t.Value = reason, why, ""
	t.Item, t.Basis, t.Reference, t.Granted = "", anml.ConsentUnstated, "", time.Time{}
}

// tells reports whether anything of the user's would leave.
func (d *disclosure) tells() bool {
	return d != nil && slices.ContainsFunc(d.Tells, func(t tell) bool { return !t.refused() })
}

// prepareDisclosure decides all that a call tells and fetches the values that
// may be prepared. It asks nobody for consent; where a rule demands it, the user
// is authenticated here, before they are asked (section 16.6). The items are what
// the user has to be asked; what refuses the whole call is an error.
func (p *Page) prepareDisclosure(ctx context.Context, e exchange, act anml.Action, args []anml.Arg, c Call) (*disclosure, []lookleap.ConsentItem, error) {
	site, ok := p.container(e.Site)
	if !ok {
		return nil, nil, p.refusal(lookleap.CodeNotAsked, "the document has no such site")
	}
	r := c.Reply
	if r == nil {
		r = &Reply{}
	}
	asked := merge(asksFor(site, act))
	if err := p.checkReply(r, asked); err != nil {
		return nil, nil, err
	}
	f := p.frame(site, p.session.agent.host.Time(), c.Initiated)
	b := &telling{frame: f, to: f.along(e, nil), d: &disclosure{Asker: f.asker.Domain}}
	if err := b.answers(ctx, asked, r); err != nil {
		return nil, nil, err
	}
	if r.RefuseOthers {
		b.others(site, act, asked)
	}
	err := b.args(ctx, act, args, c)
	if err == nil {
		err = b.ownWords(ctx, r)
	}
	if err == nil {
		err = b.authenticate(ctx)
	}
	if err != nil && b.refusing {
		err = p.session.turnDown(ctx, &effect{Exchange: e}, "", p.session.refusals(e, "", b.d), err)
	}
	if err != nil {
		return nil, nil, err
	}
	return b.d, b.items, nil
}

// container finds the site of a domain, or the single-site document.
func (p *Page) container(name string) (anml.Site, bool) {
	for site := range p.doc.Containers() {
		if site.Domain() == name {
			return site, true
		}
	}
	return anml.Site{}, false
}

func (p *Page) refusal(code lookleap.Code, reason string) error {
	return &Error{Code: code, URL: p.location(), Reason: reason}
}

// merge makes one item of all asks for the same field: one answer serves them
// all, and what any of them states counts.
func merge(asks []anml.Ask) []item {
	var items []item
	for _, a := range asks {
		i := slices.IndexFunc(items, func(it item) bool { return it.field == a.Field() })
		if i < 0 {
			i, items = len(items), append(items, item{kind: tellAnswer, field: a.Field()})
		}
		it := &items[i]
		it.required = it.required || a.Required()
		if !slices.Contains(it.purposes, a.Purpose()) {
			it.purposes = append(it.purposes, a.Purpose())
		}
		if !slices.Contains(it.types, a.Type()) {
			it.types = append(it.types, a.Type())
		}
	}
	return items
}

// checkReply refuses a reply that says anything about a field that the action
// does not ask for, or two things about one (section 11.1).
func (p *Page) checkReply(r *Reply, asked []item) error {
	said := map[string]bool{}
	check := func(field string) error {
		switch {
		case !slices.ContainsFunc(asked, func(it item) bool { return it.field == field }):
			return p.refusal(lookleap.CodeNotAsked, "the action has no ask for the field "+quote(field))
		case said[field]:
			return p.refusal(lookleap.CodeDuplicateAnswer, "the reply says two things about the field "+quote(field))
		}
		said[field] = true
		return nil
	}
	for field := range r.Values {
		if err := check(field); err != nil {
			return err
		}
	}
	for field, reason := range r.Refuse {
		if err := check(field); err != nil {
			return err
		}
		if !reason.Known() {
			return p.refusal(lookleap.CodeUsage, "the draft has no reason "+quote(string(reason)))
		}
	}
	for _, field := range slices.Compact(slices.Sorted(slices.Values(r.Omit))) {
		if err := check(field); err != nil {
			return err
		}
	}
	return nil
}

// refusal is the reason for which the host refuses a field, or another spelling of
// it, which is the same to its user; "" for none.
func (r *Reply) refusal(field string) anml.Reason {
	if reason := r.Refuse[field]; reason != "" {
		return reason
	}
	for _, other := range slices.Sorted(maps.Keys(r.Refuse)) {
		if sameField(other, field) {
			return r.Refuse[other]
		}
	}
	return ""
}

// telling builds a disclosure.
type telling struct {
	frame *frame
	to    route
	d     *disclosure
	items []lookleap.ConsentItem
	count map[tellKind]int
	data  *carried // see holds

	refusing bool // a decision ended the call
}

// holds gives what texts of the host's or a model's are compared with. It is read
// where there are any.
func (b *telling) holds(ctx context.Context) *carried {
	if b.data == nil {
		b.data = b.frame.carried(ctx, b.to.recipient)
	}
	return b.data
}

// answers decides each field that the action asks for. Every one is answered or
// refused, unless the reply leaves an optional one out.
func (b *telling) answers(ctx context.Context, asked []item, r *Reply) error {
	var open []string
	for _, it := range asked {
		if !it.required && slices.Contains(r.Omit, it.field) {
			continue
		}
		if v, ok := r.Values[it.field]; ok {
			it.given, it.also = &v, b.holds(ctx).beside(it.field, v.Text)
		}
		it.refuse = r.refusal(it.field)
		if slices.Contains(r.Omit, it.field) {
			it.refuse = anml.UserDenied // what is required cannot be left out, and never has to be told
		}
		d := b.frame.decide(ctx, &b.to, it)
		if it.given != nil && d.Code == lookleap.CodeValueType {
			return b.frame.page.refusal(d.Code, "the reply's value for "+quote(it.field)+" is not of the type that is asked")
		}
		if d.Verb == VerbDefer {
			if it.required {
				open = append(open, quote(it.field))
			}
			continue
		}
		b.add(it, d, it.field)
	}
	if open != nil {
		return &Error{Code: lookleap.CodeRequiredAskOpen, URL: b.frame.page.location(),
			Reason: "refuse these fields or authorize their transfer first: " + strings.Join(open, ", "), Err: &Error{Code: lookleap.CodeRestrictedContext}}
	}
	return nil
}

// others refuses what other actions of the site require.
func (b *telling) others(site anml.Site, act anml.Action, asked []item) {
	var rest []anml.Ask
	for a := range site.Knowledge().Asks() {
		if a.Required() && a.Action() != act.ID() && !slices.ContainsFunc(asked, func(it item) bool { return it.field == a.Field() }) {
			rest = append(rest, a)
		}
	}
	for _, it := range merge(rest) {
		b.d.Tells = append(b.d.Tells, tell{Kind: tellAnswer, Field: it.field, Purposes: it.purposes, Required: true, Reason: anml.PolicyViolation, Code: lookleap.CodeHostRefused})
	}
}

// args decides each argument that says something about the user: one named like
// a field, one with the value of a field of the profile, and one that a service
// told. The document's own defaults say nothing.
func (b *telling) args(ctx context.Context, act anml.Action, args []anml.Arg, c Call) error {
	for _, a := range args {
		if a.Default || a.Value == "" {
			continue
		}
		v := Value{Text: a.Value, Provenance: c.Provenance[a.Name]}
		if v.Provenance == ProvenanceUser {
			b.frame.page.session.context.Supplied(v.Text)
		}
		it, personal := b.argument(ctx, act, a.Name, v)
		if !personal {
			b.d.Plain = append(b.d.Plain, plainArg{a.Name, a.Value, v.Provenance})
			continue
		}
		d := b.frame.decide(ctx, &b.to, it)
		if d.Verb < VerbPrompt {
			return b.ends(it, d, a.Name, "the argument "+quote(a.Name)+" is not sent")
		}
		b.add(it, d, a.Name)
	}
	return nil
}

// ends is why a call ends because of an item that nobody can go without: it is
// refused, now or until it is authorized by itself.
func (b *telling) ends(it item, d Decision, name, reason string) error {
	if d.Verb == VerbDefer {
		d.refuse(d.Code, anml.PolicyViolation)
	}
	b.refusing = true
	b.add(it, d, name)
	return b.frame.page.refusal(d.Code, reason)
}

// argument is the item of an argument; false where it says nothing about the user,
// and no service told it.
func (b *telling) argument(ctx context.Context, act anml.Action, name string, v Value) (it item, personal bool) {
	field, also := b.means(ctx, name, v.Text)
	if field == "" && len(b.frame.page.session.sources(b.to.recipient, v)) == 0 {
		return item{}, false
	}
	it = item{kind: tellArg, field: cmp.Or(field, name), also: also, given: &v, required: true, purposes: []string{""}}
	for p := range act.Params() {
		if p.Name() == name {
			it.purposes = []string{p.Description()}
		}
	}
	return it, true
}

// said is the item of what the agent says of its own accord.
func (b *telling) said(ctx context.Context, kind tellKind, field string, v Value, purposes []string) item {
	return item{kind: kind, field: field, also: b.holds(ctx).fields(v.Text), given: &v, purposes: purposes}
}

// means tells which field an argument is, "" for none, and which others it holds:
// the one of its name, unless its value is that of others. Where the profile cannot
// be read, every argument counts as one.
func (b *telling) means(ctx context.Context, arg, value string) (field string, also []string) {
	data, name := b.holds(ctx), b.named(arg)
	if name != "" {
		return name, data.beside(name, value)
	}
	switch fields := data.fields(value); {
	case len(fields) > 0:
		return fields[0], fields[1:]
	case data.failed:
		return arg, nil
	}
	return "", nil
}

// named is the field that an argument is called after, in whichever spelling: a
// recognised one, or one that the user has a rule about; "" for none.
func (b *telling) named(arg string) string {
	agent := b.frame.page.session.agent
	if agent.recognised(arg) {
		return arg
	}
	for _, field := range agent.names() {
		if sameField(field, arg) {
			return field
		}
	}
	if b.frame.will.names(arg) {
		return arg
	}
	return ""
}

// ownWords decides what the agent says that nobody asked for: always the user's
// own choice, text by text.
func (b *telling) ownWords(ctx context.Context, r *Reply) error {
	say := func(kind tellKind, field string, v Value, purposes []string) error {
		it := b.said(ctx, kind, field, v, purposes)
		d := b.frame.decide(ctx, &b.to, it)
		if d.Verb < VerbPrompt {
			return b.ends(it, d, field, "what the agent would say of itself is not sent")
		}
		b.add(it, d, field)
		return nil
	}
	for _, told := range r.Informs {
		if strings.TrimSpace(told.Text) == "" {
			return b.frame.page.refusal(lookleap.CodeUsage, "an inform has no text")
		}
		if err := say(tellInform, "inform", Value{Text: told.Text, Provenance: told.Provenance}, nil); err != nil {
			return err
		}
	}
	for _, counter := range r.Asks {
		if counter.Field == "" {
			return b.frame.page.refusal(lookleap.CodeUsage, "an ask of the agent's names no field")
		}
		if !tellable(counter.Field) {
			return b.frame.page.refusal(lookleap.CodeValueType, "an ask of the agent's holds what no document can")
		}
		text := Value{Text: counter.Field + "\n" + counter.Purpose} // both leave, so both are looked at
		if err := say(tellAsk, counter.Field, text, []string{counter.Purpose}); err != nil {
			return err
		}
	}
	return nil
}

// add puts a decided item into the disclosure, and asks about it where the
// decision says so.
func (b *telling) add(it item, d Decision, name string) {
	t := tell{
		Kind: it.kind, Field: name, Also: it.also, Purposes: it.purposes, Required: it.required, Code: d.Code,
		Category: d.category, From: d.From, Provenance: d.value.Provenance, Lasting: d.lasting, Rule: d.Rule,
	}
	if it.field != name {
		t.Means = it.field
	}
	if d.Verb == VerbRefuse {
		t.refuse(d.Code, d.Reason)
		b.d.Tells = append(b.d.Tells, t)
		return
	}
	t.Value, t.Basis, t.Reference = d.value.Text, d.Basis, d.Reference
	if t.Provenance == ProvenanceUser {
		b.frame.page.session.context.Supplied(t.Value)
	}
	switch {
	case d.granted != nil:
		t.Granted = d.granted.Granted
	case d.Verb == VerbAllow:
		t.Granted = d.standing.Since
	default:
		if b.count == nil {
			b.count = map[tellKind]int{}
		}
		b.count[it.kind]++
		t.Item = fmt.Sprintf("%s-%d", it.kind, b.count[it.kind])
		b.items = append(b.items, b.to.item(b.d.Asker, &t, d.Warnings))
	}
	b.d.Tells = append(b.d.Tells, t)
}

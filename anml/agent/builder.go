package agent

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
)

// disclosureBuilder builds what a call tells.
type disclosureBuilder struct {
	*decider
	to          route
	disclosures []disclosure
	items       []lookleap.ConsentItem
	count       map[disclosureKind]int
	profile     *profileValues      // see values
	named       []string            // names of the arguments
	parts       map[string][]string // fields that a text of the host's is a part of, together with others
	from        map[string][]source // sources of what a text of the host's is a part of

	refusing bool // a decision ended the call
}

// values returns the profile's values, to compare texts of the host or a model with. It reads the
// profile when first called.
func (b *disclosureBuilder) values(ctx context.Context) *profileValues {
	if b.profile == nil {
		b.profile = b.profileValues(ctx, b.to.recipient, b.named...)
	}
	return b.profile
}

// answers decides each field that the action asks for. Every field is answered or refused, unless
// the reply omits an optional one.
func (b *disclosureBuilder) answers(ctx context.Context, asked []item, r *Reply) error {
	var open []string
	for _, it := range asked {
		if !it.required && slices.Contains(r.Omit, it.field) {
			continue
		}
		if v, ok := r.Values[it.field]; ok {
			it.given, it.also, it.sources = &v, b.otherFields(ctx, it.field, v.Text), b.from[v.Text]
		}
		it.refuse = r.refusal(it.field)
		if slices.Contains(r.Omit, it.field) {
			it.refuse = anml.UserDenied // what is required cannot be left out, and never has to be told
		}
		d := b.decide(ctx, &b.to, it)
		if it.given != nil && d.Code == CodeValueType {
			return b.page.refusal(d.Code, "the reply's value for "+quote(it.field)+" is not of the type that is asked")
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
		return &lookleap.Error{Code: CodeRequiredAskOpen, Subject: b.page.location(),
			Message: "refuse these fields or authorize their transfer first: " + strings.Join(open, ", "),
			Err:     &lookleap.Error{Code: CodeRestrictedContext}}
	}
	return nil
}

// others refuses the fields that other actions of the site require.
func (b *disclosureBuilder) others(site anml.Site, asked []item) {
	var rest []anml.Ask
	for a := range site.Knowledge().Asks() {
		if a.Required() && !slices.ContainsFunc(asked, func(it item) bool { return it.field == a.Field() }) {
			rest = append(rest, a)
		}
	}
	for _, it := range merge(rest) {
		b.disclosures = append(b.disclosures, disclosure{Kind: discloseAnswer, Field: it.field, Purposes: it.purposes, Required: true,
			Reason: anml.PolicyViolation, Code: CodeHostRefused})
	}
}

// args decides each argument that says something about the user. It does if it is named like a
// field, if its value is that of a field of the profile, or part of one that other texts complete,
// or if it has a source. Default values of the document say nothing about the user.
func (b *disclosureBuilder) args(ctx context.Context, act anml.Action, args []anml.Arg, c Call) error {
	for _, a := range args {
		if a.Default || a.Value == "" {
			continue
		}
		if over := ended(ctx, b.page.location()); over != nil {
			return over
		}
		v := Value{Text: a.Value, Provenance: c.Provenance[a.Name]}
		if v.Provenance == ProvenanceUser {
			b.page.session.context.Supplied(v.Text)
		}
		it, personal := b.argument(ctx, act, a.Name, v)
		if !personal {
			b.disclosures = append(b.disclosures, disclosure{Kind: disclosePlain, Field: a.Name, Value: a.Value, Provenance: v.Provenance})
			continue
		}
		d := b.decide(ctx, &b.to, it)
		if d.Verb < VerbPrompt {
			return b.ends(it, d, a.Name, "the argument "+quote(a.Name)+" is not sent")
		}
		b.add(it, d, a.Name)
	}
	return nil
}

// ends records a refused item that the call cannot do without, and returns the error that ends the
// call.
func (b *disclosureBuilder) ends(it item, d Decision, name, reason string) error {
	d.refuse(d.Code, anml.PolicyViolation) // what was refused before keeps its reason
	b.refusing = true
	b.add(it, d, name)
	return b.page.refusal(d.Code, reason)
}

// argument returns the item of an argument. It returns false if the argument says nothing about the
// user and no service told it. The field that it stands for is that of its name, or else that of
// its value. If the profile cannot be read, every argument counts as a field.
func (b *disclosureBuilder) argument(ctx context.Context, act anml.Action, name string, v Value) (it item, personal bool) {
	field := b.called(ctx, name)
	also := b.otherFields(ctx, field, v.Text)
	switch {
	case field == "" && len(also) > 0:
		field, also = also[0], also[1:]
	case field == "" && b.values(ctx).failed:
		field = name
	}
	if field == "" && len(b.page.session.sources(b.to.recipient, v)) == 0 && b.from[v.Text] == nil {
		return item{}, false
	}
	it = item{kind: discloseArg, field: cmp.Or(field, name), also: also, sources: b.from[v.Text], given: &v,
		required: true, purposes: []string{""}}
	for p := range act.Params() {
		if p.Name() == name {
			it.purposes = []string{p.Description()}
		}
	}
	return it, true
}

// otherFields returns the fields, other than the given one, that a text contains or is a part of.
func (b *disclosureBuilder) otherFields(ctx context.Context, field, text string) []string {
	also := b.values(ctx).fieldsIn(ctx, field, text)
	for _, part := range b.parts[text] {
		if part != field && !slices.Contains(also, part) {
			also = append(also, part)
		}
	}
	return also
}

// join finds what the texts of the host make only together: values of the profile, and what
// services told. It ignores defaults of the document, and compares what the user entered with the
// profile only.
func (b *disclosureBuilder) join(ctx context.Context, args []anml.Arg, c Call, r *Reply) {
	var texts, foreign []string
	add := func(v Value) {
		texts = append(texts, v.Text)
		if v.Provenance != ProvenanceUser {
			foreign = append(foreign, v.Text)
		}
	}
	for _, a := range args {
		if !a.Default {
			b.named = append(b.named, a.Name)
			add(Value{Text: a.Value, Provenance: c.Provenance[a.Name]})
		}
	}
	for _, field := range slices.Sorted(maps.Keys(r.Values)) {
		add(r.Values[field])
	}
	for _, inform := range r.Informs {
		add(inform)
	}
	for _, counter := range r.Asks {
		add(Value{Text: counter.text()})
	}
	if len(texts) < 2 {
		return
	}
	b.parts = b.values(ctx).divided(ctx, texts)
	b.from = b.page.session.context.index.matchJoined(b.to.recipient, foreign)
}

// called returns the field that an argument is named after, in any spelling, or "". That is a field
// that is recognised, that the page asks for, that the profile knows or that the user has a rule
// about, or any name that is sensitive.
func (b *disclosureBuilder) called(ctx context.Context, arg string) string {
	s := b.page.session
	if s.agent.recognised(arg) {
		return arg
	}
	key := fieldKey(arg)
	for _, list := range [...][]string{s.agent.options.Fields, b.page.askedFields()} {
		for _, field := range list {
			if fieldKey(field) == key {
				return field
			}
		}
	}
	if field, ok := b.values(ctx).names[key]; ok {
		return field
	}
	if b.will.names(arg) || s.consents.sensitive(arg) != "" || sensitiveCategory(arg) != "" || secretNames()[key] {
		return arg
	}
	return ""
}

// ownWords decides about what the agent says without being asked. The user chooses for each text.
func (b *disclosureBuilder) ownWords(ctx context.Context, r *Reply) error {
	say := func(kind disclosureKind, field string, v Value, purposes []string) error {
		it := item{kind: kind, field: field, also: b.otherFields(ctx, "", v.Text), sources: b.from[v.Text], given: &v, purposes: purposes}
		d := b.decide(ctx, &b.to, it)
		if d.Verb < VerbPrompt {
			return b.ends(it, d, field, "what the agent would say of itself is not sent")
		}
		b.add(it, d, field)
		return nil
	}
	for _, told := range r.Informs {
		if strings.TrimSpace(told.Text) == "" {
			return b.page.refusal(lookleap.CodeUsage, "an inform has no text")
		}
		if err := say(discloseInform, "inform", told, nil); err != nil {
			return err
		}
	}
	for _, counter := range r.Asks {
		if counter.Field == "" || counter.Purpose == "" {
			return b.page.refusal(lookleap.CodeUsage, "an ask of the agent's names no field or no purpose")
		}
		if !tellable(counter.Field) {
			return b.page.refusal(CodeValueType, "an ask of the agent's holds what no document can")
		}
		if err := say(discloseAsk, counter.Field, Value{Text: counter.text()}, []string{counter.Purpose}); err != nil {
			return err
		}
	}
	return nil
}

// add adds a decided item to the disclosure, and to the questions for the user if the decision
// requires it.
func (b *disclosureBuilder) add(it item, d Decision, name string) {
	t := disclosure{
		Kind: it.kind, Field: name, Also: it.also, Purposes: it.purposes, Required: it.required, Code: d.Code,
		Category: d.category, From: d.From, Unsure: d.unsure, Provenance: d.value.Provenance, Lasting: d.lasting, Rule: d.Rule,
	}
	if it.field != name {
		t.Means = it.field
	}
	if d.Verb == VerbRefuse {
		t.refuse(d.Code, d.Reason)
		b.disclosures = append(b.disclosures, t)
		return
	}
	t.Value, t.Basis, t.Reference = d.value.Text, d.Basis, d.Reference
	if t.Provenance == ProvenanceUser {
		b.page.session.context.Supplied(t.Value)
	}
	switch {
	case d.granted != nil:
		t.Granted = d.granted.Granted
	case d.Verb == VerbAllow:
		t.Granted = d.standing.Since
	default:
		if b.count == nil {
			b.count = map[disclosureKind]int{}
		}
		b.count[it.kind]++
		t.Item = fmt.Sprintf("%s-%d", it.kind, b.count[it.kind])
		b.items = append(b.items, b.to.item(&t, d.Warnings))
	}
	b.disclosures = append(b.disclosures, t)
}

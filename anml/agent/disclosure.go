package agent

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/internal/coded"
)

// exchange says who would learn something through a call, and at which endpoint.
type exchange struct {
	Serving  string `json:"serving"`  // serving domain of the document
	Owner    string `json:"owner"`    // domain whose action it is
	Asker    string `json:"asker"`    // domain whose asks are answered
	Endpoint string `json:"endpoint"` // host that receives it
	Document string `json:"document"` // URL of the document
	Site     string `json:"site"`     // domain of the site element, "" in a single-site document
	Action   string `json:"action"`   // id
}

func (e exchange) location() string { return withoutQuery(e.Document) }

// disclosure is one field, argument or text that a call sends, with the decision about it.
type disclosure struct {
	Kind       disclosureKind   `json:"kind"`
	Field      string           `json:"field"`           // or name of the argument
	Means      string           `json:"means,omitempty"` // field that an argument of another name carries
	Also       []string         `json:"also,omitempty"`  // other fields whose value it holds
	Value      string           `json:"value,omitempty"`
	Purposes   []string         `json:"purposes,omitempty"` // that the service states
	Item       string           `json:"item,omitempty"`     // consent item that must be approved, or ""
	Basis      anml.ConsentKind `json:"basis,omitempty"`
	Reference  string           `json:"reference,omitempty"`
	Reason     anml.Reason      `json:"reason,omitempty"` // refused
	Code       lookleap.Code    `json:"code,omitempty"`
	Required   bool             `json:"required,omitempty"`
	From       []string         `json:"from,omitempty"`       // other domains that it came from
	Unsure     bool             `json:"unsure,omitempty"`     // of From it is only known that the session has read them
	Provenance string           `json:"provenance,omitempty"` // as [Value.Provenance]
	Category   string           `json:"category,omitempty"`   // sensitive category
	Granted    time.Time        `json:"granted,omitzero"`
	Lasting    bool             `json:"lasting,omitempty"`      // a consent may be remembered
	Rule       anml.Rule        `json:"rule"`                   // what the document demands
	Shown      time.Time        `json:"authenticated,omitzero"` // when the user was authenticated
}

type disclosureKind string

const (
	discloseAnswer disclosureKind = "answer" // of an ask
	discloseArg    disclosureKind = "arg"    // value of a parameter that says something about the user
	disclosePlain  disclosureKind = "plain"  // any other value of a parameter: no one is asked, and its origin is checked again
	discloseInform disclosureKind = "inform" // of the agent
	discloseAsk    disclosureKind = "ask"    // of the agent
)

// unasked reports whether the agent says it without being asked.
func (k disclosureKind) unasked() bool { return k == discloseInform || k == discloseAsk }

// subject returns the field that a disclosure is about.
func (t *disclosure) subject() string { return cmp.Or(t.Means, t.Field) }

// fields returns the fields that a disclosure is about, and those whose value it holds.
func (t *disclosure) fields() []string { return append([]string{t.subject()}, t.Also...) }

func (t *disclosure) refused() bool { return t.Reason != "" }

// authentic reports whether the user has to be authenticated.
func (t *disclosure) authentic() bool { return t.Rule.Requires == anml.Authentication }

// decision returns the disclosure in the form that the host's veto sees right before it is sent.
func (t *disclosure) decision(e exchange) Decision {
	d := Decision{
		Field: t.subject(), Owner: Party{Domain: e.Asker, Serving: e.Asker == e.Serving}, Verb: VerbAllow, Code: t.Code,
		Basis: t.Basis, Reference: t.Reference, Rule: t.Rule, Sensitive: t.Category != "", From: t.From,
	}
	if t.Item != "" {
		d.Verb = VerbPrompt
	}
	return d
}

// refuse removes the value.
func (t *disclosure) refuse(why lookleap.Code, reason anml.Reason) {
	t.Reason, t.Code, t.Value = reason, why, ""
	t.Item, t.Basis, t.Reference, t.Granted = "", anml.ConsentUnstated, "", time.Time{}
}

// withheld returns a copy of disclosures in which everything is refused for one reason. Earlier refusals
// keep their own.
func withheld(disclosures []disclosure, why lookleap.Code, reason anml.Reason) (all []disclosure) {
	for _, t := range disclosures {
		if !t.refused() && t.Kind != disclosePlain {
			t.refuse(why, reason)
		}
		all = append(all, t)
	}
	return all
}

// disclose decides everything that a call sends, and fetches the values that may be sent. It does
// not ask for consent. If a rule requires it, it authenticates the user before they are asked
// (section 16.6). It returns the items that the user has to agree to, and an error if the whole call
// is refused.
func (f *decider) disclose(ctx context.Context, e exchange, asked []item, act anml.Action, args []anml.Arg,
	c Call) ([]disclosure, []lookleap.ConsentItem, error) {
	r, location := c.reply(), f.page.location()
	b := &disclosureBuilder{decider: f, to: newRoute(e, nil)}
	b.join(ctx, args, c, r)
	if err := b.answers(ctx, asked, r); err != nil {
		return nil, nil, err
	}
	if r.RefuseOthers {
		b.others(f.site, asked)
	}
	err := b.args(ctx, act, args, c)
	if err == nil {
		err = b.ownWords(ctx, r)
	}
	if err == nil {
		err = b.authenticate(ctx)
	}
	if over := ended(ctx, location); over != nil {
		return nil, nil, over // what was refused for that is not a refusal of the user's
	}
	if b.refusing {
		err = f.page.session.recordRefusal(ctx, e, "", b.disclosures, err)
	}
	if err != nil {
		return nil, nil, err
	}
	return b.disclosures, b.items, nil
}

// container returns the site of a domain, or the single-site document.
func (p *Page) container(name string) (anml.Site, bool) {
	for site := range p.doc.Containers() {
		if site.Domain() == name {
			return site, true
		}
	}
	return anml.Site{}, false
}

func (p *Page) refusal(code lookleap.Code, reason string) error {
	return &lookleap.Error{Code: code, Subject: p.location(), Message: reason}
}

// merge combines all asks for the same field into one item: one answer serves them all.
func merge(asks []anml.Ask) []item {
	var items []item
	places := make(map[string]int, len(asks)) // in items, by field
	stated := make(map[[2]string]bool, len(asks))
	for _, a := range asks {
		i, known := places[a.Field()]
		if !known {
			i, items = len(items), append(items, item{kind: discloseAnswer, field: a.Field()})
			places[a.Field()] = i
		}
		it := &items[i]
		it.required = it.required || a.Required()
		if said := [2]string{a.Field(), a.Purpose()}; !stated[said] {
			stated[said] = true
			it.purposes = append(it.purposes, a.Purpose())
		}
		if !slices.Contains(it.types, a.Type()) {
			it.types = append(it.types, a.Type())
		}
	}
	return items
}

// checkReply refuses a reply about a field that the action does not ask for, or with two statements
// about one field (section 11.1).
func (p *Page) checkReply(r *Reply, asked []item) error {
	said, known := map[string]bool{}, make(map[string]bool, len(asked))
	for _, it := range asked {
		known[it.field] = true
	}
	omitted := slices.Compact(slices.Sorted(slices.Values(r.Omit)))
	for _, field := range slices.Concat(slices.Collect(maps.Keys(r.Values)), slices.Collect(maps.Keys(r.Refuse)), omitted) {
		switch {
		case !known[field]:
			return p.refusal(CodeNotAsked, "the action has no ask for the field "+quote(field))
		case said[field]:
			return p.refusal(CodeDuplicateAnswer, "the reply says two things about the field "+quote(field))
		}
		said[field] = true
	}
	for _, reason := range r.Refuse {
		if !reason.Known() {
			return p.refusal(lookleap.CodeUsage, "the draft has no reason "+quote(string(reason)))
		}
	}
	return nil
}

// refusal returns the reason for which the host refuses a field in any spelling, or "".
func (r *Reply) refusal(field string) anml.Reason {
	if reason := r.Refuse[field]; reason != "" {
		return reason
	}
	for _, other := range slices.Sorted(maps.Keys(r.Refuse)) {
		if fieldKey(other) == fieldKey(field) {
			return r.Refuse[other]
		}
	}
	return ""
}

// fit checks that a call fits one of the two ways to execute an action, and returns its arguments. If
// something is answered or told, an ANML document is sent. Otherwise its arguments are sent in the
// encoding that it names (sections 9.3 and 11.1).
func (s *actionRequest) fit(act anml.Action, asks []anml.Ask, c Call) (args []anml.Arg, err error) {
	s.Response, err = answers(act, asks, c)
	switch {
	case err != nil || s.Response:
		return nil, err
	case len(c.Args) > 0 && len(c.ArgsJSON) > 0:
		return nil, errBothArgs
	case len(c.ArgsJSON) > 0:
		return act.ArgsJSON(c.ArgsJSON)
	}
	return act.Args(c.Args)
}

// encode builds the request of an action that answers no ask.
func (s *actionRequest) encode(act anml.Action, args []anml.Arg) error {
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

// asksByAction returns the asks of a container, keyed by the action that they point to.
func asksByAction(site anml.Site) map[string][]anml.Ask {
	asks := make(map[string][]anml.Ask)
	for ask := range site.Knowledge().Asks() {
		asks[ask.Action()] = append(asks[ask.Action()], ask)
	}
	return asks
}

// answers reports whether a call sends an agent response: there is something to answer or to tell,
// and the method has a body. It returns an error if the action cannot be executed that way. A
// response takes no arguments, and every required parameter needs an ask of the same name. A request
// without one carries no answers.
func answers(act anml.Action, asks []anml.Ask, c Call) (bool, error) {
	r := c.reply()
	if !hasBody(act.Method()) || len(r.Informs)+len(r.Asks) == 0 && !slices.ContainsFunc(asks, func(ask anml.Ask) bool {
		return ask.Required() || !slices.Contains(r.Omit, ask.Field())
	}) {
		if len(r.Values)+len(r.Refuse)+len(r.Informs)+len(r.Asks) > 0 || slices.ContainsFunc(asks, anml.Ask.Required) {
			return false, errNoBody
		}
		return false, nil
	}
	if len(c.Args) > 0 || !emptyArgs(c.ArgsJSON) {
		return true, errArgsAndReply
	}
	asked := make(map[string]bool, len(asks))
	for _, ask := range asks {
		asked[ask.Field()] = true
	}
	for param := range act.Params() {
		if param.Required() && !asked[param.Name()] {
			return true, fmt.Errorf("%w: %s, which no ask stands for", anml.ErrParamMissing, quote(param.Name()))
		}
	}
	return true, nil
}

// hasBody reports whether a method can carry answers. Answers never enter a URL.
func hasBody(method string) bool {
	return method == http.MethodPost || method == http.MethodPut || method == http.MethodPatch
}

// Why a call's arguments fit no way of executing its action.
var (
	errBothArgs     = coded.New("usage", "both Args and ArgsJSON are given")
	errArgsAndReply = coded.New("usage", "an action that is answered takes no arguments: put the values into the Reply")
	errNoBody       = coded.New("no-body-method", "the action's method has no body, and answers never enter a URL")
)

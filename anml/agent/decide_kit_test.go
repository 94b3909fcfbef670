package agent

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/internal/lab"
	"github.com/lookleap/lookleap/internal/lab/labprompt"
)

// booking is a document with one action that everything is asked for.
func booking(constraints, asks string) string {
	if constraints != "" {
		constraints = "<constraints>" + constraints + "</constraints>"
	}
	return `<head><title>Shop</title></head>` + constraints +
		`<interact><action id="book" method="POST" endpoint="/book"><param name="q"/><param name="email"/></action>` +
		`<action id="other" method="POST" endpoint="/other"/><action id="find" method="GET" endpoint="/find"><param name="q" description="what to look for"/><param name="email" description="where to write to"/></action></interact>` +
		`<knowledge>` + asks + `</knowledge>`
}

// rule and askFor are a disclosure rule and an ask.
func rule(field, requires string) string {
	return `<disclosure field="` + field + `" requires="` + requires + `"/>`
}

func askFor(field string, more ...string) string {
	attrs := strings.Join(more, " ")
	if !strings.Contains(attrs, "purpose=") {
		attrs += ` purpose="to send the ticket"`
	}
	if !strings.Contains(attrs, "action=") {
		attrs += ` action="book"`
	}
	return `<ask field="` + field + `" ` + attrs + `/>`
}

// ann is a user with some data.
var ann = Fields{
	"email": {Text: "ann@example.org"}, "tel": {Text: "+49 30 123456"}, "fn": {Text: "Ann Example"}, "lang": {Text: "de"},
	"bday": {Text: "1990-02-28"}, "acme:tier": {Text: "gold"}, "ssn": {Text: "078-05-1120"}, "diagnosis": {Text: "hay fever"},
}

// stand is where a test of decisions takes place.
type stand struct {
	*testing.T
	net  *lab.Internet
	user User
	opts Options
	ask  *labprompt.Prompter // nil: no one can be asked
	s    *Session
}

// newStand makes a stand whose user answers by a script; without replies, no one can be
// asked.
func newStand(t *testing.T, replies ...labprompt.Reply) *stand {
	st := &stand{T: t, net: newLab(t), user: User{Profile: ann, Policy: &UserPolicy{}}}
	if replies != nil {
		st.ask = labprompt.New(t, replies...)
	}
	return st
}

// asker is a user who can be asked where no question is expected.
func asker(t *testing.T) *stand { return newStand(t, labprompt.Deny()) }

func (st *stand) session() *Session {
	st.Helper()
	if st.s == nil {
		host := st.net.Host()
		if st.ask != nil {
			host.Prompter = st.ask
		}
		s, err := New(host, st.opts).NewSession(st.user)
		if err != nil {
			st.Fatal(err)
		}
		st.Cleanup(func() { _ = s.Close() })
		st.s = s
	}
	return st.s
}

func (st *stand) page(sections string) *Page {
	st.Helper()
	return pageFor(st, st.net, st.session(), "https://shop.example/a", sections)
}

func (st *stand) allow(field, domain string) *stand {
	st.Helper()
	if err := st.user.Policy.Set(StandingRule{Field: field, Domain: domain, Effect: EffectAllow, Since: start.Add(-time.Hour)}); err != nil {
		st.Fatal(err)
	}
	return st
}

// one returns the only decision of a document.
func (st *stand) one(sections string) Decision {
	st.Helper()
	all := st.page(sections).Decide(st.Context())
	if len(all) != 1 {
		st.Fatalf("%d decisions", len(all))
	}
	return all[0]
}

// brief is a decision in a few words.
func brief(d Decision) string {
	words := []string{d.Verb.String(), string(d.Code)}
	if d.Reason != "" {
		words = append(words, string(d.Reason))
	}
	if d.Verb == VerbAllow {
		words = append(words, d.Basis.String())
	}
	return strings.Join(words, " ")
}

func (st *stand) decides(sections, want string) {
	st.Helper()
	if got := brief(st.one(sections)); got != want {
		st.Errorf("got %s, want %s", got, want)
	}
}

// prepared is a call with its disclosure, not yet sent.
type prepared struct {
	st    *stand
	p     *Page
	e     exchange
	d     *disclosure
	items []lookleap.ConsentItem
}

func (st *stand) prepare(p *Page, c Call) (*prepared, error) {
	st.Helper()
	if c.Action == "" {
		c.Action = "book"
	}
	site, _ := p.container(c.Site)
	act, err := site.Interact().Action(c.Action)
	if err != nil {
		st.Fatal(err)
	}
	to := p.frame(site, p.session.agent.host.Time(), false).route(c.Action)
	if to.unusable != nil && (len(c.Args) == 0 || lookleap.CodeOf(to.unusable) != CodeNoBodyMethod) {
		st.Fatal(to.unusable)
	}
	e := to.exchange
	var args []anml.Arg
	if len(c.Args) > 0 {
		if args, err = act.Args(c.Args); err != nil {
			st.Fatal(err)
		}
		// What is asked besides is left out: arguments and answers go different ways.
		r := Reply{}
		if c.Reply != nil {
			r = *c.Reply
		}
		for a := range site.Knowledge().Asks() {
			if a.Action() == act.ID() && !slices.Contains(r.Omit, a.Field()) {
				r.Omit = append(r.Omit, a.Field())
			}
		}
		c.Reply = &r
	}
	d, items, err := p.prepareDisclosure(st.Context(), e, act, args, c)
	return &prepared{st, p, e, d, items}, err
}

func (st *stand) prepares(p *Page, c Call) *prepared {
	st.Helper()
	x, err := st.prepare(p, c)
	if err != nil {
		st.Fatal(err)
	}
	return x
}

func all(string) bool  { return true }
func none(string) bool { return false }

// settle sends what was prepared, as far as a test can see: the response in XML
// and the ledger's entries.
func (x *prepared) settle(approved func(string) bool, until time.Time) (string, []Entry, error) {
	x.st.Helper()
	d, entries, err := x.p.session.settle(x.st.Context(), "plan", x.e, x.d, approved, until, x.st.net.Clock().Now())
	if err != nil {
		return "", nil, err
	}
	doc, err := d.response(x.e)
	if err != nil {
		x.st.Fatal(err)
	}
	if doc == nil {
		return "", entries, nil
	}
	data, err := anml.MarshalXML(doc, anml.WriteOptions{})
	if err != nil {
		x.st.Fatal(err)
	}
	return string(data), entries, nil
}

func (x *prepared) settles(approved func(string) bool) (string, []Entry) {
	x.st.Helper()
	text, entries, err := x.settle(approved, time.Time{})
	if err != nil {
		x.st.Fatal(err)
	}
	return text, entries
}

// sends settles and wants each text in the response, or not where it begins with
// "!".
func (x *prepared) sends(approved func(string) bool, want ...string) []Entry {
	x.st.Helper()
	text, entries := x.settles(approved)
	for _, w := range want {
		if not, ok := strings.CutPrefix(w, "!"); ok && strings.Contains(text, not) || !ok && !strings.Contains(text, w) {
			x.st.Errorf("the response has to have %q: %s", w, text)
		}
	}
	return entries
}

func hasCode(t testing.TB, err error, code lookleap.Code) {
	t.Helper()
	if lookleap.CodeOf(err) != code {
		t.Errorf("got %v, want the code %s", err, code)
	}
}

// judged is a purpose judge that says one thing.
func judged(v PurposeVerdict) func(context.Context, Subject) (PurposeVerdict, error) {
	return func(context.Context, Subject) (PurposeVerdict, error) { return v, nil }
}

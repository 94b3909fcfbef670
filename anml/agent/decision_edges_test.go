package agent

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
)

// TestEdgesOfDecisions shows the rules of deciding at the places where two inputs
// meet: each line of them changes one decision.
func TestEdgesOfDecisions(t *testing.T) {
	t.Run("ANML-13.6-03/reject-why-it-is-closed", func(t *testing.T) {
		st := asker(t)
		p := st.page(booking("", askFor("email")))
		p.opened.insecure = true
		equals(t, brief(p.Decide(t.Context())[0]), "refuse insecure-transport trust-insufficient")
	})
	t.Run("ANML-13.12-03/reject-plain-endpoint", func(t *testing.T) {
		doc := `<head><title>x</title></head><interact><action id="book" method="GET" endpoint="http://shop.example/x"/></interact><knowledge>` + askFor("email") + `</knowledge>`
		asker(t).allow("email", "*").decides(doc, "refuse insecure-endpoint policy-violation")
	})
	both := Call{Reply: &Reply{Values: map[string]Value{"email": {Text: "ann@example.org, +49 30 123456"}}}}
	for name, c := range map[string]struct {
		rules string
		want  lookleap.Code
	}{
		"accept-one-without-a-rule":    {rule("email", "none"), CodeUserRule},
		"reject-one-with-a-lost-rule":  {`<disclosure field="tel"/>`, CodeExplicitConsent},
		"reject-one-with-another-rule": {rule("email", "none") + rule("tel", "explicit-consent"), CodeExplicitConsent},
	} {
		t.Run("ANML-13.2-02/"+name, func(t *testing.T) {
			st := asker(t).allow("email", "*").allow("tel", "*")
			if x := st.prepares(st.page(booking(c.rules, askFor("email"))), both); x.e.Disclosures[0].Code != c.want || !slices.Equal(x.e.Disclosures[0].Also, []string{"tel"}) {
				t.Errorf("%+v", x.e.Disclosures[0])
			}
		})
	}
	t.Run("ANML-14.3-04/reject-weaker-purpose-first", func(t *testing.T) {
		st := asker(t).allow("email", "*")
		x := st.prepares(st.page(booking(rule("email", "none"), askFor("email", `purpose="data"`)+askFor("email"))), Call{})
		equals(t, x.e.Disclosures[0].Code, CodePurposeVague)
	})
	t.Run("ANML-14.2-04", func(t *testing.T) {
		t.Run("reject-category-in-another-case", func(t *testing.T) {
			st := asker(t).allow("tel", "*")
			st.user.Profile = Fields{"tel": {Text: "1", Category: "Health"}}
			equals(t, brief(st.one(booking(rule("tel", "none"), askFor("tel")))), "prompt sensitive")
		})
		t.Run("reject-second-purpose", func(t *testing.T) {
			st := asker(t).allow("tel", "*")
			st.user.Policy.Classify = func(_ context.Context, s Subject) (string, error) {
				if s.Purpose == "for the doctor" {
					return CategoryHealth, nil
				}
				return "", nil
			}
			x := st.prepares(st.page(booking(rule("tel", "none"), askFor("tel")+askFor("tel", `purpose="for the doctor"`))), Call{})
			equals(t, x.e.Disclosures[0].Code, CodeSensitive)
			equals(t, x.e.Disclosures[0].Category, CategoryHealth)
		})
		t.Run("reject-field-told-beside-it", func(t *testing.T) { // the category sticks to it too
			st := asker(t).allow("tel", "*")
			p := st.page(booking("", askFor("email", `purpose="health intake"`)))
			st.prepares(p, both).sends(all, `value="ann@example.org, +49 30 123456"`)
			st.decides(booking(rule("tel", "none"), askFor("tel")), "prompt sensitive")
		})
	})
	t.Run("ANML-14.1-01/reject-what-no-document-holds", func(t *testing.T) {
		for text, ok := range map[string]bool{
			strings.Repeat("x", maxTold): true, strings.Repeat("x", maxTold+1): false, "a\ufffeb": false, "a\uffffb": false, "a\ufffdb": true, "a\x01b": false, "a\tb": true,
		} {
			equals(t, tellable(text), ok)
		}
	})
	t.Run("ANML-13.2-06/reject-second-type", func(t *testing.T) {
		st := asker(t).allow("tel", "*")
		st.user.Profile = Fields{"tel": {Text: "030"}}
		x := st.prepares(st.page(booking("", askFor("tel")+askFor("tel", `type="boolean"`))), Call{})
		equals(t, x.e.Disclosures[0].Code, CodeValueType)
	})
}

// TestEdgesOfReplies shows what a reply and its arguments may leave out or say.
func TestEdgesOfReplies(t *testing.T) {
	t.Run("ANML-11.1-06/reject-left-out-where-one-ask-requires-it", func(t *testing.T) {
		st := asker(t)
		st.prepares(st.page(booking("", askFor("email", `required="true"`)+askFor("email"))), Call{Reply: &Reply{Omit: []string{"email"}}}).
			sends(all, `<refuse field="email" reason="user-denied"`)
	})
	t.Run("ANML-11.1-06/accept-others-required-alone", func(t *testing.T) {
		st := asker(t)
		doc := booking("", askFor("email")+askFor("tel", `action="other" required="true"`)+askFor("fn", `action="other"`)+askFor("email", `action="other" required="true"`))
		st.prepares(st.page(doc), Call{Reply: &Reply{RefuseOthers: true}}).sends(all, `<refuse field="tel"`, `!field="fn"`, `!<refuse field="email"`)
	})
	t.Run("ANML-11.1-02/reject-unknown-reason", func(t *testing.T) {
		st := asker(t)
		hasCode(t, second(st.prepare(st.page(booking("", askFor("email"))), Call{Reply: &Reply{Refuse: map[string]anml.Reason{"email": "because"}}})), lookleap.CodeUsage)
	})
	t.Run("ANML-9.3-03/accept-empty-argument", func(t *testing.T) {
		st := asker(t)
		if x := st.prepares(st.page(booking("", "")), Call{Action: "find", Args: map[string]string{"email": ""}}); len(x.items) != 0 || x.e.discloses() {
			t.Errorf("%+v", x.items)
		}
	})
	t.Run("ANML-11.1-01/reject-inform-of-blanks", func(t *testing.T) {
		st := asker(t)
		hasCode(t, second(st.prepare(st.page(booking("", "")), Call{Reply: &Reply{Informs: []Value{{Text: " \n"}}}})), lookleap.CodeUsage)
	})
	t.Run("ANML-14.1-01/reject-data-in-the-field-of-a-counter-ask", func(t *testing.T) {
		st := asker(t)
		must(t, st.user.Policy.Set(StandingRule{Field: "email", Domain: "*"}))
		hasCode(t, second(st.prepare(st.page(booking("", "")), Call{Reply: &Reply{Asks: []Counter{{Field: "write to ann@example.org", Purpose: "to know"}}}})), CodeUserRule)
	})
	t.Run("ANML-14.1-08/accept-answered-by-the-user-before", func(t *testing.T) {
		st := asker(t)
		st.user.Profile = Fields{"email": {Text: annsEmail, Provenance: ProvenanceUser}}
		st.prepares(st.page(booking("", askFor("email"))), Call{})
		pageFor(t, st.net, st.s, "https://a.example/a", `<knowledge><inform>You are `+annsEmail+`</inform></knowledge>`)
		if found := st.s.sources("shop.example", Value{Text: annsEmail}); len(found) != 0 {
			t.Errorf("it is said to come from %+v", found)
		}
	})
}

// TestEdgesOfConsents shows what is kept of consents, and for how long they count.
func TestEdgesOfConsents(t *testing.T) {
	hour := start.Add(time.Hour)
	kept := func(t *testing.T, x *prepared, until time.Time) int {
		t.Helper()
		must(t, third(x.settle(all, until)))
		keys, err := x.p.session.consents.store.Keys(t.Context(), keyConsent)
		must(t, err)
		return len(keys)
	}
	doc := booking(rule("email", "explicit-consent"), askFor("email"))
	t.Run("ANML-16.6-04/accept-kept", func(t *testing.T) {
		st := asker(t)
		equals(t, kept(t, st.prepares(st.page(doc), Call{}), hour), 1)
		st.net.Clock().Advance(time.Hour)
		if list, err := st.s.Consents(t.Context()); err != nil || len(list) != 0 {
			t.Error("what has ended is in force", list, err)
		}
	})
	t.Run("ANML-16.6-04/reject-kept", func(t *testing.T) {
		now := asker(t)
		equals(t, kept(t, now.prepares(now.page(doc), Call{}), start), 0)
		other := asker(t)
		x := other.prepares(other.page(strings.Replace(service(doc), `1.0" role`, `2.0" role`, 1)), Call{})
		equals(t, kept(t, x, hour), 0)
		words := asker(t)
		equals(t, kept(t, words.prepares(words.page(booking("", "")), Call{Reply: &Reply{Informs: []Value{{Text: "hello"}}}}), hour), 0)
		arg := asker(t)
		equals(t, kept(t, arg.prepares(arg.page(booking("", "")), Call{Action: "find", Args: map[string]string{"email": annsEmail}}), hour), 0)
		crossed := asker(t)
		pageFor(t, crossed.net, crossed.session(), "https://a.example/a", `<knowledge><inform>You are `+annsEmail+`</inform></knowledge>`)
		equals(t, kept(t, crossed.prepares(crossed.page(doc), Call{}), hour), 0)
	})
	t.Run("ANML-14.2-01/reject-other-cover", func(t *testing.T) {
		base := cover{discloseAnswer, "s", "o", "e", "f", "v", []string{"p"}, []string{"x"}}
		given := asker(t).session().consents
		must(t, given.remember(t.Context(), keyTransfer, base.consent("1", start, hour)))
		for name, other := range map[string]func(*cover){
			"kind": func(c *cover) { c.Kind = discloseArg }, "serving": func(c *cover) { c.Serving = "t" }, "owner": func(c *cover) { c.Owner = "p" }, "endpoint": func(c *cover) { c.Endpoint = "g" },
			"field": func(c *cover) { c.Field = "F" }, "value": func(c *cover) { c.Value = "w" }, "purposes": func(c *cover) { c.Purposes = []string{"q"} }, "from": func(c *cover) { c.From = nil },
		} {
			c := base
			if other(&c); c.digest() == base.digest() {
				t.Errorf("a consent is not about its %s", name)
			}
			if held, err := given.find(t.Context(), keyTransfer, c, anml.Rule{}); held != nil || err != nil {
				t.Errorf("with another %s: %+v, %v", name, held, err)
			}
		}
		if held, err := given.find(t.Context(), keyTransfer, base, anml.Rule{}); held == nil || err != nil {
			t.Errorf("%+v, %v", held, err)
		}
		e, told := exchange{Serving: "s", Asker: "o", Endpoint: "e"}, disclosure{Kind: discloseAnswer, Field: "f", Value: "v", Purposes: []string{"p"}, From: []string{"x"}}
		equals(t, e.cover(&told).digest(), base.digest())
	})
	t.Run("ANML-14.2-05/accept-authorizations-of-a-source", func(t *testing.T) {
		st := asker(t)
		c := st.session().consents
		must(t, c.remember(t.Context(), keyTransfer, cover{Kind: discloseAnswer, Serving: "b.example", Owner: "b.example", Endpoint: "b.example", Field: "member", From: []string{"a.example"}}.consent("1", start, hour)))
		if n, err := c.forget(t.Context(), "a.example"); n != 1 || err != nil {
			t.Error(n, err)
		}
	})
	t.Run("ANML-16.6-03/reject-asked-about-since", func(t *testing.T) {
		st := asker(t)
		st.user.Policy.InferConsentFromInitiation(true)
		x := st.prepares(st.page(booking(rule("email", "implicit-consent"), askFor("email"))), Call{Initiated: true})
		must(t, st.user.Policy.Set(StandingRule{Field: "email", Domain: "*", Effect: EffectAsk}))
		x.sends(all, "<refuse", "!"+annsEmail)
	})
	t.Run("ANML-16.6-05", func(t *testing.T) {
		shown := 0
		st := asker(t)
		st.user.Authenticate = func(context.Context, string) error { shown++; return nil }
		x := st.prepares(st.page(booking(rule("email", "authentication"), askFor("email"))), Call{})
		for _, c := range []struct {
			name string
			at   time.Duration
			want int
		}{{"accept-just-in-time", 5 * time.Minute, 1}, {"reject-too-late", 5*time.Minute + 1, 2}, {"reject-before-it-was-shown", -1, 3}} {
			t.Run(c.name, func(t *testing.T) {
				if _, err := x.p.session.recheck(t.Context(), x.e, "plan", all, time.Time{}, start.Add(c.at)); err != nil || shown != c.want {
					t.Errorf("shown %d times, %v", shown, err)
				}
			})
		}
	})
	t.Run("ANML-14.4-02/reject-use-of-what-is-not-stored", func(t *testing.T) {
		st := asker(t)
		p := st.page(`<head><title>x</title></head><body usage="train">x</body>`)
		equals(t, p.usage(p.doc.Site, anmltrust.Body, p.doc.Site.Body().Node, start), anml.UsageTrain)
		p.opened.noStore = true
		equals(t, p.usage(p.doc.Site, anmltrust.Body, p.doc.Site.Body().Node, start), anml.UsageNone)
	})
	t.Run("ANML-13.2-13/reject-store-that-cannot-be-read", func(t *testing.T) {
		for _, prefix := range []string{keySensitive, keyRefused, keyDeleted} {
			st := asker(t)
			store := &failingPrefix{Store: lookleap.NewMemoryStore()}
			st.user.Store = store
			x := st.prepares(st.page(doc), Call{})
			store.prefix = prefix
			if _, _, err := x.settle(all, time.Time{}); err == nil {
				t.Errorf("%s could not be read and it was told", prefix)
			}
		}
	})
}

// failingPrefix cannot list the keys that begin with a prefix.
type failingPrefix struct {
	lookleap.Store
	prefix string
}

func (f *failingPrefix) Keys(ctx context.Context, prefix string) ([]string, error) {
	if prefix == f.prefix {
		return nil, errStore
	}
	return f.Store.Keys(ctx, prefix)
}

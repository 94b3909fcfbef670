package agent

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/lookleaptest"
)

// TestOneFieldAsAnother: what is told as one field and holds another needs leave
// for both, and what is forbidden of it stays so.
func TestOneFieldAsAnother(t *testing.T) {
	doc := booking(rule("email", "none")+rule("tel", "none"), askFor("email"))
	calls := map[string]Call{
		"argument": {Action: "find", Args: map[string]string{"email": "+49 30 123456"}},
		"answer":   {Reply: &Reply{Values: map[string]Value{"email": {Text: "call +4930123456"}}}},
	}
	for name, call := range calls {
		t.Run("reject-unasked-"+name, func(t *testing.T) {
			st := asker(t).allow("email", "*")
			x := st.prepares(st.page(doc), call)
			if len(x.items) != 1 || !strings.Contains(x.items[0].Summary, "it holds your tel") {
				t.Errorf("%+v", x.items)
			}
		})
		t.Run("accept-both-allowed-"+name, func(t *testing.T) {
			st := asker(t).allow("email", "*").allow("tel", "*")
			if x := st.prepares(st.page(doc), call); len(x.items) != 0 {
				t.Errorf("%+v", x.items)
			}
		})
		t.Run("reject-denied-since-"+name, func(t *testing.T) {
			st := asker(t).allow("email", "*").allow("tel", "*")
			x := st.prepares(st.page(doc), call)
			must(t, st.user.Policy.Set(StandingRule{Field: "tel", Domain: "shop.example", Effect: EffectDeny}))
			text, _, err := x.settle(all, time.Time{})
			if name == "argument" {
				hasCode(t, err, CodeUserRule)
			} else if err != nil || !strings.Contains(text, `<refuse field="email" reason="user-denied"`) {
				t.Error(text, err)
			}
		})
	}
	t.Run("reject-demanded-of-the-other", func(t *testing.T) {
		st := asker(t).allow("*", "*")
		x := st.prepares(st.page(booking(rule("email", "none")+rule("tel", "explicit-consent"), askFor("email"))), calls["answer"])
		equals(t, len(x.items), 1)
	})
	t.Run("reject-sensitive-of-the-other", func(t *testing.T) {
		st := asker(t).allow("*", "*")
		st.opts.Fields = []string{"diagnosis"}
		x := st.prepares(st.page(booking(rule("email", "none"), askFor("email"))), Call{Reply: &Reply{Values: map[string]Value{"email": {Text: "hay fever"}}}})
		if len(x.items) != 1 || x.e.Disclosures[0].Category != CategoryHealth {
			t.Errorf("%+v", x.e)
		}
	})
	t.Run("reject-denied-in-own-words", func(t *testing.T) {
		for name, r := range map[string]*Reply{"inform": {Informs: []Value{{Text: "her number is +49 30 123456"}}}, "ask": {Asks: []Counter{{"price", "for +49 30 123456"}}}} {
			st := asker(t)
			must(t, st.user.Policy.Set(StandingRule{Field: "tel", Domain: "*", Effect: EffectDeny}))
			if _, err := st.prepare(st.page(doc), Call{Reply: r}); lookleap.CodeOf(err) != CodeUserRule {
				t.Error(name, err)
			}
		}
	})
	t.Run("reject-profile-that-fails", func(t *testing.T) {
		st := asker(t)
		st.user.Profile = profileFunc(func() (Value, error) { panic("x") })
		equals(t, len(st.prepares(st.page(booking("", "")), Call{Action: "find", Args: map[string]string{"q": "tea"}}).items), 1)
	})
}

// secrets is a profile of fields that no list of the draft names.
var secrets = Fields{
	"passport": {Text: "C01X00T47"}, "ssn": {Text: "078-05-1120"}, "iban": {Text: "DE89 3704 0044 0532 0130 00"},
	"password": {Text: "correct horse battery"}, "credit_card": {Text: "4111 1111 1111 1111"}, "diagnosis": {Text: "hay fever"},
	"geo": {Text: "52.520008,13.404954"}, "member-since": {Text: "1990-02-28"}, "balance": {Text: "12345.60"},
	"tel": {Text: "+49 30 123456"}, "fn": {Text: "Ann Example"}, "plan": {Text: "gold"}, "pets": {Text: "2"}, "news": {Text: "yes"},
	"mail": {Text: "ann@example.org"}, "work-tel": {Text: "+1 202 555 0123"}, "home-tel": {Text: "+420 201 234 567"},
}

// unlisted is a profile that does not say which fields it has.
type unlisted struct{ f Fields }

func (u unlisted) Value(ctx context.Context, q Question) (Value, error) { return u.f.Value(ctx, q) }

// finder is a document with one action whose parameters are given by name.
func finder(method, enctype string, params ...string) string {
	var b strings.Builder
	for _, p := range params {
		b.WriteString(`<param name="` + p + `"/>`)
	}
	return titled + interactOnly(`<action id="find" method="`+method+`" endpoint="/find" enctype="`+enctype+`">`+b.String()+`</action>`)
}

// TestPersonalNames: an argument that is named like data of the user's is decided
// about as an answer of that name would be.
func TestPersonalNames(t *testing.T) {
	find := func(name string) Call { return Call{Action: "find", Args: map[string]string{name: "anything else"}} }
	t.Run("O02", func(t *testing.T) {
		for _, field := range slices.Sorted(func(yield func(string) bool) {
			for f := range secrets {
				if !yield(f) {
					return
				}
			}
		}) {
			t.Run("reject-without-prompter-"+field, func(t *testing.T) {
				s := newStage(t, setting{doc: finder("GET", "", field), user: User{Profile: secrets}, host: func(h *lookleap.Host) { h.Prompter = nil }})
				s.does(find(field), lookleap.CodeConsentNoPrompter)
				s.sends()
				if got := ledgerOf(t, s.session.Ledger()); len(got) == 0 || got[0] != "refused "+field+" consent-no-prompter" {
					t.Errorf("%q", got)
				}
			})
			t.Run("accept-asked-"+field, func(t *testing.T) {
				s := newStage(t, setting{doc: finder("GET", "", field), user: User{Profile: secrets}})
				s.does(find(field), lookleap.CodeOK)
				equals(t, len(s.user.Requests()), 1)
				if got := ledgerOf(t, s.session.Ledger()); !strings.HasPrefix(got[0], "disclosed "+field) {
					t.Errorf("%q", got)
				}
			})
		}
		for _, name := range []string{"Passport", "pass_port", "CREDIT-CARD", "health_status", "bankAccount", "whereabouts", "apiKey", "pin", "date_of_birth"} {
			t.Run("reject-by-its-name-"+name, func(t *testing.T) {
				s := newStage(t, setting{doc: finder("GET", "", name), user: User{Profile: unlisted{secrets}}, host: func(h *lookleap.Host) { h.Prompter = nil }})
				s.does(find(name), lookleap.CodeConsentNoPrompter)
				s.sends()
			})
		}
		for _, name := range []string{"q", "query", "date", "quantity", "sort", "page_token", "color", "checkin"} {
			t.Run("accept-no-data-of-the-user-"+name, func(t *testing.T) {
				s := newStage(t, setting{doc: finder("GET", "", name), user: User{Profile: secrets}, host: func(h *lookleap.Host) { h.Prompter = nil }})
				for _, value := range []string{"tea", "2", "yes", "2026-07-01", "window seat", "golden retriever", "12"} {
					s.does(Call{Action: "find", Args: map[string]string{name: value}}, lookleap.CodeOK)
					s.net.Clock().Advance(s.session.agent.options.Limits.Interval)
				}
			})
		}
	})
}

// TestPersonalValues: a value of the profile is found in an argument of any name,
// however it is written, encoded or divided.
func TestPersonalValues(t *testing.T) {
	b64 := base64.StdEncoding.EncodeToString
	written := map[string]string{
		"itself": "C01X00T47", "in-a-sentence": "my card is 4111-1111-1111-1111.", "lower-case": "c01x00t47", "separators": "DE89.3704.0044.0532.0130.00", "glued": "X4111111111111111Y",
		"percent": "%43%30%31%58%30%30%54%34%37", "plus": "hay+fever", "base64": b64([]byte("ssn 078-05-1120")), "base64url": base64.RawURLEncoding.EncodeToString([]byte("hay fever")),
		"hex": hex.EncodeToString([]byte("hay fever")), "HEX": strings.ToUpper(hex.EncodeToString([]byte("4111111111111111"))), "nested-json": `{"a":[{"b":"{\"c\":\"hay fever\"}"}]}`,
		"digits-spread": "4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1", "digits-spread-lines": strings.Join(strings.Split("4111111111111111", ""), "\n"), "digits-in-pairs": "41 11 11 11 11 11 11 11",
		"in-a-url": "https://x.example/?" + url.Values{"q": {"hay fever"}}.Encode(), "in-a-file-name": "hay_fever.pdf", "small-but-whole": "GOLD", "look-alikes": "h\u0430y f\u0435v\u0435r", "combining": "h\u0336a\u0336y\u0336 fever",
		"letters-for-digits": "CO1XOOT47", "hidden-characters": "hay f\u200be\u00adver", "full-width": "ｈａｙ　ｆｅｖｅｒ",
	}
	t.Run("O02", func(t *testing.T) {
		for name, value := range written {
			t.Run("reject-"+name, func(t *testing.T) {
				st := asker(t)
				st.user.Profile = secrets
				x := st.prepares(st.page(booking("", "")), Call{Action: "find", Args: map[string]string{"q": value}})
				if len(x.items) != 1 {
					t.Errorf("%q is not asked about", value)
				}
			})
		}
		for name, args := range map[string]map[string]string{
			"two-halves": {"a": "C01X0", "b": "0T47"}, "turned": {"a": "0T47", "b": "C01X0"}, "in-words": {"a": "it is 4111 1111 11", "b": "11 1111 is the rest"},
			"four-groups": {"a": "4111", "b": "1111", "c": "1111", "d": "1111"}, "year-month-day": {"a": "1990", "b": "02", "c": "28"},
			"beside-the-whole": {"a": "C01X00T47", "b": "C01X0", "c": "0T47"},
		} {
			t.Run("reject-divided-"+name, func(t *testing.T) {
				s := newStage(t, setting{doc: finder("POST", "application/json", "a", "b", "c", "d"), user: User{Profile: secrets}, replies: []lookleaptest.Reply{lookleaptest.Approve(itemAct)}})
				s.does(Call{Action: "find", Args: args}, lookleap.CodeConsentRefused)
				s.sends()
				equals(t, len(s.user.Requests()[0].Items), 1+len(args))
			})
		}
		for _, args := range []map[string]string{{"a": "Berlin", "b": "Oslo"}, {"a": "2", "b": "yes"}, {"a": "40", "b": "4111"}, {"a": "hay", "b": "bales"}, {"a": "deadbeef00", "b": "QUJDREVGR0g="}} {
			t.Run("accept-nothing-of-the-profile", func(t *testing.T) {
				s := newStage(t, setting{doc: finder("GET", "", "a", "b"), user: User{Profile: secrets}, host: func(h *lookleap.Host) { h.Prompter = nil }})
				s.does(Call{Action: "find", Args: args}, lookleap.CodeOK)
			})
		}
	})
}

// spellings of "email" that a user would take for it.
var spellings = []string{
	"email", "Email", "EMAIL", "e-mail", "E_Mail", " email", "email\u00a0", "e mail", "em\u200bail", "ema\u00adil", "ｅｍａｉｌ",
	"\u0435mail", "\u0435m\u0430\u0456l", "ema\u03b9l", "emai1", "emaiI", "emàil", "\U0001d41email", "ernail", "\u202eemail",
	"ΕΜΑΙL", "ᴇᴍᴀɪʟ", "℮mail", "emɑil", "ꓰMAIL", "Ꭼmail", "emaiǀ", "εμαιl", "𝕖𝕞𝕒𝕚𝕝", "ⓔⓜⓐⓘⓛ", "ᵉᵐᵃⁱˡ", "еⅿaіⅼ", "emai|", "ɛmail", "🇪🇲🇦🇮🇱", "e\u0301mail",
	"ЕМАІL", "ЕᎷАІꓡ",
}

// TestSpellings: what the user or the document forbids holds for every spelling
// of a field, what they permit for one.
func TestSpellings(t *testing.T) {
	t.Run("ANML-4-11", func(t *testing.T) {
		for i, asked := range spellings {
			t.Run(fmt.Sprintf("reject-denied-in-spelling-%d", i), func(t *testing.T) {
				st := asker(t)
				st.opts.Fields = []string{asked}
				st.user.Profile = Fields{asked: {Text: annsEmail}}
				must(t, st.user.Policy.Set(StandingRule{Field: "email", Domain: "*", Effect: EffectDeny}))
				must(t, st.user.Policy.Set(StandingRule{Field: asked + "!", Domain: "*", Effect: EffectAllow}))
				st.decides(booking(rule(asked, "none"), askFor(asked)), "refuse user-rule user-denied")
			})
		}
		t.Run("accept-allowed-exactly", func(t *testing.T) {
			for asked, want := range map[string]string{"email": "allow user-rule delegated", "Email": "prompt needs-consent"} {
				st := asker(t).allow("email", "*")
				st.opts.Fields, st.user.Profile = []string{"Email"}, Fields{asked: {Text: annsEmail}}
				st.decides(booking(rule(asked, "none"), askFor(asked)), want)
			}
		})
	})
	t.Run("ANML-13.2-02", func(t *testing.T) {
		for _, rules := range []string{rule("email", "none") + rule("E-Mail", "explicit-consent"), rule("E-Mail", "explicit-consent")} {
			t.Run("reject-rule-for-another-spelling", func(t *testing.T) {
				asker(t).allow("email", "*").decides(booking(rules, askFor("email")), "prompt explicit-consent")
			})
		}
		t.Run("accept-laxer-rule-for-another-spelling", func(t *testing.T) {
			asker(t).allow("email", "*").decides(booking(rule("email", "none")+rule("E-Mail", "none"), askFor("email")), "allow user-rule delegated")
		})
		t.Run("reject-age-by-another-spelling", func(t *testing.T) {
			st := asker(t)
			doc := booking(rule("email", "explicit-consent")+`<disclosure field="E-Mail" requires="none" valid-for="60"/>`, askFor("email"))
			must(t, third(st.prepares(st.page(doc), Call{}).settle(all, start.Add(time.Hour))))
			st.decides(doc, "allow consent-held explicit")
			st.net.Clock().Advance(time.Minute)
			st.decides(doc, "prompt explicit-consent")
		})
	})
	t.Run("ANML-14.2-04", func(t *testing.T) {
		t.Run("reject-sensitive-by-another-spelling", func(t *testing.T) {
			st := asker(t).allow("tel", "*")
			st.opts.Fields, st.user.Profile = []string{"Tel"}, Fields{"tel": {Text: "1"}, "Tel": {Text: "1"}}
			st.user.Store = lookleap.NewMemoryStore()
			st.prepares(st.page(booking("", askFor("Tel", `purpose="health intake"`))), Call{}).sends(all, `value="1"`)
			doc := booking(rule("tel", "none"), askFor("tel"))
			st.decides(doc, "prompt sensitive")
			st.s = nil // another session of the user
			st.decides(doc, "prompt sensitive")
			equals(t, st.s.consents.sensitive("T-E-L"), CategoryHealth)
		})
	})
}

package agent

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/lookleaptest"
)

// hears lets a session receive informs of a service.
func hears(s *Session, service string, texts ...string) {
	for _, text := range texts {
		s.context.recordInforms([]*Inform{{Text: text, Serving: service, Host: service, Owner: service, Site: service, Confidentiality: anml.Public, Received: s.now()}})
	}
}

// sourcesOf returns the sources of a value without a stated provenance.
func sourcesOf(s *Session, to, value string) []source { return s.sources(to, Value{Text: value}) }

// domains lists sources by their domains. Deleted ones begin with a hyphen.
func domains(sources []source) string {
	var names []string
	for _, s := range sources {
		name := s.serving
		if s.deleted {
			name = "-" + name
		}
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

// TestMatch has what is recognised of a text that another service told, and what is not.
func TestMatch(t *testing.T) {
	const code = "Member 4711-8822"
	for name, c := range map[string]struct {
		inform, value string
		matches       bool
	}{
		"itself": {"4711-8822", "4711-8822", true}, "token": {code, "4711-8822", true}, "token-of-both": {"Your member number is 4711-8822.", "my number: 4711-8822, thanks", true},
		"no-separators": {code, "47118822", true}, "other-separators": {code, "4.7.1.1/8 8-2_2", true}, "groups": {"DE89 3704 0044 0532 0130 00", "de89370400440532013000", true},
		"groups-in-prose": {"Your card 4111 1111 1111 1111 is valid.", "4111111111111111", true}, "in-JSON": {code, `{"m":"4711-8822"}`, true}, "glued": {code, "X47118822Y", true},
		"number-in-a-word": {"ref ABX47118822YZ", "4711-8822", true}, "case": {"Voucher SUMMERTREE", "summerTree", true}, "full-width": {code, "４７１１－８８２２", true},
		"hidden-characters": {code, "4711\u200b88\u00ad22", true}, "hidden-in-the-inform": {"Mem\u200dber 47\u206011-8822", "47118822", true}, "decomposed": {"Zoë Müller", "mu\u0308ller", true},
		"eszett": {"Straße 5", "STRASSE", true}, "short-and-the-same": {"4711", " 4711 ", true}, "word": {"Breakfast at eight", "breakfast", true}, "address": {"write to alice@example.com", "my alice@example.com", true},
		"accents": {"Zoë Müller", "Muller", true}, "digits-of-another-script": {code, "٤٧١١-٨٨٢٢", true}, "spelled": {"Voucher SUMMERTREE", "s-u-m-m-e-r-t-r-e-e please", true},
		"look-alikes": {"Voucher SUMMERPEAR", "ѕummеrреаr", true}, "letter-for-digit": {"code A10-881", "AlO-88l", true}, "long": {strings.Repeat("x", 100) + "1", strings.Repeat("x", 100) + "2", true},
		"percent": {code, "%34%37%31%31-8822", true}, "base64": {code, base64.StdEncoding.EncodeToString([]byte("it is 4711-8822")), true}, "base64url": {code, base64.RawURLEncoding.EncodeToString([]byte("4711-8822 ?>")), true},
		"hex": {code, "id " + hex.EncodeToString([]byte("4711-8822")), true}, "told-percent": {"m=%34%37%31%31-8822", "4711-8822", true}, "told-base64": {base64.StdEncoding.EncodeToString([]byte(code)), "4711-8822", true},
		"told-hex": {hex.EncodeToString([]byte("4711-8822")), "4711-8822", true},

		"token-of-five": {"Code 12345 ok", "12345", false}, "text-of-three": {"EUR", "EUR", false}, "another-end": {code, "4711-8823", false}, "part-of-a-token": {"stationary", "station", false}, "nothing": {code, "", false},
		"separators": {"--- ---", "- - -", false}, "unrelated": {code, "window seat", false}, "broken-percent": {code, "%3", false}, "broken-base64": {code, "NDcxMS04O", false}, "control-characters": {"\u0101", base64.StdEncoding.EncodeToString([]byte("4711-88\x0022")), false},
		// What this mode does not recognise, see docs/rough-edges.md.
		"paraphrase": {"Allergic to nuts", "cannot eat nuts", false}, "words-of-a-number": {code, "four seven one one eight eight two two", false}, "encoded-twice": {code, base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString([]byte("4711-8822")))), false},
		"reversed": {code, "2288-1174", false}, "short-words": {"the tea is at ten", "is at ten", false},
	} {
		side := map[bool]string{true: "ANML-14.1-08/reject-", false: "ANML-14.1-08/accept-"}[c.matches]
		t.Run(side+"match-"+name, func(t *testing.T) {
			st := asker(t)
			st.user.Profile = Fields{"member": {Text: c.value}}
			hears(st.session(), "a.example", c.inform)
			for host, want := range map[string]bool{"b.example": c.matches, "a.example": false} {
				for _, d := range pageFor(t, st.net, st.s, "https://"+host+"/b", booking("", askFor("member"))).Decide(t.Context()) {
					if (len(d.From) > 0) != want {
						t.Errorf("%q in %q to %s: from %q", c.value, c.inform, host, d.From)
					}
				}
			}
		})
	}
}

// A value has each service as a source that told it, under the strictest confidentiality.
func TestSources(t *testing.T) {
	s := newSession(t, newLab(t), User{}, Options{})
	for service, text := range map[string]string{"a.example": "Member 4711-8822", "c.example": "4711 8822", "b.example": "47118822", "d.example": "else"} {
		hears(s, service, text)
	}
	equals(t, domains(sourcesOf(s, "b.example", "4711-8822")), "a.example c.example")
	s.context.recordInforms([]*Inform{{Text: "4711-8822!", Serving: "a.example", Host: "x.a.example", Confidentiality: anml.Private}})
	for _, value := range []string{"4711-8822", "4711-8822 elsewhere"} {
		if got := sourcesOf(s, "b.example", value); len(got) != 2 || got[0].confidentiality != anml.Private || got[1].confidentiality != anml.Public {
			t.Error(got)
		}
	}
}

// What the user supplied is the user's, with its words and numbers, and nothing else is.
func TestSupplied(t *testing.T) {
	s := newSession(t, newLab(t), User{}, Options{})
	hears(s, "a.example", "Dear Alice Johnson of alice@example.com, member 4711-8822, code QWxpY2UgSm9obnNvbg", "Rome")
	code := base64.StdEncoding.EncodeToString([]byte("4711-8822"))
	equals(t, domains(sourcesOf(s, "b.example", code)), "a.example")
	for _, text := range []string{"Alice Johnson", code, "ok", "!"} {
		s.Context().Supplied(text)
	}
	for value, want := range map[string]string{
		"Alice Johnson": "", "JOHNSON": "", "Alice Johnson, blue, window": "", code: "", "Rome": "a.example",
		"alice@example.com": "a.example", "QWxpY2UgSm9obnNvbg": "a.example", "Alice Johnson, 4711-8822": "a.example", "4711-8822": "a.example",
	} {
		equals(t, domains(sourcesOf(s, "b.example", value)), want)
	}
}

// A value that holds a token of an inform is found, and one that shares no characters is not. Once
// deleted, it goes to no service, until it is told again.
func TestMatchProperty(t *testing.T) {
	token := rapid.StringMatching(`[a-z0-9]{6,80}`)
	rest := rapid.StringMatching(`([A-Z]{1,4}[ ,;]){0,5}`)
	net := newLab(t)
	rapid.Check(t, func(r *rapid.T) {
		s, err := New(net.StubHost(), Options{}).NewSession(User{})
		must(t, err)
		secret := token.Draw(r, "secret")
		inform := rest.Draw(r, "before") + " " + secret + " " + rest.Draw(r, "after")
		hears(s, "a.example", inform)
		written := secret
		switch rapid.IntRange(0, 3).Draw(r, "written") {
		case 0:
			written = strings.ToUpper(secret)
		case 1:
			written = strings.Join(strings.Split(secret, ""), "\u200b")
		case 2:
			written = strings.Map(func(r rune) rune { return r + 0xFEE0 }, secret)
		}
		value := rest.Draw(r, "said") + " " + written + " " + rest.Draw(r, "too")
		if len(sourcesOf(s, "b.example", value)) != 1 {
			r.Fatalf("%q not found in %q", value, inform)
		}
		if got := sourcesOf(s, "b.example", strings.Repeat("жщ ", 1+len(value)%7)); len(got) > 0 {
			r.Fatal(got)
		}
		must(t, second(s.Forget(t.Context(), "a.example")))
		if got := sourcesOf(s, "a.example", value); len(got) != 1 || !got[0].deleted {
			r.Fatalf("%q survives a deletion: %v", value, got)
		}
		hears(s, "a.example", inform)
		if got := sourcesOf(s, "b.example", value); len(got) != 1 || got[0].deleted {
			r.Fatalf("%q stays deleted: %v", value, got)
		}
	})
}

func FuzzMatch(f *testing.F) {
	f.Add("Member 4711-8822", "4711 8822")
	f.Add("ﬁve Straße \u200b", "FIVE")
	f.Add("\xff\xfe", "\xff")
	f.Add("\xea#%", "4711  822")
	net := newLab(f)
	f.Fuzz(func(t *testing.T, inform, value string) {
		s, err := New(net.StubHost(), Options{}).NewSession(User{})
		must(t, err)
		hears(s, "a.example", inform)
		if got := sourcesOf(s, "b.example", inform); len([]rune(fold(inform).text)) >= wholeLen && len(got) != 1 {
			t.Fatalf("%q and itself: %v", inform, got)
		}
		if len(sourcesOf(s, "b.example", value)) > 1 || len(sourcesOf(s, "a.example", value)) > 0 {
			t.Fatal("more than was told")
		}
		s.Context().Supplied(value)
		if got := sourcesOf(s, "b.example", value); fold(value).text != "" && len(got) > 0 {
			t.Fatalf("%q is the user's: %v", value, got)
		}
	})
}

// prose makes text of about n bytes from a vocabulary, as services write it.
func prose(r *rand.Rand, n int) string {
	var b strings.Builder
	for b.Len() < n {
		if r.IntN(8) == 0 {
			fmt.Fprintf(&b, "%04d-%04d ", r.IntN(10000), r.IntN(10000))
			continue
		}
		length := 2 + r.IntN(9)
		for range length {
			b.WriteByte("etaoinshrdlucmfw"[r.IntN(16)])
		}
		b.WriteByte(' ')
	}
	return b.String()[:n]
}

// modes are those of the user's policy, with the ends of the leaves that show them.
var modes = map[CrossService]string{CrossServiceMatch: "", CrossServiceStrict: "-strict"}

// TestCrossServiceRows shows, in both modes, that what one service told reaches no other one unless
// the user says so each time.
func TestCrossServiceRows(t *testing.T) {
	plain, tagged := Value{Text: secret}, Value{Text: "another spelling", Provenance: "a.example"}
	for mode, end := range modes {
		for id, v := range map[string]Value{"ANML-14.1-07": tagged, "ANML-14.1-08": plain} {
			t.Run(id, func(t *testing.T) {
				t.Run("accept-authorized"+end, func(t *testing.T) {
					s := crossedIn(t, mode, "", v)
					s.does(book, lookleap.CodeOK)
					s.wantSent(v.Text)
					s.hasAsked("a.example", "shop.example", "email", v.Text)
					if e := entries(t, s.session.Ledger(), EntryDisclosed); len(e) != 1 || e[0].From != "a.example" || e[0].Basis != "explicit" {
						t.Errorf("%+v", e)
					}
				})
				t.Run("reject-denied"+end, func(t *testing.T) {
					s := crossedIn(t, mode, "", v, lookleaptest.Refuse())
					s.does(book, lookleap.CodeConsentRefused)
					s.wantSent("!" + v.Text)
				})
				t.Run("reject-standing-rule"+end, func(t *testing.T) {
					s := crossedIn(t, mode, "", v)
					if d := s.page.Decide(t.Context())[0]; d.Verb != VerbPrompt || d.Code != CodeCrossService || !slices.Equal(d.From, []string{"a.example"}) {
						t.Error(brief(d), d.From)
					}
				})
				t.Run("reject-private"+end, func(t *testing.T) {
					s := crossedIn(t, mode, `confidentiality="private"`, plain)
					equals(t, brief(s.page.Decide(t.Context())[0]), "refuse private-context policy-violation")
				})
				t.Run("reject-later-though-remembered"+end, func(t *testing.T) {
					s := crossedIn(t, mode, "", v, lookleaptest.ApproveUntil(start.Add(24*365*time.Hour)), lookleaptest.Refuse())
					s.does(book, lookleap.CodeOK)
					s.net.Journal().Clear()
					s.does(book, lookleap.CodeConsentRefused)
					s.wantSent("!" + v.Text)
				})
			})
		}
		t.Run("ANML-14.1-08", func(t *testing.T) {
			t.Run("accept-labelled-as-the-users"+end, func(t *testing.T) {
				s := crossedIn(t, mode, "", Value{Text: secret, Provenance: ProvenanceUser})
				if d := s.page.Decide(t.Context())[0]; d.Verb != VerbAllow || d.From != nil {
					t.Error(brief(d), d.From)
				}
			})
			t.Run("accept-supplied-by-the-user"+end, func(t *testing.T) {
				s := crossedIn(t, mode, "", plain)
				s.session.Context().Supplied("4711 8822")
				if d := s.page.Decide(t.Context())[0]; d.Verb != VerbAllow || d.From != nil {
					t.Error(brief(d), d.From)
				}
			})
			t.Run(map[CrossService]string{CrossServiceMatch: "accept-paraphrase", CrossServiceStrict: "reject-paraphrase-strict"}[mode], func(t *testing.T) {
				s := crossedIn(t, mode, "", Value{Text: "the number before 4711-8823"})
				want := map[CrossService]string{CrossServiceMatch: "[]", CrossServiceStrict: "[a.example]"}[mode]
				if d := s.page.Decide(t.Context())[0]; fmt.Sprint(d.From) != want || (d.Verb == VerbPrompt) != (mode == CrossServiceStrict) {
					t.Error(brief(d), d.From)
				}
			})
		})
	}
}

// TestStrictArguments: in strict mode the user is asked about each argument of a model once another
// service was read, and about none before.
func TestStrictArguments(t *testing.T) {
	strict := func(t *testing.T) (*stand, *Page) {
		st := asker(t)
		st.user.Policy.CrossService = CrossServiceStrict
		doc := strings.Replace(booking("", ""), `<param name="q" description`, `<param name="r" default="plain"/><param name="q" description`, 1)
		return st, pageFor(t, st.net, st.session(), "https://b.example/b", doc)
	}
	tea := Call{Action: "find", Args: map[string]string{"q": "tea"}}
	t.Run("ANML-14.1-07", func(t *testing.T) {
		t.Run("reject-argument-strict", func(t *testing.T) {
			st, b := strict(t)
			pageFor(t, st.net, st.s, "https://a.example/a", titled)
			pageFor(t, st.net, st.s, "https://c.example/c", titled)
			x := st.prepares(b, tea) // but not about the default of the document
			if len(x.items) != 1 || !strings.Contains(x.items[0].Summary, "a.example and c.example may have told this, and b.example would learn it") {
				t.Errorf("%+v", x.items)
			}
			st.s.agent.host.Prompter = nil
			hasCode(t, second(st.prepare(b, tea)), lookleap.CodeConsentNoPrompter)
		})
		t.Run("accept-argument-of-the-user-strict", func(t *testing.T) {
			st, b := strict(t)
			pageFor(t, st.net, st.s, "https://a.example/a", titled)
			call := tea
			call.Provenance = map[string]string{"q": ProvenanceUser}
			if x := st.prepares(b, call); len(x.items) != 0 {
				t.Errorf("%+v", x.items)
			}
		})
		t.Run("accept-argument-of-one-service-strict", func(t *testing.T) {
			st, b := strict(t)
			pageFor(t, st.net, st.s, "https://www.b.example/other", titled)
			if x := st.prepares(b, tea); len(x.items) != 0 {
				t.Errorf("%+v", x.items)
			}
		})
		t.Run("reject-service-read-since-strict", func(t *testing.T) {
			st, b := strict(t)
			x := st.prepares(b, tea)
			pageFor(t, st.net, st.s, "https://a.example/a", titled)
			hasCode(t, third(x.settle(all, time.Time{})), CodeCrossService)
		})
		t.Run("reject-sent-before-strict", func(t *testing.T) { // to one service, which does not make it the user's
			st, b := strict(t)
			x := st.prepares(b, tea)
			must(t, third(x.settle(all, time.Time{})))
			a := pageFor(t, st.net, st.s, "https://a.example/a", booking("", ""))
			equals(t, len(st.prepares(a, tea).items), 1)
		})
	})
}

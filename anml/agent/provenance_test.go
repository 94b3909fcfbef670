package agent

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lookleap/lookleap/anml"
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
	if got := domains(sourcesOf(s, "b.example", "4711-8822")); got != "a.example c.example" {
		t.Error(got)
	}
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
	if got := domains(sourcesOf(s, "b.example", code)); got != "a.example" {
		t.Errorf("from %q", got)
	}
	for _, text := range []string{"Alice Johnson", code, "ok", "!"} {
		s.Context().Supplied(text)
	}
	for value, want := range map[string]string{
		"Alice Johnson": "", "JOHNSON": "", "Alice Johnson, blue, window": "", code: "", "Rome": "a.example",
		"alice@example.com": "a.example", "QWxpY2UgSm9obnNvbg": "a.example", "Alice Johnson, 4711-8822": "a.example", "4711-8822": "a.example",
	} {
		if got := domains(sourcesOf(s, "b.example", value)); got != want {
			t.Errorf("%s: from %q, want %q", value, got, want)
		}
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
		if _, err := s.Forget(t.Context(), "a.example"); err != nil {
			r.Fatal(err)
		}
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

package agent

import (
	"strings"
	"testing"

	"github.com/lookleap/lookleap/internal/lab/labprompt"
)

func TestSensitiveWords(t *testing.T) {
	for text, want := range map[string]string{
		"health intake": "health", "HEALTH": "health", "medical history": "health", "Diagnosis": "health", "insurance": "finance", "financial": "finance", "bankAccount": "finance",
		"payment": "finance", "creditcard": "finance", "income": "finance", "userLocation": "location", "geo": "location", "whereabouts": "location", "acme:healthId": "health",
		"to send the ticket": "", "personalization": "", "": "", "heal": "", "ba nk": "", "h": "", "banK": "finance", "\xffhealth": "health", "heaLth\u0301": "health", "h\u200bealth intake": "health", "ｍｅｄｉｃａｌ": "health", "pay\u00adment": "finance", "ba\u00a0nk": "",
	} {
		if got := sensitiveCategory(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func FuzzSensitiveWords(f *testing.F) {
	f.Add("to pay by BANK transfer")
	f.Add("h\u0130ncome")
	f.Fuzz(func(t *testing.T, text string) {
		want := ""
		lower := []byte(text)
		for i, c := range lower {
			if c >= 'A' && c <= 'Z' {
				lower[i] = c | 0x20
			}
		}
		at := len(text)
		for _, s := range sensitiveWords {
			if i := strings.Index(string(lower), s.word); i >= 0 && i < at {
				at, want = i, s.category
			}
		}
		if got := sensitiveCategory(text); got != want && (want != "" || isASCII(text)) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	})
}

// TestPurposesThatSayNothing: what no one sees says nothing, and no spelling makes
// an empty word say more.
func TestPurposesThatSayNothing(t *testing.T) {
	for purpose, want := range map[string]PurposeVerdict{
		"": PurposeVague, " \t": PurposeVague, "\u00a0": PurposeVague, "\u200b\u2060": PurposeVague, "\u2800": PurposeVague, "\u3164": PurposeVague, "…": PurposeVague, "?!": PurposeVague,
		"DATA": PurposeVague, "da\u200bta": PurposeVague, "ｄａｔａ": PurposeVague, "(info)": PurposeVague, "{da~ta}": PurposeVague, "da\x14ta": PurposeVague, "d": PurposeOK, "n / a": PurposeVague, "None.": PurposeVague, "-": PurposeVague,
		"E-Mail": PurposeVague, "e mail": PurposeVague, "ｅｍａｉｌ": PurposeVague,
		"data protection": PurposeOK, "emails": PurposeOK, "a": PurposeOK, "z": PurposeOK, "A": PurposeOK, "Z": PurposeOK, "0": PurposeOK, "9": PurposeOK, "@[`{/:": PurposeVague, "zum Versand": PurposeOK, "für dich": PurposeOK, "航空券": PurposeOK, "7": PurposeOK, "personalization": PurposeOK,
	} {
		if got, err := JudgePurpose(t.Context(), Subject{Field: "email", Purpose: purpose}); got != want || err != nil {
			t.Errorf("%q: %d, want %d", purpose, got, want)
		}
	}
	for field, purpose := range map[string]string{"航空": "訪空", "\u1001": "\u1040"} { // they differ in one bit, or in where the byte 80 is
		if got, err := JudgePurpose(t.Context(), Subject{Field: field, Purpose: purpose}); got != PurposeOK || err != nil {
			t.Errorf("%q: %d, %v", purpose, got, err)
		}
	}
	st := newStand(t, labprompt.Deny()).allow("email", "*")
	for _, purpose := range []string{"&#xA0;", "&#x200B;"} {
		st.decides(booking(rule("email", "none"), askFor("email", `purpose="`+purpose+`"`)), "prompt purpose-vague")
	}
}

// TestOnePurposeOfTwo: where one of two asks for a field states none, the user is
// asked, whichever comes first.
func TestOnePurposeOfTwo(t *testing.T) {
	with, without := askFor("email"), strings.Replace(askFor("email"), ` purpose="to send the ticket"`, "", 1)
	for _, asks := range []string{with + without, without + with} {
		st := newStand(t, labprompt.Deny()).allow("email", "*")
		x := st.prepares(st.page(booking(rule("email", "none"), asks)), Call{})
		if len(x.items) != 1 || !strings.Contains(x.items[0].Summary, "no purpose stated") || len(x.items[0].Remote) != 1 {
			t.Errorf("%+v", x.items)
		}
	}
}

// TestSensitiveIsAsked: by the field, the purpose, the value, or the host.
func TestSensitiveIsAsked(t *testing.T) {
	for name, c := range map[string]struct{ field, purpose, category string }{
		"field": {"diagnosis", "to send the ticket", ""}, "purpose": {"email", "for your insurance", ""}, "value": {"email", "to send the ticket", "health"},
	} {
		t.Run(name, func(t *testing.T) {
			st := newStand(t, labprompt.Deny()).allow("*", "*")
			st.opts.Fields = []string{"diagnosis"}
			st.user.Profile = Fields{c.field: {Text: "v", Category: c.category}}
			d := st.one(booking(rule(c.field, "none"), askFor(c.field, `purpose="`+c.purpose+`"`)))
			if brief(d) != "prompt sensitive" || !d.Sensitive || !strings.Contains(strings.Join(d.Warnings, ","), "sensitive") {
				t.Error(brief(d), d.Warnings)
			}
		})
	}
	st := newStand(t, labprompt.Deny()).allow("*", "*")
	st.user.Profile = Fields{"email": {Text: "v", Category: "work"}} // the host's own word for something else
	st.decides(booking(rule("email", "none"), askFor("email")), "allow user-rule delegated")
}

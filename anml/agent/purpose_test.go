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
		"to send the ticket": "", "personalization": "", "": "", "heal": "", "ba nk": "", "h": "", "banK": "finance", "\xffhealth": "health", "heaLth\u0301": "health",
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
		if got := sensitiveCategory(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	})
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

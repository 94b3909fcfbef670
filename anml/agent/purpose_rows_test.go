package agent

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap/anml"
)

// TestAllowedUses: a usage permits itself and what is below it, and nothing after its end.
func TestAllowedUses(t *testing.T) {
	m := newMemo(t)
	m.s.user.Policy.SetTrainingConsent(true)
	now := m.s.now()
	for id, usage := range map[string]anml.Usage{
		"ANML-14.4-02": anml.UsageNone, "ANML-14.4-03": anml.UsageDisplay, "ANML-14.4-04": anml.UsageCache,
		"ANML-14.4-06": anml.UsageStore,
	} {
		t.Run(id+"/reject-more-than-"+usage.String(), func(t *testing.T) {
			for use := anml.UsageNone; use <= anml.UsageTrain; use++ {
				err := m.s.Allowed(Inform{Usage: usage, Expires: now.Add(time.Hour)}, use, now)
				if (err == nil) != (use <= usage) {
					t.Errorf("%s: %v", use, err)
				}
			}
		})
	}
	for _, id := range []string{"ANML-16.5-08", "ANML-16.5-09"} {
		for usage := anml.UsageNone; usage < anml.UsageTrain; usage++ {
			t.Run(id+"/reject-above-"+usage.String(), func(t *testing.T) {
				if err := m.s.Allowed(Inform{Usage: usage, Expires: now.Add(time.Hour)}, usage+1, now); err != ErrUsage {
					t.Error(err)
				}
			})
		}
	}
	for _, id := range []string{"ANML-14.4-05", "ANML-16.5-04"} {
		t.Run(id+"/reject-use-after-the-ttl", func(t *testing.T) {
			i := Inform{Usage: anml.UsageCache, Received: now, Expires: now.Add(time.Minute)}
			for use := anml.UsageDisplay; use <= anml.UsageCache; use++ {
				if err := m.s.Allowed(i, use, now.Add(time.Minute-1)); err != nil {
					t.Errorf("%s before: %v", use, err)
				}
				if err := m.s.Allowed(i, use, now.Add(time.Minute)); err != ErrUsage {
					t.Errorf("%s after: %v", use, err)
				}
			}
		})
	}
	t.Run("ANML-14.4-04/accept-stored-without-a-time", func(t *testing.T) {
		if err := m.s.Allowed(Inform{Usage: anml.UsageStore}, anml.UsageCache, now); err != nil {
			t.Error(err)
		}
	})
}

// TestSensitiveEachTime: whatever makes a value sensitive, the user is asked each time.
func TestSensitiveEachTime(t *testing.T) {
	doc := func(purpose string) string {
		return booking(rule("tel", "none"), askFor("tel", `purpose="`+purpose+`"`))
	}
	for word, purpose := range map[string]string{
		"health": "Health intake", "medical": "MEDICAL history", "diagnos": "for diagnosis", "insurance": "your insurance",
		"financ": "financial advice", "bank": "Banking", "payment": "prepayment", "credit": "to check credit", "income": "INCOME",
		"location": "your locations", "geo": "Geography", "whereabouts": "whereabouts", "other-letters": "ｈｅａｌｔｈ",
	} {
		t.Run("ANML-14.2-04/reject-word-"+word, func(t *testing.T) {
			asker(t).allow("tel", "*").decides(doc(purpose), "prompt sensitive")
		})
	}
	for _, field := range []string{"acme:bank", "GeoPoint", "heal\u200bth"} {
		t.Run("ANML-14.2-04/reject-name-of-a-field", func(t *testing.T) {
			st := asker(t).allow(field, "*")
			st.opts.Fields, st.user.Profile = []string{field}, Fields{field: {Text: "1"}}
			st.decides(booking(rule(field, "none"), askFor(field)), "prompt sensitive")
		})
	}
	for _, category := range []string{CategoryHealth, CategoryFinance, CategoryLocation} {
		t.Run("ANML-14.2-04/reject-category-"+category, func(t *testing.T) {
			st := asker(t).allow("tel", "*")
			st.user.Profile = Fields{"tel": {Text: "1", Category: strings.ToUpper(category)}}
			st.decides(doc("to call you"), "prompt sensitive")
		})
	}
	t.Run("ANML-14.2-04/accept-other-category", func(t *testing.T) {
		st := asker(t).allow("tel", "*")
		st.user.Profile = Fields{"tel": {Text: "1", Category: "phone"}}
		st.decides(doc("to call you"), "allow user-rule delegated")
	})
	t.Run("ANML-14.2-04/reject-classified", func(t *testing.T) {
		st := asker(t).allow("tel", "*")
		st.user.Policy.Classify = func(_ context.Context, s Subject) (string, error) {
			if s.Purpose == "to call you" {
				return "household", nil
			}
			return "", nil
		}
		st.decides(doc("to call you"), "prompt sensitive")
		st.decides(doc("to greet you"), "allow user-rule delegated")
	})
	t.Run("ANML-14.2-04/reject-earlier-consent", func(t *testing.T) {
		st := asker(t)
		if _, _, err := st.prepares(st.page(doc("payment")), Call{}).settle(all, start.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		st.decides(doc("payment"), "prompt sensitive")
		if list, err := st.s.Consents(t.Context()); err != nil || len(list) != 0 {
			t.Error(list, err)
		}
	})
}

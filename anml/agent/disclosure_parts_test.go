package agent

import (
	"slices"
	"testing"

	"github.com/lookleap/lookleap/anml"
)

// TestGroundsOfAValue has what the profile is asked, and where its answer came from.
func TestGroundsOfAValue(t *testing.T) {
	t.Run("purpose", func(t *testing.T) { // the first one that is stated
		var seen []string
		st := asker(t)
		st.user.Profile = profileOf(func(q Question) (Value, error) {
			if q.Field == "email" {
				seen = append(seen, q.Purpose)
			}
			return Value{Text: annsEmail}, nil
		})
		st.prepares(st.page(booking("", askFor("email", `purpose="one"`)+askFor("email", `purpose="two"`))), Call{})
		if !slices.Contains(seen, "one") || slices.Contains(seen, "two") {
			t.Errorf("%q", seen)
		}
	})
	t.Run("failure", func(t *testing.T) { // is another reason than no value
		st := asker(t)
		st.user.Profile = profileFunc(func() (Value, error) { return Value{}, errTest })
		if d := st.one(booking("", askFor("email"))); d.Verb != VerbRefuse || d.Code == CodeNoValue || d.Reason != anml.PolicyViolation {
			t.Error(brief(d))
		}
	})
	t.Run("sources", func(t *testing.T) { // each once
		st := asker(t)
		pageFor(t, st.net, st.session(), "https://a.example/a", titled+`<knowledge><inform>You are `+annsEmail+`</inform></knowledge>`)
		if found := st.s.sources("shop.example", Value{Text: annsEmail, Provenance: "a.example"}); len(found) != 1 || found[0].serving != "a.example" {
			t.Errorf("%+v", found)
		}
	})
}

package agent

import (
	"fmt"
	"testing"
)

// TestPolicyLimits: a policy that is full takes no more rules or domains, and keeps what it has.
func TestPolicyLimits(t *testing.T) {
	rules := make([]StandingRule, maxRules+1)
	for i := range rules {
		rules[i] = StandingRule{Field: fmt.Sprintf("f%d", i), Domain: "*", Effect: EffectAsk}
	}
	t.Run("ANML-14.1-05/reject-too-many-domains", func(t *testing.T) {
		full := &will{refused: make(map[string]bool), rules: map[ruleKey][]StandingRule{}}
		for i := range maxRules {
			full.refused[fmt.Sprintf("d%d.example", i)] = true
		}
		st := asker(t)
		st.user.Store = NewMemoryStore()
		s := st.session()
		s.user.Policy.will.Store(full)
		if s.user.Policy.RefuseDomain("shop.example") == nil || s.RefuseDomain(t.Context(), "shop.example") == nil {
			t.Error("another domain is refused")
		}
		if keys, err := st.user.Store.Keys(t.Context(), keyRefused); err != nil || len(keys) != 0 || len(s.RefusedDomains()) != maxRules {
			t.Error(keys, err)
		}
		must(t, s.RefuseDomain(t.Context(), "d1.example"))
	})
}

package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
)

// TestRefusalsOfAFailingStore: a refusal that cannot be stored applies to the session, and one that
// cannot be deleted stays.
func TestRefusalsOfAFailingStore(t *testing.T) {
	begin := func(t *testing.T) (*Session, *hookedStore) {
		store := &hookedStore{Store: NewMemoryStore(), hook: failsAt("", nil)}
		st := asker(t)
		st.user.Store = store
		return st.session(), store
	}
	refused := func(t *testing.T, s *Session, want ...string) {
		t.Helper()
		if got := s.RefusedDomains(); !slices.Equal(got, want) {
			t.Errorf("refused: %q, want %q", got, want)
		}
	}
	fails := func(t *testing.T, err error) {
		t.Helper()
		if lookleap.CodeOf(err) != lookleap.CodeIO || !errors.Is(err, errTest) {
			t.Errorf("got %v", err)
		}
	}
	t.Run("ANML-14.1-05/accept-in-this-session", func(t *testing.T) {
		s, store := begin(t)
		store.hook = failsAt("Put "+keyRefused, errTest)
		fails(t, s.RefuseDomain(t.Context(), "shop.example"))
		refused(t, s, "shop.example")
	})
	t.Run("ANML-14.1-05/reject-undoing-that-is-not-stored", func(t *testing.T) {
		s, store := begin(t)
		must(t, s.RefuseDomain(t.Context(), "shop.example"))
		store.hook = failsAt("Delete "+keyRefused, errTest)
		fails(t, s.AllowDomain(t.Context(), "shop.example"))
		refused(t, s, "shop.example")
	})
	t.Run("ANML-14.1-05/reject-unreadable-refusal", func(t *testing.T) { // it may be any domain, so nothing is sent
		s, store := begin(t)
		must(t, store.Put(t.Context(), keyRefused+"no domain", nil))
		if err := s.context.refresh(t.Context()); lookleap.CodeOf(err) != lookleap.CodeIO {
			t.Errorf("got %v", err)
		}
		must(t, store.Delete(t.Context(), keyRefused+"no domain"))
		must(t, s.context.refresh(t.Context()))
	})
	t.Run("ANML-14.1-05/accept-undone-elsewhere", func(t *testing.T) {
		s, store := begin(t)
		for _, name := range []string{"a.example", "b.example", "shop.example"} {
			must(t, s.RefuseDomain(t.Context(), name))
		}
		must(t, store.Delete(t.Context(), keyRefused+"a.example"))
		must(t, store.Delete(t.Context(), keyRefused+"shop.example"))
		must(t, s.context.refresh(t.Context()))
		refused(t, s, "b.example")
	})
	for name, undo := range map[string]func(context.Context, *Session, Store) error{
		"here": func(ctx context.Context, s *Session, _ Store) error { return s.AllowDomain(ctx, "shop.example") },
		"elsewhere": func(ctx context.Context, s *Session, store Store) error {
			return errors.Join(store.Delete(ctx, keyRefused+"shop.example"), s.context.refresh(ctx))
		},
	} {
		t.Run("ANML-14.1-05/accept-by-the-policy-after-undoing-"+name, func(t *testing.T) { // which is not in the store
			s, store := begin(t)
			must(t, s.RefuseDomain(t.Context(), "shop.example"))
			must(t, undo(t.Context(), s, store))
			refused(t, s)
			must(t, s.user.Policy.RefuseDomain("shop.example"))
			must(t, s.context.refresh(t.Context()))
			refused(t, s, "shop.example")
		})
	}
}

// TestPolicyLimits: a policy that is full takes no more rules or domains, and keeps what it has.
func TestPolicyLimits(t *testing.T) {
	rules := make([]StandingRule, maxRules+1)
	for i := range rules {
		rules[i] = StandingRule{Field: fmt.Sprintf("f%d", i), Domain: "*", Effect: EffectAsk}
	}
	t.Run("ANML-14.1-05/reject-too-many-rules", func(t *testing.T) {
		p := new(UserPolicy)
		if p.Set(rules...) == nil || len(p.Rules()) != 0 {
			t.Errorf("%d rules", len(p.Rules()))
		}
		must(t, p.Set(rules[1:]...))
		if p.Set(rules[0]) == nil || len(p.Rules()) != maxRules {
			t.Errorf("%d rules", len(p.Rules()))
		}
		must(t, p.Set(StandingRule{Field: rules[1].Field, Domain: "*", Effect: EffectDeny})) // in place of another
	})
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
	t.Run("ANML-14.1-05/reject-domain-taken-back-while-it-is-stored", func(t *testing.T) { // by a policy that is full then
		full := &will{refused: make(map[string]bool), rules: map[ruleKey][]StandingRule{}}
		for i := range maxRules {
			full.refused[fmt.Sprintf("d%d.example", i)] = true
		}
		store := &hookedStore{Store: NewMemoryStore(), hook: failsAt("", nil)}
		st := asker(t)
		st.user.Store = store
		s := st.session()
		store.hook = func(call string) error {
			if strings.HasPrefix(call, "Put "+keyRefused) {
				s.user.Policy.will.Store(full)
			}
			return nil
		}
		if s.RefuseDomain(t.Context(), "shop.example") == nil {
			t.Error("a domain that is not refused is reported as refused")
		}
	})
}

package agent

import (
	"context"
	"slices"
	"testing"

	"github.com/lookleap/lookleap/internal/lab/labprompt"
)

// TestRefusedNames: the user may refuse every name that there is, also of networks
// that are nobody's.
func TestRefusedNames(t *testing.T) {
	for name, want := range map[string]string{
		"a.test": "a.test", "A.Test.": "a.test", "printer.local": "printer.local", "localhost": "localhost", "192.0.2.7": "192.0.2.7",
		"Shop.example.": "shop.example", "https://www.shop.example:8443/x": "www.shop.example", "bücher.example": "xn--bcher-kva.example",
		"XN--BCHER-KVA.example": "xn--bcher-kva.example",
	} {
		st := asker(t)
		st.user.Store = NewMemoryStore()
		s := st.session()
		must(t, s.RefuseDomain(t.Context(), name))
		if got := s.RefusedDomains(); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %q", name, got)
		}
		st.s, st.user.Policy = nil, &UserPolicy{}
		if got := st.session().RefusedDomains(); !slices.Equal(got, []string{want}) {
			t.Errorf("%s in the next session: %q", name, got)
		}
		must(t, st.s.AllowDomain(t.Context(), name))
		if got := st.s.RefusedDomains(); len(got) != 0 {
			t.Errorf("%s: still %q", name, got)
		}
	}
	for _, name := range []string{"", "*", "a b", "*.a.test", "a/b"} {
		if s := asker(t).session(); s.RefuseDomain(t.Context(), name) == nil || len(s.RefusedDomains()) != 0 {
			t.Errorf("%q is taken", name)
		}
	}
}

// meanwhile is a store in which something happens while its refused domains are
// listed: what comes back is from before.
type meanwhile struct {
	Store
	happens func()
}

func (m *meanwhile) Keys(ctx context.Context, prefix string) ([]string, error) {
	keys, err := m.Store.Keys(ctx, prefix)
	if f := m.happens; f != nil && prefix == keyRefused {
		m.happens = nil
		f()
	}
	return keys, err
}

// TestRefusedWhileSending: a refusal that comes while a call is settled is not
// undone by what the store said before.
func TestRefusedWhileSending(t *testing.T) {
	for name, before := range map[string]func(t *testing.T, s *Session, store Store){
		"first-time": func(*testing.T, *Session, Store) {},
		"once-more": func(t *testing.T, s *Session, store Store) { // another session took it back
			must(t, s.RefuseDomain(t.Context(), "shop.example"))
			must(t, store.Delete(t.Context(), keyRefused+"shop.example"))
			must(t, s.user.Policy.AcceptDomain("shop.example"))
		},
	} {
		t.Run("reject-"+name, func(t *testing.T) {
			st := newStand(t, labprompt.Deny()).allow("email", "*")
			store := &meanwhile{Store: NewMemoryStore()}
			st.user.Store = store
			s := st.session()
			before(t, s, store.Store)
			x := st.prepares(st.page(booking(rule("email", "none"), askFor("email"))), Call{})
			store.happens = func() { must(t, s.RefuseDomain(t.Context(), "shop.example")) }
			x.sends(all, `<refuse field="email" reason="user-denied"`, "!"+annsEmail)
			x.sends(all, `<refuse field="email" reason="user-denied"`, "!"+annsEmail)
			if got := s.RefusedDomains(); !slices.Equal(got, []string{"shop.example"}) {
				t.Error(got)
			}
		})
	}
}

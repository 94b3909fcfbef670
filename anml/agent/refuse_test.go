package agent

import (
	"slices"
	"testing"
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
		st.s, st.user.Policy = nil, &Policy{}
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

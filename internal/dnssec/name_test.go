package dnssec

import (
	"strings"
	"testing"
)

// TestNameBounds: a name has at most 255 bytes, with its wildcard label too, and the root is its
// own parent.
func TestNameBounds(t *testing.T) {
	longest := wire(t, strings.Repeat("a.", 127))
	if n, ok := nameOf(strings.Repeat("a.", 126) + "aa."); ok {
		t.Errorf("a name of %d bytes", len(n))
	}
	for n, want := range map[name]bool{longest: false, wire(t, "aa."+strings.Repeat("a.", 125)): false, longest.parent(): true, rootName: true} {
		if w, ok := n.wildcard(); ok != want || ok && (!w.isWildcard() || w.parent() != n) || !ok && w != "" {
			t.Errorf("%d bytes: %q, %v", len(n), w, ok)
		}
	}
	if n := rootName.parent(); n != rootName || n.labels() != 0 {
		t.Errorf("above the root is %q", n)
	}
	for n, want := range map[name]string{rootName: ".", wire(t, "A.b"): "a.b.", "\x05a": "?"} {
		if got := n.String(); got != want {
			t.Errorf("%q: %s, want %s", n, got, want)
		}
	}
}

package agentstxt

import (
	"fmt"
	"testing"
)

// The numbers of rules around the powers of two are where a slot's bits are
// scarce.
func TestIndexFindsEveryRule(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 7, 8, 9, 255, 256, 257, 4095, 4096} {
		lines := make([]string, n)
		for i := range lines {
			lines[i] = fmt.Sprintf("/%d/ DISALLOW", i)
		}
		p := mustParse(t, Options{}, lines...)
		for i := range lines {
			if d := p.Decide(fmt.Sprintf("/%d/x", i)); d.Line != i+2 {
				t.Fatalf("%d rules: %v, want line %d", n, d, i+2)
			}
		}
		if d := p.Decide(fmt.Sprintf("/%d/x", n)); d.Matched || !d.Allowed {
			t.Errorf("%d rules: %v, want no rule", n, d)
		}
	}
}

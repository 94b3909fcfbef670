package main

import (
	"strings"
	"testing"
)

// TestGrowth measures the families that found something once, at small sizes. The
// program measures the others. Processor time and its ratio to the size are
// compared, never a duration; what looks slow is measured again before it counts.
func TestGrowth(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures")
	}
	known := []string{"everything/", "told/covered", "told/informs", "told/asks", "told/actions", "xml/patterns", "xml/attributes",
		"pair/interact/action/knowledge/ask/distinct", "pair/status/knowledge/ask/equal", "wide/body/data/item/field/distinct", "wide/footer/rights/equal"}
	for _, target := range targets() {
		for _, f := range target.families {
			for _, name := range known {
				if !strings.HasPrefix(f.name, name) {
					continue
				}
				r := measure(target, f, 8<<10)
				if r.took[steps-1] > mostNsPerByte*8<<10 && r.exponent > 1.6 {
					t.Errorf("grows too fast: %s", &r)
				}
			}
		}
	}
}

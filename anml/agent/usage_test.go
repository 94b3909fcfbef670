package agent_test

import (
	"testing"

	"github.com/lookleap/lookleap/anml"
)

// At Tier 1 only what is public is the site's: of the rest, nothing that the site
// would permit is permitted.
func TestUsageAtTier1(t *testing.T) {
	r := newRetail(t).grants(1, "knowledge")
	r.open(`<site domain="brand.example"><knowledge><inform usage="store">public</inform><inform usage="store" confidentiality="restricted">restricted</inform></knowledge></site>`)
	want := map[string]anml.Usage{"public": anml.UsageStore, "restricted": anml.UsageDisplay}
	for i := range r.session.Context().Informs("") {
		if i.Usage != want[i.Text] {
			t.Errorf("%s: %v", i.Text, i.Usage)
		}
		delete(want, i.Text)
	}
	if len(want) > 0 {
		t.Error("not there:", want)
	}
}

package agent_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anml/agent"
)

// TestPartiesWithoutAClaim: names that no claim can be verified for are parties without authority.
func TestPartiesWithoutAClaim(t *testing.T) {
	t.Run("X4/reject-site-whose-name-is-too-long", func(t *testing.T) { // for a record: it is shown as it is written
		long := strings.Repeat("abcdefg.", 30) + "example.org" // 251 bytes
		p := newRetail(t).open(everything(long))
		if i := slices.IndexFunc(p.Parties(), func(x agent.Party) bool { return x.Domain == long }); i < 0 || p.Parties()[i].Tier != 0 || p.Parties()[i].Err == nil {
			t.Errorf("%+v", p.Parties())
		}
	})
	t.Run("X4/reject-names-that-contradict-each-other", func(t *testing.T) { // which the document's findings say
		p := newRetail(t).open(`<head><title>T</title><trust domain="brand.example"/><trust domain="other.example"/></head>`)
		if !slices.ContainsFunc(p.Document().Findings(), func(f lookleap.Finding) bool { return f.Code == anml.CodeClaim }) {
			t.Errorf("%+v", p.Document().Findings())
		}
		for _, party := range p.Parties() {
			if party.Domain != "shop.example" && party.Tier != 0 {
				t.Errorf("%+v", party)
			}
		}
	})
}

package anmltrust_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/lookleaptest"
)

// TestMemory: what is remembered is bounded in bytes, not only in number.
func TestMemory(t *testing.T) {
	start := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	entries := make([]string, 1000)
	for i := range entries {
		entries[i] = fmt.Sprintf(`{"domain":"partner-%d.example.net","tier":2,"scope":["body"]}`, i)
	}
	ask := func(t *testing.T, bytes int) *anmltrust.Verifier {
		t.Helper()
		net := lookleaptest.ForTest(t)
		net.Clock().Freeze()
		net.Clock().Set(start)
		v := anmltrust.NewVerifier(net.StubHost(), anmltrust.Rules{})
		anmltrust.Remember(v, 4096, 256, bytes)
		for i := range 10 {
			site := fmt.Sprintf("brand-%d.example", i)
			net.Name("_anml." + site).TXT("v=anml1;manifest=https://" + site + "/trust").TTL(time.Hour)
			net.Site(site).File("/trust", anmltrust.ManifestMediaType, fmt.Sprintf(
				`{"version":"1.0","site":%q,"issued":"2026-05-01T00:00:00Z","expires":"2026-07-01T00:00:00Z","authorized-domains":[%s]}`, site, strings.Join(entries, ",")))
			if _, err := v.Verify(t.Context(), anmltrust.Claim{URL: "https://partner-1.example.net/x", Site: site}); err != nil {
				t.Fatal(err)
			}
		}
		return v
	}
	t.Run("O61/accept-default", func(t *testing.T) {
		if manifests, _, decisions, _ := anmltrust.Remembered(ask(t, 64<<20)); manifests != 10 || decisions != 10 {
			t.Errorf("%d manifests, %d decisions", manifests, decisions)
		}
	})
	t.Run("O61/reject-manifests-beyond-the-limit", func(t *testing.T) {
		const most = 250 << 10
		if n, bytes, _, _ := anmltrust.Remembered(ask(t, most)); n == 0 || n >= 10 || bytes > most {
			t.Errorf("%d manifests of %d bytes", n, bytes)
		}
	})
	t.Run("O61/reject-verdicts-beyond-the-limit", func(t *testing.T) {
		const most = 20 << 10
		if _, _, n, bytes := anmltrust.Remembered(ask(t, most)); n == 0 || n >= 10 || bytes > most {
			t.Errorf("%d decisions of %d bytes", n, bytes)
		}
	})
}

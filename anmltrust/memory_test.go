package anmltrust

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap/internal/lab"
)

// TestMemory: what is remembered is bounded in bytes, not only in number.
func TestMemory(t *testing.T) {
	start := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	entries := make([]string, 1000)
	for i := range entries {
		entries[i] = fmt.Sprintf(`{"domain":"partner-%d.example.net","tier":2,"scope":["body"]}`, i)
	}
	ask := func(t *testing.T, limits Limits) *memory {
		t.Helper()
		net := lab.ForTest(t)
		net.Clock().Freeze()
		net.Clock().Set(start)
		v := NewVerifier(net.Host(), Options{Limits: limits})
		for i := range 10 {
			site := fmt.Sprintf("brand-%d.example", i)
			net.Name("_anml." + site).TXT("v=anml1;manifest=https://" + site + "/trust").TTL(time.Hour)
			net.Site(site).Body("/trust", ManifestMediaType, fmt.Sprintf(
				`{"version":"1.0","site":%q,"issued":"2026-05-01T00:00:00Z","expires":"2026-07-01T00:00:00Z","authorized-domains":[%s]}`, site, strings.Join(entries, ",")))
			if _, err := v.Verify(t.Context(), Claim{URL: "https://partner-1.example.net/x", Site: site}); err != nil {
				t.Fatal(err)
			}
		}
		return v.memory
	}
	t.Run("O61/accept-default", func(t *testing.T) {
		m := ask(t, Limits{})
		if n := len(m.manifests.keys()); n != 10 {
			t.Errorf("%d manifests", n)
		}
		if n := len(m.decisions.keys()); n != 10 {
			t.Errorf("%d decisions", n)
		}
	})
	t.Run("O61/reject-manifests-beyond-the-limit", func(t *testing.T) {
		const most = 250 << 10
		m := ask(t, Limits{Memory: most})
		if n := len(m.manifests.keys()); n == 0 || n >= 10 || m.manifests.bytes > most {
			t.Errorf("%d manifests of %d bytes", n, m.manifests.bytes)
		}
	})
	t.Run("O61/reject-verdicts-beyond-the-limit", func(t *testing.T) {
		const most = 20 << 10
		m := ask(t, Limits{Memory: most})
		if n := len(m.decisions.keys()); n == 0 || n >= 10 || m.decisions.bytes > most || m.standing.Bytes() > most {
			t.Errorf("%d decisions of %d bytes, answers of %d", n, m.decisions.bytes, m.standing.Bytes())
		}
	})
}

// TestWithdrawal: a definitive no ends the grants that it is about, and no others.
func TestWithdrawal(t *testing.T) {
	s := subject{Server{Host: "cdn.shop.example", Domain: "shop.example"}, "brand.example"}
	keys := []struct {
		name string
		key  decisionKey
	}{
		{"host", decisionKey{s.pair(), "cdn.shop.example"}},
		{"query", decisionKey{s.pair(), ""}},
		{"other-host", decisionKey{s.pair(), "www.shop.example"}},
		{"other-server", decisionKey{pair{"other.example", "brand.example"}, "cdn.shop.example"}},
		{"other-server's-query", decisionKey{pair{"other.example", "brand.example"}, ""}},
		{"other-site", decisionKey{pair{"shop.example", "other.example"}, "cdn.shop.example"}},
		{"other-site's-query", decisionKey{pair{"shop.example", "other.example"}, ""}},
	}
	for w, want := range map[withdrawal]string{
		withdrawHost: "host query", withdrawHostOnly: "host", withdrawPair: "host query other-host",
		withdrawSite: "host query other-host other-server other-server's-query", withdrawAll: "host query other-host other-server other-server's-query",
	} {
		m := newMemory(Limits{}.withDefaults(), nil)
		var covered []string
		for _, k := range keys {
			m.remember(k.key, &decision{auth: &Authorization{}})
		}
		m.withdraw(w, s)
		for _, k := range keys {
			if left, _ := m.decisions.get(k.key); left.grant == nil {
				covered = append(covered, k.name)
			}
		}
		if got := strings.Join(covered, " "); got != want {
			t.Errorf("withdrawal %d ends %q, want %q", w, got, want)
		}
	}
}

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/lookleaptest"
)

// TestTrust asks who may speak for bank.example, and judges the answers again offline.
func TestTrust(t *testing.T) {
	n := lookleaptest.ForTest(t)
	manifest, err := anmltrust.BuildManifest("bank.example", time.Now().Add(-time.Hour), 0,
		anmltrust.Entry{Domain: "partner.example", Tier: anmltrust.Full, Scope: anmltrust.ScopeOf("interact", "body")})
	if err != nil {
		t.Fatal(err)
	}
	n.Site("bank.example").File("/.well-known/anml-trust", anmltrust.ManifestMediaType, string(manifest))
	n.Name("_anml.bank.example").TXT("v=anml1; manifest=https://bank.example/.well-known/anml-trust")
	door := opened(t, n).Args()

	type decision struct {
		Tier, Row, Reason string
	}
	for _, c := range []struct {
		url, site, code, tier, row string
	}{
		{"https://partner.example/page", "bank.example", "listed", "full", "L3"},
		{"https://bank.example/page", "bank.example", "self", "self", "B1"},
		{"https://evil.example/page", "bank.example", "not-listed", "unlisted", "L2"},
		{"https://partner.example/page", "quiet.example", "no-record", "unlisted", "C4"},
		{"http://partner.example/page", "bank.example", "insecure-transport", "unlisted", "A1"},
	} {
		t.Run(c.code, func(t *testing.T) {
			for _, mode := range [][]string{nil, {"--fresh"}} {
				got := judged[decision](t, append(append(door, "trust", c.url, c.site), mode...)...)
				granted := c.tier != "unlisted"
				if got.OK != granted || (got.exit == 0) != granted || got.Value.Tier != c.tier || got.Value.Reason != c.code || got.Value.Row != c.row {
					t.Errorf("%v: exit %d, got %+v", mode, got.exit, got)
				}
				file := writeFile(t, filepath.Join(t.TempDir(), "verdict.json"), got.text)
				again := judged[decision](t, "replay", file)
				if again.OK != got.OK || again.Value.Tier != c.tier || again.Value.Reason != c.code || again.Value.Row != c.row {
					t.Errorf("judged again: %+v", again)
				}
				if later := judged[any](t, "replay", file, "--at", "2099-01-01T00:00:00Z"); later.OK && c.tier == "full" {
					t.Errorf("a grant of today holds in 2099: %+v", later)
				}
			}
		})
	}

	file := writeFile(t, filepath.Join(t.TempDir(), "manifest.json"), string(manifest))
	for _, c := range []struct {
		name string
		args []string
		code string
	}{
		{"manifest", []string{"--site", "bank.example"}, "ok"},
		{"manifest-listed", []string{"--site", "bank.example", "--serving", "partner.example"}, "ok"},
		{"manifest-not-listed", []string{"--site", "bank.example", "--serving", "evil.example"}, "not-listed"},
		{"manifest-other-site", []string{"--site", "other.example"}, "manifest-site-mismatch"},
		{"manifest-expired", []string{"--site", "bank.example", "--at", "2099-01-01T00:00:00Z"}, "manifest-expired"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := judged[any](t, append([]string{"manifest", file}, c.args...)...); got.Code != c.code {
				t.Errorf("got %s", got.text)
			}
		})
	}
}

// TestReplayReadsOnce replays texts that two readers could read as two verdicts.
func TestReplayReadsOnce(t *testing.T) {
	forger, err := os.ReadFile("testdata/trust-forger.json")
	if err != nil {
		t.Fatal(err)
	}
	retailer, err := os.ReadFile("testdata/trust-retailer.json")
	if err != nil {
		t.Fatal(err)
	}
	t.Run("P08", func(t *testing.T) {
		for name, text := range map[string]string{
			"reject-replay-of-two-verdicts":        fmt.Sprintf(`{"verdict":%s,"verdict":%s}`, forger, retailer),
			"reject-replay-of-verdict-in-capitals": fmt.Sprintf(`{"VERDICT":%s}`, retailer),
			"reject-replay-of-capital-member":      strings.Replace(string(retailer), `"ok"`, `"OK"`, 1),
		} {
			t.Run(name, func(t *testing.T) {
				var stdout, stderr bytes.Buffer
				exit := run(t.Context(), []string{"--json", "replay", "-"}, strings.NewReader(text), &stdout, &stderr)
				if exit == 0 || !strings.Contains(stdout.String(), `"code":"usage"`) {
					t.Errorf("exit %d: %s%s", exit, &stdout, &stderr)
				}
			})
		}
		t.Run("accept-replay-of-a-result", func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			text := fmt.Sprintf(`{"input":"x","verdict":%s}`, retailer)
			if exit := run(t.Context(), []string{"replay", "-"}, strings.NewReader(text), &stdout, &stderr); exit != 0 {
				t.Errorf("exit %d: %s%s", exit, &stdout, &stderr)
			}
		})
	})
}

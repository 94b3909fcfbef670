package anmltrust_test

import (
	"context"
	"fmt"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/lookleaptest"
)

// A shop shows a brand's product, and the brand's manifest lists the shop.
func Example() {
	net := lookleaptest.NewInternet()
	defer net.Close()
	net.Name("_anml.brand.example").TXT("v=anml1;manifest=https://brand.example/trust")
	net.Site("brand.example").File("/trust", anmltrust.ManifestMediaType, `{
		"version": "1.0", "site": "brand.example", "issued": "2026-01-01T00:00:00Z", "expires": "2099-01-01T00:00:00Z",
		"authorized-domains": [{"domain": "shop.example", "tier": 1, "scope": ["body", "interact"]}]}`)
	host := net.Host()

	verifier := anmltrust.NewVerifier(host, anmltrust.Rules{})
	claim := anmltrust.Claim{URL: "https://www.shop.example/product", Site: "brand.example"}
	auth, err := verifier.Verify(context.Background(), claim)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(auth.Tier, auth.Scope, auth.Reason)
	fmt.Println(auth.Permits(anmltrust.Body, host.Time()), auth.Permits(anmltrust.Interact, host.Time()))

	claim.URL = "https://impostor.example/product"
	_, err = verifier.Verify(context.Background(), claim)
	fmt.Println(lookleap.CodeOf(err))
	// Output:
	// display body listed
	// true false
	// not-listed
}

func ExampleParseRecord() {
	r, err := anmltrust.ParseRecord("v=anml1; manifest=https://brand.example/trust; query=https://trust.example/ask")
	fmt.Println(r, err)
	_, err = anmltrust.ParseRecord("v=anml1; manifest=http://brand.example/trust")
	fmt.Println(lookleap.CodeOf(err))
	// Output:
	// v=anml1;manifest=https://brand.example/trust;query=https://trust.example/ask <nil>
	// record-malformed
}

func ExampleRecord_Zone() {
	r := &anmltrust.Record{Manifest: "https://brand.example/trust"}
	fmt.Println(r.Zone("brand.example", time.Hour))
	// Output:
	// _anml.brand.example. 3600 IN TXT "v=anml1;manifest=https://brand.example/trust" <nil>
}

func ExampleManifest_Lookup() {
	data, err := anmltrust.BuildManifest("brand.example", time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC), 0,
		anmltrust.Entry{Domain: "*.cdn.example.net", Tier: anmltrust.Display, Scope: anmltrust.ScopeOf(anmltrust.Body)})
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := anmltrust.ParseManifest(data)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, url := range []string{"https://a.cdn.example.net/x", "https://a.b.cdn.example.net/x"} {
		server, _ := anmltrust.ServerOf(url)
		l := m.Lookup(server)
		fmt.Printf("%q %s %s\n", l.Pattern, l.Tier, l.Scope)
	}
	// Output:
	// "*.cdn.example.net" display body
	// "" unlisted
}

func ExampleReplay() {
	evidence := anmltrust.Evidence{DNS: &anmltrust.DNSEvidence{Name: "_anml.brand.example", Outcome: anmltrust.DNSBogus}}
	_, err := anmltrust.Decide(anmltrust.Claim{URL: "https://shop.example/x", Site: "brand.example"}, evidence, time.Unix(0, 0))
	fmt.Println(lookleap.CodeOf(err))

	stored := err.(*lookleap.VerifyError).Verdict
	_, err = anmltrust.Replay(stored, stored.CheckedAt)
	fmt.Println(lookleap.CodeOf(err), anmltrust.Row(stored))
	// Output:
	// dnssec-bogus
	// dnssec-bogus C3
}

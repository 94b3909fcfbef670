package anmltrust_test

import (
	"reflect"
	"testing"

	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/test/zerotest"
)

func TestZeroValues(t *testing.T) {
	zerotest.Run(t, []reflect.Type{
		reflect.TypeFor[anmltrust.QueryResponse](), reflect.TypeFor[anmltrust.Attribution](), reflect.TypeFor[anmltrust.Authorization](),
		reflect.TypeFor[anmltrust.Authorizer](), reflect.TypeFor[anmltrust.Claim](), reflect.TypeFor[anmltrust.DNSEvidence](),
		reflect.TypeFor[anmltrust.DNSOutcome](), reflect.TypeFor[anmltrust.Document](), reflect.TypeFor[anmltrust.Entry](),
		reflect.TypeFor[anmltrust.Evidence](), reflect.TypeFor[anmltrust.Exchange](),
		reflect.TypeFor[anmltrust.Failure](), reflect.TypeFor[anmltrust.Form](), reflect.TypeFor[anmltrust.Interaction](),
		reflect.TypeFor[anmltrust.Listing](), reflect.TypeFor[anmltrust.Manifest](),
		reflect.TypeFor[anmltrust.Mechanism](), reflect.TypeFor[anmltrust.Rules](),
		reflect.TypeFor[anmltrust.Outcome](),
		reflect.TypeFor[anmltrust.Record](), reflect.TypeFor[anmltrust.Scope](), reflect.TypeFor[anmltrust.Section](),
		reflect.TypeFor[anmltrust.SelfSubdomains](), reflect.TypeFor[anmltrust.Server](), reflect.TypeFor[anmltrust.SiteClaim](),
		reflect.TypeFor[anmltrust.Tier](), reflect.TypeFor[anmltrust.TrustClaim](), reflect.TypeFor[anmltrust.Verifier](),
	}, map[string]any{
		"Attribute": anmltrust.Attribute, "BuildManifest": anmltrust.BuildManifest, "Confirm": anmltrust.Confirm,
		"Decide": anmltrust.Decide, "LintManifest": anmltrust.LintManifest, "LintRecord": anmltrust.LintRecord, "NewManifestHandler": anmltrust.NewManifestHandler,
		"NewVerifier": anmltrust.NewVerifier, "NormalizeSite": anmltrust.NormalizeSite, "ParseQueryResponse": anmltrust.ParseQueryResponse,
		"ParseManifest": anmltrust.ParseManifest, "ParseRecord": anmltrust.ParseRecord, "NewQueryHandler": anmltrust.NewQueryHandler,
		"Replay": anmltrust.Replay, "Row": anmltrust.Row, "ScopeOf": anmltrust.ScopeOf,
		"ServerOf": anmltrust.ServerOf,
	})
}

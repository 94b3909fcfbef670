package lookleap_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/test/zerotest"
)

func TestZeroValues(t *testing.T) {
	zerotest.Run(t, []reflect.Type{
		reflect.TypeFor[lookleap.DNSAnswer](), reflect.TypeFor[lookleap.Approval](), reflect.TypeFor[lookleap.AskLimits](),
		reflect.TypeFor[lookleap.BogusError](), reflect.TypeFor[lookleap.Check](), reflect.TypeFor[lookleap.Code](),
		reflect.TypeFor[lookleap.ConsentDecision](), reflect.TypeFor[lookleap.Error](), reflect.TypeFor[lookleap.ConsentItem](),
		reflect.TypeFor[lookleap.ConsentKind](), reflect.TypeFor[lookleap.ConsentLine](), reflect.TypeFor[lookleap.ConsentPart](),
		reflect.TypeFor[lookleap.ConsentRequest](), reflect.TypeFor[lookleap.ConsentSection](), reflect.TypeFor[lookleap.ConsentValue](),
		reflect.TypeFor[lookleap.DNSSEC](), reflect.TypeFor[lookleap.Event](), reflect.TypeFor[lookleap.EventKind](),
		reflect.TypeFor[lookleap.Evidence](), reflect.TypeFor[lookleap.FetcherOptions](), reflect.TypeFor[lookleap.AllowPrefix](),
		reflect.TypeFor[lookleap.Finding](), reflect.TypeFor[lookleap.Host](), reflect.TypeFor[lookleap.ItemClass](), reflect.TypeFor[lookleap.Keys](),
		reflect.TypeFor[lookleap.PartKind](), reflect.TypeFor[lookleap.PendingError](),
		reflect.TypeFor[lookleap.Rate](), reflect.TypeFor[lookleap.AlreadyDoneError](), reflect.TypeFor[lookleap.Effect](),
		reflect.TypeFor[lookleap.FileStore](), reflect.TypeFor[lookleap.PlanRecord](), reflect.TypeFor[lookleap.PlanState](), reflect.TypeFor[lookleap.PlanOutcome](),
		reflect.TypeFor[lookleap.Plan](), reflect.TypeFor[lookleap.Position](), reflect.TypeFor[lookleap.RRType](),
		reflect.TypeFor[lookleap.ResponseError](), reflect.TypeFor[lookleap.Record](), reflect.TypeFor[lookleap.RemoteText](), reflect.TypeFor[lookleap.ResolverOptions](),
		reflect.TypeFor[lookleap.SRV](), reflect.TypeFor[lookleap.Severity](), reflect.TypeFor[lookleap.Status](),
		reflect.TypeFor[lookleap.SuspendingPrompter](),
		reflect.TypeFor[lookleap.Verdict](), reflect.TypeFor[lookleap.VerifyError](), reflect.TypeFor[lookleap.ZoneLink](),
	}, map[string]any{
		"ReadPublicSuffixList": lookleap.ReadPublicSuffixList, "UsePublicSuffixList": lookleap.UsePublicSuffixList, "PublicSuffixVersion": lookleap.PublicSuffixVersion,
		"CodeOf": lookleap.CodeOf, "Retryable": lookleap.Retryable, "Codes": lookleap.Codes, "Digest": lookleap.Digest,
		"OpenStore": lookleap.OpenStore, "UpdateRecord": lookleap.UpdateRecord, "NewMemoryStore": lookleap.NewMemoryStore, "LogEvents": lookleap.LogEvents, "NetResolver": lookleap.NetResolver, "NewFetcher": lookleap.NewFetcher,
		"NewMemoryCache": lookleap.NewMemoryCache, "NewMemoryCacheSize": lookleap.NewMemoryCacheSize, "NewMemoryLimiter": lookleap.NewMemoryLimiter, "InDoubt": lookleap.InDoubt, "NothingSent": lookleap.NothingSent, "NewPlan": lookleap.NewPlan, "NewResolver": lookleap.NewResolver, "NewKey": lookleap.NewKey,
		"ParsePlan": lookleap.ParsePlan, "SealedCache": lookleap.SealedCache, "WithUser": lookleap.WithUser,
	})
}

// TestNoHost uses a nil host with what would be complete otherwise.
func TestNoHost(t *testing.T) {
	var host *lookleap.Host
	plan, err := lookleap.NewPlan(lookleap.ConsentRequest{
		Kind: lookleap.ConsentAct, Origin: "https://example.com", Summary: "Book a table",
		Items: []lookleap.ConsentItem{{ID: "1", Summary: "the booking", Recipient: "example.com"}},
	}, []byte("book"), planTime)
	if err != nil {
		t.Fatal(err)
	}
	request := plan.Request()
	approval, err := plan.Approve(lookleap.ConsentDecision{Digest: request.Digest, Approved: []string{request.Items[0].ID}}, planTime)
	if err != nil {
		t.Fatal(err)
	}
	_, fetchErr := host.RoundTrip(httptest.NewRequest(http.MethodPost, "https://example.com/", strings.NewReader("x")))
	_, lookupErr := host.Lookup(t.Context(), "example.com", lookleap.TypeTXT)
	_, promptErr := host.PromptConsent(t.Context(), request)
	_, askErr := host.Ask(t.Context(), plan)
	_, decideErr := host.Decide(t.Context(), plan, lookleap.ConsentDecision{Digest: request.Digest})
	commitErr := commitTo(host, t.Context(), approval, func(context.Context, []byte) error { t.Error("it acts"); return nil })
	_, _, getErr := host.SharedCache().Get(t.Context(), "k")
	_, stateErr := (*lookleap.Plan)(nil).State()
	_, nilErr := (&lookleap.Host{}).Ask(t.Context(), nil)
	for name, err := range map[string]error{"round-trip": fetchErr, "lookup": lookupErr, "prompt": promptErr, "ask": askErr, "decide": decideErr,
		"commit": commitErr, "cache": getErr, "state": stateErr, "nil-plan": nilErr} {
		t.Run("O27/reject-"+name, func(t *testing.T) {
			if lookleap.CodeOf(err) != lookleap.CodeUsage {
				t.Errorf("got %v", err)
			}
		})
	}
}

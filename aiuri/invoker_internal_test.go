package aiuri

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/fetch"
)

// lookups answers by name; a function may also change something.
type lookups map[string]func() (*lookleap.DNSAnswer, error)

func (l lookups) Lookup(_ context.Context, name string, _ lookleap.RRType) (*lookleap.DNSAnswer, error) {
	if f := l[name]; f != nil {
		return f()
	}
	return &lookleap.DNSAnswer{}, nil
}

// TestBootstrap: which DNS records count, and which make the discovery fail.
func TestBootstrap(t *testing.T) {
	const txt, srv = "_aiip.shop.example", "_aiip._tcp.shop.example"
	texts := func(all ...string) func() (*lookleap.DNSAnswer, error) {
		a := &lookleap.DNSAnswer{TTL: time.Hour}
		for _, text := range all {
			a.Records = append(a.Records, lookleap.Record{Text: text})
		}
		return func() (*lookleap.DNSAnswer, error) { return a, nil }
	}
	fails := func(err error) func() (*lookleap.DNSAnswer, error) {
		return func() (*lookleap.DNSAnswer, error) { return nil, err }
	}
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	left := func() (*lookleap.DNSAnswer, error) { leave(); return nil, errors.New("no answer") }
	for _, c := range []struct {
		name     string
		ctx      context.Context
		lookups  lookups
		code     lookleap.Code
		endpoint string
		findings int
	}{
		{"nothing", t.Context(), nil, lookleap.CodeOK, "", 0},
		{"one", t.Context(), lookups{txt: texts("v=1 endpoint=ai://bank/x", "endpoint=ai://Bank/x")}, lookleap.CodeOK, "ai://bank/x", 0},
		{"two", t.Context(), lookups{txt: texts("endpoint=ai://bank/x", "endpoint=ai://bank/y")}, CodeAmbiguousDNS, "", 0},
		{"no-authority", t.Context(), lookups{txt: texts("endpoint=ai:/x")}, lookleap.CodeOK, "", 1},
		{"no-uri", t.Context(), lookups{txt: texts("endpoint=x endpoint=y", "endpoint=ai://bank/x")}, lookleap.CodeOK, "ai://bank/x", 1},
		{"forged-text", t.Context(), lookups{txt: fails(lookleap.ErrBogus)}, lookleap.CodeDNSSECBogus, "", 0},
		{"forged-service", t.Context(), lookups{txt: texts("endpoint=ai://bank/x"), srv: fails(lookleap.ErrBogus)}, lookleap.CodeDNSSECBogus, "", 0},
		{"no-answer", t.Context(), lookups{srv: fails(errors.New("no answer"))}, lookleap.CodeOK, "", 1},
		{"no-service-data", t.Context(), lookups{srv: texts("x")}, lookleap.CodeOK, "", 0},
		{"caller-left", ctx, lookups{srv: left}, lookleap.CodeCancelled, "", 0},
		{"caller-left-before", ctx, nil, lookleap.CodeCancelled, "", 0},
		{"caller-left-with-an-answer", ctx, lookups{txt: texts("endpoint=ai://bank/x", "endpoint=ai://bank/y")}, lookleap.CodeCancelled, "", 0},
		{"other-field-first", t.Context(), lookups{txt: texts("v=1 endpoint=ai://bank/x")}, lookleap.CodeOK, "ai://bank/x", 0},
	} {
		b, err := lookupBootstrap(c.ctx, c.lookups, "shop.example", nil)
		if lookleap.CodeOf(err) != c.code || err == nil && (b.endpoint.String() != c.endpoint || len(b.findings) != c.findings) {
			t.Errorf("%s: %+v, %v", c.name, b, err)
		}
	}
}

// TestAgreement: advertisements of one endpoint do not disagree.
func TestAgreement(t *testing.T) {
	document, err := ParseDescriptor([]byte(`{"endpoint":"ai://bank/x"}`), "https://bank.example")
	if err != nil {
		t.Fatal(err)
	}
	for link, agrees := range map[string]bool{"ai://BANK/x": true, "ai://bank/y": false} {
		e := &evidence{document: document, links: []string{link}}
		if d, err := chooseEndpoint("https://bank.example", e, true); (err == nil) != agrees || !agrees && lookleap.CodeOf(err) != CodeDiscoveryConflict {
			t.Errorf("%s: %+v, %v", link, d, err)
		}
		if d, err := chooseEndpoint("https://bank.example", e, false); err != nil || (len(d.Findings) == 0) != agrees || d.Endpoint != document.Endpoint {
			t.Errorf("%s: %+v, %v", link, d, err)
		}
	}
}

// TestRefusalOfAGateway: an error has nothing of the gateway's text but the title of a known code.
func TestRefusalOfAGateway(t *testing.T) {
	const plain = "the gateway returned HTTP status 403"
	for _, c := range []struct{ mediaType, body, want string }{
		{"application/problem+json", `{"code":"scope"}`, plain + ": " + CodeScope.Title()},
		{"application/json", `{"code":"scope"}`, plain},
		{"application/problem+json", `{"code":"unheard-of"}`, plain},
		{"application/problem+json", `{"code":1}`, plain},
		{"application/problem+json", `{"code":"scope"`, plain},
		{"application/problem+json", `{}`, plain},
	} {
		if got := refusalOf(&fetch.Response{Status: 403, MediaType: c.mediaType, Body: []byte(c.body)}); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.mediaType, c.body, got, c.want)
		}
	}
	if r := resultOf(&fetch.Response{Header: http.Header{}}); r.Body == nil || r.JWS != "" {
		t.Errorf("a result without body: %+v", r)
	}
	if r := resultOf(&fetch.Response{Header: http.Header{"Aiip-Provenance": {"x", "y"}}, MediaType: joseType, Body: []byte("z")}); r.JWS != "" {
		t.Errorf("a result with two signatures: %+v", r)
	}
	err := hideURL(&lookleap.Error{Code: lookleap.CodeTimeout, Message: "https://ai.example/secret", Err: context.DeadlineExceeded})
	if err == nil || strings.Contains(err.Error(), "secret") || !errors.Is(err, context.DeadlineExceeded) || lookleap.CodeOf(err) != lookleap.CodeTimeout {
		t.Errorf("%v", err)
	}
}

// TestBindingOfARequest: a key counts if there is exactly one.
func TestBindingOfARequest(t *testing.T) {
	for _, c := range []struct {
		values []string
		want   string
	}{{nil, ""}, {[]string{`"a"`}, `"a"`}, {[]string{`"a"`, `"b"`}, ""}, {[]string{"a"}, ""}, {[]string{`"` + strings.Repeat("k", 128) + `"`}, `"` + strings.Repeat("k", 128) + `"`}, {[]string{`"` + strings.Repeat("k", 129) + `"`}, ""}} {
		var call Call
		if err := call.readBinding(http.Header{lookleap.IdempotencyHeader: c.values}); err != nil || call.IdempotencyKey != c.want {
			t.Errorf("%q: %q, %v", c.values, call.IdempotencyKey, err)
		}
	}
}

// TestUnmappableCall: a call whose URI has no URL at the gateway is not sent.
func TestUnmappableCall(t *testing.T) {
	host := &lookleap.Host{}
	t.Cleanup(func() { _ = host.Close() })
	i, err := NewGatewayInvoker(host, "https://ai.example/")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]lookleap.Code{"ai:/local": CodeNoAuthority, "ai://bank/" + strings.Repeat("a", MaxURI-len("ai://bank/")): CodeAmbiguous} {
		u, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := i.Invoke(t.Context(), &Call{URI: u, Method: "GET"}); lookleap.CodeOf(err) != want || r.Body != nil {
			t.Errorf("%.20s: %+v, %v", text, r, err)
		}
	}
}

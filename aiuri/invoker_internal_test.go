package aiuri

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/fetch"
)

// TestIdempotencyKeys: a key that is passed on is a short quoted string without escapes.
func TestIdempotencyKeys(t *testing.T) {
	for value, want := range map[string]bool{
		`"a"`: true, `"a b"`: true, `"~ "`: true, `""`: false, `a`: false, `"a`: false, `a"`: false, `"abc`: false, `abc"`: false, `"`: false, "": false,
		`"a"b"`: false, `"a\b"`: false, "\"a\x7f\"": false, "\"a\x1f\"": false, "\"\u00e9\"": false, "\"a\nb\"": false,
		`"\ab"`: false, `"ab\"`: false,
	} {
		if got := isKey(value); got != want {
			t.Errorf("%q: %v", value, got)
		}
	}
	longest := make([]byte, 130)
	for i := range longest {
		longest[i] = 'x'
	}
	longest[0], longest[129] = '"', '"'
	if !isKey(string(longest)) || isKey(`"x`+string(longest[1:])) {
		t.Error("the longest key has 130 bytes")
	}
}

// TestMarks: a nonce or a user mark has 16 to 128 letters, digits, hyphens and underscores.
func TestMarks(t *testing.T) {
	x := strings.Repeat("x", 128)
	for mark, want := range map[string]bool{x[:15]: false, x[:16]: true, x: true, x + "x": false, x[:16] + "-_9Z": true, x[:16] + ".": false, x[:16] + "~": false} {
		if got := isMark(mark); got != want {
			t.Errorf("%q: %v", mark, got)
		}
	}
}

// TestBind: a result is held to the call, and to the endpoint and the scopes of the document.
func TestBind(t *testing.T) {
	u, err := Parse("ai://bank/pay")
	if err != nil {
		t.Fatal(err)
	}
	call := &Call{Method: "POST", URI: u, Nonce: "0123456789abcdef", Body: []byte("x")}
	plain := *call
	plain.Nonce = ""
	x := Expectation{}.bind(call, &Discovery{Document: &Descriptor{Endpoint: u, Scopes: []string{"pay"}}})
	if x.Endpoint != u || !slices.Equal(x.Scopes, []string{"pay"}) || x.Request != RequestDigest(call) || x.PlainRequest != RequestDigest(&plain) || x.Request == x.PlainRequest {
		t.Errorf("%+v", x)
	}
}

// TestAuthenticated: a document counts only if it came over TLS 1.3 from a known address.
func TestAuthenticated(t *testing.T) {
	good := lookleap.Evidence{Address: "192.0.2.1:443", TLS: "TLS 1.3"}
	old, unknown := good, good
	old.TLS = "TLS 1.2"
	unknown.Address = ""
	for name, c := range map[string]struct {
		evidence []lookleap.Evidence
		want     bool
	}{
		"none": {nil, false}, "good": {[]lookleap.Evidence{good}, true}, "tls-1.2": {[]lookleap.Evidence{old}, false},
		"no-address": {[]lookleap.Evidence{unknown}, false}, "no-tls": {[]lookleap.Evidence{{Address: "192.0.2.1:80"}}, false},
	} {
		if got := authenticated(c.evidence); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestEarlier: no time is later than every time.
func TestEarlier(t *testing.T) {
	one, two := time.Unix(1, 0), time.Unix(2, 0)
	for _, c := range [][3]time.Time{{one, two, one}, {two, one, one}, {{}, one, one}, {one, {}, one}, {{}, {}, {}}, {one, one, one}} {
		if got := earlier(c[0], c[1]); !got.Equal(c[2]) {
			t.Errorf("%v and %v: %v", c[0], c[1], got)
		}
	}
}

// TestPlaces: a plug-in has the number of places that the options say, and one authority a quarter.
func TestPlaces(t *testing.T) {
	for most, want := range map[int][2]int{-1: {DefaultInFlight, DefaultInFlight / 4}, 0: {DefaultInFlight, DefaultInFlight / 4}, 1: {1, 1}, 4: {4, 1}, 8: {8, 2}} {
		for i, authority := range []string{"", "bank"} {
			l, n := newCallLimit(most), 0
			for l.enter(authority) {
				n++
			}
			if n != want[i] {
				t.Errorf("%d places: %d calls of %q", most, n, authority)
			}
		}
	}
	d := NewDiscoverer(&lookleap.Host{}, DiscovererOptions{Entries: 2})
	for _, p := range []plugin{d.registry, d.local, d.callbacks} {
		if p.limit.most != DefaultInFlight {
			t.Errorf("%s has %d places", p.name, p.limit.most)
		}
	}
	for i := range 3 {
		d.lastPolicies.Add(string(rune('a'+i)), EndpointPolicy{})
	}
	if n := d.lastPolicies.Len(); n != 2 {
		t.Errorf("%d policies are kept", n)
	}
}

// TestTokenOfACallerWhoLeft: no token is an error, also if the caller left meanwhile.
func TestTokenOfACallerWhoLeft(t *testing.T) {
	for name, source := range map[string]tokenFunc{
		"late":  func(context.Context) (string, error) { return "", context.Canceled },
		"empty": func(context.Context) (string, error) { return "", nil },
		"fails": func(context.Context) (string, error) { return "token", errors.New("failed") },
		"both":  func(context.Context) (string, error) { return "token", &lookleap.Error{Code: lookleap.CodeUnavailable} },
	} {
		ctx, cancel := context.WithCancel(t.Context())
		left := name == "late"
		limits := plugin{"the token source", CodeTokenUnavailable, newCallLimit(0), 0}
		token, err := tokenOf(ctx, limits, tokenFunc(func(inner context.Context) (string, error) {
			if left {
				cancel()
			}
			return source(inner)
		}), Destination{}, nil)
		cancel()
		if token != "" || err == nil || errors.Is(err, context.Canceled) != left || !left && lookleap.CodeOf(err) != CodeTokenUnavailable {
			t.Errorf("%s: %q, %v", name, token, err)
		}
	}
}

type tokenFunc func(context.Context) (string, error)

func (f tokenFunc) Token(ctx context.Context, _ Destination, _ []string) (string, error) {
	return f(ctx)
}

// TestCalledTooLateWithoutPlace: a caller who has left gets no place, not even an error about it.
func TestCalledTooLateWithoutPlace(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := plugin{"the registry", CodeUnknownAuthority, newCallLimit(1), time.Minute}
	if !p.limit.enter("") {
		t.Fatal("no place")
	}
	_, err := call(ctx, p, "", func(context.Context) (bool, error) { return true, nil })
	_, busy := call(t.Context(), p, "", func(context.Context) (bool, error) { return true, nil })
	if err != context.Canceled || lookleap.CodeOf(busy) != CodePluginBusy {
		t.Errorf("%v, and for others %v", err, busy)
	}
}

// TestCodesOfPlugins: an error without a code that users can look up gets the plug-in's code.
func TestCodesOfPlugins(t *testing.T) {
	p := plugin{"the registry", CodeUnknownAuthority, newCallLimit(1), time.Minute}
	for own, want := range map[lookleap.Code]lookleap.Code{
		lookleap.CodeUnavailable: lookleap.CodeUnavailable, lookleap.CodeInternal: CodeUnknownAuthority, "made-up": CodeUnknownAuthority,
	} {
		_, err := call(t.Context(), p, "", func(context.Context) (bool, error) { return true, &lookleap.Error{Code: own} })
		if lookleap.CodeOf(err) != want {
			t.Errorf("%s: %v", own, err)
		}
	}
}

// TestRefusalOfACallerWhoLeft: a cancelled call has no verdict, other faults have one.
func TestRefusalOfACallerWhoLeft(t *testing.T) {
	host := &lookleap.Host{}
	t.Cleanup(func() { _ = host.Close() })
	for err, want := range map[error]bool{context.Canceled: false, context.DeadlineExceeded: true, errNoHost("a client"): true} {
		var verdict *lookleap.VerifyError
		if got := refusal(host, "a call", err); errors.As(got, &verdict) != want || !errors.Is(got, err) {
			t.Errorf("%v: %v", err, got)
		}
	}
}

// TestWeakerThan: a policy is weaker if it drops something that was required, and only then.
func TestWeakerThan(t *testing.T) {
	all := []EndpointPolicy{}
	for _, auth := range []string{"", AuthOAuth2} {
		for _, mtls := range []bool{false, true} {
			for _, signed := range []bool{false, true} {
				all = append(all, EndpointPolicy{auth, mtls, signed})
			}
		}
	}
	for i, before := range all {
		for j, after := range all {
			if got, want := after.WeakerThan(before), i&^j != 0; got != want { // each bit is one requirement
				t.Errorf("%+v after %+v: %v", after, before, got)
			}
		}
	}
}

// TestLocalEndpoints: what a local resolver must return.
func TestLocalEndpoints(t *testing.T) {
	uri := func(text string) URI {
		u, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	keys := &KeySet{}
	for name, c := range map[string]struct {
		endpoint LocalEndpoint
		origin   string
		code     lookleap.Code
	}{
		"good":      {LocalEndpoint{System: "forklift-42.local", Endpoint: uri("ai:/a"), Keys: keys, Scopes: []string{"load"}}, "https://forklift-42.local", lookleap.CodeOK},
		"word":      {LocalEndpoint{System: "forklift", Endpoint: uri("ai:/a"), Keys: keys}, "https://forklift", lookleap.CodeOK},
		"query":     {LocalEndpoint{System: "forklift", Endpoint: uri("ai:/a?"), Keys: keys}, "", CodeBadConfiguration},
		"authority": {LocalEndpoint{System: "forklift", Endpoint: uri("ai://b/a"), Keys: keys}, "", CodeBadConfiguration},
		"no-keys":   {LocalEndpoint{System: "forklift", Endpoint: uri("ai:/a")}, "", CodeNoTrustAnchor},
		"scope":     {LocalEndpoint{System: "forklift", Endpoint: uri("ai:/a"), Keys: keys, Scopes: []string{"load", "a b"}}, "", CodeBadConfiguration},
		"capital":   {LocalEndpoint{System: "Forklift", Endpoint: uri("ai:/a"), Keys: keys}, "", CodeBadConfiguration},
		"public":    {LocalEndpoint{System: "bank.example.com", Endpoint: uri("ai:/a"), Keys: keys}, "", CodeBadConfiguration},
	} {
		if origin, err := c.endpoint.origin(); origin != c.origin || lookleap.CodeOf(err) != c.code {
			t.Errorf("%s: %s, %v", name, origin, err)
		}
	}
}

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

// TestBootstrapServices: which SRV records name a target, and one finding for each kind of fault.
func TestBootstrapServices(t *testing.T) {
	services := &lookleap.DNSAnswer{Records: []lookleap.Record{{}}}
	for _, srv := range []lookleap.SRV{
		{Target: "metadata.goog", Port: 443}, {Target: "a.shop.example", Port: 22}, {Target: "private.shop.example", Port: 443},
		{Target: "silent.shop.example", Port: 443}, {Target: "public.shop.example", Port: 443},
	} {
		services.Records = append(services.Records, lookleap.Record{SRV: &srv})
	}
	at := func(text string) func() (*lookleap.DNSAnswer, error) {
		return func() (*lookleap.DNSAnswer, error) {
			return &lookleap.DNSAnswer{Records: []lookleap.Record{{Addr: netip.MustParseAddr(text)}}}, nil
		}
	}
	b, err := lookupBootstrap(t.Context(), lookups{
		"_aiip._tcp.shop.example": func() (*lookleap.DNSAnswer, error) { return services, nil },
		"private.shop.example":    at("10.0.0.1"), "public.shop.example": at("93.184.216.34"),
		"silent.shop.example": func() (*lookleap.DNSAnswer, error) { return nil, errors.New("no answer") },
	}, "shop.example", nil)
	if err != nil || len(b.targets) != 2 || b.targets[0].Host != "silent.shop.example" || b.targets[1].Host != "public.shop.example" {
		t.Fatalf("got %+v, %v", b, err)
	}
	if len(b.findings) != 2 || b.findings[0].Message == b.findings[1].Message {
		t.Errorf("got %v", b.findings)
	}
}

// TestBootstrapCancelled: a caller who leaves while the addresses are looked up gets an error.
func TestBootstrapCancelled(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	_, err := lookupBootstrap(ctx, lookups{
		"_aiip._tcp.shop.example": func() (*lookleap.DNSAnswer, error) {
			return &lookleap.DNSAnswer{Records: []lookleap.Record{{SRV: &lookleap.SRV{Target: "a.shop.example", Port: 443}}}}, nil
		},
		"a.shop.example": func() (*lookleap.DNSAnswer, error) { leave(); return &lookleap.DNSAnswer{}, nil },
	}, "shop.example", nil)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestBootstrapTime: the records are used as long as the one that expires first, and the finding
// is about the first fault.
func TestBootstrapTime(t *testing.T) {
	for _, c := range [][2]time.Duration{{time.Hour, time.Minute}, {time.Minute, time.Hour}} {
		answer := func(n int) func() (*lookleap.DNSAnswer, error) {
			a := &lookleap.DNSAnswer{TTL: c[n], Records: []lookleap.Record{{Text: "endpoint=x endpoint=ai:/y"}}}
			return func() (*lookleap.DNSAnswer, error) { return a, nil }
		}
		b, err := lookupBootstrap(t.Context(), lookups{"_aiip.shop.example": answer(0), "_aiip._tcp.shop.example": answer(1)}, "shop.example", nil)
		if err != nil || b.ttl != time.Minute || len(b.findings) != 1 || b.findings[0].Code != CodeNotAI {
			t.Errorf("%v: %+v, %v", c, b, err)
		}
	}
}

// TestCandidates: the advertisements and the findings by precedence.
func TestCandidates(t *testing.T) {
	uri := func(text string) URI {
		u, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	old := append(make([]lookleap.Finding, 0, 4), lookleap.Finding{Code: lookleap.CodeStale})
	for state, want := range map[lookleap.DNSSEC][]Source{
		lookleap.Secure:   {SourceWellKnown, SourceLink, SourceDNSSecure, SourceElement},
		lookleap.Insecure: {SourceWellKnown, SourceLink, SourceElement, SourceDNS},
	} {
		e := &evidence{
			document: &Descriptor{Endpoint: uri("ai://bank/x"), Findings: old},
			links:    []string{"x", "ai://bank/x"}, elements: []string{"ai://bank/x"},
			dns: &bootstrap{endpoint: uri("ai://bank/x"), dnssec: state, findings: []lookleap.Finding{{Code: lookleap.CodeDNSError}}},
		}
		all, findings := e.candidates()
		var sources []Source
		for _, c := range all {
			sources = append(sources, c.Source)
		}
		if !slices.Equal(sources, want) {
			t.Errorf("%v: got %v", state, sources)
		}
		if len(findings) != 3 || findings[0].Code != lookleap.CodeStale || findings[1].Code != CodeNotAI || findings[2].Code != lookleap.CodeDNSError {
			t.Errorf("%v: got %v", state, findings)
		}
		if shared := old[:2][1].Code; shared != "" {
			t.Errorf("the findings of the shared document have now %s", shared)
		}
	}
	d, err := chooseEndpoint("https://shop.example", &evidence{links: []string{"ai://bank/x"}}, true)
	if err != nil || d.Document != nil || d.DocumentOrigin != "" {
		t.Errorf("without a document: %+v, %v", d, err)
	}
	if (&Descriptor{}).covers(uri("ai://bank/x")) {
		t.Error("an empty document is about an endpoint")
	}
}

// TestWeightsOfOnePriority: the weights of a later priority do not count.
func TestWeightsOfOnePriority(t *testing.T) {
	targets := []Target{{Host: "a", Priority: 1, Weight: 1}, {Host: "b", Priority: 2, Weight: 9}}
	var asked []int
	got := OrderTargets(targets, func(n int) int { asked = append(asked, n); return n - 1 })
	if len(got) != 2 || got[0].Host != "a" || got[1].Host != "b" || !slices.Equal(asked, []int{2, 10}) {
		t.Errorf("got %v by random numbers below %v", got, asked)
	}
}

// TestHeldSize: what is cached counts with all its texts.
func TestHeldSize(t *testing.T) {
	endpoint, err := Parse("ai://bank/" + strings.Repeat("x", 1990))
	if err != nil {
		t.Fatal(err)
	}
	findings := []lookleap.Finding{{Message: strings.Repeat("m", 1000), Position: lookleap.Position{Path: strings.Repeat("p", 500)}}}
	document := &Descriptor{
		Endpoint: endpoint, JWKS: strings.Repeat("j", 2000), Findings: findings,
		Extra: map[string]json.RawMessage{strings.Repeat("n", 3000): []byte(strings.Repeat("v", 4000))},
	}
	d := &Discovery{Document: document, Findings: findings, Targets: make([]Target, 16)}
	for name, c := range map[string]struct{ got, least int }{
		"findings": {findingsMemory(findings), 1500}, "document": {document.memory(), 1500 + 4000 + 7000},
		"cached document": {(&cachedDocument{descriptor: document}).memory(), 1500 + 4000 + 7000},
		"discovery":       {d.memory(), 12500 + 4096 + 1500 + 16*512},
	} {
		if c.got < c.least || c.got > 2*c.least {
			t.Errorf("%s: %d, want %d or a little more", name, c.got, c.least)
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

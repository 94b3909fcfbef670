package aiuri

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

// TestIdempotencyKeys: a key that is passed on is a short quoted string without escapes.
func TestIdempotencyKeys(t *testing.T) {
	for value, want := range map[string]bool{
		`"a"`: true, `"a b"`: true, `"~ "`: true, `""`: false, `a`: false, `"a`: false, `a"`: false, `"`: false, "": false,
		`"a"b"`: false, `"a\b"`: false, "\"a\x7f\"": false, "\"a\x1f\"": false, "\"\u00e9\"": false, "\"a\nb\"": false,
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

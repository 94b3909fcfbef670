package aiuri_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/lookleaptest"
)

// FuzzFromIRI holds that what is read from text outside ASCII is a URI by Parse too, and
// that errors have a place inside the text.
func FuzzFromIRI(f *testing.F) {
	for _, text := range []string{"ai://bücher.example/é?ü#ß", "AI://BÜCHER.example:443", "ai:/é", "ai://é", "ai://bank/%zz", "ai://u@é/", "ai://[é]/", "ai://a\u0301.example/", "ai://xn--zzzz.example/", "\xff", "ai://ｅxample/", "AI://BÜCHER.4xample:e", "ai://bücher.example/éé%zz"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := aiuri.FromIRI(text)
		if err != nil {
			var e *lookleap.Error
			if !errors.As(err, &e) || !e.Code.Known() || e.Code == lookleap.CodeInternal || e.Position.Offset < 0 || e.Position.Offset > len(text) {
				t.Fatalf("%q: %#v", text, err)
			}
			return
		}
		again, err := aiuri.Parse(u.String())
		if err != nil || !again.Equal(u) || !utf8.ValidString(text) {
			t.Fatalf("%q becomes %q: %v", text, u, err)
		}
		if plain, err := aiuri.Parse(text); err == nil && plain.String() != u.String() {
			t.Errorf("%q is changed to %q", text, u)
		}
	})
}

// FuzzResume holds that a state that no client made sends nothing.
func FuzzResume(f *testing.F) {
	host := &lookleap.Host{Fetcher: lookleap.NewFetcher(lookleap.FetcherOptions{})}
	line := &recorder{}
	plan, err := lookleap.NewPlan(lookleap.ConsentRequest{Kind: lookleap.ConsentInvoke, Origin: "https://bank.example", Summary: "x",
		Items: []lookleap.ConsentItem{{ID: "call", Summary: "x"}}}, []byte(`{"request":{"method":"GET","uri":"ai://bank.example/pay"},"hasBody":false,"uri":"ai://bank.example/pay"}`+"\n"), time.Now())
	if err != nil {
		f.Fatal(err)
	}
	state, err := plan.State()
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(state), plan.Request().Digest)
	f.Add([]byte(`{}`), "")
	f.Add([]byte(strings.Replace(string(state), "GET", "POST", 1)), plan.Request().Digest)
	client := must(aiuri.NewClient(host, aiuri.ClientOptions{Native: line}))
	f.Fuzz(func(t *testing.T, state []byte, digest string) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // whatever gets as far as an exchange ends there
		v, err := client.Resume(ctx, json.RawMessage(state), lookleap.ConsentDecision{Digest: digest, Approved: []string{"call"}})
		if v != nil || err == nil || len(line.calls) != 0 {
			t.Fatalf("got %v, %v after %v", v, err, line.calls)
		}
		if code := lookleap.CodeOf(err); code == lookleap.CodeInternal || !code.Known() {
			t.Errorf("%v has no code of its own", err)
		}
	})
}

// answers is a resolver with fixed records.
type answers map[string]*lookleap.DNSAnswer

func (a answers) Lookup(_ context.Context, name string, _ lookleap.RRType) (*lookleap.DNSAnswer, error) {
	if answer := a[name]; answer != nil {
		return answer, nil
	}
	return &lookleap.DNSAnswer{}, nil
}

// FuzzBootstrap holds that records of the DNS lead to usable endpoints and public
// targets, or to an error with a code.
func FuzzBootstrap(f *testing.F) {
	f.Add("endpoint=ai://bank/x", "v=1 endpoint=ai://bank/x", "aiip.bank.example", uint16(443), true)
	f.Add("endpoint=ai:/x", "endpoint=", "127.0.0.1", uint16(0), false)
	f.Add("endpoint=ai://a/", "endpoint=ai://b/", "", uint16(22), false)
	f.Add("endpoint=\x00", "=", "localhost", uint16(443), true)
	f.Fuzz(func(t *testing.T, first, second, target string, port uint16, secure bool) {
		state := lookleap.Insecure
		if secure {
			state = lookleap.Secure
		}
		net := lookleaptest.NewInternet()
		defer net.Close()
		net.Site("shop.example")
		host := net.StubHost()
		host.Resolver = fallback{answers{
			"_aiip.shop.example":      {Records: []lookleap.Record{{Text: first}, {Text: second}}, Exists: true, TTL: time.Minute, DNSSEC: state},
			"_aiip._tcp.shop.example": {Records: []lookleap.Record{{SRV: &lookleap.SRV{Target: target, Port: port}}}, Exists: true, DNSSEC: state},
		}, host.Resolver}
		d, err := aiuri.NewDiscoverer(host, aiuri.DiscovererOptions{DNS: true}).Discover(t.Context(), "https://shop.example/")
		if err != nil {
			if code := lookleap.CodeOf(err); code == lookleap.CodeInternal || !code.Known() {
				t.Errorf("%v has no code of its own", err)
			}
			return
		}
		if _, err := aiuri.Parse(d.Endpoint.String()); err != nil || d.Endpoint.Kind() != aiuri.Authority {
			t.Errorf("the endpoint is %q", d.Endpoint)
		}
		for _, x := range d.Targets {
			if x.Port != 443 || !strings.Contains(x.Host, ".") || strings.HasSuffix(x.Host, ".localhost") {
				t.Errorf("the target is %+v", x)
			}
		}
	})
}

// fallback asks one resolver for what it has, and another one for the rest.
type fallback struct {
	first answers
	rest  lookleap.Resolver
}

func (r fallback) Lookup(ctx context.Context, name string, t lookleap.RRType) (*lookleap.DNSAnswer, error) {
	if answer := r.first[name]; answer != nil {
		return answer, nil
	}
	return r.rest.Lookup(ctx, name, t)
}

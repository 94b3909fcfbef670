package aiuri_test

import (
	"context"
	"errors"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/lookleaptest"
)

// localFunc is a LocalResolver of one function.
type localFunc func(aiuri.URI) (*aiuri.LocalEndpoint, error)

func (f localFunc) ResolveLocal(_ context.Context, u aiuri.URI) (*aiuri.LocalEndpoint, error) {
	return f(u)
}

// localNative is a transport that records its calls and signs with a key.
type localNative struct {
	calls *[]aiuri.Call
	kid   string
	claim *aiuri.Claims
}

func (n localNative) Invoke(_ context.Context, c *aiuri.Call) (aiuri.SignedResult, error) {
	*n.calls = append(*n.calls, *c)
	key := ecKey()
	if n.kid == "2" {
		key = otherKey()
	}
	return aiuri.SignResult([]byte(`{"loaded":true}`), aiuri.SigningKey{ID: n.kid, Private: key}, aiuri.SignOptions{Claims: n.claim})
}

// robot is a system with one endpoint, ai:/agent/forklift-42, and key 1.
type robot struct {
	endpoint aiuri.LocalEndpoint
	options  aiuri.ClientOptions
	discover aiuri.DiscovererOptions
	asked    []lookleap.ConsentRequest
	calls    []aiuri.Call
	net      *lookleaptest.Internet
}

const loadPallet = "ai:/agent/forklift-42?task=load&zone=A3"

func newRobot(t *testing.T) *robot {
	r := &robot{net: lookleaptest.ForTest(t), endpoint: aiuri.LocalEndpoint{
		System: "forklift-42.local", Endpoint: parse(t, "ai:/agent/forklift-42"), Keys: must(aiuri.ParseKeySet(setText(jwk("1", ecKey())))), Scopes: []string{"load"},
	}}
	r.discover.Local = localFunc(func(aiuri.URI) (*aiuri.LocalEndpoint, error) { return &r.endpoint, nil })
	r.options.Native = localNative{&r.calls, "1", nil}
	return r
}

func (r *robot) client(t *testing.T) *aiuri.Client {
	t.Helper()
	host := r.net.StubHost()
	host.Prompter = prompter(func(q *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
		r.asked = append(r.asked, *q)
		return allow(q)
	})
	r.options.Discoverer = aiuri.NewDiscoverer(host, r.discover)
	c, err := aiuri.NewClient(host, r.options)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestLocal(t *testing.T) {
	t.Run("AIU-2-04", func(t *testing.T) {
		for name, uri := range map[string]string{"accept-resolved": loadPallet, "accept-below": "ai:/agent/forklift-42/fork", "accept-normalized": "AI:/x/../agent/forklift-42"} {
			t.Run(name, func(t *testing.T) {
				r := newRobot(t)
				v, err := r.client(t).Invoke(t.Context(), aiuri.Request{URI: parse(t, uri), Scopes: []string{"load"}})
				if err != nil || string(v.Payload) != `{"loaded":true}` {
					t.Fatalf("got %v, %v", v, err)
				}
				if len(r.asked) != 1 || r.asked[0].Origin != "https://forklift-42.local" || r.asked[0].Items[0].Recipient != "https://forklift-42.local" {
					t.Errorf("asked %+v", r.asked)
				}
				if len(r.calls) != 1 || r.calls[0].To.System != "forklift-42.local" || r.calls[0].URI.Kind() == aiuri.Authority {
					t.Errorf("called %+v", r.calls)
				}
				if q := r.net.Journal().Queries(); len(q) != 0 {
					t.Errorf("the DNS was asked: %v", q)
				}
			})
		}
	})
	for id, c := range map[string]struct {
		uri  string
		set  func(*testing.T, *robot)
		code lookleap.Code
	}{
		"AIU-2-06/reject-rootless-with-resolver": {"ai:agent/forklift-42", nil, aiuri.CodeNoAuthority},
		"AIU-2-04/reject-without-resolver":       {"", func(_ *testing.T, r *robot) { r.discover.Local = nil }, aiuri.CodeNoAuthority},
		"AIU-2-04/reject-unknown": {"", func(_ *testing.T, r *robot) {
			r.discover.Local = localFunc(func(aiuri.URI) (*aiuri.LocalEndpoint, error) { return nil, errors.New("unknown") })
		}, aiuri.CodeUnknownLocal},
		"AIU-2-04/reject-nil": {"", func(_ *testing.T, r *robot) {
			r.discover.Local = localFunc(func(aiuri.URI) (*aiuri.LocalEndpoint, error) { return nil, nil })
		}, aiuri.CodeUnknownLocal},
		"AIU-2-04/reject-endpoint-with-error": {"", func(_ *testing.T, r *robot) {
			r.discover.Local = localFunc(func(aiuri.URI) (*aiuri.LocalEndpoint, error) {
				return &r.endpoint, &lookleap.Error{Code: lookleap.CodeUnavailable}
			})
		}, aiuri.CodeUnknownLocal},
		"AIU-2-04/reject-panics": {"", func(_ *testing.T, r *robot) {
			r.discover.Local = localFunc(func(aiuri.URI) (*aiuri.LocalEndpoint, error) { panic("x") })
		}, aiuri.CodeUnknownLocal},
		"AIU-2-04/reject-without-keys": {"", func(_ *testing.T, r *robot) {
			r.discover.Local = localFunc(func(aiuri.URI) (*aiuri.LocalEndpoint, error) {
				return &aiuri.LocalEndpoint{System: "forklift-42.local", Endpoint: parseAny("ai:/agent/forklift-42")}, nil
			})
		}, aiuri.CodeNoTrustAnchor},
		"AIU-2-04/reject-sibling-path":   {"ai:/agent/forklift-421", nil, aiuri.CodeUnknownLocal},
		"AIU-2-04/reject-above":          {"ai:/agent", nil, aiuri.CodeUnknownLocal},
		"AIU-3.2-09/reject-encoded-dots": {"ai:/agent/forklift-42/%2e%2e%2fx", nil, aiuri.CodeUnknownLocal},
		"AIU-3.2-04/reject-through-gateway": {"", func(_ *testing.T, r *robot) {
			r.options.Native, r.options.Gateways = nil, []string{"https://ai.example/"}
		}, aiuri.CodeNoResolver},
		"AIU-2-04/reject-endpoint-with-authority": {"", func(t *testing.T, r *robot) {
			r.endpoint.Endpoint = parse(t, "ai://forklift-42.local/agent/forklift-42")
		}, aiuri.CodeBadConfiguration},
		"AIU-2-04/reject-endpoint-with-query": {"", func(t *testing.T, r *robot) { r.endpoint.Endpoint = parse(t, loadPallet) }, aiuri.CodeBadConfiguration},
		"AIU-2-04/reject-rootless-endpoint":   {"", func(t *testing.T, r *robot) { r.endpoint.Endpoint = parse(t, "ai:agent/forklift-42") }, aiuri.CodeBadConfiguration},
		"AIU-2-04/reject-upper-case-name":     {"", func(_ *testing.T, r *robot) { r.endpoint.System = "Forklift-42.local" }, aiuri.CodeBadConfiguration},
		"AIU-2-04/reject-malformed-scope":     {"", func(_ *testing.T, r *robot) { r.endpoint.Scopes = []string{"load", "a b"} }, aiuri.CodeBadConfiguration},
		"AIU-2-04/reject-public-name":         {"", func(_ *testing.T, r *robot) { r.endpoint.System = "bank.example.com" }, aiuri.CodeBadConfiguration},
		"AIU-2-04/reject-origin-as-name":      {"", func(_ *testing.T, r *robot) { r.endpoint.System = "https://forklift-42.local" }, aiuri.CodeBadConfiguration},
		"AIU-2-04/reject-no-name":             {"", func(_ *testing.T, r *robot) { r.endpoint.System = "" }, aiuri.CodeBadConfiguration},
		"AIU-2-04/reject-text-as-name":        {"", func(_ *testing.T, r *robot) { r.endpoint.System = "Forklift 42" }, aiuri.CodeBadConfiguration},
		"AIU-3.4-01/reject-without-keys":      {"", func(_ *testing.T, r *robot) { r.endpoint.Keys = nil }, aiuri.CodeNoTrustAnchor},
		"AIU-3.4-01/reject-other-key":         {"", func(_ *testing.T, r *robot) { r.options.Native = localNative{&r.calls, "2", nil} }, aiuri.CodeRejectedKey},
		"AIU-3.4-01/reject-other-issuer": {"", func(_ *testing.T, r *robot) {
			r.options.Native = localNative{&r.calls, "1", &aiuri.Claims{Issuer: "ai:/agent/crane-7"}}
		}, aiuri.CodeRejectedPolicy},
		"AIU-3.2-11/reject-credentials": {"", func(_ *testing.T, r *robot) { r.needsToken() }, aiuri.CodeCredentialsNotAllowed},
	} {
		t.Run(id, func(t *testing.T) {
			r := newRobot(t)
			if c.set != nil {
				c.set(t, r)
			}
			if c.uri == "" {
				c.uri = loadPallet
			}
			v, err := r.client(t).Invoke(t.Context(), aiuri.Request{URI: parse(t, c.uri), Scopes: []string{"load"}})
			if v != nil || lookleap.CodeOf(err) != c.code {
				t.Errorf("got %v, %v (%s)", v, err, lookleap.CodeOf(err))
			}
			if q := r.net.Journal().Queries(); len(q) != 0 {
				t.Errorf("the DNS was asked: %v", q)
			}
		})
	}
	t.Run("AIU-3.2-11/accept-credentials", func(t *testing.T) {
		r := newRobot(t)
		r.needsToken()
		r.options.LocalCredentials = []string{"forklift-42.local"}
		if _, err := r.client(t).Invoke(t.Context(), aiuri.Request{URI: parse(t, loadPallet)}); err != nil || len(r.calls) != 1 || r.calls[0].Token != "t0ken" {
			t.Errorf("got %v, %+v", err, r.calls)
		}
	})
}

// needsToken makes the endpoint require a token, and configures a source of tokens.
func (r *robot) needsToken() {
	r.endpoint.Policy.Auth = aiuri.AuthOAuth2
	r.options.Tokens = tokens{new([]string)}
}

package aiuri_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
)

// TestPermit: an endpoint that the options do not permit is neither looked up nor called, and
// the user is not asked.
func TestPermit(t *testing.T) {
	only := func(list ...string) func(aiuri.URI) error {
		return func(u aiuri.URI) error {
			if ok, err := aiuri.MatchAuthority(u, list); !ok || err != nil {
				return errors.New("not on the list")
			}
			return nil
		}
	}
	for name, c := range map[string]struct {
		permit func(aiuri.URI) error
		code   lookleap.Code
	}{
		"accept-none":     {nil, lookleap.CodeOK},
		"accept-listed":   {only("bank.example"), lookleap.CodeOK},
		"reject-unlisted": {only("shop.example", "*.bank.example"), aiuri.CodeAuthorityNotAllowed},
		"reject-panic":    {func(aiuri.URI) error { panic("x") }, aiuri.CodeAuthorityNotAllowed},
	} {
		t.Run("AIU-3-01/"+name, func(t *testing.T) {
			w := newWorld(t)
			asked := 0
			w.host.Prompter = prompter(func(r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) { asked++; return allow(r) })
			w.options.Permit = c.permit
			_, err := w.invoke(t, pay)
			if c.code == lookleap.CodeOK {
				if err != nil || asked != 1 {
					t.Errorf("%v after %d questions", err, asked)
				}
				return
			}
			if lookleap.CodeOf(err) != c.code || asked != 0 || len(w.net.Journal().Dials()) != 0 || len(w.net.Journal().Queries()) != 0 {
				t.Errorf("%v after %d questions, %v", err, asked, w.net.Journal().Dials())
			}
		})
		t.Run("AIU-3-01/"+name+"-of-a-page", func(t *testing.T) {
			w := newWorld(t)
			asked := 0
			w.host.Prompter = prompter(func(r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) { asked++; return allow(r) })
			page(w.net.Site("page.example"), "ai://bank.example/pay", "")
			w.options.Permit = c.permit
			_, err := w.invoke(t, aiuri.Request{Page: "https://page.example/", Body: pay.Body, MediaType: pay.MediaType, Scopes: pay.Scopes})
			if c.code == lookleap.CodeOK && (err != nil || asked != 1) || c.code != lookleap.CodeOK && (lookleap.CodeOf(err) != c.code || asked != 0 || len(w.net.Journal().Paths("ai.example")) != 0) {
				t.Errorf("%v after %d questions", err, asked)
			}
		})
	}
	t.Run("AIU-3-01/reject-endpoint-that-a-page-names", func(t *testing.T) {
		w := newWorld(t)
		page(w.net.Site("page.example"), "ai://bank.example/pay", "")
		var seen []string
		w.options.Permit = func(u aiuri.URI) error { seen = append(seen, u.String()); return nil }
		if _, err := w.invoke(t, aiuri.Request{Page: "https://page.example/"}); err != nil || len(slices.Compact(seen)) != 1 || seen[0] != "ai://bank.example/pay" {
			t.Errorf("%v, permitted %q", err, seen)
		}
	})
}

// TestMatchAuthority reads lists of authorities.
func TestMatchAuthority(t *testing.T) {
	for _, c := range []struct {
		name, uri string
		list      []string
		want, bad bool
	}{
		{"accept-name", "ai://bank.example/x", []string{"bank.example"}, true, false},
		{"accept-case", "ai://BANK.example/x", []string{"Bank.Example"}, true, false},
		{"accept-port", "ai://bank.example:8443/x", []string{"bank.example:8443"}, true, false},
		{"accept-pattern", "ai://pay.bank.example/x", []string{"*.bank.example"}, true, false},
		{"accept-deeper-pattern", "ai://a.pay.bank.example/x", []string{"*.bank.example"}, true, false},
		{"reject-empty-list", "ai://bank.example/x", nil, false, false},
		{"reject-other", "ai://bank.example/x", []string{"other.example"}, false, false},
		{"reject-other-port", "ai://bank.example:8443/x", []string{"bank.example"}, false, false},
		{"reject-port-that-is-missing", "ai://bank.example/x", []string{"bank.example:8443"}, false, false},
		{"reject-pattern-of-another-port", "ai://pay.bank.example:8443/x", []string{"*.bank.example"}, false, false},
		{"reject-name-of-the-pattern", "ai://bank.example/x", []string{"*.bank.example"}, false, false},
		{"reject-suffix-without-a-dot", "ai://evilbank.example/x", []string{"*.bank.example"}, false, false},
		{"reject-subdomain-of-a-name", "ai://pay.bank.example/x", []string{"bank.example"}, false, false},
		{"reject-local", "ai:/bank.example", []string{"bank.example"}, false, false},
		{"reject-malformed-list", "ai://bank.example/x", []string{"bank.example", "bank example"}, false, true},
		{"reject-path-in-the-list", "ai://bank.example/x", []string{"bank.example/x"}, false, true},
		{"reject-query-in-the-list", "ai://bank.example/x", []string{"bank.example?x"}, false, true},
		{"reject-fragment-in-the-list", "ai://bank.example/x", []string{"bank.example#x"}, false, true},
		{"reject-empty-port-in-the-list", "ai://bank.example/x", []string{"bank.example:"}, false, true},
		{"reject-pattern-of-many-owners", "ai://bank.co.uk/x", []string{"*.co.uk"}, false, true},
	} {
		t.Run("AIU-3.2-11/"+c.name, func(t *testing.T) {
			got, err := aiuri.MatchAuthority(parse(t, c.uri), c.list)
			if got != c.want || (lookleap.CodeOf(err) == aiuri.CodeBadConfiguration) != c.bad {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}

// TestTokenFailures: without a token nothing is sent, whether the user is asked or not.
func TestTokenFailures(t *testing.T) {
	var missing aiuri.TokenFunc
	for name, source := range map[string]aiuri.TokenSource{
		"reject-nil-function": missing,
		"reject-empty":        aiuri.TokenFunc(func(context.Context, aiuri.Destination, []string) (string, error) { return "", nil }),
		"reject-error":        aiuri.TokenFunc(func(context.Context, aiuri.Destination, []string) (string, error) { return "t0ken", errors.New("x") }),
		"reject-panic":        aiuri.TokenFunc(func(context.Context, aiuri.Destination, []string) (string, error) { panic("x") }),
	} {
		for _, harmless := range []bool{false, true} {
			t.Run("AIU-3.2-11/"+name, func(t *testing.T) {
				r := newRobot(t)
				r.needsToken()
				r.options.Tokens, r.options.LocalCredentials = source, []string{"forklift-42.local"}
				r.options.Harmless = func(*aiuri.Request) bool { return harmless }
				if _, err := r.client(t).Invoke(t.Context(), aiuri.Request{URI: parse(t, loadPallet)}); lookleap.CodeOf(err) != aiuri.CodeTokenUnavailable || len(r.calls) != 0 {
					t.Errorf("%v, %d calls", err, len(r.calls))
				}
			})
		}
	}
	if _, err := missing.Token(t.Context(), aiuri.Destination{}, nil); lookleap.CodeOf(err) != aiuri.CodeTokenUnavailable {
		t.Error(err)
	}
	t.Run("AIU-3.2-11/reject-cancelled", func(t *testing.T) {
		r := newRobot(t)
		r.needsToken()
		ctx, cancel := context.WithCancel(t.Context())
		r.options.LocalCredentials = []string{"forklift-42.local"}
		r.options.Tokens = aiuri.TokenFunc(func(ctx context.Context, _ aiuri.Destination, _ []string) (string, error) {
			cancel()
			return "", context.Cause(ctx)
		})
		if _, err := r.client(t).Invoke(ctx, aiuri.Request{URI: parse(t, loadPallet)}); !errors.Is(err, context.Canceled) || len(r.calls) != 0 {
			t.Errorf("%v, %d calls", err, len(r.calls))
		}
	})
}

// TestClientRefuses: a zero client, and malformed requests, return errors.
func TestClientRefuses(t *testing.T) {
	if _, err := new(aiuri.Client).Invoke(t.Context(), pay); lookleap.CodeOf(err) != lookleap.CodeUsage {
		t.Error(err)
	}
	for name, c := range map[string]struct {
		change func(*aiuri.Request)
		code   lookleap.Code
	}{
		"reject-clear-text-gateway":     {func(r *aiuri.Request) { r.Gateway = "http://ai.example/gateway" }, aiuri.CodeBadGateway},
		"reject-other-gateway":          {func(r *aiuri.Request) { r.Gateway = "https://other.example/gateway" }, aiuri.CodeUntrustedGateway},
		"reject-media-type-line-break":  {func(r *aiuri.Request) { r.MediaType = "text/plain; a=\"x\n\"" }, lookleap.CodeUsage},
		"reject-media-type-not-ascii":   {func(r *aiuri.Request) { r.MediaType = "text/plain; a=\"é\"" }, lookleap.CodeUsage},
		"reject-media-type-with-blanks": {func(r *aiuri.Request) { r.MediaType = " text/plain" }, lookleap.CodeUsage},
		"reject-method":                 {func(r *aiuri.Request) { r.Method = "post" }, aiuri.CodeMethodNotAllowed},
	} {
		t.Run("AIU-3.2-07/"+name, func(t *testing.T) {
			w, r := newWorld(t), pay
			c.change(&r)
			if _, err := w.invoke(t, r); lookleap.CodeOf(err) != c.code || len(w.net.Journal().Paths("ai.example")) != 0 {
				t.Errorf("%v, want %s", err, c.code)
			}
		})
	}
	for method, body := range map[string][]byte{"GET": nil, "POST": {}} {
		w, line := newWorld(t), &recorder{}
		w.options.Native = line
		if _, err := w.invoke(t, aiuri.Request{URI: pay.URI, Body: body}); err != nil || len(line.calls) != 1 || line.calls[0].Method != method {
			t.Errorf("%s: %v, %+v", method, err, line.calls)
		}
	}
}

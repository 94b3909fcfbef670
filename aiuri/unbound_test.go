package aiuri_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
)

// TestBindings holds that a verdict says which claims bind a result to its request, and
// that a claim that was not made passes nothing.
func TestBindings(t *testing.T) {
	keys := keySet(t, jwk("1", ecKey()))
	all := func() (aiuri.Claims, aiuri.Expectation) {
		return aiuri.Claims{Issuer: "ai://bank/pay", Audience: []string{"other", "me"}, Issued: now, Expires: now.Add(time.Hour), Request: "sha256:1", Scopes: []string{"pay"}},
			aiuri.Expectation{Endpoint: parseAny("ai://bank/pay"), Audience: "me", Request: "sha256:1", PlainRequest: "sha256:0", Scopes: []string{"pay"}}
	}
	for name, c := range map[string]struct {
		change func(*aiuri.Claims, *aiuri.Expectation)
		noted  int  // checks that are noted
		bound  bool // accepted with RequireBinding
	}{
		"accept-all":                  {func(*aiuri.Claims, *aiuri.Expectation) {}, 0, true},
		"accept-no-audience-expected": {func(c *aiuri.Claims, x *aiuri.Expectation) { c.Audience, x.Audience = nil, "" }, 0, true},
		"accept-no-expiry":            {func(c *aiuri.Claims, _ *aiuri.Expectation) { c.Expires = time.Time{} }, 0, true},
		"accept-no-issue": {func(c *aiuri.Claims, _ *aiuri.Expectation) {
			c.Issued, c.Expires = time.Time{}, now.Add(aiuri.DefaultMaxAge)
		}, 0, true},
		"reject-no-claims":     {func(c *aiuri.Claims, _ *aiuri.Expectation) { *c = aiuri.Claims{} }, 4, false},
		"reject-no-issuer":     {func(c *aiuri.Claims, _ *aiuri.Expectation) { c.Issuer = "" }, 1, false},
		"reject-plain-request": {func(c *aiuri.Claims, _ *aiuri.Expectation) { c.Request = "sha256:0" }, 1, false},
		"reject-no-request":    {func(c *aiuri.Claims, _ *aiuri.Expectation) { c.Request = "" }, 1, false},
		"reject-no-times":      {func(c *aiuri.Claims, _ *aiuri.Expectation) { c.Issued, c.Expires = time.Time{}, time.Time{} }, 1, false},
		"reject-old": {func(c *aiuri.Claims, _ *aiuri.Expectation) {
			c.Issued, c.Expires = now.Add(-aiuri.DefaultMaxAge-time.Second), time.Time{}
		}, 1, false},
	} {
		t.Run("O15/"+name, func(t *testing.T) {
			made, x := all()
			c.change(&made, &x)
			r := must(aiuri.SignResult([]byte("payload"), aiuri.SigningKey{ID: "1", Private: ecKey()}, aiuri.SignOptions{Claims: &made, Detached: true}))
			v, err := aiuri.VerifyResult(r, keys, now, x)
			if err != nil {
				t.Fatal(err)
			}
			noted := 0
			for _, k := range v.Verdict.Checks {
				if k.Status == lookleap.Noted && k.Code == "unbound-result" {
					noted++
				}
			}
			if noted != c.noted || strings.Contains(v.Verdict.Summary, "do not prove") != (c.noted > 0) {
				t.Errorf("%d are noted\n%s", noted, v.Verdict)
			}
			x.RequireBinding = true
			_, err = aiuri.VerifyResult(r, keys, now, x)
			if want := aiuri.CodeRejectedPolicy; c.bound != (err == nil) || err != nil && lookleap.CodeOf(err) != want {
				t.Errorf("with RequireBinding: %v", err)
			}
		})
	}
	for name, c := range map[string]struct {
		expires, maxAge time.Duration
		bound           bool
	}{
		"reject-expiry-in-ten-years":   {10 * 365 * 24 * time.Hour, time.Hour, false},
		"reject-expiry-after-maximum":  {time.Hour + time.Second, time.Hour, false},
		"reject-expiry-after-default":  {aiuri.DefaultMaxAge + time.Second, 0, false},
		"accept-expiry-within-maximum": {time.Hour, time.Hour, true},
	} {
		t.Run("P33/"+name, func(t *testing.T) {
			made, x := all()
			made.Issued, made.Expires, x.MaxAge, x.RequireBinding = time.Time{}, now.Add(c.expires), c.maxAge, true
			r := must(aiuri.SignResult([]byte("payload"), aiuri.SigningKey{ID: "1", Private: ecKey()}, aiuri.SignOptions{Claims: &made, Detached: true}))
			if _, err := aiuri.VerifyResult(r, keys, now, x); c.bound != (err == nil) || err != nil && lookleap.CodeOf(err) != aiuri.CodeRejectedPolicy {
				t.Error(err)
			}
			x.RequireBinding = false
			if v, err := aiuri.VerifyResult(r, keys, now, x); err != nil || strings.Contains(v.Verdict.Summary, "do not prove") == c.bound {
				t.Error(v, err)
			}
		})
	}
}

// TestRequestDigest holds that whatever makes two calls different makes their digests
// different.
func TestRequestDigestOfOneCall(t *testing.T) {
	call := aiuri.Call{URI: pay.URI, Method: "POST", Body: []byte("{}"), MediaType: "application/json", Nonce: "nonce-of-one-call", User: "user"}
	seen := []string{aiuri.RequestDigest(&call)}
	for name, change := range map[string]func(*aiuri.Call){
		"nonce":      func(c *aiuri.Call) { c.Nonce = "nonce-of-another" },
		"user":       func(c *aiuri.Call) { c.User = "other" },
		"no-nonce":   func(c *aiuri.Call) { c.User, c.Nonce = "", "" },
		"media-type": func(c *aiuri.Call) { c.MediaType = "text/plain" },
		"method":     func(c *aiuri.Call) { c.Method = "PUT" },
		"uri":        func(c *aiuri.Call) { c.URI = parseAny("ai://bank.example/pay") },
		"body":       func(c *aiuri.Call) { c.Body = []byte("{ }") },
	} {
		t.Run("O15/reject-digest-of-another-"+name, func(t *testing.T) {
			own := call
			change(&own)
			d := aiuri.RequestDigest(&own)
			if slices.Contains(seen, d) {
				t.Errorf("the digest of %+v is another call's, too", own)
			}
			seen = append(seen, d)
		})
	}
	t.Run("O15/accept-plain-form-without-nonce", func(t *testing.T) {
		plain := aiuri.Call{URI: pay.URI, Method: "POST", Body: []byte("{}"), MediaType: "application/json"}
		if got := aiuri.RequestDigest(&plain); got != lookleap.Digest([]byte("POST ai://bank.example/pay?amount=10#f\n{}")) {
			t.Errorf("got %s", got)
		}
	})
}

// TestNonce holds that the result of one call does not answer another one.
func TestNonce(t *testing.T) {
	sign := func(c *aiuri.Call) (aiuri.SignedResult, error) {
		claims := &aiuri.Claims{Issuer: "ai://bank.example/pay", Issued: now, Expires: now.Add(time.Hour), Request: aiuri.RequestDigest(c)}
		return aiuri.SignResult([]byte(`{"paid":true}`), aiuri.SigningKey{ID: "1", Private: ecKey()}, aiuri.SignOptions{Claims: claims, Detached: true})
	}
	world := func(t *testing.T, transport endpoint) (*world, *aiuri.Client) {
		w := newWorld(t)
		w.net.Clock().Freeze()
		w.net.Clock().Set(now)
		w.options.Native, w.options.Expect.RequireBinding = transport, true
		return w, must(aiuri.NewClient(w.host, w.options))
	}
	for name, replay := range map[string]bool{"accept-answer": false, "reject-answer-of-the-same-question": true} {
		t.Run("O15/"+name, func(t *testing.T) {
			var first *aiuri.SignedResult
			_, client := world(t, func(c *aiuri.Call) (aiuri.SignedResult, error) {
				if replay && first != nil {
					return *first, nil
				}
				r, err := sign(c)
				first = &r
				return r, err
			})
			for i := range 2 {
				if _, err := client.Invoke(t.Context(), pay); (err == nil) != (i == 0 || !replay) || err != nil && lookleap.CodeOf(err) != aiuri.CodeRejectedPolicy {
					t.Errorf("call %d: %v", i, err)
				}
			}
		})
	}
	t.Run("O15/reject-other-users-answer", func(t *testing.T) {
		var calls []aiuri.Call
		_, client := world(t, func(c *aiuri.Call) (aiuri.SignedResult, error) {
			calls = append(calls, *c)
			if len(calls) == 2 { // what a transport does that mixes up its users
				swapped := *c
				swapped.User = calls[0].User
				return sign(&swapped)
			}
			return sign(c)
		})
		if _, err := client.ForUser("ada").Invoke(t.Context(), pay); err != nil {
			t.Error(err)
		}
		if _, err := client.ForUser("bob").Invoke(t.Context(), pay); lookleap.CodeOf(err) != aiuri.CodeRejectedPolicy {
			t.Errorf("got %v", err)
		}
		if calls[0].User == calls[1].User || strings.Contains(calls[0].User, "ada") {
			t.Errorf("the marks are %q and %q", calls[0].User, calls[1].User)
		}
	})
	t.Run("O15/accept-through-a-gateway", func(t *testing.T) {
		g := newGatewayWorld(t)
		g.net.Clock().Freeze()
		g.net.Clock().Set(now)
		g.options.Invoker, g.options.Expect.RequireBinding, g.options.UserKey = endpoint(sign), true, make([]byte, 32)
		g.options.TLSEnded = true
		g.gateway.Handle("/gateway/*", must(aiuri.NewGateway(g.host, g.options)))
		g.world.options.Expect.RequireBinding = true
		client := must(aiuri.NewClient(g.host, g.world.options))
		for _, c := range []*aiuri.Client{client, client.ForUser("ada")} {
			if _, err := c.Invoke(t.Context(), pay); err != nil {
				t.Error(err)
			}
		}
		w := g.serve(t, "POST", payTarget, "{}") // by a client that knows nothing of nonces
		again := aiuri.Call{URI: parseAny("ai://bank.example/pay?amount=10"), Method: "POST", Body: []byte("{}"), Nonce: w.Header().Get(aiuri.NonceHeader), User: w.Header().Get(aiuri.UserHeader)}
		x := aiuri.Expectation{Endpoint: parseAny("ai://bank.example/pay"), Request: aiuri.RequestDigest(&again), RequireBinding: true}
		if _, err := aiuri.VerifyResult(aiuri.SignedResult{JWS: w.Header().Get(aiuri.ProvenanceHeader), Body: w.Body.Bytes()}, keySet(t, jwk("1", ecKey())), now, x); err != nil || again.User == "" {
			t.Errorf("got %v with user mark %q", err, again.User)
		}
	})
	t.Run("O15/reject-malformed-nonce", func(t *testing.T) {
		for _, header := range []string{"short", "a nonce with blanks in it", strings.Repeat("x", 129), "two-nonces-of-one-call\r\n" + aiuri.NonceHeader + ": two-nonces-of-one-call"} {
			g := newGatewayWorld(t)
			resp := raw(t, g.server(t), "POST "+payTarget+" HTTP/1.1\r\nHost: ai.example\r\nContent-Length: 2\r\n"+aiuri.NonceHeader+": "+header+"\r\n\r\n{}")
			if resp.StatusCode != 400 || len(g.calls) != 0 {
				t.Errorf("%q: got %s", header, resp.Status)
			}
		}
	})
}

// TestPlanOfAnotherUser holds that a plan is resumed for its own user only.
func TestPlanOfAnotherUser(t *testing.T) {
	w := newWorld(t)
	w.options.UserKey = []byte(strings.Repeat("k", 32))
	w.host.Prompter = prompter(func(*lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
		return lookleap.ConsentDecision{}, lookleap.ErrConsentPending
	})
	client := must(aiuri.NewClient(w.host, w.options))
	_, err := client.ForUser("ada").Invoke(t.Context(), pay)
	var pending *lookleap.PendingError
	if !errors.As(err, &pending) {
		t.Fatal(err)
	}
	decision, _ := allow(pending.Request)
	for _, other := range []*aiuri.Client{client, client.ForUser("bob"), client.ForUser("")} {
		t.Run("O06/reject-plan-of-another-user", func(t *testing.T) {
			if v, err := other.Resume(t.Context(), pending.State, decision); v != nil || !errors.Is(err, lookleap.ErrPlanInvalid) {
				t.Errorf("got %v", err)
			}
			if seen := w.net.Journal().Paths("ai.example"); len(seen) != 0 {
				t.Errorf("sent %q", seen)
			}
		})
	}
	t.Run("O06/reject-equal-marks", func(t *testing.T) {
		_, err := client.ForUser("ada").Invoke(t.Context(), pay)
		again := new(lookleap.PendingError)
		if !errors.As(err, &again) {
			t.Fatal(err)
		}
		if a, b := userMarkOf(t, pending), userMarkOf(t, again); a == b || a == "" {
			t.Error("two plans can be seen to be of one user")
		}
	})
	t.Run("O06/reject-plan-marked-with-another-key", func(t *testing.T) {
		options := w.options
		options.UserKey = []byte(strings.Repeat("x", 32))
		if v, err := must(aiuri.NewClient(w.host, options)).ForUser("ada").Resume(t.Context(), pending.State, decision); v != nil || !errors.Is(err, lookleap.ErrPlanInvalid) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("O06/accept-plan-in-another-process", func(t *testing.T) {
		again := must(aiuri.NewClient(w.host, w.options)).ForUser("ada")
		if v, err := again.Resume(t.Context(), pending.State, decision); v == nil || err != nil {
			t.Errorf("got %v", err)
		}
	})
	t.Run("O06/reject-short-key", func(t *testing.T) {
		for _, key := range []string{"k", "short", strings.Repeat("k", 31)} {
			w.options.UserKey = []byte(key)
			if c, err := aiuri.NewClient(w.host, w.options); c != nil || lookleap.CodeOf(err) != aiuri.CodeBadConfiguration {
				t.Errorf("%q: got %v", key, err)
			}
		}
	})
}

// userMarkOf returns the mark of the user in the effect of a plan.
func userMarkOf(t *testing.T, pending *lookleap.PendingError) string {
	t.Helper()
	plan, err := lookleap.ParsePlan(pending.State)
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(plan.Effect()), "\n")
	var effect struct{ User string }
	if err := json.Unmarshal([]byte(line), &effect); err != nil {
		t.Fatal(err)
	}
	return effect.User
}

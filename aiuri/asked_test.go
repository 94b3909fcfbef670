package aiuri_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
)

// TestWhatTheUserSees: the user is asked about exactly what is sent, with its recipient.
func TestWhatTheUserSees(t *testing.T) {
	for name, c := range map[string]struct {
		request aiuri.Request
		summary string
		values  []lookleap.ConsentValue
	}{
		"post": {pay, "POST to the AI endpoint, scopes: pay", []lookleap.ConsentValue{
			{Label: "URI", Text: "ai://bank.example/pay?amount=10"}, {Label: `body, "application/json"`, Text: "{}"}}},
		"get": {aiuri.Request{URI: pay.URI}, "GET to the AI endpoint, without scopes", []lookleap.ConsentValue{
			{Label: "URI", Text: "ai://bank.example/pay?amount=10"}}},
		"scopes": {aiuri.Request{URI: pay.URI, Method: "PUT", Body: []byte("x"), MediaType: "text/plain", Scopes: []string{"pay", "read"}},
			"PUT to the AI endpoint, scopes: pay read", []lookleap.ConsentValue{
				{Label: "URI", Text: "ai://bank.example/pay?amount=10"}, {Label: `body, "text/plain"`, Text: "x"}}},
	} {
		t.Run("AIU-5-02/accept-user-sees-values-of-"+name, func(t *testing.T) {
			w, line := newWorld(t), &recorder{}
			w.options.Native = line
			var asked *lookleap.ConsentRequest
			w.host.Prompter = prompter(func(r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
				asked = r
				return allow(r)
			})
			if _, err := w.invoke(t, c.request); err != nil {
				t.Fatal(err)
			}
			item := asked.Items[0]
			if asked.Kind != lookleap.ConsentInvoke || asked.Origin != "https://bank.example" || item.Recipient != "ai://bank.example" || item.Summary != c.summary ||
				!slices.Equal(textsOf(item.Values), textsOf(c.values)) {
				t.Errorf("asked about %s with %+v", item.Summary, item.Values)
			}
			if sent := line.calls[0]; !strings.HasPrefix(item.Summary, sent.Method+" ") || sent.URI.String() != item.Values[0].Text || len(item.Values) == 2 && string(sent.Body) != item.Values[1].Text {
				t.Errorf("sent %+v", sent)
			}
		})
	}
}

func textsOf(values []lookleap.ConsentValue) (all []string) {
	for _, v := range values {
		all = append(all, v.Label+": "+v.Text)
	}
	return all
}

// TestHarmlessAtUnconfirmedEndpoints: an endpoint that its authority does not confirm is told
// nothing without consent, whatever the host declares harmless.
func TestHarmlessAtUnconfirmedEndpoints(t *testing.T) {
	const shop = "https://shop.example/"
	for name, c := range map[string]struct {
		request aiuri.Request
		asks    bool
	}{
		"accept-advertised-endpoint": {aiuri.Request{Page: shop}, false},
		"reject-body":                {aiuri.Request{Page: shop, Method: "GET", Body: []byte("{}")}, true},
		"reject-empty-body":          {aiuri.Request{Page: shop, Method: "GET", Body: []byte{}}, true},
		"reject-other-method":        {aiuri.Request{Page: shop, Method: "DELETE"}, true},
		"reject-media-type":          {aiuri.Request{Page: shop, MediaType: "text/plain"}, true},
		"reject-path-below":          {aiuri.Request{Page: shop, URI: parseAny("ai://bank/pay/secret")}, true},
		"reject-query":               {aiuri.Request{Page: shop, URI: parseAny("ai://bank/pay?secret")}, true},
	} {
		t.Run("AIU-5-02/"+name+"-of-an-unconfirmed-endpoint", func(t *testing.T) {
			w, line := newWorld(t), &recorder{}
			w.net.Site("shop.example").Body("/jwks.json", "application/jwk-set+json", string(setText(jwk("1", ecKey())))).
				Body(documentPath, "application/json", documentOf("ai://bank/pay", "https://shop.example"))
			w.options.Native, w.options.Harmless = line, func(*aiuri.Request) bool { return true }
			w.host.Prompter = nil
			_, err := w.invoke(t, c.request)
			if c.asks && lookleap.CodeOf(err) != lookleap.CodeConsentNoPrompter || !c.asks && err != nil || (len(line.calls) == 1) == c.asks {
				t.Errorf("got %v after %d calls", err, len(line.calls))
			}
		})
	}
}

// TestLongestRequestText: method, media type and scopes have 8 KiB at most, with the method that a
// request has by default. The user is not asked about a longer one.
func TestLongestRequestText(t *testing.T) {
	for name, c := range map[string]struct {
		request aiuri.Request
		code    lookleap.Code
	}{
		"accept-most-scopes":    {aiuri.Request{URI: pay.URI, Scopes: slices.Repeat([]string{"pay"}, 2047)}, lookleap.CodeOK},
		"reject-one-scope-more": {aiuri.Request{URI: pay.URI, Scopes: slices.Repeat([]string{"pay"}, 2048)}, lookleap.CodeTooLarge},
		"accept-longest-method": {aiuri.Request{URI: pay.URI, Method: strings.Repeat("X", 8<<10)}, lookleap.CodeOK},
		"accept-every-capital":  {aiuri.Request{URI: pay.URI, Method: "AZ"}, lookleap.CodeOK},
		"reject-longer-method":  {aiuri.Request{URI: pay.URI, Method: strings.Repeat("X", 8<<10+1)}, lookleap.CodeTooLarge},
		"reject-longer-media-type": {aiuri.Request{URI: pay.URI, Body: []byte("{}"), MediaType: "text/" + strings.Repeat("x", 8<<10-len("text/")+1)},
			lookleap.CodeTooLarge},
	} {
		t.Run("AIU-5-02/"+name, func(t *testing.T) {
			w, line := newWorld(t), &recorder{}
			w.options.Native = line
			asked := 0
			w.host.Prompter = prompter(func(r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) { asked++; return allow(r) })
			if _, err := w.invoke(t, c.request); lookleap.CodeOf(err) != c.code || (len(line.calls) == 1) != (err == nil) || (asked == 1) != (err == nil) {
				t.Errorf("got %v after %d questions and %d calls", err, asked, len(line.calls))
			}
		})
	}
	for _, c := range []struct {
		name        string
		limit, size int
		code        lookleap.Code
	}{
		{"accept-largest-body", 100, 100, lookleap.CodeOK}, {"reject-larger-body", 100, 101, lookleap.CodeTooLarge},
		{"accept-body-of-one-byte", 1, 1, lookleap.CodeOK}, {"reject-body-of-two-bytes", 1, 2, lookleap.CodeTooLarge},
	} {
		t.Run("AIU-5-02/"+c.name, func(t *testing.T) {
			w, line := newWorld(t), &recorder{}
			w.options.Native, w.options.MaxBody = line, int64(c.limit)
			if _, err := w.invoke(t, aiuri.Request{URI: pay.URI, Body: make([]byte, c.size)}); lookleap.CodeOf(err) != c.code || (len(line.calls) == 1) != (err == nil) {
				t.Errorf("got %v after %d calls", err, len(line.calls))
			}
		})
	}
}

// TestPublishedKeys: a ring publishes each of its keys with its own kid, algorithm and use, and
// verifiers find the key of a result by them.
func TestPublishedKeys(t *testing.T) {
	keys := []aiuri.SigningKey{{ID: "a", Private: ecKey()}, {ID: "b", Private: p384Key()}, {ID: "c", Private: rsaKey()}, {ID: "d", Private: edKey()}}
	ring := must(aiuri.NewKeyRing(keys[0], aiuri.KeyRingOptions{Now: func() time.Time { return now }}))
	for _, key := range keys[1:] {
		if err := ring.Rotate(key); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("AIU-3.4-10/accept-key-of-each-kind", func(t *testing.T) {
		var published struct {
			Keys []struct{ Kid, Alg, Use, D, P string }
		}
		if err := json.Unmarshal(ring.JWKS(), &published); err != nil || len(published.Keys) != len(keys) {
			t.Fatal(published, err)
		}
		for i, algorithm := range []string{aiuri.ES256, aiuri.ES384, aiuri.PS256, aiuri.EdDSA} {
			if k := published.Keys[i]; k.Kid != keys[i].ID || k.Alg != algorithm || k.Use != "sig" || k.D != "" || k.P != "" {
				t.Errorf("published %+v", k)
			}
		}
		set := must(aiuri.ParseKeySet(ring.JWKS()))
		for _, key := range keys {
			r := must(aiuri.SignResult([]byte("paid"), key, aiuri.SignOptions{}))
			if v, err := aiuri.VerifyResult(r, set, now, aiuri.Expectation{}); err != nil || v.KeyID != key.ID {
				t.Errorf("%s: %v, %v", key.ID, v, err)
			}
		}
	})
	for name, set := range map[string][]byte{
		"reject-private-among-others":   setText(jwk("1", ecKey()), jwk("2", otherKey(), with("d", "AA"))),
		"reject-symmetric":              setText(jwk("1", ecKey()), map[string]any{"kty": "oct", "kid": "2", "k": "AA"}),
		"reject-blank-kid":              setText(jwk("1", ecKey()), jwk(" ", otherKey())),
		"reject-empty-kid":              setText(jwk("", ecKey(), with("kid", ""))),
		"reject-no-kid-among-others":    setText(jwk("1", ecKey()), jwk("", otherKey())),
		"reject-encryption-in-key-ops":  setText(jwk("1", ecKey(), with("key_ops", []string{"encrypt"}))),
		"reject-algorithm-of-no-result": setText(jwk("1", ecKey(), with("alg", "ECDH-ES"))),
	} {
		t.Run("AIU-3.4-10/"+name, func(t *testing.T) {
			if h, err := aiuri.NewKeySetHandler(set); h != nil || lookleap.CodeOf(err) != aiuri.CodeBadKeySet {
				t.Errorf("got %v, %v", h, err)
			}
		})
	}
	t.Run("AIU-3.4-10/accept-set-of-another-program", func(t *testing.T) {
		if h, err := aiuri.NewKeySetHandler(setText(jwk("1", ecKey()), jwk("2", rsaKey()))); h == nil || err != nil {
			t.Errorf("got %v", err)
		}
	})
}

// TestRingIDs: no two keys of a ring have one id, and a key has one.
func TestRingIDs(t *testing.T) {
	ring := must(aiuri.NewKeyRing(aiuri.SigningKey{ID: "1", Private: ecKey()}, aiuri.KeyRingOptions{Now: func() time.Time { return now }}))
	if err := ring.Rotate(aiuri.SigningKey{ID: "2", Private: otherKey()}); err != nil {
		t.Fatal(err)
	}
	for name, id := range map[string]string{"reject-id-of-the-signing-key": "1", "reject-id-of-the-next-key": "2", "reject-empty-id": ""} {
		t.Run("AIU-3.4-11/"+name, func(t *testing.T) {
			if err := ring.Rotate(aiuri.SigningKey{ID: id, Private: p384Key()}); lookleap.CodeOf(err) != aiuri.CodeBadConfiguration {
				t.Errorf("got %v", err)
			}
		})
	}
}

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
		for i, algorithm := range []string{"ES256", "ES384", "PS256", "EdDSA"} {
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

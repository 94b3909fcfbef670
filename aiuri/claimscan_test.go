package aiuri

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestMayClaim holds that no claim is passed over, wherever it stands, and that
// payloads without any are not read as JSON.
func TestMayClaim(t *testing.T) {
	for _, name := range claimNames {
		for n := range 40 {
			payload := "{" + strings.Repeat(" ", n) + `"` + name + `":1`
			for len(payload) < n+60 {
				if !mayClaim([]byte(payload + "}")) {
					t.Fatalf("passes over %s in %q", name, payload)
				}
				payload += " "
			}
		}
	}
	for _, payload := range []string{
		``, `[]`, `"iss"`, `x{"iss":1}`, `{}`, `{"paid":true}`, `{"abc":1,"defgh":2,"scopes":3,"iss ":4}`, `{"is":1,"issu":2}`, `{"ISS":1}`, `{"x":"iss}`,
		`{"data":"` + strings.Repeat("x", 100) + `"}`, `{"a\n":1}`,
	} {
		if mayClaim([]byte(payload)) {
			t.Errorf("%q may claim", payload)
		}
	}
	if !mayClaim([]byte(`{"\u0069ss":1}`)) {
		t.Error("passes over a name in escapes")
	}
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.SampledFrom([]string{`"`, `""`, "iss", "aud", "exp", "iat", "req", "scope", "a", ":", ",", "\xa2", "!", "\x00"})).Draw(t, "parts")
		payload := "{" + strings.Join(parts, "")
		want := false
		for _, name := range claimNames {
			want = want || strings.Contains(payload, `"`+name+`"`)
		}
		if got := mayClaim([]byte(payload)); got != want {
			t.Fatalf("%q: %v", payload, got)
		}
	})
}

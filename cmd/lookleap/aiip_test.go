package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/lookleaptest"
)

// TestAIIP looks for the endpoints of sites of a lab.
func TestAIIP(t *testing.T) {
	n := lookleaptest.ForTest(t)
	n.Site("bank.example").File("/.well-known/aiip", "application/json",
		`{"endpoint":"ai://bank.example/pay","jwks":"https://bank.example/keys.json","scopes":["pay"],"policy":{"requireSignedResults":false}}`)
	n.Site("quiet.example").File("/", "text/html", "<title>x</title>")
	door := opened(t, n).Args()
	for _, c := range []struct {
		site     string
		endpoint string
	}{
		{"bank.example", "ai://bank.example/pay"},
		{"quiet.example", ""},
	} {
		var stdout, stderr bytes.Buffer
		exit := run(context.Background(), append(append([]string{}, door...), "--json", "aiip", "https://"+c.site+"/"), nil, &stdout, &stderr)
		var got struct {
			OK       bool
			Findings []struct{ Code string }
			Value    struct {
				Endpoint, JWKS string
				Confirmed      bool
			}
		}
		if err := json.Unmarshal(stdout.Bytes(), &got); err != nil {
			t.Fatalf("%v: %s%s", err, &stdout, &stderr)
		}
		if found := c.endpoint != ""; got.OK != found || (exit == 0) != found || got.Value.Endpoint != c.endpoint || got.Value.Confirmed != found {
			t.Errorf("%s: exit %d, %s", c.site, exit, &stdout)
		} else if found && (len(got.Findings) != 1 || got.Findings[0].Code != "policy-weaker-than-spec") {
			t.Errorf("%s: the findings are %v", c.site, got.Findings)
		}
	}
}

// TestJWS verifies signed, changed and foreign results.
func TestJWS(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, content []byte) string {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	ring := func(id string) *aiuri.KeyRing {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		r, err := aiuri.NewKeyRing(aiuri.SigningKey{ID: id, Private: key}, aiuri.KeyRingOptions{Lead: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	ours, others := ring("a"), ring("a")
	payload := []byte(`{"paid":10}`)
	detached, err := aiuri.SignResult(payload, ours.Current(), aiuri.SignOptions{Detached: true})
	if err != nil {
		t.Fatal(err)
	}
	embedded, err := aiuri.SignResult(payload, ours.Current(), aiuri.SignOptions{})
	if err != nil {
		t.Fatal(err)
	}
	keys, foreign := write("keys.json", ours.JWKS()), write("foreign.json", others.JWKS())
	body, changed := write("body", payload), write("changed", []byte(`{"paid":99}`))
	d, e := write("detached", append([]byte(detached.JWS), '\n')), write("embedded", []byte(embedded.JWS))
	for _, c := range []struct {
		name string
		args []string
		exit int
		code string
	}{
		{"embedded", []string{e, "--jwks", keys}, 0, "ok"},
		{"detached", []string{d, "--jwks", keys, "--payload", body}, 0, "ok"},
		{"changed", []string{d, "--jwks", keys, "--payload", changed}, 1, "rejected-bad-signature"},
		{"foreign-key", []string{e, "--jwks", foreign}, 1, "rejected-bad-signature"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			exit := run(context.Background(), append([]string{"--json", "jws"}, c.args...), nil, &stdout, &stderr)
			var got struct{ Code string }
			if err := json.Unmarshal(stdout.Bytes(), &got); err != nil {
				t.Fatalf("%v: %s%s", err, &stdout, &stderr)
			}
			if exit != c.exit || got.Code != c.code {
				t.Errorf("exit %d, %s", exit, &stdout)
			}
		})
	}
	for _, args := range [][]string{{"jws", e}, {"jws", e, "--jwks", "no such file"}, {"jws", e, "--jwks", body}, {"jws", d, "--jwks", keys, "--payload", "no such file"}} {
		var stdout, stderr bytes.Buffer
		if exit := run(context.Background(), args, nil, &stdout, &stderr); exit != 2 {
			t.Errorf("%q: exit %d", args, exit)
		}
	}
}

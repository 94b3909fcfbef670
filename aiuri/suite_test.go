package aiuri_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
)

// suite finds a directory of vectors that others wrote.
func suite(t *testing.T, name string) string {
	dir := os.Getenv("LOOKLEAP_SUITES")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "suites")
	}
	dir = filepath.Join(dir, name)
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("%s is absent: LOOKLEAP_SUITES names the directory that holds it (%v)", name, err)
	}
	return dir
}

// cookbookCase is one file of the JOSE cookbook (RFC 7520).
type cookbookCase struct {
	Input struct {
		Payload string         `json:"payload"`
		Key     map[string]any `json:"key"`
	} `json:"input"`
	Output struct {
		Compact string `json:"compact"`
	} `json:"output"`
}

// TestCookbook holds that what the cookbook signs with our algorithms verifies,
// and that the rest is refused for its algorithm.
func TestCookbook(t *testing.T) {
	dir := suite(t, "jose-cookbook")
	for _, c := range []struct {
		file     string
		detached bool
		code     lookleap.Code
	}{
		{"jws/4_1.rsa_v15_signature.json", false, ""},
		{"curve25519/jws.json", false, ""},
		{"jws/4_2.rsa-pss_signature.json", false, lookleap.CodeRejectedAlgorithm}, // PS384
		{"jws/4_3.ecdsa_signature.json", false, lookleap.CodeRejectedAlgorithm},   // ES512
		{"jws/4_4.hmac-sha2_integrity_protection.json", false, lookleap.CodeRejectedAlgorithm},
		{"jws/4_5.signature_with_detached_content.json", true, lookleap.CodeRejectedAlgorithm}, // HS256
	} {
		t.Run(filepath.Base(c.file), func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join(dir, c.file))
			if err != nil {
				t.Fatal(err)
			}
			var vector cookbookCase
			if err := json.Unmarshal(data, &vector); err != nil {
				t.Fatal(err)
			}
			for _, private := range []string{"d", "p", "q", "dp", "dq", "qi"} {
				delete(vector.Input.Key, private)
			}
			r := aiuri.Result{JWS: vector.Output.Compact}
			if c.detached {
				r.Body = []byte(vector.Input.Payload)
			}
			x := aiuri.Expectation{AllowRS256: true}
			if c.code != "" {
				refused(t, r, keySet(t, vector.Input.Key), x, c.code)
				return
			}
			v, err := aiuri.VerifyResult(r, keySet(t, vector.Input.Key), x, now)
			if err != nil || string(v.Payload) != vector.Input.Payload {
				t.Errorf("got %v, %v", v, err)
			}
		})
	}
}

// TestWycheproof runs the JWS part of Project Wycheproof where it can be had: no
// invalid case may be accepted. Algorithms that are not ours are refused, valid
// cases of theirs too.
func TestWycheproof(t *testing.T) {
	dir := suite(t, "wycheproof")
	data, err := os.ReadFile(filepath.Join(dir, "testvectors_v1", "json_web_signature_test.json"))
	if err != nil {
		t.Skip(err)
	}
	var file struct {
		TestGroups []struct {
			Public json.RawMessage `json:"public"`
			Tests  []struct {
				ID     int    `json:"tcId"`
				JWS    any    `json:"jws"`
				Result string `json:"result"`
			} `json:"tests"`
		} `json:"testGroups"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	accepted := 0
	for _, group := range file.TestGroups {
		set, err := aiuri.ParseKeySet([]byte(`{"keys":[` + string(group.Public) + `]}`))
		if err != nil {
			continue // the group has no public key, or one that cannot be read
		}
		for _, c := range group.Tests {
			text, ok := c.JWS.(string)
			if !ok {
				continue
			}
			v, _ := aiuri.VerifyResult(aiuri.Result{JWS: text}, set, aiuri.Expectation{AllowRS256: true}, now)
			if v != nil && c.Result == "invalid" {
				t.Errorf("case %d is accepted", c.ID)
			}
			if v != nil {
				accepted++
			}
		}
	}
	if accepted == 0 {
		t.Error("nothing at all is accepted")
	}
}

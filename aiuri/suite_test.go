package aiuri_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
)

// suites is where vectors are that others wrote.
func suites() string {
	if dir := os.Getenv("LOOKLEAP_SUITES"); dir != "" {
		return dir
	}
	return filepath.Join("..", "..", "shared", "suites")
}

// suite finds a directory of vectors that others wrote.
func suite(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(suites(), name)
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("%s is absent: LOOKLEAP_SUITES names the directory that holds it (%v)", name, err)
	}
	return dir
}

func readJSON(t *testing.T, file string, to any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, to); err != nil {
		t.Fatal(err)
	}
}

// cookbookCase is one file of the JOSE cookbook (RFC 7520, RFC 7797, RFC 8037).
type cookbookCase struct {
	Input struct {
		Payload string          `json:"payload"`
		Key     json.RawMessage `json:"key"` // one, or a list
	} `json:"input"`
	Output struct {
		Compact string          `json:"compact"`
		General json.RawMessage `json:"json"`
		Flat    json.RawMessage `json:"json_flat"`
	} `json:"output"`
}

// publicKeys returns the public part of the case's keys.
func (c *cookbookCase) publicKeys(t *testing.T) *aiuri.KeySet {
	t.Helper()
	text := c.Input.Key
	if !strings.HasPrefix(string(text), "[") {
		text = json.RawMessage("[" + string(text) + "]")
	}
	var keys []map[string]any
	if err := json.Unmarshal(text, &keys); err != nil {
		t.Fatal(err)
	}
	for i, key := range keys {
		for _, private := range []string{"d", "p", "q", "dp", "dq", "qi"} {
			delete(key, private)
		}
		if len(keys) > 1 { // two of them share a kid
			key["kid"] = string(rune('a' + i))
		}
	}
	return keySet(t, keys...)
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
		{"jws/4_1.rsa_v15_signature.json", false, lookleap.CodeOK},
		{"curve25519/jws.json", false, lookleap.CodeOK},
		{"jws/4_2.rsa-pss_signature.json", false, aiuri.CodeRejectedAlgorithm}, // PS384
		{"jws/4_3.ecdsa_signature.json", false, aiuri.CodeRejectedAlgorithm},   // ES512
		{"jws/4_4.hmac-sha2_integrity_protection.json", false, aiuri.CodeRejectedAlgorithm},
		{"jws/4_5.signature_with_detached_content.json", true, aiuri.CodeRejectedAlgorithm}, // HS256
		{"rfc7797/hmac-sha2_b64_false.json", false, aiuri.CodeRejectedAlgorithm},            // HS256
	} {
		t.Run(filepath.Base(c.file), func(t *testing.T) {
			var vector cookbookCase
			readJSON(t, filepath.Join(dir, c.file), &vector)
			r := aiuri.SignedResult{JWS: vector.Output.Compact}
			if c.detached {
				r.Body = []byte(vector.Input.Payload)
			}
			x := aiuri.Expectation{AllowRS256: true}
			if c.code != lookleap.CodeOK {
				refused(t, r, vector.publicKeys(t), x, c.code)
				return
			}
			v, err := aiuri.VerifyResult(r, vector.publicKeys(t), now, x)
			if err != nil || string(v.Payload) != vector.Input.Payload {
				t.Errorf("got %v, %v", v, err)
			}
			r.Body = []byte(vector.Input.Payload + " ")
			refused(t, r, vector.publicKeys(t), x, aiuri.CodeRejectedSignature)
		})
	}
}

// TestCookbookJSON holds that the JSON forms, whose unprotected headers no one
// signed, are refused whatever signed them.
func TestCookbookJSON(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(suite(t, "jose-cookbook"), "*", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	forms := 0
	for _, file := range files {
		if strings.Contains(file, "jwk") {
			continue
		}
		var vector cookbookCase
		readJSON(t, file, &vector)
		for _, form := range []json.RawMessage{vector.Output.General, vector.Output.Flat} {
			if form == nil {
				continue
			}
			forms++
			r := aiuri.SignedResult{JWS: string(form), Body: []byte(vector.Input.Payload)}
			refused(t, r, vector.publicKeys(t), aiuri.Expectation{AllowRS256: true}, aiuri.CodeRejectedSignature)
		}
	}
	if forms < 10 {
		t.Errorf("only %d forms", forms)
	}
}

// TestCookbookKeys holds that of the cookbook's keys only public ones of our kinds
// verify.
func TestCookbookKeys(t *testing.T) {
	dir := suite(t, "jose-cookbook")
	for file, usable := range map[string]bool{
		"3_3.rsa_public_key.json":                true,
		"3_1.ec_public_key.json":                 false, // P-521
		"3_2.ec_private_key.json":                false,
		"3_4.rsa_private_key.json":               false,
		"3_5.symmetric_key_mac_computation.json": false,
		"3_6.symmetric_key_encryption.json":      false,
	} {
		t.Run(file, func(t *testing.T) {
			var key map[string]any
			readJSON(t, filepath.Join(dir, "jwk", file), &key)
			if set := keySet(t, key); (set.Len() == 1) != usable || (len(set.Findings()) == 0) != usable {
				t.Errorf("%d usable, %v", set.Len(), set.Findings())
			}
		})
	}
}

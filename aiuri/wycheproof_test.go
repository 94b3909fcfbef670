package aiuri_test

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap/aiuri"
)

// wycheproof finds Project Wycheproof among the suites or in the module cache.
func wycheproof(t *testing.T) string {
	t.Helper()
	suites := os.Getenv("LOOKLEAP_SUITES")
	if suites == "" {
		suites = filepath.Join("..", "..", "shared", "suites")
	}
	dirs := []string{filepath.Join(suites, "wycheproof")}
	if cache, err := exec.Command("go", "env", "GOMODCACHE").Output(); err == nil {
		found, _ := filepath.Glob(filepath.Join(strings.TrimSpace(string(cache)), "github.com", "!c2!s!p", "wycheproof@*"))
		dirs = append(dirs, found...)
	}
	for _, dir := range dirs {
		dir = filepath.Join(dir, "testvectors_v1")
		if _, err := os.Stat(dir); err == nil {
			return dir
		}
	}
	t.Skip("Project Wycheproof is absent: put it into LOOKLEAP_SUITES, or run " +
		"go mod download github.com/C2SP/wycheproof@v0.0.0-20250901140545-b51abcfb8daf")
	return ""
}

type wycheproofFile struct {
	NumberOfTests int `json:"numberOfTests"`
	TestGroups    []struct {
		Public  json.RawMessage `json:"public"`  // a key or a set
		Private json.RawMessage `json:"private"` // likewise; the only one where keys are symmetric
		Tests   []struct {
			ID     int             `json:"tcId"`
			JWS    json.RawMessage `json:"jws"` // absent in cases of encryption, an object in the JSON form
			Result string          `json:"result"`
		} `json:"tests"`
	} `json:"testGroups"`
}

// TestWycheproof runs the JWS part of Project Wycheproof: no invalid case may be
// accepted, and of the valid ones exactly those of our algorithms, with a public
// key, are.
func TestWycheproof(t *testing.T) {
	dir := wycheproof(t)
	for _, c := range []struct {
		file     string
		cases    int
		accepted []int
	}{
		// ES256, RS256 and PS256; the others are signed with HS*, RS384, PS512 and so on.
		{"json_web_signature_test.json", 401, []int{18, 33, 259, 260, 261, 262, 263, 272, 273, 274, 275, 287, 288, 345, 349, 378}},
		{"json_web_key_test.json", 26, []int{5}},
		{"json_web_crypto_test.json", 83, []int{18, 33}},
	} {
		t.Run(c.file, func(t *testing.T) {
			var file wycheproofFile
			if data := must(os.ReadFile(filepath.Join(dir, c.file))); json.Unmarshal(data, &file) != nil {
				t.Fatal("the file is no JSON")
			}
			if file.NumberOfTests != c.cases {
				t.Errorf("%d cases: this is another revision than the one of the table", file.NumberOfTests)
			}
			var accepted []int
			for _, group := range file.TestGroups {
				set := wycheproofSet(group.Public, group.Private)
				for _, test := range group.Tests {
					text := string(test.JWS)
					if strings.HasPrefix(text, `"`) {
						_ = json.Unmarshal(test.JWS, &text)
					}
					v, _ := aiuri.VerifyResult(aiuri.SignedResult{JWS: text}, set, now, aiuri.Expectation{AllowRS256: true})
					if v == nil {
						continue
					}
					accepted = append(accepted, test.ID)
					if test.Result != "valid" {
						t.Errorf("case %d is accepted", test.ID)
					}
					if payload := strings.Split(text, ".")[1]; payload != base64.RawURLEncoding.EncodeToString(v.Payload) {
						t.Errorf("case %d: the payload is %q", test.ID, v.Payload)
					}
				}
			}
			if !slices.Equal(accepted, c.accepted) {
				t.Errorf("accepted %v, want %v", accepted, c.accepted)
			}
		})
	}
}

// wycheproofSet makes a set of what a group has; nil: it is refused as a whole.
func wycheproofSet(public, private json.RawMessage) *aiuri.KeySet {
	text := string(public)
	if public == nil {
		text = string(private)
	}
	if !strings.Contains(text, `"keys"`) {
		text = `{"keys":[` + text + `]}`
	}
	set, err := aiuri.ParseKeySet([]byte(text))
	if err != nil {
		return nil
	}
	return set
}

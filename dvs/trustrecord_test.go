package dvs_test

import (
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
)

// TestParseTrustRecord reads records as a store has them.
func TestParseTrustRecord(t *testing.T) {
	const head = `{"type":"` + dvs.TrustMediaType + `","skill":"https://shop.example/SKILL.md"`
	one := dvs.DigestOf([]byte("1"))
	version := func(file, at string) string {
		return `,"versions":[{"file":"` + file + `","header":"","approved":"` + at + `","root":""}]}`
	}
	for name, c := range map[string]struct{ text, want string }{
		"accept-empty":           {head + "}", ""},
		"accept-version":         {head + version(one.String(), "2026-01-01T00:00:00Z"), ""},
		"reject-no-json":         {"approved", "cannot be read"},
		"reject-no-skill":        {`{"type":"` + dvs.TrustMediaType + `"}`, "does not name its skill"},
		"reject-no-type":         {`{"skill":"https://shop.example/SKILL.md"}`, `the type of the record is ""`},
		"reject-other-type":      {`{"type":"text/plain","skill":"x"}`, `the type of the record is "text/plain"`},
		"reject-newer":           {strings.Replace(head, "version=1", "version=2", 1) + `,"more":1}`, "newer version of this module"},
		"reject-other-parameter": {strings.Replace(head, "version=1", "v=1", 1) + "}", "newer version of this module"},
		"reject-unknown-member":  {head + `,"more":1}`, "cannot be read"},
		"reject-two-records":     {head + "}" + head + "}", "something follows"},
		"reject-no-digest":       {head + version("", "2026-01-01T00:00:00Z"), "no digest or time"},
		"reject-no-time":         {head + version(one.String(), "0001-01-01T00:00:00Z"), "no digest or time"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := dvs.ParseTrustRecord([]byte(c.text))
			if c.want == "" {
				if err != nil || r.Skill == "" {
					t.Error(r, err)
				}
				return
			}
			if r != nil || lookleap.CodeOf(err) != dvs.CodeTrustStore || !strings.Contains(err.Error(), c.want) {
				t.Errorf("want %q, got %v, %v", c.want, r, err)
			}
			if newer := strings.Contains(err.Error(), "update this program"); newer != strings.Contains(c.want, "newer") {
				t.Error("the fix is wrong:", err)
			}
		})
	}
}

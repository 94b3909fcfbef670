package dvs_test

import (
	"strings"
	"testing"

	"github.com/lookleap/lookleap/dvs"
)

func TestParseDigest(t *testing.T) {
	want := dvs.DigestOf([]byte("a"))
	if got, err := dvs.ParseDigest(want.String()); err != nil || got != want {
		t.Errorf("%s, %v", got, err)
	}
	for name, text := range map[string]string{
		"reject-empty":      "",
		"reject-other-hash": strings.Replace(want.String(), "sha256", "sha512", 1),
		"reject-upper-case": "sha256:" + strings.ToUpper(want.String()[7:]),
		"reject-short":      want.String()[:70],
		"reject-no-hex":     "sha256:" + strings.Repeat("g", 64),
		"reject-zero":       "sha256:" + strings.Repeat("0", 64), // would be a promise that nobody looks at
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := dvs.ParseDigest(text); err == nil || !got.IsZero() {
				t.Errorf("%s, %v", got, err)
			}
		})
	}
}

package agentstxt

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
)

// signed puts the right hash line before directives.
func signed(directives ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(directives, "\n")))
	return "*" + hex.EncodeToString(sum[:]) + "\n" + strings.Join(directives, "\n") + "\n"
}

func mustParse(t testing.TB, o Options, directives ...string) *Policy {
	t.Helper()
	p, err := o.Parse([]byte(signed(directives...)))
	if err != nil {
		t.Fatalf("parsing %q: %v", directives, err)
	}
	return p
}

func TestDecide(t *testing.T) {
	const (
		allowed    = lookleap.CodeAllowed
		disallowed = lookleap.CodeDisallowed
		unlisted   = lookleap.CodeUnlisted
	)
	type asked struct {
		path    string
		allowed bool
		code    lookleap.Code
	}
	for _, tt := range []struct {
		id    string
		rules []string
		asked []asked
	}{
		{"AGT-6-15/reject-evasion", []string{"/admin DISALLOW"}, []asked{
			{"//admin", false, disallowed}, {"/x/..//admin", false, disallowed}, {"/%2e/admin", false, disallowed},
			{"/x%2F..%2Fadmin", false, disallowed}, {`/\admin`, false, disallowed}, {"/;x/admin", false, disallowed},
			{"/admin%00", false, disallowed}, {"/%61dmin", false, disallowed}, {"/admin?x", false, disallowed}, {"/a", true, unlisted},
		}},
		{"x", []string{"/status ALLOW", "/dashboard ALLOW limit=50", "/admin DISALLOW"}, []asked{
			{"/status", true, allowed}, {"/status/x", true, allowed}, {"/statuspage", false, unlisted}, {"/admin", false, disallowed}, {"/administrator", false, disallowed},
			{"/x", false, unlisted}, {"/dashboard", true, allowed}, {"/status/..%2Fadmin", false, disallowed}, {"/status/..%2Fx", false, unlisted},
		}},
	} {
		t.Run(tt.id, func(t *testing.T) {
			p := mustParse(t, Options{}, tt.rules...)
			for _, a := range tt.asked {
				d := p.Decide(a.path)
				if d.Allowed != a.allowed || d.Code != a.code {
					t.Errorf("Decide(%q) = %v", a.path, d)
				}
			}
		})
	}
}

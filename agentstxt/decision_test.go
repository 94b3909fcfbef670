package agentstxt

import (
	"math"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
)

const (
	allowed    = CodeAllowed
	disallowed = CodeDisallowed
	unlisted   = CodeUnlisted
)

// ask is one path and the answer about it: "+" or "-", and the code.
type ask struct {
	path string
	want lookleap.Code
	yes  bool
}

func yes(code lookleap.Code, paths ...string) (all []ask) {
	for _, p := range paths {
		all = append(all, ask{p, code, true})
	}
	return all
}

func no(code lookleap.Code, paths ...string) (all []ask) {
	for _, p := range paths {
		all = append(all, ask{p, code, false})
	}
	return all
}

// TestDecide asks policies about paths: section 6.
func TestDecide(t *testing.T) {
	section3 := []string{"/status ALLOW", "/dashboard ALLOW limit=50", "/admin DISALLOW"}
	for _, tt := range []struct {
		name  string
		rules []string
		asks  []ask
	}{
		{"AGT-1-01/accept-without-robots", []string{"/a DISALLOW"}, yes(unlisted, "/b", "/robots.txt")},
		{"AGT-1-01/reject-stricter-than-robots", []string{"/a ALLOW"}, no(unlisted, "/b")},
		{"AGT-3-11/accept-no-rules", nil, yes(unlisted, "/", "/x")},
		{"AGT-3-13/accept-section-3", section3, yes(allowed, "/status", "/dashboard")},
		{"AGT-3-13/reject-section-3", section3, no(disallowed, "/admin")},

		{"AGT-6-08/accept-elsewhere", []string{"/a DISALLOW limit=0 auth=x"}, yes(unlisted, "/b")},
		{"AGT-6-08/reject-with-limit", []string{"/a DISALLOW limit=5"}, no(disallowed, "/a", "/a/b")},
		{"AGT-6-08/reject-with-bad-limit", []string{"/a DISALLOW limit=x"}, no(disallowed, "/a")},

		{"AGT-6-09/reject-prefix", []string{"/admin DISALLOW"}, no(disallowed, "/admin", "/admin/x", "/administrator", "/admin?x", "/admin.html", "/admin#f")},
		{"AGT-6-09/accept-others", []string{"/admin DISALLOW"}, yes(unlisted, "/", "/adm", "/a/admin", "/Admin")},
		{"AGT-6-09/reject-star", []string{"/p/*/x DISALLOW"}, no(disallowed, "/p/1/x", "/p/1/2/x", "/p//x", "/p/1/xyz", "/p/*/x", "/p/*/xy")},
		{"AGT-6-09/accept-star", []string{"/p/*/x DISALLOW"}, yes(unlisted, "/p/1", "/p/x", "/q/1/x")},
		{"AGT-6-09/reject-dollar", []string{"/a$ DISALLOW"}, no(disallowed, "/a", "/a?x", "/a$", "/a$b")},
		{"AGT-6-09/accept-dollar", []string{"/a$ DISALLOW"}, yes(unlisted, "/ab", "/a/", "/")},
		{"AGT-6-09/reject-dollar-inside", []string{"/a$b DISALLOW"}, no(disallowed, "/a$b", "/a$bc")},
		{"AGT-6-09/accept-dollar-inside", []string{"/a$b DISALLOW"}, yes(unlisted, "/a")},
		{"AGT-6-09/reject-star-and-dollar", []string{"/*.pdf$ DISALLOW"}, no(disallowed, "/a.pdf", "/a/b.pdf?x", "/a.pdf.pdf", "/*.pdf$")},
		{"AGT-6-09/accept-star-and-dollar", []string{"/*.pdf$ DISALLOW"}, yes(unlisted, "/a.pdf.html", "/pdf")},
		{"AGT-6-09/reject-everything", []string{"/* DISALLOW"}, no(disallowed, "/", "/a", "/a/b")},
		{"AGT-6-09/reject-stars-in-a-row", []string{"/a**b*$ DISALLOW"}, no(disallowed, "/ab", "/axb", "/a/b/c")},
		{"AGT-6-09/reject-overlap-is-no-match-but-twice-is", []string{"/*ab*ab$ DISALLOW"}, no(disallowed, "/abab", "/abxab")},
		{"AGT-6-09/accept-overlap", []string{"/*ab*ab$ DISALLOW"}, yes(unlisted, "/ab", "/aba")},
		{"AGT-6-09/reject-encoded-star-is-literal", []string{"/a%2A DISALLOW"}, no(disallowed, "/a%2A", "/a*", "/a%2Ab")},
		{"AGT-6-09/accept-encoded-star-is-literal", []string{"/a%2A DISALLOW"}, yes(unlisted, "/ab")},

		{"AGT-6-10/accept-segments", []string{"/status ALLOW"}, yes(allowed, "/status", "/status/", "/status/x", "/status?x")},
		{"AGT-6-10/reject-no-boundary", []string{"/status ALLOW"}, no(unlisted, "/statuspage", "/status-internal", "/status.html", "/stat", "/")},
		{"AGT-6-10/accept-root", []string{"/ ALLOW"}, yes(allowed, "/", "", "/a", "/a/b")},
		{"AGT-6-10/accept-slash", []string{"/a/ ALLOW"}, yes(allowed, "/a/", "/a/x")},
		{"AGT-6-10/reject-slash", []string{"/a/ ALLOW"}, no(unlisted, "/a", "/ab")},
		{"AGT-6-10/accept-literal-star", []string{"/a/* ALLOW"}, yes(allowed, "/a/*", "/a/*/b")},
		{"AGT-6-10/reject-star-is-literal", []string{"/a/* ALLOW"}, no(unlisted, "/a/b", "/a/")},
		{"AGT-6-10/reject-dollar-is-literal", []string{"/a$ ALLOW"}, no(unlisted, "/a")},

		{"AGT-6-11/accept-longer-allow", []string{"/a DISALLOW", "/a/b ALLOW"}, yes(allowed, "/a/b", "/a/b/c")},
		{"AGT-6-11/reject-longer-disallow", []string{"/a DISALLOW", "/a/b ALLOW", "/a/b/c/d DISALLOW"}, no(disallowed, "/a", "/a/x", "/a/bc", "/a/b/c/d/e")},
		{"AGT-6-11/reject-tie", []string{"/a ALLOW", "/a DISALLOW"}, no(disallowed, "/a", "/a/b", "/ab")},
		{"AGT-6-11/reject-tie-other-order", []string{"/a DISALLOW", "/a ALLOW"}, no(disallowed, "/a", "/a/b", "/ab")},
		{"AGT-6-11/reject-tie-with-pattern", []string{"/a/* DISALLOW", "/a/b ALLOW"}, no(disallowed, "/a/b")},
		{"AGT-6-11/accept-longer-than-pattern", []string{"/a/* DISALLOW", "/a/bc ALLOW"}, yes(allowed, "/a/bc")},
		{"AGT-6-11/accept-order-plays-no-part", []string{"/a/b ALLOW", "/a DISALLOW"}, yes(allowed, "/a/b/c")},
		{"AGT-6-11/reject-root", []string{"/ DISALLOW", "/a ALLOW"}, no(disallowed, "/", "/b", "/ab")},
		{"AGT-6-11/accept-below-root", []string{"/ DISALLOW", "/a ALLOW"}, yes(allowed, "/a", "/a/b")},

		{"AGT-6-13/reject-allow-list", section3, no(unlisted, "/x", "/", "/statuses")},
		{"AGT-6-13/accept-block-list", []string{"/admin DISALLOW"}, yes(unlisted, "/x", "/")},

		{"AGT-6-14/accept-normal-forms", []string{"/a/caf%c3%a9 ALLOW"}, yes(allowed, "/a/café", "/a/caf%C3%A9", "/%61/caf%c3%A9", "/b/../a/./café", "/a/x/../caf%c3%a9/y")},
		{"AGT-6-14/accept-rule-normalised", []string{"/x/../%61/./b ALLOW"}, yes(allowed, "/a/b", "/a/b/c")},
		{"AGT-6-14/accept-empty-path", []string{"/ ALLOW"}, yes(allowed, "", "?x", "#f")},
		{"AGT-6-14/reject-case", []string{"/A ALLOW"}, no(unlisted, "/a")},
		{"AGT-6-14/reject-encoded-slash-is-none", []string{"/a/b ALLOW"}, no(unlisted, "/a%2Fb", "/a%2fb")},
		{"AGT-6-14/accept-encoded-slash-literally", []string{"/a%2fb ALLOW"}, yes(allowed, "/a%2Fb", "/a%2fb/c")},
		{"AGT-6-14/reject-disallow-normalised", []string{"/x/../%61dmin DISALLOW"}, no(disallowed, "/admin")},

		{"AGT-6-15/reject-evasion", []string{"/admin DISALLOW"}, no(disallowed,
			"//admin", "///admin", "/x/..//admin", "/%2e/admin", "/%2E%2e/admin", "/x%2F..%2Fadmin", `/\admin`, "/%5Cadmin", "/;x/admin", "/x;y/../admin",
			"/admin%00", "/admin%00.html", "/x%5C..%5Cadmin", "/..;/admin", "/x/..;a/admin", "/%2561dmin", "/%252561dmin", "/x%252F..%252Fadmin", "/%3Bx/admin", "/a;%2F../admin", "/.//admin", "/a//../admin", "/a/%2F../../admin")},
		{"AGT-6-15/reject-evasion-of-inner-rule", []string{"/a/b DISALLOW", "/ ALLOW"}, no(disallowed, "/a//b", "/a/;x/b", "/a;x/b", "/a%2Fb", `/a\b`, "/a/x%2f../b", "/a/%2e/b")},
		{"AGT-6-15/reject-either-order-of-dots-and-slashes", []string{"/a/b/c/admin DISALLOW", "/x/admin DISALLOW"}, no(disallowed, "/a//b/c//../admin", "/x/y//../admin")},
		{"AGT-6-15/reject-evasion-of-end", []string{"/a$ DISALLOW"}, no(disallowed, "/a%00", "/a%00b", "/a;x", "/x/..//a")},
		{"AGT-6-15/reject-evasion-of-pattern", []string{"/a/*.pdf DISALLOW"}, no(disallowed, "/a/b%2epdf", "/a//b.pdf", "//a/b.pdf", "/a/b%252Epdf")},
		{"AGT-6-15/reject-rule-with-slashes", []string{"//admin DISALLOW"}, no(disallowed, "/admin", "//admin", "/admin/x", "///admin")},
		{"AGT-6-15/reject-pattern-with-slashes", []string{"//a/*/b DISALLOW"}, no(disallowed, "/a/x/b", "//a/x/b")},
		{"AGT-6-15/reject-escape-from-allow-list", []string{"/public ALLOW"}, no(unlisted, "/public/..%2Fadmin", "/public/..;/admin", `/public/..\admin`, "/public/%252e%252e/admin", "/public%00/x")},
		{"AGT-6-15/accept-harmless-spellings", []string{"/public ALLOW"}, yes(allowed, "/public//a", "/public/a;v=1", "/public/a%2Fb", "/public/a%20b", "/public/a%252Fb", "/public/a%5Cb", "/public/caf%C3%A9;x")},
		{"AGT-6-15/accept-spelling-written-down", []string{"/a%2Fb ALLOW", "/v;1 ALLOW"}, yes(allowed, "/a%2Fb", "/a%2Fb/c", "/v;1", "/v;1/x")},
		{"AGT-6-15/reject-ambiguity-before-the-spelling", []string{"/a/b%2Fc ALLOW"}, no(unlisted, "/x%2F/../a/b%2Fc", "/a/b%2Fc/..;/d")},
		{"AGT-6-15/accept-unrelated", []string{"/admin DISALLOW"}, yes(unlisted, "/a//b", "/a;admin", "/x%2Fadmin", "/x/;y/z", "/100%25")},

		{"AGT-6-16/accept-query", []string{"/search ALLOW"}, yes(allowed, "/search", "/search?q=a", "/search?q=/admin", "/search#f", "/search?q=%zz", "/search?a?b", "/search?q#f", "/search#f?q")},
		{"AGT-6-16/reject-query", []string{"/search DISALLOW"}, no(disallowed, "/search", "/search?q=a", "/search?", "/search#f", "/search?a?b", "/search?q#f", "/search#f?q")},
		{"AGT-6-18/accept-policy-file", []string{"/ DISALLOW"}, yes(codePolicyFile, "/agents.txt", "/agents.txt?v=2", "/%61gents.txt", "/x/../agents.txt")},
		{"AGT-6-18/reject-everything-else", []string{"/ DISALLOW"}, no(disallowed, "/", "/agents.txt/x", "//agents.txt", "/agents.txt;x", "/Agents.txt", "/a/agents.txt")},
		{"AGT-6-18/accept-even-if-disallowed", []string{"/agents.txt DISALLOW", "/*.txt DISALLOW"}, yes(codePolicyFile, "/agents.txt")},

		{"AGT-6-03/accept-allow", []string{"/a ALLOW", "/b ALLOW limit=5", "/c\tALLOW\t"}, yes(allowed, "/a", "/b", "/c")},
		{"AGT-6-03/reject-disallow", []string{"/a DISALLOW", "/b DISALLOW x=1", "/c\tDISALLOW\t"}, no(disallowed, "/a", "/b", "/c")},
		{"AGT-9-02/accept-example", section3, yes(allowed, "/status", "/dashboard")},
		{"AGT-9-02/reject-example", section3, append(no(disallowed, "/admin"), no(unlisted, "/x")...)},

		{"reject-path-of-whole-words", []string{"/" + strings.Repeat("a", 63) + " DISALLOW", "/" + strings.Repeat("b", 127) + " DISALLOW"}, no(disallowed, "/"+strings.Repeat("a", 63), "/"+strings.Repeat("b", 127))},
		{"reject-allow-without-boundary-next-to-denial", []string{"/ab ALLOW", "/cd DISALLOW"}, append(no(unlisted, "/abx"), yes(allowed, "/ab")...)},
		{"accept-first-line-longer-than-pattern", []string{"/xyz ALLOW", "/* DISALLOW"}, append(yes(allowed, "/xyz"), no(disallowed, "/x")...)},
		{"reject-long-pattern-behind-short", []string{"/* DISALLOW", "/*/secret DISALLOW", "/xyz ALLOW"}, append(no(disallowed, "/xyz/secret"), yes(allowed, "/xyz/a")...)},
		{"reject-allow-with-fewer-slashes", []string{"/a//b ALLOW"}, append(no(unlisted, "/a/b"), yes(allowed, "/a//b")...)},
		{"reject-ambiguous-paths", []string{"/a ALLOW"}, no(lookleap.CodeBadURL, "/a b", "/a\x00", "/a%zz", "/a%", "/a%4", "a", "*", "https://x.example/a", "/a\n", "/a\x7f")},
		{"reject-long-paths", []string{"/a DISALLOW"}, no(lookleap.CodeURLTooLong, "/"+strings.Repeat("b", 8<<10), "/"+strings.Repeat("%41", 8<<10))},
		{"accept-long-paths", []string{"/a DISALLOW"}, yes(unlisted, "/"+strings.Repeat("b", 8<<10-1), "/"+strings.Repeat("é", 4000))},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := mustParse(t, Options{}, tt.rules...)
			for _, a := range tt.asks {
				if d := p.Decide(a.path); d.Allowed != a.yes || d.Code != a.want || d.Path != a.path {
					t.Errorf("%q: %v", a.path, d)
				}
			}
		})
	}
}

// TestDecision checks the fields of decisions.
func TestDecision(t *testing.T) {
	find := func(p *Policy, code lookleap.Code, line int) bool {
		f, ok := hasFinding(p, code)
		return ok && f.Line == line
	}
	for _, tt := range []struct {
		name    string
		options Options
		rules   []string
		path    string
		want    Decision
		finding lookleap.Code // expected at line
		at      int
	}{
		{"AGT-6-05/accept-unknown", Options{}, []string{"/a ALLOW auth=token"}, "/a", Decision{Allowed: true, Matched: true, Code: allowed, Rule: "/a", Line: 2}, codeUnknownParam, 2},
		{"AGT-6-05/reject-unknown-on-request", Options{DenyUnknownParams: true}, []string{"/a ALLOW auth=token limit=5"}, "/a", Decision{Matched: true, Code: codeUnknownParam, Rule: "/a", Line: 2}, codeUnknownParam, 2},
		{"AGT-6-05/accept-known-on-request", Options{DenyUnknownParams: true}, []string{"/a ALLOW limit=5"}, "/a", Decision{Allowed: true, Matched: true, Code: allowed, Rule: "/a", Line: 2, Limit: 5}, "", 0},
		{"AGT-6-06/accept-limit", Options{}, []string{"/a ALLOW limit=50"}, "/a/b", Decision{Allowed: true, Matched: true, Code: allowed, Rule: "/a", Line: 2, Limit: 50}, "", 0},
		{"AGT-6-06/accept-any-case", Options{}, []string{"/a ALLOW Limit=050"}, "/a", Decision{Allowed: true, Matched: true, Code: allowed, Rule: "/a", Line: 2, Limit: 50}, "", 0},
		{"AGT-6-06/accept-largest", Options{}, []string{"/a ALLOW limit=2147483647"}, "/a", Decision{Allowed: true, Matched: true, Code: allowed, Rule: "/a", Line: 2, Limit: math.MaxInt32}, "", 0},
		{"AGT-6-06/accept-overflow-clamped", Options{}, []string{"/a ALLOW limit=2147483648"}, "/a", Decision{Allowed: true, Matched: true, Code: allowed, Rule: "/a", Line: 2, Limit: math.MaxInt32}, codeBadLimit, 2},
		{"AGT-6-06/accept-many-digits-clamped", Options{}, []string{"/a ALLOW limit=99999999999999999999"}, "/a", Decision{Allowed: true, Matched: true, Code: allowed, Rule: "/a", Line: 2, Limit: math.MaxInt32}, codeBadLimit, 2},
		{"AGT-6-05/accept-known-in-any-case", Options{DenyUnknownParams: true}, []string{"/a ALLOW Limit=5", "/b ALLOW LIMIT=7"}, "/b", Decision{Allowed: true, Matched: true, Code: allowed, Rule: "/b", Line: 3, Limit: 7}, "", 0},
		{"AGT-6-05/reject-unknown-next-to-known", Options{DenyUnknownParams: true}, []string{"/a ALLOW limit=5 auth=x"}, "/a", Decision{Matched: true, Code: codeUnknownParam, Rule: "/a", Line: 2}, codeUnknownParam, 2},
		{"AGT-6-06/reject-zero", Options{}, []string{"/a ALLOW limit=0"}, "/a", Decision{Matched: true, Code: lookleap.CodeLimit, Rule: "/a", Line: 2}, "", 0},
		{"AGT-6-06/reject-negative", Options{}, []string{"/a ALLOW limit=-1"}, "/a", Decision{Matched: true, Code: codeBadLimit, Rule: "/a", Line: 2}, codeBadLimit, 2},
		{"AGT-6-06/reject-fraction", Options{}, []string{"/a ALLOW limit=1.5"}, "/a", Decision{Matched: true, Code: codeBadLimit, Rule: "/a", Line: 2}, codeBadLimit, 2},
		{"AGT-6-06/reject-exponent", Options{}, []string{"/a ALLOW limit=1e3"}, "/a", Decision{Matched: true, Code: codeBadLimit, Rule: "/a", Line: 2}, codeBadLimit, 2},
		{"AGT-6-06/reject-word", Options{}, []string{"/a ALLOW limit=abc"}, "/a", Decision{Matched: true, Code: codeBadLimit, Rule: "/a", Line: 2}, codeBadLimit, 2},
		{"AGT-6-06/reject-plus", Options{}, []string{"/a ALLOW limit=+5"}, "/a", Decision{Matched: true, Code: codeBadLimit, Rule: "/a", Line: 2}, codeBadLimit, 2},
		{"AGT-6-06/reject-empty", Options{}, []string{"/a ALLOW limit="}, "/a", Decision{Matched: true, Code: codeBadLimit, Rule: "/a", Line: 2}, codeBadLimit, 2},
		{"AGT-6-06/accept-other-directive", Options{}, []string{"/a ALLOW limit=abc", "/a/b ALLOW"}, "/a/b", Decision{Allowed: true, Matched: true, Code: allowed, Rule: "/a/b", Line: 3}, codeBadLimit, 2},
		{"AGT-6-08/reject-without-finding", Options{DenyUnknownParams: true}, []string{"/a DISALLOW limit=x auth=y"}, "/a", Decision{Matched: true, Code: disallowed, Rule: "/a", Line: 2}, "", 0},
		{"AGT-6-10/accept-wildcard-reported", Options{}, []string{"/a/* ALLOW"}, "/a/*", Decision{Allowed: true, Matched: true, Code: allowed, Rule: "/a/*", Line: 2}, codeWildcardLiteral, 2},
		{"AGT-6-11/reject-conflict-reported", Options{}, []string{"/a ALLOW", "/a DISALLOW"}, "/a", Decision{Matched: true, Code: disallowed, Rule: "/a", Line: 3}, lookleap.CodeConflict, 3},
		{"AGT-6-12/accept-strictest-limit", Options{}, []string{"/a ALLOW limit=50", "/a ALLOW limit=10"}, "/a", Decision{Allowed: true, Matched: true, Code: allowed, Rule: "/a", Line: 3, Limit: 10}, CodeDuplicate, 3},
		{"AGT-6-12/accept-strictest-limit-first", Options{}, []string{"/a ALLOW limit=10", "/a ALLOW limit=50"}, "/a", Decision{Allowed: true, Matched: true, Code: allowed, Rule: "/a", Line: 2, Limit: 10}, CodeDuplicate, 3},
		{"AGT-6-12/accept-first-of-equal-limits", Options{}, []string{"/a ALLOW limit=50", "/a ALLOW limit=50"}, "/a", Decision{Allowed: true, Matched: true, Code: allowed, Rule: "/a", Line: 2, Limit: 50}, CodeDuplicate, 3},
		{"AGT-6-12/accept-limit-over-none", Options{}, []string{"/a ALLOW", "/a ALLOW limit=50"}, "/a", Decision{Allowed: true, Matched: true, Code: allowed, Rule: "/a", Line: 3, Limit: 50}, CodeDuplicate, 3},
		{"AGT-6-12/accept-limit-before-none", Options{}, []string{"/a ALLOW limit=50", "/%61 ALLOW"}, "/a", Decision{Allowed: true, Matched: true, Code: allowed, Rule: "/a", Line: 2, Limit: 50}, CodeDuplicate, 3},
		{"AGT-6-12/reject-zero-over-limit", Options{}, []string{"/a ALLOW limit=50", "/a ALLOW limit=0"}, "/a", Decision{Matched: true, Code: lookleap.CodeLimit, Rule: "/a", Line: 3}, CodeDuplicate, 3},
		{"AGT-6-12/reject-bad-limit-over-none", Options{}, []string{"/a ALLOW limit=x", "/a ALLOW"}, "/a", Decision{Matched: true, Code: codeBadLimit, Rule: "/a", Line: 2}, CodeDuplicate, 3},
		{"AGT-6-12/reject-duplicate-disallow", Options{}, []string{"/a DISALLOW", "/a DISALLOW"}, "/a", Decision{Matched: true, Code: disallowed, Rule: "/a", Line: 2}, CodeDuplicate, 3},
		{"AGT-6-13/accept-unlisted-by-option", Options{Unlisted: UnlistedAllow}, []string{"/a ALLOW"}, "/x", Decision{Allowed: true, Code: unlisted}, "", 0},
		{"AGT-6-13/reject-unlisted-by-option", Options{Unlisted: UnlistedDeny}, []string{"/a DISALLOW"}, "/x", Decision{Code: unlisted}, "", 0},
		{"AGT-6-14/accept-rule-as-written", Options{}, []string{"/b ALLOW", "/caf%c3%a9 ALLOW limit=3"}, "/café/x", Decision{Allowed: true, Matched: true, Code: allowed, Rule: "/caf%c3%a9", Line: 3, Limit: 3}, "", 0},
		{"AGT-6-15/reject-rule-as-written", Options{}, []string{"/b DISALLOW", "//admin DISALLOW"}, "/admin", Decision{Matched: true, Code: disallowed, Rule: "//admin", Line: 3}, "", 0},
		{"AGT-6-15/accept-strictest-limit-of-readings", Options{}, []string{"/ ALLOW", "/a ALLOW limit=5"}, "//a", Decision{Allowed: true, Matched: true, Code: allowed, Rule: "/a", Line: 3, Limit: 5}, "", 0},
		{"AGT-6-15/reject-conflict-of-spellings", Options{}, []string{"/admin ALLOW", "//admin DISALLOW"}, "/admin", Decision{Matched: true, Code: disallowed, Rule: "//admin", Line: 3}, lookleap.CodeConflict, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := mustParse(t, tt.options, tt.rules...)
			tt.want.Path = tt.path
			if d := p.Decide(tt.path); d != tt.want {
				t.Errorf("got  %+v\nwant %+v", d, tt.want)
			}
			if tt.finding != "" && !find(p, tt.finding, tt.at) {
				t.Errorf("findings %v, want %s in line %d", p.Findings(), tt.finding, tt.at)
			}
			if tt.finding == "" && len(p.Findings()) > 0 {
				t.Errorf("findings %v", p.Findings())
			}
		})
	}
}

// TestRestricted: section 5.
func TestRestricted(t *testing.T) {
	_, malformed := Parse([]byte("/a ALLOW\n"), Options{})
	for _, tt := range []struct {
		name   string
		policy *Policy
	}{
		{"AGT-5-01/reject-every-path", restricted(malformed)},
		{"AGT-5-04/reject-every-path", restricted(&lookleap.Error{Code: lookleap.CodeUnreachable, Err: ErrUnavailable})},
		{"AGT-5-04/reject-nil", nil},
		{"AGT-5-04/reject-zero", new(Policy)},
		{"AGT-5-08/reject-with-every-option", Judge(Response{Status: 200, ContentType: "text/plain", Body: []byte("/a ALLOW")}, Options{Unlisted: UnlistedAllow, Foreign: ForeignIgnore})},
		{"AGT-8-02/reject-strict", Judge(Response{Status: 200, ContentType: "text/plain", Body: []byte(signed("/a"))}, Options{Strict: true})},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.policy.State() != Restricted {
				t.Fatal(tt.policy.State())
			}
			wantDenied(t, tt.policy)
		})
	}
	t.Run("AGT-5-04/accept-policy-file", func(t *testing.T) {
		if d := restricted(malformed).Decide("/agents.txt"); !d.Allowed || d.Code != codePolicyFile {
			t.Error(d)
		}
	})
	t.Run("AGT-5-01/accept-with-hash", func(t *testing.T) {
		if p := mustParse(t, Options{}, "/a ALLOW"); !p.Decide("/a").Allowed {
			t.Error("a whole file denies")
		}
	})
	t.Run("AGT-6-17/accept-any-agent", func(t *testing.T) {
		// There is no place to name one: a rule binds all clients alike.
		var decide func(path string) Decision = mustParse(t, Options{}, "/a ALLOW").Decide
		if !decide("/a").Allowed || decide("/b").Allowed {
			t.Error("wrong decisions")
		}
	})
	t.Run("AGT-6-17/reject-groups", func(t *testing.T) {
		if _, err := Parse([]byte(signed("User-agent: x", "/a ALLOW")), Options{}); lookleap.CodeOf(err) != codeBadDirective {
			t.Error(err)
		}
	})
	t.Run("AGT-8-02/accept-only-valid-or-absent", func(t *testing.T) {
		if !mustParse(t, Options{}, "/a ALLOW").Decide("/a").Allowed || !absent(CodeNoPolicy).Decide("/a").Allowed {
			t.Error("a policy that allows denies")
		}
	})
	t.Run("AGT-1-04/accept-called-integrity", func(t *testing.T) {
		p := mustParse(t, Options{}, "/a ALLOW")
		if p.Integrity() != "sha256:"+hashOf("/a ALLOW")[1:] {
			t.Error(p.Integrity())
		}
	})
	t.Run("AGT-1-04/reject-integrity-of-nothing", func(t *testing.T) {
		if s := restricted(malformed).Integrity() + (*Policy)(nil).Integrity(); s != "" {
			t.Error(s)
		}
	})
}

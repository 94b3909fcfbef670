package domain

import (
	"errors"
	"strings"
	"testing"
)

// row is one case of the requirement register or of the attack list. Its test is named
// ID/kind-name, so that the conformance page can find it.
type row struct {
	id, name string
	input    string
	want     string // the canonical form; of a refusal, the reason code
}

// runRows runs the rows of one kind, "accept" or "reject".
func runRows(t *testing.T, kind string, rows []row, check func(*testing.T, row)) {
	t.Helper()
	byID(t, rows, func(r row) (string, string) { return r.id, kind + "-" + r.name }, check)
}

// byID runs cases as subtests ID/name, all cases of an ID together since a second subtest of
// one name would get another one.
func byID[C any](t *testing.T, cases []C, name func(C) (id, name string), check func(*testing.T, C)) {
	t.Helper()
	var ids []string
	groups := map[string][]C{}
	for _, c := range cases {
		id, _ := name(c)
		if groups[id] == nil {
			ids = append(ids, id)
		}
		groups[id] = append(groups[id], c)
	}
	for _, id := range ids {
		t.Run(id, func(t *testing.T) {
			for _, c := range groups[id] {
				_, name := name(c)
				t.Run(name, func(t *testing.T) { check(t, c) })
			}
		})
	}
}

func wantCode(t *testing.T, err error, code string) *Error {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("error %v, want %s", err, code)
	}
	if e.Code != code {
		t.Fatalf("error %v, want %s", e, code)
	}
	return e
}

func mustParse(t testing.TB, raw string) URL {
	t.Helper()
	u, err := Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestRowsAccept(t *testing.T) {
	runRows(t, "accept", []row{
		{"DVS-2-05", "case-port-escape", "HTTPS://EXAMPLE.com:443/s/%78/SKILL.md", "https://example.com/s/x/SKILL.md"},
		{"DVS-2-05", "canonical", "https://example.com/s/x/SKILL.md", "https://example.com/s/x/SKILL.md"},

		{"DVS-3.1-06", "upper-case-scheme", "HTTPS://example.com/", "https://example.com/"},
		{"DVS-3.1-07", "upper-case-host", "https://EXAMPLE.COM/", "https://example.com/"},

		{"DVS-3.1-08", "u-label", "https://B\u00dcCHER.example/", "https://xn--bcher-kva.example/"},
		{"DVS-3.1-08", "a-label", "https://xn--bcher-kva.example/", "https://xn--bcher-kva.example/"},
		{"DVS-3.1-08", "upper-case-a-label", "https://XN--BCHER-KVA.example/", "https://xn--bcher-kva.example/"},
		{"DVS-3.1-08", "decomposed", "https://bu\u0308cher.example/", "https://xn--bcher-kva.example/"},
		{"DVS-3.1-08", "sharp-s-stays", "https://fa\u00df.de/", "https://xn--fa-hia.de/"},
		{"DVS-3.1-08", "final-sigma-stays", "https://\u03b2\u03cc\u03bb\u03bf\u03c2.com/", "https://xn--nxasmm1c.com/"},

		{"DVS-3.1-09", "another-host", "https://\u0430pple.com/", "https://xn--pple-43d.com/"},

		{"DVS-3.1-10", "label-of-63", "https://" + strings.Repeat("a", 63) + ".example/", "https://" + strings.Repeat("a", 63) + ".example/"},
		{"DVS-3.1-10", "name-of-253", "https://" + longName(253) + "/", "https://" + longName(253) + "/"},
		{"DVS-3.1-11", "no-dot", "https://example.com/x/SKILL.md", "https://example.com/x/SKILL.md"},
		{"DVS-3.1-12", "digits-before-the-last-label", "https://127.example.com/", "https://127.example.com/"},
		{"DVS-3.1-12", "almost-hex", "https://a.0xyz/", "https://a.0xyz/"},
		{"DVS-3.1-13", "example", "https://x.example/", "https://x.example/"},
		{"DVS-3.1-13", "example.com", "https://example.com/", "https://example.com/"},

		{"DVS-3.1-14", "default-port", "https://h.example:443/", "https://h.example/"},
		{"DVS-3.1-14", "empty-port", "https://h.example:/", "https://h.example/"},
		{"DVS-3.1-14", "no-port", "https://h.example/", "https://h.example/"},
		{"DVS-3.1-14", "other-port-is-kept", "https://h.example:8443/", "https://h.example:8443/"},
		{"DVS-3.1-15", "at-sign-in-path", "https://h.example/@bob/x", "https://h.example/@bob/x"},

		{"DVS-3.1-19", "dots-in-names", "https://h.example/.well-known/a..b/.../c.", "https://h.example/.well-known/a..b/.../c."},
		{"DVS-3.1-20", "other-unreserved", "https://h.example/s/%78/SKILL.md", "https://h.example/s/x/SKILL.md"},
		{"DVS-3.1-21", "harmless-escapes", "https://h.example/a%20b%3Fc%23", "https://h.example/a%20b%3Fc%23"},
		{"DVS-3.1-22", "escaped-percent-alone", "https://h.example/%2525", "https://h.example/%2525"},
		{"DVS-3.1-22", "escaped-letter", "https://h.example/%2541", "https://h.example/%2541"},
		{"DVS-3.1-23", "escaped-space", "https://h.example/a%20b", "https://h.example/a%20b"},
		{"DVS-3.1-24", "parameter", "https://h.example/a;v=1/b", "https://h.example/a;v=1/b"},
		{"DVS-3.1-25", "final-slash", "https://h.example/a/b/", "https://h.example/a/b/"},

		{"DVS-3.1-26", "unreserved-decoded", "https://h.example/%7Eorg/", "https://h.example/~org/"},
		{"DVS-3.1-26", "unreserved-as-it-is", "https://h.example/~org/", "https://h.example/~org/"},
		{"DVS-3.1-26", "hex-upper-case", "https://h.example/%c3%a9", "https://h.example/%C3%A9"},
		{"DVS-3.1-26", "hex-as-it-is", "https://h.example/%C3%A9", "https://h.example/%C3%A9"},
		{"DVS-3.1-26", "raw-utf8", "https://h.example/\u00e9", "https://h.example/%C3%A9"},
		{"DVS-3.1-26", "reserved-stays-escaped", "https://h.example/a%3ab:c", "https://h.example/a%3Ab:c"},

		{"DVS-3.1-27", "8192-octets", "https://h.example/" + strings.Repeat("a", 8192-18), "https://h.example/" + strings.Repeat("a", 8192-18)},

		{"A08", "default", "https://example.com:443/", "https://example.com/"},
		{"A08", "empty", "https://example.com:/", "https://example.com/"},
		{"A08", "highest", "https://example.com:65535/", "https://example.com:65535/"},
		{"A05", "upper-case-https", "HTTPS://example.com/SKILL.md", "https://example.com/SKILL.md"},
		{"A22", "label-of-63", "https://" + strings.Repeat("a", 63) + ".com/", "https://" + strings.Repeat("a", 63) + ".com/"},
		{"A22", "name-of-253", "https://" + longName(253) + "/", "https://" + longName(253) + "/"},
		{"A14", "fragment-dropped", "https://evil.example/#https://example.com/", "https://evil.example/"},
		{"A14", "question-mark-ends-host", "https://example.com?@evil.example/", "https://example.com/?@evil.example/"},
		{"A19", "case-and-composition", "https://B\u00dcCHER.example", "https://xn--bcher-kva.example/"},
		{"A20", "homograph-is-another-host", "https://ex\u0430mple.com/", "https://xn--exmple-4nf.com/"},
	}, func(t *testing.T, r row) {
		u, err := Parse(r.input)
		if err != nil {
			t.Fatal(err)
		}
		if u.String() != r.want || u.FragmentDropped() != strings.Contains(r.input, "#") {
			t.Errorf("canonical form %s, want %s; fragment dropped: %t", u, r.want, u.FragmentDropped())
		}
	})
}

func TestRowsReject(t *testing.T) {
	runRows(t, "reject", []row{
		{"DVS-3.1-06", "http", "http://example.com/", CodeNotHTTPS},
		{"DVS-3.1-06", "httpss", "httpss://example.com/", CodeNotHTTPS},
		{"DVS-3.1-06", "wss", "wss://example.com/", CodeNotHTTPS},
		{"DVS-3.1-06", "ai", "ai://example.com/", CodeNotHTTPS},
		{"DVS-3.1-06", "relative", "skills/x", CodeNotHTTPS},
		{"DVS-3.1-06", "empty", "", CodeNotHTTPS},

		{"DVS-3.1-08", "bad-punycode", "https://xn--zzzz.example/", CodeBadHost},
		{"DVS-3.1-08", "upper-case-bad-punycode", "https://XN--ZZZZ.example/", CodeBadHost},
		{"DVS-3.1-08", "bad-punycode-below", "https://a.Xn--ZZZZ.example/", CodeBadHost},
		{"DVS-3.1-08", "empty-punycode", "https://xn--.example/", CodeBadHost},
		{"DVS-3.1-08", "ascii-punycode", "https://xn--example-.com/", CodeBadHost},
		{"DVS-3.1-08", "punycode-of-mapped-letter", "https://xn--xample-hy68a.com/", CodeBadHost},
		{"DVS-3.1-08", "underscore", "https://a_b.example/", CodeBadHost},
		{"DVS-3.1-08", "leading-hyphen", "https://-a.example/", CodeBadHost},
		{"DVS-3.1-08", "trailing-hyphen", "https://a-.example/", CodeBadHost},
		{"DVS-3.1-08", "leading-hyphen-u-label", "https://-\u00fc.example/", CodeBadHost},
		{"DVS-3.1-08", "full-width", "https://\uff45xample.com/", CodeBadHost},
		{"DVS-3.1-08", "ideographic-full-stop", "https://example\u3002com/", CodeBadHost},
		{"DVS-3.1-08", "soft-hyphen", "https://ex\u00adample.com/", CodeBadHost},
		{"DVS-3.1-08", "zero-width-space", "https://example\u200b.com/", CodeBadHost},
		{"DVS-3.1-08", "kelvin-sign", "https://\u212aelvin.example/", CodeBadHost},
		{"DVS-3.1-08", "long-s", "https://\u017fkills.example/", CodeBadHost},
		{"DVS-3.1-08", "dotted-capital-i", "https://\u0130stanbul.example/", CodeBadHost},
		{"DVS-3.1-08", "superscript", "https://a\u00b2\u00fc.example/", CodeBadHost},
		{"DVS-3.1-08", "micro-sign", "https://\u00b5.example/", CodeBadHost},

		{"DVS-3.1-10", "empty-label", "https://a..b/", CodeBadHost},
		{"DVS-3.1-10", "leading-dot", "https://.example.com/", CodeBadHost},
		{"DVS-3.1-10", "two-trailing-dots", "https://example.com../", CodeBadHost},
		{"DVS-3.1-10", "label-of-64", "https://" + strings.Repeat("a", 64) + ".example/", CodeBadHost},
		{"DVS-3.1-10", "name-of-254", "https://" + longName(254) + "/", CodeBadHost},
		{"DVS-3.1-10", "u-label-too-long", "https://" + strings.Repeat("\u00fc", 64) + ".example/", CodeBadHost},
		{"DVS-3.1-10", "escaped-letter", "https://%65xample.com/", CodeBadHost},
		{"DVS-3.1-10", "escaped-slash", "https://example.com%2f.evil.test/", CodeBadHost},
		{"DVS-3.1-10", "opaque", "https:example.com", CodeBadURL},
		{"DVS-3.1-10", "one-slash", "https:/example.com/", CodeBadURL},
		{"DVS-3.1-10", "three-slashes", "https:///example.com/", CodeBadURL},
		{"DVS-3.1-10", "no-scheme", "//example.com/", CodeBadURL},
		{"DVS-3.1-10", "port-only", "https://:443/", CodeBadURL},
		{"DVS-3.1-10", "nothing-after-slashes", "https://", CodeBadURL},

		{"DVS-3.1-11", "trailing-dot", "https://example.com./x/SKILL.md", CodeTrailingDot},
		{"DVS-3.1-11", "trailing-dot-and-port", "https://example.com.:443/", CodeTrailingDot},

		{"DVS-3.1-12", "dotted", "https://127.0.0.1/", CodeIPHost},
		{"DVS-3.1-12", "ipv6", "https://[::1]/", CodeIPHost},
		{"DVS-3.1-12", "hex", "https://0x7f.1/", CodeIPHost},
		{"DVS-3.1-12", "short", "https://127.1/", CodeIPHost},
		{"DVS-3.1-12", "number", "https://2130706433/", CodeIPHost},
		{"DVS-3.1-12", "bare-0x", "https://a.0x/", CodeIPHost},
		{"DVS-3.1-12", "upper-case-hex", "https://a.0XFF/", CodeIPHost},
		{"DVS-3.1-12", "first-hex-letter", "https://a.0xa/", CodeIPHost},
		{"DVS-3.1-12", "five-parts", "https://1.2.3.4.5/", CodeIPHost},
		{"DVS-3.1-12", "full-width-digits", "https://\uff11\uff12\uff17.0.0.1/", CodeIPHost},
		{"DVS-3.1-12", "full-width-last", "https://a.\uff11/", CodeIPHost},
		{"DVS-3.1-12", "ideographic-dots", "https://127\u30020\u30020\u30021/", CodeIPHost},

		{"DVS-3.1-13", "localhost", "https://localhost/", CodeSpecialHost},
		{"DVS-3.1-13", "below-localhost", "https://x.localhost/", CodeSpecialHost},
		{"DVS-3.1-13", "single-label", "https://intranet/", CodeSpecialHost},
		{"DVS-3.1-13", "local", "https://x.local/", CodeSpecialHost},
		{"DVS-3.1-13", "internal", "https://x.internal/", CodeSpecialHost},
		{"DVS-3.1-13", "test", "https://x.TEST/", CodeSpecialHost},
		{"DVS-3.1-13", "invalid", "https://x.invalid/", CodeSpecialHost},
		{"DVS-3.1-13", "onion", "https://x.onion/", CodeSpecialHost},
		{"DVS-3.1-13", "alt", "https://x.alt/", CodeSpecialHost},
		{"DVS-3.1-13", "arpa", "https://x.arpa/", CodeSpecialHost},
		{"DVS-3.1-13", "home.arpa", "https://home.arpa/", CodeSpecialHost},
		{"DVS-3.1-13", "below-home.arpa", "https://x.home.arpa/", CodeSpecialHost},

		{"DVS-3.1-14", "zero", "https://h.example:0/", CodeBadPort},
		{"DVS-3.1-14", "too-large", "https://h.example:65536/", CodeBadPort},
		{"DVS-3.1-14", "sign", "https://h.example:+1/", CodeBadPort},
		{"DVS-3.1-14", "leading-zero", "https://h.example:0443/", CodeBadPort},
		{"DVS-3.1-14", "underscore", "https://h.example:4_43/", CodeBadPort},
		{"DVS-3.1-14", "full-width", "https://h.example:\uff14\uff14\uff13/", CodeBadPort},
		{"DVS-3.1-14", "two-ports", "https://h.example:443:443/", CodeBadPort},
		{"DVS-3.1-14", "bracket-in-port", "https://h.example:4]:43/", CodeBadPort},

		{"DVS-3.1-15", "user", "https://github.com@evil.com/", CodeUserinfo},
		{"DVS-3.1-15", "empty", "https://@h.example/", CodeUserinfo},
		{"DVS-3.1-15", "password", "https://u:p@h.example/", CodeUserinfo},

		{"DVS-3.1-19", "parent", "https://github.com/microsoft/../evil/SKILL.md", CodeDotSegment},
		{"DVS-3.1-19", "current", "https://h.example/a/./b", CodeDotSegment},
		{"DVS-3.1-19", "first", "https://h.example/..", CodeDotSegment},
		{"DVS-3.1-19", "last", "https://h.example/a/.", CodeDotSegment},

		{"DVS-3.1-20", "parent", "https://h.example/microsoft/%2e%2e/evil", CodeDotSegment},
		{"DVS-3.1-20", "half-escaped", "https://h.example/.%2E/", CodeDotSegment},
		{"DVS-3.1-20", "other-half", "https://h.example/%2e./", CodeDotSegment},
		{"DVS-3.1-20", "single", "https://h.example/%2E", CodeDotSegment},
		{"DVS-3.1-20", "in-file-name", "https://h.example/s/x/SKILL%2Emd", CodeAmbiguousPath},
		{"DVS-3.1-20", "in-well-known", "https://h.example/%2Ewell-known/", CodeAmbiguousPath},

		{"DVS-3.1-21", "slash", "https://h.example/a%2Fb", CodeAmbiguousPath},
		{"DVS-3.1-21", "slash-lower-case", "https://h.example/refs%2fpr%2f1", CodeAmbiguousPath},
		{"DVS-3.1-21", "backslash", "https://h.example/a%5Cb", CodeAmbiguousPath},
		{"DVS-3.1-21", "nul", "https://h.example/a%00", CodeAmbiguousPath},
		{"DVS-3.1-21", "newline", "https://h.example/a%0ab", CodeAmbiguousPath},
		{"DVS-3.1-21", "delete", "https://h.example/a%7fb", CodeAmbiguousPath},

		{"DVS-3.1-22", "dots", "https://h.example/%252e%252e", CodeAmbiguousPath},
		{"DVS-3.1-22", "slash", "https://h.example/a%252Fb", CodeAmbiguousPath},
		{"DVS-3.1-22", "backslash", "https://h.example/a%255cb", CodeAmbiguousPath},
		{"DVS-3.1-22", "nul", "https://h.example/a%2500", CodeAmbiguousPath},
		{"DVS-3.1-22", "three-times", "https://h.example/a%25252f", CodeAmbiguousPath},
		{"DVS-3.1-22", "digits-escaped", "https://h.example/%25%32%65%25%32%65/evil", CodeAmbiguousPath},
		{"DVS-3.1-22", "last-digit-escaped", "https://h.example/a%252%66b", CodeAmbiguousPath},
		{"DVS-3.1-22", "digits-escaped-three-times", "https://h.example/%25%32%35%32%65", CodeAmbiguousPath},

		{"DVS-3.1-23", "backslash-in-authority", `https://h.example\@evil.example/`, CodeBadURL},
		{"DVS-3.1-23", "backslash-in-path", `https://h.example/a\..\b`, CodeBadURL},
		{"DVS-3.1-23", "space", "https://h.example/a b", CodeBadURL},
		{"DVS-3.1-23", "leading-space", " https://h.example/", CodeBadURL},
		{"DVS-3.1-23", "trailing-space", "https://h.example/ ", CodeBadURL},
		{"DVS-3.1-23", "tab", "https://h.ex\tample/", CodeBadURL},
		{"DVS-3.1-23", "newline", "https://h.example/a\n", CodeBadURL},
		{"DVS-3.1-23", "newline-in-host", "https://h.ex\nample/", CodeBadURL},
		{"DVS-3.1-23", "nul-in-host", "https://h.ex\x00ample/", CodeBadURL},
		{"DVS-3.1-23", "nul", "https://h.example/\x00", CodeBadURL},
		{"DVS-3.1-23", "delete", "https://h.example/\x7f", CodeBadURL},
		{"DVS-3.1-23", "delete-in-host", "https://h\x7f.example/", CodeBadURL},
		{"DVS-3.1-23", "bidi-override-in-query", "https://h.example/?\u202e", CodeBadURL},
		{"DVS-3.1-23", "c1", "https://h.example/\u0085", CodeBadURL},
		{"DVS-3.1-23", "no-break-space", "https://h.example/\u00a0", CodeBadURL},
		{"DVS-3.1-23", "line-separator", "https://h.example/\u2028", CodeBadURL},
		{"DVS-3.1-23", "bidi-override", "https://h.example/\u202egnp", CodeBadURL},
		{"DVS-3.1-23", "in-query", "https://h.example/?a b", CodeBadURL},
		{"DVS-3.1-23", "in-fragment", "https://h.example/#a b", CodeBadURL},

		{"DVS-3.1-24", "parent", "https://h.example/a/..;/b/SKILL.md", CodeDotSegment},
		{"DVS-3.1-24", "current", "https://h.example/a/.;x=1/b", CodeDotSegment},
		{"DVS-3.1-24", "escaped-semicolon", "https://h.example/a/..%3B/b", CodeDotSegment},
		{"DVS-3.1-24", "escaped-dots", "https://h.example/a/%2e%2E;/b", CodeDotSegment},
		{"DVS-3.1-24", "twice-escaped-semicolon", "https://h.example/a/..%253b/b", CodeDotSegment},

		{"DVS-3.1-25", "first", "https://github.com//evil/", CodeEmptySegment},
		{"DVS-3.1-25", "inner", "https://h.example/a//b/SKILL.md", CodeEmptySegment},
		{"DVS-3.1-25", "last", "https://h.example/a//", CodeEmptySegment},

		{"DVS-3.1-26", "not-hex", "https://h.example/%zz", CodeBadURL},
		{"DVS-3.1-26", "short", "https://h.example/%4", CodeBadURL},
		{"DVS-3.1-26", "bare", "https://h.example/100%", CodeBadURL},
		{"DVS-3.1-26", "in-query", "https://h.example/?%zz", CodeBadURL},
		{"DVS-3.1-26", "in-fragment", "https://h.example/#%zz", CodeBadURL},
		{"DVS-3.1-26", "raw-bracket-in-query", "https://h.example/?a[b]=c", CodeBadURL},
		{"DVS-3.1-26", "overlong-dot", "https://h.example/%c0%ae", CodeAmbiguousPath},
		{"DVS-3.1-26", "latin-1", "https://h.example/caf%e9", CodeAmbiguousPath},
		{"DVS-3.1-26", "surrogate", "https://h.example/%ed%a0%80", CodeAmbiguousPath},
		{"DVS-3.1-26", "raw-octet", "https://h.example/\xff", CodeBadURL},
		{"DVS-3.1-26", "raw-bracket", "https://h.example/[x]", CodeBadURL},
		{"DVS-3.1-26", "raw-brace", "https://h.example/{x}", CodeBadURL},

		{"DVS-3.1-27", "8193-octets", "https://h.example/" + strings.Repeat("a", 8193-18), CodeTooLong},
		{"DVS-3.1-27", "shorter-when-canonical", "https://h.example/%78" + strings.Repeat("a", 8193-21), CodeTooLong},
		{"DVS-3.1-27", "longer-when-escaped", "https://h.example/" + strings.Repeat("\u00e9", 4000), CodeTooLong},

		{"A05", "http", "http://example.com/SKILL.md", CodeNotHTTPS},
		{"A05", "upper-case-http", "HTTP://example.com/SKILL.md", CodeNotHTTPS},
		{"A05", "ftp", "ftp://example.com/SKILL.md", CodeNotHTTPS},
		{"A05", "file", "file:///SKILL.md", CodeNotHTTPS},
		{"A05", "javascript", "javascript:alert(1)", CodeNotHTTPS},
		{"A05", "data", "data:text/markdown,x", CodeNotHTTPS},

		{"A08", "leading-zero", "https://example.com:0443/", CodeBadPort},
		{"A08", "99999", "https://example.com:99999/", CodeBadPort},
		{"A08", "65536", "https://example.com:65536/", CodeBadPort},
		{"A08", "0", "https://example.com:0/", CodeBadPort},
		{"A08", "wraps-to-443", "https://example.com:4294967739/", CodeBadPort},

		{"A10", "lower", "https://github.com/example-org/%2e%2e/evil/SKILL.md", CodeDotSegment},
		{"A10", "mixed", "https://github.com/example-org/%2E./evil/SKILL.md", CodeDotSegment},
		{"A10", "half", "https://github.com/example-org/.%2e/evil/SKILL.md", CodeDotSegment},
		{"A10", "single", "https://github.com/example-org/%2e/evil/SKILL.md", CodeDotSegment},
		{"A10", "in-a-name", "https://github.com/example%2Eorg/SKILL.md", CodeAmbiguousPath},
		{"A10", "twice", "https://github.com/example-org/%252e%252E/evil/SKILL.md", CodeAmbiguousPath},

		{"A11", "slash", "https://github.com/example-org%2f..%2fevil/SKILL.md", CodeAmbiguousPath},
		{"A11", "backslash", "https://github.com/a%5c..%5cevil", CodeAmbiguousPath},
		{"A11", "last", "https://github.com/a/..%2f", CodeAmbiguousPath},
		{"A11", "slash-in-capitals", "https://github.com/example-org%2Fevil/SKILL.md", CodeAmbiguousPath},
		{"A11", "backslash-in-capitals", "https://github.com/example-org%5Cevil/SKILL.md", CodeAmbiguousPath},
		{"A11", "slash-twice", "https://github.com/example-org%252fevil/SKILL.md", CodeAmbiguousPath},
		{"A11", "backslash-twice", "https://github.com/example-org%255cevil/SKILL.md", CodeAmbiguousPath},
		{"A11", "first", "https://github.com/%2fexample-org/", CodeAmbiguousPath},

		{"A13", "user", "https://example.com@evil.test/", CodeUserinfo},
		{"A13", "user-and-port", "https://example.com:443@evil.test/", CodeUserinfo},
		{"A13", "password", "https://u:p@example.com/", CodeUserinfo},
		{"A13", "empty", "https://@example.com/", CodeUserinfo},

		{"A14", "after-authority", "https://example.com#@evil.test/", CodeBadURL},
		{"A14", "after-port", "https://example.com:443#@evil.test/", CodeBadURL},

		{"A16", "first", "https://example.com//evil/SKILL.md", CodeEmptySegment},
		{"A16", "platform", "https://github.com//example-org/", CodeEmptySegment},
		{"A16", "with-parent", "https://example.com/skills//../x", CodeEmptySegment},
		{"A16", "inner", "https://example.com/skills//x/SKILL.md", CodeEmptySegment},
		{"A16", "last", "https://example.com/skills//", CodeEmptySegment},

		{"A19", "full-width", "https://\uff45xample.com/", CodeBadHost},
		{"A19", "ideographic-full-stop", "https://example\u3002com/", CodeBadHost},
		{"A19", "soft-hyphen", "https://ex\u00adample.com/", CodeBadHost},
		{"A19", "zero-width-space", "https://EXAMPLE\u200b.com/", CodeBadHost},
		{"A19", "kelvin-sign", "https://boo\u212as.example/", CodeBadHost},

		{"A22", "empty-label", "https://a..b/", CodeBadHost},
		{"A22", "label-of-64", "https://" + strings.Repeat("a", 64) + ".com/", CodeBadHost},
		{"A22", "name-of-254", "https://" + longName(254) + "/", CodeBadHost},
		{"A22", "empty-label-first", "https://.example.com/", CodeBadHost},
		{"A22", "empty-label-international", "https://b\u00fccher..example/", CodeBadHost},
		{"A22", "label-of-64-international", "https://\u00fc" + strings.Repeat("a", 56) + ".com/", CodeBadHost},
		{"A22", "name-of-254-international", "https://\u00fc." + longName(246) + "/", CodeBadHost},

		{"A23", "letter", "https://%65xample.com/", CodeBadHost},
		{"A23", "slash", "https://example.com%2f.evil.test/", CodeBadHost},
		{"A23", "nul", "https://example.com%00.evil.test/", CodeBadHost},
		{"A23", "utf8", "https://%e2%98%83/", CodeBadHost},

		{"A25", "opaque", "https:example.com", CodeBadURL},
		{"A25", "one-slash", "https:/example.com/", CodeBadURL},
		{"A25", "three-slashes", "https:///example.com/", CodeBadURL},
		{"A25", "no-scheme", "//example.com/", CodeBadURL},

		{"A26", "number", "https://2130706433/", CodeIPHost},
		{"A26", "hex", "https://0x7f.1/", CodeIPHost},
		{"A26", "short", "https://127.1/", CodeIPHost},
		{"A26", "octal", "https://0177.0.0.1/", CodeIPHost},
		{"A26", "four-parts", "https://192.0.2.1/", CodeIPHost},
		{"A26", "hex-in-capitals", "https://0X7F.1/", CodeIPHost},
		{"A26", "hex-last", "https://127.0.0.0x1/", CodeIPHost},
		{"A26", "full-width-digits", "https://\uff11\uff12\uff17.1/", CodeIPHost},
		{"A26", "ipv6", "https://[::1]/", CodeIPHost},
		{"A26", "zone", "https://[fe80::1%25eth0]/", CodeIPHost},
		{"A26", "open-bracket", "https://[::1/", CodeBadHost},
		{"A26", "after-bracket", "https://[::1]evil.example/", CodeBadHost},
	}, func(t *testing.T, r row) {
		u, err := Parse(r.input)
		e := wantCode(t, err, r.want)
		if !u.IsZero() {
			t.Errorf("a refusal returned %s", u)
		}
		if e.Offset < 0 || e.Offset > len(r.input) || !strings.HasPrefix(r.input[e.Offset:], e.Part) && !strings.EqualFold(e.Part, r.input[e.Offset:min(len(r.input), e.Offset+len(e.Part))]) {
			t.Errorf("part %q is not at offset %d of the input", e.Part, e.Offset)
		}
		for _, c := range e.Error() {
			if c < ' ' || c > '~' {
				t.Errorf("error text has %U: %s", c, e)
			}
		}
	})
}

// longName returns a host name of n bytes.
func longName(n int) string {
	name := strings.Repeat(strings.Repeat("a", 61)+".", 3) + "example"
	return strings.Repeat("b", n-len(name)-1) + "." + name
}

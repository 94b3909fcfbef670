package anmltrust

import (
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
)

const (
	m1 = "https://a.example/m"
	q1 = "https://q.example/a"
)

func TestParseRecord(t *testing.T) {
	for _, c := range []struct {
		id, name, text  string
		manifest, query string
		code            lookleap.Code
	}{
		{"ANML-12.2-03", "accept-draft", "v=anml1; manifest=https://example.com/.well-known/anml-trust; query=https://trust.example.com/anml/authorize", "https://example.com/.well-known/anml-trust", "https://trust.example.com/anml/authorize", ""},
		{"ANML-12.2-02", "accept-tier-means-nothing", "v=anml1;manifest=" + m1 + ";tier=2;scope=body", m1, "", ""},
		{"ANML-12.2-04", "reject-discovery-record", "v=anml1; path=/a", "", "", CodeRecordMalformed},
		{"ANML-12.2.1-01", "accept-one-final-semicolon", "v=anml1;manifest=" + m1 + ";", m1, "", ""},
		{"ANML-12.2.1-01", "reject-empty-segment", "v=anml1;;manifest=" + m1, "", "", CodeRecordMalformed},
		{"ANML-12.2.1-01", "reject-two-final-semicolons", "v=anml1;manifest=" + m1 + ";;", "", "", CodeRecordMalformed},
		{"ANML-12.2.1-01", "accept-tag-of-every-character", "v=anml1;manifest=" + m1 + ";aZ0_-.=x", m1, "", ""},
		{"ANML-12.2.1-01", "reject-digit-first", "v=anml1;1a=x;manifest=" + m1, "", "", CodeRecordMalformed},
		{"ANML-12.2.1-01", "reject-no-equals", "v=anml1;manifest=" + m1 + ";flag", "", "", CodeRecordMalformed},
		{"ANML-12.2.1-01", "reject-space-inside", "v=anml1;x=a b;manifest=" + m1, "", "", CodeRecordMalformed},
		{"ANML-12.2.1-01", "reject-control", "v=anml1;x=a\x01;manifest=" + m1, "", "", CodeRecordMalformed},
		{"ANML-12.2.1-01", "reject-non-ascii", "v=anml1;x=ä;manifest=" + m1, "", "", CodeRecordMalformed},
		{"ANML-12.2.1-01", "accept-first-and-last-character-of-a-value", "v=anml1;x=!~;manifest=" + m1, m1, "", ""},
		{"ANML-12.2.1-01", "reject-delete", "v=anml1;x=a\x7F;manifest=" + m1, "", "", CodeRecordMalformed},
		{"ANML-12.2.1-01", "reject-unit-separator", "v=anml1;x=a\x1F;manifest=" + m1, "", "", CodeRecordMalformed},
		{"ANML-12.2.1-01", "reject-empty-name", "v=anml1;=x;manifest=" + m1, "", "", CodeRecordMalformed},
		{"ANML-12.2.1-01", "reject-underscore-first", "v=anml1;_a=x;manifest=" + m1, "", "", CodeRecordMalformed},
		{"ANML-12.2.1-01", "reject-hyphen-first", "v=anml1;-a=x;manifest=" + m1, "", "", CodeRecordMalformed},
		{"ANML-12.2.1-01", "reject-dot-first", "v=anml1;.a=x;manifest=" + m1, "", "", CodeRecordMalformed},
		{"ANML-12.2.1-01", "reject-plus-in-a-name", "v=anml1;a+b=x;manifest=" + m1, "", "", CodeRecordMalformed},
		{"ANML-12.2.1-01", "reject-space-in-a-name", "v=anml1;a b=x;manifest=" + m1, "", "", CodeRecordMalformed},
		{"ANML-12.2.1-01", "reject-non-ascii-in-a-name", "v=anml1;ä=x;manifest=" + m1, "", "", CodeRecordMalformed},
		{"ANML-12.2.1-02", "reject-capital-query", "v=anml1;Query=" + q1, "", "", CodeRecordMalformed},
		{"ANML-12.2.1-02", "accept-capital-names-next-to-the-tags", "v=anml1;Manifest=x;QUERY=y;V=z;manifest=" + m1 + ";query=" + q1, m1, q1, ""},
		{"ANML-12.2.1-02", "reject-capital-name", "v=anml1;Manifest=" + m1, "", "", CodeRecordMalformed},
		{"ANML-12.2.1-03", "reject-capital-v", "V=anml1;manifest=" + m1, "", "", CodeNoRecord},
		{"ANML-12.2.1-04", "reject-capital-value", "v=ANML1;manifest=" + m1, "", "", CodeNoRecord},
		{"ANML-12.2.1-04", "accept-lower-case", "v=anml1;manifest=" + m1, m1, "", ""},
		{"ANML-12.2.1-05", "accept-blanks", " v = anml1 ;\tmanifest\t= " + m1 + " ; ", m1, "", ""},
		{"ANML-12.2.1-05", "accept-blank-or-tab-at-each-side", "\tv\t=\tanml1\t;\tmanifest\t=\t" + m1 + "\t;\t query \t= \t" + q1 + "\t ;\t", m1, q1, ""},
		{"ANML-12.2.1-05", "reject-line-feed-after-a-value", "v=anml1;manifest=" + m1 + "\n", "", "", CodeRecordMalformed},
		{"ANML-12.2.1-05", "reject-line-feed-before-a-value", "v=anml1;manifest=\n" + m1, "", "", CodeRecordMalformed},
		{"ANML-12.2.1-05", "reject-line-feed-after-a-name", "v=anml1;manifest\n=" + m1, "", "", CodeRecordMalformed},
		{"ANML-12.2.1-05", "reject-line-feed-at-the-end", "v=anml1;manifest=" + m1 + ";\n", "", "", CodeRecordMalformed},
		{"ANML-12.2.1-05", "reject-line-feed-first", "\nv=anml1;manifest=" + m1, "", "", CodeNoRecord},
		{"ANML-12.2.1-05", "reject-line-feed-after-the-version", "v=anml1\n;manifest=" + m1, "", "", CodeNoRecord},
		{"ANML-12.2.1-05", "reject-line-feed", "v=anml1;\r\n manifest=" + m1, "", "", CodeRecordMalformed},
		{"ANML-12.2.1-05", "reject-no-break-space", "v=anml1;\u00a0manifest=" + m1, "", "", CodeRecordMalformed},
		{"ANML-12.2.1-07", "accept-three-tags", "v=anml1;manifest=" + m1 + ";query=" + q1, m1, q1, ""},
		{"ANML-12.2.1-08", "accept-later-equals", "v=anml1;query=https://e.example/auth?a=1&b=2", "", "https://e.example/auth?a=1&b=2", ""},
		{"ANML-12.2.1-09", "accept-equals-survive", "v=anml1;k=;x=x==y=;query=" + q1, "", q1, ""},
		{"ANML-12.2.1-10", "accept-cut", "v=anml1;query=https://e.example/a;b=1", "", "https://e.example/a", ""},
		{"ANML-12.2.1-10", "reject-cut", "v=anml1;query=https://e.example/a;b", "", "", CodeRecordMalformed},
		{"ANML-12.2.1-11", "reject-twice", "v=anml1;query=" + q1 + ";query=https://q.example/b", "", "", CodeRecordMalformed},
		{"ANML-12.2.1-11", "reject-unknown-twice", "v=anml1;x=1;x=1;query=" + q1, "", "", CodeRecordMalformed},
		{"ANML-12.2.1-11", "reject-second-version", "v=anml1;v=anml2;query=" + q1, "", "", CodeRecordMalformed},
		{"ANML-12.2.1-11", "reject-tenth-twice", "v=anml1;a=1;b=1;c=1;d=1;e=1;f=1;g=1;h=1;i=1;i=2;query=" + q1, "", "", CodeRecordMalformed},
		{"ANML-12.2.1-11", "accept-other-case", "v=anml1;x=1;X=2;query=" + q1, "", q1, ""},
		{"ANML-12.2.1-11", "reject-manifest-twice", "v=anml1;manifest=" + m1 + ";manifest=" + m1 + ";query=" + q1, "", "", CodeRecordMalformed},
		{"ANML-12.2.1-11", "reject-version-twice", "v=anml1;v=anml1;query=" + q1, "", "", CodeRecordMalformed},
		{"ANML-12.2.1-12", "accept-unknown", "v=anml1;manifest=" + m1 + ";exp=1", m1, "", ""},
		{"ANML-12.2.1-14", "accept-long-uri", "v=anml1;manifest=https://a.example/" + strings.Repeat("x", 400), "https://a.example/" + strings.Repeat("x", 400), "", ""},
		{"ANML-12.2.1-14", "reject-over-4096", "v=anml1;manifest=https://a.example/" + strings.Repeat("x", 4096), "", "", CodeRecordMalformed},
		{"ANML-12.2.1-14", "reject-over-4096-in-an-unknown-tag", "v=anml1;manifest=https://a.example/m;x=" + strings.Repeat("x", 4096), "", "", CodeRecordMalformed},
		{"ANML-12.2.1-14", "accept-4096", "v=anml1;query=https://q.example/" + strings.Repeat("x", 4096-32), "", "https://q.example/" + strings.Repeat("x", 4096-32), ""},
		{"ANML-12.2.1-14", "reject-4097", "v=anml1;query=https://q.example/" + strings.Repeat("x", 4097-32), "", "", CodeRecordMalformed},
		{"ANML-12.2.1-14", "reject-4097-in-an-unknown-tag", "v=anml1;x=" + strings.Repeat("x", 4097-40) + ";query=https://q.example/abcde", "", "", CodeRecordMalformed},
		{"ANML-12.2.1-15", "reject-spf", "v=spf1 -all", "", "", CodeNoRecord},
		{"ANML-12.2.1-15", "reject-no-version", "manifest=" + m1, "", "", CodeNoRecord},
		{"ANML-12.2.1-15", "reject-empty", "", "", "", CodeNoRecord},
		{"ANML-12.2.1-16", "reject-anml2", "v=anml2;manifest=" + m1, "", "", CodeNoRecord},
		{"ANML-12.2.1-16", "reject-anml10", "v=anml10;manifest=" + m1, "", "", CodeNoRecord},
		{"ANML-12.2.1-18", "reject-version-last", "manifest=" + m1 + ";v=anml1", "", "", CodeNoRecord},
		{"ANML-12.2.1-19", "reject-alone", "v=anml1", "", "", CodeRecordMalformed},
		{"ANML-12.2.1-20", "reject-neither", "v=anml1;x=1", "", "", CodeRecordMalformed},
		{"ANML-12.2.1-21", "reject-relative", "v=anml1;manifest=/m", "", "", CodeRecordMalformed},
		{"ANML-12.2.1-21", "reject-empty", "v=anml1;manifest=;query=" + q1, "", "", CodeRecordMalformed},
		{"ANML-12.2.1-21", "reject-relative-query", "v=anml1;query=/q;manifest=" + m1, "", "", CodeRecordMalformed},
		{"ANML-12.2.1-21", "reject-empty-query", "v=anml1;query=;manifest=" + m1, "", "", CodeRecordMalformed},
		{"ANML-12.2.1-21", "reject-userinfo-of-a-query", "v=anml1;query=https://u@q.example/a;manifest=" + m1, "", "", CodeRecordMalformed},
		{"ANML-12.2.1-21", "reject-fragment-of-a-query", "v=anml1;query=https://q.example/a#x;manifest=" + m1, "", "", CodeRecordMalformed},
		{"ANML-12.2.1-21", "reject-ip-of-a-manifest", "v=anml1;manifest=https://192.0.2.1/m;query=" + q1, "", "", CodeRecordMalformed},
		{"ANML-12.2.1-21", "reject-ipv6", "v=anml1;query=https://[2001:db8::1]/m", "", "", CodeRecordMalformed},
		{"ANML-12.2.1-21", "accept-port-of-a-manifest", "v=anml1;manifest=https://a.example:8443/m", "https://a.example:8443/m", "", ""},
		{"ANML-12.2.1-21", "reject-userinfo", "v=anml1;manifest=https://u@a.example/m", "", "", CodeRecordMalformed},
		{"ANML-12.2.1-21", "reject-fragment", "v=anml1;manifest=https://a.example/m#x", "", "", CodeRecordMalformed},
		{"ANML-12.2.1-21", "reject-ip", "v=anml1;query=https://192.0.2.1/m", "", "", CodeRecordMalformed},
		{"ANML-12.2.1-21", "reject-single-label", "v=anml1;query=https://intranet/m", "", "", CodeRecordMalformed},
		{"ANML-12.2.1-21", "accept-port", "v=anml1;query=https://q.example:8443/a", "", "https://q.example:8443/a", ""},
		{"ANML-12.2.2-01", "accept-first", "v=anml1;query=" + q1, "", q1, ""},
		{"ANML-12.2.2-01", "reject-second", "query=" + q1 + ";v=anml1", "", "", CodeNoRecord},
		{"ANML-12.2.2-02", "reject-http-manifest", "v=anml1;manifest=http://a.example/m", "", "", CodeRecordMalformed},
		{"ANML-12.2.2-05", "accept-manifest-only", "v=anml1;manifest=" + m1, m1, "", ""},
		{"ANML-12.2.2-05", "accept-query-only", "v=anml1;query=" + q1, "", q1, ""},
		{"ANML-12.2.2-06", "reject-http-query", "v=anml1;manifest=" + m1 + ";query=http://q.example/a", "", "", CodeRecordMalformed},
		{"ANML-12.4-06", "reject-own-domain-parameter", "v=anml1;query=https://q.example/a?domain=x", "", "", CodeRecordMalformed},
		{"ANML-12.4-06", "reject-escaped-scope-parameter", "v=anml1;query=https://q.example/a?s%63ope=x", "", "", CodeRecordMalformed},
		{"ANML-12.4-06", "reject-own-domain-parameter-in-capitals", "v=anml1;query=https://q.example/a?Domain=x", "", "", CodeRecordMalformed},
		{"ANML-12.4-06", "reject-own-parameter-after-another", "v=anml1;query=https://q.example/a?k=1&scope=x", "", "", CodeRecordMalformed},
		{"ANML-12.4-06", "accept-other-parameter", "v=anml1;query=https://q.example/a?k=1", "", "https://q.example/a?k=1", ""},
		{"ANML-12.4-06", "reject-capital-scope-parameter", "v=anml1;query=https://q.example/a?SCOPE=x", "", "", CodeRecordMalformed},
		{"ANML-12.4-06", "reject-escaped-domain-parameter", "v=anml1;query=https://q.example/a?%64omain=x", "", "", CodeRecordMalformed},
		{"ANML-12.4-06", "reject-parameter-without-a-value", "v=anml1;query=https://q.example/a?domain", "", "", CodeRecordMalformed},
		{"ANML-16.1-03", "reject-http", "v=anml1;manifest=http://a.example/m", "", "", CodeRecordMalformed},
		{"ANML-12.8-06", "reject-http-in-lower-case", "v=anml1;manifest=http://a.example/m", "", "", CodeRecordMalformed},
		{"ANML-12.8-06", "reject-http", "v=anml1;manifest=HTTP://a.example/m", "", "", CodeRecordMalformed},
		{"G04", "reject-two-manifests", "v=anml1; manifest=" + m1 + "; manifest=https://a.example/n", "", "", CodeRecordMalformed},
		{"G04", "reject-two-versions", "v=anml1;v=anml2;manifest=" + m1, "", "", CodeRecordMalformed},
		{"G04", "reject-two-queries", "v=anml1;query=" + q1 + ";query=" + q1, "", "", CodeRecordMalformed},
		{"G04", "reject-two-unknown", "v=anml1;x=1;manifest=" + m1 + ";x=2", "", "", CodeRecordMalformed},
		{"G04", "reject-version-again", "v=anml1;manifest=" + m1 + ";v=anml1", "", "", CodeRecordMalformed},
		{"G05", "accept-blanks-around-version", " v = anml1 ;manifest=" + m1, m1, "", ""},
		{"G05", "reject-version-alone", "anml1;manifest=" + m1, "", "", CodeNoRecord},
		{"G05", "reject-version-2", "v=anml2;manifest=" + m1, "", "", CodeNoRecord},
		{"G05", "reject-upper-case-tag", "V=anml1;manifest=" + m1, "", "", CodeNoRecord},
		{"G05", "reject-upper-case-version", "v=ANML1;manifest=" + m1, "", "", CodeNoRecord},
		{"G05", "reject-anml10", "v=anml10;manifest=" + m1, "", "", CodeNoRecord},
		{"G05", "reject-anml1.1", "v=anml1.1;manifest=" + m1, "", "", CodeNoRecord},
		{"G05", "reject-not-first", "manifest=" + m1 + ";v=anml1", "", "", CodeNoRecord},
		{"G07", "reject-folding", "v=anml1;manifest=" + m1 + "\r\n", "", "", CodeRecordMalformed},
		{"G07", "reject-no-break-space", "v=anml1;\u00a0manifest=" + m1, "", "", CodeRecordMalformed},
		{"G07", "reject-line-feed-between", "v=anml1;\r\n manifest=" + m1, "", "", CodeRecordMalformed},
		{"G07", "reject-vertical-tab", "v=anml1;\vmanifest=" + m1, "", "", CodeRecordMalformed},
		{"G07", "reject-no-break-space-in-a-value", "v=anml1;manifest=\u00a0" + m1, "", "", CodeRecordMalformed},
		{"G07", "reject-blank-inside-a-value", "v=anml1;x=a b;manifest=" + m1, "", "", CodeRecordMalformed},
		{"G07", "reject-blank-inside-a-name", "v=anml1;x y=a;manifest=" + m1, "", "", CodeRecordMalformed},
		{"G07", "accept-around-each", " v\t=\tanml1 ;\tmanifest =\t" + m1 + "\t; query\t= " + q1 + " \t;\t", m1, q1, ""},
		{"G07", "accept-tab", "v=anml1;\tmanifest=" + m1, m1, "", ""},
		{"G08", "reject-empty-name", "v=anml1; =x;manifest=" + m1, "", "", CodeRecordMalformed},
		{"G08", "reject-empty-tag", "v=anml1;;query=" + q1, "", "", CodeRecordMalformed},
		{"G08", "reject-two-final-semicolons", "v=anml1;manifest=" + m1 + ";;", "", "", CodeRecordMalformed},
		{"G08", "reject-blank-tag", "v=anml1; ;query=" + q1, "", "", CodeRecordMalformed},
		{"G08", "reject-name-without-value", "v=anml1;x;query=" + q1, "", "", CodeRecordMalformed},
		{"G08", "reject-name-of-a-digit", "v=anml1;1=x;query=" + q1, "", "", CodeRecordMalformed},
		{"G08", "accept-final-semicolon-and-blank", "v=anml1;manifest=" + m1 + "; \t", m1, "", ""},
		{"G08", "accept-final-semicolon", "v=anml1;manifest=" + m1 + ";", m1, "", ""},
		{"G10", "reject-http", "v=anml1;manifest=http://a.example/m", "", "", CodeRecordMalformed},
		{"G10", "reject-query-http", "v=anml1;query=http://a.example/q", "", "", CodeRecordMalformed},
		{"G10", "reject-query-user", "v=anml1;query=https://u@a.example/q", "", "", CodeRecordMalformed},
		{"G10", "reject-other-scheme", "v=anml1;manifest=ftp://a.example/m", "", "", CodeRecordMalformed},
		{"G10", "reject-relative", "v=anml1;manifest=/m", "", "", CodeRecordMalformed},
		{"G10", "reject-address", "v=anml1;manifest=https://127.0.0.1/m", "", "", CodeRecordMalformed},
		{"G10", "reject-user", "v=anml1;manifest=https://u@h/", "", "", CodeRecordMalformed},
	} {
		t.Run(c.id+"/"+c.name, func(t *testing.T) {
			r, err := ParseRecord(c.text)
			want := c.code
			if want == "" {
				want = lookleap.CodeOK
			}
			if lookleap.CodeOf(err) != want || (r == nil) != (c.code != "") {
				t.Fatalf("%+v, %v", r, err)
			}
			if r != nil && (r.Manifest != c.manifest || r.Query != c.query) {
				t.Errorf("%+v", r)
			}
		})
	}
	t.Run("ANML-12.2.1-12/accept-kept", func(t *testing.T) {
		if r, err := ParseRecord("v=anml1;query=" + q1 + ";exp=1;x=x==y="); err != nil || r.Query != q1 || r.Manifest != "" || len(r.Unknown) != 2 || r.Unknown["exp"] != "1" || r.Unknown["x"] != "x==y=" {
			t.Errorf("%+v %v", r, err)
		}
	})
	t.Run("ANML-12.2.1-06/accept-no-blanks", func(t *testing.T) {
		r, _ := ParseRecord("v=anml1 ; manifest = " + m1 + " ; query=" + q1)
		if text := r.String(); strings.ContainsAny(text, " \t") || text != "v=anml1;manifest="+m1+";query="+q1 {
			t.Error(text)
		}
	})
}

func FuzzParseRecord(f *testing.F) {
	for _, s := range []string{"v=anml1;manifest=" + m1, "v = anml1 ; query=" + q1 + " ; x=1;", "v=anml1;;", "manifest=x", "v=anml1;query=https://q.example/?scope"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := ParseRecord(s)
		if (r == nil) == (err == nil) {
			t.Fatal("neither or both")
		}
		if r == nil {
			return
		}
		again, err := ParseRecord(r.String())
		if err != nil || again.Manifest != r.Manifest || again.Query != r.Query {
			t.Fatalf("%q reads as %+v, and that as %+v, %v", s, r, again, err)
		}
	})
}

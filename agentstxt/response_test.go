package agentstxt

import (
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
)

// TestJudge: section 2, what an answer means.
func TestJudge(t *testing.T) {
	const (
		html  = "<!doctype html><title>App</title>"
		plain = "text/plain; charset=utf-8"
	)
	strict := Options{Strict: true}
	web := Web("ExampleBot")
	for _, tt := range []struct {
		name        string
		options     Options
		status      int
		contentType string
		body        string
		state       State
		reason      lookleap.Code
		finding     lookleap.Code
	}{
		{"AGT-2-04/accept-text-plain", strict, 200, "text/plain", vectorFile, Valid, "ok", ""},
		{"AGT-2-04/accept-with-charset", strict, 200, plain, vectorFile, Valid, "ok", ""},
		{"AGT-2-05/accept-octet-stream", Options{}, 200, "application/octet-stream", vectorFile, Valid, "ok", "media-type"},
		{"AGT-2-05/accept-markdown", Options{}, 200, "text/markdown", vectorFile, Valid, "ok", "media-type"},
		{"AGT-2-05/accept-none", Options{}, 200, "", vectorFile, Valid, "ok", "media-type"},
		{"AGT-2-05/accept-unreadable", Options{}, 200, "text/plain, text/html", vectorFile, Valid, "ok", "media-type"},
		{"AGT-2-05/reject-octet-stream-strictly", strict, 200, "application/octet-stream", vectorFile, Restricted, "media-type", ""},
		{"AGT-2-05/reject-none-strictly", strict, 200, "", vectorFile, Restricted, "media-type", ""},
		{"AGT-2-05/reject-without-hash", Options{}, 200, "text/markdown", "/a ALLOW", Restricted, "hash-missing", ""},
		{"AGT-2-06/accept-absent", Options{}, 200, "text/plain", vectorFile, Valid, "ok", ""},
		{"AGT-2-06/accept-utf-8", Options{}, 200, "text/plain; charset=UTF-8", vectorFile, Valid, "ok", ""},
		{"AGT-2-06/accept-quoted", Options{}, 200, `text/plain; charset="utf-8"`, vectorFile, Valid, "ok", ""},
		{"AGT-2-06/reject-latin1", Options{}, 200, "text/plain; charset=latin1", vectorFile, Restricted, "charset", ""},
		{"AGT-2-06/reject-iso-8859-1", Options{}, 200, "text/plain; charset=ISO-8859-1", vectorFile, Restricted, "charset", ""},
		{"AGT-2-06/reject-utf-16", Options{}, 200, "text/plain; charset=utf-16", vectorFile, Restricted, "charset", ""},
		{"AGT-2-06/reject-us-ascii", Options{}, 200, "text/plain; charset=us-ascii", vectorFile, Restricted, "charset", ""},
		{"AGT-2-06/reject-utf8-without-a-hyphen", Options{}, 200, "text/plain; charset=utf8", vectorFile, Restricted, "charset", ""},
		{"AGT-2-06/reject-empty", Options{}, 200, `text/plain; charset=""`, vectorFile, Restricted, "charset", ""},
		{"AGT-2-06/reject-two", Options{}, 200, "text/plain; charset=utf-8; charset=latin1", vectorFile, Restricted, "charset", ""},
		{"AGT-2-06/accept-page-before-charset", Options{}, 200, "text/html; charset=latin1", html, Absent, "soft-404", "soft-404"},
		{"AGT-2-06/reject-page-with-hash-line", Options{}, 200, "text/html; charset=latin1", vectorFile, Restricted, "charset", ""},
		{"AGT-2-07/accept-html", Options{}, 200, "text/html", html, Absent, "soft-404", "soft-404"},
		{"AGT-2-07/accept-html-by-look", Options{}, 200, plain, "\ufeff \n" + html, Absent, "soft-404", "soft-404"},
		{"AGT-2-07/accept-empty-html", Options{}, 200, "text/html", "", Absent, "soft-404", "soft-404"},
		{"AGT-2-07/accept-html-that-is-not-utf8", Options{}, 200, "text/html", html + "\xff", Absent, "soft-404", "soft-404"},
		{"AGT-2-07/accept-xhtml", Options{}, 200, "application/xhtml+xml", "no page", Absent, "soft-404", "soft-404"},
		{"AGT-2-07/accept-json", Options{}, 200, "application/json", `{"error":"not found"}`, Absent, "soft-404", "soft-404"},
		{"AGT-2-07/accept-json-suffix", Options{}, 200, "application/problem+json", `{}`, Absent, "soft-404", "soft-404"},
		{"AGT-2-07/accept-policy-as-html", Options{}, 200, "text/html", "# c\n" + vectorFile, Valid, "ok", "media-type"},
		{"AGT-2-07/accept-policy-as-json", Options{}, 200, "application/json", vectorFile, Valid, "ok", "media-type"},
		{"AGT-2-07/reject-html-strictly", strict, 200, "text/html", html, Restricted, "hash-missing", ""},
		{"AGT-2-07/reject-json-strictly", strict, 200, "application/json", "{}", Restricted, "hash-missing", ""},
		{"AGT-2-07/reject-broken-policy-as-html", Options{}, 200, "text/html", vector + " \\\n/a ALLOW\n", Restricted, "hash-missing", ""},
		{"AGT-2-07/reject-forged-policy-as-html", Options{}, 200, "text/html", vector + "\n/a ALLOW\n", Restricted, "hash-mismatch", ""},
		{"AGT-2-07/reject-json-by-look-alone", Options{}, 200, plain, `{"error":"not found"}`, Restricted, "foreign-format", ""},
		{"AGT-2-08/accept-404", Options{}, 404, plain, "", Absent, "no-policy", ""},
		{"AGT-2-08/accept-410", strict, 410, "text/html", "", Absent, "no-policy", ""},
		{"AGT-2-09/reject-401", Options{}, 401, plain, "", Restricted, "access-denied", ""},
		{"AGT-2-09/reject-407", Options{}, 407, plain, "", Restricted, "access-denied", ""},
		{"AGT-2-09/reject-451", Options{}, 451, plain, "", Restricted, "access-denied", ""},
		{"AGT-2-10/accept-403", Options{}, 403, plain, "", Absent, "forbidden", "forbidden"},
		{"AGT-2-10/accept-400", Options{}, 400, plain, "", Absent, "status", "status"},
		{"AGT-2-10/accept-406", Options{}, 406, plain, "", Absent, "status", "status"},
		{"AGT-2-10/accept-402", Options{}, 402, plain, "", Absent, "status", "status"},
		{"AGT-2-10/accept-405", Options{}, 405, plain, "", Absent, "status", "status"},
		{"AGT-2-10/accept-431", Options{}, 431, plain, "", Absent, "status", "status"},
		{"AGT-2-10/accept-499", Options{}, 499, plain, "", Absent, "status", "status"},
		{"AGT-2-10/reject-431-strictly", strict, 431, plain, "", Restricted, "access-denied", ""},
		{"AGT-2-10/reject-499-strictly", strict, 499, plain, "", Restricted, "access-denied", ""},
		{"AGT-2-10/reject-403-strictly", strict, 403, plain, "", Restricted, "access-denied", ""},
		{"AGT-2-10/reject-400-strictly", strict, 400, plain, "", Restricted, "access-denied", ""},
		{"AGT-2-11/reject-429", Options{}, 429, plain, "", Restricted, "rate-limited", ""},
		{"AGT-2-12/reject-503", Options{}, 503, plain, "", Restricted, "unreachable", ""},
		{"AGT-2-12/reject-500", Options{}, 500, plain, vectorFile, Restricted, "unreachable", ""},
		{"AGT-2-12/reject-599", Options{}, 599, plain, vectorFile, Restricted, "unreachable", ""},
		{"AGT-2-13/reject-201", Options{}, 201, plain, vectorFile, Restricted, "unreachable", ""},
		{"AGT-2-13/reject-203", Options{}, 203, plain, vectorFile, Restricted, "unreachable", ""},
		{"AGT-2-13/reject-226", Options{}, 226, plain, vectorFile, Restricted, "unreachable", ""},
		{"AGT-2-13/reject-299", Options{}, 299, plain, vectorFile, Restricted, "unreachable", ""},
		{"AGT-2-13/reject-399", Options{}, 399, plain, vectorFile, Restricted, "unreachable", ""},
		{"AGT-2-13/reject-204", Options{}, 204, plain, "", Restricted, "unreachable", ""},
		{"AGT-2-13/reject-206", Options{}, 206, plain, vectorFile, Restricted, "unreachable", ""},
		{"AGT-2-13/reject-202", Options{}, 202, plain, vectorFile, Restricted, "unreachable", ""},
		{"AGT-2-13/reject-304-unasked", Options{}, 304, plain, "", Restricted, "unreachable", ""},
		{"AGT-2-13/reject-300", Options{}, 300, plain, vectorFile, Restricted, "unreachable", ""},
		{"AGT-2-13/reject-no-status", Options{}, 0, plain, vectorFile, Restricted, "unreachable", ""},
		{"AGT-2-13/accept-200", Options{}, 200, plain, vectorFile, Valid, "ok", ""},
		{"AGT-3-12/reject-protocols", Options{}, 200, plain, "Protocols: x402\n", Restricted, "foreign-format", ""},
		{"AGT-3-12/reject-protocols-strictly", strict, 200, plain, "Protocols: x402\n", Restricted, "foreign-format", ""},
		{"AGT-3-12/accept-protocols-strictly-on-request", Options{Strict: true, Foreign: ForeignIgnore}, 200, plain, "Protocols: x402\n", Absent, "foreign-format", "foreign-format"},
		{"AGT-3-12/reject-robots", Options{}, 200, plain, "User-agent: *\nDisallow: /admin\n", Restricted, "foreign-format", ""},
		{"AGT-3-12/accept-as-absent-on-request", Options{Foreign: ForeignIgnore}, 200, plain, "# agents\nCapability: x\n", Absent, "foreign-format", "foreign-format"},
		{"AGT-3-12/reject-own-format-even-on-request", Options{Foreign: ForeignIgnore}, 200, plain, "/a ALLOW\nCapability: x\n", Restricted, "hash-missing", ""},
		{"AGT-3-12/accept-comments-as-absent-on-request", Options{Foreign: ForeignIgnore}, 200, plain, "# nothing\n", Absent, "foreign-format", "foreign-format"},
		{"AGT-3-12/accept-list-of-paths-as-absent-on-request", Options{Foreign: ForeignIgnore}, 200, plain, "/blog\n/about us\n", Absent, "foreign-format", "foreign-format"},
		{"AGT-3-12/accept-markdown-as-absent-on-request", Options{Foreign: ForeignIgnore}, 200, plain, "**Agents** are *welcome*\n* see /docs\n", Absent, "foreign-format", "foreign-format"},
		{"AGT-3-12/accept-empty-as-absent-on-request", Options{Foreign: ForeignIgnore}, 200, plain, "\n", Absent, "foreign-format", "foreign-format"},
		{"AGT-3-12/reject-comments-by-default", Options{}, 200, plain, "# hi\n", Restricted, "foreign-format", ""},
		{"AGT-3-12/reject-list-of-paths-by-default", Options{}, 200, plain, "/blog\n/shop\n", Restricted, "foreign-format", ""},
		{"AGT-3-12/reject-markdown-by-default", Options{}, 200, plain, "**Agents** are welcome\n", Restricted, "foreign-format", ""},
		{"AGT-3-12/accept-key-values-with-preset", web, 200, plain, "Protocols: x402\nCapability: pay\n", Absent, "foreign-format", "foreign-format"},
		{"AGT-3-12/accept-markdown-with-preset", web, 200, "text/markdown", "# Agents\n\n- **/api** is open\n* `deadbeefdeadbeef` is a commit\n", Absent, "foreign-format", "foreign-format"},
		{"AGT-3-12/accept-latin-1-with-preset", web, 200, plain, "Caf\xe9 for agents\n", Absent, "foreign-format", "foreign-format"},
		{"AGT-3-12/accept-other-charset-with-preset", web, 200, "text/plain; charset=iso-8859-1", "Welcome, agents\n", Absent, "foreign-format", "foreign-format"},
		{"AGT-3-12/accept-long-line-with-preset", web, 200, plain, strings.Repeat("welcome ", 4000), Absent, "foreign-format", "foreign-format"},
		{"AGT-3-12/reject-misspelt-action-with-preset", web, 200, plain, "/path DISALOW\n", Restricted, "hash-missing", ""},
		{"AGT-3-12/reject-blank-in-path-with-preset", web, 200, plain, "/my files DISALLOW\n", Restricted, "hash-missing", ""},
		{"AGT-3-12/reject-upper-case-hash-with-preset", web, 200, plain, strings.ToUpper(vector) + "\n", Restricted, "hash-missing", ""},
		{"AGT-3-12/reject-blank-before-digits-with-preset", web, 200, plain, "* " + vector[1:] + "\n", Restricted, "hash-missing", ""},
		{"AGT-3-12/reject-two-asterisks-with-preset", web, 200, plain, "*" + vector + "\n", Restricted, "hash-missing", ""},
		{"AGT-3-12/reject-indented-hash-with-preset", web, 200, plain, "x\n  " + vector + "\n", Restricted, "hash-missing", ""},
		{"AGT-3-12/reject-crlf-with-preset", web, 200, plain, "welcome\r\n/a DISALLOW x\r\n", Restricted, "hash-missing", ""},
		{"AGT-3-12/reject-byte-order-mark-with-preset", web, 200, plain, "\ufeff/a DISALLOW\n", Restricted, "hash-missing", ""},
		{"AGT-3-12/reject-utf-16-with-preset", web, 200, plain, "\xff\xfe/\x00a\x00 \x00D\x00I\x00S\x00A\x00L\x00L\x00O\x00W\x00", Restricted, "not-utf8", ""},
		{"AGT-3-12/reject-changed-file-with-preset", web, 200, plain, vector + "\n/status ALLOW\n", Restricted, "hash-mismatch", ""},
		{"AGT-3-12/reject-policy-between-tags-with-preset", web, 200, "text/html", "<html><body><p>" + vector + "<br>/admin DISALLOW<br></p></body></html>", Restricted, "hash-missing", ""},
		{"AGT-3-12/reject-directive-between-tags-with-preset", web, 200, "text/html", "<pre><code>/admin DISALLOW</code></pre>", Restricted, "hash-missing", ""},
		{"AGT-3-12/reject-allow-between-tags-with-preset", web, 200, "text/html", "<html><body><p>/status ALLOW</p></body></html>", Restricted, "hash-missing", ""},
		{"AGT-3-12/reject-hash-between-tags-with-preset", web, 200, "text/html", "<p>" + vector[:20] + "</p>", Restricted, "hash-missing", ""},
		{"AGT-3-12/reject-allow-in-a-comment-of-a-page-with-preset", web, 200, "text/html", "<!-- /status ALLOW -->", Restricted, "hash-missing", ""},
		{"AGT-3-12/reject-misspelt-action-on-request", Options{Foreign: ForeignIgnore}, 200, plain, "# x\nfor agents\n  /admin DISALOW why\n", Restricted, "hash-missing", ""},
		{"AGT-3-12/reject-almost-allow-on-request", Options{Foreign: ForeignIgnore}, 200, plain, "hello\n/status alow\n", Restricted, "hash-missing", ""},
		{"AGT-3-12/reject-allowed-on-request", Options{Foreign: ForeignIgnore}, 200, plain, "hello\n/status Allowed\n", Restricted, "hash-missing", ""},
		{"AGT-3-12/accept-other-word-on-request", Options{Foreign: ForeignIgnore}, 200, plain, "hello\n/status follows\n", Absent, "foreign-format", "foreign-format"},
		{"AGT-3-12/reject-hash-within-a-line-on-request", Options{Foreign: ForeignIgnore}, 200, plain, "hello\nsee *" + vector[1:] + " here\n", Restricted, "hash-missing", ""},
		{"AGT-3-12/accept-short-hash-within-a-line-on-request", Options{Foreign: ForeignIgnore}, 200, plain, "hello\nsee " + vector[:64] + " here\n", Absent, "foreign-format", "foreign-format"},
		{"AGT-3-12/reject-16-digits-on-request", Options{Foreign: ForeignIgnore}, 200, plain, "hello\n" + vector[:17] + "\n", Restricted, "hash-missing", ""},
		{"AGT-3-12/accept-15-digits-on-request", Options{Foreign: ForeignIgnore}, 200, plain, "hello\n" + vector[:16] + "\n", Absent, "foreign-format", "foreign-format"},
		{"AGT-3-12/reject-denial-within-a-line-on-request", Options{Foreign: ForeignIgnore}, 200, plain, "hello\nPath: /admin DISALLOW\n", Restricted, "hash-missing", ""},
		{"AGT-3-12/reject-nul-on-request", Options{Foreign: ForeignIgnore}, 200, plain, "hello\x00\n", Restricted, "not-utf8", ""},
		{"AGT-3-12/accept-three-capitals-on-request", Options{Foreign: ForeignIgnore}, 200, plain, "hello\n/admin BAN\n", Absent, "foreign-format", "foreign-format"},
		{"AGT-3-12/accept-twelve-capitals-on-request", Options{Foreign: ForeignIgnore}, 200, plain, "hello\n/admin NOTPERMITTED\n", Absent, "foreign-format", "foreign-format"},
		{"AGT-3-12/accept-two-capitals-on-request", Options{Foreign: ForeignIgnore}, 200, plain, "hello\n/admin IS\n", Absent, "foreign-format", "foreign-format"},
		{"AGT-3-12/reject-lower-case-action-on-request", Options{Foreign: ForeignIgnore}, 200, plain, "hello\n/admin disallow:\n", Restricted, "hash-missing", ""},
		{"AGT-3-12/accept-other-verb-on-request", Options{Foreign: ForeignIgnore}, 200, plain, "hello\n/admin DENY\n", Absent, "foreign-format", "foreign-format"},
		{"AGT-3-12/reject-short-hash-on-request", Options{Foreign: ForeignIgnore}, 200, plain, "hello\n*0123456789abcdef\n", Restricted, "hash-missing", ""},
		{"AGT-3-12/reject-carriage-returns-on-request", Options{Foreign: ForeignIgnore}, 200, plain, "# x\r/admin DISALLOW\r", Restricted, "hash-missing", ""},
		{"O62/reject-conflict-marker", Options{Foreign: ForeignIgnore}, 200, plain, "<<<<<<< HEAD\n" + vectorFile, Restricted, "hash-missing", ""},
		{"O62/reject-page-around-a-policy", Options{}, 200, "text/html", "<pre>\n" + vectorFile + "</pre>\n", Restricted, "hash-missing", ""},
		{"O62/reject-broken-directive-as-html", Options{}, 200, "text/html", "<!-- x -->\n/admin DISALLOW\n", Restricted, "hash-missing", ""},
		{"O62/reject-json-type-around-directive", Options{}, 200, "application/json", "{\n/admin DISALLOW\n", Restricted, "hash-missing", ""},
		{"O62/reject-diff", web, 200, plain, "--- a/agents.txt\n+++ b/agents.txt\n@@ -1 +1 @@\n-" + vector + "\n+/admin DISALLOW\n", Restricted, "hash-missing", ""},
		{"O62/reject-quoted-mail", web, 200, plain, "> " + vector + "\n> /admin DISALLOW\n", Restricted, "hash-missing", ""},
		{"O62/reject-line-numbers", web, 200, plain, "     1\t" + vector + "\n     2\t/admin DISALLOW\n", Restricted, "hash-missing", ""},
		{"O62/reject-json-string", Options{}, 200, "application/json", `{"content":"` + vector + `\n/admin DISALLOW\n"}`, Restricted, "hash-missing", ""},
		{"O62/reject-json-lines", Options{}, 200, "application/json", "[\n\"" + vector + "\",\n\"/admin DISALLOW\"\n]", Restricted, "hash-missing", ""},
		{"O62/reject-text-before-tags", Options{}, 200, "text/html", "Policy<br>/admin DISALLOW<br>", Restricted, "hash-missing", ""},
		{"O62/reject-no-break-space", Options{}, 200, "text/html", "<p>/admin&nbsp;DISALLOW</p>", Restricted, "hash-missing", ""},
		{"O62/reject-escaped-slash", Options{}, 200, "text/html", "<p>&sol;admin DISALLOW</p>", Restricted, "hash-missing", ""},
		{"O62/reject-escaped-asterisk", Options{}, 200, "text/html", "<p>&#x2a;" + vector[1:] + "</p>", Restricted, "hash-missing", ""},
		{"O62/reject-escaped-page", Options{}, 200, "text/html", "&lt;pre&gt;/admin DISALLOW&lt;/pre&gt;", Restricted, "hash-missing", ""},
		{"O62/reject-cdata", Options{}, 200, "application/xml", "<f><![CDATA[/admin DISALLOW]]></f>", Restricted, "hash-missing", ""},
		{"O62/reject-comment", Options{}, 200, "text/html", "<!-- /admin DISALLOW -->", Restricted, "hash-missing", ""},
		{"O62/reject-list", web, 200, plain, "- /admin DISALLOW\n", Restricted, "hash-missing", ""},
		{"O62/reject-numbered-list", web, 200, plain, "1. /admin DISALLOW\n", Restricted, "hash-missing", ""},
		{"O62/reject-bullets", web, 200, plain, "* /admin DISALLOW\n", Restricted, "hash-missing", ""},
		{"O62/reject-table", web, 200, plain, "| /admin | DISALLOW |\n", Restricted, "hash-missing", ""},
		{"O62/reject-CSV", web, 200, plain, "path,action\n/admin,DISALLOW\n", Restricted, "hash-missing", ""},
		{"O62/reject-code", web, 200, plain, "Rules: `/admin DISALLOW`\n", Restricted, "hash-missing", ""},
		{"O62/reject-quoted-path", web, 200, plain, "\"/admin\" DISALLOW\n", Restricted, "hash-missing", ""},
		{"O62/reject-hidden-character", web, 200, plain, "/admin \u200bDISALLOW\n", Restricted, "hash-missing", ""},
		{"O62/reject-diff-line", web, 200, plain, "diff --git a b\n+/admin DISALLOW\n", Restricted, "hash-missing", ""},
		{"O62/reject-signed-mail", web, 200, plain, "-----BEGIN PGP SIGNED MESSAGE-----\n\n- /admin DISALLOW\n", Restricted, "hash-missing", ""},
		{"O62/reject-table-of-a-page", Options{}, 200, "text/html", "<td>/admin</td><td>DISALLOW</td>", Restricted, "hash-missing", ""},
		{"O62/reject-bold-action", Options{}, 200, "text/html", "<p>/admin <b>DISALLOW</b></p>", Restricted, "hash-missing", ""},
		{"O62/reject-json-pairs", Options{}, 200, "application/json", "{\"/admin\":\"DISALLOW\"}", Restricted, "hash-missing", ""},
		{"O62/reject-json-escapes", Options{}, 200, "application/json", "{\"a\":\"\\/admin DISALLOW\"}", Restricted, "hash-missing", ""},
		{"O62/accept-comment-of-another-format", web, 200, plain, "# rules are /admin DISALLOW\nContact: a@shop.example\n", Absent, "foreign-format", "foreign-format"},
		{"O62/accept-words-in-capitals", web, 200, plain, "WE DISALLOW BOTS, SEE https://shop.example/terms FOR WHAT WE ALLOW.\n", Absent, "foreign-format", "foreign-format"},
		{"O62/accept-bold-checksum", web, 200, plain, "Release 1: **" + vector[1:] + "**\n", Absent, "foreign-format", "foreign-format"},
		{"O62/accept-page-with-checksum", Options{}, 200, "text/html", "<style>/*" + vector[1:] + "*/</style><p>" + vector[1:] + " *a.zip</p>", Absent, "soft-404", "soft-404"},
		{"O62/accept-error-in-json", Options{}, 200, "application/json", `{"error":"/agents.txt not found","allow":"GET"}`, Absent, "soft-404", "soft-404"},
		{"O62/accept-page", Options{}, 200, plain, "<!doctype html>\n<a href=\"/admin\">ALLOW</a>\n", Absent, "soft-404", "soft-404"},
		{"AGT-3-12/accept-methods-of-an-API-with-preset", web, 200, plain, "# API\n/api/tea POST\n/api/tea GET JSON\n/api/cake DELETE\n", Absent, "foreign-format", "foreign-format"},
		{"AGT-5-03/reject-malformed", Options{}, 200, plain, signed("/a MAYBE"), Restricted, "bad-directive", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := Judge(Response{Status: tt.status, ContentType: tt.contentType, Body: []byte(tt.body)}, tt.options)
			if p.State() != tt.state || p.Reason() != tt.reason {
				t.Fatalf("got %v, %v: %v", p.State(), p.Reason(), p.Err())
			}
			if _, ok := hasFinding(p, tt.finding); tt.finding != "" && !ok || tt.finding == "" && len(p.Findings()) > 0 {
				t.Errorf("findings %v", p.Findings())
			}
			switch tt.state {
			case Restricted:
				wantDenied(t, p)
				if p.Err() == nil || lookleap.CodeOf(p.Err()) != tt.reason {
					t.Errorf("error %v", p.Err())
				}
			case Absent:
				if d := p.Decide("/x"); !d.Allowed || d.Code != CodeNoPolicy || d.Matched {
					t.Error(d)
				}
			case Valid:
				if p.Decide("/admin").Allowed || !p.Decide("/status").Allowed {
					t.Error("wrong decisions")
				}
			}
		})
	}
	t.Run("AGT-1-04/accept-http-with-finding", func(t *testing.T) {
		p := Judge(Response{Status: 200, ContentType: plain, Body: []byte(vectorFile), Insecure: true}, Options{})
		if _, ok := hasFinding(p, lookleap.CodeInsecureTransport); !ok || p.State() != Valid {
			t.Error(p.State(), p.Findings())
		}
	})
	t.Run("AGT-8-03/reject-http-on-request", func(t *testing.T) {
		p := Judge(Response{Status: 404, Insecure: true}, Options{RefuseHTTP: true})
		if p.State() != Restricted || p.Reason() != lookleap.CodeInsecureTransport {
			t.Error(p.State(), p.Reason())
		}
	})
	t.Run("AGT-3-12/reject-and-name-the-option", func(t *testing.T) {
		p := Judge(Response{Status: 200, ContentType: plain, Body: []byte("Protocols: x402\n")}, Options{})
		if !strings.Contains(p.Err().Error(), "agentstxt.Web(") {
			t.Error(p.Err())
		}
	})
}

func TestPolicyURL(t *testing.T) {
	for _, tt := range []struct{ name, url, want string }{
		{"AGT-2-01/accept-root", "https://shop.example", "https://shop.example/agents.txt"},
		{"AGT-2-01/accept-port-path-query", "https://h:8443/a/b?x", "https://h:8443/agents.txt"},
		{"AGT-2-01/accept-default-port", "https://SHOP.example:443/", "https://shop.example/agents.txt"},
		{"AGT-2-01/accept-http", "http://shop.example/x", "http://shop.example/agents.txt"},
		{"AGT-2-01/accept-http-port", "http://shop.example:443/x", "http://shop.example:443/agents.txt"},
		{"AGT-2-01/accept-well-known-url", "https://shop.example/.well-known/agents.txt", "https://shop.example/agents.txt"},
		{"AGT-2-01/reject-other-scheme", "ftp://shop.example/", ""},
		{"AGT-2-01/reject-no-host", "https:///x", ""},
		{"AGT-2-01/reject-opaque", "https:shop.example", ""},
		{"AGT-2-01/reject-trailing-dot", "https://shop.example./", ""},
		{"AGT-2-01/reject-websocket", "wss://shop.example/", ""},
		{"AGT-2-01/reject-websocket-in-clear-text", "ws://shop.example/", ""},
		{"AGT-2-01/reject-file", "file://shop.example/x", ""},
		{"AGT-2-01/reject-userinfo", "https://@/", ""},
		{"AGT-2-01/reject-relative", "/a/b", ""},
		{"AGT-2-01/reject-bad-port", "https://shop.example:0443/", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := PolicyURL(tt.url)
			if got != tt.want || (err == nil) != (tt.want != "") {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

// TestJudgeTransport: options about plain http are about plain http.
func TestJudgeTransport(t *testing.T) {
	for _, c := range []struct {
		insecure, refuse bool
		body             string
		state            State
		notes            int
	}{
		{false, true, vectorFile, Valid, 0}, {true, true, vectorFile, Restricted, 0}, {true, false, vectorFile, Valid, 1}, {false, false, vectorFile, Valid, 0}, {true, false, "broken", Restricted, 0},
	} {
		p := Judge(Response{Status: 200, ContentType: "text/plain", Body: []byte(c.body), Insecure: c.insecure}, Options{RefuseHTTP: c.refuse})
		if p.State() != c.state || len(p.Findings()) != c.notes {
			t.Errorf("%+v: %s, %v", c, p.State(), p.Findings())
		}
	}
	none := Judge(Response{Status: 200, Body: []byte(vectorFile)}, Options{})
	if all := none.Findings(); len(all) != 1 || all[0].Message != "the server declares no media type" {
		t.Errorf("%+v", all)
	}
	p := Judge(Response{Status: 200, ContentType: "text/markdown", Body: []byte(vectorFile)}, Options{})
	if all := p.Findings(); len(all) != 1 || all[0].Message != `the server declares the media type "text/markdown"` || all[0].Fix != fixMediaType {
		t.Errorf("%+v", all)
	}
}

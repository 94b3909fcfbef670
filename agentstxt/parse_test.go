package agentstxt

import (
	"bytes"
	"crypto/sha512"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
)

// TestDocument reads files: sections 2, 3, 4, 6, 7 and 9.
func TestDocument(t *testing.T) {
	const (
		missing   = CodeHashMissing
		mismatch  = CodeHashMismatch
		bad       = codeBadDirective
		notUTF8   = lookleap.CodeNotUTF8
		tooLarge  = lookleap.CodeTooLarge
		foreign   = CodeForeignFormat
		hex64     = "e37fd0bbf5b647010a78772b8755ffa92efe6aa07b2bb0d373b2a61adfc9435a"
		empty     = "*e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
		three     = "/status ALLOW\n/dashboard ALLOW limit=50\n/admin DISALLOW\n"
		threeCRLF = "/status ALLOW\r\n/dashboard ALLOW limit=50\r\n/admin DISALLOW\r\n"
	)
	for _, tt := range []struct {
		name string
		file string
		want lookleap.Code // "": valid
		line int           // of the error, if it matters
	}{
		{"AGT-0-01/reject-what-is-no-policy", "", missing, 0},
		{"AGT-0-02/accept-whole-file", vectorFile, "", 0},
		{"AGT-0-02/reject-anything-else", "hello", foreign, 1},
		{"AGT-1-02/accept-whole-file", vectorFile, "", 0},
		{"AGT-1-02/reject-malformed", signed("/a ALLOWED"), bad, 2},
		{"AGT-1-03/accept-hash-of-directives", signed("/a ALLOW", "/b DISALLOW"), "", 0},
		{"AGT-1-03/reject-changed-directive", strings.Replace(signed("/a ALLOW", "/b DISALLOW"), "/b", "/c", 1), mismatch, 1},
		{"AGT-1-03/reject-added-directive", signed("/a ALLOW") + "/b ALLOW\n", mismatch, 1},
		{"AGT-1-03/reject-removed-directive", strings.Replace(signed("/a ALLOW", "/b DISALLOW"), "/b DISALLOW\n", "", 1), mismatch, 1},
		{"AGT-1-03/reject-swapped-directives", hashOf("/a ALLOW\n/b ALLOW") + "\n/b ALLOW\n/a ALLOW\n", mismatch, 1},
		{"AGT-2-03/accept-utf8", signed("/café ALLOW") + "# schön\n", "", 0},
		{"AGT-2-03/reject-invalid-utf8-in-directive", signed("/caf\xe9 ALLOW"), notUTF8, 2},
		{"AGT-2-03/reject-invalid-utf8-in-comment", "# caf\xe9\n" + signed("/a ALLOW"), notUTF8, 1},
		{"AGT-2-03/reject-overlong", signed("/\xc0\x80 ALLOW"), notUTF8, 2},
		{"AGT-2-03/reject-surrogate", signed("/\xed\xa0\x80 ALLOW"), notUTF8, 2},
		{"AGT-2-03/reject-utf16", "\xff\xfe*\x00e\x003\x00", notUTF8, 1},
		{"AGT-2-03/reject-nul-in-directive", signed("/a\x00 ALLOW"), notUTF8, 2},
		{"AGT-2-03/reject-nul-in-comment", signed("/a ALLOW") + "#\x00\n", notUTF8, 3},
		{"AGT-2-15/accept-size-limit", padded(512 << 10), "", 0},
		{"AGT-2-15/reject-size", padded(512<<10 + 1), tooLarge, 0},
		{"AGT-2-15/accept-line-limit", signed("/" + strings.Repeat("a", 8<<10-7) + " ALLOW"), "", 0},
		{"AGT-2-15/reject-line", signed("/" + strings.Repeat("a", 8<<10-6) + " ALLOW"), tooLarge, 2},
		{"AGT-2-15/reject-comment-line", signed("/a ALLOW") + "#" + strings.Repeat("x", 8<<10) + "\n", tooLarge, 3},
		{"AGT-2-15/accept-wildcards", signed(numbered(1000, "/*/%d DISALLOW")...), "", 0},
		{"AGT-2-15/reject-wildcards", signed(numbered(1001, "/*/%d DISALLOW")...), tooLarge, 1002},
		{"AGT-2-15/accept-parameters", signed("/a ALLOW " + strings.Join(numbered(64, "k%d=1"), " ")), "", 0},
		{"AGT-2-15/reject-parameters", signed("/a ALLOW " + strings.Join(numbered(65, "k%d=1"), " ")), tooLarge, 2},
		{"AGT-3-01/accept-comments-and-blanks-first", "# c\n\n \t\n" + signed("/a ALLOW"), "", 0},
		{"AGT-3-01/reject-directive-first", "/a ALLOW\n" + hashOf("/a ALLOW") + "\n", missing, 1},
		{"AGT-3-02/accept-exact-form", vectorFile, "", 0},
		{"AGT-3-02/reject-blank-after-star", "* " + hex64 + "\n" + three, missing, 1},
		{"AGT-3-02/reject-63-digits", vector[:64] + "\n" + three, missing, 1},
		{"AGT-3-02/reject-65-digits", vector + "a\n" + three, missing, 1},
		{"AGT-3-02/reject-66-digits", vector + "ab\n" + three, missing, 1},
		{"AGT-3-02/reject-upper-case", "*" + strings.ToUpper(hex64) + "\n" + three, missing, 1},
		{"AGT-3-02/reject-algorithm-prefix", "*sha256:" + hex64 + "\n" + three, missing, 1},
		{"AGT-3-02/reject-two-stars", "*" + vector + "\n" + three, missing, 1},
		{"AGT-3-02/reject-trailing-blank", vector + " \n" + three, missing, 1},
		{"AGT-3-02/reject-non-hex", "*" + strings.Repeat("g", 64) + "\n" + three, missing, 1},
		{"AGT-3-03/accept-comment-changed", "# other\n" + vector + "\n#x\n" + three + "# end\n", "", 0},
		{"AGT-3-03/reject-directive-octet-changed", vector + "\n" + strings.Replace(three, "50", "51", 1), mismatch, 1},
		{"AGT-3-04/reject-64-digits-of-another-hash", fmt.Sprintf("*%x\n/a ALLOW\n", sha512.Sum512_256([]byte("/a ALLOW"))), mismatch, 1},
		{"AGT-3-04/reject-sha1", "*da39a3ee5e6b4b0d3255bfef95601890afd80709\n" + three, missing, 1},
		{"AGT-3-05/accept-directives", vectorFile, "", 0},
		{"AGT-3-05/reject-second-hash-line", signed(empty, "/a ALLOW"), bad, 2},
		{"AGT-3-05/reject-robots-line", signed("/a ALLOW", "User-agent: x"), bad, 3},
		{"AGT-3-05/reject-free-text", signed("please be nice"), bad, 2},
		{"AGT-3-06/accept-crlf", vector + "\r\n" + threeCRLF, "", 0},
		{"AGT-3-06/accept-mixed", vector + "\r\n/status ALLOW\n/dashboard ALLOW limit=50\r\n/admin DISALLOW\n", "", 0},
		{"AGT-3-06/accept-no-final-line-end", strings.TrimSuffix(vectorFile, "\n"), "", 0},
		{"AGT-3-06/reject-lone-cr", signed("/a ALLOW\r/b ALLOW"), bad, 2},
		{"AGT-3-06/reject-cr-at-end-of-file", hashOf("/a ALLOW\r") + "\n/a ALLOW\r", bad, 2},
		{"AGT-3-06/reject-two-crs", hashOf("/a ALLOW\r") + "\n/a ALLOW\r\r\n", bad, 2},
		{"AGT-3-07/accept-one-bom", "\ufeff" + vectorFile, "", 0},
		{"AGT-3-07/reject-two-boms", "\ufeff\ufeff" + vectorFile, missing, 1},
		{"AGT-3-07/reject-bom-inside", signed("/a ALLOW", "\ufeff/b ALLOW"), bad, 3},
		{"AGT-3-08/accept-blank-lines-anywhere", "\n \n\t\n" + vector + "\n\n/status ALLOW\n \t \n/dashboard ALLOW limit=50\n\r\n/admin DISALLOW\n\n", "", 0},
		{"AGT-3-08/reject-other-white-space", signed("/a ALLOW", "\u00a0"), bad, 3},
		{"AGT-3-08/reject-form-feed", signed("/a ALLOW", "\f"), bad, 3},
		{"AGT-3-08/reject-other-after-a-blank", signed("/a ALLOW", " \u00a0", "\t\f"), bad, 3},
		{"AGT-3-09/accept-first-column", signed("/a ALLOW"), "", 0},
		{"AGT-3-09/reject-indented-directive", signed(" /a ALLOW"), bad, 2},
		{"AGT-3-09/reject-indented-hash", "\t" + vectorFile, missing, 1},
		{"AGT-3-09/reject-indented-comment", signed("/a ALLOW", " # note"), bad, 3},
		{"AGT-3-10/accept-hash-line-alone", empty + "\n", "", 0},
		{"AGT-3-10/reject-empty", "", missing, 0},
		{"AGT-3-10/reject-bom-only", "\ufeff", missing, 0},
		{"AGT-3-10/reject-comment-only", "# hi", missing, 0},
		{"AGT-3-11/accept-no-directives", empty, "", 0},
		{"AGT-3-11/accept-no-directives-with-comments", "# nothing to say\n" + empty + "\n\n# the end\n", "", 0},
		{"AGT-3-11/reject-directives-under-the-digest-of-none", empty + "\n/a ALLOW\n", mismatch, 1},
		{"AGT-3-12/reject-protocols", "Protocols: x402\n", foreign, 1},
		{"AGT-3-12/reject-capability", "# agents\n\nCapability: x\nUser-agent: *\n", foreign, 3},
		{"AGT-3-12/reject-own-format-without-hash", "Capability: x\n/a ALLOW\n", missing, 1},
		{"AGT-3-13/accept-section-3", vectorFile, "", 0},
		{"AGT-4-01/accept-comments-anywhere", "#\n" + vector + "\n#x\n/status ALLOW\n# x\n/dashboard ALLOW limit=50\n#/secret ALLOW\n/admin DISALLOW\n#", "", 0},
		{"AGT-4-01/reject-hash-line-in-a-comment", "#" + vector + "\n" + three, missing, 2},
		{"AGT-4-02/accept-comment-of-its-own-line", signed("/a ALLOW") + "# note\n", "", 0},
		{"AGT-4-02/reject-inline-comment", signed("/a ALLOW # note"), bad, 2},
		{"AGT-4-02/reject-inline-comment-without-blank", signed("/a ALLOW #note"), bad, 2},
		{"AGT-4-02/reject-comment-after-hash", vector + " # note\n" + three, missing, 1},
		{"AGT-4-04/reject-grace-period", "# grace-period: 30d\n" + signed("/a MAYBE"), bad, 3},
		{"AGT-4-05/accept-unknown-version", "# version: 9\n" + vectorFile, "", 0},
		{"AGT-4-05/reject-malformed-of-unknown-version", "# version: 9\n" + signed("/a MAYBE"), bad, 3},
		{"AGT-5-01/reject-no-hash", three, missing, 1},
		{"AGT-5-02/accept-match", vectorFile, "", 0},
		{"AGT-5-02/reject-one-octet", strings.Replace(vectorFile, "/status", "/statuz", 1), mismatch, 1},
		{"AGT-5-03/accept-good-lines", signed("/a ALLOW", "/b DISALLOW x=1"), "", 0},
		{"AGT-5-03/reject-valid-hash-over-bad-line", signed("/a MAYBE"), bad, 2},
		{"AGT-5-03/reject-one-bad-line-among-good", signed("/a ALLOW", "/b", "/c ALLOW"), bad, 3},
		{"AGT-6-01/accept-blanks", signed("/a ALLOW", "/b\tALLOW  x=1 y=2", "/c \t DISALLOW\t"), "", 0},
		{"AGT-6-01/reject-path-alone", signed("/a"), bad, 2},
		{"AGT-6-01/reject-path-and-blank", signed("/a "), bad, 2},
		{"AGT-6-01/reject-action-first", signed("ALLOW /a"), bad, 2},
		{"AGT-6-01/reject-no-blank", signed("/aALLOW"), bad, 2},
		{"AGT-6-01/reject-hashed-without-trailing-blank", hashOf("/a ALLOW") + "\n/a ALLOW \n", mismatch, 1},
		{"AGT-6-02/accept-paths", signed("/ ALLOW", "/a/b;c=1 ALLOW", "/caf%C3%A9 ALLOW", "/café ALLOW", "/a:b@c!$&'()*+,;=-._~ ALLOW"), "", 0},
		{"AGT-6-02/reject-relative", signed("a ALLOW"), bad, 2},
		{"AGT-6-02/reject-star", signed("/x ALLOW", "* ALLOW"), bad, 3},
		{"AGT-6-02/reject-query", signed("/a?b ALLOW"), bad, 2},
		{"AGT-6-02/reject-fragment", signed("/a#b ALLOW"), bad, 2},
		{"AGT-6-02/reject-bad-percent", signed("/a%zz ALLOW"), bad, 2},
		{"AGT-6-02/reject-cut-percent", signed("/a%4 ALLOW"), bad, 2},
		{"AGT-6-02/reject-cut-percent-with-parameter", signed("/a% ALLOW x=1"), bad, 2},
		{"AGT-6-02/reject-control", signed("/a\x01 ALLOW"), bad, 2},
		{"AGT-6-02/reject-del", signed("/a\x7f ALLOW"), bad, 2},
		{"AGT-6-02/reject-brackets", signed("/a[b] ALLOW"), bad, 2},
		{"AGT-6-02/reject-backslash", signed(`/a\b ALLOW`), bad, 2},
		{"AGT-6-03/accept-both-actions", signed("/a ALLOW", "/b DISALLOW"), "", 0},
		{"AGT-6-03/reject-lower-case", signed("/a allow"), bad, 2},
		{"AGT-6-03/reject-title-case", signed("/a Allow"), bad, 2},
		{"AGT-6-03/reject-deny", signed("/a DENY"), bad, 2},
		{"AGT-6-03/reject-allowed", signed("/a ALLOWED"), bad, 2},
		{"AGT-6-03/reject-xallow", signed("/a XALLOW"), bad, 2},
		{"AGT-6-03/reject-lower-case-disallow", signed("/a disallow"), bad, 2},
		{"AGT-6-03/reject-disallowed", signed("/a DISALLOWED"), bad, 2},
		{"AGT-6-03/reject-lower-case-before-a-parameter", signed("/a allow x=1"), bad, 2},
		{"AGT-6-04/accept-parameters", signed("/a ALLOW limit=50", "/b ALLOW x.y-z_1=a%20b:c/d?e@f k= e=a=b"), "", 0},
		{"AGT-6-04/reject-no-equals", signed("/a ALLOW limit"), bad, 2},
		{"AGT-6-04/reject-no-key", signed("/a ALLOW =5"), bad, 2},
		{"AGT-6-04/reject-blank-in-key", signed("/a ALLOW a b=c"), bad, 2},
		{"AGT-6-04/reject-digit-first", signed("/a ALLOW 1k=c"), bad, 2},
		{"AGT-6-04/reject-bad-key", signed("/a ALLOW k*=c"), bad, 2},
		{"AGT-6-04/reject-non-ascii", signed("/a ALLOW k=é"), bad, 2},
		{"AGT-6-04/reject-bad-percent", signed("/a ALLOW k=%zz"), bad, 2},
		{"AGT-6-04/reject-same-key", signed("/a ALLOW k=1 K=2"), bad, 2},
		{"AGT-6-04/reject-same-key-on-disallow", signed("/a DISALLOW limit=1 limit=1"), bad, 2},
		{"AGT-7-01/accept-vector", vectorFile, "", 0},
		{"AGT-7-01/accept-trailing-blanks-hashed", hashOf("/a ALLOW \t\n/b  DISALLOW") + "\n/a ALLOW \t\n\n# x\n/b  DISALLOW\n", "", 0},
		{"AGT-7-01/reject-trailing-blank-not-hashed", hashOf("/a ALLOW") + "\n/a ALLOW \n", mismatch, 1},
		{"AGT-7-01/reject-other-order", hashOf("/b ALLOW\n/a ALLOW") + "\n/a ALLOW\n/b ALLOW\n", mismatch, 1},
		{"AGT-7-02/accept-without-final-line-end", vectorFile, "", 0},
		{"AGT-7-02/reject-final-line-end-hashed", "*fb57f0382f1008779100fa63ea57a582812fcd929db8ba821e398e3f688e13c8\n" + three, mismatch, 1},
		{"AGT-7-02/reject-crlf-hashed", hashOf(strings.TrimSuffix(threeCRLF, "\r\n")) + "\r\n" + threeCRLF, mismatch, 1},
		{"AGT-7-03/reject-second-hash-line", hashOf("/a ALLOW") + "\n" + signed("/a ALLOW"), bad, 2},
		{"AGT-9-01/accept-its-digest-without-directives", "# version: 1.0\n" + empty + "\n", "", 0},
		{"AGT-9-01/reject-as-printed", "# version: 1.0\n" + empty + " \\\n#sample. may not be accurate.\n" + three, missing, 2},
		{"AGT-9-01/reject-hash-line-cleaned", "# version: 1.0\n" + empty + "\n#sample. may not be accurate.\n" + three, mismatch, 2},
		{"AGT-9-02/accept-corrected", "# version: 1.0\n" + vector + "\n#sample. may not be accurate.\n" + three, "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := Parse([]byte(tt.file), Options{})
			if tt.want == "" {
				if err != nil || p.State() != Valid || p.Reason() != lookleap.CodeOK {
					t.Fatalf("got %v, %v", p.State(), err)
				}
				return
			}
			var bad *lookleap.Error
			if !errors.As(err, &bad) || !errors.Is(err, ErrMalformed) || bad.Code != tt.want || lookleap.CodeOf(err) != tt.want {
				t.Fatalf("got %v, want %s", err, tt.want)
			}
			if p != nil {
				t.Error("a failed parse gave a policy")
			}
			if tt.line > 0 && bad.Position.Line != tt.line {
				t.Errorf("line %d, want %d: %v", bad.Position.Line, tt.line, err)
			}
			wantDenied(t, p)
			served := Judge(Response{Status: 200, ContentType: "text/plain", Body: []byte(tt.file)}, Options{})
			want := tt.want
			if strings.HasSuffix(tt.name, "comment-only") { // Parse reads the draft's format, Judge any file
				want = foreign
			}
			if served.State() != Restricted || served.Reason() != want {
				t.Errorf("served: %v, %v", served.State(), served.Reason())
			}
			wantDenied(t, served)
		})
	}
}

// padded returns a valid file of exactly that many bytes.
func padded(size int) string {
	file := signed("/a ALLOW")
	for len(file) < size {
		file += "#" + strings.Repeat("x", min(8000, max(0, size-len(file)-2))) + "\n"
	}
	return file[:size]
}

func numbered(n int, format string) []string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf(format, i)
	}
	return lines
}

func TestDirectiveLimit(t *testing.T) {
	o := Options{Limits: Limits{Directives: 100}}
	t.Run("AGT-2-15/accept-directives", func(t *testing.T) {
		if p := mustParse(t, o, numbered(100, "/%d ALLOW")...); p.Len() != 100 {
			t.Errorf("%d directives", p.Len())
		}
	})
	t.Run("AGT-2-15/reject-directives", func(t *testing.T) {
		if _, err := Parse([]byte(signed(numbered(101, "/%d ALLOW")...)), o); lookleap.CodeOf(err) != lookleap.CodeTooLarge {
			t.Error(err)
		}
	})
	t.Run("AGT-2-15/accept-100000-with-raised-size", func(t *testing.T) {
		o := Options{Limits: Limits{Size: 8 << 20}}
		p := mustParse(t, o, numbered(100_000, "/page/%d DISALLOW")...)
		if d := p.Decide("/page/99999/x"); d.Allowed || d.Line != 100_001 {
			t.Error(d)
		}
	})
	t.Run("AGT-2-15/reject-100001-with-raised-size", func(t *testing.T) {
		o := Options{Limits: Limits{Size: 8 << 20}}
		if _, err := Parse([]byte(signed(numbered(100_001, "/page/%d DISALLOW")...)), o); lookleap.CodeOf(err) != lookleap.CodeTooLarge {
			t.Error(err)
		}
	})
}

// TestPlaces: every error says where, and what to do.
func TestPlaces(t *testing.T) {
	for _, tt := range []struct {
		name         string
		file         string
		line, column int
		hint         string
		says         string
	}{
		{"AGT-5-03/reject-with-column", signed("/a ALLOW", "/b  MAYBE"), 3, 5, "", "MAYBE"},
		{"AGT-6-02/reject-with-column", signed("/café?x ALLOW"), 2, 7, "", "query"},
		{"AGT-6-04/reject-with-column", signed("/a ALLOW x=1 y"), 2, 14, "", "key=value"},
		{"AGT-2-03/reject-with-column", signed("/ab\xff ALLOW"), 2, 4, "", "UTF-8"},
		{"AGT-3-02/reject-with-column", vector + " \\\n/a ALLOW", 1, 66, "", "follows"},
		{"AGT-3-02/reject-short-with-column", vector[:64] + "\n/a ALLOW", 1, 65, "", "63 hex digits"},
		{"AGT-3-04/reject-with-message", "*da39a3ee5e6b4b0d3255bfef95601890afd80709\n", 1, 1, "", "SHA-1"},
		{"AGT-7-02/reject-trailing-newline", hashOf("/a ALLOW\n") + "\n/a ALLOW\n", 1, 1, HintTrailingNewline, "line end after"},
		{"AGT-7-02/reject-crlf", hashOf("/a ALLOW\r\n/b ALLOW") + "\r\n/a ALLOW\r\n/b ALLOW\r\n", 1, 1, HintCRLF, "CRLF"},
		{"AGT-7-02/reject-crlf-and-trailing", hashOf("/a ALLOW\r\n/b ALLOW\r\n") + "\r\n/a ALLOW\r\n/b ALLOW\r\n", 1, 1, HintCRLF, "CRLF"},
		{"AGT-7-02/reject-blank-lines", hashOf("/a ALLOW\n\n/b ALLOW") + "\n/a ALLOW\n\n/b ALLOW\n", 1, 1, HintBlankLines, "blank lines"},
		{"AGT-7-02/reject-blank-lines-and-trailing", hashOf("/a ALLOW\n\n/b ALLOW\n") + "\n/a ALLOW\n\n/b ALLOW\n", 1, 1, HintBlankLines, "blank lines"},
		{"AGT-7-02/reject-blank-lines-below-others", "\n" + hashOf("/a ALLOW\n\n/b ALLOW") + "\n/a ALLOW\n\n/b ALLOW\n", 2, 1, HintBlankLines, "blank lines"},
		{"AGT-7-02/reject-comments-without-trailing", hashOf("#x\n/a ALLOW") + "\n#x\n/a ALLOW\n", 1, 1, HintComments, "comments"},
		{"AGT-7-02/reject-comments", hashOf("#x\n/a ALLOW\n") + "\n#x\n/a ALLOW\n", 1, 1, HintComments, "comments"},
		{"AGT-4-02/reject-with-message", signed("/a ALLOW # note"), 2, 10, "", "comment"},
		{"AGT-9-01/reject-as-printed-with-message", hashOf("") + " \\\n/a ALLOW\n", 1, 66, "", "follows"},
		{"AGT-9-01/reject-empty-digest", hashOf("") + "\n/a ALLOW\n", 1, 1, HintEmpty, "no directives"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse([]byte(tt.file), Options{})
			var bad *lookleap.Error
			if !errors.As(err, &bad) {
				t.Fatal(err)
			}
			var hash HashMismatch
			if detail := new(HashMismatch); errors.As(err, &detail) {
				hash = *detail
			}
			if bad.Position.Line != tt.line || bad.Position.Column != tt.column || hash.Hint != tt.hint {
				t.Errorf("at %d:%d with hint %q: %v", bad.Position.Line, bad.Position.Column, hash.Hint, err)
			}
			if !strings.Contains(bad.Message, tt.says) || bad.Fix == "" {
				t.Errorf("message %q, fix %q", bad.Message, bad.Fix)
			}
			if lines := bytes.SplitAfter([]byte(tt.file), []byte("\n")); len(bytes.Join(lines[:tt.line-1], nil))+tt.column-1 != bad.Position.Offset {
				t.Errorf("offset %d", bad.Position.Offset)
			}
			if bad.Code == CodeHashMismatch && (len(hash.Expected) != 64 || len(hash.Computed) != 64 || hash.Expected == hash.Computed || !strings.Contains(bad.Fix, hash.Computed)) {
				t.Errorf("digests %q and %q", hash.Expected, hash.Computed)
			}
		})
	}
	t.Run("AGT-5-02/reject-any-other-digit", func(t *testing.T) {
		for at := 1; at < len(vector); at++ {
			other := []byte(vectorFile)
			other[at] = map[bool]byte{true: '1', false: '0'}[other[at] == '0']
			if _, err := Parse(other, Options{}); lookleap.CodeOf(err) != CodeHashMismatch {
				t.Errorf("digit %d: %v", at, err)
			}
		}
	})
	t.Run("AGT-5-02/reject-with-both-digests", func(t *testing.T) {
		_, err := Parse([]byte(strings.Replace(vectorFile, "50", "51", 1)), Options{})
		var bad *HashMismatch
		if !errors.As(err, &bad) || "*"+bad.Expected != vector || "*"+bad.Computed != hashOf("/status ALLOW\n/dashboard ALLOW limit=51\n/admin DISALLOW") {
			t.Errorf("%+v", bad)
		}
	})
}

func TestDirectives(t *testing.T) {
	t.Run("AGT-3-13/accept-three-directives", func(t *testing.T) {
		p, err := Parse([]byte(vectorFile), Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"/status ALLOW", "/dashboard ALLOW limit=50", "/admin DISALLOW"}
		var got []string
		for d := range p.Directives() {
			if d.Line != len(got)+2 {
				t.Errorf("%v stands in line %d", d, d.Line)
			}
			got = append(got, d.String())
		}
		if !slices.Equal(got, want) || p.Len() != 3 {
			t.Errorf("got %q", got)
		}
	})
	t.Run("AGT-6-04/accept-parameters-kept", func(t *testing.T) {
		p := mustParse(t, Options{}, "/b\tALLOW  x.y-z_1=a%20b:c/d?e@f \tk= E=a=B\t")
		for d := range p.Directives() {
			want := []Param{{"x.y-z_1", "a%20b:c/d?e@f"}, {"k", ""}, {"E", "a=B"}}
			if d.Path != "/b" || d.Action != Allow || !slices.Equal(d.Params, want) {
				t.Errorf("%+v", d)
			}
		}
	})
	t.Run("AGT-6-05/accept-unknown-kept", func(t *testing.T) {
		p := mustParse(t, Options{}, "/a ALLOW auth=token")
		for d := range p.Directives() {
			if !slices.Equal(d.Params, []Param{{"auth", "token"}}) {
				t.Errorf("%+v", d)
			}
		}
	})
	t.Run("AGT-7-03/accept-one-hash-line-removed", func(t *testing.T) {
		// A "*" at the beginning of a comment or of a path's segment is none.
		if p := mustParse(t, Options{}, "/*x ALLOW"); p.Len() != 1 {
			t.Error(p.Len())
		}
	})
	t.Run("AGT-3-04/accept-sha256-alone", func(t *testing.T) {
		if p, err := Parse([]byte(vectorFile), Options{}); err != nil || p.Integrity() != "sha256:"+vector[1:] {
			t.Error(p.Integrity(), err)
		}
	})
}

func TestMeta(t *testing.T) {
	t.Run("AGT-4-03/accept-metadata", func(t *testing.T) {
		p, err := Parse([]byte("# version: 1.0\n#Generated-By:\ttool 2 \n# version: 2.0\n# see https://shop.example/docs\n#https://x.example\n# no metadata\n"+vectorFile+"# grace-period: 30d\n"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"version": "1.0", "generated-by": "tool 2", "grace-period": "30d"}
		got := p.Meta()
		if len(got) != len(want) {
			t.Errorf("got %q", got)
		}
		for key, value := range want {
			if got[key] != value {
				t.Errorf("%s is %q", key, got[key])
			}
		}
		got["version"] = "changed"
		if p.Meta()["version"] != "1.0" {
			t.Error("the caller changed the policy")
		}
		plain, _ := Parse([]byte(vectorFile), Options{})
		for _, path := range []string{"/status", "/dashboard", "/admin", "/x"} {
			if p.Decide(path).Allowed != plain.Decide(path).Allowed {
				t.Errorf("metadata changed the decision about %s", path)
			}
		}
	})
	t.Run("AGT-4-03/reject-what-is-no-metadata", func(t *testing.T) {
		for _, line := range []string{"# https://shop.example", "# two words: x", "# 1: x", "#: x", "# none", "# " + strings.Repeat("k", 65) + ": x"} {
			if p, err := Parse([]byte(line+"\n"+vectorFile), Options{}); err != nil || len(p.Meta()) != 0 {
				t.Errorf("%s: %q, %v", line, p.Meta(), err)
			}
		}
	})
	t.Run("AGT-4-04/accept-metadata-without-effect", func(t *testing.T) {
		plain, _ := Parse([]byte(vectorFile), Options{})
		p, err := Parse([]byte("# grace-period: 30d\n# allow: /admin\n# unlisted: allow\n"+vectorFile), Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"/admin", "/dashboard", "/status", "/other"} {
			got, want := p.Decide(path), plain.Decide(path)
			if got.Allowed != want.Allowed || got.Code != want.Code || got.Limit != want.Limit {
				t.Errorf("metadata changed %s: %v, want %v", path, got, want)
			}
		}
	})
	t.Run("AGT-4-05/accept-with-finding", func(t *testing.T) {
		p, _ := Parse([]byte("#\n# version: 9\n"+vectorFile), Options{})
		if f, ok := hasFinding(p, codeUnknownVersion); !ok || f.Line != 2 {
			t.Errorf("findings %v", p.Findings())
		}
		if p.Decide("/admin").Allowed || !p.Decide("/status").Allowed {
			t.Error("an unknown version changed a decision")
		}
	})
	t.Run("AGT-4-05/accept-known-version-silently", func(t *testing.T) {
		if p, _ := Parse([]byte("# version: 1.0\n"+vectorFile), Options{}); len(p.Findings()) != 0 {
			t.Errorf("findings %v", p.Findings())
		}
	})
	t.Run("AGT-3-07/accept-with-finding", func(t *testing.T) {
		p, _ := Parse([]byte("\ufeff"+vectorFile), Options{})
		if _, ok := hasFinding(p, lookleap.CodeByteOrderMark); !ok {
			t.Errorf("findings %v", p.Findings())
		}
	})
	t.Run("bounded", func(t *testing.T) {
		p, err := Parse([]byte(vectorFile+strings.Join(numbered(5000, "# k%d: v"), "\n")), Options{})
		if err != nil || len(p.Meta()) != 64 {
			t.Error(len(p.Meta()), err)
		}
	})
}

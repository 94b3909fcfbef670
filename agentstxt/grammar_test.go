package agentstxt

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
)

// TestDirectiveMessages: what is wrong with a line, where, and how to fix it.
func TestDirectiveMessages(t *testing.T) {
	const (
		noAction = `add " ALLOW" or " DISALLOW"`
		either   = "write ALLOW or DISALLOW"
		form     = "write key=value without blanks"
		encode   = "percent-encode it"
		percents = `write "%25" for a percent sign`
		letters  = "use letters, digits, and - _ ."
		own      = "put the comment on a line of its own"
	)
	for _, c := range []struct {
		line         string
		at           int
		message, fix string
	}{
		{"/a", 2, "the path is not followed by an action", noAction},
		{"/a \t", 4, "the path is not followed by an action", noAction},
		{"/a allow", 3, `the action "allow" is not written in capitals`, "write ALLOW"},
		{"/a Disallow x=1", 3, `the action "Disallow" is not written in capitals`, "write DISALLOW"},
		{"/a MAYBE", 3, `the action is "MAYBE", neither ALLOW nor DISALLOW`, either},
		{"/a?b ALLOW", 2, "the path has a query", `end the path before "?": it matches all queries`},
		{"/a#b ALLOW", 2, `"#" is not allowed in a path`, own},
		{"/a\rb ALLOW", 2, "the line contains a carriage return", "end lines with LF or CRLF"},
		{`/a\b ALLOW`, 2, "a backslash is not allowed in a path", `write "/" between segments; a line cannot be continued`},
		{"/a|b ALLOW", 2, `"|" is not allowed in a path`, encode},
		{"/a%2 ALLOW", 2, `"%" in the path is not followed by two hex digits`, percents},
		{"/a%g1 ALLOW", 2, `"%" in the path is not followed by two hex digits`, percents},
		{"/a%1g ALLOW", 2, `"%" in the path is not followed by two hex digits`, percents},
		{"/%41%", 4, `"%" in the path is not followed by two hex digits`, percents},
		{"/%41% ALLOW", 4, `"%" in the path is not followed by two hex digits`, percents},
		{"/a ALLOW #x", 9, "a comment must not follow a directive", own},
		{"/a ALLOW #x=1", 9, "a comment must not follow a directive", own},
		{"/a ALLOW  x", 10, `the parameter "x" is not of the form key=value`, form},
		{"/a ALLOW =x", 9, `the parameter has no name before "="`, form},
		{"/a ALLOW 1=x", 9, "the parameter's name does not begin with a letter", ""},
		{"/a ALLOW ab*=x", 11, `"*" is not allowed in a parameter's name`, letters},
		{"/a ALLOW a=b|", 12, `"|" is not allowed in a parameter's value`, encode},
		{"/a ALLOW a=é", 11, `"Ã" is not allowed in a parameter's value`, encode},
		{"/a ALLOW a=b%4", 12, `"%" in the value is not followed by two hex digits`, percents},
		{"/a ALLOW k=1 x=2 K=3", 17, `the parameter "k" is given twice`, "keep one of them"},
		{"/a ALLOW a=1 b=2 c=3 d=4", 0, "the directive has more than 3 parameters", "use fewer parameters"},
	} {
		d, bad := parseDirective(c.line, 3, nil)
		if bad == nil {
			t.Errorf("%q is read: %+v", c.line, d)
			continue
		}
		tooMany := strings.HasPrefix(c.message, "the directive has more")
		if !tooMany && bad.at != c.at || bad.message != c.message || bad.fix != c.fix || bad.tooMany != tooMany {
			t.Errorf("%q: at %d %s; %s, want at %d %s; %s", c.line, bad.at, bad.message, bad.fix, c.at, c.message, c.fix)
		}
	}
}

// TestFileMessages: what is wrong with a line that is no directive, and how to fix it.
func TestFileMessages(t *testing.T) {
	digits := strings.Repeat("5e", 32)
	for file, want := range map[string]string{
		"*" + digits[:40] + "\n":                "1: the hash line holds a SHA-1 digest; use SHA-256",
		"*" + digits[:40] + " \n":               "42: the hash line has 40 hex digits instead of 64",
		"*" + digits[:41] + "\n":                "43: the hash line has 41 hex digits instead of 64",
		"*" + digits + " \n":                    "66: text follows the digest in the hash line; end the line after the 64th digit: no blank, no backslash, no comment",
		"*" + strings.ToUpper(digits) + "\n":    "1: the hash line has upper-case digits; write the digest in lower case",
		"*" + digits[:63] + "E\n":               "1: the hash line has upper-case digits; write the digest in lower case",
		"*" + digits + "0\n":                    "67: the hash line has 65 hex digits instead of 64",
		"/a ALLOW\n":                            "1: the first line that is neither comment nor blank is not a hash line",
		signed("/a ALLOW", "*"+digits):          "1: the file has a second hash line; keep one, before all directives",
		signed("/a ALLOW", " /b ALLOW"):         "1: the line begins with a blank; remove the blank",
		signed("/a ALLOW", "\t/b ALLOW"):        "1: the line begins with a blank; remove the blank",
		signed("/a ALLOW", "\ufeff/b ALLOW"):    "1: the line begins with a byte order mark; remove it",
		signed("/a ALLOW", "b ALLOW"):           `1: the line does not begin with "/"; a directive is a path, ALLOW or DISALLOW, and parameters`,
		signed("/a ALLOW") + "#\x00":            "2: the file is not UTF-8 text; save it as UTF-8",
		signed("/a ALLOW", "/\ufffd\xff ALLOW"): "5: the file is not UTF-8 text; save it as UTF-8",
		"x" + digits + "\n":                     "1: the file has neither hash line nor directive",
		signed("/a ALLOW", "/bc\xff DISALLOW"):  "4: the file is not UTF-8 text; save it as UTF-8",
	} {
		_, err := Parse([]byte(file), Options{})
		var bad *lookleap.Error
		if !errors.As(err, &bad) {
			t.Errorf("%q: %v", file, err)
			continue
		}
		if got := fmt.Sprintf("%d: %s; %s", bad.Position.Column, bad.Message, bad.Fix); !strings.HasPrefix(got, want) {
			t.Errorf("%q: %s, want %s", file, got, want)
		}
	}
}

// TestEachByte writes each byte into each part of a directive: only those of the grammar are read.
func TestEachByte(t *testing.T) {
	const (
		letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		digits  = "0123456789"
		pchar   = letters + digits + "-._~!$&'()*+,;=:@"
	)
	for _, c := range []struct {
		row, part, before, after string
		allowed                  string
	}{
		{"AGT-6-02", "path", "/a", "b ALLOW", pchar + "/"},
		{"AGT-6-02", "path-with-parameter", "/a", "b ALLOW x=1", pchar + "/"},
		{"AGT-6-02", "first-hex-digit", "/%", "0 ALLOW", digits + "abcdefABCDEF"},
		{"AGT-6-02", "second-hex-digit", "/%4", " ALLOW", digits + "abcdefABCDEF"},
		{"AGT-6-04", "first-of-a-key", "/a ALLOW ", "=1", letters},
		{"AGT-6-04", "key", "/a ALLOW k", "k=1", letters + digits + "-_.="},
		{"AGT-6-04", "value", "/a ALLOW k=1", "1", pchar + "/?"},
		{"AGT-6-04", "hex-digit-of-a-value", "/a ALLOW k=%4", "", digits + "abcdefABCDEF"},
	} {
		for side, allowed := range map[string]bool{"accept": true, "reject": false} {
			t.Run(c.row+"/"+side+"-each-byte-of-"+c.part, func(t *testing.T) {
				for b := range 256 {
					line := c.before + string([]byte{byte(b)}) + c.after
					if b == '\n' || b == ' ' || b == '\t' || strings.IndexByte(c.allowed, byte(b)) >= 0 != allowed {
						continue // white space ends a word or a line
					}
					want := CodeBadDirective
					switch {
					case allowed:
						want = lookleap.CodeOK
					case b == 0, b >= 0x80:
						want = lookleap.CodeNotUTF8
					}
					if _, err := Parse([]byte(signed(line)), Options{}); lookleap.CodeOf(err) != want {
						t.Errorf("%q: %v, want %s", line, err, want)
					}
				}
			})
		}
	}
}

// TestUpperCaseDigits: one upper-case digit makes a hash line none, whichever it is.
func TestUpperCaseDigits(t *testing.T) {
	for _, digit := range []string{"a", "b", "c", "d", "e", "f"} {
		t.Run("AGT-3-02/reject-upper-case-"+digit, func(t *testing.T) {
			file := strings.Replace(vectorFile, digit, strings.ToUpper(digit), 1)
			if _, err := Parse([]byte(file), Options{}); lookleap.CodeOf(err) != CodeHashMissing {
				t.Errorf("%s: %v", file[:65], err)
			}
		})
	}
}

// TestLongMetadata: a key has at most 64 bytes and a value at most 256.
func TestLongMetadata(t *testing.T) {
	for name, c := range map[string]struct {
		key, value int
		want       bool
	}{
		"accept-longest": {64, 256, true}, "reject-longer-key": {65, 1, false}, "reject-longer-value": {1, 257, false},
	} {
		t.Run("AGT-4-03/"+name, func(t *testing.T) {
			key, value := strings.Repeat("k", c.key), strings.Repeat("v", c.value)
			p, err := Parse([]byte("# "+key+": "+value+"\n"+vectorFile), Options{})
			if err != nil || (p.Meta()[key] == value) != c.want || (len(p.Meta()) == 1) != c.want {
				t.Errorf("%v, %v", p.Meta(), err)
			}
		})
	}
}

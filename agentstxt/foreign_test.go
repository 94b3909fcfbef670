package agentstxt

import (
	"strings"
	"testing"
)

// TestForeignFiles: which files are of another format, with one more or one less of what counts.
func TestForeignFiles(t *testing.T) {
	hex := func(n int) string { return strings.Repeat("5e", n)[:n] }
	for _, c := range []struct {
		name, file string
		foreign    bool
	}{
		{"text", "hello\n", true},
		{"nul", "hello\x00\n", false},
		{"nul-first", "\x00hello\n", false},
		{"denial-behind-word", "DISALLOW\n- /a DISALLOW", false},
		{"short-hash", "*" + hex(15), true},
		{"hash", "*" + hex(16), false},
		{"hash-and-more", "*" + hex(16) + "z", false},
		{"list-with-hash", "* " + hex(63), true},
		{"list-with-whole-hash", "* \t" + hex(64), false},
		{"bold-hash", "**" + hex(63), true},
		{"bold-whole-hash", "**" + hex(64), false},
		{"whole-hash-inside", "x *" + hex(64) + " y", false},
		{"longer-hash-inside", "x *" + hex(65), true},
		{"shorter-hash-inside", "x *" + hex(63), true},
		{"hash-inside-after-another", "x *" + hex(3) + "*" + hex(64), false},
		{"hash-in-bold", "x **" + hex(64), true},
		{"hash-in-comment", "x /*" + hex(64), true},
		{"path", "/a", true},
		{"three-capitals", "/a ABC", true},
		{"two-capitals", "/a AB", true},
		{"twelve-capitals", "/a ABCDEFGHIJKL", true},
		{"thirteen-capitals", "/a ABCDEFGHIJKLM", true},
		{"capitals-and-digit", "/a ABC1", true},
		{"two-slips", "/a disalo", false},
		{"three-slips", "/a disal", true},
		{"two-slips-in-allow", "/a alo", false},
		{"three-slips-in-allow", "/a al", true},
		{"later-action", "/a b ALLOW", false},
		{"later-denial", "/a b c DISALLOW", false},
		{"later-word", "/a b allow", true},
		{"invisible", "\u200b \u00a0/a ALLOW", false},
		{"list-with-long-text", "* " + strings.Repeat("see ", 20), true},
		{"other-lines", "x\u2028/a DISALLOW", false},
		{"comment-without-end", "# see /a DISALLOW", true},
		{"comment-before", "# agents\n- /a DISALLOW\n", false},
		{"comment-before-with-action", "# DISALLOW\r- /a DISALLOW\n", false},
		{"denial-after-comments", strings.Repeat("# DISALLOW\n", 100) + "- /a DISALLOW", false},
		{"tag", "<p>/a b</p>", true},
		{"tag-with-action", "<p>/a ALLOW b</p>", false},
		{"tag-with-escaped-line", "<p>x&#10;/a ALLOW</p>", false},
		{"table", "| /a | DISALLOW |", false},
		{"cells", "<td>/a</td><td>ALLOW</td>", false},
		{"quotation", "> `/a` DISALLOW", false},
		{"string", `"/a": "DISALLOW"`, false},
		{"added-line", "+/a DISALLOW", false},
		{"end-tag-before-the-word", "<b>x</b> ALLOW", true},
		{"url-before-the-word", "see https://shop.example/a ALLOW", true},
		{"word-between", "/a and ALLOWED", true},
		{"escaped-first", "&sol;a allow", false},
		{"last-capital", "/a XYZ", true},
		{"mixed-case", "/a DiSaLlOx", false},
		{"tag-with-other-word", "<p>/a DENY</p>", true},
		{"tag-with-path-behind", "<p>b /a ALLOW</p>", false},
		{"cdata", "<![CDATA[/a ALLOW]]>", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := isForeign([]byte(c.file)); got != c.foreign {
				t.Errorf("%.80q: %v", c.file, got)
			}
		})
	}
}

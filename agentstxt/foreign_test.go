package agentstxt

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// decoratedPath says as a pattern what endsWithPath looks for.
var decoratedPath = regexp.MustCompile(`(?:^|[^0-9A-Za-z_.:/%=-]|^[-+]|\x1b\[[0-9;]*m)(?:\\?/|%2[Ff]|=2[Ff]|\\u002[Ff]|\x{FF0F})[^\s"'` + "`" + `|,<>]*?` +
	`(?:[\s"'` + "`" + `|,:*_\[\]]|\pZ|\p{Cf}|\x1b\[[0-9;]*m|<[^<>]*>|%20|=20)+$`)

func checkEndsWithPath(t *testing.T, text string) {
	if got, want := endsWithPath([]byte(text)), decoratedPath.MatchString(text); got != want {
		t.Errorf("%q: %v, want %v", text, got, want)
	}
}

func TestEndsWithPath(t *testing.T) {
	pieces := []string{
		"/", "a", "-", "+", "admin", `\/`, `\`, "%2F", "%2f", "=2F", `\u002F`, "\uff0f", " ", "\t", "\v", `"`, "'", "`", "|", ",", ":", "*", "_", "[", "]",
		"\u00a0", "\u200b", "\u2028", "\x1b[1;31m", "\x1b[m", "\x1b[", "m", "1;", "<b>", "</b>", "<", ">", "%20", "=20", "%2", "0", ".", "http:", "\xff", "é",
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		var text strings.Builder
		for range random.IntN(8) {
			text.WriteString(pieces[random.IntN(len(pieces))])
		}
		if checkEndsWithPath(t, text.String()); t.Failed() {
			return
		}
	}
}

func FuzzEndsWithPath(f *testing.F) {
	f.Add("- `/admin` ")
	f.Add("\x1b[31m/admin\x1b[0m ")
	f.Add("<td>/admin</td><td>")
	f.Fuzz(checkEndsWithPath)
}

// TestForeignFiles: which files are of another format, with one more or one less of what counts.
func TestForeignFiles(t *testing.T) {
	hex := func(n int) string { return strings.Repeat("5e", n)[:n] }
	words := func(n int) string { return strings.Repeat("WE DISALLOW\n", n) }
	for _, c := range []struct {
		name, file string
		foreign    bool
	}{
		{"text", "hello\n", true},
		{"nul", "hello\x00\n", false},
		{"nul-first", "\x00hello\n", false},
		{"denial-behind-word", "DISALLOW\n- /a DISALLOW", false},
		{"long-comment-with-end", "# DISALLOW " + strings.Repeat("x ", denialReach) + "- /a DISALLOW\n", true},
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
		{"long-comment", "# DISALLOW " + strings.Repeat("x ", denialReach) + "- /a DISALLOW", true},
		{"long-comment-before", "# DISALLOW " + strings.Repeat("x ", denialReach) + "\n- /a DISALLOW", false},
		{"path-at-reach", "- /" + strings.Repeat("a", 2<<10-2) + " DISALLOW", false},
		{"path-out-of-reach", "- /" + strings.Repeat("a", 2<<10-1) + " DISALLOW", true},
		{"denial-after-63-words", words(63) + "- /a DISALLOW", false},
		{"denial-after-64-words", words(64) + "- /a DISALLOW", true},
		{"denial-after-comments", strings.Repeat("# DISALLOW\n", 100) + "- /a DISALLOW", false},
		{"tag", "<p>/a b</p>", true},
		{"tag-with-action", "<p>/a allow b</p>", false},
		{"tag-with-escaped-line", "<p>x&#10;/a allow</p>", false},
		{"tag-with-blank", "<p> \u200b/a allow</p>", false},
		{"escaped-first", "&sol;a allow", false},
		{"last-capital", "/a XYZ", true},
		{"mixed-case", "/a DiSaLlOx", false},
		{"tag-with-other-word", "<p>/a DENY</p>", true},
		{"tag-with-path-behind", "<p>b /a allow</p>", true},
		{"cdata", "<![CDATA[/a Allow]]>", false},
		{"tag-with-hash", "<p>*" + hex(16) + "</p>", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := isForeign([]byte(c.file)); got != c.foreign {
				t.Errorf("%.80q: %v", c.file, got)
			}
		})
	}
}

// TestFirstLine: what a finding says about a file of another format.
func TestFirstLine(t *testing.T) {
	for file, want := range map[string]string{
		"":                            "0: it is empty",
		"\n \t\n":                     "0: it is empty",
		"\n \n# a\n\n#b\n":            `3: it has only comments, such as "# a"`,
		"#a\n\n  x y \r\n# b\nz\n":    `3: its first line is "x y"`,
		"\ufeff[x]\n":                 `1: its first line is "[x]"`,
		strings.Repeat("\n", 9) + "x": `10: its first line is "x"`,
	} {
		seen, line := firstLine([]byte(file))
		if got := fmt.Sprint(line, ": ", seen); got != want {
			t.Errorf("%q: %s, want %s", file, got, want)
		}
	}
	if seen, _ := firstLine([]byte(strings.Repeat("ab", 4*maxQuoted))); !strings.HasSuffix(seen, "… (120 more characters)") {
		t.Error(seen)
	}
	for _, c := range []struct {
		file         string
		line, column int
	}{{"\nhello\n", 2, 1}, {"", 0, 0}} {
		p := ignoreForeign([]byte(c.file), Options{})
		if f := p.Findings()[0]; f.Position.Line != c.line || f.Position.Column != c.column || p.State() != Absent || p.foreign != nil {
			t.Errorf("%q: %+v", c.file, f)
		}
	}
	if p := ignoreForeign([]byte("Disallow: /x\n"), Options{}); p.Decide("/x").Allowed || !p.Decide("/y").Allowed {
		t.Error("a rule in the form of robots.txt does not count")
	}
}

// TestLineBreaks: only these characters end a line of a file of another format.
func TestLineBreaks(t *testing.T) {
	for r := range rune(0x3000) {
		if got, want := isLineBreak(r), strings.ContainsRune("\n\v\f\r\u0085\u2028\u2029", r); got != want {
			t.Errorf("%U: %v", r, got)
		}
	}
}

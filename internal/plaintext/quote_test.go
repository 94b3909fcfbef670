package plaintext

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// attack is a case of the attack list, run as the subtest ID/name.
type attack struct{ id, name, input, want string }

func runAttacks(t *testing.T, show func(string) string, attacks []attack) {
	t.Helper()
	done := map[string]bool{}
	for _, a := range attacks {
		if done[a.id] {
			continue
		}
		done[a.id] = true
		t.Run(a.id, func(t *testing.T) {
			for _, c := range attacks {
				if c.id != a.id {
					continue
				}
				t.Run(c.name, func(t *testing.T) {
					got := show(c.input)
					if got != c.want {
						t.Errorf("%s, want %s", got, c.want)
					}
					checkVisible(t, got)
				})
			}
		})
	}
}

// checkVisible checks that what is shown has no control or format character, and nothing else
// that could hide.
func checkVisible(t testing.TB, shown string) {
	t.Helper()
	if !utf8.ValidString(shown) {
		t.Fatalf("%+q is not UTF-8", shown)
	}
	for _, c := range shown {
		if !unicode.IsPrint(c) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, c) || unicode.Is(unicode.Variation_Selector, c) {
			t.Fatalf("%+q shows %U", shown, c)
		}
	}
}

func TestQuoteAttacks(t *testing.T) {
	quote := func(s string) string { return Quote(s, 0) }
	runAttacks(t, quote, []attack{
		{"E04", "reject-clear-line", "\x1b[2K\x1b[1A Trust Root: https://bank.example/", `"\u{1B}[2K\u{1B}[1A Trust Root: https://bank.example/"`},
		{"E04", "reject-hyperlink", "\x1b]8;;https://evil.example\x1b\\bank\x1b]8;;\x1b\\", `"\u{1B}]8;;https://evil.example\u{1B}\\bank\u{1B}]8;;\u{1B}\\"`},
		{"E04", "reject-clipboard", "\x1b]52;c;cm0gLXJm\x07", `"\u{1B}]52;c;cm0gLXJm\u{7}"`},
		{"E04", "reject-c1-csi", "\u009b2K", `"\u{9B}2K"`},
		{"E04", "reject-c1-octet", "\x9b2K", `"\x{9B}2K"`},
		{"E04", "reject-backspace", "rm\b\bls", `"rm\u{8}\u{8}ls"`},
		{"E04", "reject-carriage-return", "evil\rgood", `"evil\u{D}good"`},
		{"E04", "reject-delete", "a\x7fb", `"a\u{7F}b"`},
		{"E04", "reject-nul", "a\x00b", `"a\u{0}b"`},
		{"E04", "reject-forged-escape", `\u{1B}`, `"\\u{1B}"`},
		{"E04", "accept-text", "Pays invoices \u2013 \u00fc\u4e2d\u05d0\u0627 \U0001f600.", "\"Pays invoices \u2013 \u00fc\u4e2d\u05d0\u0627 \U0001f600.\""},

		{"E05", "reject-line-feed", "Refund\nTrust Root: https://good.example/\n[Y/n] y", `"Refund\u{A}Trust Root: https://good.example/\u{A}[Y/n] y"`},
		{"E05", "reject-crlf", "a\r\nb", `"a\u{D}\u{A}b"`},
		{"E05", "reject-line-separator", "a\u2028b\u2029c", `"a\u{2028}b\u{2029}c"`},
		{"E05", "reject-next-line", "a\u0085b", `"a\u{85}b"`},
		{"E05", "reject-vertical-tab", "a\vb\fc", `"a\u{B}b\u{C}c"`},
		{"E05", "reject-closing-quote", `x" Trust Root: "good.example`, `"x\" Trust Root: \"good.example"`},
		{"E05", "reject-escaped-quote", `x\" Trust Root: y`, `"x\\\" Trust Root: y"`},
		{"E05", "reject-final-backslash", `x\`, `"x\\"`},
		{"E05", "reject-blanks", "a" + strings.Repeat(" ", 6) + "Trust Root:", `"a   \u{20}\u{20}\u{20}Trust Root:"`},
		{"E05", "reject-cut-mark", `x"… (3 more characters)`, `"x\"… (3 more characters)"`},

		{"C19", "reject-tags", "hi\U000e0001\U000e0072\U000e006d", `"hi\u{E0001}\u{E0072}\u{E006D}"`},
		{"C19", "reject-zero-width", "a\u200bb\u200cc\u200dd\u2060e\ufefff", `"a\u{200B}b\u{200C}c\u{200D}d\u{2060}e\u{FEFF}f"`},
		{"C19", "reject-variation-selectors", "a\ufe0f\ufe00\U000e0100b", `"a\u{FE0F}\u{FE00}\u{E0100}b"`},
		{"C19", "reject-bidi", "a\u202eb\u2066c\u2069d\u200fe\u061cf", `"a\u{202E}b\u{2066}c\u{2069}d\u{200F}e\u{61C}f"`},
		{"C19", "reject-soft-hyphen", "pass\u00adword", `"pass\u{AD}word"`},
		{"C19", "reject-invisible-operators", "a\u2061\u2064b\u206f", `"a\u{2061}\u{2064}b\u{206F}"`},
		{"C19", "reject-fillers", "\u115f\u1160\u3164\uffa0\u2800\u034f\u17b4", `"\u{115F}\u{1160}\u{3164}\u{FFA0}\u{2800}\u{34F}\u{17B4}"`},
		{"C19", "reject-annotation", "\ufff9a\ufffab\ufffb\ufffc", `"\u{FFF9}a\u{FFFA}b\u{FFFB}\u{FFFC}"`},
		{"C19", "reject-musical-format", "\U0001d173\U0001d17a\U0001d159", `"\u{1D173}\u{1D17A}\u{1D159}"`},
		{"C19", "reject-spaces", "a\u00a0b\u2003c\u3000d", `"a\u{A0}b\u{2003}c\u{3000}d"`},
		{"C19", "reject-private-use", "\ue000\U000f0000\U0010fffd", `"\u{E000}\u{F0000}\u{10FFFD}"`},
		{"C19", "reject-unassigned", "\u0378\U000e01f0\u2065\ufff0", `"\u{378}\u{E01F0}\u{2065}\u{FFF0}"`},
		{"C19", "reject-noncharacters", "\ufdd0\ufffe\U0010ffff", `"\u{FDD0}\u{FFFE}\u{10FFFF}"`},
		{"C19", "reject-invalid-utf8", "\xff\xc0\xae\xed\xa0\x80", `"\x{FF}\x{C0}\x{AE}\x{ED}\x{A0}\x{80}"`},
		{"C19", "reject-mark-on-quote", "\u0338x", `"\u{338}x"`},
		{"C19", "reject-mark-on-escape", "\x1b\u0301x\\\u0301", `"\u{1B}\u{301}x\\\u{301}"`},
		{"C19", "reject-mark-flood", "e\u0301\u0302\u0303\u0304\u0305\u0306", "\"e\u0301\u0302\u0303\u0304" + `\u{305}\u{306}"`},
		{"C19", "reject-strike-through", "n\u0336o\u0337t\u20dd", `"n\u{336}o\u{337}t\u{20DD}"`},
		{"C19", "accept-marks", "e\u0301 Vie\u0323\u0302t \u0e01\u0e35\u0e48", "\"e\u0301 Vie\u0323\u0302t \u0e01\u0e35\u0e48\""},
		{"C19", "accept-replacement-character", "a\ufffdb", "\"a\ufffdb\""},

		{"K19", "reject-terminal-link-in-detail", "\x1b]8;;https://evil.example\a<b>log in\"</b>", `"\u{1B}]8;;https://evil.example\u{7}<b>log in\"</b>"`},
	})
}

func TestQuoteLimit(t *testing.T) {
	for _, c := range []struct {
		name, input string
		limit       int
		want        string
	}{
		{"exact", "abc", 3, `"abc"`},
		{"cut", "abcd", 3, "\"abc\"\u2026 (1 more character)"},
		{"wide-characters", "\u00e4\u4e2d\U0001f600x", 3, "\"\u00e4\u4e2d\U0001f600\"\u2026 (1 more character)"},
		{"escape-does-not-fit", "ab\x1bcd", 7, "\"ab\"\u2026 (3 more characters)"},
		{"escape-fits", "ab\x1b", 8, `"ab\u{1B}"`},
		{"quote-does-not-fit", `ab"`, 3, "\"ab\"\u2026 (1 more character)"},
		{"first-does-not-fit", "\x1b", 1, "\"\"\u2026 (1 more character)"},
		{"nothing", "", 1, `""`},
		{"default", strings.Repeat("a", DefaultLimit), 0, `"` + strings.Repeat("a", DefaultLimit) + `"`},
		{"octets", "\xff\xff\xff", 6, "\"\\x{FF}\"\u2026 (2 more characters)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Quote(c.input, c.limit); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
	t.Run("E08", func(t *testing.T) {
		t.Run("reject-long-text", func(t *testing.T) {
			got := Quote(strings.Repeat("a", 4000), 100)
			if want := `"` + strings.Repeat("a", 100) + "\"\u2026 (3900 more characters)"; got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	})
}

// A hostile text costs time in proportion to its length and memory in proportion to the limit.
func TestQuoteHuge(t *testing.T) {
	huge := strings.Repeat("\x1b", 10<<20)
	if got := Quote(huge, 100); len(got) > 200 {
		t.Errorf("%d octets", len(got))
	}
	if got := Block(strings.Repeat("\n", 10<<20), 100); len(got) > 400 {
		t.Errorf("%d octets", len(got))
	}
}

func TestBlock(t *testing.T) {
	long := strings.Repeat("a", rowLength)
	for _, c := range []struct {
		name, input string
		limit       int
		want        string
	}{
		{"nothing", "", 0, ""},
		{"lines", "a\nb\r\n\n  c\n", 0, "| a\n| b\n| \n|   c\n"},
		{"no-final-break", "a", 0, "| a\n"},
		{"as-it-is", `say "hi"` + strings.Repeat(" ", 8) + "x", 0, `| say "hi"` + strings.Repeat(" ", 8) + "x\n"},
		{"escapes", "\x1b[2K\\\tx\ry\u202e\n\u0301", 0, `| \u{1B}[2K\\\u{9}x\u{D}y\u{202E}` + "\n" + `| \u{301}` + "\n"},
		{"other-line-breaks", "a\u2028b\u0085c\v", 0, `| a\u{2028}b\u{85}c\u{B}` + "\n"},
		{"forged-row", "a\n| b\n\u2026 (9 more characters)", 0, "| a\n| | b\n| \u2026 (9 more characters)\n"},
		{"full-row", long + "\nb", 0, "| " + long + "\n| b\n"},
		{"long-line", long + "bc\nd", 0, "| " + long + "\n: bc\n| d\n"},
		{"long-line-of-words", long[:95] + " whole word", 0, "| " + long[:95] + " \n: whole word\n"},
		{"word-that-fits", long[:95] + " word", 0, "| " + long[:95] + " word\n"},
		{"word-that-is-too-long", long[:90] + " " + long[:41], 0, "| " + long[:90] + " " + long[:9] + "\n: " + long[:32] + "\n"},
		{"mark-after-row", long + "\u0301", 0, "| " + long + "\n: \\u{301}\n"},
		{"cut", "ab\ncd", 4, "| ab\n| c\n\u2026 (1 more character)\n"},
		{"cut-before-line", "ab\ncd", 3, "| ab\n\u2026 (2 more characters)\n"},
		{"final-break-is-not-cut", "ab\n", 2, "| ab\n"},
		{"escape-does-not-fit", "a\x1b", 3, "| a\n\u2026 (1 more character)\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Block(c.input, c.limit)
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
			checkRows(t, got)
		})
	}
}

func checkRows(t testing.TB, block string) {
	t.Helper()
	for row := range strings.Lines(block) {
		text, ok := strings.CutSuffix(row, "\n")
		if !ok || !strings.HasPrefix(row, "| ") && !strings.HasPrefix(row, ": ") && !strings.HasPrefix(row, "\u2026 (") {
			t.Fatalf("row %q", row)
		}
		checkVisible(t, text)
	}
}

// unquote reverses Quote for a text that was not cut.
func unquote(shown string) (string, error) {
	if len(shown) < 2 || shown[0] != '"' || shown[len(shown)-1] != '"' {
		return "", errors.New("not in quotes")
	}
	rest := shown[1 : len(shown)-1]
	var b strings.Builder
	for rest != "" {
		if rest[0] == '"' {
			return "", errors.New("a quotation mark inside")
		}
		if rest[0] != '\\' {
			b.WriteByte(rest[0])
			rest = rest[1:]
			continue
		}
		if len(rest) < 2 {
			return "", errors.New("a backslash at the end")
		}
		kind, tail := rest[1], rest[2:]
		switch kind {
		case '"', '\\':
			b.WriteByte(kind)
		case 'u', 'x':
			digits, after, ok := strings.Cut(strings.TrimPrefix(tail, "{"), "}")
			n, err := strconv.ParseUint(digits, 16, 32)
			if !ok || err != nil {
				return "", fmt.Errorf("escape %q", rest)
			}
			if kind == 'x' {
				b.WriteByte(byte(n))
			} else {
				b.WriteRune(rune(n))
			}
			tail = after
		default:
			return "", fmt.Errorf("escape %q", rest)
		}
		rest = tail
	}
	return b.String(), nil
}

func checkQuote(t testing.TB, text string) {
	shown := Quote(text, 10*len(text)+1)
	checkVisible(t, shown)
	back, err := unquote(shown)
	if err != nil || back != text {
		t.Fatalf("%q is shown as %s, which is %q, %v", text, shown, back, err)
	}
	cut := Quote(text, 5)
	checkVisible(t, cut)
	content, _, isCut := strings.Cut(cut, "\"\u2026 (")
	if isCut == (utf8.RuneCountInString(shown) <= 5+2) {
		t.Fatalf("%q with 5 characters is %s", text, cut)
	}
	if isCut && (utf8.RuneCountInString(content) > 5+1 || !strings.HasPrefix(shown, content)) {
		t.Fatalf("%q with 5 characters is %s", text, cut)
	}
	checkRows(t, Block(text, 10*len(text)+1))
	checkRows(t, Block(text, 5))
	if hidden := Count(text).Total(); hidden > strings.Count(shown, `\u{`)+strings.Count(shown, `\x{`) {
		t.Fatalf("%q hides %d characters, shown as %s", text, hidden, shown)
	}
}

func FuzzQuote(f *testing.F) {
	for _, s := range []string{"", "Pay now", "\x1b[2K\"\\", "a\r\nb\u2028", "\u202e\u2066\u200d\ufe0f\U000e0041", "\xff\xc0\xae", "e\u0301\u0301\u0301\u0301\u0301\u0336", "a     b", `\u{1B}\x{FF}`, "\ufffd\ufffc\u3164\u0378", strings.Repeat("ab\n", 50)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) { checkQuote(t, text) })
}

// Texts of troublesome characters, and each code point there is.
func TestQuoteProperty(t *testing.T) {
	troublesome := []string{`"`, `\`, "\\u{", "}", " ", "  ", "\n", "\r\n", "\t", "\x1b[", "\u0301", "\u0336", "\u200d", "\u202e", "\U000e0041", "\xff", "\xed\xa0\x80", "a", "\u05d0", "\u0939\u0940", "\ufffd"}
	rapid.Check(t, func(rt *rapid.T) {
		checkQuote(t, strings.Join(rapid.SliceOf(rapid.SampledFrom(troublesome)).Draw(rt, "text"), ""))
	})
	for c := rune(0); c <= unicode.MaxRune; c++ {
		text := "x" + string(c) + "y"
		shown := Quote(text, 0)
		checkVisible(t, shown)
		if back, err := unquote(shown); err != nil || back != text {
			t.Fatalf("%U is shown as %s, which is %q, %v", c, shown, back, err)
		}
	}
}

func TestLine(t *testing.T) {
	for in, want := range map[string]string{
		"a sentence":                     "a sentence",
		`said "\u{1B}[2K" to C:\x`:       `said "\u{1B}[2K" to C:\x`,
		"forged\nYes: example.com":       `forged\u{A}Yes: example.com`,
		"\x1b[2K\u202e\u200b\U000E0041x": `\u{1B}[2K\u{202E}\u{200B}\u{E0041}x`,
		"\xff":                           `\x{FF}`,
	} {
		if got := Line(in); got != want {
			t.Errorf("Line(%q) = %q, want %q", in, got, want)
		}
	}
	if long := Line(strings.Repeat("x", 1<<20)); len(long) > 17<<10 || !strings.Contains(long, "more characters") {
		t.Errorf("a sentence of 1 MiB became %d octets", len(long))
	}
}

// TestClip: a text that fits stays as it is, and no character is cut in two.
func TestClip(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		want string
	}{
		{"abc", 4, "abc"}, {"abc", 3, "abc"}, {"abc", 2, "ab…"}, {"a\u00fc", 2, "a…"}, {"", 0, ""},
	} {
		if got := Clip(c.text, c.most); got != c.want {
			t.Errorf("Clip(%q, %d) = %q, want %q", c.text, c.most, got, c.want)
		}
	}
}

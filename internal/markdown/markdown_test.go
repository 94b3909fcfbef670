package markdown_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lookleap/lookleap/internal/markdown"
)

// read lists the blocks and items of a text, one a line.
func read(text string) string {
	var b strings.Builder
	reader := markdown.NewReader(text)
	markdown.Blocks(text, func(block *markdown.Block) bool {
		if block.Kind != markdown.Prose {
			fmt.Fprintf(&b, "%d %q %q\n", block.Kind, block.Info, block.Text(text))
			return true
		}
		reader.Items(block, func(i markdown.Item) { fmt.Fprintf(&b, "  %d %q at %d\n", i.Kind, i.Text, i.Start) })
		return true
	})
	return b.String()
}

// outline lists the blocks of a text with their places and, of prose, the items, and the
// definitions that links refer to.
func outline(text string) string {
	var parts []string
	reader := markdown.NewReader(text)
	markdown.Blocks(text, func(b *markdown.Block) bool {
		part := fmt.Sprintf("%d-%d", b.Start, b.End)
		switch b.Kind {
		case markdown.Code:
			part += fmt.Sprintf(" code %q", b.Text(text))
			if b.Info != "" {
				part += fmt.Sprintf(" of %q", b.Info)
			}
		case markdown.HTML:
			part += fmt.Sprintf(" html %q", b.Text(text))
		default:
			reader.Items(b, func(i markdown.Item) {
				part += fmt.Sprintf(" %d:%s%q", i.Start, []string{"", "code ", "tag ", "link ", "define "}[i.Kind], i.Text)
				if i.Label != "" {
					part += fmt.Sprintf(" as %q", i.Label)
				}
				if i.Title != "" {
					part += fmt.Sprintf(" titled %q", i.Title)
				}
			})
		}
		parts = append(parts, part)
		return true
	})
	for _, d := range reader.Definitions() {
		if d.Used {
			parts = append(parts, fmt.Sprintf("uses %d", d.Start))
		}
	}
	return strings.Join(parts, "; ")
}

// TestNesting: a text with 32 containers in each other is code from there on.
func TestNesting(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"31 quotes":                    {strings.Repeat(">", 31) + " a\n\nb", `0-34 32:"a"; 35-36 35:"b"`},
		"32 quotes":                    {strings.Repeat(">", 32) + " a\n\nb", `0-37 code "a\n\nb"`},
		"32 items, the last one blank": {strings.Repeat("+ ", 31) + "+    \na", `0-69 code "\na"`},
		"32 items":                     {strings.Repeat("- ", 32) + "a\n\nb", `0-68 code "a\n\nb"`},
	} {
		if got := outline(c.text); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

// TestLongLabels: a label of more than 999 bytes is none.
func TestLongLabels(t *testing.T) {
	for length, want := range map[int]int{999: 1, 1000: 0} {
		label := strings.Repeat("a", length)
		reader := markdown.NewReader("[" + label + "]: b")
		if n := len(reader.Definitions()); n != want {
			t.Errorf("%d bytes: %d definitions", length, n)
		}
		for _, link := range []string{"[x][" + label + "]", "[" + label + "]", "[" + label + "][]"} {
			text := "[" + label[1:] + "]: b\n[" + label + "]: c\n\n" + link
			if got := strings.HasSuffix(outline(text), fmt.Sprintf("uses %d", 2*length+9)); got != (want == 1) {
				t.Errorf("%d bytes, %.3s: a link: %t", length, link, got)
			}
		}
	}
}

func TestUnescape(t *testing.T) {
	for text, want := range map[string]string{
		"a": "a", "": "", `a\ b`: `a\ b`, `\`: `\`, `\\`: `\`, `\a\é`: `\a\é`, `\&amp;`: "&amp;", "&": "&", "&;": "&;", "&a;": "&a;",
		"&amp;lt;": "&lt;", "&amp": "&amp", "&copy;&copy": "©&copy", "&nosuch;": "&nosuch;", "&copyx;": "&copyx;", "&lt;&gt;": "<>",
		"&#65;&#x41;&#X41;": "AAA", "&#;": "&#;", "&#x;": "&#x;", "&#a;": "&#a;", "&#xg;": "&#xg;", "&#x 1;": "&#x 1;",
		"&#1114111;": "\U0010FFFF", "&#1114112;": "\uFFFD", "&#9999999;": "\uFFFD", "&#00000065;": "&#00000065;", "&#0000065;": "A",
		"&#x10FFFF;": "\U0010FFFF", "&#x110000;": "\uFFFD", "&#x000041;": "A", "&#x0000041;": "&#x0000041;",
		"&#0;": "\uFFFD", "&#x0;": "\uFFFD", "&#xD800;": "\uFFFD", "&CounterClockwiseContourIntegral;": "∳", "&semi;": ";",
		"&" + strings.Repeat("a", 60) + "&amp;":   "&" + strings.Repeat("a", 60) + "&",
		`\!\/\:\@\[\` + "\\`" + `\{\~\0\9\A\Z\z `: `!/:@[` + "\\`" + `{~\0\9\A\Z\z `,
	} {
		if got := markdown.Unescape(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestRead(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"nested", "> - ```a&#98; c\n>   x\n>\n>   y\n", "1 \"ab c\" \"x\\n\\ny\\n\"\n"},
		{"lazy", "> a\nb\n", "  0 \"a\" at 2\n  0 \"b\" at 4\n"},
		{"tab", "-\t\tx\n", "1 \"\" \"  \\tx\\n\"\n"},
		{"link", "a [b `c`](<d\\>> 'e') f\n", "  0 \"a [b \" at 0\n  1 \"c\" at 6\n  0 \"]\" at 8\n  3 \"d>\" at 11\n  0 \" f\" at 20\n"},
		{"reference", "[A  ẞ]\n\n[a ss]: x\n", "  0 \"[A  ẞ]\" at 0\n  4 \"x\" at 18\n"},
		{"HTML", "a <b c='>'> <!-- d -->\n", "  0 \"a \" at 0\n  2 \"<b c='>'>\" at 2\n  0 \" \" at 11\n  2 \"<!-- d -->\" at 12\n"},
		{"setext", "[a]: b\nc\n===\nd\n", "  4 \"b\" at 5\n  0 \"c\" at 7\n  0 \"d\" at 13\n"},
		{"no-entity", "[a](&copy &nosuch; &#1114112;)", "  0 \"[a](&copy &nosuch; &#1114112;)\" at 0\n"},
		{"entities", "[a](<&copy &copyx; &semi;&#0;>)", "  0 \"[a]\" at 0\n  3 \"&copy &copyx; ;\ufffd\" at 5\n"},
		{"CR", "a\r\n\r\n    b\r", "  0 \"a\" at 0\n1 \"\" \"    b\\r\"\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := read(c.text); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// FuzzRead holds blocks and items to their places in the source.
func FuzzRead(f *testing.F) {
	f.Add("- ```sh\n  make\n  ```\n> [a](<b c> 'd')\n\n[x]: y\n[x] ![z](w) <https://h.example/> <pre>\n\t1) \tx\n===\n")
	f.Fuzz(func(t *testing.T, text string) {
		reader, end := markdown.NewReader(text), 0
		markdown.Blocks(text, func(b *markdown.Block) bool {
			if b.Start < end || b.End <= b.Start || b.End > len(text) {
				t.Fatalf("block %+v after %d", b, end)
			}
			end = b.End
			at := b.Start
			for _, r := range b.Runs {
				if r.Start < at || r.End < r.Start || r.End > b.End {
					t.Fatalf("run %+v of %+v", r, b)
				}
				at = r.End
			}
			if b.Kind == markdown.Prose {
				reader.Items(b, func(i markdown.Item) {
					if i.Start < b.Start || i.Start > b.End || i.Kind < markdown.Tag && !strings.HasPrefix(text[i.Start:], i.Text) {
						t.Fatalf("item %+v of %+v", i, b)
					}
				})
			}
			return true
		})
	})
}

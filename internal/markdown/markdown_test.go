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

func TestUsedDefinitions(t *testing.T) {
	const text = "[a]: b\n[c]: d\n[a]: e\n\n[x][A]\n"
	reader := markdown.NewReader(text)
	markdown.Blocks(text, func(b *markdown.Block) bool { reader.Items(b, func(markdown.Item) {}); return true })
	if got := fmt.Sprint(reader.Definitions()); got != "[{4 b 5 a  true} {4 d 12 c  false}]" {
		t.Error(got)
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

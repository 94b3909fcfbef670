package bench

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	goldmarkhtml "github.com/yuin/goldmark/renderer/html"
	"golang.org/x/net/html"

	"github.com/lookleap/lookleap/internal/markdown"
)

// outline is what a text links to and the code in it.
type outline struct{ links, code []string }

// ourOutline reads a text with package markdown.
func ourOutline(text string) (o outline) {
	r := markdown.NewReader(text)
	markdown.Blocks(text, func(b *markdown.Block) bool {
		switch content := b.Text(text); b.Kind {
		case markdown.Code:
			o.code = append(o.code, strings.TrimRight(content, "\n"))
		case markdown.HTML:
			o.add(content)
		default:
			r.Items(b, func(i markdown.Item) {
				switch i.Kind {
				case markdown.Link:
					o.links = append(o.links, decoded(i.Text))
				case markdown.Tag:
					o.add(i.Text)
				}
			})
		}
		return true
	})
	for _, d := range r.Definitions() {
		if d.Used {
			o.links = append(o.links, decoded(d.Text))
		}
	}
	return o.sorted()
}

// peerOutline reads what another parser rendered.
func peerOutline(rendered string) (o outline) {
	o.add(rendered)
	return o.sorted()
}

// add takes links and code of HTML.
func (o *outline) add(source string) {
	tokens := html.NewTokenizer(strings.NewReader(source))
	pre := false
	for {
		switch tokens.Next() {
		case html.ErrorToken:
			return
		case html.StartTagToken, html.SelfClosingTagToken:
			t := tokens.Token()
			for _, a := range t.Attr {
				if a.Key == "href" || a.Key == "src" {
					o.links = append(o.links, decoded(a.Val))
				}
			}
			if t.Data == "pre" {
				pre = true
			} else if pre && t.Data == "code" {
				pre = false
				code := ""
				if tokens.Next() == html.TextToken {
					code = tokens.Token().Data
				}
				o.code = append(o.code, strings.TrimRight(code, "\n"))
			}
		}
	}
}

func (o outline) sorted() outline {
	slices.Sort(o.links)
	o.links = slices.Compact(o.links)
	for i, c := range o.code {
		o.code[i] = withoutIndentation(c)
	}
	return o
}

// withoutIndentation makes code comparable that this module returns with its indentation.
func withoutIndentation(code string) string {
	var b strings.Builder
	for line := range strings.Lines(code) {
		b.WriteString(strings.TrimLeft(line, " \t"))
	}
	return strings.Trim(strings.TrimRight(b.String(), " \t\r\n"), "\n")
}

func decoded(link string) string {
	if plain, err := url.PathUnescape(link); err == nil {
		return plain
	}
	return link
}

func compareOutlines(t *testing.T, text string, ours, peers outline) {
	t.Helper()
	if strings.Contains(text, "![") { // links in the description of an image are not links of the page; they are reported all the same
		ours.links = slices.DeleteFunc(ours.links, func(l string) bool { return !slices.Contains(peers.links, l) })
	}
	if !slices.Equal(ours.links, peers.links) {
		t.Errorf("links of %q: %q, the other parser has %q", text, ours.links, peers.links)
	}
	if !slices.Equal(ours.code, peers.code) {
		t.Errorf("code of %q: %q, the other parser has %q", text, ours.code, peers.code)
	}
}

// TestCommonMark compares links and code with the examples of the specification, which the module
// goldmark carries.
func TestCommonMark(t *testing.T) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/yuin/goldmark").Output()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "_test", "spec.json"))
	if err != nil {
		t.Fatal(err)
	}
	var examples []struct {
		Markdown, HTML string
		Example        int
	}
	if err := json.Unmarshal(data, &examples); err != nil || len(examples) < 600 {
		t.Fatal(len(examples), err)
	}
	for _, e := range examples {
		ours, peers := ourOutline(e.Markdown), peerOutline(e.HTML)
		compareOutlines(t, e.Markdown, ours, peers)
	}
}

// markdownPieces are what generated texts are made of. Tabs, open parentheses and open HTML are
// left out: there the peer differs from the specification, or its output does not show which
// text was HTML.
var markdownPieces = []string{"a", "b ", "\n", "\n", "\n\n", "    ", "  ", "- ", "* ", "1. ", "2) ", "> ", ">", "# ", "```", "```sh\n", "~~~", "`", "``", "<div>",
	"<a href='x'>", "</a>", "[", "]", "![", "](", "](/u)", ")", "<", ">", "[a]: /d\n", "[a]", "[b]: <e> 't'\n", "[b][]", "[x][a]", " \"t\"", "\\", "*", "_", "---", "===", "&amp;", "<http://h.example/>"}

// TestGeneratedCommonMark compares links and code of generated texts with those of goldmark.
func TestGeneratedCommonMark(t *testing.T) {
	peer := goldmark.New(goldmark.WithRendererOptions(goldmarkhtml.WithUnsafe()))
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		var text strings.Builder
		for range 2 + random.IntN(20) {
			text.WriteString(markdownPieces[random.IntN(len(markdownPieces))])
		}
		var b bytes.Buffer
		if err := peer.Convert([]byte(text.String()), &b); err != nil {
			t.Fatal(err)
		}
		compareOutlines(t, text.String(), ourOutline(text.String()), peerOutline(b.String()))
	}
}

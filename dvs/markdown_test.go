package dvs_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap/dvs"
)

func withBody(t testing.TB, body string) *dvs.Skill {
	t.Helper()
	skill, _, err := dvs.ParseSkill([]byte("---\nname: a\ndescription: b\n---\n"+body), dvs.DVS, dvs.Limits{Skill: 4 << 20})
	if err != nil {
		t.Fatal(err)
	}
	return skill
}

func TestBlocks(t *testing.T) {
	skill := withBody(t, "Run this:\n\n```sh -x\ncurl https://x.example | sh\n```\n\ntext\n\n    make\n    install\n\n- item\n\n    more of the item\n\n~~~\n```\n~~~\n")
	var got []string
	for _, b := range skill.Blocks() {
		got = append(got, fmt.Sprintf("%d %v %s %q", b.Line, b.Code, b.Language, b.Text))
	}
	want := []string{
		`5 false  "Run this:\n\n"`,
		`8 true sh "curl https://x.example | sh\n"`,
		`10 false  "\ntext\n\n"`,
		`13 true  "    make\n    install\n\n"`,
		`16 false  "- item\n\n    more of the item\n\n"`,
		"21 true  \"```\\n\"",
	}
	t.Run("E11/accept-code-is-marked", func(t *testing.T) {
		if !slices.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
	t.Run("E11/reject-unclosed-code-as-text", func(t *testing.T) {
		blocks := withBody(t, "x\n```\nrm -rf .\n\n# Title\n").Blocks()
		if len(blocks) != 2 || !blocks[1].Code || !strings.Contains(blocks[1].Text, "rm") {
			t.Errorf("%+v", blocks)
		}
	})
}

func TestReferences(t *testing.T) {
	for _, c := range []struct {
		id, name, body string
		want           []string
	}{
		{"DVS-4.4-03", "accept-link", "See [x](ADVANCED.md).", []string{"ADVANCED.md"}},
		{"DVS-4.4-03", "accept-title-and-fragment", `[x](a.md#top "t") [y](<b c.md>)`, []string{"a.md", "b c.md"}},
		{"DVS-4.4-03", "accept-image", "![x](assets/a.png)", []string{"assets/a.png"}},
		{"DVS-4.4-03", "accept-definition", "[x]: data/x.json 'title'\n", []string{"data/x.json"}},
		{"DVS-4.4-03", "accept-autolink", "<https://h.example/a> and https://h.example/b.", []string{"https://h.example/a", "https://h.example/b"}},
		{"DVS-4.4-03", "accept-plain-path", "run the script at scripts/process.py or `scripts/b.sh`", []string{"scripts/process.py", "scripts/b.sh"}},
		{"DVS-4.4-03", "accept-path-in-code", "```sh\npython scripts/process.py ../x/y.json\n```\n", []string{"scripts/process.py", "../x/y.json"}},
		{"DVS-4.4-03", "accept-parentheses", "[x](a_(b).md)", []string{"a_(b).md"}},
		{"DVS-4.4-03", "accept-other-schemes-for-the-guard", "[x](javascript:alert) [y](//evil.example/x)", []string{"javascript:alert", "//evil.example/x"}},
		{"DVS-4.4-03", "reject-words", "e.g. this, package.json, 1.5 and and/or #x [y](#top)", nil},
		{"DVS-4.4-03", "reject-links-in-code", "```\n[x](evil.example) <https://h.example/>\n```\n", nil},
	} {
		t.Run(c.id+"/"+c.name, func(t *testing.T) {
			var got []string
			for _, r := range withBody(t, c.body).References() {
				got = append(got, r.Target)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
	t.Run("positions", func(t *testing.T) {
		skill := withBody(t, "x\n\n é [x](a.md)\n")
		r := skill.References()[0]
		if r.Line != 7 || r.Column != 9 || skill.Body[r.Offset-skill.BodyPosition.Offset:][:4] != "a.md" {
			t.Errorf("%+v", r)
		}
	})
}

// markdownPieces are what a mebibyte of beginnings without an end is made of.
var markdownPieces = map[string]string{
	"emphasis": "*a_", "links": "[a](", "brackets": "]([", "definitions": "\n[a]: ", "angles": "](<", "paths": "a/b.", "urls": "https://", "fences": "```\n", "parentheses": "](((((((", "indented": "\n\n    a",
}

func TestMarkdownIsLinear(t *testing.T) {
	for name, piece := range markdownPieces {
		t.Run("C17/accept-"+name, func(t *testing.T) {
			body := strings.Repeat(piece, 1<<20/len(piece))
			skill := withBody(t, body)
			checkCost(t, func() {
				skill.Blocks()
				skill.References()
			})
		})
	}
	t.Run("C17/reject-more-than-the-limit", func(t *testing.T) {
		if _, _, err := dvs.ParseSkill([]byte("---\nname: a\ndescription: b\n---\n"+strings.Repeat("[a](", 1<<19)), dvs.DVS, dvs.Limits{}); err == nil {
			t.Error("accepted")
		}
	})
}

func FuzzReferences(f *testing.F) {
	f.Add("See [x](ADVANCED.md#y) and `scripts/a.py` <https://h.example/>\n[x]: y\n```sh\nmake\n```\n    code\n")
	f.Fuzz(func(t *testing.T, body string) {
		s := &dvs.Skill{Body: body}
		for _, r := range s.References() {
			if r.Target == "" || !strings.HasPrefix(body[r.Offset:], r.Target) {
				t.Fatalf("%+v", r)
			}
		}
		last := 0
		for _, b := range s.Blocks() {
			if b.Offset < last || body[b.Offset:b.Offset+len(b.Text)] != b.Text {
				t.Fatalf("%+v", b)
			}
			last = b.Offset + len(b.Text)
		}
	})
}

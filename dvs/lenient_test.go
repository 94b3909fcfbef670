package dvs_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
)

// TestLenient shows what people publish, and what is read of it.
func TestLenient(t *testing.T) {
	const body = "---\n# Title\n\nDo it.\n"
	head := func(lines ...string) string { return "---\n" + strings.Join(lines, "\n") + "\n" + body }
	desc := func(v string) string { return head("name: a", "description: "+v) }
	for _, c := range []struct {
		name, input  string
		skill, text  string
		code         lookleap.Code
		line, column int
	}{
		{"colon", desc("Use when: b"), "", "Use when: b", dvs.CodeBadFrontmatter, 3, 22},
		{"colon-then-keys", head("name: a", "description: x: y", "metadata:", "  author: z"), "", "x: y", dvs.CodeBadFrontmatter, 3, 15},
		{"at", desc("@user does"), "", "@user does", dvs.CodeBadFrontmatter, 3, 14},
		{"one-star", desc("*b"), "", "*b", dvs.CodeBadFrontmatter, 3, 14},
		{"ampersand", desc("&b c"), "", "&b c", dvs.CodeBadFrontmatter, 3, 14},
		{"exclamation", desc("!important b"), "", "!important b", dvs.CodeBadFrontmatter, 3, 14},
		{"list", desc("[b, c]"), "", "b c", dvs.CodeBadDescription, 3, 14},
		{"template", head("name: {{name}}", "description: {{ description }}"), "{{name}}", "{{ description }}", dvs.CodeBadFrontmatter, 2, 8},
		{"quote-not-closed", desc(`"b c`), "", "b c", dvs.CodeBadFrontmatter, 3, 14},
		{"quote-then-text", desc(`"b" and c`), "", `"b" and c`, dvs.CodeBadFrontmatter, 3, 14},
		{"apostrophe", desc(`'don't'`), "", "don't", dvs.CodeBadFrontmatter, 3, 14},
		{"two-apostrophes", desc(`'it''s don't'`), "", "it's don't", dvs.CodeBadFrontmatter, 3, 14},
		{"backslash", desc(`"C:\dir \w"`), "", `C:\dir \w`, dvs.CodeBadFrontmatter, 3, 14},
		{"tab", head("name: a", "description: b", "metadata:", "\tauthor: x"), "", "b", dvs.CodeBadFrontmatter, 4, 1},
		{"tab-after-key", head("name:\ta", "description:\tb"), "", "b", "", 0, 0},
		{"no-blank-after-colon", head("name:a", "description:b"), "", "b", dvs.CodeBadFrontmatter, 2, 1},
		{"unindented", desc("b\nc d"), "", "b c d", dvs.CodeBadFrontmatter, 4, 1},
		{"unindented-block", desc("|\nb\nc"), "", "b\nc", dvs.CodeBadFrontmatter, 4, 1},
		{"unindented-folded-block", desc(">\nb\nc"), "", "b c", dvs.CodeBadFrontmatter, 4, 1},
		{"quotes-in-a-block", desc(">\n\"b\""), "", `"b"`, dvs.CodeBadFrontmatter, 4, 1},
		{"hyphens-in-a-block", head("name: a", "description: >", "    b", "", "    ----", "    c", "x: y: z"), "", "b\n---- c", dvs.CodeBadFrontmatter, 8, 5},
		{"below-the-key", head("name: a", "description:", "b"), "", "b", dvs.CodeBadFrontmatter, 4, 1},
		{"block-and-text", desc("> b\n  c"), "", "> b c", dvs.CodeBadFrontmatter, 3, 14},
		{"map", head("name: a", "description:", "  b: c"), "", "b: c", dvs.CodeBadDescription, 4, 3},
		{"duplicate", head("name: x", "name: a", "description: b"), "", "b", dvs.CodeBadFrontmatter, 3, 1},
		{"upper-case", head("Name: a", "DESCRIPTION: b"), "", "b", dvs.CodeBadFrontmatter, 2, 1},
		{"quoted-keys", head(`"name": a`, `"description": x: b`), "", "x: b", dvs.CodeBadFrontmatter, 3, 16},
		{"name-and-words", head("name: a: x", "more words", "description: b"), "a: x", "b", dvs.CodeBadFrontmatter, 2, 8},
		{"name-of-people", head("name: My Skill", "description: b"), "My Skill", "b", lookleap.CodeBadName, 2, 7},
		{"name-below", head("description: "+strings.Repeat("b", 3000), "name: My Skill"), "My Skill", strings.Repeat("b", 3000), "description-too-long", 2, 14},
		{"name-invisible", head("name: a\u200b", "description: b"), "", "b", "unsafe-characters", 2, 7},
		{"name-long", head("name: "+strings.Repeat("a", 70), "description: b"), strings.Repeat("a", 70), "b", "name-too-long", 2, 7},
		{"long", desc(strings.Repeat("b", 3000)), "", strings.Repeat("b", 3000), "description-too-long", 3, 14},
		{"huge-header", desc(strings.Repeat("b ", 10_000) + "c"), "", strings.Repeat("b ", 10_000) + "c", dvs.CodeBadFrontmatter, 3, 16377},
		{"anchor-elsewhere", head("name: a", "description: b", "x: &x y"), "", "b", dvs.CodeBadFrontmatter, 4, 4},
		{"control", desc("b\x1b[2K"), "", "b [2K", dvs.CodeBadDescription, 3, 15},
		{"latin1", desc("f\xfcr"), "", "f\ufffdr", lookleap.CodeNotUTF8, 3, 15},
		{"nul-and-latin1", desc("f\x00\xfcr"), "", "f \ufffdr", lookleap.CodeNotUTF8, 3, 15},
		{"nul", desc("b\x00c"), "", "b c", lookleap.CodeNotUTF8, 3, 15},
		{"control-after-a-tab", desc("\"b\tc\x1bd\""), "", "b\tc d", dvs.CodeBadDescription, 3, 18},
		{"one-cr", head("name: a\rdescription: b"), "", "b", dvs.CodeBadFrontmatter, 2, 8},
		{"paragraph-separator", desc("b\u2029c"), "", "b   c", dvs.CodeBadFrontmatter, 3, 15},
		{"mark-inside", desc("b\ufeffc"), "", "b   c", dvs.CodeBadFrontmatter, 3, 15},
		{"comment-first", head("# note", "name: a", "description: x: y"), "", "x: y", dvs.CodeBadFrontmatter, 4, 15},
		{"text-first", head("note", "name: a", "description: x: y"), "", "x: y", dvs.CodeBadFrontmatter, 2, 1},
		{"colon-alone-is-no-key", head("name: a", "description: b: c", ": x"), "", "b: c : x", dvs.CodeBadFrontmatter, 3, 15},
		{"equals-after-another-key", head("name: a", "description: b: c", "x = y"), "", "b: c x = y", dvs.CodeBadFrontmatter, 3, 15},
		{"full-width-colon-after-another-key", head("name: a", "description: b: c", "x：y"), "", "b: c x：y", dvs.CodeBadFrontmatter, 3, 15},
		{"two-marks", "\ufeff\ufeff" + desc("b"), "", "b", "no-frontmatter", 1, 4},
		{"empty-body", "---\nname: a\ndescription: b\n---\n", "", "b", "empty-body", 5, 1},
		{"blank-before", "\n\n" + desc("b"), "", "b", "no-frontmatter", 1, 1},
		{"code-block", "```markdown\n" + desc("b") + "```\n", "", "b", "no-frontmatter", 1, 1},
		{"indented-fence", " " + desc("b"), "", "b", "no-frontmatter", 1, 1},
		{"four-hyphens", "-" + desc("b"), "", "b", "no-frontmatter", 1, 1},
		{"closed-by-four", "---\nname: a\ndescription: b\n-" + body, "", "b", "unterminated-frontmatter", 1, 1},
		{"closed-by-four-and-a-rule", "---\nname: a\ndescription: b\n-" + body + "\n---\nmore: of it\n", "", "b", dvs.CodeBadFrontmatter, 4, 1},
		{"closed-by-dots", "---\nname: a\ndescription: b\n...\n# Title\n", "", "b", "unterminated-frontmatter", 1, 1},
		{"not-closed", "---\nname: a\ndescription: b\n\n# Title\n\nDo it.\n", "", "b", "unterminated-frontmatter", 1, 1},
		{"not-closed-text", "---\nname: a\ndescription: b\n\nDo it.\n", "", "b", "unterminated-frontmatter", 1, 1},
		{"not-closed-at-all", "---\nname: a\ndescription: b", "", "b", "unterminated-frontmatter", 1, 1},
		{"comment-inside", "---\nname: a\ndescription: x: b\n\n# more\nlicense: MIT\n---\n# Title\n", "", "x: b", dvs.CodeBadFrontmatter, 3, 15},
		{"flow-in-another-key", "---\nname: a\ndescription: b\nargument-hint: [x] [y: z]\n---\n# Title\n", "", "b", dvs.CodeBadFrontmatter, 4, 16},
		{"key-before", "note: x\n" + desc("b"), "", "b", "no-frontmatter", 1, 1},
		{"comment-and-no-fence", "<!-- x -->\nname: a\ndescription: b\n\n# Title\n", "", "b", "no-frontmatter", 1, 1},
		{"comment-between-keys", "name: a\n\n# note\ndescription: b\n---\n# Title\n", "", "b", "no-frontmatter", 1, 1},
		{"text-between-keys", "name: a\n\nnote\ndescription: b\n\nDo it.\n", "", "b", "no-frontmatter", 1, 1},
		{"text-before-the-fence", "name: a\ndescription: b\n\nmore text\n---\n# Title\n", "", "b more text", "no-frontmatter", 1, 1},
		{"text-below-the-keys", "name: a\ndescription: b\nmore\n\nDo it.\n", "", "b more", "no-frontmatter", 1, 1},
		{"two-paragraphs", "name: a\ndescription: b\n\n\nDo it.\n\nAnd that.\n", "", "b", "no-frontmatter", 1, 1},
		{"indented-paragraph", "name: a\ndescription: b\n\n  more\n\nDo it.\n", "", "b\nmore", "no-frontmatter", 1, 1},
	} {
		t.Run("accept-"+c.name, func(t *testing.T) {
			skill, findings, err := dvs.ParseSkill([]byte(c.input), dvs.Lenient, dvs.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if want := or(c.skill, "a"); skill.Name != want {
				t.Errorf("name %q, want %q", skill.Name, want)
			}
			if skill.Description != c.text {
				t.Errorf("description %q, want %q", skill.Description, c.text)
			}
			if strings.Contains(skill.Body, "name") || skill.Body != "" && strings.TrimSpace(skill.Body) != "" && !strings.Contains(skill.Body, "Title") && !strings.Contains(skill.Body, "Do it") {
				t.Errorf("body %q", skill.Body)
			}
			if c.code != "" && !slices.ContainsFunc(findings, func(f lookleap.Finding) bool {
				return f.Code == c.code && f.Line == c.line && f.Column == c.column && f.Severity == lookleap.SeverityWarning && f.Fix != ""
			}) {
				t.Errorf("no %s at %d:%d in %v", c.code, c.line, c.column, findings)
			}
			if _, _, err := dvs.ParseSkill([]byte(c.input), dvs.DVS, dvs.Limits{}); err == nil && c.code != "" {
				t.Error("DVS accepts it")
			}
		})
	}
	for _, c := range []struct {
		name, input string
		code        lookleap.Code
	}{
		{"nothing", "", "no-frontmatter"},
		{"prose", "# Title\n\nNo metadata at all.\n", "no-frontmatter"},
		{"no-name", head("description: b"), lookleap.CodeBadName},
		{"no-description", head("name: a"), dvs.CodeBadDescription},
		{"empty-name", head("name:", "description: b"), lookleap.CodeBadName},
		{"empty-description", desc(`""`), dvs.CodeBadDescription},
		{"name-of-something-else", head("inputs:", "  - name: x", "description: b"), lookleap.CodeBadName},
		{"header-too-far", strings.Repeat("x\n", 100) + desc("b"), "no-frontmatter"},
		{"keys-without-a-description", "name: a\nlicense: MIT\n\n# Title\n", "no-frontmatter"},
		{"invisible-name", head("name: \u200b", "description: b"), lookleap.CodeBadName},
		{"too-large", desc("b") + strings.Repeat("x", 1<<20), lookleap.CodeTooLarge},
	} {
		t.Run("reject-"+c.name, func(t *testing.T) {
			skill, _, err := dvs.ParseSkill([]byte(c.input), dvs.Lenient, dvs.Limits{})
			if skill != nil || lookleap.CodeOf(err) != c.code || strings.HasPrefix(c.name, "no-") && !strings.Contains(err.Error(), "the metadata has "+strings.ReplaceAll(c.name, "-", " ")) {
				t.Errorf("%+v, %v", skill, err)
			}
		})
	}
}

func utf16le(text string) string {
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(text)) {
		b.WriteByte(byte(unit))
		b.WriteByte(byte(unit >> 8))
	}
	return b.String()
}

// TestServedLink reads what git hosts send for a symbolic link.
func TestServedLink(t *testing.T) {
	for _, input := range []string{"../x/SKILL.md", "../../skills/refund/SKILL.md\n", "./other/skill.md"} {
		for _, profile := range []dvs.Profile{dvs.DVS, dvs.Lenient} {
			t.Run("reject/"+input+"/"+profile.String(), func(t *testing.T) {
				_, _, err := dvs.ParseSkill([]byte(input), profile, dvs.Limits{})
				if lookleap.CodeOf(err) != dvs.CodeLink || !strings.Contains(err.Error(), strings.TrimSpace(input)) {
					t.Error(err)
				}
			})
		}
	}
	for _, input := range []string{"SKILL.md", "../x/SKILL.txt", "../x\x7f.md", strings.Repeat("x", 8192) + "/x.md", "see ../x/SKILL.md", "https://h.example/x/SKILL.md", "<p>/x.md", "../x\n../y.md"} {
		t.Run("accept/"+input, func(t *testing.T) {
			if _, _, err := dvs.ParseSkill([]byte(input), dvs.DVS, dvs.Limits{}); lookleap.CodeOf(err) != "no-frontmatter" {
				t.Error(err)
			}
		})
	}
}

package dvs_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/internal/test/alloctest"
)

// file is a SKILL.md with the given header.
func file(header string) string { return "---\n" + header + "---\n\n# Instructions\n\nDo it.\n" }

// skillCase is one file and what DVS makes of it.
type skillCase struct {
	id, name string // requirement or attack, and accept… or reject…
	input    string
	profile  dvs.Profile
	code     lookleap.Code // of the refusal
	skill    string        // expected name, "a" if empty
	text     string        // expected description, "b" if empty
	finding  lookleap.Code // that has to be among the findings of an accepted file
}

func (c skillCase) run(t *testing.T) {
	t.Helper()
	skill, findings, err := dvs.ParseSkill([]byte(c.input), c.profile, dvs.Limits{})
	if c.code != "" {
		if got := lookleap.CodeOf(err); got != c.code || skill != nil {
			t.Fatalf("got %v and %v, want %s", skill, err, c.code)
		}
		var e *lookleap.Error
		if !errors.As(err, &e) || e.Position.Line == 0 || e.Fix == "" || !slices.ContainsFunc(findings, func(f lookleap.Finding) bool {
			return f.Code == e.Code && f.Position == e.Position && f.Message == e.Message
		}) {
			t.Fatalf("the refusal does not say where, or what to do: %#v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if want := or(c.skill, "a"); skill.Name != want {
		t.Errorf("name %q, want %q", skill.Name, want)
	}
	if want := or(c.text, "b"); skill.Description != want {
		t.Errorf("description %q, want %q", skill.Description, want)
	}
	if c.finding != "" && !slices.ContainsFunc(findings, func(f lookleap.Finding) bool { return f.Code == c.finding && f.Severity != lookleap.SeverityError }) {
		t.Errorf("no finding %s: %v", c.finding, findings)
	}
}

func or(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

func TestParseSkill(t *testing.T) {
	long := func(n int) string { return strings.Repeat("a", n) }
	const (
		front    = dvs.CodeBadFrontmatter
		badName  = lookleap.CodeBadName
		badDesc  = dvs.CodeBadDescription
		noFront  = "no-frontmatter"
		unclosed = "unterminated-frontmatter"
		notUTF8  = lookleap.CodeNotUTF8
	)
	plain := file("name: a\ndescription: b\n")
	desc := func(v string) string { return file("name: a\ndescription: " + v + "\n") }
	name := func(v string) string { return file("name: " + v + "\ndescription: b\n") }
	extra := func(v string) string { return file("name: a\ndescription: b\n" + v) }
	bomb := "a0: &a [x]\n"
	for i := range 9 {
		bomb += fmt.Sprintf("a%d: &a%d [*a,*a,*a,*a,*a,*a,*a,*a,*a]\n", i+1, i)
	}
	for _, c := range []skillCase{
		{id: "DVS-1-06", name: "accept-made-for-another-agent", input: extra("license: MIT\nmetadata:\n  author: x\n  version: \"1.0\"\nallowed-tools: Bash(git:*) Read\nmodel: fast\n")},
		{id: "DVS-1-06", name: "reject-without-its-header", input: "# A skill\n", code: noFront},

		{id: "DVS-4.2-02", name: "accept-utf8", input: desc("für 日本語 😀"), text: "für 日本語 😀"},
		{id: "DVS-4.2-02", name: "accept-replacement-character", input: desc("b\ufffd"), text: "b\ufffd"},
		{id: "DVS-4.2-02", name: "reject-latin1", input: desc("f\xfcr"), code: notUTF8},
		{id: "DVS-4.2-02", name: "reject-in-the-body", input: plain + "\xff", code: notUTF8},
		{id: "DVS-4.2-02", name: "reject-utf16", input: "\xff\xfe-\x00-\x00-\x00\n\x00", code: notUTF8},
		{id: "DVS-4.2-02", name: "reject-nul", input: plain + "\x00", code: notUTF8},
		{id: "C10", name: "reject-octet", input: plain + "\xff", code: notUTF8},
		{id: "C10", name: "reject-overlong", input: plain + "\xc0\x80", code: notUTF8},
		{id: "C10", name: "reject-surrogates", input: plain + "\xed\xa0\x80\xed\xb0\x80", code: notUTF8},
		{id: "C10", name: "reject-octet-in-the-header", input: desc("b\xff"), code: notUTF8},
		{id: "C10", name: "reject-overlong-in-the-header", input: desc("b\xc0\x80"), code: notUTF8},
		{id: "C10", name: "reject-surrogates-in-the-header", input: desc("b\xed\xa0\x80\xed\xb0\x80"), code: notUTF8},
		{id: "C10", name: "reject-utf16-mark-little", input: "\xff\xfe-\x00-\x00-\x00", code: notUTF8},
		{id: "C10", name: "reject-utf16-mark", input: "\xfe\xff\x00-\x00-\x00-", code: notUTF8},

		{id: "DVS-4.2-07", name: "accept-bom", input: "\ufeff" + plain, finding: lookleap.CodeByteOrderMark},
		{id: "DVS-4.2-07", name: "accept-crlf", input: strings.ReplaceAll(plain, "\n", "\r\n")},
		{id: "DVS-4.2-07", name: "accept-bom-in-the-body", input: plain + "\ufeff", finding: lookleap.CodeByteOrderMark},
		{id: "DVS-4.2-07", name: "reject-second-bom", input: file("\ufeffname: a\ndescription: b\n"), code: front},
		{id: "DVS-4.2-07", name: "reject-lone-cr", input: desc("b\rlicense: x"), code: front},
		{id: "C08", name: "accept-one-mark", input: "\ufeff" + plain, finding: lookleap.CodeByteOrderMark},
		{id: "C08", name: "reject-two-marks", input: "\ufeff\ufeff" + plain, code: noFront},
		{id: "C08", name: "reject-mark-before-a-key", input: file("\ufeffname: a\ndescription: b\n"), code: front},
		{id: "C08", name: "accept-mark-in-the-body", input: plain + "a\ufeffb", finding: lookleap.CodeByteOrderMark},
		{id: "C08", name: "reject-mark-inside", input: desc("b\ufeff"), code: front},

		{id: "DVS-4.2-08", name: "accept-a-mebibyte", input: plain + strings.Repeat("x", 1<<20-len(plain))},
		{id: "DVS-4.2-08", name: "reject-one-byte-more", input: plain + strings.Repeat("x", 1<<20-len(plain)+1), code: lookleap.CodeTooLarge},
		{id: "C20", name: "accept-as-much-as-the-limit", input: plain + strings.Repeat("x", 1<<20-len(plain))},
		{id: "C20", name: "reject-a-byte-more", input: plain + strings.Repeat("x", 1<<20-len(plain)+1), code: lookleap.CodeTooLarge},
		{id: "C20", name: "reject-more-than-the-limit", input: plain + strings.Repeat("x", 2<<20), code: lookleap.CodeTooLarge},

		{id: "DVS-4.2-09", name: "accept-with", input: plain},
		{id: "DVS-4.2-09", name: "reject-without", input: "Do it.\n", code: noFront},
		{id: "DVS-4.2-09", name: "reject-empty-file", input: "", code: noFront},

		{id: "DVS-4.2-10", name: "accept-with", input: "---\nname: a\ndescription: b\n---\nx"},
		{id: "DVS-4.2-10", name: "reject-end-of-file", input: "---\nname: a\ndescription: b\n---", code: "empty-body"},
		{id: "DVS-4.2-10", name: "reject-white-space", input: "---\nname: a\ndescription: b\n---\n \t\r\n\u00a0\n", code: "empty-body"},
		{id: "DVS-4.4-01", name: "accept-text", input: plain},
		{id: "DVS-4.4-01", name: "reject-nothing", input: "---\nname: a\ndescription: b\n---\n\n", code: "empty-body"},
		{id: "DVS-4.4-01", name: "reject-binary", input: plain + "\x00\x01\x02", code: notUTF8},

		{id: "DVS-4.3-01", name: "accept-blanks-after", input: "--- \t\nname: a\ndescription: b\n---  \nx"},
		{id: "DVS-4.3-01", name: "reject-blank-line-before", input: "\n" + plain, code: noFront},
		{id: "DVS-4.3-01", name: "reject-text-before", input: "x\n" + plain, code: noFront},
		{id: "DVS-4.3-01", name: "reject-indented", input: " " + plain, code: noFront},
		{id: "DVS-4.3-01", name: "reject-four-hyphens", input: "-" + plain, code: noFront},
		{id: "DVS-4.3-01", name: "reject-two-hyphens-and-a-letter", input: "--x\nname: a\ndescription: b\n---\nx", code: noFront},
		{id: "DVS-4.3-01", name: "reject-letter-and-two-hyphens", input: "x--\nname: a\ndescription: b\n---\nx", code: noFront},
		{id: "DVS-4.3-01", name: "reject-letter-between-hyphens", input: "-x-\nname: a\ndescription: b\n---\nx", code: noFront},
		{id: "DVS-4.3-01", name: "reject-closed-by-two-hyphens-and-a-letter", input: "---\nname: a\ndescription: b\n--x\n", code: unclosed},
		{id: "DVS-4.3-01", name: "reject-unclosed", input: "---\nname: a\ndescription: b\n", code: unclosed},
		{id: "DVS-4.3-01", name: "reject-closed-by-dots", input: "---\nname: a\ndescription: b\n...\nx\n", code: unclosed},
		{id: "DVS-4.3-01", name: "reject-closed-by-four", input: "---\nname: a\ndescription: b\n----\nx\n", code: unclosed},
		{id: "C11", name: "accept-blank-behind", input: "--- \nname: a\ndescription: b\n--- \nx"},
		{id: "C11", name: "accept-rule-in-the-body", input: plain + "\n---\nname: evil\n---\n"},
		{id: "C11", name: "accept-indented-in-block", input: "---\nname: a\ndescription: |\n  b\n  ---\n  c\n---\nx", text: "b\n---\nc"},
		{id: "C11", name: "accept-hyphens-after-text", input: desc("b ---"), text: "b ---"},
		{id: "C11", name: "reject-missing-close", input: "---\nname: a\n", code: unclosed},
		{id: "C11", name: "accept-tab-behind", input: "---\t\nname: a\ndescription: b\n---\t\nx"},
		{id: "C11", name: "reject-closed-by-four", input: "---\nname: a\ndescription: b\n----\nx", code: unclosed},
		{id: "C11", name: "reject-closed-by-text", input: "---\nname: a\ndescription: b\n---x\n", code: unclosed},
		{id: "C11", name: "reject-closed-after-a-blank", input: "---\nname: a\ndescription: b\n ---\nx", code: unclosed},
		{id: "C11", name: "reject-closed-by-dots", input: "---\nname: a\ndescription: b\n...\nx", code: unclosed},
		{id: "C11", name: "reject-two", input: "--\nname: a\ndescription: b\n---\nx", code: noFront},
		{id: "C11", name: "reject-text-behind", input: "---x\nname: a\ndescription: b\n---\nx", code: noFront},
		{id: "C11", name: "reject-blank-line-before", input: "\n---\nname: a\ndescription: b\n---\nx", code: noFront},
		{id: "C11", name: "reject-blank-before", input: " ---\nname: a\ndescription: b\n---\nx", code: noFront},
		{id: "C11", name: "reject-four", input: "----\nname: a\ndescription: b\n---\nx", code: noFront},
		{id: "C11", name: "reject-fence-in-block", input: "---\nname: a\ndescription: |\n---\n  b\n---\nx", code: badDesc},
		{id: "C11", name: "reject-dots", input: file("name: a\ndescription: b\n...\n"), code: front},

		{id: "DVS-4.3-02", name: "accept-flow", input: extra("x: {a: [1, 2], \"b\": 'c'}\n")},
		{id: "DVS-4.3-02", name: "accept-null-in-quotes", input: file("name: a\ndescription: \"null\"\nx: {y: z}\n"), text: "null"},
		{id: "DVS-4.3-02", name: "accept-depth-16", input: extra("x: " + strings.Repeat("[", 15) + strings.Repeat("]", 15) + "\n")},
		{id: "DVS-4.3-02", name: "reject-depth-17", input: extra("x: " + strings.Repeat("[", 16) + strings.Repeat("]", 16) + "\n"), code: front},
		{id: "DVS-4.3-02", name: "accept-keys-like-markers", input: extra("---x: y\n...x: z\n")},
		{id: "DVS-4.3-02", name: "reject-key-of-1025-characters", input: extra(long(1025) + ": x\n"), code: front},
		{id: "DVS-4.3-02", name: "reject-list", input: file("- name: a\n"), code: front},
		{id: "DVS-4.3-02", name: "reject-scalar", input: file("a\n"), code: front},
		{id: "DVS-4.3-02", name: "reject-nothing", input: file(""), code: front},
		{id: "DVS-4.3-02", name: "reject-duplicate", input: extra("name: c\n"), code: front},
		{id: "DVS-4.3-02", name: "reject-deep-duplicate", input: extra("metadata:\n  x: 1\n  'x': 2\n"), code: front},
		{id: "DVS-4.3-02", name: "reject-tag", input: name("!!str a"), code: front},
		{id: "DVS-4.3-02", name: "reject-bare-tag", input: name("! a"), code: front},
		{id: "DVS-4.3-02", name: "reject-anchor", input: name("&x a"), code: front},
		{id: "DVS-4.3-02", name: "reject-alias", input: extra("x: *name\n"), code: front},
		{id: "DVS-4.3-02", name: "reject-merge", input: extra("<<: {x: y}\n"), code: front},
		{id: "DVS-4.3-02", name: "reject-second-document", input: extra("--- x\n"), code: front},
		{id: "DVS-4.3-02", name: "reject-directive", input: file("%YAML 1.1\nname: a\ndescription: b\n"), code: front},
		{id: "DVS-4.3-02", name: "reject-lone-cr", input: extra("x: y\rz: 1\n"), code: front},
		{id: "DVS-4.3-02", name: "reject-next-line", input: extra("x: y\u0085z\n"), code: front},
		{id: "DVS-4.3-02", name: "reject-separators", input: extra("x: y\u2028z\n"), code: front},
		{id: "DVS-4.3-02", name: "reject-key-that-is-a-list", input: extra("? [x]\n: y\n"), code: front},
		{id: "DVS-4.3-02", name: "reject-colon", input: desc("use when: b"), code: front},
		{id: "DVS-4.3-02", name: "accept-16-KiB", input: extra("# " + long(16<<10-2-len("name: a\ndescription: b\n")-1) + "\n")},
		{id: "DVS-4.3-02", name: "reject-16-KiB-and-a-byte", input: extra("# " + long(16<<10-2-len("name: a\ndescription: b\n")) + "\n"), code: front},
		{id: "DVS-4.3-02", name: "reject-paragraph-separator", input: extra("x: y\u2029z\n"), code: front},
		{id: "DVS-4.3-02", name: "reject-end-of-document", input: file("name: a\ndescription: b\n...\n"), code: front},
		{id: "DVS-4.3-02", name: "reject-17-KiB", input: extra("# " + long(17<<10) + "\n"), code: front},
		{id: "C01", name: "reject-alias-bomb", input: extra(bomb), code: front},
		{id: "C01", name: "reject-unused-anchor", input: extra("x: &a y\n"), code: front},
		{id: "C01", name: "reject-anchor-of-a-list", input: extra("x: &a [y]\n"), code: front},
		{id: "C01", name: "reject-anchor-of-a-map", input: extra("x: &a {y: z}\n"), code: front},
		{id: "C01", name: "reject-anchor-of-a-key", input: extra("&a x: y\n"), code: front},
		{id: "C01", name: "reject-anchor-in-a-list", input: extra("x:\n  - &a y\n"), code: front},
		{id: "C01", name: "reject-anchor-of-a-known-field", input: name("&a a"), code: front},
		{id: "C01", name: "accept-signs-in-quotes", input: extra("x: ['&a', \"*a\"]\n")},
		{id: "C02", name: "reject-merge-key-below-a-key", input: extra("metadata:\n  <<: {x: y}\n"), code: front},
		{id: "C02", name: "reject-merge-key-of-a-list", input: extra("<<: [{x: y}]\n"), code: front},
		{id: "C02", name: "reject-merge-key-in-quotes", input: file("name: a\ndescription: b\nmetadata:\n  '<<': {x: y}\n"), code: front},
		{id: "C02", name: "reject-merge-key", input: file("base: &b {name: evil}\nname: a\ndescription: b\n<<: *b\n"), code: front},
		{id: "C04", name: "reject-binary", input: name("!!binary aGk="), code: front},
		{id: "C04", name: "reject-python", input: extra("x: !!python/object/apply:os.system [id]\n"), code: front},
		{id: "C04", name: "reject-verbatim", input: extra("x: !<tag:x> y\n"), code: front},
		{id: "C04", name: "reject-text", input: name("!!str a"), code: front},
		{id: "C04", name: "reject-non-specific", input: name("! a"), code: front},
		{id: "C04", name: "reject-local", input: extra("x: !y z\n"), code: front},
		{id: "C04", name: "reject-of-a-key", input: extra("!!str x: y\n"), code: front},
		{id: "C04", name: "reject-of-a-list", input: extra("x: !!seq [y]\n"), code: front},
		{id: "C04", name: "reject-of-a-map", input: extra("x: !!map {y: z}\n"), code: front},
		{id: "C04", name: "reject-in-a-list", input: extra("x:\n  - !!int 1\n"), code: front},
		{id: "C04", name: "accept-sign-in-quotes", input: extra("x: '!!str'\n")},
		{id: "C07", name: "reject-paragraph-separator", input: "---\nname: a\u2029description: b\n---\nx", code: front},
		{id: "C07", name: "reject-paragraph-separator-in-a-value", input: extra("x: y\u2029z\n"), code: front},
		{id: "C07", name: "reject-line-separator-in-a-value", input: extra("x: y\u2028z\n"), code: front},
		{id: "C07", name: "reject-next-line-in-a-value", input: extra("x: y\u0085z\n"), code: front},
		{id: "C07", name: "accept-in-the-body", input: plain + "x\u2028y\u2029z\n"},
		{id: "C07", name: "reject-line-separator", input: "---\nname: a\u2028description: b\n---\nx", code: front},
		{id: "C07", name: "reject-next-line", input: "---\nname: a\u0085description: b\n---\nx", code: front},

		{id: "DVS-4.3-03", name: "accept-number", input: name("123"), skill: "123"},
		{id: "DVS-4.3-03", name: "accept-true", input: name("true"), skill: "true"},
		{id: "DVS-4.3-03", name: "reject-absent", input: file("description: b\n"), code: badName},
		{id: "DVS-4.3-03", name: "reject-null", input: name("null"), code: badName},
		{id: "DVS-4.3-03", name: "reject-empty", input: name(""), code: badName},
		{id: "DVS-4.3-03", name: "reject-quoted-empty", input: name(`""`), code: badName},
		{id: "DVS-4.3-03", name: "reject-list", input: name("[a]"), code: badName},
		{id: "DVS-4.3-03", name: "reject-map", input: name("{a: b}"), code: badName},
		{id: "DVS-4.3-03", name: "reject-other-case", input: file("Name: a\ndescription: b\n"), code: badName},
		{id: "C05", name: "accept-exponent", input: name("1e3"), skill: "1e3"},
		{id: "C05", name: "accept-octal", input: name("0777"), skill: "0777"},
		{id: "C05", name: "accept-no", input: name("no"), skill: "no"},
		{id: "C05", name: "accept-many-digits", input: name("99999999999999999999999999"), skill: "99999999999999999999999999"},
		{id: "C05", name: "reject-tilde", input: name("~"), code: badName},
		{id: "C05", name: "accept-in-quotes", input: name(`"0777"`), skill: "0777"},
		{id: "C05", name: "accept-null-in-quotes", input: name(`"null"`), skill: "null"},
		{id: "C05", name: "accept-description", input: desc("1e3"), text: "1e3"},
		{id: "C05", name: "reject-null", input: name("null"), code: badName},
		{id: "C05", name: "reject-nothing", input: name(""), code: badName},
		{id: "C05", name: "reject-null-description", input: desc("null"), code: badDesc},
		{id: "C05", name: "reject-null-with-a-capital-description", input: desc("Null"), code: badDesc},
		{id: "C05", name: "reject-null-in-capitals-description", input: desc("NULL"), code: badDesc},
		{id: "C05", name: "reject-tilde-description", input: desc("~"), code: badDesc},
		{id: "C05", name: "reject-nothing-description", input: desc(""), code: badDesc},
		{id: "C05", name: "reject-sexagesimal", input: name("1:30:00"), code: badName},

		{id: "DVS-4.3-04", name: "accept-text", input: plain},
		{id: "DVS-4.3-04", name: "reject-absent", input: file("name: a\n"), code: badDesc},
		{id: "DVS-4.3-04", name: "reject-null", input: desc("~"), code: badDesc},
		{id: "DVS-4.3-04", name: "reject-list", input: desc("[b]"), code: badDesc},
		{id: "DVS-4.3-04", name: "reject-map", input: desc("{b: c}"), code: badDesc},

		{id: "DVS-4.3-05", name: "accept-64", input: name(long(64)), skill: long(64)},
		{id: "DVS-4.3-05", name: "reject-65", input: name(long(65)), code: "name-too-long"},
		{id: "DVS-4.3-06", name: "accept-letters-digits-hyphen", input: name("a-b2"), skill: "a-b2"},
		{id: "DVS-4.3-06", name: "accept-first-and-last-of-each", input: name("\"az-09\""), skill: "az-09"},
		{id: "DVS-4.3-06", name: "reject-dot", input: name("a.b"), code: badName},
		{id: "DVS-4.3-06", name: "reject-upper-case", input: name("A"), code: badName},
		{id: "DVS-4.3-06", name: "reject-underscore", input: name("a_b"), code: badName},
		{id: "DVS-4.3-06", name: "reject-blank", input: name("a b"), code: badName},
		{id: "DVS-4.3-06", name: "reject-accent", input: name("é"), code: badName},
		{id: "DVS-4.3-06", name: "reject-full-width", input: name("ａ"), code: badName},
		{id: "DVS-4.3-06", name: "reject-slash", input: name("a/b"), code: badName},
		{id: "DVS-4.3-06", name: "reject-quoted-blank", input: name(`"a "`), code: badName},
		{id: "DVS-4.3-07", name: "accept-first", input: name(`"-a"`), skill: "-a", finding: "name-hyphen"},
		{id: "DVS-4.3-07", name: "accept-last", input: name("a-"), skill: "a-", finding: "name-hyphen"},
		{id: "DVS-4.3-07", name: "accept-double", input: name("a--b"), skill: "a--b", finding: "name-hyphen"},
		{id: "DVS-4.3-07", name: "reject-by-the-public-format", profile: dvs.AgentSkills, input: name("a--b"), code: badName},
		{id: "C13", name: "accept-64", input: name(long(64)), skill: long(64)},
		{id: "C13", name: "accept-con", input: name("con"), skill: "con"},
		{id: "C13", name: "accept-hyphen", input: name(`"-"`), skill: "-"},
		{id: "C13", name: "accept-first-and-last-of-each", input: name("az-09"), skill: "az-09"},
		{id: "C13", name: "reject-slash", input: name("a/x"), code: badName},
		{id: "C13", name: "reject-line-feed", input: name(`"a\n"`), code: badName},
		{id: "C13", name: "reject-65", input: name(long(65)), code: "name-too-long"},
		{id: "C13", name: "reject-upper", input: name("A"), code: badName},
		{id: "C13", name: "reject-underscore", input: name("a_b"), code: badName},
		{id: "C13", name: "reject-blank", input: name("a b"), code: badName},
		{id: "C13", name: "reject-empty", input: name(`""`), code: badName},
		{id: "C13", name: "reject-full-width", input: name("ａ"), code: badName},
		{id: "C13", name: "reject-cyrillic", input: name("а"), code: badName},
		{id: "C13", name: "reject-traversal", input: name("../x"), code: badName},
		{id: "C13", name: "reject-dot", input: name("a.b"), code: badName},

		{id: "DVS-4.3-08", name: "accept-text", input: plain},
		{id: "DVS-4.3-08", name: "reject-empty", input: desc(`""`), code: badDesc},
		{id: "DVS-4.3-08", name: "reject-only-blanks", input: desc(`"  "`), code: badDesc},
		{id: "DVS-4.3-08", name: "reject-blanks", input: desc(`" \t\u00a0 "`), code: badDesc},
		{id: "DVS-4.3-08", name: "reject-nothing-to-see", input: desc("\u200b"), code: badDesc},
		{id: "DVS-4.3-09", name: "accept-1024", input: desc(long(1024)), text: long(1024)},
		{id: "DVS-4.3-09", name: "accept-1024-emoji", input: desc(strings.Repeat("😀", 1024)), text: strings.Repeat("😀", 1024)},
		{id: "DVS-4.3-09", name: "accept-1024-and-blanks", input: desc(`"` + long(1024) + `   "`), text: long(1024)},
		{id: "DVS-4.3-09", name: "reject-1025", input: desc(long(1025)), code: "description-too-long"},
		{id: "C14", name: "accept-1024-combining", input: desc("e" + strings.Repeat("e\u0301", 511) + "e"), text: "e" + strings.Repeat("e\u0301", 511) + "e"},
		{id: "C14", name: "accept-1024-astral", input: desc(strings.Repeat("𝄞", 1024)), text: strings.Repeat("𝄞", 1024)},
		{id: "C14", name: "accept-1024", input: desc(long(1024)), text: long(1024)},
		{id: "C14", name: "accept-1", input: desc("x"), text: "x"},
		{id: "C14", name: "reject-1025", input: desc(long(1025)), code: "description-too-long"},
		{id: "C14", name: "reject-no-break-spaces", input: desc(`"\u00a0\u2003"`), code: badDesc},
		{id: "C14", name: "reject-1025-astral", input: desc(strings.Repeat("𝄞", 1025)), code: "description-too-long"},
		{id: "C14", name: "reject-empty", input: desc(`""`), code: badDesc},
		{id: "C14", name: "reject-1025-combining", input: desc("e" + strings.Repeat("e\u0301", 512)), code: "description-too-long"},
		{id: "C14", name: "reject-white-space", input: desc(`"  "`), code: badDesc},
		{id: "DVS-4.3-10", name: "accept-example", input: file("name: customer-support\ndescription: Handles common customer support inquiries for\n  Acme Corp products. Use when the user asks about product\n  returns, warranty claims, or order status.\n"),
			skill: "customer-support", text: "Handles common customer support inquiries for Acme Corp products. Use when the user asks about product returns, warranty claims, or order status."},
		{id: "DVS-4.3-10", name: "accept-folded-block", input: desc(">-\n  b\n  c"), text: "b c"},
		{id: "DVS-4.3-10", name: "reject-unindented", input: file("name: a\ndescription: b\nc\n"), code: front},

		{id: "DVS-4.3-13", name: "accept-tab-and-lf", input: desc(`"b\tc\nd"`), text: "b\tc\nd"},
		{id: "DVS-4.3-13", name: "accept-bidi", input: desc("b\u202ec"), text: "b\u202ec", finding: "unsafe-characters"},
		{id: "DVS-4.3-13", name: "reject-escape", input: desc(`"b\x1b[2K"`), code: badDesc},
		{id: "DVS-4.3-13", name: "reject-in-a-later-line", input: desc("b\n\n  c\x1b"), code: badDesc},
		{id: "DVS-4.3-13", name: "reject-raw-escape", input: desc("b\x1b[2K"), code: badDesc},
		{id: "DVS-4.3-13", name: "reject-c1", input: desc(`"b\x9bc"`), code: badDesc},
		{id: "DVS-4.3-13", name: "reject-del", input: desc("b\x7f"), code: badDesc},
		{id: "DVS-4.3-13", name: "reject-in-name", input: name("a\x1b"), code: badName},
		{id: "E04", name: "reject-terminal-escapes", input: desc(`"\x1b[2K\x1b[1A Trust Root: https://bank.example/"`), code: badDesc},
		{id: "E04", name: "reject-hyperlink", input: desc("\x1b]8;;https://bank.example/\x07x"), code: badDesc},
		{id: "C19", name: "accept-tags-in-the-body", input: plain + "\U000e0001\U000e0041", finding: "unsafe-characters"},
		{id: "C19", name: "accept-zero-width-run", input: plain + "a\u200b\u200b\u2060", finding: "unsafe-characters"},
		{id: "C19", name: "accept-selectors-run", input: plain + "😀\ufe0f\ufe0f\ufe0f", finding: "unsafe-characters"},
		{id: "C19", name: "reject-zero-width-in-name", input: name("a\u200b"), code: badName},
		{id: "C19", name: "reject-joiner-in-name", input: name("a\u200db"), code: badName},
		{id: "C19", name: "reject-word-joiner-in-name", input: name("a\u2060b"), code: badName},
		{id: "C19", name: "reject-selector-in-name", input: name("a\ufe0f"), code: badName},
		{id: "C19", name: "reject-in-name", input: name("a\U000e0041"), code: badName},
	} {
		t.Run(c.id+"/"+c.name, c.run)
	}
}

func TestAgentSkills(t *testing.T) {
	plain := "name: a\ndescription: b\n"
	for _, c := range []skillCase{
		{name: "accept-all-fields", input: file(plain + "license: MIT\ncompatibility: needs git\nmetadata:\n  author: x\n  version: 1.0\nallowed-tools: Read Write\n")},
		{name: "accept-other-key", input: file(plain + "version: 1\n"), finding: "unknown-field"},
		{name: "reject-license-map", input: file(plain + "license: {name: MIT}\n"), code: "bad-field"},
		{name: "reject-long-compatibility", input: file(plain + "compatibility: " + strings.Repeat("x", 501) + "\n"), code: "bad-field"},
		{name: "reject-empty-compatibility", input: file(plain + "compatibility: \"\"\n"), code: "bad-field"},
		{name: "reject-metadata-text", input: file(plain + "metadata: x\n"), code: "bad-field"},
		{name: "reject-nested-metadata", input: file(plain + "metadata:\n  x: [1]\n"), code: "bad-field"},
		{name: "reject-tools-list", input: file(plain + "allowed-tools:\n  - Read\n"), code: "bad-field"},
		{name: "reject-empty-body", input: "---\n" + plain + "---\n", code: "empty-body"},
	} {
		c.profile = dvs.AgentSkills
		t.Run(c.name, c.run)
		if c.code == "bad-field" {
			c.profile, c.finding, c.code = dvs.DVS, c.code, ""
			t.Run("dvs-keeps-it", c.run)
		}
	}
}

func TestExtra(t *testing.T) {
	skill, _, err := dvs.ParseSkill([]byte(file("name: a\ndescription: b\nlicense: MIT\nmetadata:\n  author: x\nx-foo: [1, 2]\nallowed-tools: Bash\n")), dvs.DVS, dvs.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	t.Run("DVS-4.3-11/accept-extra-keys", func(t *testing.T) {
		if skill.Text("license") != "MIT" || skill.Annotations()["author"] != "x" || skill.Text("allowed-tools") != "Bash" {
			t.Errorf("%+v", skill)
		}
		v, ok := skill.Value("x-foo")
		if !ok || v.Kind != dvs.List || len(v.Items) != 2 || v.Items[1].Text != "2" || v.Position.Line != 7 || v.Position.Column != 8 {
			t.Errorf("%+v", v)
		}
	})
	t.Run("DVS-4.3-11/reject-as-permission", func(t *testing.T) {
		if len(skill.Extra) != 4 || skill.Extra[3].Key != "allowed-tools" {
			t.Errorf("the wish is not kept with the other keys: %+v", skill.Extra)
		}
	})
	t.Run("positions", func(t *testing.T) {
		if p := skill.BodyPosition; p.Line != 10 || p.Column != 1 || skill.Body != "\n# Instructions\n\nDo it.\n" {
			t.Errorf("%+v %q", p, skill.Body)
		}
	})
}

func TestDisplay(t *testing.T) {
	skill, _, err := dvs.ParseSkill([]byte(file("name: a\ndescription: \"b\\n\u202ec\\u200bd\U000e0041\"\n")), dvs.DVS, dvs.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	t.Run("C19/accept-stripped", func(t *testing.T) {
		if got := skill.Display(); got != "b cd" {
			t.Errorf("%q", got)
		}
	})
}

// TestHostileHeaders bounds what refusing takes.
func TestHostileHeaders(t *testing.T) {
	for _, c := range []struct{ id, name, header string }{
		{"C16", "reject-brackets", "x: " + strings.Repeat("[", 16_000) + "\n"},
		{"C16", "reject-dashes", strings.Repeat("- ", 8_000) + "\n"},
		{"C16", "reject-question-marks", strings.Repeat("? ", 8_000) + "\n"},
		{"C16", "reject-braces", "x: " + strings.Repeat("{a: ", 4_000) + "\n"},
		{"C16", "reject-20000", "x: " + strings.Repeat("[", 20_000) + "\n"},
		{"C01", "reject-many-aliases", "x: &a b\ny: [" + strings.Repeat("*a,", 5_000) + "]\n"},
		{"C16", "reject-comments", "x: [" + strings.Repeat("#\n", 8_000) + "\n"},
		{"C16", "reject-unclosed-quote", "x: \"" + strings.Repeat("a\n\n", 5_000) + "\n"},
		{"C16", "reject-many-keys", strings.Repeat("a: 1\n", 3_200)},
		{"C16", "reject-17-lists", "x: " + strings.Repeat("[", 17) + strings.Repeat("]", 17) + "\n"},
		{"C16", "reject-17-maps", "x: " + strings.Repeat("{a: ", 17) + "1" + strings.Repeat("}", 17) + "\n"},
		{"C16", "reject-colons", "x: " + strings.Repeat("a: ", 5_000) + "\n"},
	} {
		t.Run(c.id+"/"+c.name, func(t *testing.T) {
			for _, profile := range []dvs.Profile{dvs.DVS, dvs.Lenient} {
				alloctest.AtMost(t, maxCost, func() {
					if _, _, err := dvs.ParseSkill([]byte(file(c.header)), profile, dvs.Limits{}); err == nil {
						t.Error("accepted")
					}
				})
			}
		})
	}
}

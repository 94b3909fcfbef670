package dvs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
)

// TestOptionalFields: what AgentSkills says about fields that this draft keeps without a meaning.
func TestOptionalFields(t *testing.T) {
	for name, c := range map[string]struct {
		header  string
		code    lookleap.Code // of the only finding; "": none
		message string
		fix     string
	}{
		"accept-all":                 {"license: MIT\ncompatibility: x\nallowed-tools: Read Bash\nmetadata:\n  a: b\n  c: 1\n", "", "", ""},
		"reject-list-of-tools":       {"allowed-tools: [Read, Bash]\n", dvs.CodeBadField, "the value of allowed-tools is a list, not a text", "write the tools in one line with blanks between them"},
		"reject-map-of-tools":        {"allowed-tools: {a: b}\n", dvs.CodeBadField, "the value of allowed-tools is a mapping, not a text", "write it as one text"},
		"reject-list-of-licenses":    {"license: [MIT]\n", dvs.CodeBadField, "the value of license is a list, not a text", "write it as one text"},
		"reject-compatibility-list":  {"compatibility: [x]\n", dvs.CodeBadField, "the value of compatibility is a list, not a text", "write it as one text"},
		"accept-long-compatibility":  {"compatibility: " + strings.Repeat("\u00e9", 500) + "\n", "", "", ""},
		"reject-long-compatibility":  {"compatibility: " + strings.Repeat("\u00e9", 501) + "\n", dvs.CodeBadField, "the value of compatibility has 501 characters, 1 to 500 are allowed", "shorten it, or leave it out"},
		"reject-empty-compatibility": {"compatibility: ''\n", dvs.CodeBadField, "the value of compatibility has 0 characters, 1 to 500 are allowed", "shorten it, or leave it out"},
		"reject-metadata-text":       {"metadata: x\n", dvs.CodeBadField, "the value of metadata is a text, not a mapping", "write lines of the form key: value below it"},
		"reject-metadata-list":       {"metadata:\n  a: [b]\n", dvs.CodeBadField, `the value of metadata has a list below "a" where a text should be`, "write it as one text"},
		"reject-unknown":             {"other: x\n", dvs.CodeUnknownField, `the key "other" is kept and has no meaning here`, "put it below metadata"},
		"reject-known-with-a-sign":   {"'license!': x\n", dvs.CodeUnknownField, `the key "license!" is kept and has no meaning here`, "put it below metadata"},
		"reject-other-case":          {"License: x\n", dvs.CodeUnknownField, `the key "License" is not license, and other readers may take it for that`, "write it as license, or remove it"},
		"reject-look-alike":          {"li\u0441ense: x\n", dvs.CodeUnknownField, "the key \"li\u0441ense\" is not license, and other readers may take it for that", "write it as license, or remove it"},
		"reject-without-a-hyphen":    {"allowed_tools: x\n", dvs.CodeUnknownField, `the key "allowed_tools" is not allowed-tools, and other readers may take it for that`, "write it as allowed-tools, or remove it"},
	} {
		t.Run(name, func(t *testing.T) {
			_, findings, err := dvs.ParseSkill([]byte(file("name: a\ndescription: b\n"+c.header)), dvs.AgentSkills, dvs.Limits{})
			if (err != nil) != (c.code == dvs.CodeBadField) {
				t.Error(err)
			}
			if c.code == "" && len(findings) == 0 || len(findings) == 1 && findings[0].Code == c.code &&
				strings.TrimSuffix(findings[0].Message, "; the profile Lenient reads the skill") == c.message && findings[0].Fix == c.fix {
				return
			}
			t.Errorf("%+v", findings)
		})
	}
}

// TestParseMetadataReads: the header alone is read by the limits and the profile of the whole file.
func TestParseMetadataReads(t *testing.T) {
	plain := file("name: a\ndescription: b\n")
	for name, c := range map[string]struct {
		input   string
		profile dvs.Profile
		limits  dvs.Limits
		code    lookleap.Code
		hint    bool // that Lenient reads it
	}{
		"accept-whole-header":      {plain, dvs.DVS, dvs.Limits{Skill: 40}, lookleap.CodeOK, false},
		"reject-header-cut":        {plain, dvs.DVS, dvs.Limits{Skill: 20}, dvs.CodeUnterminated, false},
		"accept-utf-16-in-lenient": {"\xff\xfe" + utf16le(plain), dvs.Lenient, dvs.Limits{}, lookleap.CodeOK, false},
		"reject-nothing":           {"", dvs.DVS, dvs.Limits{}, dvs.CodeNoFrontmatter, false},
		"reject-without-a-name":    {strings.ReplaceAll(plain, "name: a", "n: a"), dvs.DVS, dvs.Limits{}, lookleap.CodeBadName, false},
		"reject-invalid-byte":      {strings.ReplaceAll(plain, ": b", ": \xff"), dvs.DVS, dvs.Limits{}, lookleap.CodeNotUTF8, true},
		"reject-nul":               {strings.ReplaceAll(plain, ": b", ": \x00b"), dvs.DVS, dvs.Limits{}, lookleap.CodeNotUTF8, true},
		"reject-utf-16":            {"\xff\xfe" + utf16le(plain), dvs.DVS, dvs.Limits{}, dvs.CodeNoFrontmatter, true},
	} {
		t.Run(name, func(t *testing.T) {
			meta, _, err := dvs.ParseMetadata([]byte(c.input), c.profile, c.limits)
			if lookleap.CodeOf(err) != c.code || (meta != nil) != (err == nil) || meta != nil && meta.Name != "a" ||
				err != nil && strings.Contains(err.Error(), "the profile Lenient reads the skill") != c.hint {
				t.Errorf("%+v, %v", meta, err)
			}
		})
	}
}

// TestHeaderFaults: of several faults, the first one is reported.
func TestHeaderFaults(t *testing.T) {
	keys := func(n int) (b string) {
		for i := range n {
			b += fmt.Sprintf("k%d: {}\n", i)
		}
		return b
	}
	nested := func(n int) (b string) {
		for i := range n - 1 {
			b += strings.Repeat("  ", i+1) + "x:\n"
		}
		return b + strings.Repeat("  ", n-1)
	}
	for name, c := range map[string]struct{ header, says string }{
		"anchor-then-tag":      {"x: &a y\nz: !b c\n", "4:4: an anchor names a value"},
		"anchor-then-key":      {"x: {&a y: z}\n[b]: c\n", "4:5: an anchor names a value"},
		"repeated-then-anchor": {"x: y\nx: &a z\n", `5:1: the key "x" is repeated`},
		"quote-alone":          {"x: \"\n", "4:4: the metadata is not valid YAML"},
		"after-a-backslash":    {"x: 'a\\b'\ny: [z\n", "5:4: the metadata is not valid YAML"},
		"after-double-quotes":  {"x: \"a\"\ny: [z\n", "5:4: the metadata is not valid YAML"},
		"marker-with-a-tab":    {"---\tx\n", "4:1: the line ends the YAML document inside the metadata"},
		"anchor-and-alias":     {"x: &a y\nz: *a\n", "4:4: an anchor names a value"},
		"repeated-of-many":     {keys(300) + "k7: {}\n", `304:1: the key "k7" is repeated`},
		"depth":                {"x:\n" + nested(15) + "  y: z\n", ""},
		"depth-beyond":         {"x:\n" + nested(16) + "  y: z\n", "20:33: the metadata is nested more than 16 deep"},
		"next-line":            {"x: a\u0085\n", "4:5: the metadata has the character U+0085, which only some readers treat as a line end"},
		"line-separator":       {"x: a\u2028\n", "4:5: the metadata has the character U+2028, which only some readers treat as a line end"},
		"paragraph-separator":  {"x: a\u2029\n", "4:5: the metadata has the character U+2029, which only some readers treat as a line end"},
		"control":              {"x: a\x01\n", "4:5: the metadata has the character U+0001"},
		"delete":               {"x: a\x7f\n", "4:5: the metadata has the character U+007F"},
		"second-control":       {"x: a\u009f\n", "4:5: the metadata has the character U+009F"},
		"mark":                 {"x: a\ufeff\n", "4:5: the metadata has the character U+FEFF"},
		"no-character":         {"x: a\ufffe\n", "4:5: the metadata has the character U+FFFE"},
		"no-character-either":  {"x: a\uffff\n", "4:5: the metadata has the character U+FFFF"},
		"carriage-return":      {"x: a\rb\n", "4:5: the metadata has the character U+000D, which only some readers treat as a line end"},
		"blank-before-another": {"x:   \ny: [z\n", "5:4: the metadata is not valid YAML"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := dvs.ParseSkill([]byte(file("name: a\ndescription: b\n"+c.header)), dvs.DVS, dvs.Limits{})
			if (lookleap.CodeOf(err) != dvs.CodeBadFrontmatter) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Error(err)
			}
		})
	}
}

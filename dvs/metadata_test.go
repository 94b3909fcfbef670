package dvs_test

import (
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
)

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
		"accept-whole-header":   {plain, dvs.DVS, dvs.Limits{Skill: 40}, lookleap.CodeOK, false},
		"reject-header-cut":     {plain, dvs.DVS, dvs.Limits{Skill: 20}, dvs.CodeUnterminated, false},
		"reject-nothing":        {"", dvs.DVS, dvs.Limits{}, dvs.CodeNoFrontmatter, false},
		"reject-without-a-name": {strings.ReplaceAll(plain, "name: a", "n: a"), dvs.DVS, dvs.Limits{}, lookleap.CodeBadName, false},
		"reject-invalid-byte":   {strings.ReplaceAll(plain, ": b", ": \xff"), dvs.DVS, dvs.Limits{}, lookleap.CodeNotUTF8, true},
		"reject-nul":            {strings.ReplaceAll(plain, ": b", ": \x00b"), dvs.DVS, dvs.Limits{}, lookleap.CodeNotUTF8, true},
		"reject-utf-16":         {"\xff\xfe" + utf16le(plain), dvs.DVS, dvs.Limits{}, dvs.CodeNoFrontmatter, false},
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

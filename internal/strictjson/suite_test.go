package strictjson

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// decisions holds what the suite leaves to each implementation, and one case
// that it wants accepted. "" means accepted.
var decisions = map[string]struct {
	code  string // of the text
	value string // of its number, when it is read
}{
	"y_object_duplicated_key":           {code: CodeDuplicateName}, // by design: RFC 8259 lets a reader choose, and readers choose differently
	"y_object_duplicated_key_and_value": {code: CodeDuplicateName},

	// A number is a text until a caller reads it; what a double cannot hold is refused then.
	"i_number_double_huge_neg_exp":   {value: CodePrecisionLoss},
	"i_number_huge_exp":              {value: CodeOverflow},
	"i_number_neg_int_huge_exp":      {value: CodeOverflow},
	"i_number_pos_double_huge_exp":   {value: CodeOverflow},
	"i_number_real_neg_overflow":     {value: CodeOverflow},
	"i_number_real_pos_overflow":     {value: CodeOverflow},
	"i_number_real_underflow":        {value: CodePrecisionLoss},
	"i_number_too_big_neg_int":       {value: CodePrecisionLoss},
	"i_number_too_big_pos_int":       {}, // 1e20, which a double holds; Int refuses it
	"i_number_very_big_negative_int": {value: CodePrecisionLoss},

	// Half a character has no UTF-8 form, so readers replace it, drop it or keep it.
	"i_object_key_lone_2nd_surrogate":                {code: CodeSurrogate},
	"i_string_1st_surrogate_but_2nd_missing":         {code: CodeSurrogate},
	"i_string_1st_valid_surrogate_2nd_invalid":       {code: CodeSurrogate},
	"i_string_incomplete_surrogate_and_escape_valid": {code: CodeSurrogate},
	"i_string_incomplete_surrogate_pair":             {code: CodeSurrogate},
	"i_string_incomplete_surrogates_escape_valid":    {code: CodeSurrogate},
	"i_string_invalid_lonely_surrogate":              {code: CodeSurrogate},
	"i_string_invalid_surrogate":                     {code: CodeSurrogate},
	"i_string_inverted_surrogates_U+1D11E":           {code: CodeSurrogate},
	"i_string_lone_second_surrogate":                 {code: CodeSurrogate},

	"i_string_UTF-16LE_with_BOM":              {code: CodeNotUTF8},
	"i_string_UTF-8_invalid_sequence":         {code: CodeNotUTF8},
	"i_string_UTF8_surrogate_U+D800":          {code: CodeNotUTF8},
	"i_string_invalid_utf-8":                  {code: CodeNotUTF8},
	"i_string_iso_latin_1":                    {code: CodeNotUTF8},
	"i_string_lone_utf8_continuation_byte":    {code: CodeNotUTF8},
	"i_string_not_in_unicode_range":           {code: CodeNotUTF8},
	"i_string_overlong_sequence_2_bytes":      {code: CodeNotUTF8},
	"i_string_overlong_sequence_6_bytes":      {code: CodeNotUTF8},
	"i_string_overlong_sequence_6_bytes_null": {code: CodeNotUTF8},
	"i_string_truncated-utf-8":                {code: CodeNotUTF8},
	"i_string_utf16BE_no_BOM":                 {code: CodeNotUTF8},
	"i_string_utf16LE_no_BOM":                 {code: CodeNotUTF8},
	"i_structure_UTF-8_BOM_empty_object":      {code: CodeBOM},

	"i_structure_500_nested_arrays": {code: CodeTooDeep}, // Limits.Depth can be raised
}

// TestJSONTestSuite decides every file of nst/JSONTestSuite: y_ must be
// accepted, n_ refused, and i_ as the table above says.
func TestJSONTestSuite(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(suites(t), "JSONTestSuite", "*.json"))
	if err != nil || len(files) == 0 {
		t.Skipf("JSONTestSuite is absent: LOOKLEAP_SUITES names the directory that holds it (%v)", err)
	}
	decided := 0
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		v, err := Parse(data, Limits{})
		decision, listed := decisions[name]
		switch {
		case listed:
			decided++
			if code(err) != decision.code {
				t.Errorf("%s: %v, want %q", name, err, decision.code)
			}
			if decision.value != "" {
				for number := range v.Elements() {
					if _, err := number.Float(); code(err) != decision.value {
						t.Errorf("%s: its number: %v, want %s", name, err, decision.value)
					}
				}
			}
		case strings.HasPrefix(name, "y_"):
			if err != nil {
				t.Errorf("%s is refused: %v", name, err)
			}
		case strings.HasPrefix(name, "n_"):
			if err == nil {
				t.Errorf("%s is accepted", name)
			}
		default:
			t.Errorf("%s is not decided: %v", name, err)
		}
	}
	if decided != len(decisions) {
		t.Errorf("%d of %d decisions were applied", decided, len(decisions))
	}
}

// suites finds the directory of the suites that others wrote.
func suites(t *testing.T) string {
	if dir := os.Getenv("LOOKLEAP_SUITES"); dir != "" {
		return dir
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for dir != filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	return filepath.Join(dir, "..", "shared", "suites")
}

package strictjson

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/lookleap/lookleap/internal/test/alloctest"
)

// refusal returns the error of a text that has to be refused.
func refusal(t *testing.T, text string, limits Limits) *Error {
	t.Helper()
	v, err := Parse([]byte(text), limits)
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("Parse(%.80q) is accepted", text)
	}
	if v != (Value{}) {
		t.Errorf("Parse(%.80q) returns a value with its error", text)
	}
	return e
}

func accept(t *testing.T, text string, limits Limits) Value {
	t.Helper()
	v, err := Parse([]byte(text), limits)
	if err != nil {
		t.Fatalf("Parse(%.80q): %v", text, err)
	}
	return v
}

func TestRefusals(t *testing.T) {
	for _, test := range []struct {
		text string
		want string // line:column, pointer, sentence and code
		fix  string
	}{
		{``, `1:1: the text has no value (json-syntax)`, "write one value"},
		{" \n ", `2:2: the text has no value (json-syntax)`, "write one value"},
		{`{"a":`, `1:6 "/a": the text ends before its value does (json-syntax)`, "check that the text is complete"},
		{`{"a"`, `1:5 "/a": the text ends before its value does (json-syntax)`, "check that the text is complete"},
		{`{`, `1:2: the text ends before its value does (json-syntax)`, "check that the text is complete"},
		{`[1`, `1:3: the text ends before its value does (json-syntax)`, "check that the text is complete"},
		{`{"a":{"b":[0,1,x]}}`, `1:16 "/a/b/2": invalid character 'x' at start of value (json-syntax)`, "write names and strings in double quotes, and true, false and null in lower case"},
		{"{\"a\":1,\n \"b\":}", `2:6 "/b": missing value after object name (json-syntax)`, ""},
		{`[1,]`, `1:3: invalid character ',' at start of value (json-syntax)`, "remove the comma"},
		{`{"a":1,}`, `1:7: invalid character ',' at start of value (json-syntax)`, "remove the comma"},
		{`{a:1}`, `1:2: invalid character 'a' at start of value (json-syntax)`, "write names and strings in double quotes, and true, false and null in lower case"},
		{`{"a" 1}`, `1:6 "/a": invalid character '1' after object name (expecting ':') (json-syntax)`, ""},
		{`{"a":1 "b":2}`, `1:8: invalid character '"' after object value (expecting ',' or '}') (json-syntax)`, ""},
		{`[1 2]`, `1:4: invalid character '2' after array element (expecting ',' or ']') (json-syntax)`, ""},
		{`[{"a":[]},{"b":['c']}]`, `1:17 "/1/b/0": invalid character '\'' at start of value (json-syntax)`, "write names and strings in double quotes, and true, false and null in lower case"},
		{`[1] // one`, `1:5: something follows the value: '/' (json-trailing-data)`, "write only one value"},
		{`{}{}`, `1:3: something follows the value: '{' (json-trailing-data)`, "write only one value"},
		{`// one`, `1:1: invalid character '/' at start of value (json-syntax)`, "remove comments, which JSON does not have"},
		{`[01]`, `1:3: invalid character '1' after array element (expecting ',' or ']') (json-syntax)`, "remove leading zeros"},
		{`[-]`, `1:3 "/0": invalid character ']' in number (expecting digit) (json-syntax)`, ""},
		{`[1.e1]`, `1:4 "/0": invalid character 'e' in number (expecting digit) (json-syntax)`, ""},
		{`[1e+]`, `1:5 "/0": invalid character ']' in number (expecting digit) (json-syntax)`, ""},
		{`[+1]`, `1:2 "/0": invalid character '+' at start of value (json-syntax)`, "begin numbers with a digit or a minus sign"},
		{`[NaN]`, `1:2 "/0": invalid character 'N' at start of value (json-syntax)`, "omit numbers that are not finite"},
		{`[True]`, `1:2 "/0": invalid character 'T' at start of value (json-syntax)`, "write names and strings in double quotes, and true, false and null in lower case"},
		{`[“a”]`, `1:2 "/0": invalid character '“' at start of value (json-syntax)`, ""},
		{`["a]`, `1:2 "/0": the string is not closed (json-syntax)`, "end the string with a double quote"},
		{"[\"a\tb\"]", `1:4 "/0": invalid character '\t' in string (expecting non-control character) (json-syntax)`, `write control characters as escapes such as \n`},
		{`["\x41"]`, `1:3 "/0": the string contains an unknown escape (json-syntax)`, `escape with \" \\ \/ \b \f \n \r \t or \u and four hexadecimal digits`},
		{`["\u12G4"]`, `1:3 "/0": the string contains an unknown escape (json-syntax)`, `escape with \" \\ \/ \b \f \n \r \t or \u and four hexadecimal digits`},
		{`["a\uD83D\u0041"]`, `1:4 "/0": the escape "\\uD83D" is half a character (json-lone-surrogate)`, "write both surrogates, the high one first, or the character itself"},
		{"\xEF\xBB\xBF{}", `1:1: a byte order mark precedes the text (json-bom)`, "save the text as UTF-8 without a byte order mark"},
		{"[\xff]", `1:2 "/0": the text is not UTF-8, found byte 0xff (not-utf8)`, "save the text as UTF-8"},
		{"[1\xff]", `1:3: the text is not UTF-8, found byte 0xff (not-utf8)`, "save the text as UTF-8"},
		{"[\"\xe2\x82\"]", `1:3 "/0": the text is not UTF-8, found byte 0xe2 (not-utf8)`, "save the text as UTF-8"},
		{"[\x00\"\x00", `1:2 "/0": the text is not UTF-8, found byte 0x0 (not-utf8)`, "save the text as UTF-8"},
		{`{"a/b":{"m~n":[[],[tru]]}}`, `1:23 "/a~1b/m~0n/1/0": invalid character ']' in literal true (expecting 'e') (json-syntax)`, ""},
		{"{\"a\":1,\n\"\\u0061\":2}", `2:1 "/a": the object has two members with the name "a" (json-duplicate-name)`, "keep one of the members"},
	} {
		e := refusal(t, test.text, Limits{})
		want := test.want
		if test.fix != "" {
			want += "; " + test.fix
		}
		if got := e.Error(); got != want {
			t.Errorf("%q:\n got %s\nwant %s", test.text, got, want)
		}
		if e.Offset != e.Place().Offset {
			t.Errorf("%q: offsets %d and %d", test.text, e.Offset, e.Place().Offset)
		}
	}
}

func TestLimits(t *testing.T) {
	nested := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, test := range []struct {
		name, in, over string
		limits         Limits
		code           string
		at             int
	}{
		{"size", `[12]`, `[123]`, Limits{Size: 4, Values: 9}, CodeTooLarge, 4},
		{"size-default", `"` + strings.Repeat("a", DefaultSize-2) + `"`, `"` + strings.Repeat("a", DefaultSize-1) + `"`, Limits{}, CodeTooLarge, DefaultSize},
		{"depth", nested(3), nested(4), Limits{Depth: 3}, CodeTooDeep, 3},
		{"depth-default", nested(DefaultDepth), nested(DefaultDepth + 1), Limits{}, CodeTooDeep, DefaultDepth},
		{"depth-objects", `[{"a":{}}]`, `[{"a":[{}]}]`, Limits{Depth: 3}, CodeTooDeep, 7},
		{"size-least", `1`, `12`, Limits{Size: 1}, CodeTooLarge, 1},
		{"depth-least", `[1]`, `[[1]]`, Limits{Depth: 1}, CodeTooDeep, 1},
		{"values-least", `[]`, `[1]`, Limits{Values: 1}, CodeTooMany, 1},
		{"values-of-a-small-size", `[]`, `[1]`, Limits{Size: 3}, CodeTooMany, 1},
		{"values", `[1,[2]]`, `[1,[2,3]]`, Limits{Values: 4}, CodeTooMany, 6},
		{"values-default", `[1,[2],{"a":3}]`, `[1,[2],{"a":3},4]`, Limits{Size: 6 * bytesPerValue}, CodeTooMany, 15},
	} {
		t.Run(test.name, func(t *testing.T) {
			accept(t, test.in, test.limits)
			e := refusal(t, test.over, test.limits)
			if e.Code != test.code || e.Offset != test.at {
				t.Errorf("%s at %d, want %s at %d", e.Code, e.Offset, test.code, test.at)
			}
		})
	}
	if got := (Limits{Size: math.MaxInt}).withDefaults().Size; got != math.MaxInt32 { // the offsets have 31 bits
		t.Errorf("the largest size is %d", got)
	}
}

func TestSkipBOM(t *testing.T) {
	v := accept(t, "\xEF\xBB\xBF\n[1]", Limits{SkipBOM: true})
	if got := v.Place().String(); got != "2:1" || v.Offset() != 4 {
		t.Errorf("the place is %s, offset %d", got, v.Offset())
	}
	if e := refusal(t, "\xEF\xBB\xBF\xEF\xBB\xBF1", Limits{SkipBOM: true}); e.Offset != 3 {
		t.Errorf("the second mark is refused at %d", e.Offset)
	}
}

// TestMemoryWhileRefusing counts all that is allocated, whether it was live at
// the same time or not: it is in proportion to the size limit.
func TestMemoryWhileRefusing(t *testing.T) {
	for _, size := range []int{64 << 10, DefaultSize} {
		for name, text := range hostile(size) {
			t.Run(fmt.Sprintf("%s-%d", name, size), func(t *testing.T) {
				data := []byte(text)
				alloctest.AtMost(t, 20*size, func() {
					if _, err := Parse(data, Limits{Size: size}); err == nil {
						t.Fatal("is accepted")
					}
				})
			})
		}
	}
}

// hostile returns texts that fill a size limit and end in a fault or break a bound.
func hostile(size int) map[string]string {
	fill := func(head string, part func(i int) string, tail string) string {
		var b strings.Builder
		b.WriteString(head)
		for i := 0; b.Len() < size-len(tail)-64; i++ {
			b.WriteString(part(i))
		}
		return b.String() + tail
	}
	repeat := func(s string) func(int) string { return func(int) string { return s } }
	distinct := func(i int) string { return fmt.Sprintf(`"%016x":0,`, i) }
	escaped := func(i int) string { return fmt.Sprintf(`"\u0061%011x":0,`, i) }
	return map[string]string{
		"too-large":         strings.Repeat(" ", size+1),
		"deep":              strings.Repeat("[", size),
		"deep-objects":      strings.Repeat(`{"a":`, size/5),
		"many-values":       fill("[0", repeat(",0"), "]"),
		"open-string":       fill(`["`, repeat("a"), ""),
		"commas-in-string":  fill(`["`, repeat(","), ""),
		"escapes":           fill(`["`, repeat(`\n`), ""),
		"lone-surrogates":   fill(`["`, repeat(`\ud83d\ude00`), `\ud800"]`),
		"not-utf8":          fill(`["`, repeat("é"), "\xff\"]"),
		"long-name":         fill(`{"`, repeat("/"), `":x}`),
		"names":             fill("{", distinct, distinct(0)[:20]+"}"),
		"escaped-names":     fill("{", escaped, escaped(0)[:21]+"}"),
		"nested-duplicates": fill("[", repeat(`{"aaaaaaaaaaaaaaaaaaaa":0,"bbbbbbbbbbbbbbbbbb":0},`), `{"a":1,"a":2}]`),
		"long-number":       fill("[", repeat("1"), "x]"),
		"newlines":          fill("[", repeat("\n"), "x]"),
	}
}

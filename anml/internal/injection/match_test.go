package injection

import (
	"slices"
	"strings"
	"testing"
)

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"":                 "",
		"two words":        "two words",
		"a2 2a 24/7":       "a2 2a 24 7",
		"का, की":           "का की",       // vowel signs belong to the word
		"ab中文c":            "ab 中 文 c",    // no blanks in Chinese
		"メール ไทย":          "メ ー ル ไ ท ย", // nor in Japanese and Thai
		"えーーと":             "え ー ー と",
		"한국어 say":          "한국어 say",         // but in Korean
		"one. two":         "one . . . . two", // the end of a sentence
		"one!? two。":       "one . . . . two . . . .",
		"... one, two; 3":  "one two 3",
		"one.\n\n. two":    "one . . . . two",
		"one, two\x00four": "one two four",
	} {
		if got := strings.Join(words(text), " "); got != want {
			t.Errorf("the words of %q are %q, not %q", text, got, want)
		}
	}
}

func TestPhrase(t *testing.T) {
	for _, c := range []struct {
		phrase, text string
		open, want   bool
	}{
		{"rule", "rule two", false, true},
		{"rule", "ruler", false, false},
		{"rule", "ruler", true, true},
		{"set aside", "set aside", false, true},
		{"set aside", "set", false, false},
		{"set aside", "sew aside", false, false},
		{"set aside", "set asides", false, false},
		{"set aside", "set asides", true, true},
	} {
		ph := phrase{strings.Fields(c.phrase), c.open}
		if ph.matches(strings.Fields(c.text)) != c.want {
			t.Errorf("%q, open %t, in %q is not %t", c.phrase, c.open, c.text, c.want)
		}
	}
}

// TestFollows: where the second group may stand when the first one is found.
func TestFollows(t *testing.T) {
	for name, c := range map[string]struct {
		text   string // the first group is "xx"
		second string
		within int
		any    bool
		want   bool
	}{
		"at once":                       {"xx bb", "bb", 0, false, true},
		"as far behind as allowed":      {"xx .. .. bb", "bb", 2, false, true},
		"too far behind":                {"xx .. .. bb", "bb", 1, false, false},
		"before, in order":              {"bb xx", "bb", 2, false, false},
		"before, in any order":          {"bb xx", "bb", 0, true, true},
		"as far before as allowed":      {"bb .. xx", "bb", 0, true, true},
		"too far before":                {"bb .. .. xx", "bb", 0, true, false},
		"the same word":                 {"xx", "xx", 2, true, false},
		"a phrase with the same word":   {"bb xx", "bb xx", 2, true, false},
		"a phrase before":               {"bb bb xx", "bb bb", 0, true, true},
		"no second group in the text":   {"xx .. ..", "bb", 2, true, false},
		"a second word of another kind": {"xx bc", "bb", 2, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			text, second := strings.Fields(c.text), strings.Fields(c.second)
			r := rule{within: c.within, any: c.any, groups: []group{nil, {beginning(second[0]): {{words: second}}}}}
			at := slices.Index(text, "xx")
			if r.follows(text, at, at+1, 1) != c.want {
				t.Errorf("%q in %q is not %t", c.second, c.text, c.want)
			}
		})
	}
}

// TestDenied: a word of denial counts up to three words before.
func TestDenied(t *testing.T) {
	for _, no := range []string{"not", "never", "nicht", "niemals", "nie", "ne", "no", "nunca", "non", "mai", "nao", "niet", "не", "cannot"} {
		for before, want := range []bool{true, true, true, false} {
			text := append([]string{no}, slices.Repeat([]string{"word"}, before+1)...)
			if denied(text, before+1) != want {
				t.Errorf("%q, %d words between: not %t", no, before, want)
			}
		}
	}
	if denied([]string{"say", "it", "not"}, 2) {
		t.Error("a word behind the place counts")
	}
}

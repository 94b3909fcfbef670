package injection

import "testing"

// TestFold: what looks alike is compared as one text, and what shows nothing is gone.
func TestFold(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"capital letters":           {"ABC ÄÖÜ ЖЩ", "abc aou жщ"},
		"compatibility forms":       {"Ｉｆ ﬁ ①", "if fi 1"},
		"marks":                     {"e\u0301 n\u0303", "e n"},
		"letters with a stroke":     {"ẞß ı Øø Łł Đđ", "ss i oo ll dd"},
		"apostrophes":               {"a’b c`d e´f g'h", "a b c d e f g h"},
		"contractions":              {"Don’t, mustn't, shouldn't, doesn't", "do not, must not, should not, does not"},
		"tag characters":            {"\U000E0020\U000E0041\U000E007E|\U000E0001\U000E001F\U000E007F|", " a~||"},
		"line breaks and tabs":      {"a\nb\tc\rd\x00e", "a\nb\tcde"},
		"invalid UTF-8":             {"a\xffb", "a b"},
		"two alphabets in a word":   {"іgnоrе жo", "ignore жо"},
		"two alphabets in a text":   {"ж a", "ж a"},
		"the last letters are read": {"ok, аb", "ok, ab"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Fold(c.text); got != c.want {
				t.Errorf("Fold(%q) is %q, not %q", c.text, got, c.want)
			}
		})
	}
}

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

func TestInvisible(t *testing.T) {
	for _, r := range []rune{0, 0x1F, 0x7F, 0x80, 0x9F, 0xAD, 0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180E, 0x200B, 0x202E, 0x2065,
		0x2800, 0x3164, 0xD800, 0xE000, 0xFE0F, 0xFEFF, 0xFFA0, 0xFFFD, 0xE0002, 0xE0041, 0xE0100, 0x10FFFD} {
		if !Invisible(r) {
			t.Errorf("U+%04X counts as visible", r)
		}
	}
	for _, r := range []rune{' ', '!', '~', 0xA0, 0xAC, 0xAE, 'é', 0x034E, 0x1161, 0x17B6, 0x27FF, 0x2801, 0x3163, 0xFFA1, 0xFFFC, 0x1F600} {
		if Invisible(r) {
			t.Errorf("U+%04X counts as invisible", r)
		}
	}
}

// TestUnmix: a word of one alphabet stays as it is; one of two becomes the word that it looks like.
func TestUnmix(t *testing.T) {
	for word, want := range map[string]string{
		"сор":      "сор",      // all Cyrillic, though each letter looks Latin
		"cop":      "cop",      // all Latin
		"аb":       "ab",       // Cyrillic а
		"aе":       "ae",       // the only Latin letter is the first one
		"zо":       "zo",       // the only Latin letter is the last one
		"жo":       "жо",       // ж looks like no Latin letter
		"игнopиpy": "игнориру", // so the other letters become Cyrillic
		"ρassword": "password", // Greek
		"éо":       "éо",       // no letter from a to z
	} {
		if got := unmix(word); got != want {
			t.Errorf("unmix(%q) is %q, not %q", word, got, want)
		}
	}
}

// TestUndisguise: digits and signs are letters only in a word that has letters.
func TestUndisguise(t *testing.T) {
	for text, want := range map[string]string{
		"1gn0re @ll":    "ignore all",
		"a1":            "ai",
		"z1":            "zi",
		"1a":            "ia",
		"1z":            "iz",
		"|a |z":         "la lz",
		"|1":            "|1",
		"101 dogs, 345": "101 dogs, 345",
		"nж1":           "nж1",
		"013457@$!|x":   "oieastasilx",
	} {
		if got := undisguise(text); got != want {
			t.Errorf("undisguise(%q) is %q, not %q", text, got, want)
		}
	}
}

package confusable

import (
	"testing"

	"golang.org/x/text/unicode/norm"
)

func TestSkeleton(t *testing.T) {
	for _, pair := range [][2]string{
		{"paypal", "p\u0430yp\u0430l"}, {"ΕΜΑΙL", "EMAIL"}, {"emaiǀ", "email"}, {"scope", "ѕсоре"}, {"ꓰMAIL", "EMAIL"},
	} {
		if Skeleton(pair[0]) != Skeleton(pair[1]) {
			t.Errorf("%q and %q: %q, %q", pair[0], pair[1], Skeleton(pair[0]), Skeleton(pair[1]))
		}
	}
	for _, pair := range [][2]string{{"email", "tel"}, {"naïve", "naive"}, {"почта", "имя"}} {
		if Skeleton(pair[0]) == Skeleton(pair[1]) {
			t.Errorf("%q and %q", pair[0], pair[1])
		}
	}
}

func TestLetters(t *testing.T) {
	for r, want := range map[rune]string{
		'a': "a", 'Z': "z", '7': "7", '-': "", 'Ε': "e", 'ᴇ': "e", 'ᴍ': "m", 'ᴀ': "a", 'ɪ': "i", 'ʟ': "l", '℮': "e", 'ɑ': "a", 'ꓰ': "e", 'Ꭼ': "e",
		'ǀ': "l", 'ø': "o", '🇪': "e", 'я': "", '字': "", 'ν': "v", 'Ν': "n",
	} {
		if got := Letters(r); got != want {
			t.Errorf("%c: %q, want %q", r, got, want)
		}
	}
}

// The skeleton of a skeleton is itself, as UTS 39 has it, for all but a few texts
// whose parts form a new character.
func TestTables(t *testing.T) {
	all := tables()
	if len(all.skeletons) != 6263 || len(all.letters) != 503 {
		t.Fatal(len(all.skeletons), len(all.letters))
	}
	for from, to := range all.skeletons {
		if s := Skeleton(norm.NFD.String(to)); s != norm.NFD.String(to) && Skeleton(s) != s {
			t.Errorf("%U: %q, %q", from, to, s)
		}
	}
}

// TestVersion fails if the tables are older than what the oldest supported Go normalises by.
func TestVersion(t *testing.T) {
	const least = "15.0.0" // of golang.org/x/text with Go 1.26
	if Version < least {
		t.Errorf("the tables are of Unicode %s, texts are normalised by %s: see gen.go", Version, norm.Version)
	}
}

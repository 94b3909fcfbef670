package textdiff

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func show(lines []Line) string {
	var b strings.Builder
	for _, l := range lines {
		sign := '-'
		if l.Added {
			sign = '+'
		}
		fmt.Fprintf(&b, "%c%d %s|", sign, l.Number, l.Text)
	}
	return b.String()
}

func TestLines(t *testing.T) {
	for name, c := range map[string][3]string{
		"equal":      {"a\nb\n", "a\nb\n", ""},
		"last-line":  {"a\nb", "a\nb\n", ""},
		"empty":      {"", "", ""},
		"all-new":    {"", "a\nb\n", "+1 a|+2 b|"},
		"all-gone":   {"a\n", "", "-1 a|"},
		"one-line":   {"a\nb\nc\n", "a\nB\nc\n", "-2 b|+2 B|"},
		"inserted":   {"a\nb\n", "a\nx\nb\n", "+2 x|"},
		"removed":    {"a\nx\nb\n", "a\nb\n", "-2 x|"},
		"repeated":   {"x\nx\nx\nx\n", "x\nx\ny\nx\nx\n", "+3 y|"},
		"moved":      {"a\nb\nc\nd\n", "b\nc\nd\na\n", "-1 a|+4 a|"},
		"two-places": {"1\n2\n3\n4\n5\n", "1\nB\n3\n4\nE\n", "-2 2|+2 B|-5 5|+5 E|"},
		"cr":         {"a\r\n", "a\n", "-1 a\r|+1 a|"},
		"blank-line": {"a\n\nb\n", "a\nb\n", "-2 |"},
		"swapped":    {"a\nb\n", "b\na\n", "-1 a|+2 a|"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := show(Lines(c[0], c[1])); got != c[2] {
				t.Errorf("got %q, want %q", got, c[2])
			}
		})
	}
}

// TestLinesSmallest: the difference of small texts is the smallest one.
func TestLinesSmallest(t *testing.T) {
	smallest := func(a, b []string) int {
		row := make([]int, len(b)+1)
		for j := range row {
			row[j] = j
		}
		for i := range a {
			diagonal := row[0]
			row[0] = i + 1
			for j := range b {
				least := 1 + min(row[j], row[j+1])
				if a[i] == b[j] {
					least = diagonal
				}
				diagonal, row[j+1] = row[j+1], least
			}
		}
		return row[len(b)]
	}
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 1000 {
		lines := func(distinct bool) []string {
			var all []string
			for _, n := range r.Perm(12)[:r.IntN(12)] {
				if !distinct {
					n %= 4
				}
				all = append(all, string(rune('a'+n)))
			}
			return all
		}
		a, b := lines(i%2 == 0), lines(i%2 == 0)
		if got, want := compare(a, b, maxSteps), smallest(a, b); len(got) != want {
			t.Fatalf("%q to %q: %s, want %d lines", a, b, show(got), want)
		}
	}
}

// TestPairs: a removed line belongs to the added line that stands in its place.
func TestPairs(t *testing.T) {
	var pairs []int
	for _, l := range Lines("a\nb\nc\nd\n", "A\nB\nd\ne\n") {
		pairs = append(pairs, l.Pair)
	}
	if want := []int{3, 4, -1, 0, 1, -1}; !slices.Equal(pairs, want) {
		t.Errorf("got %v, want %v", pairs, want)
	}
}

// patch applies a difference to the old text, and returns the new one.
func patch(t *testing.T, old string, lines []Line) string {
	t.Helper()
	a := split(old)
	gone, added := map[int]bool{}, map[int]string{}
	for i, l := range lines {
		if l.Pair >= 0 && (lines[l.Pair].Pair != i || lines[l.Pair].Added == l.Added) {
			t.Fatalf("line %d is paired with %d, which is not paired with it", i, l.Pair)
		}
		if l.Added {
			added[l.Number] = l.Text
			continue
		}
		if a[l.Number-1] != l.Text {
			t.Fatalf("line %d is not %q", l.Number, l.Text)
		}
		gone[l.Number] = true
	}
	var b []string
	next := func() {
		for text, ok := added[len(b)+1]; ok; text, ok = added[len(b)+1] {
			b = append(b, text)
		}
	}
	for i, line := range a {
		if next(); !gone[i+1] {
			b = append(b, line)
		}
	}
	next()
	return strings.Join(b, "\n")
}

// TestLinesProperty: the difference leads from the old text to the new one, on the way for small
// texts and on the way for large ones.
func TestLinesProperty(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 4000 {
		text := func() string {
			var b strings.Builder
			for range r.IntN(30) {
				fmt.Fprintf(&b, "%c\n", 'a'+rune(r.IntN(1+i%20)))
			}
			return b.String()
		}
		old, updated := text(), text()
		for _, steps := range []int{maxSteps, 100, 0} {
			lines := compare(split(old), split(updated), steps)
			if got := patch(t, old, lines); got != strings.TrimSuffix(updated, "\n") {
				t.Fatalf("%q to %q with %d steps: %s makes %q", old, updated, steps, show(lines), got)
			}
		}
	}
}

// TestLinesLarge: large hostile texts have a difference too, found with a bounded effort.
func TestLinesLarge(t *testing.T) {
	numbered := func(from int) string {
		var b strings.Builder
		for i := range 40_000 {
			fmt.Fprintf(&b, "%d\n", from+i)
		}
		return b.String()
	}
	for name, c := range map[string][2]string{
		"blank-lines":  {strings.Repeat("\n", 1<<18), strings.Repeat(" \n", 1<<17)},
		"one-line":     {strings.Repeat("a", 1<<20), strings.Repeat("b", 1<<20)},
		"two-lines":    {strings.Repeat("a\nb\n", 1<<16), strings.Repeat("b\na\nc\n", 42_000)},
		"all-new":      {numbered(0), numbered(1_000_000)},
		"shifted":      {numbered(0), numbered(20_000)},
		"reversed-mix": {numbered(0), "x\n" + numbered(1) + "y\n"},
	} {
		t.Run(name, func(t *testing.T) {
			lines := Lines(c[0], c[1])
			if got := patch(t, c[0], lines); got != strings.TrimSuffix(c[1], "\n") {
				t.Fatal("the difference does not lead to the new text")
			}
		})
	}
}

func TestShorten(t *testing.T) {
	long := strings.Repeat("ä", 1<<19)
	for name, c := range map[string]struct {
		text, other string
		want        string // part of the result
	}{
		"short":        {"a", "b", "a"},
		"middle":       {long + "NEW" + long, long + "OLD" + long, "NEW"},
		"end":          {long + "NEW", long, "NEW"},
		"start":        {"NEW" + long, long, "NEW"},
		"alone":        {long, "", "ä"},
		"same-but-one": {long + "\u200b" + long, long + long, "\u200b"},
		"not-utf8":     {strings.Repeat("\xff", 1000) + "NEW", strings.Repeat("\xff", 1000), "NEW"},
	} {
		t.Run(name, func(t *testing.T) {
			got := Shorten(c.text, c.other, 200)
			if len(got) > 260 || !strings.Contains(got, c.want) {
				t.Errorf("%d bytes: %q", len(got), got)
			}
			if utf8.ValidString(c.text) && !utf8.ValidString(got) {
				t.Errorf("a character is cut: %q", got)
			}
		})
	}
}

// TestShortenExactly holds what is kept and how much is said to be left out.
func TestShortenExactly(t *testing.T) {
	a, b, e := strings.Repeat("a", 300), strings.Repeat("b", 300), strings.Repeat("ä", 300)
	for name, c := range map[string]struct{ text, other, want string }{
		"short-with-a-long-beginning": {a[:100] + "X", a[:100] + "Y", a[:100] + "X"},
		"longest":                     {a[:199] + "X", a[:199] + "Y", a[:199] + "X"},
		"first-byte":                  {"X" + a, "Y" + a, "X" + a[:40] + " …(260 bytes)…"},
		"removed-before":              {a + b, a + a[:100] + b, "…(260 bytes)… " + a[:40] + b[:40] + " …(260 bytes)…"},
		"inserted":                    {a + a[:100] + b, a + b, "…(260 bytes)… " + a[:140] + b[:40] + " …(260 bytes)…"},
		"within-the-first-character":  {e[:40] + "yNEW" + b, e[:40] + "yOLD" + b, e[:40] + "yNEW" + b[:40] + " …(260 bytes)…"},
		"middle":                      {a + "NEW" + b, a + "OLD" + b, "…(260 bytes)… " + a[:40] + "NEW" + b[:40] + " …(260 bytes)…"},
		"beginning-of-the-other":      {a, a + "x", "…(260 bytes)… " + a[:40]},
		"much-shorter":                {a, a + a[:100], "…(260 bytes)… " + a[:40]},
		"longer":                      {a + a[:10], a, "…(260 bytes)… " + a[:50]},
		"within-a-character":          {e + "y" + "NEW" + "y" + e, e + "y" + "OLD" + "y" + e, "…(560 bytes)… " + e[:40] + "yNEWy" + e[:38] + " …(562 bytes)…"},
		"alone":                       {a, "", a[:200] + " …(100 bytes)…"},
		"no-character":                {strings.Repeat("\x80", 300), "", " …(300 bytes)…"},
	} {
		if got := Shorten(c.text, c.other, 200); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func FuzzLines(f *testing.F) {
	f.Add("a\nb\n", "b\n\xffc")
	f.Fuzz(func(t *testing.T, old, updated string) {
		if got := patch(t, old, Lines(old, updated)); got != strings.TrimSuffix(updated, "\n") {
			t.Fatalf("%q to %q makes %q", old, updated, got)
		}
	})
}

func TestNearest(t *testing.T) {
	known := []string{"allow", "deny", "require"}
	for word, want := range map[string]string{"alowed": "allow", "DENY": "deny", "requires": "require", "dney": "deny", "eenz": "", "eny": "deny", "dabc": "", "x": "", "": "", strings.Repeat("allow", 13): ""} {
		if got := Nearest(word, known); got != want {
			t.Errorf("%q: %q", word, got)
		}
	}
	long := strings.Repeat("w", 61)
	for word, want := range map[string]string{long: "", long[1:]: long[1:]} { // longer ones are not compared
		if got := Nearest(word, []string{word}); got != want {
			t.Errorf("%q: %q", word, got)
		}
	}
}

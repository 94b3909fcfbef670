package plaintext

import (
	"strings"
	"testing"

	unicodebidi "golang.org/x/text/unicode/bidi"
)

func TestIsolate(t *testing.T) {
	const hebrew, arabic = "\u05e9\u05dc\u05d5\u05dd", "\u0645\u0631\u062d\u0628\u0627"
	for _, c := range []struct{ name, line, want string }{
		{"left-to-right", `send "100" to "caf` + "\u00e9" + `"`, `send "100" to "caf` + "\u00e9" + `"`},
		{"quotations", `send "` + hebrew + `", "` + arabic + `" now`, `send "<` + hebrew + `>", "<` + arabic + `>" now`},
		{"escape-outside", `as "` + hebrew + `\u{1B}[2K` + hebrew + `" now`, `as "<` + hebrew + `>\u{1B}<[2K` + hebrew + `>" now`},
		{"escape-after-odd-bytes", `as "x` + hebrew + `\u{1B}[2K" now`, `as "<x` + hebrew + `>\u{1B}[2K" now`},
		{"left-to-right-quotation", `send "100" to "` + hebrew + `"`, `send "100" to "<` + hebrew + `>"`},
		{"brace-after-quotation-mark", `as "` + hebrew + `\"a}` + hebrew + `"`, `as "<` + hebrew + `\"a}` + hebrew + `>"`},
		{"invalid-byte-outside", `as "` + hebrew + `\x{FF}` + hebrew + `"`, `as "<` + hebrew + `>\x{FF}<` + hebrew + `>"`},
		{"quotation-mark-inside", `as "` + hebrew + `\"x` + "\u05dc" + `"`, `as "<` + hebrew + `\"x` + "\u05dc" + `>"`},
		{"word-of-ours", `to ` + hebrew + `.example now`, `to <` + hebrew + `.example> now`},
		{"quotation-first", `"` + hebrew + ` a" now`, `"<` + hebrew + ` a>" now`},
		{"empty-quotation", `"", ` + hebrew + `, "" "` + hebrew + `"`, `"", <` + hebrew + `,> "" "<` + hebrew + `>"`},
		{"one-letter", `as "` + "\u05e9" + `"`, `as "<` + "\u05e9" + `>"`},
		{"escape-first", `as "\u{1B}` + hebrew + `"`, `as "\u{1B}<` + hebrew + `>"`},
		{"two-escapes", `as "` + hebrew + `\u{1B}\x{FF}` + hebrew + `"`, `as "<` + hebrew + `>\u{1B}\x{FF}<` + hebrew + `>"`},
		{"backslash", `as "` + hebrew + `\\u{1B}` + hebrew + `"`, `as "<` + hebrew + `\\u{1B}` + hebrew + `>"`},
		{"escape-after-backslash", `as "` + hebrew + `\\\u{1B}` + hebrew + `"`, `as "<` + hebrew + `\\>\u{1B}<` + hebrew + `>"`},
		{"escape-in-an-escape", `as "\u{\u{1B}` + hebrew + `"`, `as "\u{\u{1B}<` + hebrew + `>"`},
		{"unfinished", `as "` + hebrew, `as "<` + hebrew + `>`},
	} {
		want := strings.NewReplacer("<", isolate, ">", endOfIt).Replace(c.want)
		t.Run("O24/accept-"+c.name, func(t *testing.T) {
			got := Isolate(c.line)
			if got != want {
				t.Errorf("%+q, want %+q", got, want)
			}
			if again := Isolate(got); again != got {
				t.Errorf("again: %+q", again)
			}
		})
	}
	t.Run("O24/accept-own-order", func(t *testing.T) {
		for _, first := range []string{hebrew, arabic, hebrew + " 100", "100 " + arabic, "(" + hebrew} {
			line := Isolate(Line("arguments " + Quote(first, 0) + ", " + Quote(arabic+"7", 0) + " and 8 more"))
			words := []string{"arguments", ",", "and 8 more"}
			if at := visualOrder(t, line, words); at[0] < 0 || at[0] > at[1] || at[1] > at[2] {
				t.Errorf("%+q is drawn in the order %v", line, at)
			}
		}
	})
	t.Run("O24/reject-foreign-isolates", func(t *testing.T) {
		if got := Isolate(Quote("a\u2067b\u2069\u202e"+hebrew, 0)); strings.Count(got, isolate) != 1 || strings.Contains(got, "\u2067") || strings.Contains(got, "\u202e") {
			t.Errorf("%+q", got)
		}
	})
}

// TestIsolateRow: the text of a row gets isolates, and what introduces it does not.
func TestIsolateRow(t *testing.T) {
	const hebrew = "\u05e9\u05dc\u05d5\u05dd"
	for name, c := range map[string]struct{ row, want string }{
		"right-to-left":              {"| " + hebrew, "| <" + hebrew + ">"},
		"continued":                  {": a " + hebrew, ": <a " + hebrew + ">"},
		"left-to-right":              {"| abc", "| abc"},
		"after-an-invalid-byte":      {"| \xff\u05e9", "| <\xff\u05e9>"},
		"quotation-mark-in-the-text": {`| a" ` + hebrew, `| <a" ` + hebrew + ">"},
	} {
		t.Run("O24/accept-"+name, func(t *testing.T) {
			want := strings.NewReplacer("<", isolate, ">", endOfIt).Replace(c.want)
			if got := IsolateRow(c.row); got != want {
				t.Errorf("%+q, want %+q", got, want)
			}
		})
	}
}

// visualOrder draws a line by UAX 9 and returns where words stand. Isolated text is replaced by
// one neutral character, which is what UAX 9 makes of it.
func visualOrder(t *testing.T, line string, words []string) []int {
	t.Helper()
	for {
		start := strings.Index(line, isolate)
		if start < 0 {
			break
		}
		end := strings.Index(line, endOfIt)
		if end < start {
			t.Fatalf("%+q", line)
		}
		line = line[:start] + "\ufffc" + line[end+len(endOfIt):]
	}
	var p unicodebidi.Paragraph
	if _, err := p.SetString(line); err != nil {
		t.Fatal(err)
	}
	order, err := p.Order()
	if err != nil {
		t.Fatal(err)
	}
	var drawn strings.Builder
	for i := range order.NumRuns() {
		run := order.Run(i)
		text := run.String()
		if run.Direction() == unicodebidi.RightToLeft {
			text = unicodebidi.ReverseString(text)
		}
		drawn.WriteString(text)
	}
	var at []int
	for _, w := range words {
		at = append(at, strings.Index(drawn.String(), w))
	}
	return at
}

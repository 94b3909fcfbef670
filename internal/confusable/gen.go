//go:build ignore

// Gen writes table.txt from confusables.txt of Unicode's security data, and from the names of
// characters. The data must be of the version of Unicode by which golang.org/x/text normalises,
// since a text is normalised before it is looked up; write that version into confusable.go.
// The present table has the skeletons that uspoof_getSkeletonUTF8 of ICU 72 returns for each
// character.
package main

import (
	"bytes"
	"fmt"
	"log"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/unicode/runenames"
)

func main() {
	data, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	var b bytes.Buffer
	write(&b, skeletons(string(data)))
	b.WriteByte('\n')
	write(&b, letters())
	if err := os.WriteFile("table.txt", b.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
}

// skeletons returns the single characters of confusables.txt and their skeletons. The data has a
// tab in one skeleton, which is not a part of what a character looks like.
func skeletons(data string) map[rune]string {
	out := make(map[rune]string)
	for line := range strings.Lines(strings.TrimPrefix(data, "\ufeff")) {
		line, _, _ = strings.Cut(line, "#")
		parts := strings.Split(line, ";")
		if len(parts) < 2 {
			continue
		}
		from, to := points(parts[0]), points(parts[1])
		if len(from) == 1 && string(from) != string(to) && !slices.ContainsFunc(to, unicode.IsControl) {
			out[from[0]] = string(to)
		}
	}
	return out
}

func points(hex string) (text []rune) {
	for _, field := range strings.Fields(hex) {
		n, err := strconv.ParseUint(field, 16, 32)
		if err != nil {
			log.Fatal(err)
		}
		text = append(text, rune(n))
	}
	return text
}

// named are names of characters that are forms of one Latin letter.
var named = regexp.MustCompile(`\bLATIN (?:[A-Z-]+ )*?(?:LETTER|SMALL CAPITAL|SUPERSCRIPT|SUBSCRIPT)(?: SMALL| CAPITAL)?(?: SCRIPT| DOTLESS| OPEN| LONG)? ([A-Z])(?: WITH .*)?$|^REGIONAL INDICATOR SYMBOL LETTER ([A-Z])$`)

// letters finds, by their names, the characters that are forms of a Latin letter and
// do not decompose into it.
func letters() map[rune]string {
	out := make(map[rune]string)
	for r := rune(0x80); r <= unicode.MaxRune; r++ {
		m := named.FindStringSubmatch(runenames.Name(r))
		if m == nil {
			continue
		}
		letter := strings.ToLower(m[1] + m[2])
		if plain := norm.NFKD.String(string(r)); strings.ToLower(plain[:1]) != letter {
			out[r] = letter
		}
	}
	return out
}

// write writes a table, with all its characters escaped.
func write(b *bytes.Buffer, entries map[rune]string) {
	sources := make(map[string][]rune)
	for from, to := range entries {
		sources[to] = append(sources[to], from)
	}
	for _, to := range slices.Sorted(maps.Keys(sources)) {
		slices.Sort(sources[to])
		fmt.Fprintln(b, strconv.QuoteToASCII(to+"\t"+string(sources[to])))
	}
}

package strictxml

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The productions of XML 1.0 (fifth edition, sections 2.2 and 2.3), without the colon.
const (
	nameStartChar = `[A-Z] | "_" | [a-z] | [#xC0-#xD6] | [#xD8-#xF6] | [#xF8-#x2FF] | [#x370-#x37D] | [#x37F-#x1FFF] | [#x200C-#x200D] | [#x2070-#x218F] | [#x2C00-#x2FEF] | [#x3001-#xD7FF] | [#xF900-#xFDCF] | [#xFDF0-#xFFFD] | [#x10000-#xEFFFF]`
	nameChar      = nameStartChar + ` | "-" | "." | [0-9] | #xB7 | [#x0300-#x036F] | [#x203F-#x2040]`
	char          = `#x9 | #xA | #xD | [#x20-#xD7FF] | [#xE000-#xFFFD] | [#x10000-#x10FFFF]`
)

// production returns the set of the characters of a production.
func production(t *testing.T, text string) []bool {
	bound := regexp.MustCompile(`^(?:#x([0-9A-F]+)|"?(.)"?)$`)
	point := func(s string) rune {
		found := bound.FindStringSubmatch(s)
		if found == nil {
			t.Fatal(s)
		}
		if found[1] == "" {
			return rune(found[2][0])
		}
		n, err := strconv.ParseInt(found[1], 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		return rune(n)
	}
	set := make([]bool, 0x110001)
	for part := range strings.SplitSeq(text, " | ") {
		first, last, span := strings.Cut(strings.Trim(part, "[]"), "-")
		if !span || strings.HasPrefix(part, `"`) {
			first, last = part, part
		}
		to := point(last)
		for r := point(first); r <= to; r++ {
			set[r] = true
		}
	}
	return set
}

// TestCharacters reads every character in the place where a production allows it, and where not.
func TestCharacters(t *testing.T) {
	starts, names, chars := production(t, nameStartChar), production(t, nameChar), production(t, char)
	for r := rune(1); r <= 0x10FFFF; r++ {
		if r >= 0x20000 && r < 0xE0000 && r&0xFFFF > 1 && r&0xFFFF < 0xFFFE || r >= 0xD800 && r <= 0xDFFF {
			continue // like their neighbours, or not in any text
		}
		if IsNCName(string(r)) != starts[r] || IsNCName("a"+string(r)) != names[r] || isChar(r) != chars[r] {
			t.Fatalf("U+%04X: %t, %t, %t", r, IsNCName(string(r)), IsNCName("a"+string(r)), isChar(r))
		}
		edge := starts[r-1] != starts[r] || starts[r+1] != starts[r] || names[r-1] != names[r] || names[r+1] != names[r] || chars[r-1] != chars[r] || chars[r+1] != chars[r]
		if r > 0x100 && !edge {
			continue
		}
		read := func(doc string) bool {
			_, err := render(NewBytes([]byte(doc), Options{}))
			return err == nil
		}
		c := string(r)
		if strings.ContainsRune(" \t\r\n/:", r) {
			continue // they end a name, or separate it
		}
		if got := read("<" + c + "></" + c + ">"); got != starts[r] {
			t.Errorf("U+%04X starts a name: %t", r, got)
		}
		if got := read("<a a" + c + "=''/>"); got != (names[r] || r == '=') && r != '=' {
			t.Errorf("U+%04X is in a name: %t", r, got)
		}
		if r == '<' || r == '&' {
			continue
		}
		if got := read("<a b='1'>" + c + "</a>"); got != chars[r] {
			t.Errorf("U+%04X is in a text: %t", r, got)
		}
		if got := read("<a b=\"" + c + "\"/>"); got != chars[r] && r != '"' {
			t.Errorf("U+%04X is in a value: %t", r, got)
		}
		if got := read("<a><b c=\"x\"/><![CDATA[" + c + "]]><!--" + c + " --><?p " + c + "?></a>"); got != chars[r] {
			t.Errorf("U+%04X is in a section, a comment or an instruction: %t", r, got)
		}
	}
}

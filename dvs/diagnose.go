package dvs

import (
	"bytes"
	"fmt"

	"github.com/lookleap/lookleap/internal/plaintext"
)

// commonFault looks in a header that is no YAML for one of the mistakes that
// people make, so that place and fix can be told; nil if it finds none. It
// decides nothing.
func commonFault(header []byte) *fault {
	for at := 0; at < len(header); {
		line, next := lineAt(header, at)
		if f := lineFault(line.of(header), at); f != nil {
			return f
		}
		at = next
	}
	return nil
}

func lineFault(line []byte, at int) *fault {
	indent := len(line) - len(bytes.TrimLeft(line, " \t"))
	if tab := bytes.IndexByte(line[:indent], '\t'); tab >= 0 && indent < len(line) {
		return badFrontmatter(at+tab, "a TAB stands in the indentation", "indent with blanks")
	}
	colon := bytes.Index(line, []byte(": "))
	if colon < 0 || indent > 0 || line[0] == '#' {
		return nil
	}
	key := plaintext.Quote(string(line[:colon]), 40)
	value := bytes.TrimSpace(line[colon+1:])
	start := at + len(line) - len(bytes.TrimLeft(line[colon+1:], " \t"))
	if len(value) == 0 {
		return nil
	}
	quote := value[0]
	switch quote {
	case '"', '\'':
		switch last := value[len(value)-1]; {
		case last != quote || len(value) == 1:
			return badFrontmatter(start, fmt.Sprintf("the value of %s begins with a quotation mark and does not end with it", key),
				"put the whole value between quotation marks")
		case bytes.IndexByte(value[1:len(value)-1], quote) >= 0:
			return badFrontmatter(start, fmt.Sprintf("the value of %s has quotation marks inside of its own", key),
				`use the other kind around the value, or write '' inside of ' and \" inside of "`)
		case quote == '"' && bytes.IndexByte(value, '\\') >= 0:
			return badFrontmatter(start+bytes.IndexByte(value, '\\'), fmt.Sprintf("the value of %s has a backslash between double quotation marks", key),
				"write it twice, or use single quotation marks around the value")
		}
		return nil
	case '@', '`', '%', '*', '&', '!', '[', '{', ']', '}', ',':
		return badFrontmatter(start, fmt.Sprintf("the value of %s begins with %s, which has a meaning in YAML", key, plaintext.Quote(string(quote), 0)),
			"put the value between quotation marks")
	case '|', '>':
		return nil
	}
	if inner := bytes.Index(value, []byte(": ")); inner >= 0 {
		return badFrontmatter(start+inner, fmt.Sprintf("the value of %s has a colon and a blank, which YAML reads as another key", key),
			"put the value between quotation marks")
	}
	if value[len(value)-1] == ':' {
		return badFrontmatter(start+len(value)-1, fmt.Sprintf("the value of %s ends with a colon, which YAML reads as another key", key),
			"put the value between quotation marks")
	}
	return nil
}

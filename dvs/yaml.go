package dvs

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"sync"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// readYAML reads a header through the node API of yaml.v3, and refuses what
// readers disagree about or can be surprised by: anchors, aliases, tags, merge
// keys, duplicates, keys that are not texts, a second document. The characters
// of the header were checked before (checkCharacters). Scalars keep their source
// text and are never resolved to other types.
func readYAML(header []byte, origin origin, depth int) (fields []Field, f *fault) {
	if f := checkMarkers(header); f != nil {
		return nil, f
	}
	var doc yaml.Node
	if err := unmarshal(header, &doc); err != nil {
		return nil, syntaxFault(header, err)
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, badFrontmatter(0, "the metadata is not a mapping of keys to values", "write lines of the form key: value")
	}
	r := yamlReader{text: header, origin: origin, depth: depth, line: 1, column: 1}
	top := r.value(doc.Content[0], 1)
	return top.Fields, r.fault
}

// unmarshal keeps a panic of the parser from the caller.
func unmarshal(header []byte, doc *yaml.Node) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("yaml: the parser gave up")
		}
	}()
	return yaml.Unmarshal(header, doc)
}

// checkMarkers refuses directives and the markers that begin and end documents.
func checkMarkers(header []byte) *fault {
	for at := 0; at < len(header); {
		line, next := lineAt(header, at)
		text := line.of(header)
		switch {
		case len(text) > 0 && text[0] == '%':
			return badFrontmatter(at, "a line that begins with % is a directive of YAML", "remove the line, or indent it")
		case isMarker(text, "---"), isMarker(text, "..."):
			return badFrontmatter(at, "the line ends the YAML document inside the metadata",
				"close the metadata with a line of exactly three hyphens")
		}
		at = next
	}
	return nil
}

func isMarker(line []byte, marker string) bool {
	rest, ok := bytes.CutPrefix(line, []byte(marker))
	return ok && (len(rest) == 0 || rest[0] == ' ' || rest[0] == '\t')
}

func badFrontmatter(at int, message, fix string) *fault {
	return &fault{code: codeBadFrontmatter, requirement: "DVS-4.3-02", at: at, message: message, fix: fix}
}

// yamlReader turns nodes into values. Nodes know their places by lines and
// characters; it walks along with them to find the bytes.
type yamlReader struct {
	text   []byte
	origin origin
	depth  int
	fault  *fault

	line, column int // of at, column in characters
	at, start    int // offset, and that of the line
}

// value converts a node; after a fault it returns the zero Value.
func (r *yamlReader) value(n *yaml.Node, depth int) (v Value) {
	at := r.seek(n)
	v.Position = r.position(at)
	r.check(n, at, depth)
	if r.fault != nil {
		return Value{}
	}
	switch n.Kind {
	case yaml.ScalarNode:
		v.Text = n.Value
		if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 || !isNull(n.Value) {
			v.Kind = Text
		}
	case yaml.SequenceNode:
		v.Kind = List
		v.Items = make([]Value, 0, len(n.Content))
		for _, c := range n.Content {
			v.Items = append(v.Items, r.value(c, depth+1))
		}
	case yaml.MappingNode:
		v.Kind = Map
		v.Fields = r.fields(n.Content, depth)
	}
	return v
}

func (r *yamlReader) fields(content []*yaml.Node, depth int) []Field {
	fields := make([]Field, 0, len(content)/2)
	seen := make(map[string]bool, len(content)/2)
	for i := 0; i+1 < len(content); i += 2 {
		key := r.value(content[i], depth+1)
		at := key.Offset - r.origin.Offset
		switch {
		case r.fault != nil:
			return nil
		case key.Kind != Text:
			r.fault = badFrontmatter(at, "a key is "+key.Kind.String(), "write keys as plain words")
		case key.Text == "<<": // in quotes too, where readers differ
			r.fault = badFrontmatter(at, "the key << merges another mapping into this one", "write the keys out")
		case seen[key.Text]:
			r.fault = badFrontmatter(at, fmt.Sprintf("the key %s is repeated", plaintext.Quote(key.Text, 64)), "keep one of them")
		}
		value := r.value(content[i+1], depth+1)
		if value.Kind == Null && value.Text == "" {
			value.Position = key.Position
		}
		fields = append(fields, Field{Key: key.Text, Value: value, Position: key.Position})
		seen[key.Text] = true
	}
	return fields
}

// isNull reports whether YAML reads a scalar without quotation marks as nothing.
func isNull(text string) bool {
	switch text {
	case "", "~", "null", "Null", "NULL":
		return true
	}
	return false
}

// check refuses a node for what it is or where it stands.
func (r *yamlReader) check(n *yaml.Node, at, depth int) {
	first := byte(0)
	if at < len(r.text) {
		first = r.text[at]
	}
	switch {
	case r.fault != nil:
	case n.Kind == yaml.AliasNode:
		r.fault = badFrontmatter(at, "an alias stands for a value elsewhere",
			"write the value out, or put it in quotes if it begins with *")
	case n.Anchor != "":
		r.fault = badFrontmatter(at, "an anchor names a value", "remove the anchor, or put the value in quotes if it begins with &")
	case n.Style&yaml.TaggedStyle != 0 || first == '!':
		r.fault = badFrontmatter(at, "a tag changes the type of a value", "remove the tag, or put the value in quotes if it begins with !")
	case n.Kind != yaml.ScalarNode && depth > r.depth:
		r.fault = badFrontmatter(at, fmt.Sprintf("the metadata is nested more than %d deep", r.depth), "nest less")
	}
}

// seek returns the offset of a node in bytes. The nodes come in the order of the text.
func (r *yamlReader) seek(n *yaml.Node) int {
	for r.line < n.Line {
		next := bytes.IndexByte(r.text[r.at:], '\n')
		r.at += next + 1
		r.start, r.column = r.at, 1
		r.line++
	}
	for ; r.column < n.Column; r.column++ {
		_, size := utf8.DecodeRune(r.text[r.at:])
		r.at += size
	}
	return r.at
}

func (r *yamlReader) position(at int) lookleap.Position {
	return lookleap.Position{Line: r.origin.Line + r.line - 1, Column: at - r.start + 1, Offset: r.origin.Offset + at}
}

var yamlLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?(.*)`) })

// syntaxFault returns where and why the text is not YAML. The parser reports at most a line;
// common mistakes in the text are looked for first.
func syntaxFault(header []byte, err error) *fault {
	parts := yamlLine().FindStringSubmatch(err.Error())
	line, _ := strconv.Atoi(parts[1])
	if f := commonFault(header); f != nil {
		return f
	}
	at := 0
	for ; line > 1; line-- {
		_, at = lineAt(header, at)
	}
	return badFrontmatter(min(at, len(header)), "the metadata is not valid YAML: "+plaintext.Line(parts[2]),
		"put the value in quotes, or write it as a block below a >- sign")
}

// commonFault returns the first common mistake in a header that is not YAML, with position and
// fix, or nil. It changes no decision.
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
		return badFrontmatter(at+tab, "the indentation has a TAB", "indent with blanks")
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
			return badFrontmatter(start, fmt.Sprintf("the value of %s has the same quotation marks inside", key),
				`use the other kind around the value, or write '' inside of ' and \" inside of "`)
		case quote == '"' && bytes.IndexByte(value, '\\') >= 0:
			return badFrontmatter(start+bytes.IndexByte(value, '\\'),
				fmt.Sprintf("the value of %s has a backslash between double quotation marks", key),
				"write it twice, or use single quotation marks around the value")
		}
		return nil
	case '@', '`', '%', '*', '&', '!', '[', '{', ']', '}', ',':
		return badFrontmatter(start, fmt.Sprintf("the value of %s begins with %s, which has a meaning in YAML",
			key, plaintext.Quote(string(quote), 0)),
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

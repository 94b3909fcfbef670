package dvs

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// maxDepth is how deep a header may be nested.
const maxDepth = 16

// readYAML reads a header whose characters were checked, and refuses what readers disagree about: anchors,
// aliases, tags, merge keys, duplicates, keys that are not texts, a second document. Scalars keep their
// source text and are never resolved to other types.
func readYAML(header []byte, origin lookleap.Position) (fields []Field, f *fault) {
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
	r := yamlReader{text: header, origin: origin, line: 1, column: 1}
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
	return &fault{code: CodeBadFrontmatter, requirement: "DVS-4.3-02", at: at, message: message, fix: fix}
}

// yamlReader turns nodes into values. Nodes know their places by lines and
// characters; it walks along with them to find the bytes.
type yamlReader struct {
	text   []byte
	origin lookleap.Position // where the header begins in its file
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
		at := key.Position.Offset - r.origin.Offset
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
	case n.Kind != yaml.ScalarNode && depth > maxDepth:
		r.fault = badFrontmatter(at, fmt.Sprintf("the metadata is nested more than %d deep", maxDepth), "nest less")
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

var (
	yamlMessage = pattern(`^(?:yaml: )?(?:line \d+: )?(.*)`) // the form of the parser's errors
	beforeValue = pattern(`^[^:\n]*:[ \t]+`)
	// colonInValue is a value without quotation marks that has a colon: the most common mistake.
	colonInValue = pattern(`^([^\s#:"'][^:\n]*):[ \t]+[^\s"'|>#\[{&*!%@][^\n]*?(:[ \t]|:\r?(?:\n|$))`)
)

// syntaxFault returns where and why the text is not YAML. The parser reports at most a line, and that
// may be a later one. So each key is read alone: the first that is not YAML is the place.
func syntaxFault(header []byte, err error) *fault {
	at, chunk := 0, header[:0]
	for start, keys := 0, 0; start < len(header) && keys < maxLooseKeys; keys++ {
		_, end := lineAt(header, start)
		for end < len(header) && bytes.IndexByte([]byte(" \t\r\n#"), header[end]) >= 0 {
			_, end = lineAt(header, end)
		}
		var doc yaml.Node
		alone := unmarshal(header[start:end], &doc)
		if alone == nil && len(doc.Content) == 1 && doc.Content[0].Kind != yaml.MappingNode {
			alone = errors.New("the line belongs to no key")
		}
		if alone != nil {
			at, chunk, err = start, header[start:end], alone
			break
		}
		start = end
	}
	if m := colonInValue().FindSubmatchIndex(chunk); m != nil {
		return badFrontmatter(at+m[4], fmt.Sprintf("the value of %s has a colon and a blank, which YAML reads as another key",
			plaintext.Quote(string(chunk[m[2]:m[3]]), 40)), "put the value between quotation marks")
	}
	message := yamlMessage().FindStringSubmatch(err.Error())[1]
	return badFrontmatter(at+len(beforeValue().Find(chunk)), "the metadata is not valid YAML: "+plaintext.Line(message),
		"put the value in quotes, or write it as a block below a >- sign")
}

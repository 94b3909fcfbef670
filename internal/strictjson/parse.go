package strictjson

import (
	"bytes"
	"math"

	"github.com/go-json-experiment/json/jsontext"
)

// Limits bounds what [Parse] accepts. A zero field takes its default.
type Limits struct {
	Size    int  // bytes of the text; the default is 1 MiB, the maximum 2 GiB - 1
	Depth   int  // nested arrays and objects; the default is 32
	Values  int  // values including containers, without names; the default is Size/20
	SkipBOM bool // skip a byte order mark instead of refusing it
}

// Defaults of [Limits].
const (
	DefaultSize   = 1 << 20
	DefaultDepth  = 32
	bytesPerValue = 20
)

func (l Limits) withDefaults() Limits {
	if l.Size <= 0 {
		l.Size = DefaultSize
	}
	l.Size = min(l.Size, math.MaxInt32)
	if l.Depth <= 0 {
		l.Depth = DefaultDepth
	}
	if l.Values <= 0 {
		l.Values = max(1, l.Size/bytesPerValue)
	}
	return l
}

const bom = "\xEF\xBB\xBF"

// ParsePublished is [Parse] for a document that a site publishes: editors write a byte order mark,
// and browsers read such documents. It skips the mark, and reports it so that the publisher learns
// of it.
func ParsePublished(data []byte, limits Limits) (v Value, marked bool, err error) {
	limits.SkipBOM = true
	v, err = Parse(data, limits)
	return v, bytes.HasPrefix(data, []byte(bom)), err
}

// Parse parses one JSON text (RFC 8259). It returns an [*Error] for the first fault. It copies
// data, so the caller may reuse it.
func Parse(data []byte, limits Limits) (Value, error) {
	p, err := newParser(data, limits)
	if err != nil {
		return Value{}, err
	}
	most := 1 // value: it is the first of the text, or it follows one of three bytes
	for _, c := range []byte("[{,") {
		most += bytes.Count(data, []byte{c})
	}
	p.nodes = make([]node, 0, min(most, p.limits.Values))
	for len(p.nodes) == 0 || len(p.open) > 0 {
		if err := p.next(); err != nil {
			return Value{}, err
		}
	}
	if err := p.end(); err != nil {
		return Value{}, err
	}
	return Value{doc: &document{text: string(data), nodes: p.nodes}}, nil
}

// node is one value of a text. The children of a container follow it, and next is the index of the
// sibling. The byte at start tells the kind.
type node struct {
	name, nameEnd uint32 // of a member: where its name is written, with quotes
	start, end    uint32 // where the value is written
	next          uint32 // index of the node after this value and its content
}

// parser builds the table of one text.
type parser struct {
	data    []byte
	start   int // of the text, after a byte order mark
	limits  Limits
	decoder *jsontext.Decoder
	nodes   []node
	open    []uint32 // open containers, innermost last
	name    node     // the name before the next value
}

// newParser returns a parser at the start of a text.
func newParser(data []byte, limits Limits) (*parser, error) {
	p := &parser{data: data, limits: limits.withDefaults()}
	if len(data) > p.limits.Size {
		return nil, p.fail(CodeTooLarge, p.limits.Size, "", "the text is larger than its limit",
			"make the text smaller, or raise the limit")
	}
	if bytes.HasPrefix(data, []byte(bom)) {
		if !limits.SkipBOM {
			return nil, p.fail(CodeBOM, 0, "", "a byte order mark precedes the text",
				"save the text as UTF-8 without a byte order mark")
		}
		p.start = len(bom)
	}
	p.decoder = jsontext.NewDecoder(bytes.NewBuffer(data[p.start:]))
	return p, nil
}

// end returns an error unless the value that was read ends the text.
func (p *parser) end() error {
	rest := bytes.TrimLeft(p.data[p.offset():], " \t\r\n")
	if len(rest) == 0 {
		return nil
	}
	at := len(p.data) - len(rest)
	return p.fail(CodeTrailing, at, "", "something follows the value: "+p.found(at), "write only one value")
}

// offset returns the offset after the last token.
func (p *parser) offset() int { return p.start + int(p.decoder.InputOffset()) }

// next reads the next token: a scalar, a member's name, or the start or end of a container.
func (p *parser) next() error {
	kind := p.decoder.PeekKind()
	switch kind {
	case jsontext.KindBeginObject, jsontext.KindBeginArray:
		return p.begin()
	case jsontext.KindEndObject, jsontext.KindEndArray, jsontext.KindInvalid:
		if _, err := p.decoder.ReadToken(); err != nil {
			return p.refuse(err)
		}
		last := &p.nodes[p.open[len(p.open)-1]]
		last.end, last.next = uint32(p.offset()), uint32(len(p.nodes))
		p.open = p.open[:len(p.open)-1]
		return nil
	}
	source, err := p.decoder.ReadValue()
	if err != nil {
		return p.refuse(err)
	}
	end := uint32(p.offset())
	start := end - uint32(len(source))
	container, tokens := p.decoder.StackIndex(p.decoder.StackDepth())
	if container == jsontext.KindBeginObject && tokens%2 == 1 {
		p.name = node{name: start, nameEnd: end}
		return nil
	}
	return p.add(start, end)
}

// begin reads the start of a container.
func (p *parser) begin() error {
	if _, err := p.decoder.ReadToken(); err != nil {
		return p.refuse(err)
	}
	end := uint32(p.offset())
	this := uint32(len(p.nodes))
	if err := p.add(end-1, end); err != nil {
		return err
	}
	if len(p.open) == p.limits.Depth {
		return p.fail(CodeTooDeep, int(end)-1, p.decoder.StackPointer(),
			errDeep.Error(), "make the text flatter, or raise the limit")
	}
	p.open = append(p.open, this)
	return nil
}

// add adds a value to the table.
func (p *parser) add(start, end uint32) error {
	if len(p.nodes) == p.limits.Values {
		return p.fail(CodeTooMany, int(start), p.decoder.StackPointer(),
			"the text has more values than its limit", "split the text, or raise the limit")
	}
	n := p.name
	n.start, n.end, n.next = start, end, uint32(len(p.nodes))+1
	p.nodes, p.name = append(p.nodes, n), node{}
	return nil
}
